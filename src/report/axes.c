/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where values lie on two logarithmic axes, and what is drawn there. */
#include "report/axes.h"

#include "core/units.h"

#include <math.h>
#include <stdio.h>

const struct ink ink_text = {0x1f2933, 1}, ink_quiet = {0x616e7c, 1},
                 ink_frame = {0x9aa5b1, 1}, ink_grid = {0xe4e7eb, 1},
                 ink_curve = {0x323f4b, 1}, ink_points = {0x616e7c, 0.22};

static const struct font tick_font = {11, false, ALIGN_CENTRE};

struct ink ink_level(size_t level, bool memory, double alpha)
{
    /* Okabe and Ito's palette, less its yellow, which is too light for text */
    static const uint32_t colours[] = {0x0072b2, 0x009e73, 0xb87a00,
                                       0xaa4b86, 0x5b5ea6, 0x7d7a00};
    return (struct ink){
        memory ? 0xc14a00 : colours[level % (sizeof colours / sizeof *colours)], alpha};
}

struct axes axes_empty(double left, double top, double width, double height)
{
    return (struct axes){left,     top,       width,    height,
                         INFINITY, -INFINITY, INFINITY, -INFINITY};
}

void axes_hold(struct axes *axes, double x, double y)
{
    if (!(x > 0 && y > 0 && isfinite(x) && isfinite(y)))
        return;
    axes->x_low = fmin(axes->x_low, log2(x));
    axes->x_high = fmax(axes->x_high, log2(x));
    axes->y_low = fmin(axes->y_low, log2(y));
    axes->y_high = fmax(axes->y_high, log2(y));
}

/* At least `span` octaves, around what is there. */
static void widen(double *low, double *high, double span)
{
    double missing = span - (*high - *low);
    if (missing > 0) {
        *low -= missing / 2;
        *high += missing / 2;
    }
}

bool axes_finish(struct axes *axes)
{
    if (axes->x_low > axes->x_high)
        return false;
    widen(&axes->x_low, &axes->x_high, 1);
    axes->y_low -= 0.5;
    axes->y_high += 0.5;
    widen(&axes->y_low, &axes->y_high, 3);
    return true;
}

static double share(double value, double low, double high)
{
    double at = value > 0 ? (log2(value) - low) / (high - low) : 0;
    return fmax(0, fmin(1, at));
}

double axes_x(const struct axes *axes, double value)
{
    return axes->left + axes->width * share(value, axes->x_low, axes->x_high);
}

double axes_y(const struct axes *axes, double value)
{
    return axes->top + axes->height * (1 - share(value, axes->y_low, axes->y_high));
}

void axes_powers(struct canvas *canvas, const struct axes *axes, bool sizes)
{
    double octave = axes->width / (axes->x_high - axes->x_low), room = sizes ? 38 : 48;
    int step = octave > 0 ? (int)fmax(1, ceil(room / octave)) : 1;
    double bottom = axes->top + axes->height;
    for (int power = (int)ceil(axes->x_low - 1e-9); power <= axes->x_high + 1e-9; power++) {
        char label[SIZE_TEXT];
        double x = axes_x(axes, exp2(power));
        if (power % step)
            continue;
        if (sizes)
            format_size_short(exp2(power), label);
        else
            snprintf(label, sizeof label, "%.0f", exp2(power));
        canvas_line(canvas, x, axes->top, x, bottom, 1, false, ink_grid);
        canvas_text(canvas, x, bottom + 16, label, tick_font, ink_quiet);
    }
}

static void draw_tick(struct canvas *canvas, const struct axes *axes, double value,
                      double label, bool right)
{
    char text[24];
    double y = axes_y(axes, value), end = axes->left + axes->width;
    struct font font = tick_font;
    font.align = right ? ALIGN_LEFT : ALIGN_RIGHT;
    snprintf(text, sizeof text, "%.5g", label);
    if (right)
        canvas_line(canvas, end, y, end + 4, y, 1, false, ink_frame);
    else
        canvas_line(canvas, axes->left, y, end, y, 1, false, ink_grid);
    canvas_text(canvas, right ? end + 8 : axes->left - 8, y + 4, text, font, ink_quiet);
}

void axes_decades(struct canvas *canvas, const struct axes *axes, double unit, bool right)
{
    static const double firsts[] = {1, 2, 5};
    double last = axes->top + axes->height + 100; /* pixel of the label before */
    for (int power = -4; power <= 9; power++)
        for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
            double label = firsts[i] * pow(10, power), value = label / unit;
            if (!(value > 0) || log2(value) < axes->y_low || log2(value) > axes->y_high ||
                last - axes_y(axes, value) < 14)
                continue;
            draw_tick(canvas, axes, value, label, right);
            last = axes_y(axes, value);
        }
}

void axes_frame(struct canvas *canvas, const struct axes *axes)
{
    double right = axes->left + axes->width, bottom = axes->top + axes->height;
    canvas_line(canvas, axes->left, axes->top, axes->left, bottom, 1, false, ink_frame);
    canvas_line(canvas, axes->left, bottom, right, bottom, 1, false, ink_frame);
}
