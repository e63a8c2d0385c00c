/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How far a recording is: accesses so far, how much slower than the simulated machine it
 * goes, and for how long. Nobody knows how much is left, so there is no bar.
 *
 * Only where standard error is a terminal. The recorded program has the same one, so that
 * nothing may be drawn where it could be writing: if its output goes elsewhere, one line is
 * drawn over itself each second and erased at the end; if not, whole lines are printed,
 * after 5 seconds, 10, 20 and so on. The numbers are read from the files in which the
 * collector counts: it does nothing for this. */
#ifndef CLI_RECORD_PROGRESS_H
#define CLI_RECORD_PROGRESS_H

#include "collect/folder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_progress {
    bool shown;       /* wanted, and stderr is a terminal */
    bool over_itself; /* one line, erased; else whole ones */
    bool drawn;       /* there is something to erase */
    int columns;
    uint64_t accesses; /* that were told last */
    double frequency;  /* of the simulated machine, Hz */
    double start;      /* seconds of the monotonic clock */
    double next;       /* seconds after that: the next line is due */
};

/* What is told. */
struct record_pace {
    uint64_t accesses;
    double elapsed;  /* seconds */
    double slowdown; /* processor time over that of the simulated machine; 0: not known */
};

enum { RECORD_PROGRESS_SECONDS = 1 }; /* from one call of the tick to the next */

void record_progress_start(struct record_progress *progress, uint64_t frequency,
                           bool wanted);

/* Fits collect_options.tick; `context` is the struct record_progress. */
void record_progress_tick(const struct run_folder *folder, void *context);

void record_progress_end(struct record_progress *progress);

/* When the line after the one at `now` seconds is due. */
double record_progress_next(bool over_itself, double now);

/* The line, without its end, narrower than the columns. */
void record_progress_line(char *line, size_t size, int columns,
                          const struct record_pace *pace);

/* 1234, 31.4 M, 412 M. */
enum { COUNT_TEXT = 32 };
const char *format_count(uint64_t count, char text[COUNT_TEXT]);

#endif
