/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Probing by counts: one set of a cache, and how many there are.
 *
 * One line too many is added to those that fit: only lines of its set begin to miss, in one
 * lap or the other each of them. They are the ways of the set. All lines that fit, divided
 * by these, are the sets that the pool reaches.
 *
 * A cache that takes in what the one before casts out holds more together with that one: it
 * is told from a line that was only asked for there. */
#include "probe/counted.h"

#include <math.h>
#include <stdio.h>

/* Whether all lines fit, after a while: what was there before has to go first. Adds those
 * that miss to `missed`. */
static int fit_all(struct counted *c, const struct pool *pool, struct lines *all,
                   struct lines *missed, bool *yes)
{
    int clean = 0, wanted = pool_clean_laps(pool, all->n), status = 0;
    for (int i = 0; i < RANDOM_PATIENCE + wanted && clean < wanted && !status; i++) {
        size_t added;
        shuffle(c, all);
        status = lap(c, all);
        clean = status || lap_misses(c, all, pool->bit) ? 0 : clean + 1;
        if (!status && !clean)
            status = lap_collect(c, all, pool->bit, missed, &added);
    }
    *yes = clean >= wanted;
    return status;
}

/* Whether lines that missed fit by themselves: with as many others as it takes to drive
 * them out of nearer caches. If they do not, then they get those of the others that missed
 * with them. */
static int fit_alone(struct counted *c, const struct pool *pool, struct lines *missed,
                     const struct lines *all, bool *yes)
{
    struct lines part = {0};
    size_t most = missed->n + POOL_PRESS * pool->inner;
    int status = 0;
    if (lines_append(&part, missed, 0))
        status = counted_no_memory(c);
    for (size_t i = 0; i < all->n && part.n < most && !status; i++)
        if (!lines_have(missed, all->at[i]) && lines_add(&part, all->at[i]))
            status = counted_no_memory(c);
    if (!status)
        status = fit_all(c, pool, &part, missed, yes);
    lines_release(&part);
    return status;
}

/* Laps without a line that misses for the first time, after which none is to be expected:
 * each of n lines missed in `share` of the laps. */
static double quiet_laps(size_t n, double share)
{
    const double doubt = 0.001;
    return share > 0 ? log((double)n / doubt) / share : INFINITY;
}

/* The lines that miss at one time or the other: all lines of an overfull set, or none, if
 * all fit. They are all if they are too many even by themselves, which is cheap to try.
 * A level that takes in what the one before casts out may hold them even so, with the help
 * of that one: then it takes laps over all lines until none is new. */
static int overfull_set(struct counted *c, const struct pool *pool, struct lines *all,
                        struct lines *set, bool *fits)
{
    int clean = 0, wanted = pool_clean_laps(pool, all->n), quiet = 0, status = 0;
    size_t misses = 0;
    bool alone = true;
    set->n = 0;
    for (int i = 1; clean < wanted && alone && !status; i++) {
        size_t added = 0, now;
        shuffle(c, all);
        status = lap(c, all);
        now = status ? 0 : lap_misses(c, all, pool->bit);
        misses += now;
        clean = now ? 0 : clean + 1;
        if (!status)
            status = lap_collect(c, all, pool->bit, set, &added);
        quiet = added ? 0 : quiet + 1;
        if (set->n && quiet > quiet_laps(set->n, (double)misses / (double)set->n / i))
            break;
        if (set->n > 1 && (i & (i - 1)) == 0 && !pool->exclusive && !status)
            status = fit_alone(c, pool, set, all, &alone);
    }
    *fits = clean >= wanted;
    if (*fits)
        set->n = 0;
    return status;
}

/* Makes all that is held resident again. Where a set has too many after all, one of them
 * goes. */
static int restore(struct counted *c, struct pool *pool)
{
    enum { MOST_TOO_MANY = 8 };
    struct lines set = {0};
    bool fits = false;
    int status = 0;
    for (int i = 0; i < MOST_TOO_MANY && !status; i++) {
        status = overfull_set(c, pool, &pool->held, &set, &fits);
        if (status || fits)
            break;
        uint64_t line = set.at[rng_below(&c->rng, set.n)];
        lines_remove(&pool->held, line);
        if (lines_add(&pool->rest, line))
            status = counted_no_memory(c);
    }
    lines_release(&set);
    return status;
}

/* The set of a line that does not fit; none, if it does. */
static int set_of(struct counted *c, const struct pool *pool, uint64_t extra,
                  struct lines *set)
{
    struct lines all = {0};
    bool fits;
    int status = 0;
    if (lines_append(&all, &pool->held, 0) || lines_add(&all, extra))
        status = counted_no_memory(c);
    if (!status)
        status = overfull_set(c, pool, &all, set, &fits);
    lines_release(&all);
    return status;
}

/* Takes over a set that was found, without the line that is one too many there. */
static int take_set(struct counted *c, struct pool *pool, const struct lines *set)
{
    pool->set.n = 0;
    for (size_t j = 0; j < set->n; j++)
        if (set->at[j] != pool->extra && lines_add(&pool->set, set->at[j]))
            return counted_no_memory(c);
    /* the line itself must have missed */
    pool->ways = pool->set.n < set->n ? pool->set.n : 0;
    return 0;
}

/* A set that one of the lines that did not fit belongs to, as large as another one: by
 * chance, a line may not miss in all those laps, or one of another set may. Lines that fit
 * after all join those that are held. */
static int find_set(struct counted *c, struct pool *pool)
{
    enum { TRIES = 64, SETS = 6 };
    struct lines set = {0};
    size_t found[SETS];
    int status = 0, n = 0;
    bool agree = false;
    pool->ways = 0;
    for (int i = 0; i < TRIES && n < SETS && !agree && pool->rest.n && !status; i++) {
        size_t at = rng_below(&c->rng, pool->rest.n);
        pool->extra = pool->rest.at[at];
        status = restore(c, pool);
        if (!status)
            status = set_of(c, pool, pool->extra, &set);
        if (!status && set.n < 2) {
            if (lines_add(&pool->held, pool->extra))
                status = counted_no_memory(c);
            pool->rest.at[at] = pool->rest.at[--pool->rest.n];
            continue;
        }
        if (!status)
            status = take_set(c, pool, &set);
        for (int j = 0; j < n; j++)
            agree |= found[j] == pool->ways && pool->ways;
        found[n++] = pool->ways;
    }
    lines_release(&set);
    return status;
}

/* The number of sets, as such numbers are: a few leading bits, then zeros. Where chance
 * decides what is replaced, the last lines that fit are hard to find: up to one in fifty
 * may be missing. */
static size_t whole_colours(const struct pool *pool)
{
    size_t least = (pool->held.n + pool->ways - 1) / pool->ways;
    size_t most = least + least / 50;
    for (size_t n = least; n <= most && !pool->steady; n++)
        if (n >> __builtin_ctzll(n) < 32)
            return n;
    return least;
}

/* Whether more lines are missing than chance explains. */
static bool is_uneven(const struct pool *pool)
{
    size_t all = pool->colours * pool->ways, missing = all - pool->held.n;
    return missing > 1 && missing > all / (pool->steady ? 100 : 20);
}

/* Visits a stream of lines with one line again and again in between, which so stays in the
 * level before and is not asked for here; then the stream alone, until it has left that,
 * too. Says whether it is here now: then it was cast out to here. `away` are lines that
 * drive it out of the levels before that one. */
static int is_cast_out(struct counted *c, struct pool *pool, const struct lines *away,
                       bool *told, bool *yes)
{
    struct lines visits = {0};
    size_t n = 3 * pool->held.n < pool->lines.n ? 3 * pool->held.n : pool->lines.n - 1;
    size_t first = rng_below(&c->rng, pool->lines.n), keep = n - 3 * pool->inner - 4;
    uint64_t hot = pool->lines.at[first];
    int status = 0;
    for (size_t i = 1; i <= n && !status; i++) {
        bool bad = lines_add(&visits, pool->lines.at[(first + i) % pool->lines.n]);
        bad = bad ||
              (i < keep && (lines_append(&visits, away, 0) || lines_add(&visits, hot)));
        status = bad ? counted_no_memory(c) : 0;
    }
    if (!status && lines_add(&visits, hot))
        status = counted_no_memory(c);
    if (!status)
        status = lap(c, &visits);
    *yes = !status && !(c->moved[visits.n - 1] & pool->bit);
    /* it must have stayed there, from its second visit on, and then left */
    *told = !status && c->moved[visits.n - 1] & pool->bit >> 1;
    size_t step = away->n + 2;
    for (size_t i = 2; i < keep && !status; i++)
        *told &= !(c->moved[(i - 1) * step + step - 1] & pool->bit >> 1);
    lines_release(&visits);
    return status;
}

int pool_exclusive(struct counted *c, struct pool *pool, const struct lines *others)
{
    enum { TRIES = 9, FEW_TRIES = 3, FEW = 256, MOST = 2048 };
    struct lines away = *others;
    int tries = pool->held.n <= FEW ? TRIES : FEW_TRIES, votes = 0, all = 0, status = 0;
    if (!pool->inner || pool->held.n > MOST)
        return 0;
    status = pool_need(c, pool, 3 * pool->held.n);
    if (status || pool->lines.n < 3 * pool->held.n)
        return status;
    away.n = away.n > 3 * pool->innermost ? 3 * pool->innermost : away.n;
    /* where they agree, a third of them is enough */
    for (int i = 0; i < tries && (i <= tries / 3 || all < tries / 3 || votes % all); i++) {
        bool told, yes;
        status = is_cast_out(c, pool, &away, &told, &yes);
        if (status)
            return status;
        all += told;
        votes += told && yes;
    }
    pool->exclusive = 2 * votes > all;
    if (!pool->exclusive || pool->held.n > FEW)
        return 0;
    pool->steady = false;
    pool->held.n = pool->rest.n = pool->tried = pool->vain = 0;
    return pool_hold(c, pool);
}

/* Lines that nearer caches always serve do not share the set there, and were taken into the
 * pool by mistake. */
static int drop_foreign(struct counted *c, struct pool *pool)
{
    enum { LAPS_SEEN = 4 };
    uint32_t nearer = pool->bit >> 1;
    struct lines seen = {0};
    int status = 0;
    for (size_t i = 0; i < pool->held.n && !status; i++)
        if (lines_add(&seen, 0))
            status = counted_no_memory(c);
    for (int i = 0; i < LAPS_SEEN && !status && pool->inner; i++) {
        status = lap(c, &pool->held);
        for (size_t j = 0; j < seen.n && !status; j++)
            seen.at[j] |= c->moved[j] & nearer;
    }
    size_t kept = 0;
    for (size_t i = 0; i < seen.n && !status; i++)
        if (seen.at[i] || !pool->inner)
            pool->held.at[kept++] = pool->held.at[i];
    if (!status)
        pool->held.n = kept;
    lines_release(&seen);
    return status;
}

int pool_set(struct counted *c, struct pool *pool)
{
    int status = drop_foreign(c, pool);
    if (!status)
        status = find_set(c, pool);
    for (int i = 0; i < 3 && !status && pool->ways && !pool_is_large(pool); i++) {
        size_t held = pool->held.n;
        status = pool_hold(c, pool); /* now that the ways say how long to go on */
        if (!status)
            status = drop_foreign(c, pool);
        if (status || (held == pool->held.n && held % pool->ways == 0))
            break;
        status = find_set(c, pool);
    }
    if (status)
        return status;
    if (!pool->ways) {
        snprintf(pool->why, sizeof pool->why, "no line was found that is one too many");
        return 0;
    }
    /* Together with the level before, if both have the same sets. */
    if (pool->inner_random && pool->held.n == pool->ways) {
        pool->ways_hidden = true;
        pool->colours = 1;
        return 0;
    }
    if (pool->exclusive && pool->held.n == pool->ways && pool->ways > pool->inner) {
        pool->ways -= pool->inner;
        pool->colours = 1;
        return 0;
    }
    pool->colours = whole_colours(pool);
    if (is_uneven(pool))
        snprintf(pool->why, sizeof pool->why,
                 "its sets do not all hold as many lines: %zu fit, %zu of them in one set",
                 pool->held.n, pool->ways);
    return 0;
}
