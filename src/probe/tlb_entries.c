/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The size of a TLB: its entries, its ways and what a miss costs.
 *
 * A number is told as sure only if three things agree: pages far apart show its sets, or
 * pages scattered by chance show that it has none; so many pages side by side fit; and half
 * as many more do not. Else the answer is an interval, and it is what the curve of the
 * sweep allows for (analyze/curve.h): no TLB holds less than what was seen to stay in it,
 * and none that is full of what is visited misses three visits of four.
 *
 * The number is searched for with pages far apart (tlb_sets.c), or, where these show no
 * sets, by bisection with pages side by side: when one page too many is visited in turn, at
 * least the pages of one set miss, which is at least two. */
#include "core/sort.h"
#include "probe/tlbs.h"

#include <math.h>

#define LEFT 0.03 /* of a penalty: caches may not treat the two strings quite alike */

/* About half as many pages as lines: a multiple of a power of two, so that a line's page
 * has the same low bits as in T and it goes into the same set of a virtually indexed cache.
 */
size_t folded_pages(size_t n)
{
    size_t unit = n >= 512 ? 64 : n >= 64 ? 8 : 1;
    return (n / 2 + unit) / unit * unit;
}

/* x: lines. */
int build_folded(struct probing *p, const struct string *s, double x)
{
    size_t n = (size_t)x, pages = folded_pages(n);
    return refs_folded(&p->refs, &p->runner->ground[s->arena], &p->rng, n, pages);
}

int miss_beside(struct probing *p, decider *decide, enum arena arena, double pages,
                double amount, struct decision *d)
{
    struct string spread = {.build = build_spread, .arena = arena, .a = 1};
    struct string folded = {.build = build_folded, .arena = arena};
    return decide(p, &spread, pages, &folded, pages, amount, d);
}

int bisect(struct probing *p, decider *decide, enum arena arena, double low, double high,
           double amount, double *edge, double *confidence)
{
    double fits = 0, misses = 0;
    struct decision d;
    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        int status = miss_beside(p, decide, arena, middle, amount, &d);
        if (status)
            return status;
        *(d.slower ? &high : &low) = middle;
        *(d.slower ? &misses : &fits) = d.confidence;
    }
    *edge = low;
    if (!fits) {
        int status = miss_beside(p, decide, arena, low, amount, &d);
        if (status)
            return status;
        fits = d.slower ? 0 : d.confidence;
    }
    /* An end of the search that is not as it was taken to be counts as a toss. */
    *confidence = fmax(0.5, fits) * fmax(0.5, misses);
    return 0;
}

static double least_entries(const struct rise *rise, double inner)
{
    return fmax(inner + 1, floor(rise->from / 2));
}

/* The rise over one more page is unknown at first: from the whole height, if the TLB is
 * fully associative, down to two pages' worth. So its slope is taken between an eighth and
 * a quarter of the height, and then its foot is looked for with what a page costs by that.
 * *slope is over how many pages an eighth of the height is won. What the sweep saw fit,
 * whose points are the least of several trials, does, even if a neighbour now takes
 * entries away. */
static int find_entries(struct probing *p, decider *decide, enum arena arena,
                        const struct rise *rise, double inner, struct strata_value *entries,
                        double *slope)
{
    double base = least_entries(rise, inner), seen = fmax(base, rise->seen);
    double eighth = 0, quarter = 0, edge, confidence = 0, unused;
    int status = bisect(p, decide, arena, seen, rise->to + 1, rise->height / 4, &eighth,
                        &confidence);
    if (!status)
        status = bisect(p, decide, arena, seen, rise->to + 1, rise->height / 2, &quarter,
                        &unused);
    edge = eighth;
    double pages = quarter - eighth;
    if (!status && pages >= 1) {
        double page = fmax(rise->height / 8 / pages, 2 * rise->height / quarter);
        base = fmax(base, floor(eighth - 4 * pages - 2));
        status = bisect(p, decide, arena, base, eighth + 1, page, &edge, &confidence);
    }
    *entries = known(edge, edge, edge, confidence);
    *slope = pages;
    return status;
}

/* A neighbour that shares the TLB takes entries away while it runs, but adds none: where
 * the tests were not sure, they are made again with those that bear him, and the surer or
 * larger number counts. */
static int settle_entries(struct probing *p, enum arena arena, const struct rise *rise,
                          double inner, struct strata_value *entries, double *slope)
{
    struct strata_value again;
    double other;
    int status = find_entries(p, decide_slower, arena, rise, inner, entries, slope);
    for (int i = 0; i < 2 && !status && entries->confidence < SURE && time_left(p, 0);
         i++) {
        status = find_entries(p, decide_disturbed, arena, rise, inner, &again, &other);
        if (status || again.confidence < entries->confidence ||
            (again.confidence == entries->confidence && again.value <= entries->value))
            continue;
        *entries = again;
        *slope = other;
    }
    return status;
}

/* Whether the edge is as steep as one of a TLB with so many ways: from there on, a further
 * page makes all the pages of its set miss. A policy other than LRU may let half of them
 * hit. If it is not, the sets are not filled evenly, and neither number can be trusted. */
static bool steep(const struct strata_probed_tlb *tlb, double slope)
{
    double expected = tlb->entries.value / 8 / (tlb->ways.value + 1);
    return slope <= 2.5 * expected + 2 && slope >= expected / 2.5 - 2;
}

/* Whether so many entries go with what pages side by side show: so many fit, and half as
 * many more miss, if so many can be had. A quarter of the visits may miss in the one,
 * because others need pages, too, and must in the other, whatever the policy. */
static int goes_beside(struct probing *p, const struct tlb_edge *edge, double entries,
                       bool *yes)
{
    double beyond = ceil(1.5 * entries), amount = edge->height / 2;
    struct decision d;
    int status = miss_beside(p, decide_slower, edge->arena, entries, amount, &d);
    *yes = !d.slower && d.confidence >= SURE;
    if (status || !*yes || beyond > most_pages(p, edge->arena))
        return status;
    status = miss_beside(p, decide_slower, edge->arena, beyond, amount, &d);
    *yes = d.slower && d.confidence >= SURE;
    return status;
}

static int find_by_sets(struct probing *p, const struct tlb_edge *edge,
                        struct strata_probed_tlb *tlb, bool *sure)
{
    *sure = false;
    int status = tlb_by_sets(p, edge, &tlb->entries);
    if (status || !tlb->entries.known)
        return status;
    status = goes_beside(p, edge, tlb->entries.value, sure);
    return status || !*sure ? status : tlb_ways(p, edge, &tlb->entries, &tlb->ways);
}

static int find_beside(struct probing *p, const struct tlb_edge *edge,
                       const struct rise *rise, struct strata_probed_tlb *tlb, bool *sure)
{
    double slope;
    int status = settle_entries(p, edge->arena, rise, edge->inner, &tlb->entries, &slope);
    if (!status)
        status = tlb_ways(p, edge, &tlb->entries, &tlb->ways);
    *sure = tlb->ways.known && steep(tlb, slope);
    return status;
}

/* What is left to say where a number is not sure: what the curve allows for. */
static void tell_reach(const struct reach *can, bool fits, struct strata_probed_tlb *tlb)
{
    const struct strata_value *found = &tlb->entries;
    bool within = found->known && found->value >= can->low && found->value <= can->high;
    double value = fits || within ? found->value : can->value;
    tlb->entries = known(value, fmin(value, can->low), fmax(value, can->high),
                         fits ? found->confidence : 0.5);
    if (!fits && (tlb->ways.known || !*tlb->ways.why))
        tlb->ways = unknown("pages side by side do not fill its sets evenly: its index is "
                            "skewed or hashed, or others use it, too");
}

int find_size(struct probing *p, enum arena arena, const struct rise *rise, double inner,
              struct strata_probed_tlb *tlb)
{
    struct tlb_edge edge = {.arena = arena,
                            .low = least_entries(rise, inner),
                            .high = 2 * rise->to,
                            .fit = rise->from,
                            .height = rise->height,
                            .inner = inner};
    bool sure;
    int status = find_by_sets(p, &edge, tlb, &sure);
    if (!status && !sure)
        status = find_beside(p, &edge, rise, tlb, &sure);
    if (!status && late(p)) {
        tlb->entries = tlb->ways = no_time();
        sure = false;
    }
    if (!status && !(sure && tlb->entries.confidence >= SURE))
        tell_reach(&rise->can, sure, tlb);
    return status;
}

enum { PENALTIES = 9 }; /* the true median lies within their range with 1 - 2^-8 */

/* What a visit costs more that misses here and hits in the next level, if there is one. As
 * many lines in half the pages are the same in the caches. */
static int find_penalty(struct probing *p, enum arena arena, double pages,
                        struct strata_probed_tlb *tlb)
{
    struct string spread = {.build = build_spread, .arena = arena, .a = 1};
    struct string folded = {.build = build_folded, .arena = arena};
    double cost[PENALTIES], with, without;
    /* Those pages may miss in the level before. */
    bool misses =
        tlb->level > 1 && (double)folded_pages((size_t)pages) > tlb[-1].entries.value;
    double control = misses ? tlb[-1].penalty_cycles.value : 0;
    for (size_t i = 0; i < PENALTIES; i++) {
        int status = try_string(p, &spread, pages, &with);
        if (!status)
            status = try_string(p, &folded, pages, &without);
        if (status)
            return status;
        cost[i] = with - without + control;
    }
    sort_ascending(cost, PENALTIES);
    double value = cost[PENALTIES / 2], off = fmax(0.5, LEFT * value);
    tlb->penalty_cycles =
        known(value, fmin(cost[0], value - off), fmax(cost[PENALTIES - 1], value + off),
              1 - exp2(1 - PENALTIES));
    tlb->penalty_ns = in_ns(p, tlb->penalty_cycles);
    return 0;
}

int add_penalties(struct probing *p, enum arena arena, struct strata_probed_tlb *tlbs,
                  int n, double most)
{
    for (int i = 0; i < n; i++) {
        bool last = i + 1 == n || !tlbs[i + 1].entries.known;
        double here = tlbs[i].entries.value;
        double next = last ? most : tlbs[i + 1].entries.value;
        tlbs[i].penalty_cycles = tlbs[i].penalty_ns = no_time();
        if (!tlbs[i].entries.known || late(p))
            continue;
        /* Every set must overflow, but half of the pages must fit, and the lines should not
         * overflow the caches. */
        double ways = tlbs[i].ways.known ? tlbs[i].ways.value : 1;
        double times = fmin(1.75, fmax(1.25, 1 + 1 / ways));
        double pages = ceil(fmin(here * times, sqrt(here * next)));
        int status = find_penalty(p, arena, pages, &tlbs[i]);
        if (status)
            return status;
    }
    return 0;
}
