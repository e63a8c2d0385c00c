/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Drawing what `strata inspect` counted: a panel for each kind of walk, a curve for each
 * event or each variant of the walk. Sizes are logarithmic, counts a visit are not. */
#include "core/units.h"
#include "core/utf8.h"
#include "report/axes.h"
#include "report/inspect_report.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 128, PANEL_WIDTH = 460, PANEL_HEIGHT = 300, CURVES = 12, PANELS = 8 };

struct curve_of {
    size_t event;
    enum run_kind kind;
    uint32_t kernel;
    char name[64];
};

struct panel {
    const char *title;
    bool pages; /* x is in pages, or K, and not in bytes */
    bool turns; /* counts are of so many turns, and x is the kernel's number */
    size_t n;
    struct curve_of curves[CURVES];
};

struct sheet {
    size_t n;
    struct panel panels[PANELS];
};

static struct panel *new_panel(struct sheet *sheet, const char *title, bool pages)
{
    if (sheet->n == PANELS)
        return NULL;
    struct panel *panel = &sheet->panels[sheet->n++];
    *panel = (struct panel){.title = title, .pages = pages};
    return panel;
}

static void add_curve(struct panel *panel, size_t event, enum run_kind kind,
                      uint32_t kernel, const char *name)
{
    if (!panel || panel->n == CURVES)
        return;
    struct curve_of *curve = &panel->curves[panel->n++];
    curve->event = event;
    curve->kind = kind;
    curve->kernel = kernel;
    utf8_clean(name, curve->name, sizeof curve->name);
}

/* The points of a curve; for turns, one point for each K. */
static size_t points_of(const struct inspect_report *report, const struct panel *panel,
                        const struct curve_of *curve, double *x, double *y)
{
    if (!panel->turns)
        return event_points(report->table, curve->event, curve->kind, curve->kernel, x, y,
                            POINTS);
    size_t n = 0;
    for (uint32_t k = 2; k <= 64 && n < POINTS; k++) {
        double turns[4], counts[4];
        if (event_points(report->table, curve->event, curve->kind, k, turns, counts, 4)) {
            x[n] = k;
            y[n++] = counts[0] / turns[0];
        }
    }
    return n;
}

/* Which panels. */

static size_t event_in(const struct findings *findings, const char *const *categories)
{
    for (; *categories; categories++)
        for (size_t i = 0; i < findings->n; i++)
            if (strcmp(findings->events[i].category, *categories) == 0)
                return i;
    return SIZE_MAX;
}

static bool is_first_of(const struct findings *findings, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(findings->events[j].category, findings->events[i].category) == 0)
            return false;
    return true;
}

/* One event for each category of loads; stores would lie on them. */
static void add_levels(const struct findings *findings, struct panel *panel,
                       const char *prefix, const char *what, enum run_kind kind)
{
    for (size_t i = 0; i < findings->n; i++) {
        const char *category = findings->events[i].category;
        if (findings->events[i].family == FAMILY_MEMORY && is_first_of(findings, i) &&
            strncmp(category, prefix, strlen(prefix)) == 0 && strstr(category, what) &&
            strstr(category, ".load"))
            add_curve(panel, i, kind, 0, findings->events[i].name);
    }
}

static void add_variants(const struct findings *findings, struct sheet *sheet)
{
    static const char *const hits[] = {"L2.hit.load", "L2.hit", NULL};
    static const char *const misses[] = {"L1.miss.load", "L1.miss", NULL};
    static const uint32_t units[] = {1, 2, 4}, blocks[] = {4, 16, 34, 64},
                          offsets[] = {0, 1, 2, 4};
    size_t hit = event_in(findings, hits), miss = event_in(findings, misses);
    char name[64];
    struct panel *panel =
        hit == SIZE_MAX ? NULL : new_panel(sheet, "L2 hits by unit size", false);
    for (size_t i = 0; panel && i < 3; i++) {
        snprintf(name, sizeof name, "%u lines", units[i]);
        add_curve(panel, hit, RUN_READ, units[i], name);
    }
    panel = hit == SIZE_MAX ? NULL : new_panel(sheet, "L2 hits by pages in a block", false);
    for (size_t i = 0; panel && i < 4; i++) {
        snprintf(name, sizeof name, "%u pages", blocks[i]);
        add_curve(panel, hit, RUN_BLOCKS, blocks[i], name);
    }
    panel = miss == SIZE_MAX
                ? NULL
                : new_panel(sheet, "cascading evictions: L1 misses by offset", false);
    for (size_t i = 0; panel && i < 4; i++) {
        snprintf(name, sizeof name, "offset %u", offsets[i]);
        add_curve(panel, miss, RUN_CASCADE, offsets[i], name);
    }
}

static void add_chances(const struct findings *findings, struct sheet *sheet)
{
    static const char *const executed[] = {"CE", NULL};
    size_t event = event_in(findings, executed);
    if (event == SIZE_MAX)
        return;
    struct panel *panel = new_panel(
        sheet, "conditional branches executed a turn, `if` holds once in K", true);
    if (!panel)
        return;
    panel->turns = true;
    add_curve(panel, event, RUN_CHANCE, 0, findings->events[event].name);
}

static void plan_all(const struct findings *findings, struct sheet *sheet)
{
    add_levels(findings, new_panel(sheet, "hits a visit of a random chase", false), "L",
               ".hit", RUN_READ);
    add_levels(findings, new_panel(sheet, "misses a visit of a random chase", false), "L",
               ".miss", RUN_READ);
    add_levels(findings, new_panel(sheet, "TLBs: a visit, each in another page", true),
               "TLB", ".", RUN_PAGES);
    add_variants(findings, sheet);
    add_chances(findings, sheet);
}

static void plan_event(const struct findings *findings, size_t event, struct sheet *sheet)
{
    struct panel *panel = new_panel(sheet, findings->events[event].name, false);
    add_curve(panel, event, RUN_READ, 0, "random reads");
    add_curve(panel, event, RUN_WRITE, 0, "random writes");
    add_curve(panel, event, RUN_ASCEND, 0, "ascending reads");
    add_curve(panel, event, RUN_PAIRS, 0, "reads of pairs");
    panel = new_panel(sheet, "each visit in another page", true);
    add_curve(panel, event, RUN_PAGES, 0, "reads");
    add_curve(panel, event, RUN_PAGES_WRITE, 0, "writes");
}

/* Drawing. */

struct scale {
    struct axes axes;
    double low, high; /* of y, linear */
};

static double y_of(const struct scale *scale, double y)
{
    double share = (y - scale->low) / (scale->high - scale->low);
    return scale->axes.top + scale->axes.height * (1 - fmax(0, fmin(1, share)));
}

static bool fit_scale(const struct inspect_report *report, const struct panel *panel,
                      struct scale *scale)
{
    double x[POINTS], y[POINTS], least = INFINITY, most = 0;
    for (size_t i = 0; i < panel->n; i++) {
        size_t n = points_of(report, panel, &panel->curves[i], x, y);
        for (size_t j = 0; j < n; j++) {
            axes_hold(&scale->axes, x[j], 1);
            most = fmax(most, y[j]);
            least = fmin(least, y[j]);
        }
    }
    scale->low = panel->turns ? floor(least * 4) / 4 : 0;
    scale->high = fmax(scale->low + (panel->turns ? 0.5 : 1), most) * 1.02;
    return axes_finish(&scale->axes);
}

static void draw_ticks(struct canvas *canvas, const struct scale *scale)
{
    const struct axes *axes = &scale->axes;
    for (int i = 0; i <= 4; i++) {
        double value = scale->low + (scale->high / 1.02 - scale->low) * i / 4;
        double y = y_of(scale, value);
        char text[24];
        snprintf(text, sizeof text, "%.3g", value);
        canvas_line(canvas, axes->left, y, axes->left + axes->width, y, 1, false, ink_grid);
        canvas_text(canvas, axes->left - 8, y + 4, text,
                    (struct font){.size = 11, .align = ALIGN_RIGHT}, ink_quiet);
    }
}

/* The names of the curves stand in a row above the box; *left moves on. */
static void draw_curve(struct canvas *canvas, const struct scale *scale, const double *x,
                       const double *y, size_t n, const char *name, size_t number,
                       double *left)
{
    const struct font font = {.size = 11};
    double px[POINTS], py[POINTS];
    struct ink ink = ink_level(number % 6, false, 1);
    for (size_t i = 0; i < n; i++) {
        px[i] = axes_x(&scale->axes, x[i]);
        py[i] = y_of(scale, y[i]);
    }
    canvas_path(canvas, px, py, n, 1.5, ink);
    for (size_t i = 0; i < n; i++)
        canvas_dot(canvas, px[i], py[i]);
    canvas_dots(canvas, 4, ink);
    canvas_text(canvas, *left, scale->axes.top - 8, name, font, ink);
    *left += canvas_text_width(canvas, name, font) + 14;
}

static void draw_panel(struct canvas *canvas, const struct inspect_report *report,
                       const struct panel *panel, double left, double top)
{
    double x[POINTS], y[POINTS];
    char title[96];
    double legend = left + 48;
    struct scale scale = {
        .axes = axes_empty(left + 48, top + 48, PANEL_WIDTH - 72, PANEL_HEIGHT - 88)};
    canvas_text(canvas, left + 48, top + 20, utf8_clean(panel->title, title, sizeof title),
                (struct font){.size = 13, .bold = true}, ink_text);
    if (!fit_scale(report, panel, &scale)) {
        canvas_text(canvas, left + 48, top + 48, "nothing was counted",
                    (struct font){.size = 11}, ink_quiet);
        return;
    }
    axes_powers(canvas, &scale.axes, !panel->pages);
    draw_ticks(canvas, &scale);
    axes_frame(canvas, &scale.axes);
    for (size_t i = 0; i < panel->n; i++) {
        size_t n = points_of(report, panel, &panel->curves[i], x, y);
        draw_curve(canvas, &scale, x, y, n, panel->curves[i].name, i, &legend);
    }
    if (panel->turns) {
        size_t n = points_of(report, panel, &panel->curves[0], x, y);
        for (size_t i = 0; i < n; i++)
            y[i] = 2 + 1 / x[i];
        draw_curve(canvas, &scale, x, y, n, "2 + 1/K", panel->n, &legend);
    }
}

int inspect_plot(const char *path, const struct inspect_report *report, size_t event,
                 struct strata_error *error)
{
    struct canvas *canvas;
    struct sheet sheet = {.n = 0};
    if (event == SIZE_MAX)
        plan_all(report->findings, &sheet);
    else
        plan_event(report->findings, event, &sheet);
    size_t rows = (sheet.n + 1) / 2;
    int status = canvas_open(path, 2 * PANEL_WIDTH + 40, (double)(rows * PANEL_HEIGHT) + 40,
                             &canvas, error);
    if (status)
        return status;
    for (size_t i = 0; i < sheet.n; i++)
        draw_panel(canvas, report, &sheet.panels[i], 20 + (double)(i % 2) * PANEL_WIDTH,
                   20 + (double)(i / 2) * PANEL_HEIGHT);
    status = canvas_save(canvas, path, "strata inspect",
                         "Counts of events over the size of what is walked through", error);
    canvas_release(canvas);
    return status;
}
