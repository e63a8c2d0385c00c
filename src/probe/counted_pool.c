/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Probing by counts: what a cache holds of a pool of lines, and one of its sets.
 *
 * The pool has one line in each page, all at the same place in it: so a prefetcher, which
 * keeps within a page, never brings in another one of them, and what it brings in lies in
 * other sets. In all caches nearer in they share one set, so that nearly every visit comes
 * through to this one. How the index is made does not matter.
 *
 * First as many lines as fit are gathered: new ones are visited together with those that
 * are known to fit; if any miss, some of the new ones that did are dropped, until none
 * does. What is left when no line more can be added fills every set that the pool reaches.
 * Then one line too many is added: only lines of its set begin to miss, in one lap or the
 * other each of them. They are the ways of the set. */
#include "probe/counted.h"

#include <stdio.h>
#include <string.h>

enum {
    FIRST_SAMPLE = 64, /* lines */
    OVERFULL = 3,      /* times what begins to miss: the sets get unequal shares */
    ROUNDS = 600,      /* of dropping, at the most, for one batch */
    PASSES = 6,        /* over the lines that did not fit */
    STEADY_LAPS = 2,   /* until lines that fit are resident… */
    RANDOM_LAPS = 8,   /* …or most of them, if chance decides */
    STEADY_PATIENCE = 12,
    RANDOM_PATIENCE = 60,
};

#define NEW 1 /* lowest bit of the address of a line that is on trial: it is the same line */

static int settle(struct counted *c, const struct pool *pool, struct lines *lines)
{
    int laps = pool->steady ? STEADY_LAPS : RANDOM_LAPS, status = 0;
    shuffle(c, lines);
    for (int i = 0; i < laps && !status; i++)
        status = lap(c, lines);
    return status;
}

/* Whether two laps in the same order differ by more than a few lines. */
static int find_steady(struct counted *c, struct pool *pool, const struct lines *lines)
{
    size_t differ = 0;
    struct lines before = {0};
    int status = lap(c, lines);
    for (size_t i = 0; i < lines->n && !status; i++)
        if (lines_add(&before, c->moved[i] & pool->bit))
            status = counted_no_memory(c);
    if (!status)
        status = lap(c, lines);
    for (size_t i = 0; i < before.n && !status; i++)
        differ += before.at[i] != (c->moved[i] & pool->bit);
    pool->steady = differ * 50 <= lines->n;
    lines_release(&before);
    return status;
}

/* A part of the pool that is several times what the level holds, or all of it. */
static int take_sample(struct counted *c, struct pool *pool, size_t *n)
{
    struct lines part = pool->lines;
    int status = 0;
    size_t misses = 0;
    pool->steady = true;
    for (*n = FIRST_SAMPLE; !status; *n *= 2) {
        if (*n > pool->lines.n)
            *n = pool->lines.n;
        part.n = *n;
        for (int i = 0; i < 3 && !status; i++)
            status = lap(c, &part);
        misses = status ? 0 : lap_misses(c, &part, pool->bit);
        if (misses * 10 >= 7 * part.n || *n == pool->lines.n)
            break;
    }
    if (!status && misses)
        status = find_steady(c, pool, &part);
    *n = *n < pool->lines.n / OVERFULL ? OVERFULL * *n : pool->lines.n;
    if (!status && !misses)
        snprintf(pool->why, sizeof pool->why,
                 "all the memory that could be had for it fits: it is larger");
    return status;
}

/* Drops about half of the new lines that missed in the last lap; says how many. */
static size_t drop_some(struct counted *c, struct lines *lines, struct lines *dropped,
                        uint32_t bit)
{
    size_t kept = 0, drops = 0;
    for (size_t i = 0; i < lines->n; i++) {
        uint64_t at = lines->at[i];
        if (at & NEW && c->moved[i] & bit && rng_below(&c->rng, 2) &&
            lines_add(dropped, at & ~(uint64_t)NEW) == 0) {
            drops++;
            continue;
        }
        lines->at[kept++] = at;
    }
    lines->n = kept;
    return drops;
}

/* Of `trial`, which are old lines that fit and new ones, drops new ones until all fit: two
 * laps without a miss. */
static int trim(struct counted *c, const struct pool *pool, struct lines *trial,
                struct lines *dropped)
{
    int clean = 0, status = 0;
    for (int round = 0; round < ROUNDS && clean < 2 && !status; round++) {
        status = settle(c, pool, trial);
        if (!status)
            status = lap(c, trial);
        if (status)
            break;
        clean = lap_misses(c, trial, pool->bit) ? 0 : clean + 1;
        if (!clean)
            drop_some(c, trial, dropped, pool->bit);
    }
    return status;
}

static void clear_marks(struct lines *lines)
{
    for (size_t i = 0; i < lines->n; i++)
        lines->at[i] &= ~(uint64_t)NEW;
}

/* Tries all of `candidates` in batches; those that do not fit are in pool->rest. */
static int add_all(struct counted *c, struct pool *pool, const struct lines *candidates)
{
    int status = 0;
    for (size_t i = 0; i < candidates->n && !status;) {
        size_t batch = pool->held.n / 2 < 16 ? 16 : pool->held.n / 2;
        for (size_t j = 0; j < batch && i < candidates->n; j++, i++)
            if (lines_add(&pool->held, candidates->at[i] | NEW))
                return counted_no_memory(c);
        status = trim(c, pool, &pool->held, &pool->rest);
        clear_marks(&pool->held);
    }
    return status;
}

int pool_hold(struct counted *c, struct pool *pool)
{
    struct lines candidates = {0};
    size_t n;
    int status = take_sample(c, pool, &n);
    if (status || *pool->why)
        return status;
    for (size_t i = 0; i < n && !status; i++)
        if (lines_add(&candidates, pool->lines.at[i]))
            status = counted_no_memory(c);
    for (int pass = 0; pass < PASSES && !status; pass++) {
        size_t before = pool->held.n;
        pool->rest.n = 0;
        status = add_all(c, pool, &candidates);
        struct lines swap = candidates;
        candidates = pool->rest;
        pool->rest = swap;
        shuffle(c, &candidates);
        if (pool->held.n == before)
            break;
    }
    struct lines swap = candidates;
    candidates = pool->rest;
    pool->rest = swap;
    lines_release(&candidates);
    return status;
}

/* Adds the lines that missed in the last lap to a list; says how many were new there. */
static int collect(struct counted *c, const struct lines *lines, uint32_t bit,
                   struct lines *to, size_t *added)
{
    *added = 0;
    for (size_t i = 0; i < lines->n; i++)
        if (c->moved[i] & bit && !lines_have(to, lines->at[i])) {
            if (lines_add(to, lines->at[i]))
                return counted_no_memory(c);
            ++*added;
        }
    return 0;
}

/* The lines that miss at one time or the other when `extra` is visited with all that fit;
 * `extra` among them. */
static int overfull_set(struct counted *c, struct pool *pool, uint64_t extra,
                        struct lines *set)
{
    int patience = pool->steady ? STEADY_PATIENCE : RANDOM_PATIENCE, status = 0;
    struct lines all = {0};
    set->n = 0;
    if (lines_append(&all, &pool->held, 0) || lines_add(&all, extra))
        status = counted_no_memory(c);
    for (int quiet = 0; quiet < patience && !status; quiet++) {
        size_t added, again = 0;
        shuffle(c, &all);
        status = lap(c, &all);
        if (!status)
            status = collect(c, &all, pool->bit, set, &added);
        if (!status)
            status = lap(c, &all);
        if (!status)
            status = collect(c, &all, pool->bit, set, &again);
        if (!status && added + again)
            quiet = -1;
    }
    lines_release(&all);
    return status;
}

/* Lines of other sets, to drive what was visited out of the nearer caches. */
static int take_press(struct pool *pool)
{
    size_t wanted = 3 * pool->inner;
    for (size_t i = 0; i < pool->held.n && pool->press.n < wanted; i++)
        if (!lines_have(&pool->set, pool->held.at[i]) &&
            lines_add(&pool->press, pool->held.at[i]))
            return -1;
    return 0;
}

int pool_set(struct counted *c, struct pool *pool)
{
    struct lines set = {0};
    int status = 0;
    for (size_t i = 0; i < pool->rest.n && i < 64 && !status; i++) {
        pool->extra = pool->rest.at[i];
        status = overfull_set(c, pool, pool->extra, &set);
        if (status || set.n < 2)
            continue;
        pool->set.n = 0;
        for (size_t j = 0; j < set.n && !status; j++)
            if (set.at[j] != pool->extra && lines_add(&pool->set, set.at[j]))
                status = counted_no_memory(c);
        /* the extra line must have missed itself, and the sets must be alike */
        if (pool->set.n < set.n && pool->held.n % pool->set.n == 0)
            break;
    }
    lines_release(&set);
    pool->ways = pool->set.n;
    if (!status && !pool->ways)
        snprintf(pool->why, sizeof pool->why, "no line was found that is one too many");
    else if (!status && pool->held.n % pool->ways)
        snprintf(pool->why, sizeof pool->why,
                 "its sets do not all hold as many lines: %zu fit, %zu of them in one set",
                 pool->held.n, pool->ways);
    pool->colours = pool->ways ? pool->held.n / pool->ways : 0;
    if (!status && take_press(pool))
        status = counted_no_memory(c);
    return status;
}

/* How many of the first n lines missed in the last lap. */
static size_t first_misses(const struct counted *c, size_t n, uint32_t bit)
{
    size_t misses = 0;
    for (size_t i = 0; i < n; i++)
        misses += (c->moved[i] & bit) != 0;
    return misses;
}

static int patience_of(const struct pool *pool)
{
    return pool->steady ? STEADY_PATIENCE : RANDOM_PATIENCE;
}

/* Whether visiting `others` throws lines of the set out, which is full and stays so. */
static int evicts(struct counted *c, const struct pool *pool, const struct lines *others,
                  bool *yes)
{
    struct lines quiet = {0}, loud = {0};
    int status = 0, clean = 0;
    if (lines_append(&quiet, &pool->set, 0) || lines_append(&quiet, &pool->press, 0) ||
        lines_append(&loud, others, 0) || lines_append(&loud, &pool->press, 0))
        status = counted_no_memory(c);
    for (int i = 0; i < patience_of(pool) && clean < 2 && !status; i++) {
        status = lap(c, &quiet);
        clean = status || first_misses(c, pool->set.n, pool->bit) ? 0 : clean + 1;
    }
    if (!status)
        status = lap(c, &loud);
    if (!status)
        status = lap(c, &quiet);
    *yes = !status && first_misses(c, pool->set.n, pool->bit) > 0;
    lines_release(&quiet);
    lines_release(&loud);
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
    for (int i = 0; i < 2 * patience_of(pool) && clean < 2 && !status; i++) {
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
    *yes = clean >= 2;
    for (int h = 0; h < 2; h++) {
        lines_release(&half[h]);
        lines_release(&press[h]);
    }
    lines_release(&all);
    return status;
}

int pool_line(struct counted *c, struct pool *pool, uint64_t from)
{
    uint64_t most = c->counting->base_page / 2;
    bool fits = false;
    int status = 0;
    pool->line = 0;
    for (uint64_t shift = from; shift <= most && !fits && !status; shift *= 2) {
        status = fits_moved(c, pool, shift, &fits);
        if (!status && fits)
            pool->line = shift;
    }
    return status;
}

/* Lines of the pool moved by `shift` within their pages, enough to meet every set. */
static int shifted(struct counted *c, const struct pool *pool, uint64_t shift,
                   struct lines *to)
{
    enum { SHARE = 8 };
    uint64_t page = c->counting->ground[c->arena].page;
    to->n = 0;
    for (size_t i = 0; i < pool->lines.n && to->n < SHARE * pool->colours + SHARE; i++)
        if (pool->lines.at[i] % page + shift < page &&
            lines_add(to, pool->lines.at[i] + shift))
            return counted_no_memory(c);
    return 0;
}

/* Sets repeat after `granule` bytes, up to the page's colour: the least shift by which some
 * line of the pool comes into the set. */
int pool_granule(struct counted *c, struct pool *pool, const struct lines *others)
{
    struct lines moved = {0};
    uint64_t page = c->counting->ground[c->arena].page;
    bool yes = true;
    int status = 0;
    pool->granule = pool->spread;
    if (pool->spread > page && others->n) {
        status = evicts(c, pool, others, &yes);
        if (!status && yes)
            snprintf(pool->why, sizeof pool->why,
                     "its sets and those of the level before do not divide each other");
        return status;
    }
    for (uint64_t shift = pool->spread / 2; shift >= pool->line && shift && yes && !status;
         shift /= 2) {
        status = shifted(c, pool, shift, &moved);
        if (!status)
            status = evicts(c, pool, &moved, &yes);
        if (!status && yes)
            pool->granule = shift;
    }
    lines_release(&moved);
    return status;
}

/* Lines per trial when members of the set are looked for: with the full set, so many that
 * those of other sets still fit. */
static size_t trial_size(const struct pool *pool)
{
    size_t n = pool->colours * pool->ways / (pool->ways >= 8 ? 2 : 4);
    return n < 4 ? 4 : n > 4096 ? 4096 : n;
}

/* Which of `trial` miss together with the full set: adds them to `to`. */
static int try_members(struct counted *c, const struct pool *pool,
                       const struct lines *trial, struct lines *to, struct lines *others)
{
    int laps = pool->steady ? 1 : 4, status = 0;
    struct lines all = {0}, missed = {0};
    if (lines_append(&all, &pool->set, 0) || lines_append(&all, trial, NEW) ||
        (all.n < 3 * pool->inner && lines_append(&all, &pool->press, 0)))
        status = counted_no_memory(c);
    if (!status)
        status = settle(c, pool, &all);
    for (int i = 0; i < laps && !status; i++) {
        size_t added;
        status = lap(c, &all);
        if (!status)
            status = collect(c, &all, pool->bit, &missed, &added);
    }
    for (size_t i = 0; i < all.n && !status; i++) {
        if (!(all.at[i] & NEW))
            continue;
        struct lines *which = lines_have(&missed, all.at[i]) ? to : others;
        if (which && lines_add(which, all.at[i] & ~(uint64_t)NEW))
            status = counted_no_memory(c);
    }
    lines_release(&all);
    lines_release(&missed);
    return status;
}

/* The same for many lines. */
static int sift(struct counted *c, const struct pool *pool, const struct lines *from,
                size_t size, struct lines *to, struct lines *others)
{
    int status = 0;
    for (size_t i = 0; i < from->n && !status; i += size) {
        struct lines trial = {.at = from->at + i,
                              .n = from->n - i < size ? from->n - i : size};
        status = try_members(c, pool, &trial, to, others);
    }
    return status;
}

int pool_members(struct counted *c, const struct pool *pool, struct pool *next,
                 struct lines *others)
{
    struct lines candidates = {0}, found = {0};
    int status = 0;
    *next = (struct pool){.level = pool->level + 1,
                          .bit = EVENT_BIT(CACHE_EVENT(pool->level + 1)),
                          .inner = pool->ways,
                          .spread = pool->way / pool->granule * pool->spread};
    if (pool->colours == 1) {
        if (lines_append(&next->lines, &pool->lines, 0))
            status = counted_no_memory(c);
        return status;
    }
    for (size_t i = 0; i < pool->lines.n && !status; i++)
        if (!lines_have(&pool->set, pool->lines.at[i]) &&
            lines_add(&candidates, pool->lines.at[i]))
            status = counted_no_memory(c);
    if (!status)
        status = sift(c, pool, &candidates, trial_size(pool), &found, others);
    /* Lines of another set that happened to be too full are found out by themselves. */
    if (!status)
        status = sift(c, pool, &found, pool->ways < 16 ? 16 : pool->ways, &next->lines, NULL);
    if (!status && lines_append(&next->lines, &pool->set, 0))
        status = counted_no_memory(c);
    if (!status)
        shuffle(c, &next->lines);
    lines_release(&candidates);
    lines_release(&found);
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
