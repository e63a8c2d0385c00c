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

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    FIRST_SAMPLE = 64, /* lines */
    ROUNDS = 600,      /* of dropping, at the most, for one batch */
    PARK_AFTER = 4,    /* rounds: lines that did not miss in them fit */
    STEADY_LAPS = 2,   /* until lines that fit are resident… */
    RANDOM_LAPS = 4,   /* …or most of them, if chance decides */
    PRESS = 3,         /* lines for each way of a nearer cache, to drive others out of it */
    MARKED_LAPS = 4,   /* in which most lines of an overfull set miss, if it does */
    STEADY_PATIENCE = 12,
    RANDOM_PATIENCE = 60,
    MOST_LINES = 1 << 16, /* of a pool that is made anew */
    MOST_OTHERS = 1024,
};

/* Lowest bits of the address of a line, which stays the same line. */
enum {
    NEW = 1,     /* it is on trial */
    DOUBTED = 2, /* it missed after lines were dropped the last time */
    MISSED = 4,  /* it missed of late */
    MARKS = NEW | DOUBTED | MISSED
};

static int patience_of(const struct pool *pool)
{
    return pool->steady ? STEADY_PATIENCE : RANDOM_PATIENCE;
}

/* Laps over n lines without a miss that are believed. A nearer cache may serve just the
 * line that is missing here: the fewer lines there are, and the more chance has to do with
 * it, the longer. */
static int clean_laps(const struct pool *pool, size_t n)
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
    size_t quiet_kept = missed && 2 * missed < active->n ? PRESS * pool->inner : active->n;
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
    for (int i = clean_laps(pool, lines->n); i > 0 && *yes && !status; i--) {
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
static bool is_large(const struct pool *pool)
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
               (is_large(pool) && last && 100 * added * added / last < pool->held.n);
        last = added;
    }
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

/* Whether all lines fit, after a while: what was there before has to go first. Adds those
 * that miss to `missed`. */
static int fit_all(struct counted *c, const struct pool *pool, struct lines *all,
                   struct lines *missed, bool *yes)
{
    int clean = 0, wanted = clean_laps(pool, all->n), status = 0;
    for (int i = 0; i < RANDOM_PATIENCE + wanted && clean < wanted && !status; i++) {
        size_t added;
        shuffle(c, all);
        status = lap(c, all);
        clean = status || lap_misses(c, all, pool->bit) ? 0 : clean + 1;
        if (!status && !clean)
            status = collect(c, all, pool->bit, missed, &added);
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
    size_t most = missed->n + PRESS * pool->inner;
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
    int clean = 0, wanted = clean_laps(pool, all->n), quiet = 0, status = 0;
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
            status = collect(c, all, pool->bit, set, &added);
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

static void lines_remove(struct lines *lines, uint64_t at)
{
    size_t i = 0;
    while (i < lines->n && lines->at[i] != at)
        i++;
    if (i < lines->n)
        lines->at[i] = lines->at[--lines->n];
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
    for (int i = 0; i < 3 && !status && pool->ways && !is_large(pool); i++) {
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
        snprintf(
            pool->why, sizeof pool->why,
            "it may hold what the level before casts out, whose replacement is random");
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
    for (int i = 0; i < 4 * patience_of(pool) && clean < wanted && !status; i++) {
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
    size_t wanted = PRESS * pool->inner;
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
    for (int i = 0; i < 2 * patience_of(pool) && clean < wanted && !status; i++) {
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
    return status;
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
            status = collect(c, &all, pool->bit, &missed, &added);
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

void pool_release(struct pool *pool)
{
    lines_release(&pool->lines);
    lines_release(&pool->held);
    lines_release(&pool->rest);
    lines_release(&pool->set);
    lines_release(&pool->press);
}
