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

enum { FIRST_LINE = 8 /* bytes: no line is shorter */ };

/* One line in each base page of the arena, at its beginning. */
static int first_pool(struct counted *c, int level, struct pool *pool)
{
    const struct ground *ground = &c->counting->ground[c->arena];
    *pool = (struct pool){.level = level,
                          .bit = EVENT_BIT(CACHE_EVENT(level)),
                          .spread = c->counting->base_page};
    for (uint64_t at = 0; at < ground->bytes; at += c->counting->base_page)
        if (lines_add(&pool->lines, at))
            return counted_no_memory(c);
    shuffle(c, &pool->lines);
    return 0;
}

static void answer(const struct counted *c, const struct pool *pool,
                   struct strata_probed_cache *cache)
{
    int event = CACHE_EVENT(pool->level);
    cache->effective = unknown("counts show what is there; --method timing finds what of "
                               "it a program can use");
    cache->effective_line = unknown("counts of misses leave prefetching out; --method "
                                    "timing finds it");
    if (pool->line)
        cache->line = counted_value(c, event, (double)pool->line);
    else
        cache->line = unknown("%s", *pool->why ? pool->why : "no shift ends the conflicts");
    if (pool->ways && !*pool->why) {
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
        status = pool_set(c, pool);
    if (!status && pool->ways)
        status = pool_line(c, pool, line);
    if (!status && !*pool->why)
        status = pool_granule(c, pool, others);
    pool->way = pool->colours * pool->granule;
    return status;
}

/* The first level that loads of this type use. */
static int first_level(const struct counted *c)
{
    int level = 1;
    while (level <= COUNTED_LEVELS && !c->counting->events[CACHE_EVENT(level)].present)
        level++;
    return level;
}

int count_caches(struct counted *c)
{
    struct strata_probed *probed = c->probed;
    struct pool pool, next;
    struct lines others = {0};
    uint64_t line = FIRST_LINE;
    c->arena = c->counting->ground[HUGE_PAGES].bytes ? HUGE_PAGES : BASE_PAGES;
    int level = first_level(c), status = first_pool(c, level, &pool);
    while (!status && level <= COUNTED_LEVELS &&
           c->counting->events[CACHE_EVENT(level)].present) {
        struct strata_probed_cache *cache = &probed->caches[probed->ncaches++];
        cache->level = level;
        status = measure(c, &pool, line, &others);
        if (!status)
            answer(c, &pool, cache);
        if (status || *pool.why || !pool.line)
            break;
        line = pool.line;
        others.n = 0;
        status = pool_members(c, &pool, &next, &others);
        pool_release(&pool);
        pool = next;
        level++;
    }
    pool_release(&pool);
    lines_release(&others);
    return status;
}
