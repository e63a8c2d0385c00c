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

static int measure(struct probing *p, double footprint, bool ramp, struct strata_value *cycles)
{
    const struct ground *huge = &p->runner->ground[HUGE_PAGES];
    struct string string = {.build = build_sparse, .a = ramp};
    double trial[TRIALS];
    string.arena = (double)huge->bytes >= footprint * SKIP ? HUGE_PAGES : BASE_PAGES;
    for (size_t i = 0; i < TRIALS; i++) {
        int status = try_string(p, &string, footprint, &trial[i]);
        if (status)
            return status;
    }
    qsort(trial, TRIALS, sizeof *trial, by_value);
    *cycles = known(trial[TRIALS / 2], trial[0], trial[TRIALS - 1], 1 - exp2(1 - TRIALS));
    return 0;
}

int probe_latencies(struct probing *p)
{
    struct strata_probed *probed = p->probed;
    double inner = 0;
    for (int i = 0; i < probed->ncaches; i++) {
        struct strata_probed_cache *cache = &probed->caches[i];
        double outer = cache->effective.value;
        int status = measure(p, i ? sqrt(inner * outer) : outer / 2, true,
                             &cache->latency_cycles);
        if (status)
            return status;
        cache->latency_ns = in_ns(p, cache->latency_cycles);
        inner = outer;
        time_left(p, (double)i / probed->ncaches);
    }
    double most = (double)p->runner->ground[BASE_PAGES].bytes / SKIP;
    int status = measure(p, most, false, &probed->memory_cycles);
    probed->memory_ns = in_ns(p, probed->memory_cycles);
    return status;
}
