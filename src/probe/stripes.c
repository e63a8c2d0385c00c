/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lines by the width of stripes: L(n, s) with n a little below what a level holds overflows
 * it while s is below the line size and fits from then on. In the state that fits there are
 * no misses, so prefetchers that follow misses keep quiet and the line is the physical one.
 */
#include "probe/probing.h"

#include <math.h>
#include <stdio.h>

enum {
    WIDTHS = 7, /* stripes tried: from half the line before to 32 times that */
    TRIALS = 4, /* of each stripe, at least */
    MOST_TRIALS = 16,
    BLOCK = 8, /* pages */
};

/* a: bytes that the level holds. x: the stripe. */
static int build_line(struct probing *p, const struct string *s, double x)
{
    struct stripes stripes = {.s = (uint64_t)x, .visits = 1};
    return refs_line(&p->refs, &p->runner->ground[s->arena], &p->rng, s->a, &stripes,
                     BLOCK);
}

/* What a stripe costs more than the fastest one, by its width. Stripes below the line size
 * all need the same lines, the narrower ones with more visits to each: so this is the same
 * for all of them, and falls at the line size. */
static double excess(const struct series *series, const double *y, double least, size_t i)
{
    return (y[i] - least) / series->points[i].x;
}

/* The first stripe, from the dearest on, with less than half of its excess. */
static size_t drop(const struct series *series, const double *y)
{
    size_t at = 0, n = series->npoints;
    double least = y[0];
    for (size_t i = 1; i < n; i++)
        least = fmin(least, y[i]);
    for (size_t i = 1; i < n; i++)
        if (excess(series, y, least, i) > excess(series, y, least, at))
            at = i;
    double half = excess(series, y, least, at) / 2;
    while (at < n && excess(series, y, least, at) > half)
        at++;
    return at;
}

/* Trials of each stripe: small caches, which are quick to fill, depend more on the pages
 * that a trial gets. */
static size_t trials(double bytes)
{
    return (size_t)fmax(TRIALS, fmin(MOST_TRIALS, (16 << 20) / bytes));
}

/* Visits every stripe of the series several times, and leaves the minima in y. */
static int measure_stripes(struct probing *p, const struct string *string,
                           struct series *series, double *y)
{
    for (size_t trial = 0; trial < trials((double)string->a); trial++)
        for (size_t i = 0; i < series->npoints; i++) {
            double cycles;
            if (late(p))
                return 0;
            int status = try_string(p, string, series->points[i].x, &cycles);
            if (!status && point_add(&series->points[i], cycles))
                status = out_of_memory(p);
            if (status)
                return status;
            y[i] = point_min(&series->points[i]);
        }
    return 0;
}

/* What a level holds with certainty, less the room that a ramp needs. */
static double filling(const struct strata_probed_cache *cache)
{
    return cache->effective.value / (1 + 3.0 / RAMP);
}

/* The widest stripe whose lines, one in each, still do not fit into the level before. */
static double widest(const struct probing *p, const struct strata_probed_cache *cache)
{
    double line = cache[-1].line.known ? cache[-1].line.value : first_line(p);
    double inner = cache[-1].effective.value;
    return fmin(filling(cache) * line / (1.25 * inner),
                (double)p->runner->ground[BASE_PAGES].page / 2);
}

/* That the excess of stripe i really is below that of the narrower one. */
static double confidence_of(const struct series *series, size_t i)
{
    const struct point *fits = &series->points[i], *misses = fits - 1;
    double low[TRIALS], high[TRIALS], least = INFINITY;
    for (size_t j = 0; j < series->npoints; j++)
        least = fmin(least, point_min(&series->points[j]));
    for (size_t j = 0; j < TRIALS; j++) {
        low[j] = (fits->y[j] - least) / fits->x;
        high[j] = (misses->y[j] - least) / misses->x;
    }
    return 1 - separation(low, high, TRIALS);
}

/* Stripes from half the line of the level before on, as wide as they may be. */
static struct series *stripes(struct probing *p, const struct strata_probed_cache *cache)
{
    char name[32], title[80];
    snprintf(name, sizeof name, "line%d", cache->level);
    if (dataset_find(p->probed->data, name))
        snprintf(name, sizeof name, "line%d-again", cache->level);
    snprintf(title, sizeof title, "stripes that fill L%d", cache->level);
    struct series *series = dataset_add(p->probed->data, name, title, "bytes", "cycles");
    double most = fmin(widest(p, cache), 2 * p->block[cache->level - 1]);
    double least = fmax(first_line(p), cache[-1].line.known ? cache[-1].line.value : 0);
    for (double s = least / 2; series && series->npoints < WIDTHS; s *= 2) {
        if (s > most)
            break;
        if (!series_at(series, s))
            return NULL;
    }
    return series;
}

int striped_line(struct probing *p, struct strata_probed_cache *cache)
{
    struct string string = {
        .build = build_line, .arena = BASE_PAGES, .a = (uint64_t)filling(cache)};
    double y[WIDTHS];
    cache->line = unknown("not enough memory for stripes that fill it");
    if (2 * filling(cache) + 2 * (double)p->runner->ground[BASE_PAGES].page >
        (double)p->runner->ground[BASE_PAGES].bytes)
        return 0;
    struct series *series = stripes(p, cache);
    int status = series ? measure_stripes(p, &string, series, y) : out_of_memory(p);
    if (status)
        return status;
    cache->line = no_time();
    if (late(p))
        return 0;
    size_t at = drop(series, y);
    cache->line = unknown("stripes of any width take about the same time");
    if (at > 0 && at < series->npoints) {
        double width = series->points[at].x;
        cache->line = known(width, width, width, confidence_of(series, at));
    }
    return 0;
}
