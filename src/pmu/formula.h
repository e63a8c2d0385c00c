/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Formulas such as `1000 * l1d_misses / instructions`: + - * / and parentheses over
 * numbers and names of events. */
#ifndef PMU_FORMULA_H
#define PMU_FORMULA_H

#include "pmu/metrics.h"

/* Compiles a text, which is cut into the names that the steps point to. Returns NULL, or
 * what is wrong with it. */
const char *formula_compile(char *text, struct metric *metric);

#endif
