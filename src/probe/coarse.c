/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the curves alone tell: an answer for every latency and for the first TLB as soon as
 * there is a curve, with a wide interval. Parts that measure a parameter on its own are
 * surer; but on a busy machine, or with a short budget, they may not get the time.
 *
 * A visit of the cache-only string at a plateau costs what the level does, less what
 * prefetchers bring in, more what translation takes. It is nearer to its level than to the
 * next one: so the latency is put between the middles to both neighbours. Behind memory
 * there is none, and prefetchers save up to three of four visits there. */
#include "probe/probing.h"

#include <math.h>
#include <string.h>

#define COARSE  0.8 /* of 100 plateaus, so many have the latency between these middles */
#define EDGE    0.5 /* that the last point of a sweep below a rise is just the edge */
#define SAVED   4   /* times as long a visit to memory may take as one of the curve */
#define NEAREST 0.5 /* cycles: nothing before the first level saves or adds more */

static double middle(double a, double b)
{
    return sqrt(a * b);
}

/* The latency of a level, or of memory, as the cache-only string has it. */
static struct strata_value coarse_latency(const struct probing *p, int level)
{
    const double *height = p->height;
    bool memory = level == p->probed->ncaches;
    double here = height[level];
    double low =
        level ? middle(height[level - 1], here) : fmin(here, fmax(1, here - NEAREST));
    double high = memory ? SAVED * here : middle(here, height[level + 1]);
    return known(here, low, high, COARSE);
}

/* What was measured counts. Where that is less sure than the curve, the interval holds what
 * the curve tells, too, and so is as sure as that. */
static void settle(struct strata_value *value, const struct strata_value *coarse)
{
    if (!value->known)
        *value = *coarse;
    if (value->confidence >= coarse->confidence)
        return;
    value->low = fmin(value->low, coarse->low);
    value->high = fmax(value->high, coarse->high);
    value->confidence = coarse->confidence;
}

static void settle_latency(const struct probing *p, int level, struct strata_value *cycles,
                           struct strata_value *ns)
{
    struct strata_value coarse = coarse_latency(p, level);
    settle(cycles, &coarse);
    *ns = in_ns(p, *cycles);
}

/* The TLB of a rise that was seen in pages of the base size. */
static struct strata_probed_tlb coarse_tlb(const struct probing *p)
{
    const struct coarse_tlb *sweep = &p->coarse_tlb;
    struct strata_probed_tlb tlb = {.level = 1, .page = p->probed->page};
    tlb.entries = known(sweep->from, sweep->from, sweep->to, EDGE);
    tlb.ways = no_time();
    tlb.penalty_cycles = known(sweep->height, sweep->height / 2, 2 * sweep->height, COARSE);
    tlb.penalty_ns = in_ns(p, tlb.penalty_cycles);
    return tlb;
}

/* Where the part that looks for TLBs did not come to its end, the first sweep tells. */
static void settle_tlb(struct probing *p)
{
    struct strata_probed *probed = p->probed;
    struct strata_probed_tlb coarse = coarse_tlb(p), *tlb = probed->tlbs;
    if (!p->coarse_tlb.from)
        return;
    if (!probed->ntlbs || tlb->page != probed->page) {
        if (probed->ntlbs == STRATA_MAX_TLBS)
            return;
        memmove(tlb + 1, tlb, (size_t)probed->ntlbs++ * sizeof *tlb);
        *tlb = coarse;
    }
    if (!tlb->entries.known && !tlb->entries.low) /* else all pages that there are fit */
        tlb->entries = coarse.entries;
    settle(&tlb->penalty_cycles, &coarse.penalty_cycles);
    tlb->penalty_ns = in_ns(p, tlb->penalty_cycles);
}

void settle_answers(struct probing *p)
{
    struct strata_probed *probed = p->probed;
    if (probed->levels.known && probed->levels.confidence < SURE)
        note(p,
             "%d caches, but only %.0f%% sure: what shares them may hide one or feign one",
             probed->ncaches, 100 * probed->levels.confidence);
    if (probed->ncaches) {
        for (int i = 0; i < probed->ncaches; i++)
            settle_latency(p, i, &probed->caches[i].latency_cycles,
                           &probed->caches[i].latency_ns);
        settle_latency(p, probed->ncaches, &probed->memory_cycles, &probed->memory_ns);
    }
    settle_tlb(p);
}
