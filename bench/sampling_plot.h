/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bars for the source's Figures 1 and 2: by how much misses and cycles of each program grow
 * when it is sampled, on a logarithmic axis, a colour for each rate. */
#ifndef BENCH_SAMPLING_PLOT_H
#define BENCH_SAMPLING_PLOT_H

#include "report/axes.h"
#include "runs.h"

enum { RATES = 3 };

struct growth {
    const char *name;
    double misses[RATES], cycles[RATES]; /* percent */
};

enum { PLOT_WIDTH = 900, PLOT_LEFT = 70, PLOT_TOP = 84, PLOT_HEIGHT = 230, PLOT_GAP = 96 };

static inline double bar_of(const struct growth *growth, bool cycles, int rate)
{
    return cycles ? growth->cycles[rate] : growth->misses[rate];
}

/* The bars of one program: a bar of what did not grow has no height. */
static inline void draw_bars(struct canvas *canvas, const struct axes *axes,
                             const struct growth *growth, bool cycles, double x,
                             double width)
{
    const struct font label = {11, false, ALIGN_CENTRE};
    double bottom = axes->top + axes->height, bar = width * 0.8 / RATES;
    for (int rate = 0; rate < RATES; rate++) {
        double value = bar_of(growth, cycles, rate);
        double top = value > 0 ? axes_y(axes, value) : bottom;
        canvas_box(canvas, x + width * 0.1 + rate * bar, top, bar - 2, bottom - top,
                   ink_level((size_t)rate, false, 0.85));
    }
    canvas_text(canvas, x + width / 2, bottom + 18, growth->name, label, ink_text);
}

static inline void draw_panel(struct canvas *canvas, const struct growth *growth, int n,
                              bool cycles, double top)
{
    const struct font title = {13, true, ALIGN_LEFT};
    struct axes axes = axes_empty(PLOT_LEFT, top, PLOT_WIDTH - PLOT_LEFT - 30, PLOT_HEIGHT);
    for (int i = 0; i < n; i++)
        for (int rate = 0; rate < RATES; rate++)
            axes_hold(&axes, 1, bar_of(&growth[i], cycles, rate));
    canvas_text(canvas, PLOT_LEFT, top - 12,
                cycles ? "More virtual cycles, percent" : "More cache misses, percent",
                title, ink_text);
    if (!axes_finish(&axes))
        return;
    axes_decades(canvas, &axes, 1, false);
    for (int i = 0; i < n; i++)
        draw_bars(canvas, &axes, &growth[i], cycles, PLOT_LEFT + axes.width * i / n,
                  axes.width / n);
    axes_frame(canvas, &axes);
}

static inline void draw_rates(struct canvas *canvas, const long *rates)
{
    const struct font font = {12, false, ALIGN_LEFT};
    double x = PLOT_LEFT;
    for (int rate = 0; rate < RATES; rate++) {
        char text[40];
        snprintf(text, sizeof text, "1 in %ld", rates[rate]);
        canvas_box(canvas, x, 34, 12, 12, ink_level((size_t)rate, false, 0.85));
        canvas_text(canvas, x + 18, 45, text, font, ink_text);
        x += 110;
    }
}

/* Draws both figures; ends the benchmark if that fails. */
static inline void draw_growth(const char *path, const struct growth *growth, int n,
                               const long *rates)
{
    const struct font title = {16, true, ALIGN_LEFT};
    struct strata_error error;
    struct canvas *canvas = NULL;
    double height = PLOT_TOP + 2 * PLOT_HEIGHT + PLOT_GAP + 40;
    int status = canvas_open(path, PLOT_WIDTH, height, &canvas, &error);
    if (!status) {
        canvas_text(canvas, PLOT_LEFT, 22, "What sampling of cache misses costs", title,
                    ink_text);
        draw_rates(canvas, rates);
        draw_panel(canvas, growth, n, false, PLOT_TOP);
        draw_panel(canvas, growth, n, true, PLOT_TOP + PLOT_HEIGHT + PLOT_GAP);
        status =
            canvas_save(canvas, path, "What sampling of cache misses costs",
                        "Increase in misses and in cycles by program and rate.", &error);
    }
    canvas_release(canvas);
    if (status)
        die("%s: %s", path, error.text);
    printf("plot: %s\n", path);
}

#endif
