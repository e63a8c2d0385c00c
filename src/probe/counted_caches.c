/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Probing by counts: the caches, from the nearest outwards.
 *
 * Each level is found from a pool of lines that share a set in all levels before: its ways
 * are the lines of one set, its sets follow from how many sets the pool reaches and from
 * where in a page their index begins to repeat. The pool of the next level are those lines
 * that share a set here. */
#include "probe/counted.h"

#include <stdio.h>

enum {
    FIRST_LINE = 8,        /* bytes: no line is shorter */
    MOST_BYTES = 1 << 30,  /* several times the largest cache that is looked for… */
    LEAST_LINES = 1 << 17, /* …but enough lines where pages are large */
};

/* One line in each base page of the arena, at its beginning. */
static int first_pool(struct counted *c, int level, struct pool *pool)
{
    const struct ground *ground = &c->counting->ground[c->arena];
    *pool = (struct pool){.level = level,
                          .bit = EVENT_BIT(CACHE_EVENT(level)),
                          .spread = c->counting->base_page};
    uint64_t end = ground->bytes - ground->bytes / 8, most = MOST_BYTES;
    if (most < LEAST_LINES * c->counting->base_page)
        most = LEAST_LINES * c->counting->base_page;
    end = end < most ? end : most;
    for (uint64_t at = 0; at < end; at += c->counting->base_page)
        if (lines_add(&pool->lines, at))
            return counted_no_memory(c);
    shuffle(c, &pool->lines);
    return 0;
}

static void answer(const struct counted *c, const struct pool *pool,
                   struct strata_probed_cache *cache)
{
    int event = CACHE_EVENT(pool->level);
    cache->effective = cache->effective_line =
        unknown("counts show what is there; --method both also finds what a program gets");
    if (pool->line_hidden)
        cache->line = unknown("a prefetcher of the level before brings in %llu bytes at a "
                              "time",
                              (unsigned long long)pool->line);
    else if (pool->line)
        cache->line = counted_value(c, event, (double)pool->line);
    else
        cache->line = unknown("%s", *pool->why ? pool->why : "no shift ends the conflicts");
    if (pool->ways_hidden) {
        cache->ways = cache->size = unknown(
            "it may hold what the level before casts out, whose replacement is random");
    } else if (pool->ways && !*pool->why) {
        cache->ways = counted_value(c, event, (double)pool->ways);
        cache->size = counted_value(c, event, (double)(pool->ways * pool->way));
    } else {
        cache->ways = cache->size = unknown("%s", pool->why);
    }
}

/* All that one pool tells of its level. */
static int measure(struct counted *c, struct pool *pool, uint64_t line,
                   const struct lines *others)
{
    int status = pool_hold(c, pool);
    if (!status && !*pool->why)
        status = pool_exclusive(c, pool, others);
    if (!status && !*pool->why)
        status = pool_set(c, pool);
    if (!status && pool->ways)
        status = pool_press(c, pool);
    if (!status && pool->ways)
        status = pool_line(c, pool, line);
    if (!status && !*pool->why)
        status = pool_granule(c, pool, others);
    pool->way = pool->colours * pool->granule;
    return status;
}

/* Whether a miss brings in the line before, too: of two lines side by side that were not
 * visited yet, the second first. */
static int find_pairs(struct counted *c, const struct pool *pool, bool *pairs)
{
    enum { PAIRS_TRIED = 16 };
    struct lines visits = {0};
    uint64_t far = c->counting->base_page / 4 * 3;
    size_t misses = 0;
    int status = 0;
    for (size_t i = 0; i < PAIRS_TRIED && !status; i++) {
        uint64_t page = pool->lines.at[rng_below(&c->rng, pool->lines.n)];
        page -= page % c->counting->base_page;
        if (lines_add(&visits, page + far + pool->line) || lines_add(&visits, page + far))
            status = counted_no_memory(c);
    }
    if (!status)
        status = lap(c, &visits);
    for (size_t i = 1; i < visits.n && !status; i += 2)
        misses += (c->moved[i] & pool->bit) != 0;
    *pairs = 4 * misses < visits.n;
    lines_release(&visits);
    return status;
}

/* A nearer cache whose prefetcher fetches lines in pairs makes those of this one move in
 * pairs, whatever its own line is: unless it has the other one already. A level that takes
 * in what the one before casts out has its lines. */
static int settle_line(struct counted *c, struct pool *pool, uint64_t inner, uint64_t block,
                       const struct lines *others)
{
    bool told = false, same = false;
    int status = 0;
    if (pool->line <= inner || pool->line > block)
        return 0;
    if (pool->exclusive)
        pool->line = inner;
    else
        status = pool_neighbour(c, pool, others, inner, &told, &same);
    if (!pool->exclusive && told && !same)
        pool->line = inner;
    pool->line_hidden = !pool->exclusive && !told;
    return status;
}

/* The first level that loads of this type use. */
static int first_level(const struct counted *c)
{
    int level = 1;
    while (level < COUNTED_LEVELS && c->bypassed[CACHE_EVENT(level)] &&
           c->type == STRATA_FLOAT)
        level++;
    return level;
}

/* The levels from `level` on, each from a pool of its own. */
static int go_outwards(struct counted *c, struct pool *pools, int level)
{
    struct strata_probed *probed = c->probed;
    struct lines others = {0};
    uint64_t line = FIRST_LINE, block = 0;
    bool pairs;
    int status = 0;
    for (struct pool *pool = pools; !status; pool++, level++) {
        struct strata_probed_cache *cache = &probed->caches[probed->ncaches++];
        cache->level = level;
        status = measure(c, pool, line, &others);
        if (!status && pool->line && level > 1)
            status = settle_line(c, pool, line, block, &others);
        if (!status)
            answer(c, pool, cache);
        if (!status && pool->line)
            status = find_pairs(c, pool, &pairs);
        if (status || *pool->why || !pool->line || level == COUNTED_LEVELS ||
            !is_counted(c, CACHE_EVENT(level + 1)))
            break;
        line = cache->line.known ? pool->line : line;
        block = line * (pairs ? 2 : 1) > block ? line * (pairs ? 2 : 1) : block;
        status = pool_members(c, pool, pool + 1, &others);
    }
    lines_release(&others);
    return status;
}

int count_caches(struct counted *c)
{
    struct pool pools[COUNTED_LEVELS] = {0};
    c->arena = c->counting->ground[HUGE_PAGES].bytes ? HUGE_PAGES : BASE_PAGES;
    int level = first_level(c), status = 0;
    if (is_counted(c, CACHE_EVENT(level))) {
        status = first_pool(c, level, &pools[0]);
        if (!status)
            status = go_outwards(c, pools, level);
    }
    for (int i = 0; i < COUNTED_LEVELS; i++)
        pool_release(&pools[i]);
    return status;
}
