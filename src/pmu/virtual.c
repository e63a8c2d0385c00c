/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Events of the simulated machine; virtual.h has the contract.
 *
 * As a real PMU, it has several names for one thing, events that differ by little (executed
 * or retired, demand or all requests) and some that are of no use: `strata inspect` has to
 * tell them apart. */
#include "pmu/virtual.h"

#include "core/rng.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char virtual_standard_events[] = "instructions,cycles,l1d_accesses,l1d_misses,l2_"
                                       "misses,l3_misses,dtlb_misses,dtlb_walks,"
                                       "itlb_walks,l1i_misses,branches,branch_misses";

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

/* What a cache or TLB of a kind has of one side's misses; the other side is not asked for.
 */
static uint64_t share_of(uint32_t kind, uint32_t other, uint64_t all, uint64_t fetched)
{
    if (kind != STRATA_UNIFIED)
        return all;
    return other == STRATA_DATA ? fetched : all - fetched;
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
            *count += share_of(machine->caches[i].kind, other, counts->sim.misses[i],
                               counts->fetch_misses[machine->caches[i].level - 1]);
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
            *count += share_of(machine->tlbs[i].kind, other, counts->sim.tlb_misses[i],
                               counts->fetch_tlb_misses[machine->tlbs[i].level - 1]);
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

static bool data_walks(const struct virtual_counts *counts, uint32_t level, uint64_t *count,
                       char *why)
{
    bool known = all_walks(counts, level, count, why);
    *count -= counts->fetch_walks;
    return known;
}

static bool code_walks(const struct virtual_counts *counts, uint32_t level, uint64_t *count,
                       char *why)
{
    (void)level;
    *count = counts->fetch_walks;
    return counts->machine->ntlbs || no_tlb(counts, why);
}

bool virtual_has_code(const struct strata_machine *machine)
{
    bool cache = false, tlb = false;
    for (uint32_t i = 0; i < machine->ncaches; i++)
        cache |= machine->caches[i].level == 1 && machine->caches[i].kind != STRATA_DATA;
    for (uint32_t i = 0; i < machine->ntlbs; i++)
        tlb |= machine->tlbs[i].level == 1 && machine->tlbs[i].kind != STRATA_DATA;
    return cache && tlb;
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

/* `level` is a set of what is counted. */
enum {
    CONDITIONAL = 1,
    TAKEN = 2,
    JUMPS = 4,
    INDIRECT = 8, /* jumps through a register */
    CALLS = 16,
    INDIRECT_CALLS = 32,
    RETURNS = 64,
    SHADOWS = 128, /* also those that were thrown away */
    NOT_TAKEN = 256
};

static uint64_t branches_of(const struct virtual_branches *branches, uint32_t set)
{
    return (set & CONDITIONAL ? branches->conditional : 0) +
           (set & TAKEN ? branches->taken : 0) +
           (set & NOT_TAKEN ? branches->conditional - branches->taken : 0) +
           (set & JUMPS ? branches->jumps : 0) + (set & INDIRECT ? branches->indirect : 0) +
           (set & CALLS ? branches->calls : 0) + (set & RETURNS ? branches->returns : 0);
}

static bool branches(const struct virtual_counts *counts, uint32_t level, uint64_t *count,
                     char *why)
{
    (void)why;
    *count = branches_of(&counts->retired, level) +
             (level & SHADOWS ? branches_of(&counts->shadow, level) : 0) +
             (level & INDIRECT_CALLS ? counts->indirect_calls : 0);
    return true;
}

static bool direct_calls(const struct virtual_counts *counts, uint32_t level,
                         uint64_t *count, char *why)
{
    (void)level, (void)why;
    *count = counts->retired.calls - counts->indirect_calls;
    return true;
}

enum { WRONG_ALL, WRONG_CONDITIONAL, WRONG_INDIRECT, WRONG_RETURNS };

static bool mispredicted(const struct virtual_counts *counts, uint32_t level,
                         uint64_t *count, char *why)
{
    uint64_t indirect = counts->mispredicted_indirect,
             returns = counts->mispredicted_returns;
    *count = level == WRONG_INDIRECT  ? indirect
             : level == WRONG_RETURNS ? returns
             : level == WRONG_ALL     ? counts->mispredicted
                                      : counts->mispredicted - indirect - returns;
    if (counts->machine->branch.present)
        return true;
    snprintf(why, PMU_WHY,
             "unknown here: %s has no branch predictor; add a [branch] section to its file",
             counts->machine->name);
    return false;
}

static bool instructions_executed(const struct virtual_counts *counts, uint32_t level,
                                  uint64_t *count, char *why)
{
    (void)level, (void)why;
    *count = counts->instructions + counts->shadow_instructions;
    return true;
}

static bool waiting(const struct virtual_counts *counts, uint32_t level, uint64_t *count,
                    char *why)
{
    (void)level, (void)why;
    *count = counts->cycles - counts->instructions;
    return true;
}

static bool operations(const struct virtual_counts *counts, uint32_t level, uint64_t *count,
                       char *why)
{
    (void)level, (void)why;
    *count = counts->instructions + 2 * counts->sim.accesses[SIM_STORE];
    return true;
}

static bool never(const struct virtual_counts *counts, uint32_t level, uint64_t *count,
                  char *why)
{
    (void)counts, (void)level, (void)why;
    *count = 0;
    return true;
}

/* Random numbers below `level`, or that many parts of a thousand of the cycles. */
static bool random_count(const struct virtual_counts *counts, uint32_t level,
                         uint64_t *count, char *why)
{
    (void)why;
    *count = mix64(counts->cycles ^ counts->instructions << 20 ^ level) % level;
    return true;
}

static bool random_ticks(const struct virtual_counts *counts, uint32_t level,
                         uint64_t *count, char *why)
{
    uint64_t chance = 0;
    random_count(counts, 1000, &chance, why);
    *count = counts->cycles / 1000 * level * chance / 1000;
    return true;
}

/* Caches by what was asked for. `level` is that of the cache, plus one of these. */
enum { OF_LOADS = 0x100, OF_STORES = 0x200, MISSED = 0x400, HIT = 0x800, FETCHED = 0x1000 };

/* What missed in a level; in level 0, all that there was. */
static uint64_t missed(const struct virtual_counts *counts, uint32_t level, uint32_t set)
{
    uint64_t all = counts->sim.accesses[SIM_LOAD] + counts->sim.accesses[SIM_STORE];
    uint64_t stores = counts->sim.accesses[SIM_STORE];
    char why[PMU_WHY];
    if (level) {
        (void)data_misses(counts, level, &all, why);
        stores = counts->store_misses[level - 1];
    }
    return (set & OF_LOADS ? all - stores : 0) + (set & OF_STORES ? stores : 0);
}

static bool prefetched_by(const struct virtual_counts *counts, uint32_t level,
                          uint64_t *count, bool evicted)
{
    const struct strata_machine *machine = counts->machine;
    bool found = false;
    *count = 0;
    for (uint32_t i = 0; i < machine->ncaches; i++)
        if (machine->caches[i].level == level &&
            machine->caches[i].kind != STRATA_INSTRUCTION) {
            *count += evicted ? counts->sim.evictions[i] : counts->sim.prefetches[i];
            found = true;
        }
    return found;
}

static bool requests(const struct virtual_counts *counts, uint32_t level, uint64_t *count,
                     char *why)
{
    uint32_t set = level & ~0xffu, of = level & 0xff;
    uint64_t fetched;
    if (!prefetched_by(counts, of, &fetched, false))
        return no_cache(counts, of, why);
    *count = (set & HIT ? missed(counts, of - 1, set) - missed(counts, of, set) : 0) +
             (set & MISSED ? missed(counts, of, set) : 0) + (set & FETCHED ? fetched : 0);
    return true;
}

static bool evictions(const struct virtual_counts *counts, uint32_t level, uint64_t *count,
                      char *why)
{
    return prefetched_by(counts, level, count, true) || no_cache(counts, level, why);
}

/* The same for TLBs; what missed in the last one needed a walk. */
static uint64_t tlb_missed(const struct virtual_counts *counts, uint32_t level,
                           uint32_t set)
{
    if (!level)
        return missed(counts, 0, set);
    uint64_t all = 0, stores = counts->store_tlb_misses[level - 1];
    char why[PMU_WHY];
    (void)data_tlb_misses(counts, level, &all, why);
    return (set & OF_LOADS ? all - stores : 0) + (set & OF_STORES ? stores : 0);
}

static bool translations(const struct virtual_counts *counts, uint32_t level,
                         uint64_t *count, char *why)
{
    uint32_t set = level & ~0xffu, of = level & 0xff;
    uint64_t any;
    if (!data_tlb_misses(counts, of, &any, why))
        return false;
    *count =
        (set & HIT ? tlb_missed(counts, of - 1, set) - tlb_missed(counts, of, set) : 0) +
        (set & MISSED ? tlb_missed(counts, of, set) : 0);
    return true;
}

#define LOADS  (1u << SIM_LOAD)
#define STORES (1u << SIM_STORE)

#define EXECUTED  "also those that were executed and thrown away"
#define ALL_KINDS (CONDITIONAL | JUMPS | INDIRECT | CALLS | RETURNS)
#define ALL_TAKEN (TAKEN | JUMPS | INDIRECT | CALLS | RETURNS)
#define DATA      (OF_LOADS | OF_STORES)

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
    {"l2_misses", "loads and stores that missed the L2 cache", data_misses, 2, 0},
    {"l3_misses", "loads and stores that missed the L3 cache", data_misses, 3, 0},
    {"llc_misses", "loads and stores that missed the last cache, whichever that is",
     data_misses, LAST, 0},
    {"dtlb_misses", "loads and stores that missed the first data TLB", data_tlb_misses, 1,
     0},
    {"dtlb_walks", "loads and stores whose translation needed a page walk", data_walks, 0,
     0},
    {"itlb_misses", "fetches that missed the first instruction TLB", code_tlb_misses, 1,
     VIRTUAL_FETCHES},
    {"itlb_walks", "fetches whose translation needed a page walk", code_walks, 0,
     VIRTUAL_FETCHES},
    {"walks", "page walks of all kinds", all_walks, 0, 0},
    {"branches", "branches of all kinds", branches, ALL_KINDS, VIRTUAL_BRANCHES},
    {"branch_misses", "branches that were predicted wrong", mispredicted, WRONG_ALL,
     VIRTUAL_BRANCHES},
    {"conditional", "conditional branches", branches, CONDITIONAL, VIRTUAL_BRANCHES},
    {"conditional_taken", "conditional branches that were taken", branches, TAKEN,
     VIRTUAL_BRANCHES},
    {"branches_retired", "the same as branches", branches, ALL_KINDS, VIRTUAL_BRANCHES},
    {"branches_executed", "branches of all kinds, " EXECUTED, branches, ALL_KINDS | SHADOWS,
     VIRTUAL_BRANCHES},
    {"branches_taken", "branches that were taken, of all kinds", branches, ALL_TAKEN,
     VIRTUAL_BRANCHES},
    {"branches_taken_executed", "branches that were taken, " EXECUTED, branches,
     ALL_TAKEN | SHADOWS, VIRTUAL_BRANCHES},
    {"conditional_retired", "the same as conditional", branches, CONDITIONAL,
     VIRTUAL_BRANCHES},
    {"conditional_executed", "conditional branches, " EXECUTED, branches,
     CONDITIONAL | SHADOWS, VIRTUAL_BRANCHES},
    {"conditional_taken_executed", "conditional branches that were taken, " EXECUTED,
     branches, TAKEN | SHADOWS, VIRTUAL_BRANCHES},
    {"conditional_not_taken", "conditional branches that were not taken", branches,
     NOT_TAKEN, VIRTUAL_BRANCHES},
    {"jumps", "direct jumps", branches, JUMPS, VIRTUAL_BRANCHES},
    {"jumps_executed", "direct jumps, " EXECUTED, branches, JUMPS | SHADOWS,
     VIRTUAL_BRANCHES},
    {"indirect_jumps", "jumps through a register", branches, INDIRECT, VIRTUAL_BRANCHES},
    {"indirect_calls", "calls through a register", branches, INDIRECT_CALLS,
     VIRTUAL_BRANCHES},
    {"indirect_branches", "jumps and calls through a register", branches,
     INDIRECT | INDIRECT_CALLS, VIRTUAL_BRANCHES},
    {"indirect_and_returns", "jumps and calls through a register, and returns", branches,
     INDIRECT | INDIRECT_CALLS | RETURNS, VIRTUAL_BRANCHES},
    {"calls", "calls", branches, CALLS, VIRTUAL_BRANCHES},
    {"direct_calls", "calls of a place that the instruction names", direct_calls, 0,
     VIRTUAL_BRANCHES},
    {"returns", "returns", branches, RETURNS, VIRTUAL_BRANCHES},
    {"far_branches", "branches to another segment; this machine has none", never, 0,
     VIRTUAL_BRANCHES},
    {"branch_mispredictions", "the same as branch_misses", mispredicted, WRONG_ALL,
     VIRTUAL_BRANCHES},
    {"conditional_misses", "conditional branches that were predicted wrong", mispredicted,
     WRONG_CONDITIONAL, VIRTUAL_BRANCHES},
    {"indirect_misses", "jumps and calls through a register that were predicted wrong",
     mispredicted, WRONG_INDIRECT, VIRTUAL_BRANCHES},
    {"return_misses", "returns that were predicted wrong", mispredicted, WRONG_RETURNS,
     VIRTUAL_BRANCHES},
    {"instructions_executed", "instructions, " EXECUTED, instructions_executed, 0,
     VIRTUAL_BRANCHES},
    {"operations", "instructions, and two more for each store", operations, 0, 0},
    {"waiting_cycles", "virtual cycles in which no instruction ended", waiting, 0, 0},
#define CACHE_EVENTS(name, text, level)                                                    \
    {name "_load_hits", "loads that found their line in the " text, requests,              \
     HIT | OF_LOADS | (level), 0},                                                         \
        {name "_store_hits", "stores that found their line in the " text, requests,        \
         HIT | OF_STORES | (level), 0},                                                    \
        {name "_hits", "loads and stores that found their line in the " text, requests,    \
         HIT | DATA | (level), 0},                                                         \
        {name "_load_misses", "loads that missed the " text, requests,                     \
         MISSED | OF_LOADS | (level), 0},                                                  \
        {name "_store_misses", "stores that missed the " text, requests,                   \
         MISSED | OF_STORES | (level), 0},                                                 \
        {name "_prefetches", "lines that a prefetcher brought into the " text, requests,   \
         FETCHED | (level), 0},                                                            \
        {name "_fills", "lines that came into the " text ", prefetches included",          \
         requests, MISSED | DATA | FETCHED | (level), 0},                                  \
    {                                                                                      \
        name "_evictions", "lines that were thrown out of the " text, evictions, level, 0  \
    }
    CACHE_EVENTS("l1d", "L1 data cache", 1),
    CACHE_EVENTS("l2", "L2 cache", 2),
    CACHE_EVENTS("l3", "L3 cache", 3),
    {"dtlb_load_misses", "loads that missed the first data TLB", translations,
     MISSED | OF_LOADS | 1, 0},
    {"dtlb_store_misses", "stores that missed the first data TLB", translations,
     MISSED | OF_STORES | 1, 0},
    {"dtlb_hits", "loads and stores that the first data TLB translated", translations,
     HIT | DATA | 1, 0},
    {"stlb_hits", "loads and stores that the second TLB translated", translations,
     HIT | DATA | 2, 0},
    {"stlb_load_hits", "loads that the second TLB translated", translations,
     HIT | OF_LOADS | 2, 0},
    {"stlb_load_misses", "loads that missed the second TLB", translations,
     MISSED | OF_LOADS | 2, 0},
    {"stlb_store_misses", "stores that missed the second TLB", translations,
     MISSED | OF_STORES | 2, 0},
    {"test_noise", "random numbers below 1000, to test strata inspect", random_count, 1000,
     0},
    {"test_wild", "random numbers below 1000000, to test strata inspect", random_count,
     1000000, 0},
    {"test_ticks", "ticks at random times, to test strata inspect", random_ticks, 2, 0},
};

/* Those at the end are for tests of strata itself: found by name, but not listed. */
enum { EVENTS = sizeof events / sizeof events[0], LISTED = EVENTS - 3 };

const char *virtual_event(size_t i, const char **about, unsigned *needs)
{
    if (i >= LISTED)
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
    if (events[i].needs & VIRTUAL_FETCHES && !virtual_has_code(counts->machine))
        snprintf(why, PMU_WHY,
                 "unknown here: %.60s describes no cache and TLB for instructions",
                 counts->machine->name);
    else
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
