/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counting the runs of a plan by perf_event_open: events in groups that have counters at
 * the same time.
 *
 * Events of a PMU are opened in groups of a few, which take turns with nobody, and leave
 * the kernel out; those of the kernel need no counters and are all in one. What cannot be
 * opened is kept with its reason. */
#ifndef INSPECT_GROUPS_H
#define INSPECT_GROUPS_H

#include "inspect/perform.h"
#include "pmu/pmu.h"

#include <stdbool.h>
#include <stddef.h>

enum { GROUP_OF = 4 }; /* events of a PMU: what any processor has counters for */

struct group;

struct groups {
    const struct pmu_system *system;
    const struct pmu_want *wants; /* the events; not owned */
    size_t nevents;
    char (*why)[PMU_WHY]; /* of each event; "": it is counted */
    struct group *list;
    size_t n;
    size_t opened; /* events */
    const struct plan *plan;
    double *counts;      /* [run * nevents + event], NAN where nothing was counted */
    double *ns;          /* by run: the least time of a group; NAN before it was run */
    double idle, miss;   /* nanoseconds of these kernels of metrics/work.matrix, */
    double nidle, nmiss; /* and their instructions */
    size_t idle_kernel, miss_kernel;
};

/* Tries each event and makes the groups. STRATA_FAILED: out of memory. */
int groups_open(struct groups *groups, const struct pmu_system *system,
                const struct pmu_want *wants, size_t nevents, struct strata_error *error);

/* Runs a plan. `progress` and `watched` are as struct counters has them. */
int groups_measure(struct groups *groups, const struct plan *plan,
                   const struct matrices *matrices, volatile uint64_t *watched,
                   int (*progress)(void *, double, const char *), void *context,
                   struct strata_error *error);

/* Whether memory took no longer than doing nothing: an emulated processor, on which nothing
 * that waits for memory can tell cycles from instructions. */
bool groups_flat_memory(const struct groups *groups);

void groups_close(struct groups *groups);

#endif
