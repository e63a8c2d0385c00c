/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plot of `strata probe --method counters`, like figures 1 to 6 of Dongarra and others
 * (2004): misses per visit against the size of an array, and against the stride in one that
 * no level holds, with the access time beside them. Caches are on the left, TLBs on the
 * right. What was found is marked where the curves show it.
 *
 * Curves of several levels often are the same for a while: nearer levels are drawn broader,
 * so that they show on both sides of those that lie on them. */
#include "report/counts_plot.h"
#include "core/units.h"
#include "core/utf8.h"
#include "report/axes.h"
#include "report/params.h"
#include "report/terminal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 1120,
    HEIGHT = 770,
    LEFT = 84,
    TOP = 118,
    PANEL_WIDTH = 400,
    PANEL_HEIGHT = 220,
    ACROSS = 150, /* between panels, with labels on both sides */
    DOWN = 112,
};

static const struct font title_font = {19, true, ALIGN_LEFT},
                         text_font = {12, false, ALIGN_LEFT},
                         panel_font = {13, true, ALIGN_LEFT},
                         label_font = {11, false, ALIGN_CENTRE},
                         right_font = {11, false, ALIGN_RIGHT},
                         key_font = {11, false, ALIGN_LEFT};

/* A panel: the series of a kernel whose names go on with `what`. */
struct panel {
    const char *kernel, *what, *title, *x_title;
    int column, row;
};

static const struct panel panels[] = {
    {"size", "l", "Caches by array size", "size of the array, bytes", 0, 0},
    {"size", "tlb", "TLBs by array size", "size of the array, bytes", 1, 0},
    {"block", "l", "Caches by stride", "stride in an array that no level holds, bytes", 0,
     1},
    {"block", "tlb", "TLBs by stride", "stride in an array that no level holds, bytes", 1,
     1},
};

bool has_counts(const struct strata_probed *probed)
{
    return probed->data && dataset_find(probed->data, "size-time");
}

/* The level that a series of a panel is about; 0: it is none of them. */
static int level_of(const struct panel *panel, const struct series *series)
{
    char prefix[32];
    int n = snprintf(prefix, sizeof prefix, "%s-%s", panel->kernel, panel->what);
    if (strncmp(series->name, prefix, (size_t)n) != 0)
        return 0;
    char digit = series->name[n];
    return digit >= '1' && digit <= '9' && !series->name[n + 1] ? digit - '0' : 0;
}

static double highest(const struct series *series)
{
    double most = 0;
    for (size_t i = 0; i < series->npoints; i++)
        most = fmax(most, point_min(&series->points[i]));
    return most;
}

static double panel_highest(const struct strata_probed *probed, const struct panel *panel)
{
    double most = 0;
    for (size_t i = 0; i < probed->data->nseries; i++)
        if (level_of(panel, probed->data->series[i]))
            most = fmax(most, highest(probed->data->series[i]));
    return most;
}

static void draw_series(struct canvas *canvas, const struct axes *axes,
                        const struct series *series, double most, double width,
                        struct ink ink)
{
    size_t n = series->npoints;
    double *x = calloc(2 * n + 1, sizeof *x);
    if (!x)
        return;
    double *y = x + n;
    for (size_t i = 0; i < n; i++) {
        double share = most > 0 ? point_min(&series->points[i]) / most : 0;
        x[i] = axes_x(axes, series->points[i].x);
        y[i] = axes->top + axes->height - share * (axes->height - 10);
    }
    canvas_path(canvas, x, y, n, width, ink);
    free(x);
}

/* Labels of a linear axis and its title, on one side. */
static void label_axis(struct canvas *canvas, const struct axes *axes, double most,
                       bool right, const char *title)
{
    double x = right ? axes->left + axes->width + 58 : axes->left - 64;
    canvas_text_up(canvas, x, axes->top + axes->height / 2, title, label_font, ink_quiet);
    for (int i = 0; i <= 4; i++) {
        char text[32];
        double value = most * i / 4;
        double y = axes->top + axes->height - i / 4.0 * (axes->height - 10);
        snprintf(text, sizeof text, value < 100 ? "%.2g" : "%.0f", value);
        if (right)
            canvas_text(canvas, axes->left + axes->width + 6, y + 4, text, key_font,
                        ink_quiet);
        else
            canvas_text(canvas, axes->left - 6, y + 4, text, right_font, ink_quiet);
        if (!right)
            canvas_line(canvas, axes->left, y, axes->left + axes->width, y, 0.6, false,
                        ink_grid);
    }
}

static void mark(struct canvas *canvas, const struct axes *axes, double x, int level)
{
    if (log2(x) < axes->x_low || log2(x) > axes->x_high)
        return;
    double at = axes_x(axes, x);
    canvas_line(canvas, at, axes->top, at, axes->top + axes->height, 1, true,
                ink_level((size_t)level - 1, false, 0.7));
}

/* Sizes, lines, reaches and pages: where a curve of the panel changes. */
static void mark_found(struct canvas *canvas, const struct axes *axes,
                       const struct strata_probed *probed, const struct panel *panel)
{
    bool size = strcmp(panel->kernel, "size") == 0, caches = strcmp(panel->what, "l") == 0;
    for (int i = 0; caches && i < cache_count(probed); i++) {
        const struct strata_probed_cache *cache = &probed->caches[i];
        const struct strata_value *value = size ? &cache->size : &cache->line;
        if (value_known(value))
            mark(canvas, axes, value->value, cache->level);
    }
    for (int i = 0; !caches && i < tlb_count(probed); i++) {
        const struct strata_probed_tlb *tlb = &probed->tlbs[i];
        if (value_known(&tlb->entries) && tlb->page <= probed->page)
            mark(canvas, axes,
                 size ? tlb->entries.value * (double)tlb->page : (double)tlb->page,
                 tlb->level);
    }
}

static double draw_key(struct canvas *canvas, double x, double y, const char *text,
                       double width, struct ink ink)
{
    canvas_line(canvas, x, y - 4, x + 18, y - 4, width, false, ink);
    canvas_text(canvas, x + 22, y, text, key_font, ink_quiet);
    return x + 22 + canvas_text_width(canvas, text, key_font) + 14;
}

/* How broad the curve of a level is: the farther out, the thinner. */
static double breadth(const struct strata_probed *probed, const struct panel *panel,
                      int level)
{
    int last = level;
    for (size_t i = 0; i < probed->data->nseries; i++) {
        int other = level_of(panel, probed->data->series[i]);
        last = other > last ? other : last;
    }
    return 1.8 + 2.6 * (last - level);
}

static void draw_levels(struct canvas *canvas, const struct axes *axes,
                        const struct strata_probed *probed, const struct panel *panel,
                        double most)
{
    double key = axes->left;
    for (size_t i = 0; i < probed->data->nseries; i++) {
        const struct series *series = probed->data->series[i];
        int level = level_of(panel, series);
        if (!level)
            continue;
        struct ink ink = ink_level((size_t)level - 1, false, 1);
        double width = breadth(probed, panel, level);
        draw_series(canvas, axes, series, most, width, ink);
        key = draw_key(canvas, key, axes->top - 10, series->title, width, ink);
    }
    draw_key(canvas, key, axes->top - 10, "access time", 1.4, ink_curve);
}

static void draw_curves(struct canvas *canvas, const struct axes *axes,
                        const struct strata_probed *probed, const struct panel *panel)
{
    double most = panel_highest(probed, panel);
    char name[32];
    snprintf(name, sizeof name, "%s-time", panel->kernel);
    const struct series *time = dataset_find(probed->data, name);
    label_axis(canvas, axes, most > 0 ? most : 1, false, "misses per visit");
    draw_levels(canvas, axes, probed, panel, most);
    if (!time)
        return;
    label_axis(canvas, axes, highest(time), true, "access time, cycles");
    draw_series(canvas, axes, time, highest(time), 1.4, ink_curve);
}

static void draw_panel(struct canvas *canvas, const struct strata_probed *probed,
                       const struct panel *panel)
{
    struct axes axes =
        axes_empty(LEFT + panel->column * (PANEL_WIDTH + ACROSS),
                   TOP + panel->row * (PANEL_HEIGHT + DOWN), PANEL_WIDTH, PANEL_HEIGHT);
    for (size_t i = 0; i < probed->data->nseries; i++) {
        const struct series *series = probed->data->series[i];
        for (size_t j = 0; level_of(panel, series) && j < series->npoints; j++)
            axes_hold(&axes, series->points[j].x, 1);
    }
    canvas_text(canvas, axes.left, axes.top - 30, panel->title, panel_font, ink_text);
    if (!axes_finish(&axes)) {
        canvas_text(canvas, axes.left, axes.top + 40, "No event was counted.", text_font,
                    ink_quiet);
        return;
    }
    axes_powers(canvas, &axes, true);
    mark_found(canvas, &axes, probed, panel);
    draw_curves(canvas, &axes, probed, panel);
    axes_frame(canvas, &axes);
    canvas_text(canvas, axes.left + axes.width / 2, axes.top + axes.height + 36,
                panel->x_title, label_font, ink_quiet);
}

int counts_plot(const struct strata_probed *probed, const char *path,
                struct strata_error *error)
{
    struct canvas *canvas = NULL;
    char name[STRATA_NAME_SIZE + 1], origin[400], text[512];
    int status = canvas_open(path, WIDTH, HEIGHT, &canvas, error);
    if (status)
        return status;
    utf8_clean(*probed->name ? probed->name : "Memory hierarchy", name, sizeof name);
    format_origin(probed, origin, sizeof origin);
    snprintf(text, sizeof text,
             "%s. Dashed: sizes and reaches, lines and pages that were found.", origin);
    canvas_text(canvas, 18, 36, name, title_font, ink_text);
    canvas_text(canvas, 18, 58, text, text_font, ink_quiet);
    for (size_t i = 0; i < sizeof panels / sizeof *panels; i++)
        draw_panel(canvas, probed, &panels[i]);
    status = canvas_save(canvas, path, name,
                         "Misses per visit by array size and by stride, with access times.",
                         error);
    canvas_release(canvas);
    return status;
}
