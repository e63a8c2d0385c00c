/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Latencies by the sparse string: within what a level holds and beyond what the one before
 * it does, every visit is served by that level. Only every fourth line is visited, so that
 * a line that was prefetched beside another one is never wanted; on huge pages, where there
 * are any, so that translation costs nothing. */
#include "probe/probing.h"

#include <math.h>
#include <stdlib.h>

enum {
    SKIP = 4,   /* lines */
    BLOCK = 8,  /* pages */
    TRIALS = 7, /* the true median lies within their range with 1 - 2^-6 */
};

static int build_sparse(struct probing *p, const struct string *s, double x)
{
    int status =
        refs_sparse(&p->refs, &p->runner->ground[s->arena], &p->rng, (uint64_t)x, SKIP, BLOCK);
    p->refs.ramp = s->a; /* what was only prefetched takes room */
    return status;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Visits that a level has room for, one to a line, or one to where the strings may go. */
static double room(const struct probing *p, const struct strata_probed_cache *cache)
{
    double line = (double)p->runner->ground[BASE_PAGES].line;
    return cache->effective.value / fmax(line, cache->line.known ? cache->line.value : 0);
}

/* What translation adds to a visit of a string of so many: the first one in each page may
 * miss in the TLBs. */
static double translation(const struct probing *p, double visits)
{
    const struct ground *ground = &p->runner->ground[BASE_PAGES];
    double in_page = (double)(ground->page / ground->line / SKIP), cost = 0;
    for (int i = 0; i < p->probed->ntlbs; i++) {
        const struct strata_probed_tlb *tlb = &p->probed->tlbs[i];
        if (tlb->page == ground->page && tlb->entries.known && tlb->penalty_cycles.known &&
            visits / in_page > tlb->entries.value)
            cost = tlb->penalty_cycles.value;
    }
    return cost / in_page;
}

static int measure(struct probing *p, double visits, bool ramp, struct strata_value *cycles)
{
    const struct ground *huge = &p->runner->ground[HUGE_PAGES];
    struct string string = {.build = build_sparse, .a = ramp};
    double line = (double)p->runner->ground[BASE_PAGES].line, extra = 0, trial[TRIALS];
    if ((double)huge->bytes >= visits * line * SKIP)
        string.arena = HUGE_PAGES;
    else
        extra = translation(p, visits);
    for (size_t i = 0; i < TRIALS; i++) {
        int status = try_string(p, &string, visits * line, &trial[i]);
        if (status)
            return status;
        trial[i] = fmax(1, trial[i] - extra);
    }
    qsort(trial, TRIALS, sizeof *trial, by_value);
    *cycles = known(trial[TRIALS / 2], trial[0], trial[TRIALS - 1], 1 - exp2(1 - TRIALS));
    return 0;
}

int probe_latencies(struct probing *p)
{
    struct strata_probed *probed = p->probed;
    const struct ground *ground = &p->runner->ground[BASE_PAGES];
    int status = 0;
    for (int i = 0; i < probed->ncaches && !status; i++) {
        struct strata_probed_cache *cache = &probed->caches[i];
        /* Nearer to what this level holds: of the level before, sets that few pages share
         * still hold theirs. */
        double here = room(p, cache), visits = i ? cbrt(room(p, cache - 1) * here * here) : here / 2;
        time_left(p, (double)i / probed->ncaches);
        status = measure(p, floor(visits), true, &cache->latency_cycles);
        cache->latency_ns = in_ns(p, cache->latency_cycles);
    }
    if (!status)
        status = measure(p, (double)(ground->bytes / ground->line / SKIP), false,
                         &probed->memory_cycles);
    probed->memory_ns = in_ns(p, probed->memory_cycles);
    return status;
}
