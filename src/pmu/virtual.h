/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The virtual PMU: events of a simulated machine under the same plain names as those of
 * real processors, so that the same metrics are computed from them.
 *
 * Counts are of loads and stores of the program, exact and without the kernel. A store
 * counts as a load does: it brings its line in. */
#ifndef PMU_VIRTUAL_H
#define PMU_VIRTUAL_H

#include "pmu/system.h"
#include "sim/sim.h"

#include <stdbool.h>
#include <stdint.h>
#include <strata/machine.h>

struct virtual_branches {
    uint64_t conditional, taken, jumps, indirect, calls, returns;
};

/* What a simulated run left, summed over its processes. */
struct virtual_counts {
    const struct strata_machine *machine;
    bool fetches, branches; /* whether these were simulated */
    uint64_t instructions, cycles;
    struct virtual_branches retired, shadow; /* shadow: executed and thrown away */
    uint64_t indirect_calls;                 /* of the calls */
    uint64_t mispredicted, mispredicted_indirect, mispredicted_returns;
    uint64_t shadow_instructions;
    /* Of stores, in each level. */
    uint64_t store_misses[STRATA_MAX_CACHES], store_tlb_misses[STRATA_MAX_TLBS];
    /* Of instruction fetches, in each level; `sim` has them of all accesses. */
    uint64_t fetch_misses[STRATA_MAX_CACHES], fetch_tlb_misses[STRATA_MAX_TLBS];
    uint64_t fetch_walks;
    struct sim_counts sim;
};

enum virtual_needs { VIRTUAL_FETCHES = 1, VIRTUAL_BRANCHES = 2 }; /* a set */

/* The events that are counted if none are named. */
extern const char virtual_standard_events[];

/* The events for people, by index; NULL past the last one. */
const char *virtual_event(size_t i, const char **about, unsigned *needs);

/* Whether there is such an event. */
bool virtual_has(const char *event);

/* Whether a machine describes what instructions are fetched through: a first cache and a
 * TLB. One that was probed does not. */
bool virtual_has_code(const struct strata_machine *machine);

/* What must be simulated for an event to be counted; 0 also for one that there is not. */
unsigned virtual_needs(const char *event);

/* The count of an event; false: why there is none on this machine. */
bool virtual_count(const struct virtual_counts *counts, const char *event, uint64_t *count,
                   char why[PMU_WHY]);

/* Adds one process's counts of the simulator. */
void virtual_add(struct sim_counts *sum, const struct sim_counts *more);

#endif
