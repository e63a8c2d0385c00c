/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Drawing what `strata inspect` counted: a panel for each kind of walk, a curve for each
 * event or each variant of the walk (report/inspect_panels.h). Sizes are logarithmic,
 * counts a visit are not. Curves that lie on each other are all seen: what is drawn first
 * is wider and lighter. */
#include "core/fail.h"
#include "report/axes.h"
#include "report/inspect_panels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    PANEL_WIDTH = 500,
    PANEL_HEIGHT = 340,
    LEFT = 56,
    TOP = 72,
    RIGHT = 16,
    BOTTOM = 52
};

struct scale {
    struct axes axes;
    bool kernels; /* x is linear: the number of a kernel */
    size_t nkernels;
    double low, high; /* of y, linear */
};

static double x_of(const struct scale *scale, double x)
{
    if (!scale->kernels)
        return axes_x(&scale->axes, x);
    return scale->axes.left + scale->axes.width * (x + 0.5) / (double)scale->nkernels;
}

static double y_of(const struct scale *scale, double y)
{
    double share = (y - scale->low) / (scale->high - scale->low);
    return scale->axes.top + scale->axes.height * (1 - fmax(0, fmin(1, share)));
}

static bool fit_scale(const struct inspect_report *report, const struct panel *panel,
                      struct scale *scale)
{
    double x[PANEL_POINTS], y[PANEL_POINTS], least = INFINITY, most = 0;
    bool chance = panel->x == PANEL_CHANCE;
    for (size_t i = 0; i < panel->n; i++) {
        size_t n = panel_points(report, panel, &panel->curves[i], x, y);
        for (size_t j = 0; j < n; j++) {
            axes_hold(&scale->axes, scale->kernels ? x[j] + 1 : x[j], 1);
            most = fmax(most, y[j]);
            least = fmin(least, y[j]);
        }
    }
    scale->low = chance ? floor(least * 4) / 4 : 0;
    scale->high = fmax(scale->low + (chance ? 0.5 : 1), most) * 1.04;
    return axes_finish(&scale->axes);
}

/* The least of 1, 2, 2.5 and 5 times a power of ten that is not below a value. */
static double round_step(double value)
{
    static const double steps[] = {1, 2, 2.5, 5, 10};
    double power = pow(10, floor(log10(value)));
    size_t i = 0;
    while (i < 4 && steps[i] * power < value * 0.999)
        i++;
    return steps[i] * power;
}

static void draw_ticks(struct canvas *canvas, const struct scale *scale)
{
    const struct axes *axes = &scale->axes;
    double step = round_step((scale->high - scale->low) / 5);
    for (int i = 0; scale->low + step * i <= scale->high; i++) {
        double y = y_of(scale, scale->low + step * i);
        char text[24];
        snprintf(text, sizeof text, "%.4g", scale->low + step * i);
        canvas_line(canvas, axes->left, y, axes->left + axes->width, y, 1, false, ink_grid);
        canvas_text(canvas, axes->left - 8, y + 4, text,
                    (struct font){.size = 11, .align = ALIGN_RIGHT}, ink_quiet);
    }
}

static void draw_kernel_names(struct canvas *canvas, const struct inspect_report *report,
                              const struct scale *scale)
{
    const struct matrix *matrix = &report->table->matrices->branches;
    for (size_t k = 0; k < matrix->nkernels; k++)
        canvas_text(canvas, x_of(scale, (double)k),
                    scale->axes.top + scale->axes.height + 16, matrix->kernels[k].name,
                    (struct font){.size = 11, .align = ALIGN_CENTRE}, ink_quiet);
}

static void draw_titles(struct canvas *canvas, const struct panel *panel,
                        const struct scale *scale)
{
    const struct axes *axes = &scale->axes;
    const struct font small = {.size = 11, .align = ALIGN_CENTRE};
    canvas_text(canvas, axes->left, axes->top - 46, panel->title,
                (struct font){.size = 13, .bold = true}, ink_text);
    canvas_text(canvas, axes->left + axes->width / 2, axes->top + axes->height + 34,
                panel->x_title, small, ink_text);
    canvas_text_up(canvas, axes->left - 40, axes->top + axes->height / 2, panel->y_title,
                   small, ink_text);
}

/* Names of curves stand in rows above the box. */
struct legend {
    double x, y, left, right;
};

static void draw_name(struct canvas *canvas, struct legend *legend, const char *name,
                      double width, struct ink ink)
{
    const struct font font = {.size = 11};
    double wide = canvas_text_width(canvas, name, font);
    if (legend->x + wide + 18 > legend->right && legend->x > legend->left) {
        legend->x = legend->left;
        legend->y += 15;
    }
    canvas_line(canvas, legend->x, legend->y - 4, legend->x + 14, legend->y - 4, width,
                false, ink);
    canvas_text(canvas, legend->x + 18, legend->y, name, font, ink_text);
    legend->x += wide + 30;
}

/* The i-th of n curves. */
static void draw_curve(struct canvas *canvas, const struct scale *scale, const double *x,
                       const double *y, size_t points, size_t i, size_t n, const char *name,
                       struct legend *legend)
{
    double px[PANEL_POINTS], py[PANEL_POINTS];
    double width = 1.5 + 1.7 * (double)(n - 1 - i);
    struct ink ink = ink_level(i % 6, false, i + 1 == n ? 1 : 0.7);
    for (size_t j = 0; j < points; j++) {
        px[j] = x_of(scale, x[j]);
        py[j] = y_of(scale, y[j]);
    }
    canvas_path(canvas, px, py, points, width, ink);
    for (size_t j = 0; j < points; j++)
        canvas_dot(canvas, px[j], py[j]);
    canvas_dots(canvas, width + 2.5, ink);
    draw_name(canvas, legend, name, width, ink);
}

/* Bars beside each other, a group for each kernel. */
static void draw_bars(struct canvas *canvas, const struct scale *scale, const double *x,
                      const double *y, size_t points, size_t i, size_t n, const char *name,
                      struct legend *legend)
{
    double room = scale->axes.width / (double)scale->nkernels * 0.8;
    double wide = room / (double)n, base = y_of(scale, 0);
    struct ink ink = ink_level(i % 6, false, 1);
    for (size_t j = 0; j < points; j++) {
        double left = x_of(scale, x[j]) - room / 2 + wide * (double)i;
        double top = y_of(scale, y[j]);
        canvas_box(canvas, left, top, wide * 0.9, fmax(base - top, 1), ink);
    }
    draw_name(canvas, legend, name, 6, ink);
}

static void draw_panel(struct canvas *canvas, const struct inspect_report *report,
                       const struct panel *panel, double left, double top)
{
    double x[PANEL_POINTS], y[PANEL_POINTS];
    struct scale scale = {.kernels = panel->x == PANEL_KERNELS,
                          .nkernels = report->table->matrices->branches.nkernels,
                          .axes =
                              axes_empty(left + LEFT, top + TOP, PANEL_WIDTH - LEFT - RIGHT,
                                         PANEL_HEIGHT - TOP - BOTTOM)};
    struct legend legend = {.x = left + LEFT,
                            .y = top + TOP - 27,
                            .left = left + LEFT,
                            .right = left + PANEL_WIDTH - RIGHT};
    if (!fit_scale(report, panel, &scale))
        return;
    if (scale.kernels)
        draw_kernel_names(canvas, report, &scale);
    else
        axes_powers(canvas, &scale.axes, panel->x == PANEL_BYTES);
    draw_ticks(canvas, &scale);
    axes_frame(canvas, &scale.axes);
    draw_titles(canvas, panel, &scale);
    for (size_t i = 0; i < panel->n; i++) {
        size_t n = panel_points(report, panel, &panel->curves[i], x, y);
        (scale.kernels ? draw_bars : draw_curve)(canvas, &scale, x, y, n, i, panel->n,
                                                 panel->curves[i].name, &legend);
    }
}

static void draw_heading(struct canvas *canvas, const struct inspect_report *report)
{
    char text[200];
    bool simulated = strcmp(report->source, "sim") == 0;
    snprintf(text, sizeof text, "%.150s%s", report->processor,
             simulated ? ", simulated" : "");
    canvas_text(canvas, 20 + LEFT, 30, text, (struct font){.size = 15, .bold = true},
                ink_text);
}

int inspect_plot(const char *path, const struct inspect_report *report, size_t event,
                 struct strata_error *error)
{
    struct canvas *canvas;
    struct sheet sheet;
    plan_sheet(report, event, &sheet);
    if (!sheet.n)
        return fail(error, STRATA_FAILED, "%s: nothing was counted that could be drawn",
                    path);
    size_t columns = sheet.n > 1 ? 2 : 1, rows = (sheet.n + columns - 1) / columns;
    int status = canvas_open(path, (double)(columns * PANEL_WIDTH) + 40,
                             (double)(rows * PANEL_HEIGHT) + 60, &canvas, error);
    if (status)
        return status;
    draw_heading(canvas, report);
    for (size_t i = 0; i < sheet.n; i++)
        draw_panel(canvas, report, &sheet.panels[i],
                   20 + (double)(i % columns) * PANEL_WIDTH,
                   40 + (double)(i / columns) * PANEL_HEIGHT);
    status = canvas_save(canvas, path, "strata inspect",
                         "Counts of events over the size of what is walked through", error);
    canvas_release(canvas);
    return status;
}
