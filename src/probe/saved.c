/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From what a probe found to a machine that the simulator runs.
 *
 * A machine has no unknowns, so each gets a stated assumption. A cache whose nominal size
 * is not known is as large as what a program can use of it, and indexed by virtual
 * addresses, so that all of it can be used; unknown ways are as many as make the number of
 * sets a power of two; an unknown line is that of the level before. A TLB whose entries are
 * more than could be tried has as many as were tried. The branch predictor is assumed
 * altogether. Probing the result gives the same table again. */
#include "core/fail.h"

#include <math.h>
#include <stdio.h>
#include <strata/probe.h>
#include <string.h>

enum { USUAL_WAYS = 8, USUAL_LINE = 64 };

static uint32_t whole(double x)
{
    return (uint32_t)fmax(0, round(x));
}

/* Rounded to four digits: a clock that is set against one loop supports no more. */
static uint64_t four_digits(double x)
{
    double digit = pow(10, floor(log10(x)) - 3);
    return (uint64_t)(x >= 1e4 ? round(x / digit) * digit : round(x));
}

static double value_or(const struct strata_value *value, double otherwise)
{
    return value->known ? value->value : otherwise;
}

/* Rounds to a multiple of `unit`, at least one. */
static uint64_t multiple(double x, uint64_t unit)
{
    uint64_t n = (uint64_t)fmax(1, round(x / (double)unit));
    return n * unit;
}

/* The least number of ways, not below the usual one, with which the number of sets is a
 * power of two: strings that fill such caches evenly, as almost all are made, do not fill
 * others. The usual one, if there is none that a cache may have. */
static uint32_t likely_ways(uint64_t lines)
{
    enum { MOST = 64 };
    uint64_t ways = lines;
    while (ways >= 2 * USUAL_WAYS && ways % 2 == 0)
        ways /= 2;
    return ways >= USUAL_WAYS && ways <= MOST ? (uint32_t)ways : USUAL_WAYS;
}

static void save_cache(const struct strata_probed_cache *found,
                       const struct strata_cache *inner, struct strata_cache *cache)
{
    double latency = value_or(&found->latency_cycles, inner ? 4.0 * inner->latency : 4);
    uint32_t least = inner ? inner->latency + 1 : 1;
    snprintf(cache->name, sizeof cache->name, inner ? "L%d" : "L%dd", found->level);
    cache->level = (uint32_t)found->level;
    cache->kind = inner ? STRATA_UNIFIED : STRATA_DATA;
    cache->line = whole(value_or(&found->line, inner ? inner->line : USUAL_LINE));
    cache->size = multiple(value_or(&found->size, found->effective.value), cache->line);
    cache->ways = found->ways.known ? whole(found->ways.value)
                                    : likely_ways(cache->size / cache->line);
    cache->size = multiple((double)cache->size, (uint64_t)cache->line * cache->ways);
    cache->latency = whole(latency) > least ? whole(latency) : least;
    cache->policy = STRATA_LRU;
    cache->index = inner && found->size.known ? STRATA_PHYSICAL : STRATA_VIRTUAL;
    cache->types = STRATA_INT | STRATA_FLOAT;
    cache->inclusion = STRATA_NINE;
    cache->banks = whole(value_or(&found->banks, 0));
    cache->interleave = whole(value_or(&found->interleave, 0));
}

static void save_tlb(const struct strata_probed_tlb *found,
                     const struct strata_probed_tlb *inner, struct strata_tlb *tlb)
{
    snprintf(tlb->name, sizeof tlb->name, "L%ud-%uK", (unsigned)found->level % 10,
             (unsigned)(found->page >> 10) % 10000000);
    tlb->level = (uint32_t)found->level;
    tlb->kind = STRATA_DATA;
    tlb->entries = whole(value_or(&found->entries, found->entries.low));
    tlb->ways = whole(value_or(&found->ways, tlb->entries));
    if (!tlb->ways || tlb->entries % tlb->ways)
        tlb->ways = tlb->entries;
    tlb->latency = inner ? whole(value_or(&inner->penalty_cycles, 7)) : 0;
    tlb->policy = STRATA_LRU;
    tlb->page = found->page;
}

/* Whether a TLB is the last one of its page size. */
static bool is_last(const struct strata_probed *probed, int i)
{
    return i + 1 == probed->ntlbs || probed->tlbs[i + 1].page != probed->tlbs[i].page;
}

/* What is known of the walks for pages of a size: what the last TLB's misses cost, and the
 * least that it can be, a hit there. 0: not known. */
struct walk {
    uint32_t latency, least;
};

static void note_walk(const struct strata_probed *probed, int i,
                      const struct strata_tlb *tlb, struct walk *walk)
{
    const struct strata_value *penalty = &probed->tlbs[i].penalty_cycles;
    walk->least = tlb->latency > 0 ? tlb->latency : 1;
    if (is_last(probed, i) && penalty->known)
        walk->latency = whole(fmax(walk->least, penalty->value));
}

/* Where it is not known, it is that of the other size. */
static uint32_t walk_or(const struct walk *walk, const struct walk *other)
{
    uint32_t latency = walk->latency ? walk->latency : other->latency;
    return latency > walk->least ? latency : walk->least;
}

/* Whether a TLB has an unknown number of entries, or one before it: then there is none to
 * save, and those behind it would be the first. */
static bool is_unknown(const struct strata_probed_tlb *tlb)
{
    bool here = !tlb->entries.known && tlb->entries.low < 1;
    return here || (tlb->level > 1 && is_unknown(tlb - 1));
}

static void save_tlbs(const struct strata_probed *probed, struct strata_machine *machine)
{
    struct walk base = {0}, huge = {0};
    for (int i = 0; i < probed->ntlbs && machine->ntlbs < STRATA_MAX_TLBS; i++) {
        const struct strata_probed_tlb *found = &probed->tlbs[i];
        const struct strata_probed_tlb *inner = found->level > 1 ? found - 1 : NULL;
        if (is_unknown(found))
            continue;
        struct strata_tlb *tlb = &machine->tlbs[machine->ntlbs++];
        save_tlb(found, inner, tlb);
        note_walk(probed, i, tlb, found->page == probed->huge ? &huge : &base);
    }
    machine->walk_latency = walk_or(&base, &huge);
    if (huge.least && walk_or(&huge, &base) != machine->walk_latency)
        machine->walk_huge_latency = walk_or(&huge, &base);
}

/* A probe does not look at branches; a usual predictor stands in, so that a saved machine
 * can count them. What is saved says so (report/probe_comment.c). */
static void assume_branches(struct strata_machine *machine)
{
    machine->branch = (struct strata_branch){
        .present = 1, .entries = 4096, .history = 12, .window = 32, .penalty = 15};
}

int strata_probed_machine(const struct strata_probed *probed,
                          struct strata_machine *machine, struct strata_error *error)
{
    if (!probed->ncaches)
        return fail(error, STRATA_FAILED,
                    "the probe was stopped, or its time was over, before it found a cache: "
                    "there is no machine to save; run it again, with a larger --budget");
    memset(machine, 0, sizeof *machine);
    snprintf(machine->name, sizeof machine->name, "%s", probed->name);
    machine->page = probed->page;
    machine->huge = probed->huge;
    machine->frequency = four_digits(1e9 / probed->cycle_ns);
    machine->mapping = STRATA_MAP_RANDOM;
    for (int i = 0; i < probed->ncaches; i++)
        save_cache(&probed->caches[i], i ? &machine->caches[i - 1] : NULL,
                   &machine->caches[machine->ncaches++]);
    save_tlbs(probed, machine);
    assume_branches(machine);
    uint32_t least = machine->caches[machine->ncaches - 1].latency + 1;
    machine->memory_latency =
        whole(fmax(least, value_or(&probed->memory_cycles, 4.0 * least)));
    return strata_machine_check(machine, error);
}
