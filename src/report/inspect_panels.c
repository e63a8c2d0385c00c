/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which panels a drawing of `strata inspect` has; inspect_panels.h has the contract. They
 * are those of the source's figures 10 to 17, as far as something was counted for them. */
#include "report/inspect_panels.h"

#include "core/utf8.h"

#include <stdio.h>
#include <string.h>

static struct panel *new_panel(struct sheet *sheet, enum panel_x x, const char *title,
                               const char *y_title)
{
    static const char *const titles[] = {[PANEL_BYTES] = "bytes that are walked through",
                                         [PANEL_PAGES] = "pages that are walked through",
                                         [PANEL_CHANCE] = "K",
                                         [PANEL_KERNELS] =
                                             "kernel, as in metrics/branches.matrix"};
    if (sheet->n == PANELS)
        return NULL;
    struct panel *panel = &sheet->panels[sheet->n++];
    *panel = (struct panel){.x = x, .x_title = titles[x], .y_title = y_title};
    utf8_clean(title, panel->title, sizeof panel->title);
    return panel;
}

static struct panel_curve *add_curve(struct panel *panel, size_t event, enum run_kind kind,
                                     uint32_t kernel, const char *name)
{
    if (!panel || panel->n == PANEL_CURVES)
        return NULL;
    struct panel_curve *curve = &panel->curves[panel->n++];
    curve->event = event;
    curve->kind = kind;
    curve->kernel = kernel;
    utf8_clean(name, curve->name, sizeof curve->name);
    return curve;
}

/* One curve for each kernel number, named by it, in the plural where that is due. */
static void add_variants(struct panel *panel, size_t event, enum run_kind kind,
                         const uint32_t *kernels, const char *before, const char *behind)
{
    for (; *kernels; kernels++) {
        char name[64];
        snprintf(name, sizeof name, "%s%u%s%s", before, *kernels, behind,
                 *behind && *kernels > 1 ? "s" : "");
        add_curve(panel, event, kind, *kernels, name);
    }
}

size_t panel_points(const struct inspect_report *report, const struct panel *panel,
                    const struct panel_curve *curve, double *x, double *y)
{
    size_t n = 0;
    if (panel->x == PANEL_KERNELS) {
        for (; n < report->table->matrices->branches.nkernels; n++) {
            x[n] = (double)n;
            y[n] = curve->slopes[n];
        }
        return n;
    }
    if (panel->x != PANEL_CHANCE)
        return event_points(report->table, curve->event, curve->kind, curve->kernel, x, y,
                            PANEL_POINTS);
    for (uint32_t k = 2; k <= 64 && n < PANEL_POINTS; k++) {
        double turns[4], counts[4];
        if (curve->event == TIME_EVENT) { /* the expectation */
            x[n] = k;
            y[n++] = 2 + 1 / (double)k;
        } else if (event_points(report->table, curve->event, curve->kind, k, turns, counts,
                                4)) {
            x[n] = k;
            y[n++] = counts[0] / turns[0];
        }
    }
    return n;
}

static size_t event_in(const struct findings *findings, const char *const *categories)
{
    for (; *categories; categories++)
        for (size_t i = 0; i < findings->n; i++)
            if (strcmp(findings->events[i].category, *categories) == 0)
                return i;
    return SIZE_MAX;
}

size_t inspect_second_hits(const struct findings *findings)
{
    static const char *const hits[] = {"L2.hit.load", "L2.hit", NULL};
    return event_in(findings, hits);
}

static bool is_first_of(const struct findings *findings, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(findings->events[j].category, findings->events[i].category) == 0)
            return false;
    return true;
}

/* One event for each category of loads, by lines; stores would lie on them. */
static void add_levels(const struct findings *findings, struct panel *panel,
                       const char *prefix, const char *what)
{
    bool bytes = panel && panel->x == PANEL_BYTES;
    for (size_t i = 0; i < findings->n; i++) {
        const struct finding *f = &findings->events[i];
        if (f->family == FAMILY_MEMORY && is_first_of(findings, i) &&
            strncmp(f->category, prefix, strlen(prefix)) == 0 &&
            strstr(f->category, what) && strstr(f->category, ".load"))
            add_curve(panel, i, bytes ? RUN_READ : RUN_PAGES, bytes ? f->unit : 0, f->name);
    }
}

static void add_studies(const struct findings *findings, struct sheet *sheet)
{
    static const char *const misses[] = {"L1.miss.load", "L1.miss", NULL};
    static const uint32_t offsets[] = {1, 2, 4, 0};
    size_t hit = inspect_second_hits(findings), miss = event_in(findings, misses);
    if (hit != SIZE_MAX) {
        add_variants(new_panel(sheet, PANEL_BYTES, "L2 hits by unit size", "hits a visit"),
                     hit, RUN_READ, plan_units, "", " line");
        add_variants(
            new_panel(sheet, PANEL_BYTES, "L2 hits by pages in a block", "hits a visit"),
            hit, RUN_BLOCKS, plan_blocks, "", " page");
    }
    for (int time = 0; time < 2; time++) {
        size_t event = time ? TIME_EVENT : miss;
        if (!time && miss == SIZE_MAX)
            continue;
        struct panel *panel = new_panel(sheet, PANEL_BYTES,
                                        time ? "cascading evictions: access time"
                                             : "cascading evictions: L1 misses",
                                        time ? "ns a visit" : "misses a visit");
        add_curve(panel, event, RUN_CASCADE, 0, "offset 0");
        add_variants(panel, event, RUN_CASCADE, offsets, "offset ", "");
    }
}

static void add_chances(const struct findings *findings, struct sheet *sheet)
{
    static const char *const executed[] = {"CE", NULL};
    size_t event = event_in(findings, executed);
    if (event == SIZE_MAX)
        return;
    struct panel *panel =
        new_panel(sheet, PANEL_CHANCE,
                  "conditional branches executed, `if` holds once in K", "counts a turn");
    add_curve(panel, event, RUN_CHANCE, 0, findings->events[event].name);
    add_curve(panel, TIME_EVENT, RUN_CHANCE, 0, "2 + 1/K");
}

/* The categories of the source's Table 1. */
static void add_slopes(const struct findings *findings, struct sheet *sheet)
{
    static const char *const names[] = {"CE", "CR", "T", "D", "M"};
    struct panel *panel =
        new_panel(sheet, PANEL_KERNELS, "branches by kernel", "counts a turn");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const one[] = {names[i], NULL};
        size_t event = event_in(findings, one);
        char name[64];
        if (event == SIZE_MAX)
            continue;
        snprintf(name, sizeof name, "%s %s", names[i], findings->events[event].name);
        struct panel_curve *curve = add_curve(panel, event, RUN_BRANCH, 0, name);
        if (curve)
            curve->slopes = findings->events[event].slopes;
    }
}

static void plan_all(const struct findings *findings, unsigned sets, struct sheet *sheet)
{
    if (sets & PLAN_CACHE) {
        add_levels(findings,
                   new_panel(sheet, PANEL_BYTES, "hits of a random chase", "hits a visit"),
                   "L", ".hit");
        add_levels(
            findings,
            new_panel(sheet, PANEL_BYTES, "misses of a random chase", "misses a visit"),
            "L", ".miss");
        add_levels(findings,
                   new_panel(sheet, PANEL_PAGES, "TLBs, each visit in another page",
                             "counts a visit"),
                   "TLB", ".");
        add_studies(findings, sheet);
    }
    if (sets & PLAN_BRANCH) {
        add_slopes(findings, sheet);
        add_chances(findings, sheet);
    }
}

static void plan_slopes(const struct inspect_report *report, const struct finding *f,
                        struct sheet *sheet)
{
    const struct matrix_category *category =
        matrix_find(&report->table->matrices->branches, f->category);
    struct panel *panel = new_panel(sheet, PANEL_KERNELS, f->name, "counts a turn");
    struct panel_curve *curve = add_curve(panel, 0, RUN_BRANCH, 0, "measured");
    if (curve)
        curve->slopes = f->slopes;
    curve = category ? add_curve(panel, 0, RUN_BRANCH, 0, category->label) : NULL;
    if (curve)
        curve->slopes = category->slopes;
}

static void plan_walks(const struct finding *f, size_t event, struct sheet *sheet)
{
    struct panel *panel = new_panel(sheet, PANEL_BYTES, f->name, "counts a visit");
    add_curve(panel, event, RUN_READ, f->unit, "random reads");
    add_curve(panel, event, RUN_WRITE, f->unit, "random writes");
    add_curve(panel, event, RUN_ASCEND, 0, "ascending reads");
    add_curve(panel, event, RUN_PAIRS, 0, "reads of pairs");
    panel = new_panel(sheet, PANEL_PAGES, "each visit in another page", "counts a visit");
    add_curve(panel, event, RUN_PAGES, 0, "reads");
    add_curve(panel, event, RUN_PAGES_WRITE, 0, "writes");
}

/* Takes out what has no points. */
static void tidy(const struct inspect_report *report, struct sheet *sheet)
{
    double x[PANEL_POINTS], y[PANEL_POINTS];
    size_t kept = 0;
    for (size_t i = 0; i < sheet->n; i++) {
        struct panel *panel = &sheet->panels[i];
        size_t n = 0;
        for (size_t j = 0; j < panel->n; j++)
            if (panel_points(report, panel, &panel->curves[j], x, y))
                panel->curves[n++] = panel->curves[j];
        panel->n = n;
        if (n)
            sheet->panels[kept++] = *panel;
    }
    sheet->n = kept;
}

void plan_sheet(const struct inspect_report *report, size_t event, struct sheet *sheet)
{
    const struct findings *findings = report->findings;
    unsigned sets = report->table->plan->options.sets;
    sheet->n = 0;
    if (event == SIZE_MAX) {
        plan_all(findings, sets, sheet);
    } else {
        const struct finding *f = &findings->events[event];
        if (sets & PLAN_BRANCH && f->family != FAMILY_MEMORY)
            plan_slopes(report, f, sheet);
        if (sets & PLAN_CACHE && f->family != FAMILY_BRANCH)
            plan_walks(f, event, sheet);
    }
    tidy(report, sheet);
}
