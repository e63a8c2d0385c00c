/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The counting runner that asks the virtual PMU of a simulated machine.
 *
 * Counts are of demand loads: what a prefetcher fetches does not count. Events may be made
 * to lie, so that it can be tested that lies are found. */
#include "core/fail.h"
#include "counting/counting.h"
#include "sim/banks.h"
#include "sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct simulated {
    struct counting counting;
    struct strata_machine machine;
    struct sim *sim;
    uint64_t base[ARENAS];
    uint32_t levels[4];       /* bits of the cache levels that a type uses, by enum */
    uint32_t tlbs[4][ARENAS]; /* the same for TLBs */
    struct counting_fault faults[COUNTED_EVENTS];
    struct rng rng;
};

static void *allocate(void *context, size_t size)
{
    (void)context;
    return malloc(size);
}

static void release_block(void *context, void *block)
{
    (void)context;
    free(block);
}

/* The levels below `level` of a set of levels, as bits from 0 on. */
static uint32_t below(uint32_t levels, uint32_t level)
{
    return level ? levels & ((UINT32_C(1) << (level - 1)) - 1) : 0;
}

static double normal(struct rng *rng)
{
    return sqrt(-2 * log(1 - rng_unit(rng))) * cos(6.283185307179586 * rng_unit(rng));
}

/* What an event that may lie says of a true count. */
static double told(struct simulated *s, int event, double count)
{
    const struct counting_fault *fault = &s->faults[event];
    switch (fault->kind) {
    case FAULT_STUCK:
        return 0;
    case FAULT_DOUBLE:
        return 2 * count;
    case FAULT_NOISE:
        return fmax(0, round(count * (1 + fault->amount * normal(&s->rng))));
    default:
        return count;
    }
}

static int simulated_walk(struct counting *counting, enum arena arena,
                          enum strata_types type, const uint64_t *at, size_t n,
                          uint32_t *moved, struct walk_counts *counts)
{
    struct simulated *s = (struct simulated *)counting;
    uint32_t caches = s->levels[type], tlbs = s->tlbs[type][arena];
    uint64_t sums[COUNTED_EVENTS] = {0}, cycles = 0;
    struct sim_result result;
    for (size_t i = 0; i < n; i++) {
        sim_access(s->sim, s->base[arena] + at[i], 1, SIM_LOAD, type, &result);
        uint32_t bits = below(caches, result.level) | below(tlbs, result.tlb)
                                                          << COUNTED_LEVELS;
        if (moved)
            moved[i] = bits;
        for (; bits; bits &= bits - 1)
            sums[__builtin_ctz(bits)]++;
        cycles += result.cycles;
    }
    counts->visits = n;
    counts->cycles = (double)cycles;
    for (int i = 0; i < COUNTED_EVENTS; i++)
        counts->events[i] = told(s, i, (double)sums[i]);
    return 0;
}

/* The cache of a level that serves loads. */
static const struct strata_cache *cache_of(const struct simulated *s, uint32_t level)
{
    for (uint32_t i = 0; i < s->machine.ncaches; i++)
        if (s->machine.caches[i].level == level &&
            s->machine.caches[i].kind != STRATA_INSTRUCTION)
            return &s->machine.caches[i];
    return NULL;
}

/* Two loads in a cycle take as long as the slower one, and one more if they conflict. */
static int simulated_pairs(struct counting *counting, enum arena arena,
                           enum strata_types type, const uint64_t *at, size_t n,
                           struct walk_counts *counts)
{
    struct simulated *s = (struct simulated *)counting;
    struct sim_result one, other;
    uint64_t conflicts = 0, cycles = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t a = s->base[arena] + at[2 * i], b = s->base[arena] + at[2 * i + 1];
        sim_access(s->sim, a, 1, SIM_LOAD, type, &one);
        sim_access(s->sim, b, 1, SIM_LOAD, type, &other);
        const struct strata_cache *cache = cache_of(s, one.level);
        bool conflict = cache && one.level == other.level && banks_conflict(cache, a, b);
        conflicts += conflict;
        cycles += one.cycles > other.cycles ? one.cycles : other.cycles;
        cycles += conflict ? BANK_CYCLES : 0;
    }
    *counts = (struct walk_counts){.visits = 2 * n, .cycles = (double)cycles};
    counts->events[BANK_EVENT] = told(s, BANK_EVENT, (double)conflicts);
    return 0;
}

static void simulated_release(struct counting *counting)
{
    struct simulated *s = (struct simulated *)counting;
    sim_release(s->sim);
    free(s);
}

static const struct counting_ops simulated_ops = {simulated_walk, simulated_pairs,
                                                  simulated_release};

static struct ground ground(uint64_t page, uint64_t bytes)
{
    return (struct ground){
        .page = page, .bytes = page ? bytes - bytes % page : 0, .line = 64};
}

/* The name has the level between its two parts, where it is above 0. */
static void offer(struct simulated *s, int event, const char *name, unsigned level,
                  const char *rest)
{
    struct counted_event *e = &s->counting.events[event];
    char digits[16] = "";
    if (level)
        snprintf(digits, sizeof digits, "%u", level);
    e->present = true;
    e->way = WAY_STANDARD;
    snprintf(e->name, sizeof e->name, "%s%s%s", name, digits, rest);
}

/* The events of the machine's levels. */
static void list_events(struct simulated *s, const struct strata_machine *machine)
{
    for (uint32_t i = 0; i < machine->ncaches; i++) {
        const struct strata_cache *cache = &machine->caches[i];
        if (cache->kind == STRATA_INSTRUCTION)
            continue;
        for (uint32_t type = STRATA_INT; type <= STRATA_FLOAT; type++)
            s->levels[type] |= cache->types & type ? UINT32_C(1) << (cache->level - 1) : 0;
        offer(s, (int)CACHE_EVENT(cache->level), "l", cache->level,
              cache->level == 1 ? "d_misses" : "_misses");
    }
    for (uint32_t i = 0; i < machine->ntlbs; i++) {
        const struct strata_tlb *tlb = &machine->tlbs[i];
        if (tlb->kind == STRATA_INSTRUCTION || tlb->level > COUNTED_LEVELS)
            continue;
        for (uint32_t type = STRATA_INT; type <= STRATA_FLOAT; type++)
            s->tlbs[type][tlb->page == machine->huge] |= UINT32_C(1) << (tlb->level - 1);
        offer(s, (int)TLB_EVENT(tlb->level), "dtlb", tlb->level > 1 ? tlb->level : 0,
              "_misses");
    }
}

/* Huge pages share the TLBs of base pages where they have none. */
static void share_tlbs(struct simulated *s)
{
    for (uint32_t type = STRATA_INT; type <= STRATA_FLOAT; type++)
        if (!s->tlbs[type][HUGE_PAGES])
            s->tlbs[type][HUGE_PAGES] = s->tlbs[type][BASE_PAGES];
}

static void set_faults(struct simulated *s, const struct counting_fault *faults, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct counted_event *event = &s->counting.events[faults[i].event];
        s->faults[faults[i].event] = faults[i];
        if (faults[i].kind != FAULT_MISSING || !event->present)
            continue;
        event->present = false;
        snprintf(event->why, sizeof event->why, "this machine has no such event");
    }
}

int counting_simulated(struct counting **counting, const struct strata_machine *machine,
                       uint64_t seed, uint64_t bytes, uint64_t huge_bytes,
                       const struct counting_fault *faults, size_t n,
                       struct strata_error *error)
{
    const struct allocator allocator = {allocate, release_block, NULL};
    struct simulated *s = calloc(1, sizeof *s);
    if (s)
        s->sim = sim_create(machine, seed, &allocator);
    if (!s || !s->sim) {
        free(s);
        return fail(error, STRATA_FAILED, "out of memory for the simulated machine");
    }
    s->rng.state = seed;
    s->machine = *machine;
    s->counting.ops = &simulated_ops;
    s->counting.simulated = true;
    s->counting.cpu = -1;
    s->counting.base_page = machine->page;
    s->counting.cycle_ns = 1e9 / (double)machine->frequency;
    s->counting.ground[BASE_PAGES] = ground(machine->page, bytes);
    s->counting.ground[HUGE_PAGES] = ground(machine->huge, huge_bytes);
    s->base[BASE_PAGES] = UINT64_C(1) << 40;
    s->base[HUGE_PAGES] = UINT64_C(1) << 44;
    if (machine->huge && sim_map_huge(s->sim, s->base[HUGE_PAGES], huge_bytes))
        s->counting.ground[HUGE_PAGES].bytes = 0;
    list_events(s, machine);
    offer(s, BANK_EVENT, "bank", 0, "_conflicts");
    share_tlbs(s);
    set_faults(s, faults, n);
    *counting = &s->counting;
    return 0;
}
