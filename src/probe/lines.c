/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Line sizes: the physical one by the line string, the effective one by pairs.
 *
 * L(n, s) with n a little below what a level holds overflows it while s is below the line
 * size and fits from then on. In the state that fits there are no misses, so prefetchers
 * that follow misses keep quiet and the line is the physical one.
 *
 * The effective line is the width that behaves as one: a pair of visits d apart, in random
 * chunks of the next level's memory, where the second one still finds what the first one
 * brought in, by the line or by a prefetcher. */
#include "probe/probing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    WIDTHS = 7, /* stripes tried: from half the first line to 32 times that */
    TRIALS = 4, /* of each stripe, at least */
    MOST_TRIALS = 16,
    GUESS = 64, /* bytes: where the first cache's line is not known */
    BLOCK = 8,  /* pages */
    PAIRS = 3,  /* of visits, at each distance */
};

/* a: bytes that the level holds. x: the stripe. */
static int build_line(struct probing *p, const struct string *s, double x)
{
    return refs_line(&p->refs, &p->runner->ground[s->arena], &p->rng, s->a, (uint64_t)x,
                     BLOCK);
}

/* a: chunks, b: whether both ends are visited. x: the distance. */
static int build_pair(struct probing *p, const struct string *s, double x)
{
    return refs_pair(&p->refs, &p->runner->ground[s->arena], &p->rng, s->a, (uint64_t)x,
                     s->b);
}

static double first_line(const struct probing *p)
{
    const struct strata_value *line = &p->probed->caches[0].line;
    return line->known ? line->value : GUESS;
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

static int physical_line(struct probing *p, struct strata_probed_cache *cache)
{
    struct string string = {
        .build = build_line, .arena = BASE_PAGES, .a = (uint64_t)filling(cache)};
    double y[WIDTHS];
    char name[32], title[80];
    snprintf(name, sizeof name, "line%d", cache->level);
    snprintf(title, sizeof title, "stripes that fill L%d", cache->level);
    struct series *series = dataset_add(p->probed->data, name, title, "bytes", "cycles");
    for (double s = first_line(p) / 2; series && series->npoints < WIDTHS; s *= 2) {
        if (s > widest(p, cache))
            break;
        if (!series_at(series, s))
            return out_of_memory(p);
    }
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

/* The cost of the second visit of a pair d apart. */
static int second_visit(struct probing *p, size_t chunks, double d, double *cycles)
{
    struct string both = {.build = build_pair, .arena = BASE_PAGES, .a = chunks, .b = true},
                  first = both;
    double two = 0, one = 0;
    first.b = false;
    int status = try_string(p, &both, d, &two);
    if (!status)
        status = try_string(p, &first, d, &one);
    *cycles = 2 * two - one;
    return status;
}

/* Second visits of a few pairs d apart, and whether most are served by the level itself. */
static int inside(struct probing *p, const struct strata_probed_cache *cache, double next,
                  size_t chunks, double d, double *cycles, bool *yes)
{
    double middle = sqrt(cache->latency_cycles.value * next);
    size_t votes = 0;
    memset(cycles, 0, PAIRS * sizeof *cycles);
    for (size_t i = 0; i < PAIRS; i++) {
        int status = late(p) ? 0 : second_visit(p, chunks, d, &cycles[i]);
        if (status)
            return status;
        votes += cycles[i] < middle;
    }
    *yes = 2 * votes > PAIRS;
    return 0;
}

static int effective_line(struct probing *p, struct strata_probed_cache *cache, double next)
{
    const struct ground *ground = &p->runner->ground[BASE_PAGES];
    /* More than the level holds, of lines as long as the first level's. */
    double chunks = floor(1.25 * cache->effective.value / first_line(p)),
           d = first_line(p) / 2;
    double cycles[2][PAIRS]; /* at d / 2 and at d */
    bool yes = true;
    cache->effective_line = unknown("not enough memory for pairs of visits");
    for (; 2 * d <= (double)ground->page && chunks * 2 * d <= (double)ground->bytes;
         d *= 2) {
        int status = inside(p, cache, next, (size_t)chunks, d, cycles[1], &yes);
        if (status || !yes) {
            double confidence = 1 - separation(cycles[0], cycles[1], PAIRS);
            cache->effective_line = d > first_line(p) / 2
                                        ? known(d, d, d, confidence)
                                        : unknown("not even half a line behaves as one");
            return status;
        }
        memcpy(cycles[0], cycles[1], sizeof cycles[0]);
        if (late(p)) {
            cache->effective_line = no_time();
            break;
        }
    }
    return 0;
}

int probe_lines(struct probing *p)
{
    p->levels_fixed = true;
    /* The gap test found the first one. */
    for (int i = 1; i < p->probed->ncaches; i++) {
        struct strata_probed_cache *cache = &p->probed->caches[i];
        if (!time_left(p, (double)i / p->probed->ncaches)) {
            cache->line = no_time();
            continue;
        }
        int status = physical_line(p, cache);
        if (status)
            return status;
    }
    return 0;
}

int probe_effective_lines(struct probing *p)
{
    struct strata_probed *probed = p->probed;
    for (int i = 0; i < probed->ncaches; i++) {
        struct strata_probed_cache *cache = &probed->caches[i];
        bool last = i + 1 == probed->ncaches;
        const struct strata_value *next =
            last ? &probed->memory_cycles : &cache[1].latency_cycles;
        if (!time_left(p, (double)i / probed->ncaches) || !next->known ||
            !cache->latency_cycles.known) {
            cache->effective_line = no_time();
            continue;
        }
        int status = effective_line(p, cache, next->value);
        if (status)
            return status;
    }
    return 0;
}

/* Whether a prefetcher was seen: something behaves as a line that is none. */
static bool prefetching(const struct strata_probed *probed)
{
    for (int i = 0; i < probed->ncaches; i++) {
        const struct strata_probed_cache *cache = &probed->caches[i];
        if (cache->effective_line.known && cache->line.known &&
            cache->effective_line.value > cache->line.value)
            return true;
    }
    return false;
}

/* A prefetcher that goes by hits, too, keeps a level full of lines that nobody wants, and
 * then stripes show what it brings in and not the line. They never show less than the line:
 * so a line as long as that of the level before is believed, a longer one only if no
 * prefetcher was seen, or if the gap test found it. */
int judge_lines(struct probing *p)
{
    bool doubt = prefetching(p->probed);
    for (int i = 1; i < p->probed->ncaches; i++) {
        struct strata_probed_cache *cache = &p->probed->caches[i];
        const struct strata_value *inner = &cache[-1].line;
        bool longer =
            cache->line.known && (!inner->known || cache->line.value > inner->value);
        if (cache->ways.known)
            continue;
        if (longer && (doubt || !cache->effective_line.known ||
                       cache->effective_line.value != cache->line.value))
            cache->line = unknown("prefetching hides it: %g bytes behave as one line",
                                  cache->line.value);
    }
    return 0;
}
