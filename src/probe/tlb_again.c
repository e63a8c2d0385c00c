/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first TLBs once more, at other times of a probe and elsewhere.
 *
 * A neighbour that shares a TLB takes entries away, but not all the time, and adds none:
 * what fits at any time does. But where what fits at one time does not at another, there is
 * one, and he may have kept some all the time. */
#include "probe/tlbs.h"

#include <math.h>

#define ANEW 0.03 /* of the budget: for another search, where the first was not sure */

/* Cycles that a miss costs, as the sweep saw it: the penalty may have been told of pages
 * that fitted. */
static double height_of(const struct probing *p, const struct strata_probed_tlb *tlb)
{
    return p->tlb_sweep[tlb - p->probed->tlbs].height;
}

/* The chance, by one more test, that so many pages fit. */
static int chance_of_fit(struct probing *p, enum arena arena,
                         const struct strata_probed_tlb *tlb, double pages, double *chance)
{
    struct decision d;
    int status = miss_beside(p, decide_slower, arena, pages, height_of(p, tlb) / 4, &d);
    *chance = d.slower ? 1 - d.confidence : d.confidence;
    return status;
}

/* Whether one more page fits after all, and then how many more. This can be told of a TLB
 * that is fully associative: with sets, the next page alone costs too little to be sure in
 * a noise. */
static int find_more(struct probing *p, enum arena arena, struct strata_probed_tlb *tlb)
{
    double most = most_pages(p, arena), low = tlb->entries.value, step = 1;
    double fits = 1, more = 0, unused;
    int status = chance_of_fit(p, arena, tlb, low, &fits);
    if (!status && fits < 1 - SURE)
        p->tlb_sweep[tlb - p->probed->tlbs].lost = true;
    while (!status && low + step < most && time_left(p, 0)) {
        status = chance_of_fit(p, arena, tlb, low + step, &fits);
        if (status || fits < SURE)
            break;
        more_time(p, ANEW); /* the first search was disturbed */
        low += step;
        step *= 2;
    }
    if (status || low == tlb->entries.value)
        return status;
    status = bisect(p, decide_slower, arena, low, low + step, height_of(p, tlb) / 4, &low,
                    &unused);
    if (!status)
        status = chance_of_fit(p, arena, tlb, low, &fits);
    if (!status)
        status = chance_of_fit(p, arena, tlb, low + 1, &more);
    tlb->entries = tlb->ways = known(low, low, low, fits * (1 - more));
    return status;
}

/* Where the first search was not sure, another one, from what it found: the surer number
 * counts, or else both, because what fits at any time does. */
static int find_anew(struct probing *p, enum arena arena, struct strata_probed_tlb *tlb)
{
    const struct tlb_sweep *sweep = &p->tlb_sweep[tlb - p->probed->tlbs];
    struct strata_probed_tlb again = *tlb;
    double beyond = fmax(tlb->entries.high, 2 * tlb->entries.value);
    struct rise rise = {.from = tlb->entries.low,
                        .to = fmin(beyond, most_pages(p, arena) - 1),
                        .height = sweep->height,
                        .seen = sweep->seen,
                        .can = sweep->can};
    int status = find_size(p, arena, &rise, 0, &again);
    if (status || late(p))
        return status;
    struct strata_value *first = &tlb->entries, *second = &again.entries;
    if (second->confidence > first->confidence) {
        *tlb = again;
    } else if (second->value > first->value) {
        first->value = second->value;
        first->high = fmax(first->high, second->high);
    }
    return status;
}

/* The same of a TLB with sets, of which half must overflow to be sure: if so many pages
 * fit, it was disturbed, and another search tells. */
static int doubt(struct probing *p, enum arena arena, struct strata_probed_tlb *tlb)
{
    double sets = tlb->entries.value / tlb->ways.value, fits;
    double pages = tlb->entries.value + ceil(sets / 2);
    if (pages >= most_pages(p, arena))
        return 0;
    int status = chance_of_fit(p, arena, tlb, pages, &fits);
    if (status || fits < SURE)
        return status;
    tlb->entries.confidence = 1 - fits;
    more_time(p, ANEW);
    return find_anew(p, arena, tlb);
}

static int look_again(struct probing *p, enum arena arena, struct strata_probed_tlb *tlb)
{
    if (tlb->entries.confidence < SURE) {
        more_time(p, ANEW);
        return find_anew(p, arena, tlb);
    }
    if (!tlb->ways.known)
        return 0;
    return tlb->ways.value == tlb->entries.value ? find_more(p, arena, tlb)
                                                 : doubt(p, arena, tlb);
}

/* How many levels a kind of page has, from the first on. */
static int levels_of(const struct strata_probed *probed, int first)
{
    int n = 1;
    while (first + n < probed->ntlbs && probed->tlbs[first + n].level > 1)
        n++;
    return n;
}

static int first_levels_again(struct probing *p)
{
    for (int i = 0; i < p->probed->ntlbs; i++) {
        struct strata_probed_tlb *tlb = &p->probed->tlbs[i];
        enum arena arena = tlb->page == p->probed->page ? BASE_PAGES : HUGE_PAGES;
        double before = tlb->entries.value;
        if (tlb->level > 1 || !tlb->entries.known || !time_left(p, 0))
            continue;
        int status = look_again(p, arena, tlb);
        if (!status && tlb->entries.value != before)
            status =
                add_penalties(p, arena, tlb, levels_of(p->probed, i), most_pages(p, arena));
        if (status)
            return status;
    }
    return 0;
}

/* A neighbour that shares a TLB takes entries away, but not all the time, and a processor
 * has others than the next one: so the first level, which is the one that they disturb, is
 * looked at again now and then, by turns elsewhere and here. */
int probe_tlbs_again(struct probing *p)
{
    bool left = leave_by_turns(p);
    int status = first_levels_again(p);
    if (left)
        runner_come_back(p->runner);
    return status;
}

/* A neighbour on the same core shares the caches as well: there may be twice as much. */
static void allow_for_neighbour(struct strata_probed *probed)
{
    for (int i = 1; i < probed->ncaches; i++) {
        struct strata_value *effective = &probed->caches[i].effective;
        effective->high = fmax(effective->high, 2 * effective->value);
    }
}

/* Penalties are what pages beyond the entries cost: no surer than these are. */
static void doubt_penalty(struct strata_probed_tlb *tlb)
{
    double sure = tlb->entries.known ? tlb->entries.confidence : 0;
    tlb->penalty_cycles.confidence = fmin(tlb->penalty_cycles.confidence, sure);
    tlb->penalty_ns.confidence = fmin(tlb->penalty_ns.confidence, sure);
}

/* Whether all entries of a TLB without sets may not have been had. Those of one with sets
 * are so many for each set, and nobody keeps as many of each. Without sets, what a
 * neighbour keeps for as long as a probe lasts looks like a smaller TLB; but it is hardly
 * ever a multiple of eight that he leaves, and all that are known are one. */
static bool may_have_more(const struct probing *p, const struct strata_probed_tlb *tlb)
{
    const struct strata_value *entries = &tlb->entries;
    if (!entries->known || !tlb->ways.known || tlb->ways.value != entries->value)
        return false;
    return p->tlb_sweep[tlb - p->probed->tlbs].lost || fmod(entries->value, 8) != 0;
}

int judge_entries(struct probing *p)
{
    for (int i = 0; i < p->probed->ntlbs; i++) {
        struct strata_probed_tlb *tlb = &p->probed->tlbs[i];
        struct strata_value *entries = &tlb->entries;
        if (!isfinite(p->budget) || !may_have_more(p, tlb))
            continue;
        *entries = known(entries->value, entries->low, 2 * entries->value,
                         fmin(entries->confidence, 0.5));
        tlb->ways = *entries;
        if (tlb->level == 1)
            allow_for_neighbour(p->probed);
        note(
            p,
            "%.0f entries of the L%d TLB%s could be had, and it may have more: a neighbour "
            "on the same core seems to keep others",
            entries->value, tlb->level,
            tlb->page == p->probed->page ? "" : " for huge pages");
    }
    for (int i = 0; i < p->probed->ntlbs; i++)
        doubt_penalty(&p->probed->tlbs[i]);
    return 0;
}
