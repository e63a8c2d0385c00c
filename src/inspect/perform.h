/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Running a plan: each run is prepared once and then done once for each group of events
 * that can be counted at the same time. */
#ifndef INSPECT_PERFORM_H
#define INSPECT_PERFORM_H

#include "inspect/plan.h"

#include <stdbool.h>

/* Who counts. */
struct counters {
    void *context;
    size_t groups;
    /* Calls work() once between two readings of a group of counters, and notes the
     * difference for that run. */
    int (*count)(void *context, size_t run, size_t group, void (*work)(void *),
                 void *argument, struct strata_error *error);
    /* A word that a debug register watches, or NULL; for the kernels of the system. */
    volatile uint64_t *watched;
    /* How far it is, 0..1; nonzero ends the work. May be NULL. */
    int (*progress)(void *context, double done, const char *what);
    void *progress_context;
};

/* STRATA_FAILED: no memory for the walks, or what count() fails with. */
int perform(const struct plan *plan, const struct matrices *matrices,
            const struct counters *counting, struct strata_error *error);

#endif
