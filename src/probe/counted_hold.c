/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Probing by counts: as many lines of a pool as a cache holds.
 *
 * New lines are visited together with those that are known to fit; if any miss, some of the
 * new ones that did are dropped, until none does. What is left when no line more can be
 * added fills every set that the pool reaches.
 *
 * Most of this is waiting for the last few sets that have too many. So lines that did not
 * miss for a while are parked, and laps are over the others; only the last ones are over
 * all. */
#include "probe/counted.h"

#include <stdio.h>

enum {
    FIRST_SAMPLE = 64, /* lines */
    ROUNDS = 600,      /* of dropping, at the most, for one batch */
    PARK_AFTER = 4,    /* rounds: lines that did not miss in them fit */
    STEADY_LAPS = 2,   /* until lines that fit are resident… */
    RANDOM_LAPS = 4,   /* …or most of them, if chance decides */
    MARKED_LAPS = 4,   /* in which most lines of an overfull set miss, if it does */
};

/* Lowest bits of the address of a line, which stays the same line. */
enum {
    NEW = 1,     /* it is on trial */
    DOUBTED = 2, /* it missed after lines were dropped the last time */
    MISSED = 4,  /* it missed of late */
    MARKS = NEW | DOUBTED | MISSED
};

int pool_patience(const struct pool *pool)
{
    return pool->steady ? STEADY_PATIENCE : RANDOM_PATIENCE;
}

/* A nearer cache may serve just the line that is missing here: the fewer lines there are,
 * and the more chance has to do with it, the longer. */
int pool_clean_laps(const struct pool *pool, size_t n)
{
    int visits = pool->exclusive ? 8192 : 1024, least = pool->inner_random ? 8 : 2;
    return pool->inner && visits / (int)n > least ? visits / (int)n : least;
}

/* How many lines miss, and how many do not do the same in two laps in the same order. */
static int compare_laps(struct counted *c, const struct pool *pool,
                        const struct lines *lines, size_t *misses, size_t *differ)
{
    struct lines before = {0};
    int status = lap(c, lines);
    for (size_t i = 0; i < lines->n && !status; i++)
        if (lines_add(&before, c->moved[i] & pool->bit))
            status = counted_no_memory(c);
    if (!status)
        status = lap(c, lines);
    for (size_t i = 0; i < before.n && !status; i++) {
        *misses += before.at[i] != 0;
        *differ += before.at[i] != (c->moved[i] & pool->bit);
    }
    lines_release(&before);
    return status;
}

/* Laps in the same order, until what repeats itself does; then how many lines miss, and in
 * how many visits two laps differ. */
static int watch_laps(struct counted *c, const struct pool *pool, const struct lines *lines,
                      size_t *misses, size_t *differ)
{
    enum { SETTLED = 4, VISITS = 1024 };
    int status = 0;
    *misses = *differ = 0;
    for (int i = 0; i < SETTLED && !status; i++)
        status = lap(c, lines);
    for (size_t all = 0; all < VISITS && !status; all += lines->n)
        status = compare_laps(c, pool, lines, misses, differ);
    return status;
}

/* Whether laps in the same order repeat themselves, over the fewest lines that miss: if
 * they are far too many, they all miss whatever the policy is. */
static int find_steady(struct counted *c, struct pool *pool, size_t n)
{
    struct lines part = pool->lines;
    size_t misses = 1, differ = 0, last = n;
    int status = 0;
    for (part.n = n; part.n > 1 && misses && !status; part.n = part.n * 3 / 4) {
        for (int i = 0; i < 4 && !status; i++)
            status = lap(c, &part);
        misses = status ? 0 : lap_misses(c, &part, pool->bit);
        last = misses ? part.n : last;
    }
    /* chance may have needed more laps for lines that fit: then some more are needed */
    for (misses = 0; !misses && !status; last = last * 4 / 3 + 1) {
        part.n = last < n ? last : n;
        status = watch_laps(c, pool, &part, &misses, &differ);
        if (part.n == n)
            break;
    }
    pool->steady = differ * 8 <= misses;
    return status;
}

/* Visits a growing part of the pool until most of it misses: whether chance decides what is
 * replaced is best seen then. */
static int try_overfull(struct counted *c, struct pool *pool)
{
    size_t misses = 0, n = FIRST_SAMPLE;
    int status = 0;
    pool->steady = true;
    for (; !status; n *= 2) {
        status = pool_need(c, pool, n);
        struct lines part = pool->lines;
        n = part.n = n < part.n ? n : part.n;
        for (int i = 0; i < 3 && !status; i++)
            status = lap(c, &part);
        misses = status ? 0 : lap_misses(c, &part, pool->bit);
        if (misses * 10 >= 7 * n || (n == pool->lines.n && !pool->from))
            break;
    }
    if (!status && misses)
        status = find_steady(c, pool, n);
    if (!status && !misses)
        snprintf(pool->why, sizeof pool->why,
                 "all the memory that could be had for it fits: it is larger");
    return status;
}

/* Marks the lines that missed in the last lap. Says how many of the new ones are in doubt
 * now. */
static size_t mark(const struct counted *c, const struct pool *pool, struct lines *lines,
                   uint64_t marks)
{
    size_t doubted = 0;
    for (size_t i = 0; i < lines->n; i++) {
        lines->at[i] |= c->moved[i] & pool->bit ? marks : 0;
        doubted += (lines->at[i] & (NEW | DOUBTED)) == (NEW | DOUBTED);
    }
    return doubted;
}

/* Visits the lines until those that fit have had time to settle, then marks those that
 * still miss. Chance needs some laps more for that, to meet most of them, and an order
 * that changes. */
static int mark_laps(struct counted *c, const struct pool *pool, struct lines *lines)
{
    int settled = pool->steady ? STEADY_LAPS : RANDOM_LAPS, status = 0;
    int most = settled + (pool->steady ? 1 : MARKED_LAPS);
    size_t enough = 0, doubted = 0;
    for (size_t i = 0; i < lines->n; i++)
        enough += lines->at[i] & NEW;
    for (int i = 0; i < most && 2 * doubted <= enough && !status; i++) {
        if (i == 0 || !pool->steady)
            shuffle(c, lines);
        status = lap(c, lines);
        if (!status)
            doubted = mark(c, pool, lines, i < settled ? MISSED : MISSED | DOUBTED);
    }
    return status;
}

/* Drops about half of the new lines that are in doubt, or one if they are few. */
static int drop_some(struct counted *c, struct lines *lines, struct lines *dropped)
{
    enum { FEW = 16, MANY = 512, BOTH = NEW | DOUBTED };
    size_t kept = 0, doubted = 0;
    for (size_t i = 0; i < lines->n; i++)
        doubted += (lines->at[i] & BOTH) == BOTH;
    size_t one = doubted ? rng_below(&c->rng, doubted) : 0, at = 0;
    for (size_t i = 0; i < lines->n; i++) {
        bool drop = (lines->at[i] & BOTH) == BOTH;
        if (drop)
            drop = doubted <= FEW && lines->n < MANY ? at++ == one : rng_below(&c->rng, 2);
        if (!drop)
            lines->at[kept++] = lines->at[i] & ~(uint64_t)DOUBTED;
        else if (lines_add(dropped, lines->at[i] & ~(uint64_t)MARKS))
            return counted_no_memory(c);
    }
    lines->n = kept;
    return 0;
}

/* Parks the lines that did not miss for a while: they fit, and stay resident while the
 * others are visited, with as many of them as it takes to drive those out of nearer
 * caches. */
static int park(struct counted *c, const struct pool *pool, struct lines *active,
                struct lines *parked)
{
    size_t kept = 0, missed = 0, quiet = 0;
    for (size_t i = 0; i < active->n; i++)
        missed += (active->at[i] & MISSED) != 0;
    size_t quiet_kept =
        missed && 2 * missed < active->n ? POOL_PRESS * pool->inner : active->n;
    for (size_t i = 0; i < active->n; i++) {
        if (active->at[i] & MISSED || quiet++ < quiet_kept)
            active->at[kept++] = active->at[i] & ~(uint64_t)MISSED;
        else if (lines_add(parked, active->at[i]))
            return counted_no_memory(c);
    }
    active->n = kept;
    return 0;
}

/* Takes the parked lines back. Those that were not parked stay marked. */
static int unpark(struct counted *c, struct lines *active, struct lines *parked)
{
    for (size_t i = 0; i < active->n; i++)
        active->at[i] |= MISSED;
    int bad = lines_append(active, parked, 0);
    parked->n = 0;
    return bad ? counted_no_memory(c) : 0;
}

/* Whether all lines fit: so many laps without a miss. */
static int stay(struct counted *c, const struct pool *pool, struct lines *lines, bool *yes)
{
    int status = 0;
    *yes = true;
    for (int i = pool_clean_laps(pool, lines->n); i > 0 && *yes && !status; i--) {
        shuffle(c, lines);
        status = lap(c, lines);
        *yes = !status && !lap_misses(c, lines, pool->bit);
        if (!status)
            mark(c, pool, lines, MISSED);
    }
    return status;
}

/* Of `trial`, which are old lines that fit and new ones, drops new ones until all fit. In
 * the end only few sets have too many: so most laps are over the lines that missed of late,
 * and only the last ones are over all. */
static int trim(struct counted *c, const struct pool *pool, struct lines *trial,
                struct lines *dropped)
{
    struct lines parked = {0};
    int until_park = PARK_AFTER, status = 0;
    bool fit = false;
    for (int round = 0; round < ROUNDS && !status && !fit; round++) {
        status = mark_laps(c, pool, trial);
        if (status || lap_misses(c, trial, pool->bit)) {
            if (!status)
                status = drop_some(c, trial, dropped);
            if (!status && !pool->exclusive && --until_park <= 0)
                status = park(c, pool, trial, &parked);
            until_park = until_park > 0 ? until_park : PARK_AFTER;
            continue;
        }
        status = stay(c, pool, trial, &fit);
        if (status || !fit || !parked.n)
            continue;
        status = unpark(c, trial, &parked);
        until_park = 1;
        if (!status)
            status = stay(c, pool, trial, &fit);
    }
    if (!status && parked.n)
        status = unpark(c, trial, &parked);
    lines_release(&parked);
    return status;
}

static void clear_marks(struct lines *lines)
{
    for (size_t i = 0; i < lines->n; i++)
        lines->at[i] &= ~(uint64_t)MARKS;
}

/* The next line to try: a new one, or when all were tried, one that did not fit. */
static uint64_t next_line(struct counted *c, struct pool *pool)
{
    size_t i = pool->tried++;
    if (i < pool->lines.n)
        return pool->lines.at[i];
    size_t at = rng_below(&c->rng, pool->rest.n);
    uint64_t line = pool->rest.at[at];
    pool->rest.at[at] = pool->rest.at[--pool->rest.n];
    return line;
}

/* Whether there is one. */
static bool has_next(const struct pool *pool)
{
    return pool->tried < pool->lines.n || pool->from ||
           (pool->tried < 2 * pool->lines.n && pool->rest.n > 0);
}

/* Tries some lines more, about half as many as are held. */
static int add_batch(struct counted *c, struct pool *pool)
{
    size_t batch = pool->held.n / 2 < 16 ? 16 : pool->held.n / 2;
    int status = pool_need(c, pool, pool->tried + batch);
    for (size_t j = 0; j < batch && has_next(pool) && !status; j++)
        if (lines_add(&pool->held, next_line(c, pool) | NEW))
            status = counted_no_memory(c);
    if (!status)
        status = trim(c, pool, &pool->held, &pool->rest);
    clear_marks(&pool->held);
    return status;
}

/* Where chance decides, the last lines of many take the longest, and are not needed: the
 * number of sets is known without them (whole_colours()). */
bool pool_is_large(const struct pool *pool)
{
    enum { MANY = 1024 };
    return !pool->steady && pool->held.n > MANY;
}

/* Whether enough lines were tried: `added` of the last `batch` of them fit. Before the ways
 * are known, it is enough when most do not. Then nine in vain for each set make sure that
 * every set was tried. It is also enough if what fits is nearly a whole number of sets, and
 * few were added when there were some tries for each set: had there been one set more, all
 * empty as it seems, more would have been. */
static bool is_full(const struct pool *pool, size_t added, size_t batch)
{
    enum { VAIN = 9, SOME = 4 };
    if (!pool->ways)
        return 8 * added < batch;
    size_t sets = (pool->held.n + pool->ways - 1) / pool->ways, all = sets * pool->ways;
    if (pool->vain > VAIN * sets)
        return true;
    return batch >= SOME * sets && 100 * (all - pool->held.n) <= all &&
           8 * added < all + pool->ways - pool->held.n;
}

/* Goes on until every set has been tried. Where there are many lines, and chance decides,
 * until the next batch is expected to add less than one in a hundred. */
int pool_hold(struct counted *c, struct pool *pool)
{
    int status = pool->tried || pool->exclusive ? 0 : try_overfull(c, pool);
    size_t last = 0;
    bool full = false;
    while (!status && !*pool->why && !full && has_next(pool)) {
        size_t before = pool->held.n, tried = pool->tried;
        status = add_batch(c, pool);
        size_t added = pool->held.n > before ? pool->held.n - before : 0;
        pool->vain = added ? 0 : pool->vain + pool->tried - tried;
        full = is_full(pool, added, pool->tried - tried) ||
               (pool_is_large(pool) && last && 100 * added * added / last < pool->held.n);
        last = added;
    }
    return status;
}
