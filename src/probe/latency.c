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
    TRIALS = 9, /* the true median lies within their range with 1 - 2^-8 */
};

static int build_sparse(struct probing *p, const struct string *s, double x)
{
    int status = refs_sparse(&p->refs, &p->runner->ground[s->arena], &p->rng, (uint64_t)x,
                             SKIP, BLOCK);
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

struct latency {
    struct string string;
    double visits, extra; /* cycles of translation */
    double trial[TRIALS];
};

static struct latency plan(const struct probing *p, double visits, bool ramp)
{
    const struct ground *huge = &p->runner->ground[HUGE_PAGES];
    struct latency latency = {.string = {.build = build_sparse, .a = ramp},
                              .visits = floor(visits)};
    if ((double)huge->bytes >= visits * (double)huge->line * SKIP)
        latency.string.arena = HUGE_PAGES;
    else
        latency.extra = translation(p, visits);
    return latency;
}

/* The lower quartile: disturbances make a trial longer, but a dirty clock errs both ways.
 */
static struct strata_value judge(struct latency *latency)
{
    double *trial = latency->trial;
    qsort(trial, TRIALS, sizeof *trial, by_value);
    return known(trial[TRIALS / 4], trial[0], trial[TRIALS - 1], 1 - exp2(1 - TRIALS));
}

/* All levels by turns, so that a disturbance does not hit all the trials of one. */
static int measure(struct probing *p, struct latency *latencies, int n)
{
    double line = (double)p->runner->ground[BASE_PAGES].line;
    for (size_t t = 0; t < TRIALS; t++)
        for (int i = 0; i < n; i++) {
            struct latency *l = &latencies[i];
            int status = try_string(p, &l->string, l->visits * line, &l->trial[t]);
            if (status)
                return status;
            l->trial[t] = fmax(1, l->trial[t] - l->extra);
            time_left(p, (double)t / TRIALS);
        }
    return 0;
}

int probe_latencies(struct probing *p)
{
    struct latency latencies[STRATA_MAX_CACHES + 1];
    struct strata_probed *probed = p->probed;
    const struct ground *ground = &p->runner->ground[BASE_PAGES];
    int n = probed->ncaches;
    for (int i = 0; i < n; i++) {
        struct strata_probed_cache *cache = &probed->caches[i];
        /* Nearer to what this level holds: of the level before, sets that few pages share
         * still hold theirs. */
        double here = room(p, cache);
        latencies[i] = plan(p, i ? cbrt(room(p, cache - 1) * here * here) : here / 2, true);
    }
    /* Four times what the last level holds, as far as there is memory. */
    double most = (double)(ground->bytes / ground->line / SKIP);
    latencies[n] =
        plan(p, n ? fmin(most, 4 * room(p, &probed->caches[n - 1])) : most, false);
    bool no = late(p);
    int status = no ? 0 : measure(p, latencies, n + 1);
    for (int i = 0; i <= n && !status; i++) {
        struct strata_value cycles = no ? unknown(no_time) : judge(&latencies[i]);
        *(i < n ? &probed->caches[i].latency_cycles : &probed->memory_cycles) = cycles;
        *(i < n ? &probed->caches[i].latency_ns : &probed->memory_ns) = in_ns(p, cycles);
    }
    return status;
}
