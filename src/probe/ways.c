/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ways, nominal size and line of the caches behind the first, by the gap test on huge
 * pages.
 *
 * Those caches are indexed by physical addresses, which follow the virtual ones only within
 * a page: so the gap must divide a huge page. The test is that of the first cache, with two
 * differences. What counts as a conflict is a miss in this very level, at least one in
 * every lap of the ring. And the ring is under pressure: visits in between drive its lines
 * out of the level before, so that each is looked for here. Without that, a level that is
 * exclusive of the one before would seem to have the ways of both. */
#include "probe/probing.h"

#include <math.h>

enum {
    MOST_WAYS = 64,
    PAIRS = 96,   /* of trials: if these do not tell, the sets are not what decides */
    PRESSURE = 2, /* times the ways of the level before, for policies other than LRU */
};

#define CLEAR 0.8 /* of the pairs must agree: else the pages, not the sets, decide */

struct level {
    struct strata_probed_cache *cache;
    uint64_t inner; /* way size of the level before */
    size_t inner_ways;
    double miss;  /* what a miss here costs more than a hit */
    uint64_t way; /* the way size that is tried: the pressure keeps off the ring's sets */
    size_t pressure; /* visits after each of the ring */
};

/* a: the gap. b: how far half of them are moved. x: how many. */
static int build_ring(struct probing *p, const struct string *s, double x)
{
    const struct level *level = s->more;
    uint64_t way = s->a < level->way ? s->a : level->way;
    int status = refs_gap_pressed(&p->refs, &p->runner->ground[s->arena], &p->rng,
                                  (size_t)x, s->a, 0, level->pressure, level->inner, way);
    refs_changed(&p->refs, s->b);
    if (status || !s->b)
        return status;
    for (size_t i = 0; i < p->refs.n; i++)
        p->refs.at[i] += i / (level->pressure + 1) % 2 ? s->b : 0;
    p->refs.ramp = true;
    return 0;
}

/* The same visits, but to other sets, each place and its pressure to its own: what the ring
 * costs more is due to its sets, not to a TLB. */
static int build_apart(struct probing *p, const struct string *s, double x)
{
    const struct level *level = s->more;
    uint64_t step = 2 * p->runner->ground[s->arena].line;
    int status = build_ring(p, s, x);
    for (size_t i = 0; i < p->refs.n && !status; i++)
        p->refs.at[i] += i / (level->pressure + 1) * step % level->inner;
    refs_changed(&p->refs, step);
    return status;
}

/* Two misses a lap, as cycles of a visit: the least that an overflowing set can cost. */
static double overflow(const struct level *level, size_t n)
{
    return 2 * level->miss / (double)(n * (level->pressure + 1));
}

/* Whether n locations k apart miss here, at least once in a lap. */
static int misses(struct probing *p, const struct level *level, size_t n, uint64_t k,
                  struct decision *decision)
{
    struct string ring = {.build = build_ring, .arena = HUGE_PAGES, .a = k, .more = level};
    struct string apart = {
        .build = build_apart, .arena = HUGE_PAGES, .a = k, .more = level};
    return decide_within(p, &ring, (double)n, &apart, (double)n, overflow(level, n), PAIRS,
                         decision);
}

struct fit {
    size_t n; /* locations that fit; MOST_WAYS + 1 if more do */
    double confidence;
    bool clear; /* in nearly all of the trials it was so */
};

static int most_fitting(struct probing *p, const struct level *level, uint64_t k,
                        struct fit *fit)
{
    size_t low = 2, high = MOST_WAYS + 1;
    struct decision d, fits = {.confidence = 1}, above;
    int status = misses(p, level, high, k, &above);
    *fit = (struct fit){high, 1, true};
    if (status || !above.slower)
        return status;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        status = misses(p, level, middle, k, &d);
        if (status)
            return status;
        *(d.slower ? &high : &low) = middle;
        *(d.slower ? &above : &fits) = d;
    }
    *fit = (struct fit){low, fits.confidence * above.confidence,
                        above.share >= CLEAR && fits.share <= 1 - CLEAR};
    return 0;
}

/* Whether just `fitting` locations k apart fit. */
static int holds(struct probing *p, const struct level *level, uint64_t k, size_t fitting,
                 bool *yes)
{
    struct decision above, below = {.slower = true};
    int status = misses(p, level, fitting + 1, k, &above);
    if (!status)
        status = misses(p, level, fitting, k, &below);
    *yes =
        above.slower && !below.slower && above.share >= CLEAR && below.share <= 1 - CLEAR;
    return status;
}

/* Whether the doubled and tripled gap hold as many, and the halved one twice as many: that
 * is so for a way size and for nothing else. As the gap divides a huge page, its multiples
 * are multiples in physical memory, too, even from page to page. */
static int multiples_agree(struct probing *p, const struct level *level, uint64_t k,
                           size_t fitting, bool *agree)
{
    const struct ground *ground = &p->runner->ground[HUGE_PAGES];
    *agree = true;
    if (k / 2 > level->inner && k / 2 % level->inner == 0) {
        int status = holds(p, level, k / 2, 2 * fitting, agree);
        if (status)
            return status;
    }
    for (uint64_t m = 2; m <= 3 && *agree; m++) {
        if ((fitting + level->pressure + 2) * m * k > ground->bytes)
            continue;
        int status = holds(p, level, m * k, fitting, agree);
        if (status)
            return status;
    }
    return 0;
}

/* Whether as many fit under another pressure: more of it, and apart from the half of the
 * gap, too. If not, the pressure was not apart from the ring, because the gap is no way
 * size. */
static int pressure_agrees(struct probing *p, const struct level *level, uint64_t k,
                           size_t fitting, bool *agree)
{
    struct level other = *level;
    other.pressure += other.inner_ways;
    if (k / 2 > level->inner && k / 2 % level->inner == 0)
        other.way = k / 2;
    return holds(p, &other, k, fitting, agree);
}

static int find_gap(struct probing *p, struct level *level, uint64_t *gap, struct fit *fit)
{
    const struct ground *ground = &p->runner->ground[HUGE_PAGES];
    bool agree = false;
    *gap = 0;
    for (uint64_t k = 2 * level->inner; k <= ground->page && time_left(p, 0);
         k += level->inner) {
        if (ground->page % k || (MOST_WAYS + level->pressure + 2) * k > ground->bytes)
            continue;
        level->way = k;
        int status = most_fitting(p, level, k, fit);
        bool conflict = fit->n <= MOST_WAYS && fit->clear;
        if (!status && conflict)
            status = multiples_agree(p, level, k, fit->n, &agree);
        if (!status && conflict && agree)
            status = pressure_agrees(p, level, k, fit->n, &agree);
        if (status)
            return status;
        if (conflict && agree) {
            *gap = k;
            break;
        }
    }
    return 0;
}

/* Half of a ring that overflows, and what drives it out of the level before, is moved by o
 * bytes: once that is a line, it falls into the next set, and all fit. In that state
 * nothing misses, and prefetchers that go by misses keep quiet. Each set is then half full,
 * so that there is room for what they brought in before that. */
static int find_line(struct probing *p, const struct level *level, size_t ways, uint64_t k)
{
    struct strata_probed_cache *cache = level->cache;
    uint64_t far = level->inner / 2; /* no multiple of it: its others must keep off, too */
    struct string fits = {
        .build = build_ring, .arena = HUGE_PAGES, .a = k, .b = far, .more = level};
    double confidence = 1, n = (double)ways + 1, block = p->block[cache->level - 1];
    const struct strata_value *inner = &cache[-1].line, *wide = &cache[-1].effective_line;
    if (!inner->known || block <= p->block[cache->level - 2])
        return 0; /* pairs have told, or nothing can */
    if ((cache->line.known && cache->line.confidence >= SURE) ||
        (wide->known && wide->value > inner->value))
        return 0; /* stripes have told, or the level before is never quiet */
    for (uint64_t o = (uint64_t)inner->value; o < far && (double)o <= block; o *= 2) {
        struct string moved = {
            .build = build_ring, .arena = HUGE_PAGES, .a = k, .b = o, .more = level};
        struct decision d;
        int status =
            decide_within(p, &moved, n, &fits, n, overflow(level, ways + 1), PAIRS, &d);
        if (status)
            return status;
        confidence *= d.confidence;
        if (!d.slower) {
            cache->line = known((double)o, (double)o, (double)o, confidence);
            p->line_by_gap[cache->level - 1] = true;
            break;
        }
    }
    return 0;
}

static int find_ways(struct probing *p, struct level *level)
{
    struct strata_probed_cache *cache = level->cache;
    struct fit fit = {0};
    uint64_t k;
    int status = find_gap(p, level, &k, &fit);
    if (status)
        return status;
    cache->ways = cache->size = unknown("no gap that divides a huge page conflicts: the "
                                        "index is hashed, a way is larger, or the huge "
                                        "pages of this machine are none of its host");
    if (!k)
        return 0;
    double ways = (double)fit.n, size = ways * (double)k;
    if (size >= cache->effective.value && size <= 2 * cache->effective.high) {
        cache->ways = known(ways, ways, ways, fit.confidence);
        cache->size = known(size, size, size, fit.confidence);
        status = find_line(p, level, fit.n, k);
    } else {
        cache->ways = cache->size =
            unknown("gaps conflict, but not as those of one cache would");
    }
    return status;
}

/* The ways of cache i by gaps. */
static int ways_by_gaps(struct probing *p, int i)
{
    struct strata_probed_cache *cache = &p->probed->caches[i], *inner = cache - 1;
    const struct strata_value *next = latency_behind(p, i);
    bool huge = p->runner->ground[HUGE_PAGES].bytes > 0;
    cache->ways = cache->size = unknown(huge ? "the ways of the level before are not known"
                                             : "huge pages would tell, but there are none "
                                               "here");
    if (!huge || !inner->ways.known || !inner->size.known)
        return 0;
    cache->ways = cache->size = no_time();
    if (!next->known || !cache->latency_cycles.known || !time_left(p, 0))
        return 0;
    struct level level = {.cache = cache,
                          .inner = (uint64_t)(inner->size.value / inner->ways.value),
                          .inner_ways = (size_t)inner->ways.value,
                          .pressure = PRESSURE * (size_t)inner->ways.value,
                          .miss = next->value - cache->latency_cycles.value};
    return find_ways(p, &level);
}

int probe_ways(struct probing *p)
{
    int status = 0;
    for (int i = 1; i < p->probed->ncaches && !status; i++) {
        status = ways_by_gaps(p, i);
        if (!status && i == 1 && !p->probed->caches[i].ways.known)
            status = ways_by_evictions(p);
    }
    return status;
}
