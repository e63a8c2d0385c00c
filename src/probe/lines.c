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
 * brought in, by the line or by a prefetcher.
 *
 * A line brings in what lies before a visit as well as what lies behind it; a prefetcher of
 * next lines does not. So pairs are visited backwards, too, and what is brought in both
 * ways, the block, is at least the line. Lines do not get shorter from level to level:
 * where the block is as long as the line before, so is the line, and no stripes are needed.
 */
#include "probe/probing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    WIDTHS = 7, /* stripes tried: from half the first line to 32 times that */
    TRIALS = 4, /* of each stripe, at least */
    MOST_TRIALS = 16,
    GUESS = 64,    /* bytes: where the first cache's line is not known */
    BLOCK = 8,     /* pages */
    PAIRS = 5,     /* of visits, at each distance… */
    FEW_PAIRS = 3, /* …or so many where time is short */
    SPACING = 8,
};

enum direction { FORWARDS, BACKWARDS };

/* a: bytes that the level holds. x: the stripe. */
static int build_line(struct probing *p, const struct string *s, double x)
{
    return refs_line(&p->refs, &p->runner->ground[s->arena], &p->rng, s->a, (uint64_t)x,
                     BLOCK);
}

/* From one pair to the next, in distances: a prefetcher that saw the second visit go on
 * from the first brings in what follows, and that must not be wanted. */
static uint64_t pair_spacing(const struct probing *p, double d)
{
    return SPACING * d <= (double)p->runner->ground[BASE_PAGES].page ? SPACING : 2;
}

/* Pairs at the beginnings of larger chunks. a: how many if they lay side by side; as they
 * do not, only some of the sets are used, and fewer fill them. b: whether both ends are
 * visited. x: the distance. */
static int build_pair(struct probing *p, const struct string *s, double x)
{
    uint64_t d = (uint64_t)x, spacing = pair_spacing(p, x);
    int status = refs_pair(&p->refs, &p->runner->ground[s->arena], &p->rng,
                           s->a * 2 / spacing + 1, d * spacing / 2, s->b);
    for (size_t i = 1; s->b && !status && i < p->refs.n; i += 2)
        p->refs.at[i] = p->refs.at[i - 1] + d;
    return status;
}

/* The same from the second place back to the first. */
static int build_pair_back(struct probing *p, const struct string *s, double x)
{
    int status = build_pair(p, s, x);
    uint64_t *at = p->refs.at, d = (uint64_t)x;
    for (size_t i = 0; !status && i < p->refs.n; i++)
        at[i] = s->b && i % 2 ? at[i] - d : at[i] + d;
    return status;
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

static int striped_line(struct probing *p, struct strata_probed_cache *cache)
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

/* The cost of the second visit of a pair d apart. */
static int second_visit(struct probing *p, enum direction direction, size_t chunks,
                        double d, double *cycles)
{
    struct string both = {.build = direction == FORWARDS ? build_pair : build_pair_back,
                          .arena = BASE_PAGES,
                          .a = chunks,
                          .b = true},
                  first = both;
    double two = 0, one = 0;
    first.b = false;
    int status = try_string(p, &both, d, &two);
    if (!status)
        status = try_string(p, &first, d, &one);
    *cycles = 2 * two - one;
    return status;
}

/* More than the level holds: a visit takes up what it brings in to the level before. */
static double chunks_of(const struct probing *p, const struct strata_probed_cache *cache)
{
    double taken = cache->level > 1 ? p->block[cache->level - 2] : first_line(p);
    return floor(1.25 * cache->effective.value / taken);
}

/* Whether most second visits of a few pairs d apart are served by the level itself. The
 * confidence is that of a sign test. */
static int inside(struct probing *p, const struct strata_probed_cache *cache, double next,
                  enum direction direction, double d, struct decision *decision)
{
    double middle = sqrt(cache->latency_cycles.value * next), cycles;
    int votes = 0, n = 0;
    while (n < PAIRS && !late(p) && (n < FEW_PAIRS || time_left(p, 0))) {
        int status = second_visit(p, direction, (size_t)chunks_of(p, cache), d, &cycles);
        if (status)
            return status;
        votes += cycles > middle;
        n++;
    }
    decision->slower = 2 * votes > n;
    int against = decision->slower ? n - votes : votes;
    decision->confidence = 1 - exp2(against - n);
    return 0;
}

/* The width, from `from` on, of what one visit brings in. */
static int brought_in(struct probing *p, const struct strata_probed_cache *cache,
                      double next, enum direction direction, double from,
                      struct strata_value *width)
{
    const struct ground *ground = &p->runner->ground[BASE_PAGES];
    double chunks = chunks_of(p, cache);
    struct decision before = {.confidence = 1}, now;
    *width = unknown("not enough memory for pairs of visits");
    for (double d = from; 2 * d <= (double)ground->page &&
                          (chunks + SPACING) * 2 * d <= (double)ground->bytes;
         d *= 2) {
        int status = inside(p, cache, next, direction, d, &now);
        if (status)
            return status;
        if (late(p)) {
            *width = no_time();
            break;
        }
        if (now.slower) {
            *width = known(d, d, d, before.confidence * now.confidence);
            break;
        }
        before = now;
    }
    return 0;
}

/* What the level before brings in comes through this one: so the search begins there. The
 * block is looked for only where it can be more than that of the level before. */
static int effective_line(struct probing *p, struct strata_probed_cache *cache, double next)
{
    int i = cache->level - 1;
    struct strata_value *wide = &cache->effective_line, back;
    double before = i ? p->block[i - 1] : first_line(p);
    double from =
        i && cache[-1].effective_line.known ? cache[-1].effective_line.value : before;
    int status = brought_in(p, cache, next, FORWARDS, from, wide);
    p->block[i] = before;
    p->block_confidence[i] = wide->confidence;
    if (status || (wide->known && wide->value <= before))
        return status;
    status = brought_in(p, cache, next, BACKWARDS, before, &back);
    if (back.known || wide->known)
        p->block[i] = back.known ? back.value : wide->value;
    p->block_confidence[i] = back.confidence;
    return status;
}

/* The line of a level behind the first, which the gap test found. */
static int physical_line(struct probing *p, struct strata_probed_cache *cache)
{
    int i = cache->level - 1;
    const struct strata_value *inner = &cache[-1].line;
    double block = p->block[i], confidence = p->block_confidence[i];
    if (inner->known && confidence > 0 && block <= inner->value) {
        cache->line =
            known(inner->value, inner->value, inner->value, inner->confidence * confidence);
        return 0;
    }
    if (confidence == 0 || block > p->block[i - 1] || (i == 1 && !inner->known))
        return striped_line(p, cache);
    /* Every visit that comes here has missed before, and was prefetched there. */
    cache->line = unknown("prefetching hides it: %g bytes behave as one line", block);
    return 0;
}

static int lines_of(struct probing *p, int i)
{
    struct strata_probed *probed = p->probed;
    struct strata_probed_cache *cache = &probed->caches[i];
    bool last = i + 1 == probed->ncaches;
    const struct strata_value *next =
        last ? &probed->memory_cycles : &cache[1].latency_cycles;
    cache->effective_line = no_time();
    p->block[i] = i ? p->block[i - 1] : first_line(p);
    if (i)
        cache->line = no_time();
    if (!time_left(p, (double)i / probed->ncaches) || !next->known ||
        !cache->latency_cycles.known)
        return 0;
    int status = effective_line(p, cache, next->value);
    return !status && i ? physical_line(p, cache) : status;
}

/* From the first cache outwards: each begins with what was found of the one before. */
int probe_lines(struct probing *p)
{
    int status = 0;
    p->levels_fixed = true;
    for (int i = 0; i < p->probed->ncaches && !status; i++)
        status = lines_of(p, i);
    return status;
}

/* The line of the nearest level before i of which it is sure. */
static double sure_line(const struct probing *p, int i)
{
    while (--i >= 0) {
        const struct strata_value *line = &p->probed->caches[i].line;
        if (line->known && line->confidence >= SURE)
            return line->value;
    }
    return first_line(p);
}

/* A prefetcher that adapts itself passes for a longer line at one time and not at another:
 * so such a line is asked for again. */
int confirm_lines(struct probing *p)
{
    int status = 0;
    for (int i = 1; i < p->probed->ncaches && !status && !late(p); i++) {
        struct strata_value *line = &p->probed->caches[i].line, before = *line;
        if (!line->known || line->value <= sure_line(p, i) || p->line_by_gap[i])
            continue;
        status = striped_line(p, &p->probed->caches[i]);
        if (status || !line->known || line->value == before.value)
            *line = before;
        else
            *line = unknown("it seemed to be %g bytes at one time and %g at another",
                            before.value, line->value);
    }
    return status;
}

/* A prefetcher of an inner level brings in pairs of lines, and then stripes show these and
 * not the line. They never show less than the line: so a line as long as that of a level
 * before is believed; a longer one if it is sure, and longer than what the inner levels
 * bring in, too, or if the gap test found it. */
int judge_lines(struct probing *p)
{
    for (int i = 1; i < p->probed->ncaches; i++) {
        struct strata_value *line = &p->probed->caches[i].line;
        if (!line->known || line->value <= sure_line(p, i))
            continue;
        if (line->confidence < SURE)
            *line = unknown("it may be longer than that of the level before, but trials "
                            "differ too much to tell");
        else if (!p->line_by_gap[i] &&
                 (line->value <= p->block[i - 1] || line->value > p->block[i]))
            *line =
                unknown("prefetching hides it: %g bytes behave as one line", line->value);
    }
    return 0;
}
