/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that is held back until its counters are open, and waiting: for its end, for
 * the next moment to read, or for Ctrl-C.
 *
 * Signals are blocked and waited for, so that there are no handlers. Those of the terminal
 * reach the program by themselves; those that another process sends are passed on. */
#ifndef PMU_LAUNCH_H
#define PMU_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <strata/error.h>
#include <sys/types.h>

struct launch {
    pid_t pid;       /* 0: no program, only waiting */
    int go, outcome; /* pipes to and from the program before its exec; -1: closed */
    sigset_t signals, before; /* those waited for; the mask that strata was given */
    bool ended, signalled;
    int status;     /* exit status or signal */
    double started; /* seconds of the monotonic clock */
    double seconds; /* that it took */
};

/* Blocks the signals, which stay so. Once; a copy of *launch then serves for each run. */
void launch_signals(struct launch *launch);

/* Starts a process that waits before it becomes the program: `path`, with argv. */
int launch_prepare(struct launch *launch, const char *path, char *const *argv,
                   struct strata_error *error);

/* Lets it go on. STRATA_BAD_INPUT: it cannot be executed. */
int launch_start(struct launch *launch, const char *path, struct strata_error *error);

/* Ends a process that was prepared and is not to be started. */
void launch_drop(struct launch *launch);

enum launch_event {
    LAUNCH_TIME,       /* the time has come */
    LAUNCH_ENDED,      /* the program has */
    LAUNCH_INTERRUPTED /* a signal asks to end, and there is no program to pass it to */
};

/* Waits until launch_now() is `until`, which may be INFINITY. */
enum launch_event launch_wait(struct launch *launch, double until);

/* Ends the program: SIGTERM, and SIGKILL ten seconds later. */
void launch_stop(struct launch *launch);

double launch_now(void);

#endif
