/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first cache by the gap test: ways, capacity and line.
 *
 * Locations k bytes apart fall into one set when k is a multiple of the way size; one more
 * of them than there are ways, and they miss. So for growing k the least number that misses
 * is found. The way size is the first k whose multiples all miss from the same number on: a
 * smaller one that shares a factor with it has multiples that miss earlier. Every walk is
 * compared with a control of the same pages, so that a TLB is not taken for a cache. */
#include "probe/probing.h"

#include <math.h>
#include <string.h>

enum {
    MOST = 64,      /* ways that can be told from full associativity */
    SMALLEST = 256, /* bytes: the first gap, and what others are multiples of */
    TRIALS = 3,     /* for a decision in the search… */
    AGAIN =
        12, /* …and before a conflict is believed: a neighbour makes some, but not all */
    CONFIRM = 10, /* for the confidence of the answer */
    SEARCHES = 4, /* for the line, until it is confirmed */
};

#define ANEW 0.06 /* of the budget: for another search, where the first found nothing */

/* a: the gap; b: the offset of the last one. x: how many. */
static int build_gap(struct probing *p, const struct string *s, double x)
{
    return refs_gap(&p->refs, &p->runner->ground[s->arena], &p->rng, (size_t)x, s->a, s->b);
}

static int build_control(struct probing *p, const struct string *s, double x)
{
    return refs_gap_control(&p->refs, &p->runner->ground[s->arena], &p->rng, (size_t)x,
                            s->a);
}

/* Whether n locations k apart (the last one o further) miss where the control does not, by
 * at least what rounding to cycles shows. */
static int conflict(struct probing *p, size_t n, uint64_t k, uint64_t o, bool *yes)
{
    struct string gap = {.build = build_gap, .arena = BASE_PAGES, .a = k, .b = o},
                  control = {.build = build_control, .arena = BASE_PAGES, .a = k};
    double with, without;
    double best_with = INFINITY, best_without = INFINITY;
    *yes = true;
    for (int i = 0; i < AGAIN && *yes; i += TRIALS) {
        int status = try_best(p, &gap, (double)n, TRIALS, &with);
        if (!status)
            status = try_best(p, &control, (double)n, TRIALS, &without);
        if (status)
            return status;
        best_with = fmin(best_with, with);
        best_without = fmin(best_without, without);
        *yes = best_with - best_without >= 0.5;
    }
    return 0;
}

/* The least n in 2..MOST+1 that conflicts at gap k; 0 if none does. */
static int least_conflict(struct probing *p, uint64_t k, size_t *least)
{
    size_t low = 1, high = MOST + 1; /* low never conflicts, high does */
    bool yes;
    int status = conflict(p, high, k, 0, &yes);
    *least = 0;
    if (status || !yes)
        return status;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        status = conflict(p, middle, k, 0, &yes);
        if (status)
            return status;
        *(yes ? &high : &low) = middle;
    }
    *least = high;
    return 0;
}

/* Way sizes of real and of odd caches: odd multiples of powers of two. */
static bool plausible(uint64_t k)
{
    while (k % 2 == 0)
        k /= 2;
    return k <= 7;
}

/* Whether the multiples of gap k conflict from the same number on, as those of a way size
 * do. Those of a gap that only shares a factor with the way size do not. */
static int multiples_agree(struct probing *p, uint64_t k, uint64_t most, size_t least,
                           bool *agree)
{
    static const int times[] = {2, 3, 5, 7, 4};
    bool above = true, below = false;
    int status = 0;
    *agree = true;
    for (size_t i = 0; i < sizeof times / sizeof *times && *agree; i++) {
        uint64_t multiple = k * (uint64_t)times[i];
        if (multiple > most)
            continue;
        status = conflict(p, least, multiple, 0, &above);
        if (!status)
            status = conflict(p, least - 1, multiple, 0, &below);
        if (status)
            return status;
        *agree = above && !below;
    }
    return 0;
}

/* The smallest gap that conflicts together with its multiples, and from which number on; 0
 * if there is none. */
static int find_gap(struct probing *p, uint64_t most, uint64_t *gap, size_t *n)
{
    bool agree;
    *gap = 0;
    for (uint64_t k = SMALLEST; k <= most; k += SMALLEST) {
        if (!plausible(k))
            continue;
        if (!time_left(p, (double)k / (double)most))
            break;
        int status = least_conflict(p, k, n);
        if (!status && *n)
            status = multiples_agree(p, k, most, *n, &agree);
        if (status)
            return status;
        if (*n && agree) {
            *gap = k;
            break;
        }
    }
    return 0;
}

static int find_line(struct probing *p, size_t n, uint64_t k, struct strata_value *line)
{
    for (uint64_t o = sizeof(void *); o <= p->runner->ground[BASE_PAGES].page; o *= 2) {
        bool yes;
        int status = conflict(p, n, k, o, &yes);
        if (status)
            return status;
        if (!yes) {
            *line = o > sizeof(void *) ? known((double)o, (double)o, (double)o, 0)
                                       : unknown("the gap test lost its conflict");
            return 0;
        }
    }
    *line = unknown("no offset within a page ends the conflict");
    return 0;
}

/* Confidence that n locations conflict and n - 1 do not; or, if the last one is to lie off
 * by o, that they do not and with half of that do. */
static int confirm(struct probing *p, size_t n, uint64_t k, uint64_t o, double *confidence)
{
    struct string fits = {.build = build_gap, .arena = BASE_PAGES, .a = k, .b = o},
                  misses = fits;
    double low[CONFIRM], high[CONFIRM];
    misses.b = o / 2;
    for (size_t i = 0; i < CONFIRM; i++) {
        int status = try_string(p, &fits, (double)(o ? n : n - 1), &low[i]);
        if (!status)
            status = try_string(p, &misses, (double)n, &high[i]);
        if (status)
            return status;
    }
    *confidence = 1 - separation(low, high, CONFIRM);
    return 0;
}

/* A neighbour may make a conflict, or hide one in the control: so a line that is not
 * confirmed is looked for again, and the surest answer counts. */
static int settle_line(struct probing *p, size_t n, uint64_t k, struct strata_value *line)
{
    struct strata_value now;
    int status = 0;
    for (int i = 0; i < SEARCHES && !status; i++) {
        status = find_line(p, n, k, &now);
        if (!status && now.known)
            status = confirm(p, n, k, (uint64_t)now.value, &now.confidence);
        if (!status && (!line->known || now.confidence > line->confidence))
            *line = now;
        if (line->confidence >= SURE)
            break;
    }
    return status;
}

int probe_gap(struct probing *p)
{
    struct strata_probed_cache *l1 = &p->probed->caches[0];
    const char *why =
        "no gap up to %d locations conflicts: more ways than that, or an index "
        "by physical address";
    double most = fmin(256 << 10, (double)p->runner->ground[BASE_PAGES].bytes / (MOST + 4));
    uint64_t k;
    size_t n;
    l1->ways = l1->line = l1->size = unknown(why, MOST);
    int status = find_gap(p, (uint64_t)most, &k, &n);
    if (!k && !time_left(p, 1))
        l1->ways = l1->line = l1->size = no_time();
    if (status || !k)
        return status;
    double confidence, ways = (double)n - 1, size = ways * (double)k;
    status = confirm(p, n, k, 0, &confidence);
    if (status)
        return status;
    l1->ways = known(ways, ways, ways, confidence);
    l1->size = known(size, size, size, confidence);
    return settle_line(p, n, k, &l1->line);
}

/* Whether the answer can stand beside the capacity that the cache-only string found. */
static bool plausible_size(const struct strata_probed_cache *l1)
{
    return l1->size.known && l1->size.confidence >= SURE &&
           1.25 * l1->size.value >= l1->effective.low &&
           l1->size.value <= 1.25 * l1->effective.high;
}

/* Whether just n locations k apart conflict, and one less do not. */
static int is_edge(struct probing *p, size_t n, uint64_t k, bool *yes)
{
    bool below = true;
    int status = conflict(p, n, k, 0, yes);
    if (!status && *yes)
        status = conflict(p, n - 1, k, 0, &below);
    *yes = *yes && !below;
    return status;
}

/* A neighbour may have hidden the smallest gap from the search, which then found a multiple
 * of it: so where less could be used than was found, parts of the gap are tried once more.
 * Those of the way size spread the locations over several sets, and they fit. */
static int divide_gap(struct probing *p, struct strata_probed_cache *l1)
{
    static const uint64_t divisors[] = {2, 3, 5, 7};
    size_t n = (size_t)l1->ways.value + 1, i = 0;
    uint64_t k = (uint64_t)(l1->size.value / l1->ways.value);
    while (i < sizeof divisors / sizeof *divisors) {
        uint64_t part = k / divisors[i];
        bool edge = false;
        if (k % divisors[i] == 0 && part >= SMALLEST) {
            int status = is_edge(p, n, part, &edge);
            if (status)
                return status;
        }
        k = edge ? part : k;
        i += !edge;
    }
    l1->size.value = l1->size.low = l1->size.high = (double)k * l1->ways.value;
    return 0;
}

/* A neighbour that shares the cache takes ways away while it runs, but adds none: whether
 * one more fits after all is asked now and then. */
static int look_for_more(struct probing *p, struct strata_probed_cache *l1)
{
    struct strata_probed_cache before = *l1;
    size_t n = (size_t)l1->ways.value + 1;
    uint64_t k = (uint64_t)(l1->size.value / l1->ways.value);
    bool full;
    int status = conflict(p, n, k, 0, &full);
    if (!status && full && l1->line.confidence < SURE && time_left(p, 0))
        return settle_line(p, n, k, &l1->line);
    if (status || full)
        return status;
    more_time(p, ANEW);
    status = probe_gap(p);
    if (!plausible_size(l1) || l1->size.value < before.size.value)
        *l1 = before;
    return status;
}

int probe_gap_again(struct probing *p)
{
    struct strata_probed_cache *l1 = &p->probed->caches[0], before;
    int status = 0;
    if (l1->size.known && l1->effective.known &&
        l1->size.value > 1.25 * l1->effective.value)
        status = divide_gap(p, l1);
    before = *l1;
    if (status)
        return status;
    if (!l1->size.known)
        more_time(p, ANEW);
    if (plausible_size(l1))
        return time_left(p, 0) ? look_for_more(p, l1) : 0;
    status = probe_gap(p);
    if (!status && !plausible_size(l1) && before.size.known) {
        l1->size = before.size;
        l1->ways = before.ways;
        l1->line = before.line;
    }
    if (!status && l1->size.known && !plausible_size(l1)) {
        l1->size = l1->ways = unknown(
            "the gap test and the capacity contradict each other: is the machine busy?");
    }
    return status;
}
