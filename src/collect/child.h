/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Running a program to its end while signals for strata go to it.
 *
 * No signal handlers and so no globals: the signals are blocked and waited for. Signals
 * of the terminal (Ctrl-C) reach the program by themselves; those that another process
 * sends to strata are passed on. */
#ifndef COLLECT_CHILD_H
#define COLLECT_CHILD_H

#include "profile/raw.h"

#include <stdbool.h>
#include <stdint.h>
#include <strata/error.h>
#include <sys/types.h>

struct child_options {
    const char *file;         /* path of the program to start */
    char *const *argv;        /* ends with NULL */
    char *const *environment; /* the same */
    double duration; /* seconds until it gets SIGTERM, and SIGKILL later; 0: never */
    void (*toggle)(void *context); /* called at every SIGUSR1 */
    double interval;               /* seconds from one tick to the next; 0: none */
    void (*tick)(void *context);
    void *context; /* of both */
};

struct child_end {
    pid_t pid;
    enum raw_end end; /* RAW_EXITED or RAW_SIGNALLED */
    int status;       /* exit status or signal */
    bool stopped;     /* since its time was over */
    int64_t start;    /* seconds since 1970 */
    double seconds;   /* that it took */
};

int child_run(const struct child_options *options, struct child_end *end,
              struct strata_error *error);

#endif
