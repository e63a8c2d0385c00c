/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What strata record says beside the program's own output: every line on standard error
 * begins with "strata: " and fits the terminal. */
#ifndef CLI_RECORD_WORDS_H
#define CLI_RECORD_WORDS_H

#include "profile/profile.h"

#include <stdbool.h>

/* What is simulated, and why that. */
struct record_start {
    const char *given;   /* --machine, or NULL */
    const char *machine; /* path of the file that was taken */
    bool automatic;      /* nobody asked for a simulated machine */
    bool fetches;
};

void record_say_start(const struct record_start *start);
void record_say_summary(const struct profile_summary *summary, const char *output);

/* On a terminal: what would make the next recording say more, or go faster. */
void record_say_hints(const char *output);

/* Prints as printf() does, broken into lines that begin with "strata: ". */
void record_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
