/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ways and nominal size of the caches behind the first, by the gap test on huge pages.
 *
 * Those caches are indexed by physical addresses, which follow the virtual ones only within a
 * page: so the gap must divide a huge page. The test is that of the first cache, but what
 * counts as a conflict is a miss in this very level, at least one in every lap of the ring.
 *
 * The lines of a ring fall into one set of the level before as well. If this level is
 * exclusive, both sets hold lines of it, and the ring conflicts late. So it is repeated under
 * pressure: visits between those of the ring drive its lines out of the level before, all but
 * one. If nothing changes, the level is not exclusive; if just the ways of the level before
 * are missing, it is; if anything else comes out, nothing is said. */
#include "probe/probing.h"

#include <math.h>

enum { MOST_WAYS = 64 };

struct level {
    struct strata_probed_cache *cache;
    uint64_t inner;      /* way size of the level before */
    size_t inner_ways;
    double miss;         /* what a miss here costs more than a hit */
    bool pressed;
};

/* a: the gap. x: how many. */
static int build_ring(struct probing *p, const struct string *s, double x)
{
    return refs_gap(&p->refs, &p->runner->ground[s->arena], &p->rng, (size_t)x, s->a, 0);
}

/* b: the inner way size, in the low bits its ways. */
static int build_pressed(struct probing *p, const struct string *s, double x)
{
    size_t ways = s->b % (MOST_WAYS + 1);
    return refs_gap_pressed(&p->refs, &p->runner->ground[s->arena], &p->rng, (size_t)x, s->a, ways,
                            s->b / (MOST_WAYS + 1));
}

static struct string ring(const struct level *level, uint64_t k)
{
    struct string string = {build_ring, HUGE_PAGES, k, 0};
    if (level->pressed)
        string = (struct string){build_pressed, HUGE_PAGES, k,
                                 level->inner * (MOST_WAYS + 1) + level->inner_ways};
    return string;
}

/* The fewest locations that miss in the level before at every visit. */
static size_t fewest(const struct level *level)
{
    return level->pressed ? 2 : level->inner_ways + 1;
}

/* Whether n locations k apart miss here at least once in a lap. */
static int misses(struct probing *p, const struct level *level, size_t n, uint64_t k,
                  struct decision *decision)
{
    struct string string = ring(level, k);
    double visits = (double)n * (level->pressed ? (double)level->inner_ways + 1 : 1);
    return decide_slower(p, &string, (double)n, &string, (double)fewest(level),
                         2 * level->miss / visits, decision);
}

/* The most locations k apart that fit; MOST_WAYS + 1 if more do. */
static int most_fitting(struct probing *p, const struct level *level, uint64_t k, size_t *fitting,
                        double *confidence)
{
    size_t low = fewest(level), high = MOST_WAYS + 1;
    double fits = 1, above = 1;
    struct decision d;
    int status = misses(p, level, high, k, &d);
    *fitting = high;
    if (status || !d.slower)
        return status;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        status = misses(p, level, middle, k, &d);
        if (status)
            return status;
        *(d.slower ? &high : &low) = middle;
        *(d.slower ? &above : &fits) = d.confidence;
    }
    *fitting = low;
    *confidence = fits * above;
    return 0;
}

/* Whether the doubled and tripled gap hold as many: those of a way size do. */
static int multiples_agree(struct probing *p, const struct level *level, uint64_t k, size_t fitting,
                           bool *agree)
{
    const struct ground *ground = &p->runner->ground[HUGE_PAGES];
    struct decision above, below;
    *agree = true;
    for (uint64_t m = 2; m <= 3 && *agree; m++) {
        if ((fitting + 2) * m * k > ground->bytes || ground->page % (m * k))
            continue; /* no longer physical */
        int status = misses(p, level, fitting + 1, m * k, &above);
        if (!status)
            status = misses(p, level, fitting, m * k, &below);
        if (status)
            return status;
        *agree = above.slower && !below.slower;
    }
    return 0;
}

static int find_gap(struct probing *p, const struct level *level, uint64_t *gap, size_t *fitting,
                    double *confidence)
{
    const struct ground *ground = &p->runner->ground[HUGE_PAGES];
    bool agree;
    *gap = 0;
    for (uint64_t k = level->inner; k <= ground->page && time_left(p, 0); k += level->inner) {
        if (ground->page % k || (MOST_WAYS + 2) * k > ground->bytes)
            continue;
        int status = most_fitting(p, level, k, fitting, confidence);
        if (!status && *fitting <= MOST_WAYS)
            status = multiples_agree(p, level, k, *fitting, &agree);
        if (status)
            return status;
        if (*fitting <= MOST_WAYS && agree) {
            *gap = k;
            break;
        }
    }
    return 0;
}

/* Takes the level before out of the count, if this one is exclusive of it. */
static int correct(struct probing *p, struct level *level, uint64_t k, size_t *ways,
                   double *confidence)
{
    size_t pressed;
    double sure = 1;
    if (k == level->inner) {
        *ways = 0;
        return 0;
    }
    level->pressed = true;
    int status = most_fitting(p, level, k, &pressed, &sure);
    level->pressed = false;
    *confidence *= sure;
    if (pressed + level->inner_ways == *ways + 1 && level->inner_ways > 1)
        *ways = pressed - 1;
    else if (pressed != *ways)
        *ways = 0;
    return status;
}

static int find_ways(struct probing *p, struct level *level)
{
    struct strata_probed_cache *cache = level->cache;
    size_t ways;
    uint64_t k;
    double confidence = 1;
    int status = find_gap(p, level, &k, &ways, &confidence);
    if (status)
        return status;
    cache->ways = cache->size =
        unknown("no gap that divides a huge page conflicts: the index is hashed, or a way is larger");
    if (!k)
        return 0;
    status = correct(p, level, k, &ways, &confidence);
    double size = (double)ways * (double)k;
    if (ways && size >= cache->effective.value) {
        cache->ways = known((double)ways, (double)ways, (double)ways, confidence);
        cache->size = known(size, size, size, confidence);
    } else {
        cache->ways = cache->size = unknown("gaps conflict, but not as those of one cache would");
    }
    return status;
}

int probe_ways(struct probing *p)
{
    struct strata_probed *probed = p->probed;
    bool huge = p->runner->ground[HUGE_PAGES].bytes > 0;
    for (int i = 1; i < probed->ncaches; i++) {
        struct strata_probed_cache *cache = &probed->caches[i], *inner = cache - 1;
        bool last = i + 1 == probed->ncaches;
        double next = last ? probed->memory_cycles.value : cache[1].latency_cycles.value;
        cache->ways = cache->size = unknown(huge ? "the ways of the level before are not known"
                                                 : "huge pages would tell, but there are none here");
        if (!huge || !inner->ways.known || !inner->size.known)
            continue;
        struct level level = {.cache = cache,
                              .inner = (uint64_t)(inner->size.value / inner->ways.value),
                              .inner_ways = (size_t)inner->ways.value,
                              .miss = next - cache->latency_cycles.value};
        int status = find_ways(p, &level);
        if (status)
            return status;
    }
    return 0;
}
