/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Probing by counts: what a full set tells of the line and of the index.
 *
 * The pool has one line in each page, all at the same place in it: so a prefetcher, which
 * keeps within a page, never brings in another one of them, and what it brings in lies in
 * other sets. In all caches nearer in they share one set, so that nearly every visit comes
 * through to this one. How the index is made does not matter.
 *
 * A full set is made resident, and something is visited: whether the set loses a line says
 * whether that was in the set, too. */
#include "probe/counted.h"

#include <stdio.h>

/* How many of the first n lines missed in the last lap. */
static size_t first_misses(const struct counted *c, size_t n, uint32_t bit)
{
    size_t misses = 0;
    for (size_t i = 0; i < n; i++)
        misses += (c->moved[i] & bit) != 0;
    return misses;
}

/* Visits the set, and what drives it out of nearer caches, until it is resident; says
 * whether it is. */
static int make_resident(struct counted *c, const struct pool *pool, bool *yes)
{
    struct lines quiet = {0};
    int status = 0, clean = 0;
    if (lines_append(&quiet, &pool->set, 0) || lines_append(&quiet, &pool->press, 0))
        status = counted_no_memory(c);
    int wanted = pool->inner_random ? 8 : 2;
    for (int i = 0; i < 4 * pool_patience(pool) && clean < wanted && !status; i++) {
        refs_shuffle(quiet.at, pool->set.n, &c->rng);
        status = lap(c, &quiet);
        clean = status || first_misses(c, pool->set.n, pool->bit) ? 0 : clean + 1;
    }
    *yes = clean >= wanted;
    lines_release(&quiet);
    return status;
}

/* Whether visiting `others` throws lines of the set out, which is full and stays so. What
 * drives them out of nearer caches is at `shift`, too. */
static int evicts(struct counted *c, const struct pool *pool, const struct lines *others,
                  uint64_t shift, bool *yes)
{
    enum { TRIES = 3 };
    struct lines loud = {0};
    int status = 0, votes = 0, all = 0;
    if (lines_append(&loud, others, 0) || lines_append(&loud, &pool->press, shift) ||
        (shift && lines_append(&loud, &pool->press, 0)))
        status = counted_no_memory(c);
    for (int i = 0; i < 3 * TRIES && all < TRIES && !status; i++) {
        bool resident;
        status = make_resident(c, pool, &resident);
        if (!status)
            status = lap(c, &loud);
        if (!status)
            status = lap(c, &pool->set);
        if (status || !resident)
            continue;
        votes += lap_misses(c, &pool->set, pool->bit) > 0;
        all++;
    }
    *yes = 2 * votes > all || !all;
    lines_release(&loud);
    return status;
}

/* Lines of other sets, to drive what was visited out of the nearer caches: others that are
 * held; where there are none, such that are a way of the nearer cache further. */
int pool_press(struct counted *c, struct pool *pool)
{
    size_t wanted = POOL_PRESS * pool->inner;
    uint64_t page = c->counting->ground[c->arena].page, way = pool->inner_way;
    bool yes = true;
    int status = 0;
    for (size_t i = 0; i < pool->held.n && pool->press.n < wanted; i++)
        if (!lines_have(&pool->set, pool->held.at[i]) &&
            lines_add(&pool->press, pool->held.at[i]))
            return counted_no_memory(c);
    if (pool->press.n >= pool->inner || !wanted || way >= pool->spread)
        return 0;
    pool->press.n = 0;
    for (size_t i = 0; i < pool->lines.n && pool->press.n < wanted && !status; i++)
        if (pool->lines.at[i] % page + way < page &&
            lines_add(&pool->press, pool->lines.at[i] + way))
            status = counted_no_memory(c);
    if (!status)
        status = make_resident(c, pool, &yes);
    if (!status && !yes)
        pool->press.n = 0; /* they share the set, too */
    return status;
}

/* Half of a set that has one line too many is moved by `shift`, and what drives it out of
 * nearer caches with it. Says whether all fit now. */
static int fits_moved(struct counted *c, const struct pool *pool, uint64_t shift, bool *yes)
{
    struct lines half[2] = {{0}, {0}}, press[2] = {{0}, {0}}, all = {0};
    int status = 0, clean = 0;
    if (lines_add(&half[0], pool->extra))
        status = counted_no_memory(c);
    for (size_t i = 0; i < pool->set.n && !status; i++)
        if (lines_add(&half[(i + 1) % 2], pool->set.at[i] + ((i + 1) % 2 ? shift : 0)))
            status = counted_no_memory(c);
    for (int h = 0; h < 2 && !status; h++)
        if (lines_append(&press[h], &pool->press, h ? shift : 0))
            status = counted_no_memory(c);
    int wanted = pool->inner_random ? 8 : 3;
    for (int i = 0; i < 2 * pool_patience(pool) && clean < wanted && !status; i++) {
        size_t misses = 0;
        for (int h = 0; h < 2 && !status; h++) {
            all.n = 0;
            shuffle(c, &half[h]);
            if (lines_append(&all, &half[h], 0) || lines_append(&all, &press[h], 0))
                status = counted_no_memory(c);
            if (!status)
                status = lap(c, &all);
            if (!status)
                misses += first_misses(c, half[h].n, pool->bit);
        }
        clean = misses ? 0 : clean + 1;
    }
    *yes = clean >= wanted;
    for (int h = 0; h < 2; h++) {
        lines_release(&half[h]);
        lines_release(&press[h]);
    }
    lines_release(&all);
    return status;
}

/* Whether the extra line, moved by `shift`, is in another set: it throws nothing out, or it
 * fits. A prefetcher may make either of them fail, but neither can be so by mistake. */
static int leaves_set(struct counted *c, const struct pool *pool, uint64_t shift, bool *yes)
{
    struct lines moved = {0};
    bool conflict = true;
    int status = lines_add(&moved, pool->extra + shift) ? counted_no_memory(c) : 0;
    if (!status)
        status = evicts(c, pool, &moved, shift, &conflict);
    lines_release(&moved);
    *yes = !conflict;
    return status || *yes ? status : fits_moved(c, pool, shift, yes);
}

int pool_line(struct counted *c, struct pool *pool, uint64_t from)
{
    uint64_t most = c->counting->base_page / 2;
    bool leaves = false;
    int status = 0;
    pool->line = 0;
    for (uint64_t shift = from; shift <= most && !leaves && !status; shift *= 2) {
        status = leaves_set(c, pool, shift, &leaves);
        if (!status && leaves)
            pool->line = shift;
    }
    return status;
}

/* One lap over the set and what drives it out of nearer caches, with `hot` after each
 * visit, so that it stays in the level before and is not asked for here. Says whether it
 * stayed there, and all of the set was asked for and found here. */
static int lap_around(struct counted *c, const struct pool *pool, const struct lines *away,
                      uint64_t hot, bool *good)
{
    struct lines visits = {0}, base = {0};
    size_t step = away->n + 2;
    int status = 0;
    if (lines_append(&base, &pool->set, 0) || lines_append(&base, &pool->press, 0))
        status = counted_no_memory(c);
    if (!status)
        refs_shuffle(base.at, pool->set.n, &c->rng);
    for (size_t i = 0; i < base.n && !status; i++)
        if (lines_add(&visits, base.at[i]) || lines_append(&visits, away, 0) ||
            lines_add(&visits, hot))
            status = counted_no_memory(c);
    if (!status)
        status = lap(c, &visits);
    *good = !status;
    for (size_t i = 0; i < base.n && !status; i++) {
        uint32_t own = c->moved[i * step];
        *good &= i >= pool->set.n || (own & pool->bit >> 1 && !(own & pool->bit));
        *good &= !(c->moved[i * step + step - 1] & pool->bit >> 1);
    }
    lines_release(&visits);
    lines_release(&base);
    return status;
}

/* Visits the extra line's neighbour without the extra line: the level before still has that
 * one, so its prefetcher does not fetch it. Says whether a line of the set had to go. */
static int neighbour_evicts(struct counted *c, const struct pool *pool,
                            const struct lines *away, uint64_t shift, bool *told, bool *yes)
{
    struct lines one = {0}, after = {0};
    bool good = false;
    int most = pool->inner_random || !pool->steady ? 64 : 40, status = 0;
    *told = false;
    /* `away` drives it out of the levels before the one before */
    if (lines_append(&one, away, shift) || lines_add(&one, pool->extra + shift) ||
        lines_append(&after, &pool->press, 0) || lines_append(&after, &pool->set, 0))
        status = counted_no_memory(c);
    for (int i = 0; i < most && !status && !*told; i++) {
        status = lap_around(c, pool, away, pool->extra, &good);
        if (status || !good)
            continue;
        status = lap(c, &one);
        *told = !status && c->moved[one.n - 1] & pool->bit >> 1;
    }
    if (!status && *told)
        status = lap(c, &after);
    *yes = false;
    for (size_t i = pool->press.n; i < after.n && !status && *told; i++)
        *yes |= (c->moved[i] & pool->bit) != 0;
    lines_release(&one);
    lines_release(&after);
    return status;
}

/* Where chance decides what the level before keeps, the extra line stays there now and then
 * while the set drives it out of this level. Then its neighbour is visited, or is not, and
 * the extra line once it has left the level before: if both are one line, the neighbour
 * has brought it back. */
struct chances {
    size_t all[2], gone[2]; /* with the neighbour: 1 */
};

/* How often the extra line would be gone although the neighbour was visited, if that made
 * no difference. */
static double expected_gone(const struct chances *chances)
{
    return (double)chances->gone[0] * (double)chances->all[1] /
           (double)(chances->all[0] + 1);
}

/* Visits the set, then the extra line, which must still be in the level before, and then
 * the neighbour, which must not; or only lines that drive it out of nearer levels. */
static int visit_neighbour(struct counted *c, const struct pool *pool,
                           const struct lines *away, uint64_t shift, bool with, bool *valid)
{
    struct lines visits = {0};
    uint32_t before = pool->bit >> 1, nearer = pool->bit >> 2;
    int status = 0;
    if (lines_append(&visits, &pool->set, 0) || lines_append(&visits, away, 0) ||
        lines_add(&visits, pool->extra) || lines_append(&visits, away, shift) ||
        (with && lines_add(&visits, pool->extra + shift)))
        status = counted_no_memory(c);
    if (!status) {
        refs_shuffle(visits.at, pool->set.n, &c->rng);
        status = lap(c, &visits);
    }
    if (!status) {
        uint32_t extra = c->moved[pool->set.n + away->n], last = c->moved[visits.n - 1];
        *valid = !(extra & before) && (!nearer || extra & nearer);
        *valid &= !with || last & before;
    }
    lines_release(&visits);
    return status;
}

static int count_chances(struct counted *c, const struct pool *pool,
                         const struct lines *away, uint64_t shift, struct chances *chances)
{
    enum { VISITS = 400000, HOPELESS = 40000, ENOUGH = 16 };
    uint64_t start = c->counting->visits, spent = 0;
    struct lines see = {0};
    bool valid = false;
    int status = 0;
    if (lines_append(&see, &pool->press, 0) || lines_append(&see, away, 0) ||
        lines_add(&see, pool->extra))
        status = counted_no_memory(c);
    for (int i = 0; spent < VISITS && !status; i++) {
        bool with = i % 2;
        status = lap(c, &see);
        uint32_t extra = status ? 0 : c->moved[see.n - 1];
        if (valid && extra & pool->bit >> 1) { /* in the trial before */
            chances->all[!with]++;
            chances->gone[!with] += (extra & pool->bit) != 0;
        }
        spent = c->counting->visits - start;
        bool hope = chances->gone[0] && chances->all[1];
        if (expected_gone(chances) >= ENOUGH || (spent > HOPELESS && !hope))
            break;
        if (!status)
            status = visit_neighbour(c, pool, away, shift, with, &valid);
    }
    lines_release(&see);
    return status;
}

static int neighbour_by_chance(struct counted *c, const struct pool *pool,
                               const struct lines *away, uint64_t shift, bool *told,
                               bool *same)
{
    enum { LEAST = 8, TIMES = 8 };
    struct chances chances = {0};
    int status = count_chances(c, pool, away, shift, &chances);
    double expected = expected_gone(&chances), with = (double)chances.gone[1];
    *same = TIMES * with < expected;
    *told = expected >= LEAST && (*same || 2 * with > expected);
    return status;
}

int pool_neighbour(struct counted *c, const struct pool *pool, const struct lines *others,
                   uint64_t shift, bool *told, bool *same)
{
    enum { TRIES = 3 };
    struct lines away = *others;
    int votes = 0, all = 0, status = 0;
    away.n = away.n > 3 * pool->innermost ? 3 * pool->innermost : away.n;
    for (int i = 0; i < TRIES && all == i && !status; i++) {
        bool now, yes;
        status = neighbour_evicts(c, pool, &away, shift, &now, &yes);
        all += !status && now;
        votes += !status && now && yes;
    }
    /* where it may be cast out to here, it comes here by another way */
    *told = all >= 2 && (votes == 0 || (votes == all && !pool->inner_random));
    *same = votes > 0;
    if (*told || status)
        return status;
    return neighbour_by_chance(c, pool, &away, shift, told, same);
}

/* Lines of the pool moved by `shift` within their pages, enough to meet every set. */
static int shifted(struct counted *c, struct pool *pool, uint64_t shift, struct lines *to)
{
    enum { SHARE = 8 };
    uint64_t page = c->counting->ground[c->arena].page;
    int status = pool_need(c, pool, SHARE * pool->colours + SHARE);
    if (status)
        return status;
    to->n = 0;
    for (size_t i = 0; i < pool->lines.n && to->n < SHARE * pool->colours + SHARE; i++)
        if ((pool->lines.at[i] % page + shift < page || shift >= page) &&
            pool->lines.at[i] + shift < c->counting->ground[c->arena].bytes &&
            lines_add(to, pool->lines.at[i] + shift))
            return counted_no_memory(c);
    return 0;
}

/* Whether lines of the pool that are moved by `shift` come into the set. */
static int shift_conflicts(struct counted *c, struct pool *pool, uint64_t shift, bool *yes)
{
    struct lines moved = {0};
    int status = shifted(c, pool, shift, &moved);
    if (!status)
        status = evicts(c, pool, &moved, shift, yes);
    lines_release(&moved);
    return status;
}

/* Where the physical addresses of a page say nothing of those of the next. */
static int granule_by_others(struct counted *c, struct pool *pool,
                             const struct lines *others)
{
    uint64_t odd = pool->spread >> __builtin_ctzll(pool->spread);
    bool yes = false;
    int status = evicts(c, pool, others, 0, &yes);
    if (status || !yes)
        return status;
    if (odd > 1) /* the sets of the level before are no power of two, these are */
        pool->granule = pool->spread / odd;
    else
        snprintf(pool->why, sizeof pool->why,
                 "its sets and those of the level before do not divide each other");
    return 0;
}

/* Sets repeat after `granule` bytes, up to the page's colour: the least shift by which some
 * line of the pool comes into the set. It divides the spread of the pool. */
int pool_granule(struct counted *c, struct pool *pool, const struct lines *others)
{
    static const uint64_t primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23};
    uint64_t page = c->counting->ground[c->arena].page;
    int status = 0;
    pool->granule = pool->spread;
    if (pool->spread > page && !pool->inner_virtual && others->n)
        status = granule_by_others(c, pool, others);
    for (size_t i = 0; i < sizeof primes / sizeof *primes && !status; i++) {
        uint64_t shift = pool->granule / primes[i];
        bool yes = pool->inner_virtual || shift < page;
        while (yes && pool->granule % primes[i] == 0 && shift >= pool->line && !status) {
            status = shift_conflicts(c, pool, shift, &yes);
            if (!status && yes)
                pool->granule = shift;
            shift = pool->granule / primes[i];
        }
    }
    /* If any page may come into the set, virtual addresses say nothing of physical ones. */
    if (pool->inner_virtual && pool->granule <= pool->before)
        pool->spread = pool->before;
    return status;
}

void pool_release(struct pool *pool)
{
    lines_release(&pool->lines);
    lines_release(&pool->held);
    lines_release(&pool->rest);
    lines_release(&pool->set);
    lines_release(&pool->press);
}
