/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The caches by the cache-only string: how many levels, and what a program can use of each.
 *
 * The sweep begins coarse, two points an octave, and is refined to sixteen where the
 * latency changes. Several passes, each on other pages, then give every point a set of
 * observations whose minimum is analysed. The interval of an effective capacity comes from
 * repeating the analysis on random halves of the observations: its lower end is where the
 * rise begins at the earliest, its upper end where half of the rise is reached at the
 * latest. */
#include "core/sort.h"
#include "probe/probing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 8,       /* pages: every TLB known has as many entries */
    GRAIN = 512,     /* bytes: footprints are multiples of this */
    SMALLEST = 1024, /* bytes: the first footprint */
    PER_OCTAVE = 16, /* points where the curve rises */
    LARGE = 4 << 20, /* bytes: from here on a quarter of them */
    LEAST = 24,      /* observations without a new minimum, at footprints up to… */
    SMALL = 1 << 20, /* …this one: luck with the pages counts less among more of them */
    LARGEST = 192 << 20, /* bytes, or three quarters of the memory that there is */
    COARSE = 32 << 20, /* bytes: the largest of the first look, which must not take long */
    MOST_PASSES = 100,
    ANEW_PASSES = 12, /* over each cache at another time */
    LAST_PASSES = 8,  /* over the last cache in the end */
    HALVES = 40,      /* repeated analyses for the intervals */
};

/* One visit to a line of the first cache, where that is known: more of them would only be
 * hits there, and hide what the levels behind it cost. */
static int build_cache(struct probing *p, const struct string *s, double x)
{
    struct ground ground = p->runner->ground[s->arena];
    const struct strata_value *line = &p->probed->caches[0].line;
    if (line->known && line->value > (double)ground.line && line->value <= SMALLEST / 4)
        ground.line = (uint64_t)line->value;
    return refs_cache(&p->refs, &ground, &p->rng, (uint64_t)x, BLOCK);
}

static double footprint(double x)
{
    return fmax(SMALLEST, round(x / GRAIN) * GRAIN);
}

/* The ith of PER_OCTAVE evenly spaced footprints from each power of two to the next: 32K,
 * 34K, 36K…, where capacities of real caches lie. Fewer where each takes long. */
static double grid(size_t i)
{
    double octave = exp2((double)(i / PER_OCTAVE));
    double x = SMALLEST * octave * (1 + (double)(i % PER_OCTAVE) / PER_OCTAVE);
    size_t thin = x < LARGE / 2 ? 1 : x < LARGE ? 2 : 4;
    return i % thin == 0 ? footprint(x) : grid(i - i % thin);
}

static size_t grid_size(double most)
{
    size_t n = 0;
    while (grid(n) <= most)
        n++;
    return n;
}

static int add_points(struct probing *p, struct series *series, size_t from, size_t to,
                      size_t stride)
{
    for (size_t i = from; i < to; i += stride)
        if (!series_at(series, grid(i)))
            return out_of_memory(p);
    return 0;
}

/* The least observations of all points that were visited, as a curve that does not fall. */
static int envelope(const struct series *series, struct rng *half, struct curve *curve)
{
    if (series_curve(series, half, curve))
        return -1;
    lower_envelope(curve->y, curve->n);
    if (!isotonic(curve->y, NULL, curve->n))
        return 0;
    free(curve->x);
    return -1;
}

/* Adds the points between neighbours that differ noticeably. */
static int refine(struct probing *p, struct series *series, size_t n)
{
    struct curve curve;
    int status = 0;
    if (envelope(series, NULL, &curve))
        return out_of_memory(p);
    for (size_t i = 0; i + 1 < curve.n && !status; i++) {
        if (!noticeable(curve.y[i], curve.y[i + 1]))
            continue;
        for (size_t j = 0; j < n && !status; j++)
            if (grid(j) > curve.x[i] && grid(j) < curve.x[i + 1] &&
                !series_at(series, grid(j)))
                status = out_of_memory(p);
    }
    free(curve.x);
    return status;
}

/* Where the curve, between the plateaus i and i + 1, has done half of its rise: the first
 * footprint beyond that. */
static double half_rise(const struct curve *curve, const struct levels *levels, size_t i)
{
    double middle =
        sqrt(curve->y[levels->plateau[i].first] * levels->plateau[i + 1].height);
    size_t at = levels->plateau[i].last;
    while (at + 1 < curve->n && at < levels->plateau[i + 1].last &&
           curve->y[at + 1] <= middle)
        at++;
    return curve->x[at + 1 < curve->n ? at + 1 : at];
}

/* The last footprint of a plateau: the last one at its height, or one before. A cache with
 * random replacement that is a little too small misses a little: such a point is still
 * nearer to this level than to the next. */
static double end_of(const struct curve *curve, const struct plateau *plateau)
{
    size_t last = plateau->last, middle = (plateau->first + last) / 2;
    if (last > middle && log2(curve->x[last] / curve->x[last - 1]) < 2.0 / PER_OCTAVE &&
        curve->y[last] > curve->y[middle] && noticeable(curve->y[last], curve->y[middle]))
        last--;
    return curve->x[last];
}

struct edge {
    double effective, half; /* bytes */
    double height;          /* cycles, in the middle of the plateau */
};

static double height_of(const struct curve *curve, const struct plateau *plateau)
{
    return curve->y[(plateau->first + plateau->last) / 2];
}

/* The edges of all levels in one (sub-)sample; `most` is the number of levels to fit, 0 to
 * find it. Returns the number of plateaus, 0 when out of memory. */
static size_t find_edges(const struct series *series, struct rng *half, size_t most,
                         struct edge *edges, struct levels *levels, struct density *found)
{
    struct curve curve;
    size_t count = 0;
    if (envelope(series, half, &curve))
        return 0;
    if (curve.n && !find_most_levels(curve.x, curve.y, curve.n, most, levels, found)) {
        count = levels->n;
        for (size_t i = 0; i < count; i++)
            edges[i].height = height_of(&curve, &levels->plateau[i]);
        for (size_t i = 0; i + 1 < count; i++) {
            edges[i].effective = end_of(&curve, &levels->plateau[i]);
            edges[i].half = half_rise(&curve, levels, i);
        }
    }
    free(curve.x);
    return count;
}

/* The value below which the share q of the n values lies. */
static double quantile(double *values, size_t n, double q)
{
    sort_ascending(values, n);
    return values[(size_t)round(q * (double)(n - 1))];
}

/* The last footprint up to `most` at which a typical trial, not only the best one, was
 * still below the middle between the level and the next. One or two trials do not tell what
 * is typical. */
static double typical(const struct series *series, double most, double middle)
{
    double at = most;
    for (size_t i = series->npoints; i-- > 0;) {
        const struct point *point = &series->points[i];
        if (point->n > 2 && point->x <= most && point_median(point) > middle)
            at = i ? series->points[i - 1].x : point->x;
    }
    return at;
}

/* How likely a trial of a footprint a little below x is disturbed: by the share of those
 * that took noticeably longer than the best one at their point, the best ones left out. */
static double disturbance(const struct series *series, double x)
{
    double longer = 0, all = 0;
    for (size_t i = 0; i < series->npoints; i++) {
        const struct point *point = &series->points[i];
        if (point->x < x / 2 || point->x > x)
            continue;
        double least = point_min(point);
        for (size_t j = 0; j < point->n; j++)
            longer += noticeable(point->y[j], least);
        all += point->n ? (double)point->n - 1 : 0;
    }
    return (longer + 1) / (all + 2);
}

/* The chance that not all trials of the first point beyond x were disturbed: then it is
 * really slower. */
static double seen_beyond(const struct series *series, double x)
{
    size_t i = 0;
    while (i < series->npoints && (series->points[i].x <= x || !series->points[i].n))
        i++;
    return i == series->npoints
               ? 0
               : 1 - pow(disturbance(series, x), (double)series->points[i].n);
}

/* The analysis of one half of the observations. */
struct half {
    size_t count; /* plateaus */
    struct edge edges[MAX_LEVELS];
};

static void analyse_halves(struct probing *p, const struct series *series,
                           struct half *halves)
{
    struct levels levels;
    struct rng rng = {p->rng.state};
    for (size_t h = 0; h < HALVES; h++)
        halves[h].count =
            find_edges(series, &rng, MAX_LEVELS, halves[h].edges, &levels, NULL);
}

/* The number of levels that most halves show: a disturbance makes one more where it lasts,
 * but not in every half. */
static size_t likely_levels(const struct half *halves)
{
    size_t votes[MAX_LEVELS + 1] = {0}, best = 0;
    for (size_t h = 0; h < HALVES; h++)
        votes[halves[h].count]++;
    for (size_t i = 1; i <= MAX_LEVELS; i++)
        best = votes[i] > votes[best] ? i : best;
    return best ? best : MAX_LEVELS;
}

/* What is usable of the outermost cache, as a factor to both sides, in another run: others
 * share it where trials differ by more than levels must, or where the kernel knows of other
 * guests. They then leave more or less of it from minute to minute, which the seconds of a
 * probe do not show: an octave at least. */
static double allow_for_others(const struct probing *p, double factor)
{
    const double same = 1.25, octave = 2;
    return p->guest || factor > same ? fmax(factor, octave) : factor;
}

/* Effective capacities with their intervals: all halves that show as many levels vote. The
 * lower end is also what a program typically gets, and what was found earlier in this run;
 * another run may get as much more. */
static void set_effective(struct probing *p, const struct series *series,
                          const struct levels *fit, const struct edge *whole,
                          const struct half *halves)
{
    double low[HALVES], high[HALVES];
    for (size_t i = 0; i + 1 < fit->n; i++) {
        double middle = sqrt(fit->plateau[i].height * fit->plateau[i + 1].height);
        double value = whole[i].effective, from = typical(series, value, middle);
        double *least = &p->least_effective[i];
        double to = fmax(value, whole[i].half);
        double sure = seen_beyond(series, value);
        size_t same = 0;
        for (size_t h = 0; h < HALVES; h++)
            if (halves[h].count == fit->n) {
                low[same] = halves[h].edges[i].effective;
                high[same++] = halves[h].edges[i].half;
            }
        if (same) {
            from = fmin(from, quantile(low, same, 0.025));
            to = fmax(to, quantile(high, same, 0.975));
        }
        *least = *least > 0 ? fmin(*least, value) : value;
        double factor = spread_factor(value, fmin(from, *least), value);
        if (i + 2 == fit->n && isfinite(p->budget))
            factor = allow_for_others(p, factor);
        p->probed->caches[i].effective =
            known(value, value / factor, fmax(to, value * factor),
                  sure * agreement(same, HALVES));
    }
}

/* The chance that the curve really rises behind x: that not all trials within the octave
 * there were disturbed. */
static double rises_behind(const struct series *series, double x)
{
    size_t trials = 0;
    for (size_t i = 0; i < series->npoints; i++)
        if (series->points[i].x > x && series->points[i].x <= 2 * x)
            trials += series->points[i].n;
    return 1 - pow(disturbance(series, x), (double)trials);
}

/* Octaves from the end of the plateau i to the beginning of the next one, as far as the
 * curve is neither's by a quarter of the time. */
static double width_of_rise(const struct curve *curve, const struct edge *edges, size_t i)
{
    double low = edges[i].height * exp2(LEAST_RISE);
    double high = edges[i + 1].height / exp2(LEAST_RISE), from = 0, to = 0;
    for (size_t at = 0; at < curve->n; at++) {
        from = curve->y[at] <= low ? curve->x[at] : from;
        if (curve->y[at] < high && at + 1 < curve->n)
            to = curve->x[at + 1];
    }
    return from > 0 && to > from ? log2(to / from) : 0;
}

/* The number of levels: as many halves as agree; and that every rise is one; and that none
 * is so long, an octave, that a level may be hidden in it by what shares it, or only seem
 * to be there: then it is a toss. */
static struct strata_value levels_value(const struct series *series,
                                        const struct levels *levels,
                                        const struct edge *edges, const struct half *halves)
{
    const double toss = 0.5, octave = 1;
    double n = (double)levels->n - 1, confidence;
    struct curve curve;
    size_t same = 0;
    for (size_t h = 0; h < HALVES; h++)
        same += halves[h].count == levels->n;
    confidence = agreement(same, HALVES);
    if (envelope(series, NULL, &curve))
        return known(n, n, n, 0);
    for (size_t i = 0; i + 1 < levels->n; i++) {
        confidence *= rises_behind(series, edges[i].effective);
        if (width_of_rise(&curve, edges, i) > octave)
            confidence *= toss;
    }
    free(curve.x);
    return known(n, n, n, confidence);
}

static void keep_findings(struct series *series, const struct levels *levels,
                          const struct density *found)
{
    struct step steps[MAX_LEVELS], bins[DENSITY_BINS];
    for (size_t i = 0; i < levels->n; i++)
        steps[i] = (struct step){series->points[levels->plateau[i].last].x,
                                 levels->plateau[i].height};
    for (size_t i = 0; i < DENSITY_BINS; i++)
        bins[i] = (struct step){
            exp2(found->low + (found->high - found->low) * (double)i / (DENSITY_BINS - 1)),
            found->bins[i]};
    /* Only plots need them: they may be absent when memory is short. */
    series_set_steps(series, steps, levels->n);
    series_set_density(series, bins, DENSITY_BINS);
}

/* Repeats the points that matter for a capacity: around the foot of the rise, up to its
 * half. Returns how many were visited, or -1. */
static long sweep_foot(struct probing *p, const struct string *string,
                       struct series *series, const struct edge *edge, size_t least)
{
    return sweep_once(p, string, series, least, edge->effective / M_SQRT2,
                      fmax(edge->half, edge->effective * M_SQRT2));
}

/* The same at the feet of all rises. */
static long sweep_feet(struct probing *p, const struct string *string,
                       struct series *series)
{
    struct edge edges[MAX_LEVELS];
    struct levels levels;
    long visited = 0;
    size_t count = find_edges(series, NULL, MAX_LEVELS, edges, &levels, NULL);
    if (!count) {
        out_of_memory(p);
        return -1;
    }
    for (size_t i = 0; i + 1 < count; i++) {
        double luck = sqrt(fmin(1, SMALL / edges[i].effective));
        size_t least = (size_t)fmax(4, LEAST * luck);
        long now = sweep_foot(p, string, series, &edges[i], least);
        if (now < 0)
            return -1;
        visited += now;
    }
    return visited;
}

static int sweep_all_feet(struct probing *p, const struct string *string,
                          struct series *series)
{
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        long visited = sweep_feet(p, string, series);
        if (visited < 0)
            return p->error->status;
        if (!visited || !time_left(p, (double)(pass + 1) / MOST_PASSES))
            break;
    }
    return 0;
}

/* What has settled beside a neighbour may be otherwise without: so each foot is visited a
 * number of times more, wherever it then comes to lie, and first those of the small caches,
 * which take little time. */
static int sweep_anew(struct probing *p, const struct string *string, struct series *series)
{
    struct edge edges[MAX_LEVELS];
    struct levels levels;
    for (int i = 0; i < p->probed->ncaches; i++)
        for (int pass = 0; pass < ANEW_PASSES && time_left(p, 0); pass++) {
            size_t count = find_edges(series, NULL, MAX_LEVELS, edges, &levels, NULL);
            if (!count)
                return out_of_memory(p);
            if ((size_t)i + 1 < count &&
                sweep_foot(p, string, series, &edges[i], NEVER) < 0)
                return p->error->status;
        }
    return 0;
}

static bool visited_any(const struct series *series)
{
    for (size_t i = 0; i < series->npoints; i++)
        if (series->points[i].n)
            return true;
    return false;
}

static int measure(struct probing *p, struct series *series)
{
    struct string string = {.build = build_cache, .arena = BASE_PAGES};
    double bytes = (double)p->runner->ground[BASE_PAGES].bytes;
    size_t n = grid_size(fmin(LARGEST, 0.75 * bytes));
    int status = add_points(p, series, 0, n, PER_OCTAVE / 2);
    for (int i = 0; i < 3 && !status; i++) {
        if (sweep_once(p, &string, series, 1, 0, INFINITY) < 0 ||
            sweep_once(p, &string, series, 1, 0, LARGE) < 0)
            return p->error->status;
        if (i < 2)
            status = refine(p, series, n);
    }
    if (p->stopped || !visited_any(series))
        return status;
    return status ? status : sweep_all_feet(p, &string, series);
}

/* What the observations so far say. */
static int conclude(struct probing *p, struct series *series)
{
    struct edge edges[MAX_LEVELS];
    struct levels levels;
    struct half *halves = calloc(HALVES, sizeof *halves);
    struct density *found = malloc(sizeof *found);
    size_t count = 0;
    if (halves && found) {
        analyse_halves(p, series, halves);
        count = find_edges(series, NULL, likely_levels(halves), edges, &levels, found);
    }
    int before = p->probed->ncaches, now = (int)fmin((double)count - 1, STRATA_MAX_CACHES);
    if (count && (before == now || !p->levels_fixed)) {
        keep_findings(series, &levels, found);
        for (int i = now; i < before; i++)
            memset(&p->probed->caches[i], 0, sizeof p->probed->caches[i]);
        if (now != before)
            memset(p->least_effective, 0, sizeof p->least_effective);
        p->probed->ncaches = now;
        p->probed->levels = levels_value(series, &levels, edges, halves);
        for (int i = 0; i < now; i++)
            p->probed->caches[i].level = i + 1;
        for (int i = 0; i <= now; i++)
            p->height[i] = edges[i].height;
        set_effective(p, series, &levels, edges, halves);
    }
    free(halves);
    free(found);
    return count ? 0 : out_of_memory(p);
}

/* Where the size is known, no more than that can be used. */
int cap_effective(struct probing *p)
{
    for (int i = 0; i < p->probed->ncaches; i++) {
        struct strata_value *effective = &p->probed->caches[i].effective;
        const struct strata_value *size = &p->probed->caches[i].size;
        if (!effective->known || !size->known || size->confidence < effective->confidence)
            continue;
        effective->low = fmin(effective->low, size->value);
        effective->value = fmin(effective->value, size->value);
        effective->high = fmin(effective->high, size->value);
    }
    return 0;
}

static struct series *series_of(struct probing *p)
{
    static const char title[] = "cache-only string";
    struct series *series = dataset_find(p->probed->data, "cache");
    return series ? series
                  : dataset_add(p->probed->data, "cache", title, "bytes", "cycles");
}

/* A first look, two points an octave and then one: what is known if no more time comes. */
int probe_caches_roughly(struct probing *p)
{
    struct string string = {.build = build_cache, .arena = BASE_PAGES};
    double bytes = (double)p->runner->ground[BASE_PAGES].bytes;
    struct series *series = series_of(p);
    size_t n = grid_size(fmin(COARSE, 0.75 * bytes));
    size_t large = PER_OCTAVE * (size_t)log2(LARGE / SMALLEST);
    int status = series ? add_points(p, series, 0, large < n ? large : n, PER_OCTAVE / 2)
                        : out_of_memory(p);
    if (!status)
        status = add_points(p, series, large, n, PER_OCTAVE);
    if (status)
        return status;
    if (sweep_once(p, &string, series, 1, 0, INFINITY) < 0)
        return p->error->status;
    if (!p->stopped && visited_any(series))
        status = conclude(p, series);
    /* That the points lie far apart says nothing of what others leave. */
    memset(p->least_effective, 0, sizeof p->least_effective);
    return status;
}

int probe_caches(struct probing *p)
{
    struct series *series = series_of(p);
    int status = series ? measure(p, series) : out_of_memory(p);
    if (status || p->stopped)
        return status;
    if (!visited_any(series)) {
        note(p, "the time was over before any cache could be looked for");
        return 0;
    }
    if (late(p))
        note(p, "the time was over before all footprints were tried: there may be more "
                "levels");
    return conclude(p, series);
}

/* A neighbour takes away room for a while, but adds none: what is usable is looked for
 * again at other times, and elsewhere. Without a limit to the time there are none. The
 * number of levels stays once other parts have built on it. */
int probe_caches_again(struct probing *p)
{
    struct string string = {.build = build_cache, .arena = BASE_PAGES};
    struct series *series = dataset_find(p->probed->data, "cache");
    if (!series || !p->probed->ncaches || !time_left(p, 0))
        return 0;
    bool left = leave_by_turns(p);
    int status = isfinite(p->budget) ? sweep_anew(p, &string, series)
                                     : sweep_all_feet(p, &string, series);
    if (left)
        runner_come_back(p->runner);
    return status || p->stopped ? status : conclude(p, series);
}

/* Where the time is limited, some of what is left goes to the outermost cache: neighbours
 * share it, now more, now less, and only time tells how much. */
int probe_last_cache(struct probing *p)
{
    struct string string = {.build = build_cache, .arena = BASE_PAGES};
    struct series *series = dataset_find(p->probed->data, "cache");
    if (!series || !p->probed->ncaches || !isfinite(p->budget))
        return 0;
    const struct strata_value *last = &p->probed->caches[p->probed->ncaches - 1].effective;
    double from = last->value / M_SQRT2, to = 4 * last->value;
    for (int pass = 0; pass < LAST_PASSES && time_left(p, 0); pass++)
        if (sweep_once(p, &string, series, NEVER, from, to) < 0)
            return p->error->status;
    return p->stopped ? 0 : conclude(p, series);
}
