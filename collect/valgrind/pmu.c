/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The virtual PMU and the other requests of the program (include/strata/vpmu.h and
 * strata.h).
 *
 * A counter is the difference of a total of the simulated machine. One with a period has a
 * threshold; misses and what else happens in an access are compared at each event, all
 * other events at the next way out of a block, every CHECK instructions at least. */
#include "core/rng.h"
#include "pub_tool_transtab.h"
#include "tool.h"

#include <strata/vpmu.h>

enum { CHECK = 64 };

struct counter {
    bool open;
    unsigned event;
    uint64_t start;     /* of the total */
    uint64_t period;    /* 0: it only counts */
    uint64_t threshold; /* of the total, for the next sample */
    struct vpmu_sample *samples;
    uint64_t taken, read; /* samples */
};

bool pmu_checks;
uint64_t pmu_next_check = UINT64_MAX;
uint32_t pmu_periods;

static struct counter counters[VPMU_COUNTERS];
static struct rng rng = {1};
static struct vpmu_sample registers; /* of the last event */

static uint64_t cache_total(const uint64_t *by_cache, uint32_t level)
{
    const struct strata_machine *machine = &tool.raw->machine;
    uint64_t total = 0;
    for (uint32_t i = 0; i < machine->ncaches; i++)
        if (machine->caches[i].level == level)
            total += by_cache[i];
    return total;
}

static uint64_t tlb_total(const uint64_t *by_tlb, uint32_t level)
{
    const struct strata_machine *machine = &tool.raw->machine;
    uint64_t total = 0;
    for (uint32_t i = 0; i < machine->ntlbs; i++)
        if (machine->tlbs[i].level == level)
            total += by_tlb[i];
    return total;
}

/* A total without a level. */
static uint64_t plain_total(unsigned event)
{
    switch (event) {
    case VPMU_INSTRUCTIONS:
        return totals.events[RAW_INSTRUCTIONS];
    case VPMU_CYCLES:
        return totals.cycles;
    case VPMU_LOADS:
        return totals.counts.accesses[SIM_LOAD];
    case VPMU_STORES:
        return totals.counts.accesses[SIM_STORE];
    case VPMU_FETCHES:
        return totals.counts.accesses[SIM_FETCH];
    case VPMU_WALKS:
        return totals.counts.walks;
    default:
        return totals.events[RAW_CONDITIONAL + (event - VPMU_CONDITIONAL)];
    }
}

/* Totals have to be renewed before. */
static uint64_t total(unsigned event)
{
    const struct sim_counts *counts = &totals.counts;
    uint32_t level = event & 0xff;
    switch (event & ~0xffu) {
    case 0x100:
        return cache_total(counts->hits, level);
    case 0x200:
        return cache_total(counts->misses, level);
    case 0x300:
        return cache_total(counts->prefetches, level);
    case 0x400:
        return cache_total(counts->evictions, level);
    case 0x500:
        return tlb_total(counts->tlb_hits, level);
    case 0x600:
        return tlb_total(counts->tlb_misses, level);
    default:
        return plain_total(event);
    }
}

static bool is_possible(unsigned event)
{
    uint32_t level = event & 0xff, group = event >> 8;
    if (group == 0)
        return event <= VPMU_SHADOW_INSTRUCTIONS &&
               (event != VPMU_FETCHES || tool.raw->fetches) &&
               (event < VPMU_CONDITIONAL || tool.raw->branches);
    return level >= 1 && ((group <= 4 && level <= tool.cache_levels) ||
                          ((group == 5 || group == 6) && level <= tool.tlb_levels));
}

/* When the next way out of a block has to look at the counters. */
static void plan_check(void)
{
    pmu_next_check = UINT64_MAX;
    pmu_periods = 0;
    for (int i = 0; i < VPMU_COUNTERS; i++)
        pmu_periods += counters[i].open && counters[i].period;
    if (pmu_periods && !pmu_checks) {
        /* From now on blocks look at the counters, which few programs need. */
        pmu_checks = true;
        VG_(discard_translations_safely)(0x1000, ~(SizeT)0xffff, "strata");
    }
    if (pmu_periods)
        pmu_next_check = totals.events[RAW_INSTRUCTIONS] + CHECK;
}

static int open_counter(UWord number, unsigned event, uint64_t period)
{
    if (number >= VPMU_COUNTERS || !is_possible(event))
        return VPMU_NO_EVENT;
    struct counter *counter = &counters[number];
    if (period && !counter->samples)
        counter->samples =
            VG_(malloc)("strata.pmu", VPMU_SAMPLES * sizeof *counter->samples);
    totals_renew();
    counter->open = true;
    counter->event = event;
    counter->start = total(event);
    counter->period = period;
    counter->threshold = counter->start + sample_distance(&rng, period);
    counter->taken = counter->read = 0;
    plan_check();
    return 0;
}

static int close_counter(UWord number)
{
    if (number >= VPMU_COUNTERS || !counters[number].open)
        return VPMU_NO_EVENT;
    counters[number].open = false;
    plan_check();
    return 0;
}

static int read_counter(UWord number, uint64_t *count)
{
    if (number >= VPMU_COUNTERS || !counters[number].open)
        return VPMU_NO_EVENT;
    totals_renew();
    *count = total(counters[number].event) - counters[number].start;
    return 0;
}

static int next_sample(UWord number, struct vpmu_sample *sample)
{
    if (number >= VPMU_COUNTERS || !counters[number].open || !counters[number].period)
        return VPMU_NO_EVENT;
    struct counter *counter = &counters[number];
    if (counter->taken - counter->read > VPMU_SAMPLES)
        counter->read = counter->taken - VPMU_SAMPLES;
    if (counter->read == counter->taken)
        return VPMU_EMPTY;
    *sample = counter->samples[counter->read++ % VPMU_SAMPLES];
    return 0;
}

static void check_counters(void)
{
    totals_renew();
    for (int i = 0; i < VPMU_COUNTERS; i++) {
        struct counter *counter = &counters[i];
        if (!counter->open || !counter->period)
            continue;
        uint64_t now = total(counter->event);
        if (now < counter->threshold)
            continue;
        counter->samples[counter->taken++ % VPMU_SAMPLES] = registers;
        counter->threshold = now + sample_distance(&rng, counter->period);
        totals.samples++;
    }
}

VG_REGPARM(1) void pmu_check(Addr instruction)
{
    if (!registers.instruction)
        registers.instruction = instruction;
    check_counters();
    VG_(memset)(&registers, 0, sizeof registers);
    plan_check();
}

void pmu_event(Addr address, Addr instruction, const struct sim_result *result)
{
    registers.address = address;
    registers.instruction = instruction;
    registers.evicted = result->victim == SIM_NO_LINE ? 0 : result->victim;
    registers.latency = result->cycles;
    check_counters();
    VG_(memset)(&registers, 0, sizeof registers);
}

static void flush(void)
{
    access_refresh();
    sim_flush(tool.sim);
}

void pmu_forked(void)
{
    for (int i = 0; i < VPMU_COUNTERS; i++) {
        counters[i].start = 0;
        counters[i].threshold = sample_distance(&rng, counters[i].period);
    }
    plan_check();
}

Bool pmu_request(ThreadId tid, UWord *args, UWord *result)
{
    (void)tid;
    if (tool.off)
        return False;
    *result = 0;
    switch (args[0]) {
    case VPMU_REQUEST_OPEN:
        *result = (UWord)(Word)open_counter(args[1], (unsigned)args[2], args[3]);
        return True;
    case VPMU_REQUEST_CLOSE:
        *result = (UWord)(Word)close_counter(args[1]);
        return True;
    case VPMU_REQUEST_READ:
        *result = (UWord)(Word)read_counter(args[1], (uint64_t *)args[2]);
        return True;
    case VPMU_REQUEST_SAMPLE:
        *result = (UWord)(Word)next_sample(args[1], (struct vpmu_sample *)args[2]);
        return True;
    case VPMU_REQUEST_START:
    case VPMU_REQUEST_STOP:
        totals_collect(args[0] == VPMU_REQUEST_START);
        return True;
    case VPMU_REQUEST_NAME:
        object_name(args[1], args[2], (const HChar *)args[3]);
        return True;
    case VPMU_REQUEST_FORGET:
        object_forget(args[1]);
        return True;
    case VPMU_REQUEST_FLUSH:
        flush();
        return True;
    case VPMU_REQUEST_TOTALS:
        totals_renew();
        *(struct raw_totals *)args[1] = totals;
        return True;
    default:
        return False;
    }
}
