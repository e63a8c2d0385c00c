/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lines and goodness; fit.h has the contract. */
#include "inspect/fit.h"

#include <math.h>

static double mean(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return n ? sum / (double)n : 0;
}

struct fit fit_line(const double *x, const double *y, size_t n)
{
    double mx = mean(x, n), my = mean(y, n), xx = 0, xy = 0, yy = 0;
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
        yy += (y[i] - my) * (y[i] - my);
    }
    struct fit fit = {0};
    if (xx <= 0)
        return fit;
    fit.slope = xy / xx;
    fit.start = my - fit.slope * mx;
    fit.r2 = yy > 0 ? xy * xy / (xx * yy) : 0;
    return fit;
}

double goodness(const double *measured, const double *expected, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(expected[i]))
            sum += (measured[i] - expected[i]) * (measured[i] - expected[i]);
    return exp(-2 * sum);
}
