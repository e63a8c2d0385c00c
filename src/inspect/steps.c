/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Walks through memory: an event's curve over the size of what is walked through is reduced
 * to its transitions, and these to levels.
 *
 * A curve is a count a visit, less its least value: what does not depend on the size says
 * nothing about caches. It is a step curve where nearly all of it is near 0 or near 1. The
 * sizes at which step curves change, of all events together, are the edges of levels; the
 * middle of a curve between two edges is a plateau. An event of a cache is one with a step
 * in a chase through bytes; one of a TLB has steps only where each visit is to another
 * page.
 *
 * Where a prefetcher acts on every miss, a chase by lines hits what was fetched beside the
 * line that missed, and curves are no steps. So it is also done by units of two and four
 * lines, and an event is judged by the smallest at which it has steps. There, each miss
 * fetches as much as it misses, so that what is fetched looks like what missed: two walks
 * tell these apart. With half a lap between neighbours, the neighbour of a line that misses
 * is still there, and is not fetched. And of pages that take turns, a prefetcher follows
 * only so many. */
#include "core/sort.h"
#include "inspect/fit.h"
#include "inspect/inner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 128, EDGES = 1024 };

#define LOW          0.25 /* below it, a curve is at 0; above 1 - LOW, at 1 */
#define FULL         0.1  /* around 1: one a visit, or none */
#define OCTAVES      0.9  /* edges that are nearer are one: levels differ by two or more */
#define INNER        1.4 /* points nearer to an edge than this factor are not on a plateau */
#define PREFETCHING  0.15 /* lines a visit, in ascending order */
#define STEADY       0.6  /* of the most that is prefetched, anywhere beyond an edge */
#define ALL_REQUESTS 0.9  /* lines a visit that came in by any way */
#define BEYOND       1.4  /* times an edge: beyond it, and less than twice as far */

struct curve {
    size_t n;
    double x[POINTS], y[POINTS];
};

static void take_curve(const struct counts_table *table, size_t event, enum run_kind kind,
                       uint32_t kernel, struct curve *curve)
{
    curve->n = event_points(table, event, kind, kernel, curve->x, curve->y, POINTS);
}

static void subtract_least(double *y, size_t n)
{
    double least = INFINITY;
    for (size_t i = 0; i < n; i++)
        least = fmin(least, y[i]);
    for (size_t i = 0; i < n; i++)
        y[i] -= least;
}

/* Whether it jumps between 0 and 1; a jump may take two points between. */
static bool is_step(const struct curve *curve)
{
    size_t between = 0, changes = 0;
    double most = 0;
    for (size_t i = 0; i < curve->n; i++) {
        most = fmax(most, curve->y[i]);
        between += curve->y[i] > LOW && curve->y[i] < 1 - LOW;
        changes += i && (curve->y[i] > 0.5) != (curve->y[i - 1] > 0.5);
    }
    return most > 1 - LOW && most < 1 + LOW && changes && changes <= 2 &&
           between <= 3 * changes;
}

/* Edges of step curves. */

struct edges {
    size_t n;
    double at[EDGES]; /* log2 */
};

static void add_edges(struct edges *edges, const struct curve *curve)
{
    for (size_t i = 1; i < curve->n; i++)
        if ((curve->y[i] > 0.5) != (curve->y[i - 1] > 0.5) && edges->n < EDGES)
            edges->at[edges->n++] = (log2(curve->x[i - 1]) + log2(curve->x[i])) / 2;
}

/* Neighbours become one, in their middle. Returns how many there are. */
static size_t join_edges(struct edges *edges, struct found_level *levels)
{
    size_t n = 0;
    sort_ascending(edges->at, edges->n);
    for (size_t i = 0; i < edges->n && n < LEVELS;) {
        size_t first = i;
        while (i < edges->n && edges->at[i] - edges->at[first] < OCTAVES)
            i++;
        levels[n++] = (struct found_level){.edge = exp2(edges->at[first + (i - first) / 2]),
                                           .reach = NAN};
    }
    return n;
}

static bool take_steps(const struct counts_table *table, size_t event, enum run_kind kind,
                       uint32_t kernel, struct curve *curve)
{
    take_curve(table, event, kind, kernel, curve);
    subtract_least(curve->y, curve->n);
    return is_step(curve);
}

static void steps_in(const struct counts_table *table, size_t event, enum run_kind kind,
                     uint32_t kernel, struct edges *edges)
{
    struct curve curve;
    if (take_steps(table, event, kind, kernel, &curve))
        add_edges(edges, &curve);
}

/* Whether steps go from nothing to one a visit, and end at either: not at what a prefetcher
 * leaves. */
static bool is_full(const struct curve *curve)
{
    double high[POINTS];
    size_t n = 0;
    for (size_t i = 0; i < curve->n; i++)
        if (curve->y[i] > 0.5)
            high[n++] = curve->y[i];
    sort_ascending(high, n);
    double last = curve->n ? curve->y[curve->n - 1] : 0;
    return n && fabs(high[n / 2] - 1) < FULL && !(last > LOW && last < 1 - LOW);
}

/* The smallest unit by which walks of either kind have steps; 0: none has. */
static uint32_t unit_of_steps(const struct counts_table *table, size_t event, bool full)
{
    static const enum run_kind kinds[] = {RUN_READ, RUN_WRITE};
    struct curve curve;
    for (const uint32_t *lines = plan_units; *lines; lines++)
        for (size_t i = 0; i < 2; i++)
            if (take_steps(table, event, kinds[i], *lines, &curve) &&
                (!full || is_full(&curve)))
                return *lines;
    return 0;
}

static uint32_t find_unit(const struct counts_table *table, size_t event)
{
    uint32_t unit = unit_of_steps(table, event, true);
    return unit ? unit : unit_of_steps(table, event, false);
}

static int find_edges(const struct counts_table *table, struct findings *findings)
{
    struct edges *caches = calloc(2, sizeof *caches);
    if (!caches)
        return -1;
    struct edges *tlbs = caches + 1;
    for (size_t i = 0; i < table->nevents; i++) {
        struct finding *finding = &findings->events[i];
        finding->unit = plan_units[0];
        if (!finding->moved || finding->without_memory)
            continue;
        uint32_t unit = find_unit(table, i);
        if (unit) {
            finding->unit = unit;
            steps_in(table, i, RUN_READ, unit, caches);
            steps_in(table, i, RUN_WRITE, unit, caches);
            continue;
        }
        steps_in(table, i, RUN_PAGES, 0, tlbs);
        steps_in(table, i, RUN_PAGES_WRITE, 0, tlbs);
    }
    findings->ncaches = join_edges(caches, findings->caches);
    findings->ntlbs = join_edges(tlbs, findings->tlbs);
    free(caches);
    return 0;
}

/* Plateaus. */

/* The median of the points between two edges that are near neither. */
static double plateau(const struct curve *curve, double from, double to)
{
    double inner[POINTS], nearest = NAN, distance = INFINITY;
    size_t n = 0;
    for (size_t i = 0; i < curve->n; i++) {
        double middle = fabs(log2(curve->x[i]) - (log2(from) + log2(to)) / 2);
        if (curve->x[i] > from * INNER && curve->x[i] < to / INNER)
            inner[n++] = curve->y[i];
        if (middle < distance) {
            distance = middle;
            nearest = curve->y[i];
        }
    }
    if (!n)
        return nearest;
    sort_ascending(inner, n);
    return inner[n / 2];
}

static void plateaus(const struct counts_table *table, size_t event, enum run_kind kind,
                     uint32_t kernel, const struct found_level *levels, size_t n,
                     double *heights)
{
    struct curve curve;
    take_curve(table, event, kind, kernel, &curve);
    for (size_t i = 0; i <= n; i++) {
        double from = i ? levels[i - 1].edge : curve.x[0] / 2;
        double to = i < n ? levels[i].edge : curve.x[curve.n ? curve.n - 1 : 0] * 2;
        heights[i] = curve.n ? plateau(&curve, from, to) : 0;
    }
    if (kind != RUN_ASCEND && kind != RUN_PAIRS)
        subtract_least(heights, n + 1);
}

static void take_signature(const struct counts_table *table, size_t event,
                           const struct findings *findings, struct finding *finding)
{
    const struct found_level *caches = findings->caches, *tlbs = findings->tlbs;
    const struct {
        enum run_kind kind;
        uint32_t kernel;
        bool pages;
        double *heights;
    } rows[] = {
        {RUN_READ, finding->unit, false, finding->walks.read},
        {RUN_WRITE, finding->unit, false, finding->walks.write},
        {RUN_ASCEND, 0, false, finding->walks.ahead[0]},
        {RUN_PAIRS, 0, false, finding->walks.ahead[1]},
        {RUN_PAGES, 0, true, finding->walks.pages},
        {RUN_PAGES_WRITE, 0, true, finding->walks.pages_write},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        plateaus(table, event, rows[i].kind, rows[i].kernel, rows[i].pages ? tlbs : caches,
                 rows[i].pages ? findings->ntlbs : findings->ncaches, rows[i].heights);
}

/* Categories. */

static const struct {
    const char *name, *label;
    bool load, store;
} operations[] = {
    {".load", "loads", true, false},
    {".store", "stores", false, true},
    {"", "loads and stores", true, true},
};

/* Scores a level's hits or misses: `visits` has the plateaus of reads, then of writes. */
static void score_row(struct finding *finding, const char *what, size_t level, size_t n,
                      bool hit, const double *visits)
{
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++) {
        double expected[2 * PLATEAUS];
        char name[CATEGORY_NAME], label[CATEGORY_LABEL];
        for (size_t j = 0; j <= n; j++) {
            double there = hit ? j + 1 == level : j + 1 > level;
            expected[j] = operations[o].load ? there : 0;
            expected[n + 1 + j] = operations[o].store ? there : 0;
        }
        snprintf(name, sizeof name, "%s%zu.%s%s", what, level, hit ? "hit" : "miss",
                 operations[o].name);
        snprintf(label, sizeof label, "%s that %s %s%s%zu", operations[o].label,
                 hit ? "hit" : "miss", hit ? "in " : "", what, level);
        finding_score(finding, FAMILY_MEMORY, name, label,
                      goodness(visits, expected, 2 * (n + 1)));
    }
}

static void score_levels(struct finding *finding, const char *what, size_t n,
                         const double *read, const double *write)
{
    double visits[2 * PLATEAUS];
    memcpy(visits, read, (n + 1) * sizeof *visits);
    memcpy(visits + n + 1, write, (n + 1) * sizeof *visits);
    for (size_t level = 1; level <= n; level++) {
        score_row(finding, what, level, n, true, visits);
        score_row(finding, what, level, n, false, visits);
    }
}

static double most_of(const double *values, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(values[i]));
    return most;
}

static bool is_still(const struct walk_signature *s, size_t n)
{
    return most_of(s->read, n + 1) < LOW && most_of(s->write, n + 1) < LOW;
}

/* What random walks do not count, but those in an order from a size on: lines that are
 * fetched ahead, into the level that the size is beyond. 0: none. */
static size_t prefetched_level(const double *ahead, size_t n)
{
    size_t level = 0;
    while (level <= n && ahead[level] < PREFETCHING)
        level++;
    for (size_t j = level; j <= n; j++)
        if (ahead[j] < PREFETCHING || ahead[j] > 2)
            return 0;
    return level <= n ? level : 0;
}

/* Whether the points beyond an edge are all near each other: a prefetcher does the same
 * again and again, and what only happens now and then does not. */
static bool is_steady(const struct counts_table *table, size_t event, enum run_kind kind,
                      double edge)
{
    struct curve curve;
    double least = INFINITY, most = 0;
    take_curve(table, event, kind, 0, &curve);
    for (size_t i = 0; i < curve.n; i++)
        if (curve.x[i] > edge * INNER) {
            least = fmin(least, curve.y[i]);
            most = fmax(most, curve.y[i]);
        }
    return most > 0 && least > STEADY * most;
}

/* Whether it counts in loops that touch but a few lines. */
static bool counts_in_loops(const struct counts_table *table, const struct finding *finding)
{
    for (size_t k = 0; k < table->matrices->branches.nkernels; k++)
        if (fabs(finding->slopes[k] * finding->r2[k]) > 0.02)
            return true;
    return false;
}

/* What is counted a visit at the size that is nearest to one, on a logarithmic scale. */
static double height_near(const struct counts_table *table, size_t event,
                          enum run_kind kind, uint32_t kernel, double size)
{
    struct curve curve;
    double height = NAN, distance = INFINITY;
    take_curve(table, event, kind, kernel, &curve);
    for (size_t i = 0; i < curve.n; i++)
        if (fabs(log2(curve.x[i] / size)) < distance) {
            distance = fabs(log2(curve.x[i] / size));
            height = curve.y[i];
        }
    return height;
}

/* The level beyond whose edge it counts while few pages take turns, but not while more do
 * than are followed. 0: none, or not known. */
static size_t followed_level(const struct counts_table *table, size_t event,
                             const struct findings *findings)
{
    enum { FEW = 16, MANY = 64 };
    /* what a small TLB holds is visited within the first cache, too */
    double within = findings->caches[0].edge / (2 * BEYOND);
    if (height_near(table, event, RUN_BLOCKS, FEW, within) >= PREFETCHING)
        return 0;
    for (size_t level = 1; level <= findings->ncaches; level++) {
        double size = findings->caches[level - 1].edge * 2 * BEYOND;
        double few = height_near(table, event, RUN_BLOCKS, FEW, size);
        double many = height_near(table, event, RUN_BLOCKS, MANY, size);
        if (few >= PREFETCHING)
            return many < few / 4 ? level : 0;
    }
    return 0;
}

static void note_prefetch(struct finding *finding, size_t level, double value)
{
    char name[CATEGORY_NAME], label[CATEGORY_LABEL];
    snprintf(name, sizeof name, "L%zu.prefetch", level);
    snprintf(label, sizeof label, "lines that are prefetched into L%zu", level);
    finding_score(finding, FAMILY_MEMORY, name, label, value);
}

/* By the orders of visits, where a walk by chance prefetches nothing. */
static size_t ordered_level(const struct counts_table *table, size_t event,
                            const struct findings *findings, const struct finding *finding)
{
    const struct walk_signature *s = &finding->walks;
    size_t n = findings->ncaches;
    size_t first = prefetched_level(s->ahead[0], n),
           second = prefetched_level(s->ahead[1], n);
    size_t level = !first || (second && second < first) ? second : first;
    if (!level || !is_still(s, n) ||
        !is_steady(table, event, level == first ? RUN_ASCEND : RUN_PAIRS,
                   findings->caches[level - 1].edge))
        return 0;
    return level;
}

static void score_prefetch(const struct counts_table *table, size_t event,
                           const struct findings *findings, struct finding *finding)
{
    const struct walk_signature *s = &finding->walks;
    double nothing[2 * PLATEAUS] = {0}, visits[2 * PLATEAUS];
    size_t n = findings->ncaches;
    if (counts_in_loops(table, finding))
        return;
    size_t level = ordered_level(table, event, findings, finding);
    memcpy(visits, s->read, (n + 1) * sizeof *visits);
    memcpy(visits + n + 1, s->write, (n + 1) * sizeof *visits);
    if (level)
        note_prefetch(finding, level, goodness(visits, nothing, 2 * (n + 1)));
    else if ((level = followed_level(table, event, findings)) != 0)
        note_prefetch(finding, level, 1);
}

static bool is_flat(const double *values, size_t n)
{
    return most_of(values, n) < LOW;
}

static void score_event(const struct counts_table *table, size_t event,
                        const struct findings *findings, struct finding *finding)
{
    const struct walk_signature *s = &finding->walks;
    size_t caches = findings->ncaches, tlbs = findings->ntlbs;
    if (caches && !(is_flat(s->read, caches + 1) && is_flat(s->write, caches + 1)))
        score_levels(finding, "L", caches, s->read, s->write);
    else if (tlbs && !(is_flat(s->pages, tlbs + 1) && is_flat(s->pages_write, tlbs + 1)))
        score_levels(finding, "TLB", tlbs, s->pages, s->pages_write);
    if (caches)
        score_prefetch(table, event, findings, finding);
}

/* Demand or all: where an order makes a level prefetch, a miss that counts as often as
 * without counts prefetches too. Whether it does is seen from an event of prefetches, or
 * else from two events of misses that differ there and nowhere else. */

static bool is_in(const struct finding *finding, size_t level, const char *what)
{
    char start[CATEGORY_NAME];
    snprintf(start, sizeof start, "L%zu.%s", level, what);
    return finding->best.goodness >= GOOD_ENOUGH &&
           strncmp(finding->best.name, start, strlen(start)) == 0;
}

static bool is_read_miss(const struct finding *finding, size_t level)
{
    return is_in(finding, level, "miss") && !strstr(finding->best.name, ".store");
}

/* In which orders a level prefetches, by the events of its prefetches; false: it has none.
 */
static bool by_prefetches(const struct findings *findings, size_t level, bool seen[2])
{
    bool any = false;
    for (size_t i = 0; i < findings->n; i++) {
        const struct finding *f = &findings->events[i];
        for (int order = 0; order < 2; order++)
            seen[order] |= is_in(f, level, "prefetch") &&
                           f->walks.ahead[order][findings->ncaches] >= PREFETCHING;
        any |= is_in(f, level, "prefetch");
    }
    return any;
}

static void by_misses(const struct findings *findings, size_t level, bool seen[2])
{
    for (int order = 0; order < 2; order++) {
        bool few = false, all = false;
        for (size_t i = 0; i < findings->n; i++) {
            const struct finding *f = &findings->events[i];
            double rate = f->walks.ahead[order][findings->ncaches];
            few |= is_read_miss(f, level) && rate < ALL_REQUESTS;
            all |= is_read_miss(f, level) && rate >= ALL_REQUESTS;
        }
        seen[order] = few && all;
    }
}

static void qualify_event(struct finding *f, const bool seen[2], size_t memory)
{
    bool all = true;
    for (int order = 0; order < 2; order++)
        all = all && (!seen[order] || f->walks.ahead[order][memory] >= ALL_REQUESTS);
    size_t used = strlen(f->best.name), text = strlen(f->label);
    snprintf(f->best.name + used, CATEGORY_NAME - used, "%s", all ? ".all" : "");
    snprintf(f->label + text, CATEGORY_LABEL - text, "%s",
             all ? ", prefetches included" : ", without prefetches");
}

static void qualify(struct findings *findings)
{
    for (size_t level = 1; level <= findings->ncaches; level++) {
        bool seen[2] = {false, false};
        if (!by_prefetches(findings, level, seen))
            by_misses(findings, level, seen);
        for (size_t i = 0; (seen[0] || seen[1]) && i < findings->n; i++)
            if (is_read_miss(&findings->events[i], level))
                qualify_event(&findings->events[i], seen, findings->ncaches);
    }
}

/* Prefetches that look like misses: each miss fetches the line beside it. */

/* The level of an event of misses of reads that walks by lines do not show; 0: it is none.
 */
static size_t hidden_level(const struct finding *finding)
{
    const char *name = finding->best.name;
    bool read_miss = *name == 'L' && strstr(name, ".miss") && !strstr(name, ".store");
    return read_miss && finding->unit > plan_units[0] &&
                   finding->best.goodness >= GOOD_ENOUGH
               ? strtoul(name + 1, NULL, 10)
               : 0;
}

/* Only the nearest such level can be told: behind it, a line comes in twice a lap, whether
 * it is visited or beside one that is. */
static void tell_prefetches(const struct counts_table *table, struct findings *findings)
{
    size_t nearest = findings->ncaches + 1;
    for (size_t i = 0; i < findings->n; i++) {
        size_t level = hidden_level(&findings->events[i]);
        if (level && level < nearest)
            nearest = level;
    }
    for (size_t i = 0; nearest <= findings->ncaches && i < findings->n; i++) {
        struct finding *f = &findings->events[i];
        double size = findings->caches[nearest - 1].edge * BEYOND;
        if (hidden_level(f) != nearest || height_near(table, i, RUN_APART, 0, size) > 0.5)
            continue;
        double value = f->best.goodness;
        f->best.goodness = 0;
        note_prefetch(f, nearest, value);
    }
}

/* How much of it a level holds: what was read last is read again first, so that each line
 * which is still there is found. Both turns of a lap, once there and back, find as much. */

static double of_a_lap(const struct counts_table *table, size_t event, enum run_kind kind,
                       uint64_t unit, double *visits)
{
    double once = NAN, often = NAN;
    for (size_t i = 0; i < table->plan->n; i++) {
        const struct run *run = &table->plan->runs[i];
        if (run->kind != kind || run->unit != unit)
            continue;
        *(run->kernel == 1 ? &once : &often) = table->counts[i * table->nevents + event];
        *visits = 2 * (double)run->visits;
    }
    return (often - once) / (BACK_LAPS - 1);
}

static void find_reach(const struct counts_table *table, const struct findings *findings,
                       const char *what, enum run_kind kind, struct found_level *levels,
                       size_t n)
{
    uint64_t line = table->plan->options.unit;
    for (size_t level = 0; level < n; level++)
        for (size_t i = 0; i < findings->n && isnan(levels[level].reach); i++) {
            const struct finding *f = &findings->events[i];
            char load[CATEGORY_NAME], any[CATEGORY_NAME];
            double visits = 0;
            snprintf(load, sizeof load, "%s%zu.miss.load", what, level + 1);
            snprintf(any, sizeof any, "%s%zu.miss", what, level + 1);
            if (f->best.goodness < GOOD_ENOUGH ||
                (strcmp(f->best.name, load) != 0 && strcmp(f->best.name, any) != 0))
                continue;
            uint64_t unit = kind == RUN_BACK ? f->unit * line : line;
            double misses = of_a_lap(table, i, kind, unit, &visits);
            if (isnan(misses) || misses > visits)
                continue;
            levels[level].reach =
                round((visits - misses) / 2) * (kind == RUN_BACK ? (double)unit : 1);
            levels[level].event = f->name;
        }
}

int find_walks(const struct counts_table *table, struct findings *findings)
{
    const struct plan_options *o = &table->plan->options;
    if (!(o->sets & PLAN_CACHE))
        return 0;
    if (find_edges(table, findings) != 0)
        return -1;
    for (size_t i = 0; i < findings->n; i++) {
        struct finding *finding = &findings->events[i];
        if (!finding->moved)
            continue;
        take_signature(table, i, findings, finding);
        if (!finding->without_memory)
            score_event(table, i, findings, finding);
    }
    tell_prefetches(table, findings);
    qualify(findings);
    find_reach(table, findings, "L", RUN_BACK, findings->caches, findings->ncaches);
    find_reach(table, findings, "TLB", RUN_PAGES_BACK, findings->tlbs, findings->ntlbs);
    return 0;
}
