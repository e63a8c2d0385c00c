/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The TLBs: how many levels there are. tlb_entries.c finds the size of each.
 *
 * T(n, pages) visits n lines in each page. Its control is as many lines packed into as few
 * pages as can be: what T costs more is translation. Packing does not hide all that the
 * caches do, so a level must show at the same number of pages for every n, whereas a cache
 * shows at the same number of lines. Where n = 1 and n = 2 do not agree, 3 and 4 vote too,
 * and then as many lines in half as many pages.
 *
 * A walk gets slower, too, as more pages are visited: when the tables no longer fit into a
 * cache. Tables of pages that are far apart need more lines, but no more entries of a TLB:
 * so half as many pages, some distance apart, must still fit into what is to be a TLB.
 *
 * A host may keep the huge pages of a guest in parts, and then so do the TLBs. That shows
 * when many parts of one huge page miss. */
#include "probe/tlbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static struct rise rise_of(const struct spread *s, size_t level)
{
    const struct plateau *below = &s->levels.plateau[level], *above = below + 1;
    const struct curve *cost = &s->cost;
    double low = cost->y[(below->first + below->last) / 2], height = above->height - low;
    double last = cost->x[below->last];
    bool fits = cost->y[below->last] - low < height / 8;
    return (struct rise){.from = last,
                         .to = cost->x[above->first],
                         .height = height,
                         .seen = fits ? last : 0,
                         .can = rise_reach(cost->x, cost->y, &s->levels, level + 1)};
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

/* Pages that are a stride apart, in one row. a: the stride. x: pages. */
static int build_row(struct probing *p, const struct string *s, double x)
{
    return refs_tlb_gap(&p->refs, &p->runner->ground[s->arena], &p->rng, (size_t)x, s->a,
                        1);
}

/* Whether a rise behind another one may be one of walks: half as many pages as were cheap
 * cost about that much more when they are apart, or there is no time to see that they do
 * not. By an odd stride, so that they are in all sets; nine, if that can be had, because a
 * line of a table serves eight pages or fewer. */
static int is_of_walks(struct probing *p, enum arena arena, const struct rise *rise,
                       bool *yes)
{
    enum { APART = 9 };
    const struct ground *ground = &p->runner->ground[arena];
    double n = floor(rise->from / 2), room = (double)(ground->bytes / ground->page);
    uint64_t stride = APART;
    struct decision d;
    while (stride > 1 && n * (double)stride > room)
        stride -= 2;
    *yes = false;
    if (n < 1 || stride == 1)
        return 0;
    struct string apart = {.build = build_row, .arena = arena, .a = stride};
    struct string spread = {.build = build_spread, .arena = arena, .a = 1};
    int status = decide_slower(p, &apart, n, &spread, n, rise->height, &d);
    *yes = d.slower || d.confidence < SURE;
    if (!status && *yes && !d.slower)
        note(
            p,
            "translation costs more from %.0f pages on: a TLB, or slower page walks; there "
            "was no time to tell them apart",
            rise->from);
    return status;
}

/* Whether a rise was found already: at the same place, or less than an octave from it and
 * with entries that both allow for. A TLB that is filled unevenly rises slowly and may look
 * like two: then it is one, and the curve allows for either end. */
static bool is_found(const struct rise *rise, struct rise *rises, size_t found)
{
    for (size_t i = 0; i < found; i++) {
        struct reach *can = &rises[i].can;
        if (same_place(&rises[i], rise))
            return true;
        if (fabs(log2(rise->from / rises[i].from)) < 1 && rise->can.low < can->high &&
            can->low < rise->can.high) {
            can->low = fmin(can->low, rise->can.low);
            can->high = fmax(can->high, rise->can.high);
            return true;
        }
    }
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
            bool walks = false;
            if (!status && yes && *found) /* without a TLB there are no walks to see */
                status = is_of_walks(p, arena, &rise, &walks);
            if (status)
                return status;
            if (yes && !walks)
                add_rise(&rise, rises, found);
        }
    return 0;
}

static int add_tlb(struct probing *p, enum arena arena, int level, const struct rise *rise,
                   double inner)
{
    struct strata_probed *probed = p->probed;
    struct strata_probed_tlb *tlb = &probed->tlbs[probed->ntlbs++];
    memset(tlb, 0, sizeof *tlb);
    tlb->level = level;
    tlb->page = p->runner->ground[arena].page;
    p->tlb_sweep[tlb - probed->tlbs] =
        (struct tlb_sweep){.height = rise->height, .seen = rise->seen, .can = rise->can};
    return find_size(p, arena, rise, inner, tlb);
}

double most_pages(const struct probing *p, enum arena arena)
{
    const struct ground *ground = &p->runner->ground[arena];
    return ground->bytes ? fmin(MOST, (double)(ground->bytes / ground->page)) : 0;
}

static struct strata_probed_tlb *add_first(struct probing *p, enum arena arena)
{
    struct strata_probed_tlb *tlb = &p->probed->tlbs[p->probed->ntlbs++];
    memset(tlb, 0, sizeof *tlb);
    tlb->level = 1;
    tlb->page = p->runner->ground[arena].page;
    return tlb;
}

/* No rise was seen. */
static void add_unseen(struct probing *p, enum arena arena, double most)
{
    struct strata_probed_tlb *tlb = add_first(p, arena);
    if (late(p)) { /* not all numbers of pages were tried */
        tlb->entries = tlb->ways = tlb->penalty_cycles = tlb->penalty_ns = no_time();
        return;
    }
    tlb->entries =
        unknown("%g pages, which is all that could be had, cost no more than a few", most);
    tlb->entries.low = most;
    tlb->ways = tlb->penalty_cycles = tlb->penalty_ns = unknown("no miss was seen");
}

/* T(1, x) with the parts of huge pages for pages. */
static int build_parts(struct probing *p, const struct string *s, double x)
{
    struct ground parts = p->runner->ground[s->arena];
    parts.page = p->runner->ground[BASE_PAGES].page;
    return refs_tlb(&p->refs, &parts, &p->rng, 1, (size_t)x);
}

/* Whether huge pages are kept in parts: four times as many parts as the first TLB has
 * entries for base pages miss, beside as many lines packed. Each trial is somewhere else,
 * so if only some pages are kept in parts, some trials say so: then it is not known,
 * either. */
static int find_splinters(struct probing *p, bool *splintered)
{
    const struct strata_probed_tlb *base = p->probed->tlbs;
    *splintered = false;
    if (!p->probed->ntlbs || !base->entries.known)
        return 0;
    struct string parts = {.build = build_parts, .arena = HUGE_PAGES};
    struct string packed = {.build = build_packed, .arena = HUGE_PAGES, .a = 1, .b = SKIP};
    double n = fmin(4 * base->entries.high, most_pages(p, BASE_PAGES));
    struct decision d;
    int status = decide_slower(p, &parts, n, &packed, n, p->tlb_sweep[0].height, &d);
    *splintered = d.slower || d.share > 0.25;
    return status;
}

static void add_splintered(struct probing *p)
{
    struct strata_probed_tlb *tlb = add_first(p, HUGE_PAGES);
    tlb->entries = tlb->ways = tlb->penalty_cycles = tlb->penalty_ns =
        unknown("the host keeps huge pages in parts, and so do the TLBs: an entry reaches "
                "less than a huge page");
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
    if (arena == HUGE_PAGES) {
        status = find_splinters(p, &p->splintered);
        if (status || p->splintered) {
            if (!status)
                add_splintered(p);
            return status;
        }
    }
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
