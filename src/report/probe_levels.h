/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The levels of the hierarchy as pieces of the latency curve, for the picture and the
 * plot. */
#ifndef REPORT_PROBE_LEVELS_H
#define REPORT_PROBE_LEVELS_H

#include "dataset/dataset.h"

#include <strata/probe.h>

enum { PROBE_LEVELS = STRATA_MAX_CACHES + 1 };

/* A flat piece of the curve: y == height for begin < x <= end. */
struct level {
    double begin, end, height;
    char name[16];   /* "L1", "memory" */
    char extent[32]; /* "32K", "" for memory */
    char cost[32];   /* "4 cycles" */
};

/* The steps that the analysis found in series "cache", or else what the caches say;
 * by footprint. Returns how many there are. */
size_t list_levels(const struct strata_probed *probed, struct level levels[PROBE_LEVELS]);

/* The part of a series that log axes can show: points with x > 0 and a minimum > 0. */
struct curve {
    size_t n;
    double *x, *y; /* y: the minimum of the observations */
};

int curve_make(const struct series *series, struct curve *curve); /* 0, or -1: no memory */
void curve_release(struct curve *curve);

#endif
