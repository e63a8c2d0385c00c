/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Probing by counts: the pool of the next level, from lines that share a set in this one.
 *
 * Members of a full set are found by group testing: many lines at a time are visited with
 * it, so many that those of other sets still fit, and those that miss are members. It is
 * done twice, in other company. Only as many are looked for as the next level needs, which
 * may ask its own pool for more lines first. */
#include "probe/counted.h"

#include <math.h>

enum {
    NEW = 1,              /* lowest bit of the address of a line: it is on trial */
    MOST_LINES = 1 << 16, /* of a pool that is made anew */
    MOST_OTHERS = 1024,
};

/* Lines per trial when members of the set are looked for: with the full set, so many that
 * those of other sets still fit, but for one set in a hundred. */
static size_t trial_size(const struct pool *pool)
{
    double ways = (double)pool->ways, mean = fmin(ways / 2, 0.11 * ways * sqrt(ways));
    return (size_t)fmax(1, fmin(4096, mean * (double)pool->colours));
}

/* How members are looked for: lines at a time, laps until those of other sets are resident,
 * and laps in which those of this one miss. */
struct sieve {
    size_t size;
    int settled, laps;
};

static struct sieve coarse(const struct pool *pool)
{
    return pool->steady ? (struct sieve){trial_size(pool), 1, 2}
                        : (struct sieve){trial_size(pool), 2, 3};
}

static struct sieve fine(const struct pool *pool)
{
    size_t size = pool->ways < 16 ? 16 : pool->ways;
    return pool->steady ? (struct sieve){size, 2, 2} : (struct sieve){size, 4, 4};
}

/* Which of `trial` miss together with the full set: adds them to `to`. */
static int try_members(struct counted *c, const struct pool *pool,
                       const struct lines *trial, const struct sieve *sieve,
                       struct lines *to)
{
    struct lines all = {0}, missed = {0};
    int status = 0;
    if (lines_append(&all, &pool->set, 0) || lines_append(&all, trial, NEW))
        status = counted_no_memory(c);
    /* no more than is needed: they must not fill other sets */
    for (size_t i = 0; i < pool->press.n && 2 * all.n < 3 * pool->inner && !status; i++)
        if (lines_add(&all, pool->press.at[i]))
            status = counted_no_memory(c);
    for (int i = 0; i < sieve->settled + sieve->laps && !status; i++) {
        size_t added;
        if (i == 0 || i > sieve->settled)
            shuffle(c, &all);
        status = lap(c, &all);
        if (!status && i >= sieve->settled)
            status = lap_collect(c, &all, pool->bit, &missed, &added);
    }
    for (size_t i = 0; i < all.n && !status; i++) {
        if (all.at[i] & NEW && lines_have(&missed, all.at[i]) &&
            lines_add(to, all.at[i] & ~(uint64_t)NEW))
            status = counted_no_memory(c);
    }
    lines_release(&all);
    lines_release(&missed);
    return status;
}

/* The same for many lines. */
static int sift(struct counted *c, const struct pool *pool, const struct lines *from,
                struct sieve sieve, struct lines *to)
{
    int status = 0;
    for (size_t i = 0; i < from->n && !status; i += sieve.size) {
        struct lines trial = {.at = from->at + i,
                              .n = from->n - i < sieve.size ? from->n - i : sieve.size};
        status = try_members(c, pool, &trial, &sieve, to);
    }
    return status;
}

/* Whether lines share a set by their virtual addresses: all of a set are a multiple of the
 * way size apart, and not all of the pool are. */
static bool is_virtual(const struct counted *c, const struct pool *pool)
{
    bool all = pool->way > c->counting->ground[c->arena].page, others = false;
    for (size_t i = 0; i < pool->set.n; i++)
        all &= pool->set.at[i] % pool->way == pool->extra % pool->way;
    for (size_t i = 0; i < pool->lines.n && !others; i++)
        others = pool->lines.at[i] % pool->way != pool->extra % pool->way;
    return all && others;
}

/* Lines that certainly do not share the set: by their virtual addresses, or because they
 * fit together with it. */
static int take_others(struct counted *c, const struct pool *pool, bool virtual,
                       struct lines *others)
{
    const struct lines *from = virtual ? &pool->lines : &pool->held;
    others->n = 0;
    for (size_t i = 0; i < from->n && others->n < MOST_OTHERS; i++) {
        bool out = virtual ? from->at[i] % pool->way != pool->extra % pool->way
                           : !lines_have(&pool->set, from->at[i]);
        if (out && lines_add(others, from->at[i]))
            return counted_no_memory(c);
    }
    return 0;
}

/* Where all lines of the pool share the set, they can be anywhere in their pages that is a
 * multiple of the way size further: so the next level is met in more of its sets. */
static uint64_t room_within(const struct counted *c, const struct pool *pool)
{
    bool apart = pool->spread <= c->counting->base_page && pool->spread % pool->way == 0;
    return apart ? pool->spread / pool->way : 1;
}

static int spread_out(struct counted *c, const struct lines *candidates, struct pool *next)
{
    uint64_t room = room_within(c, next->from), way = next->from->way;
    for (size_t i = 0; i < candidates->n; i++)
        if (lines_add(&next->lines, candidates->at[i] + rng_below(&c->rng, room) * way))
            return counted_no_memory(c);
    return 0;
}

/* Those of the candidates that share the set; `others`, if not NULL, gets some that do
 * not. */
static int sift_out(struct counted *c, const struct lines *candidates, struct pool *next,
                    struct lines *others)
{
    const struct pool *pool = next->from;
    struct lines found = {0};
    int status = sift(c, pool, candidates, coarse(pool), &found);
    for (size_t i = 0; others && i < candidates->n && others->n < MOST_OTHERS && !status;
         i++)
        if (!lines_have(&found, candidates->at[i]) && lines_add(others, candidates->at[i]))
            status = counted_no_memory(c);
    /* Lines of another set that happened to be too full are found out in other company. */
    shuffle(c, &found);
    if (!status)
        status = sift(c, pool, &found, fine(pool), &next->lines);
    lines_release(&found);
    return status;
}

/* Takes some lines more from the pool of the level before. */
static int pool_grow(struct counted *c, struct pool *next, struct lines *others)
{
    enum { LEAST_TAKEN = 1024, FOR_EACH = 32 };
    struct pool *from = next->from;
    struct lines candidates = {0};
    size_t end = next->taken + FOR_EACH * from->colours + LEAST_TAKEN;
    int status = pool_need(c, from, end);
    for (; next->taken < from->lines.n && next->taken < end && !status; next->taken++) {
        uint64_t line = from->lines.at[next->taken];
        if (!lines_have(&from->set, line) && lines_add(&candidates, line))
            status = counted_no_memory(c);
    }
    if (!status)
        status = from->colours == 1 ? spread_out(c, &candidates, next)
                                    : sift_out(c, &candidates, next, others);
    if (next->taken >= from->lines.n && !from->from)
        next->from = NULL;
    lines_release(&candidates);
    return status;
}

int pool_need(struct counted *c, struct pool *pool, size_t n)
{
    int status = 0;
    while (pool->lines.n < n && pool->from && !status)
        status = pool_grow(c, pool, NULL);
    return status;
}

/* All lines of the arena that share the set by their virtual addresses. */
static int virtual_members(struct counted *c, const struct pool *pool, struct pool *next)
{
    const struct ground *ground = &c->counting->ground[c->arena];
    for (uint64_t at = pool->extra % pool->way;
         at < ground->bytes - ground->bytes / 8 && next->lines.n < MOST_LINES;
         at += pool->way) /* the end stays fresh for the TLBs */
        if (lines_add(&next->lines, at))
            return counted_no_memory(c);
    shuffle(c, &next->lines);
    return 0;
}

int pool_members(struct counted *c, struct pool *pool, struct pool *next,
                 struct lines *others)
{
    bool odd = pool->steady && pool->way & (pool->way - 1);
    *next = (struct pool){.level = pool->level + 1,
                          .bit = EVENT_BIT(CACHE_EVENT(pool->level + 1)),
                          .inner = pool->ways,
                          .innermost = pool->inner,
                          .inner_way = pool->way,
                          .inner_random = pool->inner_random || !pool->steady,
                          .inner_virtual = is_virtual(c, pool),
                          .before = pool->spread,
                          .spread = pool->way / pool->granule * pool->spread};
    int status = take_others(c, pool, next->inner_virtual, others);
    if (status)
        return status;
    if (next->inner_virtual && pool->colours > 1)
        return virtual_members(c, pool, next);
    if (pool->colours == 1 && room_within(c, pool) > 1)
        next->spread = pool->way;
    next->from = pool;
    if (lines_append(&next->lines, &pool->set, 0))
        return counted_no_memory(c);
    status = pool_grow(c, next, odd ? others : NULL);
    shuffle(c, &next->lines);
    return status;
}
