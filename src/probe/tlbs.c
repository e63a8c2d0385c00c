/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The TLBs: how many levels, their entries, ways, and what a miss costs.
 *
 * T(n, pages) visits n lines in each page. Its control is as many lines packed into as few
 * pages as can be: what T costs more is translation. Packing does not hide all that the
 * caches do, so a level must show at the same number of pages for every n, whereas a cache
 * shows at the same number of lines. Where n = 1 and n = 2 do not agree, 3 and 4 vote too,
 * and then as many lines in half as many pages.
 *
 * The number of entries is then searched for with pages far apart (tlb_sets.c), or, where
 * these show no sets, by bisection with pages side by side: when one page too many is
 * visited in turn, at least the pages of one set miss, which is at least two. */
#include "core/sort.h"
#include "probe/probing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEFT 0.03 /* of a penalty: caches may not treat the two strings quite alike */
#define ANEW 0.03 /* of the budget: for another search, where the first was not sure */

enum {
    FIRST = 4,      /* pages */
    MOST = 16384,   /* pages: four times the largest TLB known */
    PER_OCTAVE = 4, /* points of the sweep */
    LEAST = 3,      /* observations without a new minimum */
    PASSES = 12,
    STRINGS = 4, /* n = 1..4 */
    BLOCK = 8,   /* pages */
    SKIP = 4,    /* lines, at least… */
    FAR = 16,    /* …and as many as prefetchers bring in with a visit */
};

int build_spread(struct probing *p, const struct string *s, double x)
{
    return refs_tlb(&p->refs, &p->runner->ground[s->arena], &p->rng, s->a, (size_t)x);
}

/* As many lines in few pages, but not side by side: each must take up a line of its own at
 * every level, however long the lines are there. b: lines from one to the next. */
static int build_packed(struct probing *p, const struct string *s, double x)
{
    const struct ground *ground = &p->runner->ground[s->arena];
    return refs_sparse(&p->refs, ground, &p->rng, (uint64_t)x * s->a * ground->line, s->b,
                       BLOCK);
}

/* About half as many pages as lines: a multiple of a power of two, so that a line's page
 * has the same low bits as in T and it goes into the same set of a virtually indexed cache.
 */
static size_t folded_pages(size_t n)
{
    size_t unit = n >= 512 ? 64 : n >= 64 ? 8 : 1;
    return (n / 2 + unit) / unit * unit;
}

/* x: lines. */
static int build_folded(struct probing *p, const struct string *s, double x)
{
    size_t n = (size_t)x, pages = folded_pages(n);
    return refs_folded(&p->refs, &p->runner->ground[s->arena], &p->rng, n, pages);
}

/* As far apart as prefetchers bring in, where that leaves few pages. */
static uint64_t packed_skip(const struct ground *ground)
{
    enum { IN_PAGE = 16 };
    uint64_t skip = ground->page / ground->line / IN_PAGE;
    return skip < SKIP ? SKIP : skip > FAR ? FAR : skip;
}

struct spread {
    struct series *series; /* of T */
    struct curve cost;     /* by pages: a hit in the first cache plus translation */
    struct levels levels;
};

static int add_points(struct series *series, double most)
{
    for (double octave = FIRST; octave <= most; octave *= 2)
        for (int i = 0; i < PER_OCTAVE; i++) {
            double x = floor(octave * (1 + (double)i / PER_OCTAVE));
            if (x <= most && !series_at(series, x))
                return -1;
        }
    return 0;
}

/* What translation costs at every point, beside a hit in the first cache. */
static int excess(const struct series *spread, const struct series *packed,
                  struct curve *cost)
{
    struct curve control;
    if (series_curve(spread, NULL, cost) || series_curve(packed, NULL, &control))
        return -1;
    if (control.n < cost->n)
        cost->n = control.n; /* the time ran out */
    for (size_t i = 0; i < cost->n; i++)
        cost->y[i] = control.y[0] + fmax(0, cost->y[i] - control.y[i]);
    free(control.x);
    return 0;
}

static struct series *series_of(struct probing *p, const char *name, const char *title)
{
    struct series *series = dataset_find(p->probed->data, name);
    return series ? series : dataset_add(p->probed->data, name, title, "pages", "cycles");
}

static int measure_spread(struct probing *p, enum arena arena, uint64_t lines, double most,
                          int passes, struct spread *out)
{
    struct string spread = {.build = build_spread, .arena = arena, .a = lines},
                  packed = {.build = build_packed,
                            .arena = arena,
                            .a = lines,
                            .b = packed_skip(&p->runner->ground[arena])};
    char name[32], title[80];
    const char *pages = arena == HUGE_PAGES ? "huge " : "";
    snprintf(name, sizeof name, "%stlb%d", arena == HUGE_PAGES ? "huge-" : "", (int)lines);
    snprintf(title, sizeof title, "%spages, %d line%s in each", pages, (int)lines,
             lines == 1 ? "" : "s");
    out->series = series_of(p, name, title);
    snprintf(name, sizeof name, "%spacked%d", arena == HUGE_PAGES ? "huge-" : "",
             (int)lines);
    snprintf(title, sizeof title, "as many lines, packed");
    struct series *control = series_of(p, name, title);
    if (!out->series || !control || add_points(out->series, most) ||
        add_points(control, most))
        return out_of_memory(p);
    for (int pass = 0; pass < passes; pass++) {
        long visited = sweep_once(p, &spread, out->series, LEAST, 0, INFINITY);
        long controlled = sweep_once(p, &packed, control, LEAST, 0, INFINITY);
        if (visited < 0 || controlled < 0)
            return p->error->status;
        if (p->stopped || visited + controlled == 0 ||
            !time_left(p, (double)(pass + 1) / passes))
            break;
    }
    if (p->stopped)
        return 0;
    if (excess(out->series, control, &out->cost))
        return out_of_memory(p);
    if (out->cost.n &&
        find_levels(out->cost.x, out->cost.y, out->cost.n, &out->levels, NULL))
        return out_of_memory(p);
    return 0;
}

/* A rise: between the plateaus of a spread. */
struct rise {
    double from, to; /* pages: the last point below it and the first one above */
    double height;   /* cycles */
    double seen;     /* pages that the sweep saw fit */
};

static struct rise rise_of(const struct spread *s, size_t level)
{
    const struct plateau *below = &s->levels.plateau[level], *above = below + 1;
    const struct curve *cost = &s->cost;
    double low = cost->y[(below->first + below->last) / 2], height = above->height - low;
    double last = cost->x[below->last];
    bool fits = cost->y[below->last] - low < height / 8;
    return (struct rise){last, cost->x[above->first], height, fits ? last : 0};
}

/* Whether two rises are one: cache effects lie at least an octave off from one n to its
 * double, so half an octave tells. */
static bool same_place(const struct rise *a, const struct rise *b)
{
    return fabs(log2(a->from / b->from)) < 0.5;
}

static bool rises_at(const struct spread *s, const struct rise *rise)
{
    for (size_t i = 0; i + 1 < s->levels.n; i++) {
        struct rise own = rise_of(s, i);
        if (same_place(&own, rise))
            return true;
    }
    return false;
}

static bool all_agree(const struct spread *a, const struct spread *b)
{
    for (size_t i = 0; i + 1 < a->levels.n; i++) {
        struct rise rise = rise_of(a, i);
        if (!rises_at(b, &rise))
            return false;
    }
    return a->levels.n == b->levels.n;
}

/* Whether a rise is one of translation, told by the closer control: as many lines in half
 * as many pages cost less beyond the edge of a TLB, and as much beyond that of a cache. */
static int is_translation(struct probing *p, enum arena arena, const struct rise *rise,
                          bool *yes)
{
    struct string spread = {.build = build_spread, .arena = arena, .a = 1};
    struct string folded = {.build = build_folded, .arena = arena};
    struct decision d;
    int status = decide_slower(p, &spread, rise->to, &folded, rise->to, rise->height, &d);
    *yes = d.slower && d.confidence >= SURE;
    return status;
}

/* Whether most spreads have a rise, or else, of one that only the first or only others
 * have, whether the closer control does: caches nearby may have moved it. */
static int is_believed(struct probing *p, enum arena arena, const struct spread *spreads,
                       size_t n, size_t of, const struct rise *rise, bool *yes)
{
    size_t votes = 0;
    for (size_t i = 0; i < n; i++)
        votes += rises_at(&spreads[i], rise);
    *yes = 2 * votes > n;
    return *yes == (of == 0) ? 0 : is_translation(p, arena, rise, yes);
}

static bool is_found(const struct rise *rise, const struct rise *rises, size_t found)
{
    for (size_t i = 0; i < found; i++)
        if (same_place(&rises[i], rise))
            return true;
    return false;
}

static void add_rise(const struct rise *rise, struct rise *rises, size_t *found)
{
    size_t i = (*found)++;
    for (; i > 0 && rises[i - 1].from > rise->from; i--)
        rises[i] = rises[i - 1];
    rises[i] = *rise;
}

/* The rises that are believed: those of the first spread, which are the sharpest, then
 * those that it lacks. */
static int vote(struct probing *p, enum arena arena, const struct spread *spreads, size_t n,
                struct rise *rises, size_t *found)
{
    *found = 0;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i + 1 < spreads[j].levels.n && *found < MAX_LEVELS; i++) {
            struct rise rise = rise_of(&spreads[j], i);
            bool yes;
            if (is_found(&rise, rises, *found))
                continue;
            int status = is_believed(p, arena, spreads, n, j, &rise, &yes);
            if (status)
                return status;
            if (yes)
                add_rise(&rise, rises, found);
        }
    return 0;
}

/* A test whether one string is slower than another. */
typedef int decider(struct probing *p, const struct string *a, double xa,
                    const struct string *b, double xb, double amount,
                    struct decision *decision);

/* The most pages, from low (which is taken to fit) to below high, that cost less than half
 * of `amount` more than as many lines in half as many pages. */
static int bisect(struct probing *p, decider *decide, enum arena arena, double low,
                  double high, double amount, double *edge, double *confidence)
{
    struct string spread = {.build = build_spread, .arena = arena, .a = 1};
    struct string folded = {.build = build_folded, .arena = arena};
    double fits = 0, misses = 0;
    struct decision d;
    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        int status = decide(p, &spread, middle, &folded, middle, amount, &d);
        if (status)
            return status;
        *(d.slower ? &high : &low) = middle;
        *(d.slower ? &misses : &fits) = d.confidence;
    }
    *edge = low;
    if (!fits) {
        int status = decide(p, &spread, low, &folded, low, amount, &d);
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

/* Whether the edge is as steep as one of a TLB with so many ways: from there on, a further
 * page makes all the pages of its set miss. A policy other than LRU may let half of them
 * hit. If it is not, the sets are not filled evenly, and neither number can be trusted. */
static bool steep(const struct strata_probed_tlb *tlb, double slope)
{
    double expected = tlb->entries.value / 8 / (tlb->ways.value + 1);
    return slope <= 2.5 * expected + 2 && slope >= expected / 2.5 - 2;
}

/* The same with no sets to be seen: by pages side by side. */
static int find_size_beside(struct probing *p, const struct tlb_edge *edge,
                            const struct rise *rise, struct strata_probed_tlb *tlb)
{
    double slope;
    int status = settle_entries(p, edge->arena, rise, edge->inner, &tlb->entries, &slope);
    if (!status)
        status = tlb_ways(p, edge, &tlb->entries, &tlb->ways);
    if (!status && !late(p) && !steep(tlb, slope)) {
        tlb->entries.low = fmin(tlb->entries.low, rise->from);
        tlb->entries.high = fmax(tlb->entries.value + 4 * slope, rise->to);
        tlb->entries.confidence = fmin(tlb->entries.confidence, 0.5);
        tlb->ways = unknown(
            "pages side by side do not fill its sets evenly: it is skewed or hashed");
    }
    return status;
}

/* Entries and ways of the level that a rise shows; `inner` are those of the level before.
 */
static int find_size(struct probing *p, enum arena arena, const struct rise *rise,
                     double inner, struct strata_probed_tlb *tlb)
{
    struct tlb_edge edge = {.arena = arena,
                            .low = least_entries(rise, inner),
                            .high = 2 * rise->to,
                            .fit = rise->from,
                            .height = rise->height,
                            .inner = inner};
    int status = tlb_by_sets(p, &edge, &tlb->entries);
    if (!status && tlb->entries.known)
        status = tlb_ways(p, &edge, &tlb->entries, &tlb->ways);
    else if (!status)
        status = find_size_beside(p, &edge, rise, tlb);
    if (!status && late(p))
        tlb->entries = tlb->ways = no_time();
    return status;
}

static int add_tlb(struct probing *p, enum arena arena, int level, const struct rise *rise,
                   double inner)
{
    struct strata_probed *probed = p->probed;
    struct strata_probed_tlb *tlb = &probed->tlbs[probed->ntlbs++];
    memset(tlb, 0, sizeof *tlb);
    tlb->level = level;
    tlb->page = p->runner->ground[arena].page;
    p->tlb_sweep[tlb - probed->tlbs] = (struct tlb_sweep){rise->height, rise->seen};
    return find_size(p, arena, rise, inner, tlb);
}

static int add_penalties(struct probing *p, enum arena arena,
                         struct strata_probed_tlb *tlbs, int n, double most)
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

/* As many pages as a string may have. */
static double most_pages(const struct probing *p, enum arena arena)
{
    const struct ground *ground = &p->runner->ground[arena];
    return ground->bytes ? fmin(MOST, (double)(ground->bytes / ground->page)) : 0;
}

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
    struct string spread = {.build = build_spread, .arena = arena, .a = 1};
    struct string folded = {.build = build_folded, .arena = arena};
    struct decision d;
    int status =
        decide_slower(p, &spread, pages, &folded, pages, height_of(p, tlb) / 4, &d);
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
    int status = 0;
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

/* Where the first search was not sure, another one, from what it found: the surer or else
 * the larger number counts. */
static int find_anew(struct probing *p, enum arena arena, struct strata_probed_tlb *tlb)
{
    struct strata_probed_tlb again = *tlb;
    double beyond = fmax(tlb->entries.high, 2 * tlb->entries.value);
    struct rise rise = {tlb->entries.low, fmin(beyond, most_pages(p, arena) - 1),
                        height_of(p, tlb), p->tlb_sweep[tlb - p->probed->tlbs].seen};
    int status = find_size(p, arena, &rise, 0, &again);
    if (!status && again.entries.known &&
        (again.entries.confidence > tlb->entries.confidence ||
         (again.entries.confidence == tlb->entries.confidence &&
          again.entries.value > tlb->entries.value)))
        *tlb = again;
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

/* TLBs are made with 1, 3, 5 or 9 times a power of two entries: all in machines/ are. */
static bool is_made(double entries)
{
    while (entries > 1 && fmod(entries, 2) == 0)
        entries /= 2;
    return entries == 1 || entries == 3 || entries == 5 || entries == 9;
}

/* A neighbour on the same core shares the caches as well: there may be twice as much. */
static void allow_for_neighbour(struct strata_probed *probed)
{
    for (int i = 1; i < probed->ncaches; i++) {
        struct strata_value *effective = &probed->caches[i].effective;
        effective->high = fmax(effective->high, 2 * effective->value);
    }
}

/* What a neighbour keeps of a TLB for as long as a probe lasts cannot be had, and what is
 * left then looks like all there is. But it is hardly ever a number that is made: so such
 * an answer is not sure, and the next one that is made may be the true one. */
int judge_entries(struct probing *p)
{
    for (int i = 0; i < p->probed->ntlbs; i++) {
        struct strata_probed_tlb *tlb = &p->probed->tlbs[i];
        struct strata_value *entries = &tlb->entries;
        if (!isfinite(p->budget) || !entries->known || is_made(entries->value))
            continue;
        double made = entries->value;
        while (!is_made(made))
            made++;
        bool full = tlb->ways.known && tlb->ways.value == entries->value;
        *entries = known(entries->value, entries->low, fmax(entries->high, made),
                         fmin(entries->confidence, 0.5));
        if (full)
            tlb->ways = *entries;
        if (tlb->level == 1)
            allow_for_neighbour(p->probed);
        note(p,
             "%.0f entries of the L%d TLB%s could be had, and it may have %.0f: a "
             "neighbour on the same core seems to keep the others",
             entries->value, tlb->level,
             tlb->page == p->probed->page ? "" : " for huge pages", made);
    }
    return 0;
}

/* No rise was seen. */
static void add_unseen(struct probing *p, enum arena arena, double most)
{
    struct strata_probed_tlb *tlb = &p->probed->tlbs[p->probed->ntlbs++];
    memset(tlb, 0, sizeof *tlb);
    tlb->level = 1;
    tlb->page = p->runner->ground[arena].page;
    if (late(p)) { /* not all numbers of pages were tried */
        tlb->entries = tlb->ways = tlb->penalty_cycles = tlb->penalty_ns = no_time();
        return;
    }
    tlb->entries =
        unknown("%g pages, which is all that could be had, cost no more than a few", most);
    tlb->entries.low = most;
    tlb->ways = tlb->penalty_cycles = tlb->penalty_ns = unknown("no miss was seen");
}

/* One pass over the pages of the base size: where the first rise is. */
int probe_tlbs_roughly(struct probing *p)
{
    struct spread spread = {0};
    double most = most_pages(p, BASE_PAGES);
    int status = most < 2 * FIRST ? 0 : measure_spread(p, BASE_PAGES, 1, most, 1, &spread);
    if (!status && !p->stopped && spread.levels.n > 1) {
        struct rise rise = rise_of(&spread, 0);
        p->coarse_tlb = (struct coarse_tlb){rise.from, rise.to, rise.height};
    }
    free(spread.cost.x);
    return status;
}

int probe_tlbs(struct probing *p, enum arena arena)
{
    const struct ground *ground = &p->runner->ground[arena];
    struct spread spreads[STRINGS];
    struct rise rises[MAX_LEVELS];
    double most = most_pages(p, arena), end = p->deadline;
    size_t n = 0;
    int status = 0;
    memset(spreads, 0, sizeof spreads);
    if (!ground->bytes || most < 2 * FIRST)
        return 0;
    if (isfinite(end)) /* half of the time is for the entries */
        p->deadline = (runner_clock(p->runner) + end) / 2;
    while (!status && !p->stopped && n < STRINGS) {
        status = measure_spread(p, arena, n + 1, most, PASSES, &spreads[n]);
        n++;
        if (n == 2 && !status && !p->stopped &&
            (all_agree(&spreads[0], &spreads[1]) || !time_left(p, 1)))
            break;
    }
    p->deadline = end;
    if (!status && !p->stopped) {
        size_t found;
        status = vote(p, arena, spreads, n, rises, &found);
        struct strata_probed_tlb *first = &p->probed->tlbs[p->probed->ntlbs];
        double inner = 0;
        if (!status && !found)
            add_unseen(p, arena, most);
        for (size_t i = 0; i < found && !status && p->probed->ntlbs < STRATA_MAX_TLBS;
             i++) {
            status = add_tlb(p, arena, (int)i + 1, &rises[i], inner);
            inner = p->probed->tlbs[p->probed->ntlbs - 1].entries.value;
        }
        if (found && !status)
            status = add_penalties(p, arena, first,
                                   (int)(&p->probed->tlbs[p->probed->ntlbs] - first), most);
    }
    for (size_t i = 0; i < STRINGS; i++)
        free(spreads[i].cost.x);
    return status;
}
