/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lines through counts, and how well measured numbers fit expected ones (Danalis et al.
 * 2019, section 5). Pure functions. */
#ifndef INSPECT_FIT_H
#define INSPECT_FIT_H

#include <stddef.h>

struct fit {
    double slope, start; /* y = start + slope * x */
    double r2;           /* 1: all points are on the line; 0: x explains nothing */
};

/* Least squares over n points; with fewer than two different x, all is 0. */
struct fit fit_line(const double *x, const double *y, size_t n);

/* exp(-2 (measured - expected)^2), over n pairs multiplied: 1 where all are equal. A pair
 * whose expected number is NAN does not count. What is measured is slope times r2, so that
 * a slope which the points do not support counts for little. */
double goodness(const double *measured, const double *expected, size_t n);

#endif
