/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Events of the simulated machine; virtual.h has the contract. */
#include "pmu/virtual.h"

#include <stdio.h>
#include <string.h>

const char virtual_standard_events[] = "instructions,cycles,l1d_accesses,l1d_misses,l2_"
                                       "misses,l3_misses,dtlb_misses,dtlb_walks,"
                                       "branches,branch_misses";

/* How an event is computed. `level` is that of a cache, or LAST. */
typedef bool event_value(const struct virtual_counts *counts, uint32_t level,
                         uint64_t *count, char *why);

enum { LAST = 1000 };

static bool no_cache(const struct virtual_counts *counts, uint32_t level, char *why)
{
    snprintf(why, PMU_WHY, "unknown here: %s has no cache of level %u",
             counts->machine->name, level);
    return false;
}

/* Misses of the caches of a level, those of one side where it is split. */
static bool misses_of(const struct virtual_counts *counts, uint32_t level, uint32_t other,
                      uint64_t *count, char *why)
{
    const struct strata_machine *machine = counts->machine;
    bool found = false;
    uint32_t last = machine->ncaches ? machine->caches[machine->ncaches - 1].level : 0;
    *count = 0;
    for (uint32_t i = 0; i < machine->ncaches; i++)
        if (machine->caches[i].level == (level == LAST ? last : level) &&
            machine->caches[i].kind != other) {
            *count += counts->sim.misses[i];
            found = true;
        }
    return found || no_cache(counts, level, why);
}

static bool data_misses(const struct virtual_counts *counts, uint32_t level,
                        uint64_t *count, char *why)
{
    return misses_of(counts, level, STRATA_INSTRUCTION, count, why);
}

static bool code_misses(const struct virtual_counts *counts, uint32_t level,
                        uint64_t *count, char *why)
{
    return misses_of(counts, level, STRATA_DATA, count, why);
}

static bool no_tlb(const struct virtual_counts *counts, char *why)
{
    snprintf(why, PMU_WHY, "unknown here: %s has no TLB", counts->machine->name);
    return false;
}

static bool tlb_misses_of(const struct virtual_counts *counts, uint32_t level,
                          uint32_t other, uint64_t *count, char *why)
{
    const struct strata_machine *machine = counts->machine;
    bool found = false;
    *count = 0;
    for (uint32_t i = 0; i < machine->ntlbs; i++)
        if (machine->tlbs[i].level == level && machine->tlbs[i].kind != other) {
            *count += counts->sim.tlb_misses[i];
            found = true;
        }
    return found || no_tlb(counts, why);
}

static bool data_tlb_misses(const struct virtual_counts *counts, uint32_t level,
                            uint64_t *count, char *why)
{
    return tlb_misses_of(counts, level, STRATA_INSTRUCTION, count, why);
}

static bool code_tlb_misses(const struct virtual_counts *counts, uint32_t level,
                            uint64_t *count, char *why)
{
    return tlb_misses_of(counts, level, STRATA_DATA, count, why);
}

static bool all_walks(const struct virtual_counts *counts, uint32_t level, uint64_t *count,
                      char *why)
{
    (void)level;
    *count = counts->sim.walks;
    return counts->machine->ntlbs || no_tlb(counts, why);
}

/* With fetches, walks for data and for instructions are counted together. */
static bool data_walks(const struct virtual_counts *counts, uint32_t level, uint64_t *count,
                       char *why)
{
    if (!counts->fetches)
        return all_walks(counts, level, count, why);
    snprintf(why, PMU_WHY,
             "unknown here: with instruction fetches, the simulated machine "
             "counts walks of both kinds together; ask for walks");
    return false;
}

static bool code_walks(const struct virtual_counts *counts, uint32_t level, uint64_t *count,
                       char *why)
{
    (void)counts, (void)level, (void)count;
    snprintf(why, PMU_WHY,
             "unknown here: the simulated machine does not tell walks for "
             "instructions apart; itlb_misses are counted if asked for");
    return false;
}

static bool instructions(const struct virtual_counts *counts, uint32_t level,
                         uint64_t *count, char *why)
{
    (void)level, (void)why;
    *count = counts->instructions;
    return true;
}

static bool cycles(const struct virtual_counts *counts, uint32_t level, uint64_t *count,
                   char *why)
{
    (void)level, (void)why;
    *count = counts->cycles;
    return true;
}

/* `level` is a set of enum sim_op, as bits. */
static bool accesses(const struct virtual_counts *counts, uint32_t level, uint64_t *count,
                     char *why)
{
    (void)why;
    *count = 0;
    for (uint32_t op = SIM_LOAD; op <= SIM_FETCH; op++)
        *count += level >> op & 1 ? counts->sim.accesses[op] : 0;
    return true;
}

static bool branches(const struct virtual_counts *counts, uint32_t level, uint64_t *count,
                     char *why)
{
    (void)level, (void)why;
    *count = counts->conditional + counts->jumps + counts->indirect + counts->calls +
             counts->returns;
    return true;
}

static bool conditional(const struct virtual_counts *counts, uint32_t level,
                        uint64_t *count, char *why)
{
    (void)level, (void)why;
    *count = counts->conditional;
    return true;
}

static bool conditional_taken(const struct virtual_counts *counts, uint32_t level,
                              uint64_t *count, char *why)
{
    (void)level, (void)why;
    *count = counts->taken;
    return true;
}

static bool mispredicted(const struct virtual_counts *counts, uint32_t level,
                         uint64_t *count, char *why)
{
    (void)level;
    *count = counts->mispredicted;
    if (counts->machine->branch.present)
        return true;
    snprintf(why, PMU_WHY, "unknown here: %s has no branch predictor ([branch] section)",
             counts->machine->name);
    return false;
}

#define LOADS  (1u << SIM_LOAD)
#define STORES (1u << SIM_STORE)

static const struct {
    const char *name, *about;
    event_value *value;
    uint32_t level;
    unsigned needs;
} events[] = {
    {"instructions", "instructions executed", instructions, 0, 0},
    {"cycles", "virtual cycles: one for an instruction, plus waiting for memory", cycles, 0,
     0},
    {"loads", "loads", accesses, LOADS, 0},
    {"stores", "stores", accesses, STORES, 0},
    {"fetches", "instruction fetches", accesses, 1u << SIM_FETCH, VIRTUAL_FETCHES},
    {"l1d_accesses", "loads and stores", accesses, LOADS | STORES, 0},
    {"l1d_misses", "loads and stores that missed the L1 data cache", data_misses, 1, 0},
    {"l1i_misses", "fetches that missed the L1 instruction cache", code_misses, 1,
     VIRTUAL_FETCHES},
    {"l2_misses", "accesses that missed the L2 cache", data_misses, 2, 0},
    {"l3_misses", "accesses that missed the L3 cache", data_misses, 3, 0},
    {"llc_misses", "accesses that missed the last cache, whichever that is", data_misses,
     LAST, 0},
    {"dtlb_misses", "loads and stores that missed the first data TLB", data_tlb_misses, 1,
     0},
    {"dtlb_walks", "loads and stores whose translation needed a page walk", data_walks, 0,
     0},
    {"itlb_misses", "fetches that missed the first instruction TLB", code_tlb_misses, 1,
     VIRTUAL_FETCHES},
    {"itlb_walks", "fetches whose translation needed a page walk", code_walks, 0, 0},
    {"walks", "page walks of all kinds", all_walks, 0, 0},
    {"branches", "branches of all kinds", branches, 0, VIRTUAL_BRANCHES},
    {"branch_misses", "branches that were predicted wrong", mispredicted, 0,
     VIRTUAL_BRANCHES},
    {"conditional", "conditional branches", conditional, 0, VIRTUAL_BRANCHES},
    {"conditional_taken", "conditional branches that were taken", conditional_taken, 0,
     VIRTUAL_BRANCHES},
};

enum { EVENTS = sizeof events / sizeof events[0] };

const char *virtual_event(size_t i, const char **about, unsigned *needs)
{
    if (i >= EVENTS)
        return NULL;
    *about = events[i].about;
    *needs = events[i].needs;
    return events[i].name;
}

static size_t find(const char *name)
{
    size_t i = 0;
    while (i < EVENTS && strcmp(events[i].name, name) != 0)
        i++;
    return i;
}

bool virtual_has(const char *event)
{
    return find(event) < EVENTS;
}

unsigned virtual_needs(const char *event)
{
    size_t i = find(event);
    return i < EVENTS ? events[i].needs : 0;
}

bool virtual_count(const struct virtual_counts *counts, const char *event, uint64_t *count,
                   char why[PMU_WHY])
{
    size_t i = find(event);
    if (i == EVENTS) {
        snprintf(why, PMU_WHY,
                 "unknown here: the simulated machine has no such event; "
                 "--source perf asks the kernel");
        return false;
    }
    const char *missing = events[i].needs & VIRTUAL_FETCHES && !counts->fetches ? "fetches"
                          : events[i].needs & VIRTUAL_BRANCHES && !counts->branches
                              ? "branches"
                              : NULL;
    if (!missing)
        return events[i].value(counts, events[i].level, count, why);
    snprintf(why, PMU_WHY, "unknown here: %s were not simulated in this run", missing);
    return false;
}

void virtual_add(struct sim_counts *sum, const struct sim_counts *more)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)more;
    _Static_assert(sizeof *sum % sizeof *to == 0, "counts are 64-bit numbers only");
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}
