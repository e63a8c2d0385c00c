/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sorting numbers, for medians and quantiles. */
#include "core/sort.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sort_ascending(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
}
