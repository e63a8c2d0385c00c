/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Latencies by the sparse string: within what a level holds and beyond what the one before
 * it does, every visit is served by that level. Visits are so far apart that what was
 * brought in beside one of them is never wanted. Some pages at a time, so that the visits
 * of a page share one miss in the TLBs; and on huge pages, where there are any.
 *
 * Of a ring that is longer than a cache with random replacement, some is still there after
 * a lap. So a quarter of it counts, and the rest, several times over, drives that quarter
 * out of the level before.
 *
 * How far beyond, and how far within, depends on policies and pages: a cache whose pages
 * lie unluckily has sets that are never filled, and others that overflow before it is full.
 * So several footprints are tried, and the flattest place of the curve is taken. The
 * interval has the neighbours of that place in it. */
#include "core/sort.h"
#include "probe/probing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SKIP = 4,       /* lines between visits, at least, where there is memory for that */
    ROW = 4096,     /* bytes: visits are no further apart than the smallest page */
    BLOCK = 8,      /* pages at a time, where nothing is known of the first TLB */
    PRESS = 4,      /* laps over what is to drive out the rest, at the most */
    FOOTPRINTS = 5, /* tried for a level */
    TRIALS = 3,     /* at each, and the time comes three times in a probe… */
    ALONE = 6,      /* …and at one that is tried alone */
    MOST_TRIALS = 64,
};

#define BEYOND   1.6  /* times what the level before holds: the first footprint */
#define WITHIN   0.8  /* of what the level holds: the last one */
#define DRIVEN   4.5  /* times what the level before holds: chance leaves 1% of it */
#define OCTAVE   2    /* from one level to the next, at least */
#define CLEAR    0.92 /* confidence that a prefetcher is there */
#define LEFT     0.03 /* of the time, that may be off where trials agree */
#define MEMORY   6    /* times what the last level holds, or… */
#define ROUGH    2    /* …so many as long as it is not known how far apart is enough */
#define LONGER   4    /* times as long, if that was not enough */
#define FEW_LOST 1.5  /* factor by which the least of all trials may be above a hit */
#define SHARED   1.25 /* factor to both sides that memory may be off from run to run */

/* Base pages that are visited together. */
static size_t block_of(const struct probing *p)
{
    double pages = pages_together(p);
    return pages ? (size_t)pages : BLOCK;
}

/* Where a string lies. Huge pages are visited as if they were base pages: the host of a
 * virtual machine may back them with such, and then they are translated one by one. */
static struct ground ground_of(const struct probing *p, const struct string *s)
{
    struct ground ground = p->runner->ground[s->arena];
    ground.page = p->runner->ground[BASE_PAGES].page;
    ground.line = s->a;
    return ground;
}

/* a: bytes that a visit takes up: visits begin at multiples of that, because that is how
 * pairs were looked at. What a visit brings in reaches further where it begins elsewhere.
 * b: from one visit to the next, in those. x: visits. */
static int build_sparse(struct probing *p, const struct string *s, double x)
{
    struct ground ground = ground_of(p, s);
    return refs_sparse(&p->refs, &ground, &p->rng, (uint64_t)x * s->a, s->b, block_of(p));
}

/* Under pressure. more: the laps. */
static int build_pressed(struct probing *p, const struct string *s, double x)
{
    struct ground ground = ground_of(p, s);
    return refs_sparse_pressed(&p->refs, &ground, &p->rng, (uint64_t)x * s->a, s->b,
                               block_of(p), *(const size_t *)s->more);
}

/* Bytes that a visit takes up in a level at least: its line. The level behind the last one
 * is memory. */
static double line_of(const struct probing *p, int level)
{
    double most = (double)p->runner->ground[BASE_PAGES].line;
    for (int i = 0; i <= level && i < p->probed->ncaches; i++)
        if (p->probed->caches[i].line.known)
            most = fmax(most, p->probed->caches[i].line.value);
    return most;
}

/* At the most: with what prefetchers bring in there or before, where it is clear that they
 * do. */
static double taken(const struct probing *p, int level)
{
    double most = line_of(p, level);
    for (int i = 0; i <= level && i < p->probed->ncaches; i++) {
        const struct strata_value *wide = &p->probed->caches[i].effective_line;
        if (wide->known && wide->confidence >= CLEAR && !p->alone[i])
            most = fmax(most, wide->value);
    }
    return most;
}

/* What a visit to a level takes up in it and in those before, as the string is built. */
static double unit_of(const struct probing *p, int level)
{
    return fmin(taken(p, level), ROW);
}

/* Visits to `level` that an inner one, or this one, has room for, at the least: those that
 * begin at multiples of the unit share their sets with nothing else. At the most, where
 * sets are not chosen by the address alone, each takes up a line. */
static double room(const struct probing *p, int inner, int level)
{
    return p->probed->caches[inner].effective.value / unit_of(p, level);
}

static double most_room(const struct probing *p, int level)
{
    return p->probed->caches[level].effective.value / line_of(p, level);
}

/* The same of what it may hold rather than of what can be relied on: of a cache with random
 * replacement the latter is less. */
static double top_room(const struct probing *p, int level)
{
    return p->probed->caches[level].effective.high / line_of(p, level);
}

/* Visits to a level that it may have room for. */
static double reach(const struct probing *p, int level)
{
    return p->probed->caches[level].effective.high / unit_of(p, level);
}

/* What translation adds to a visit of a string of so many: the first one in each page may
 * miss in the TLBs. */
static double translation(const struct probing *p, const struct string *s, double visits)
{
    const struct ground *ground = &p->runner->ground[BASE_PAGES];
    double in_page = (double)(ground->page / s->a / s->b), cost = 0;
    for (int i = 0; i < p->probed->ntlbs; i++) {
        const struct strata_probed_tlb *tlb = &p->probed->tlbs[i];
        if (tlb->page == ground->page && tlb->entries.known && tlb->penalty_cycles.known &&
            visits / in_page > tlb->entries.value)
            cost = tlb->penalty_cycles.value;
    }
    return cost / in_page;
}

/* Bytes from one visit to the next that are more than enough: not every prefetcher was
 * seen. */
static double far_apart(const struct ground *ground, double brought)
{
    return fmin(ROW, fmax(SKIP * (double)ground->line, 2 * brought));
}

/* Bytes from one visit to the next: more than those brought in where there is memory for
 * that. */
static double apart(const struct ground *ground, double brought, double visits)
{
    double most = far_apart(ground, brought);
    while (2 * brought <= most && visits * 2 * brought <= (double)ground->bytes)
        brought *= 2;
    return brought;
}

/* Visits that take up so much and bring in so much. */
static struct string plan(const struct probing *p, double visits, double unit,
                          double brought)
{
    enum arena arena = HUGE_PAGES;
    if ((double)p->runner->ground[arena].bytes < visits * brought)
        arena = BASE_PAGES;
    double skip = apart(&p->runner->ground[arena], brought, visits) / unit;
    return (struct string){
        .build = build_sparse, .arena = arena, .a = (uint64_t)unit, .b = (uint64_t)skip};
}

/* The most visits for which there is memory. */
static double most_visits(const struct probing *p, int level)
{
    const struct ground *ground = p->runner->ground;
    double bytes = fmax((double)ground[BASE_PAGES].bytes, (double)ground[HUGE_PAGES].bytes);
    return floor(bytes / unit_of(p, level));
}

/* Visits that memory is measured with: several times as many as the last level may hold,
 * but at first rather fewer than close together. */
static double memory_visits(const struct probing *p, int level, bool roughly)
{
    const struct ground *ground = p->runner->ground;
    double bytes = fmax((double)ground[BASE_PAGES].bytes, (double)ground[HUGE_PAGES].bytes);
    double visits = bytes / far_apart(&ground[BASE_PAGES], unit_of(p, level));
    double fits = top_room(p, level - 1);
    return roughly ? fmax(ROUGH * fits, fmin(visits, MEMORY * fits)) : MEMORY * fits;
}

/* The visits with which a level is measured: at most so many numbers. They are more than
 * the level before has room for at the most and less than this one has at the least; where
 * prefetchers leave nothing between these two, more than that has at the least. Where that
 * is less than an octave, as many more as this one may have room for. */
static size_t footprints(const struct probing *p, int level, size_t at_most, double *visits)
{
    double most = most_visits(p, level), low, high;
    if (!level || level == p->probed->ncaches) {
        *visits = level                ? memory_visits(p, level, at_most == 1)
                  : p->probed->ncaches ? room(p, 0, 0) / 8
                                       : most;
        *visits = floor(fmax(1, fmin(*visits, most)));
        return 1;
    }
    low = BEYOND * most_room(p, level - 1);
    high = WITHIN * room(p, level, level);
    if (high < 1.2 * low)
        low = BEYOND * room(p, level - 1, level);
    high = fmin(fmax(high, fmin(WITHIN * reach(p, level), OCTAVE * low)), most);
    if (at_most == 1 || high < 1.1 * low) {
        /* Prefetchers that were not yet seen take room, too. */
        *visits = floor(fmin(low, most));
        return 1;
    }
    for (int i = 0; i < FOOTPRINTS; i++)
        visits[i] = floor(low * pow(high / low, (double)i / (FOOTPRINTS - 1)));
    return FOOTPRINTS;
}

/* Not the least, but one of the least: disturbances and unlucky pages make a trial longer,
 * but a dirty clock errs both ways. */
static struct strata_value judge(const struct point *point)
{
    double sorted[MOST_TRIALS];
    size_t n = point->n < MOST_TRIALS ? point->n : MOST_TRIALS;
    if (!n)
        return no_time();
    memcpy(sorted, point->y, n * sizeof *sorted);
    sort_ascending(sorted, n);
    double value = sorted[n / 8], high = sorted[n * 3 / 4];
    double factor = spread_factor(value, sorted[0], fmax(value, high));
    return known(value, value / factor, value * factor, 1 - exp2(1 - (double)n));
}

/* Whether more trials will not tell anything: all so far gave the same to the cycle, or
 * twice as many the same to a twentieth. */
static bool certain(const struct point *point, size_t trials)
{
    struct strata_value value = judge(point);
    double width = value.high - value.low;
    return (point->n >= trials && width < 0.5) ||
           (point->n >= 2 * trials && width < value.value / 20);
}

/* Laps over the rest of a ring of so many visits that drive out of the level before what
 * counts. */
static size_t press(const struct probing *p, int level, double visits)
{
    double rest = visits * 3 / 4;
    return (size_t)fmax(1, fmin(PRESS, ceil(DRIVEN * most_room(p, level - 1) / rest)));
}

/* The string with which a level is measured. */
static struct string pressed(const struct probing *p, int level, double visits,
                             const size_t *laps)
{
    double unit = unit_of(p, level);
    struct string string = plan(p, visits, unit, unit);
    string.build = build_pressed;
    string.more = laps;
    return string;
}

/* One trial; a rough one is not under pressure, which takes longer. */
static int measure(struct probing *p, struct point *point, int level, bool roughly)
{
    double visits = point->x, cycles;
    size_t laps = level ? press(p, level, visits) : 0;
    struct string string = pressed(p, level, visits, &laps);
    if (!level || roughly)
        string.build = build_sparse;
    int status = try_string(p, &string, visits, &cycles);
    if (status)
        return status;
    if (string.arena == BASE_PAGES || p->splintered)
        cycles = fmax(1, cycles - translation(p, &string, visits));
    return point_add(point, cycles) ? out_of_memory(p) : 0;
}

static struct series *series_of(struct probing *p, const char *kind, int level)
{
    char name[32], title[80];
    snprintf(name, sizeof name, "%s%d", kind, level + 1);
    if (level < p->probed->ncaches)
        snprintf(title, sizeof title, "latency of L%d", level + 1);
    else
        snprintf(title, sizeof title, "latency of memory");
    struct series *series = dataset_find(p->probed->data, name);
    return series ? series : dataset_add(p->probed->data, name, title, "visits", "cycles");
}

/* Visits from one visit to a place until the next. */
static double visits_between(double visits, size_t laps)
{
    return visits * (1 + 3 * (double)laps) / 4;
}

/* What others cost who take lines out of the last cache between two visits to them: the
 * more, the longer that is. So the shortest string is pressed as usual and half as much. */
static int measure_losses(struct probing *p)
{
    int level = p->probed->ncaches - 1, status = 0;
    const struct series *series = level > 0 ? series_of(p, "latency", level) : NULL;
    if (!series || !series->npoints || !isfinite(p->budget))
        return 0;
    double visits = series->points[0].x, cycles[2], between[2];
    for (int i = 0; i < 2 && !status; i++) {
        size_t laps = press(p, level, visits) / (i ? 2 : 1);
        laps = laps ? laps : 1;
        between[i] = visits_between(visits, laps);
        struct string string = pressed(p, level, visits, &laps);
        status = try_best(p, &string, visits, TRIALS, &cycles[i]);
    }
    if (!status && between[0] > between[1])
        p->losses = fmax(0, (cycles[0] - cycles[1]) / (between[0] - between[1]));
    return status;
}

/* What a visit must cost that is served by this level rather than by the one before: more
 * than the middle between what the cache-only string costs at the two, because that gains
 * from prefetching and this one does not. */
static double least_cost(const struct probing *p, int level)
{
    return level ? sqrt(p->height[level - 1] * p->height[level]) : 0;
}

/* Whether any footprint of the series is beyond the level before, or none was tried. */
static bool reaches(const struct probing *p, const struct series *series, int level)
{
    size_t tried = 0;
    for (size_t i = 0; i < series->npoints; i++) {
        struct strata_value now = judge(&series->points[i]);
        if (now.known && now.value > least_cost(p, level))
            return true;
        tried += now.known;
    }
    return !tried;
}

/* A latency curve of one level. */
struct view {
    size_t n;
    struct strata_value cycles[FOOTPRINTS];
};

/* What a visit may cost that is served by this level rather than by what is behind it: a
 * miss costs a quarter more than a hit, at least. */
static double most_cost(const struct probing *p, int level)
{
    const struct strata_value *next =
        level < p->probed->ncaches ? latency_behind(p, level) : NULL;
    return next && next->known ? next->value / exp2(LEAST_RISE) : INFINITY;
}

/* The footprints that are beyond the level before, or all if none seems to be, and not
 * beyond this one. */
static struct view view_of(const struct probing *p, const struct series *series, int level)
{
    struct view view = {.n = 0};
    double least = reaches(p, series, level) ? least_cost(p, level) : 0;
    for (size_t i = 0; i < series->npoints && view.n < FOOTPRINTS; i++) {
        struct strata_value now = judge(&series->points[i]);
        if (now.known && now.value >= least && now.value <= most_cost(p, level))
            view.cycles[view.n++] = now;
    }
    return view;
}

/* How steep the curve is around the point i: footprints are evenly spaced. The steeper side
 * counts, so that a point that is off by itself is not taken for a flat place. */
static double steepness(const struct view *view, size_t i)
{
    double here = view->cycles[i].value, most = 0;
    if (i)
        most = fabs(log(here / view->cycles[i - 1].value));
    if (i + 1 < view->n)
        most = fmax(most, fabs(log(view->cycles[i + 1].value / here)));
    return most;
}

/* The point with the flattest surroundings; the ends have none. */
static size_t flattest(const struct view *view)
{
    size_t best = view->n / 2;
    for (size_t i = 1; i + 1 < view->n; i++)
        if (steepness(view, i) < steepness(view, best))
            best = i;
    return best;
}

/* The value at the flattest point, in an interval that holds the neighbours, and as much on
 * the other side: where it is not quite flat, the curve may go on as it came. At least half
 * a cycle, because latencies are whole ones, and what strings leave behind. */
static struct strata_value conclude(const struct view *view, size_t at)
{
    struct strata_value value = view->cycles[at];
    double wrong = 1, off = fmax(0.5, LEFT * value.value);
    for (size_t i = at ? at - 1 : at; i <= at + 1 && i < view->n; i++) {
        off = fmax(off, fabs(view->cycles[i].value - value.value));
        wrong *= 1 - view->cycles[i].confidence;
    }
    value.confidence = 1 - wrong;
    value.low = fmin(value.low, fmax(1, value.value - off));
    value.high = fmax(value.high, value.value + off);
    return value;
}

/* Whether others share the outermost cache, by the octave that its interval then has. */
static bool is_shared(const struct probing *p)
{
    const struct strata_value *last = &p->probed->caches[p->probed->ncaches - 1].effective;
    return isfinite(p->budget) && last->known && last->high >= 2 * last->value;
}

/* Neighbours use the same memory, now more, now less, and the trials of a latency are made
 * in a short time. But the largest footprints of the cache-only string, far beyond the last
 * level, were visited now and then in the whole course of the probe: as much as those of
 * the last octave differ, so may this. Where others share the last cache as well, what they
 * do changes from minute to minute: a quarter at least. */
static void allow_for_drift(const struct probing *p, struct strata_value *memory)
{
    const struct series *series = dataset_find(p->probed->data, "cache");
    double seen[MOST_TRIALS];
    size_t n = 0;
    if (!series || !p->probed->ncaches || !memory->known)
        return;
    double from = fmax(series->points[series->npoints - 1].x / 2,
                       2 * p->probed->caches[p->probed->ncaches - 1].effective.high);
    for (size_t i = 0; i < series->npoints; i++)
        for (size_t j = 0; j < series->points[i].n && n < MOST_TRIALS; j++)
            if (series->points[i].x > from)
                seen[n++] = series->points[i].y[j];
    double factor = is_shared(p) ? SHARED : 1;
    sort_ascending(seen, n);
    if (n)
        factor = fmax(factor, spread_factor(seen[n / 2], seen[0], seen[n - 1]));
    memory->low = fmin(memory->low, memory->value / factor);
    memory->high = fmax(memory->high, memory->value * factor);
}

static bool was_tried(const struct series *series)
{
    size_t n = 0;
    for (size_t i = 0; i < series->npoints; i++)
        n += series->points[i].n;
    return n > 0;
}

/* Where every visit was lost to what is behind a level, because others use it: no less than
 * the cache-only string, which gains from prefetching, and no more than a miss. A plain
 * chase is shorter, and may have found some of it. */
static struct strata_value between(struct probing *p, int level)
{
    double low = p->height[level], high = most_cost(p, level), value;
    if (!(high > low))
        return unknown("others use this level: every visit to it was lost to the next one");
    note(p, "L%d: others use it: visits to it were mostly lost to what is behind it",
         level + 1);
    if (!witness_within(p, level, low, high, &value))
        value = sqrt(low * high);
    return known(value, low, latency_behind(p, level)->value, 0.5);
}

/* The least that a visit to a level took in any trial, of this string or of a plain chase,
 * which is shorter. */
static double least_seen(struct probing *p, const struct series *series, int level)
{
    double least = INFINITY, plain;
    for (size_t i = 0; i < series->npoints; i++)
        for (size_t j = 0; j < series->points[i].n; j++)
            if (series->points[i].y[j] > least_cost(p, level))
                least = fmin(least, series->points[i].y[j]);
    if (witness_within(p, level, least_cost(p, level), least, &plain))
        least = plain;
    return least;
}

/* Others that use the outermost cache take lines away between two visits, in all trials if
 * they do not rest: a hit takes less than what is seen, by what was lost. Where they are
 * seen, the least of all trials is nearest to one; few of its lines were lost. */
static void allow_for_others(struct probing *p, const struct series *series, int level,
                             struct strata_value *value)
{
    if (level + 1 != p->probed->ncaches || !series->npoints)
        return;
    if (is_shared(p) || p->losses > 0)
        value->value = fmin(value->value, least_seen(p, series, level));
    double longest = series->points[series->npoints - 1].x;
    double lost = p->losses * visits_between(longest, press(p, level, longest));
    double least = fmax(least_cost(p, level), value->value / FEW_LOST);
    value->low = fmin(value->low, fmax(least, value->value - lost));
    if (is_shared(p))
        value->low = fmin(value->low, fmax(least, p->height[level]));
}

/* What contradicts the cache-only string or a plain chase is not sure. */
static struct strata_value latency_of(struct probing *p, const struct series *series,
                                      int level)
{
    struct view view = view_of(p, series, level);
    bool memory = level == p->probed->ncaches, first = !level;
    struct strata_value value = view.n ? conclude(&view, flattest(&view)) : no_time();
    if (!view.n && was_tried(series) && !memory && !first)
        value = between(p, level);
    if (value.known && !reaches(p, series, level))
        value.confidence = fmin(value.confidence, 0.5);
    if (memory)
        allow_for_drift(p, &value);
    else if (!first && value.known) {
        allow_for_others(p, series, level, &value);
        ask_witness(p, level, &value);
    }
    return value;
}

/* The points of a level's series are chosen once. Memory gets a longer ring where the last
 * level holds more of it than could be relied on: neighbours leave it more at times. */
static int add_points(struct probing *p, struct series *series, int level, size_t at_most)
{
    double visits[FOOTPRINTS];
    size_t n = series->npoints ? 0 : footprints(p, level, at_most, visits);
    if (!n && level == p->probed->ncaches && !reaches(p, series, level)) {
        double longest = series->points[series->npoints - 1].x;
        visits[n++] = fmin(LONGER * longest, most_visits(p, level));
    }
    for (size_t i = 0; i < n; i++)
        if (!series_at(series, visits[i]))
            return out_of_memory(p);
    return 0;
}

/* A rough answer is better than none. */
static void answer(struct probing *p, int level, struct strata_value cycles)
{
    struct strata_probed *probed = p->probed;
    bool memory = level == probed->ncaches;
    struct strata_value *to =
        memory ? &probed->memory_cycles : &probed->caches[level].latency_cycles;
    if (to->known && !cycles.known)
        return;
    *to = cycles;
    *(memory ? &probed->memory_ns : &probed->caches[level].latency_ns) = in_ns(p, cycles);
}

/* One trial of each footprint of a level, where more of them can tell something. */
static int measure_level(struct probing *p, struct series *series, int level, int turn,
                         bool roughly)
{
    size_t trials = series->npoints > 1 ? TRIALS : ALONE;
    int status = 0;
    for (size_t i = 0; !status && i < series->npoints && !late(p); i++)
        if ((size_t)turn < trials && !certain(&series->points[i], trials))
            status = measure(p, &series->points[i], level, roughly);
    return status;
}

/* All levels by turns, so that a disturbance does not hit all the trials of one. */
static int measure_all(struct probing *p, const char *kind, int turns, size_t at_most)
{
    int n = p->probed->ncaches, status = 0;
    for (int t = 0; t < turns && !status; t++) {
        bool enough = !time_left(p, (double)t / turns) && t >= TRIALS;
        for (int i = 0; i <= n && !status && !enough && !late(p); i++) {
            struct series *series = series_of(p, kind, i);
            status = series ? add_points(p, series, i, at_most) : out_of_memory(p);
            if (!status)
                status = measure_level(p, series, i, t, at_most == 1);
        }
    }
    return status;
}

/* From memory inwards: what is behind a level says what a miss there costs. */
static int answer_all(struct probing *p, const char *kind)
{
    for (int i = p->probed->ncaches; i >= 0; i--) {
        struct series *series = series_of(p, kind, i);
        if (!series)
            return out_of_memory(p);
        answer(p, i, latency_of(p, series, i));
    }
    return 0;
}

/* What the lines are looked for with: which prefetchers there are is not yet known. */
int probe_latencies_roughly(struct probing *p)
{
    int status = measure_all(p, "rough", 1, 1);
    return status ? status : answer_all(p, "rough");
}

/* Whether visits to a level take up no more than their lines there, although of a pair the
 * second one was brought in with the first: as many as there are lines still fit, so far
 * apart that what else is brought in would take up room of its own. */
static int lies_alone(struct probing *p, int i, bool *alone)
{
    const struct strata_probed *probed = p->probed;
    const struct strata_probed_cache *cache = &probed->caches[i];
    const struct strata_value *here = &cache->latency_cycles;
    const struct strata_value *next = i + 1 == probed->ncaches
                                          ? &probed->memory_cycles
                                          : &probed->caches[i + 1].latency_cycles;
    double visits = floor(WITHIN * most_room(p, i)), cycles;
    struct string string = plan(p, visits, line_of(p, i), unit_of(p, i));
    size_t laps = PRESS;
    string.build = build_pressed;
    string.more = &laps;
    *alone = false;
    if (visits < 1 || visits > most_visits(p, i) || !here->known || !next->known)
        return 0;
    int status = try_best(p, &string, visits, TRIALS, &cycles);
    *alone = !status && cycles < sqrt(here->value * next->value);
    return status;
}

int probe_room(struct probing *p)
{
    int status = 0;
    for (int i = 0; i < p->probed->ncaches && !status && !late(p); i++) {
        const struct strata_value *wide = &p->probed->caches[i].effective_line;
        if (wide->known && wide->value > line_of(p, i))
            status = lies_alone(p, i, &p->alone[i]);
    }
    return status;
}

int probe_latencies(struct probing *p)
{
    int status = measure_all(p, "latency", ALONE, FOOTPRINTS);
    for (int i = 1; i < p->probed->ncaches && !status && !late(p); i++)
        status = hear_witness(p, i);
    if (!status && !late(p))
        status = measure_losses(p);
    return status ? status : answer_all(p, "latency");
}
