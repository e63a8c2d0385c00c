/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plain chase as a witness of the latencies: one load in every line of a footprint, in an
 * order that is random throughout, on base pages, as everybody measures them. It knows no
 * blocks of pages, no distances and no pressure, so what these provoke, it does not have.
 *
 * Its time may differ from the latency of a hit, but only so far:
 *   - translation adds at most what a miss in the TLBs costs;
 *   - of a ring that is longer than the level before, that one still has a part, and most
 *     where chance decides what it replaces: h = exp(-r (1 - h)) of a ring r times as long.
 * A latency from which the plain chase cannot be explained so is not sure, and its interval
 * holds both: who uses the same cache takes lines away in the meantime, and more from the
 * longer string. */
#include "core/sort.h"
#include "probe/probing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TRIALS = 3 }; /* of each footprint, each time */

#define BEYOND   2    /* times what the level before holds: the first footprint */
#define WITHIN   0.7  /* of what the level holds: the last one */
#define TOGETHER 0.75 /* of the first TLB's entries: neighbours may use some */
#define DOUBTED  0.5  /* confidence, where the two contradict each other */

/* A prefetcher that follows pages is known that follows 32 of them: more are visited where
 * the TLB has room for these. */
double pages_together(const struct probing *p)
{
    for (int i = 0; i < p->probed->ntlbs; i++) {
        const struct strata_probed_tlb *tlb = &p->probed->tlbs[i];
        if (tlb->level == 1 && tlb->page == p->runner->ground[BASE_PAGES].page &&
            tlb->entries.known)
            return floor(fmax(1, TOGETHER * tlb->entries.low));
    }
    return 0;
}

static int build_plain(struct probing *p, const struct string *s, double x)
{
    const struct ground *ground = &p->runner->ground[s->arena];
    return refs_cache(&p->refs, ground, &p->rng, (uint64_t)x,
                      (size_t)(x / (double)ground->page) + 1);
}

/* Cycles that translation adds to each visit of so many bytes, at the most. */
static double translation(const struct probing *p, double bytes)
{
    uint64_t page = p->runner->ground[BASE_PAGES].page;
    double most = 0;
    for (int i = 0; i < p->probed->ntlbs; i++) {
        const struct strata_probed_tlb *tlb = &p->probed->tlbs[i];
        if (tlb->page == page && tlb->entries.known && tlb->penalty_cycles.known &&
            bytes > tlb->entries.low * (double)page)
            most = fmax(most, tlb->penalty_cycles.high);
    }
    return most;
}

/* The share of a ring, so many times as long as a cache, that is still there where chance
 * decides what is replaced. */
static double left_by_chance(double times)
{
    double left = 0;
    for (int i = 0; i < 50; i++)
        left = exp(-times * (1 - left));
    return left;
}

/* The footprints: as many as fit between the two levels, and where there are such, those
 * that the first TLB reaches. */
static size_t footprints(const struct probing *p, int level, double bytes[2])
{
    const struct strata_probed_cache *cache = &p->probed->caches[level];
    double low = BEYOND * cache[-1].effective.value, high = WITHIN * cache->effective.value;
    double reach = pages_together(p) * (double)p->runner->ground[BASE_PAGES].page;
    if (reach >= low)
        high = fmin(high, reach);
    high = fmin(high, (double)p->runner->ground[BASE_PAGES].bytes);
    bytes[0] = floor(fmin(low, high));
    bytes[1] = floor(high);
    return high > 1.2 * low ? 2 : 1;
}

static struct series *series_of(struct probing *p, int level)
{
    char name[32], title[80];
    snprintf(name, sizeof name, "plain%d", level + 1);
    snprintf(title, sizeof title, "plain chase within L%d", level + 1);
    struct series *series = dataset_find(p->probed->data, name);
    return series ? series : dataset_add(p->probed->data, name, title, "bytes", "cycles");
}

/* One trial of each footprint. */
static int measure(struct probing *p, struct series *series)
{
    const struct string string = {.build = build_plain, .arena = BASE_PAGES};
    for (size_t i = 0; i < series->npoints && !late(p); i++) {
        double cycles;
        int status = try_string(p, &string, series->points[i].x, &cycles);
        if (status)
            return status;
        if (point_add(&series->points[i], cycles))
            return out_of_memory(p);
    }
    return 0;
}

int hear_witness(struct probing *p, int level)
{
    double bytes[2];
    struct series *series = series_of(p, level);
    size_t n = series && series->npoints ? 0 : footprints(p, level, bytes);
    int status = series ? 0 : out_of_memory(p);
    for (size_t i = 0; i < n && !status; i++)
        if (!series_at(series, bytes[i]))
            status = out_of_memory(p);
    for (int t = 0; t < TRIALS && !status && !late(p); t++)
        status = measure(p, series);
    return status;
}

/* Whether a latency explains what a plain chase of so many bytes took. */
static bool explains(const struct probing *p, int level, const struct strata_value *latency,
                     const struct point *point)
{
    const struct strata_probed_cache *inner = &p->probed->caches[level - 1];
    double left = left_by_chance(point->x / inner->effective.value),
           took = point_min(point);
    double least = (1 - left) * latency->low + left * inner->latency_cycles.low;
    return took >= least && took <= latency->high + translation(p, point->x);
}

/* What most trials of a plain chase took, or nothing where there are none. */
static double usual(const struct point *point)
{
    double sorted[4 * TRIALS];
    size_t n = point->n < 4 * TRIALS ? point->n : 4 * TRIALS;
    memcpy(sorted, point->y, n * sizeof *sorted);
    sort_ascending(sorted, n);
    return n ? sorted[n * 3 / 4] : 0;
}

/* Where translation adds nothing, a chase at another time takes no longer than most. */
static void allow_for_usual(struct probing *p, int level, struct strata_value *latency)
{
    const struct series *series = series_of(p, level);
    for (size_t i = 0; series && latency->known && i < series->npoints; i++)
        if (!(translation(p, series->points[i].x) > 0))
            latency->high = fmax(latency->high, usual(&series->points[i]));
}

void ask_witness(struct probing *p, int level, struct strata_value *latency)
{
    const struct series *series = series_of(p, level);
    for (size_t i = 0; series && latency->known && i < series->npoints; i++) {
        const struct point *point = &series->points[i];
        if (!point->n || explains(p, level, latency, point))
            continue;
        double took = point_min(point);
        note(p, "L%d: a plain chase of %.3gM takes %.3g cycles", level + 1,
             point->x / (1 << 20), took);
        latency->low = fmin(latency->low, took);
        latency->high = fmax(latency->high, took);
        latency->confidence = fmin(latency->confidence, DOUBTED);
    }
    allow_for_usual(p, level, latency);
}

bool witness_within(struct probing *p, int level, double low, double high, double *cycles)
{
    const struct series *series = series_of(p, level);
    *cycles = INFINITY;
    for (size_t i = 0; series && i < series->npoints; i++) {
        double took = series->points[i].n ? point_min(&series->points[i]) : INFINITY;
        if (took > low && took < high)
            *cycles = fmin(*cycles, took);
    }
    return isfinite(*cycles);
}
