/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A box on a canvas with two logarithmic axes: where a value lies, the grid behind, and
 * the labels around it. */
#ifndef REPORT_AXES_H
#define REPORT_AXES_H

#include "report/canvas.h"

/* The inks of all plots. The colours of levels differ also for the colour-blind. */
extern const struct ink ink_text, ink_quiet, ink_frame, ink_grid, ink_curve, ink_points;
struct ink ink_level(size_t level, bool memory, double alpha);

struct axes {
    double left, top, width, height; /* pixels */
    double x_low, x_high;            /* log2 of the values at the edges */
    double y_low, y_high;            /* the same, upwards */
};

/* Widens the axes to hold a value; those of (struct axes){0} hold none yet when
 * x_low > x_high, as axes_empty() makes them. Values that are not positive are ignored. */
struct axes axes_empty(double left, double top, double width, double height);
void axes_hold(struct axes *axes, double x, double y);

/* Makes axes that hold too little to be drawn wide enough, and leaves room above and
 * below the values. Returns false if they hold nothing. */
bool axes_finish(struct axes *axes);

/* The pixel of a value, cut off at the edges. */
double axes_x(const struct axes *axes, double value);
double axes_y(const struct axes *axes, double value);

/* Grid lines and labels at powers of two, as sizes (32K) or as counts (32768). */
void axes_powers(struct canvas *canvas, const struct axes *axes, bool sizes);

/* Grid lines and labels at 1, 2 and 5 times powers of ten; a label shows the value times
 * `unit`, and stands right of the box if `right` (then without grid lines). */
void axes_decades(struct canvas *canvas, const struct axes *axes, double unit, bool right);

void axes_frame(struct canvas *canvas, const struct axes *axes);

#endif
