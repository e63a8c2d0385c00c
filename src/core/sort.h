/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sorting numbers, for medians and quantiles. */
#ifndef CORE_SORT_H
#define CORE_SORT_H

#include <stddef.h>

void sort_ascending(double *values, size_t n); /* none of them NAN */

#endif
