/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The levels of the hierarchy as pieces of the latency curve, for the picture and the
 * plot. */
#ifndef REPORT_PROBE_LEVELS_H
#define REPORT_PROBE_LEVELS_H

#include "dataset/dataset.h"

#include <strata/probe.h>

enum { PROBE_LEVELS = STRATA_MAX_CACHES + 1 };

/* A level: from begin to end of the footprint, at the height of its latency. That is what
 * the table tells; where it is not known, what the curve shows, and then there is no cost.
 * The interval of the latency is low..high. */
struct level {
    double begin, end, height, low, high;
    char name[16];   /* "L1", "memory" */
    char extent[32]; /* "32K", "" for memory */
    char cost[32];   /* "4 cycles" */
};

/* They end where the steps do that the analysis found in series "cache", or else where the
 * caches say; by footprint. Returns how many there are. */
size_t list_levels(const struct strata_probed *probed, struct level levels[PROBE_LEVELS]);

/* What the latency of the i-th level was told from: its series, or NULL; and the bytes that
 * so many visits of it take up in caches, each with what comes in beside it. */
const struct series *latency_series(const struct strata_probed *probed, size_t i);
double latency_footprint(const struct strata_probed *probed, size_t i, double visits);

/* The part of a series that log axes can show: points with x > 0 and a minimum > 0. */
struct curve {
    size_t n;
    double *x, *y; /* y: the minimum of the observations */
};

int curve_make(const struct series *series, struct curve *curve); /* 0, or -1: no memory */
void curve_release(struct curve *curve);

#endif
