/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A progress bar with the time left, on stderr.
 *
 * Shown only on a terminal and only once a second has gone by; drawn over itself at
 * most ten times a second; erased at the end. While it runs, the first Ctrl-C is
 * caught and makes progress_update() return nonzero, so that work ends early and
 * keeps what is there; a second one ends the program as usual. One at a time. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct progress {
    const char *title;
    bool shown;   /* wanted, and stderr is a terminal */
    bool drawn;   /* there is something to erase */
    int fd;       /* stderr; tests set another */
    int columns;  /* of the terminal, at most 80 */
    double start; /* seconds of the monotonic clock */
    double last;  /* when it was drawn */
    struct sigaction before;
};

/* `title` must outlive the progress. Without `wanted` nothing is drawn, but Ctrl-C is
 * still caught. */
void progress_start(struct progress *progress, const char *title, bool wanted);

/* Fits strata_probe_options.progress; `context` is the struct progress. `done` is 0..1,
 * `what` may be NULL. Returns nonzero after Ctrl-C. */
int progress_update(void *context, double done, const char *what);

void progress_end(struct progress *progress);

/* Whether Ctrl-C was pressed since progress_start(). */
bool progress_interrupted(void);

/* The line that is drawn, at most columns - 1 wide; left < 0: not known. */
void progress_line(char *line, size_t size, int columns, const char *title,
                   const char *what, double done, double left);

#endif
