/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A finding to be shown: a processor with three caches, of which not all is known, two
 * TLBs for base pages and one for huge ones, and curves that fit them. */
#ifndef TEST_REPORT_FIXTURE_H
#define TEST_REPORT_FIXTURE_H

#include "analyze/curve.h"
#include "core/rng.h"
#include "dataset/dataset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strata/probe.h>
#include <string.h>

static inline struct strata_value fixture_known(double value, double low, double high,
                                                double confidence)
{
    return (struct strata_value){
        .known = true, .value = value, .low = low, .high = high, .confidence = confidence};
}

static inline struct strata_value fixture_exact(double value)
{
    return fixture_known(value, value, value, 0.99);
}

static inline struct strata_value fixture_unknown(const char *why)
{
    struct strata_value value = {.known = false};
    snprintf(value.why, sizeof value.why, "%s", why);
    return value;
}

/* A soft staircase: the height of the level that x falls into, with the upper fifth of
 * each level (in octaves) a rise to the next. */
static inline double fixture_latency(double x, const double *ends, const double *heights,
                                     size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double rise = (log2(x) - log2(ends[i])) / 0.8;
        if (rise <= 0)
            return heights[i];
        if (rise < 1)
            return heights[i] * pow(heights[i + 1] / heights[i], rise);
    }
    return heights[n];
}

static inline void fixture_observe(struct series *series, double x, double y,
                                   struct rng *rng)
{
    struct point *point = series_at(series, x);
    for (int i = 0; point && i < 5; i++)
        if (point_add(point, y * (1 + 0.06 * rng_unit(rng) * rng_unit(rng))))
            abort();
}

static inline void fixture_analyse(struct series *series)
{
    struct density found;
    struct levels levels;
    double x[512], y[512];
    struct step steps[MAX_LEVELS], bins[DENSITY_BINS];
    for (size_t i = 0; i < series->npoints; i++) {
        x[i] = series->points[i].x;
        y[i] = point_min(&series->points[i]);
    }
    if (find_levels(x, y, series->npoints, &levels, &found))
        abort();
    for (size_t i = 0; i < levels.n; i++)
        steps[i] = (struct step){x[levels.plateau[i].last], levels.plateau[i].height};
    for (size_t i = 0; i < DENSITY_BINS; i++) {
        double at = found.low + (found.high - found.low) * (double)i / (DENSITY_BINS - 1);
        bins[i] = (struct step){exp2(at), found.bins[i]};
    }
    if (series_set_steps(series, steps, levels.n) ||
        series_set_density(series, bins, DENSITY_BINS))
        abort();
}

static inline void fixture_series(struct dataset *data, const char *name, const char *title,
                                  double first, double last, const double *ends,
                                  const double *heights, size_t n)
{
    struct rng rng = {7};
    const char *unit = strcmp(name, "cache") ? "pages" : "bytes";
    struct series *series = dataset_add(data, name, title, unit, "cycles");
    if (!series)
        abort();
    for (double x = first; x <= last; x *= exp2(0.125))
        fixture_observe(series, round(x), fixture_latency(x, ends, heights, n), &rng);
    fixture_analyse(series);
}

static inline struct dataset *fixture_data(void)
{
    static const double sizes[] = {32 << 10, 800 << 10, 9 << 20}, cost[] = {4, 14, 50, 390};
    static const double pages[] = {72, 3072}, tlb[] = {4, 11, 43};
    static const double fewer[] = {4608, 196608}; /* 64 times as many */
    static const double huge_pages[] = {72}, huge[] = {4, 11};
    struct dataset *data = dataset_create();
    if (!data)
        abort();
    snprintf(data->machine, sizeof data->machine, "AMD EPYC 9R14");
    snprintf(data->command, sizeof data->command, "strata probe --data x.json");
    snprintf(data->version, sizeof data->version, "0.1.0");
    snprintf(data->settings, sizeof data->settings, "source timing, cpu 1");
    data->seed = 20110410;
    data->cycle_ns = 0.27;
    fixture_series(data, "cache", "cache-only string", 1024, 128 << 20, sizes, cost, 3);
    fixture_series(data, "tlb1", "one line a page", 8, 8192, pages, tlb, 2);
    fixture_series(data, "tlb2", "two lines a page", 8, 8192, pages, tlb, 2);
    fixture_series(data, "packed1", "as many lines, packed", 8, 8192, fewer, tlb, 2);
    fixture_series(data, "huge-tlb1", "one line a page", 4, 512, huge_pages, huge, 1);
    return data;
}

static inline void fixture_caches(struct strata_probed *probed)
{
    static const double cycles[] = {4, 14.3, 50};
    for (int i = 0; i < 3; i++)
        probed->caches[i] = (struct strata_probed_cache){
            .level = i + 1,
            .line = fixture_exact(64),
            .effective_line = fixture_exact(64),
            .ways =
                fixture_unknown("its index is hashed, and 4 tries found no eviction set"),
            .latency_cycles = fixture_known(cycles[i], cycles[i], cycles[i] * 1.02, 0.97),
            .latency_ns =
                fixture_known(cycles[i] * 0.27, cycles[i] * 0.27, cycles[i] * 0.28, 0.97),
        };
    probed->caches[0].size = probed->caches[0].effective = fixture_exact(32 << 10);
    probed->caches[0].ways = fixture_exact(8);
    probed->caches[1].size = fixture_known(1 << 20, 1 << 20, 1 << 20, 0.81);
    probed->caches[1].effective = fixture_known(786432, 786432, 917504, 0.96);
    probed->caches[1].effective_line = fixture_exact(128);
    probed->caches[2].size = fixture_unknown("other guests use a part of it.");
    probed->caches[2].effective = fixture_known(9437184, 8912896, 12582912, 0.95);
    probed->caches[2].line = fixture_unknown("prefetching hides it");
    probed->caches[2].effective_line = fixture_exact(256);
    probed->ncaches = 3;
}

static inline void fixture_tlbs(struct strata_probed *probed)
{
    static const struct {
        int level;
        uint64_t page;
        double entries, penalty;
    } tlbs[] = {{1, 4096, 72, 7}, {2, 4096, 3072, 32}, {1, 2 << 20, 72, 7}};
    for (int i = 0; i < 3; i++)
        probed->tlbs[i] = (struct strata_probed_tlb){
            .level = tlbs[i].level,
            .page = tlbs[i].page,
            .entries = fixture_exact(tlbs[i].entries),
            .ways = fixture_exact(tlbs[i].entries),
            .penalty_cycles = fixture_exact(tlbs[i].penalty),
            .penalty_ns = fixture_exact(tlbs[i].penalty * 0.27),
        };
    probed->tlbs[1].ways = fixture_unknown("pages of one set were not found");
    probed->ntlbs = 3;
}

/* The caller releases it with dataset_release(probed.data). */
static inline struct strata_probed fixture_probed(void)
{
    struct strata_probed probed = {
        .name = "AMD EPYC 9R14",
        .source = "timing",
        .method = "timing",
        .page = 4096,
        .huge = 2 << 20,
        .cycle_ns = 0.27,
        .cpu = 1,
        .seconds = 11.23,
        .busy = 0.031,
        .seed = 20110410,
        .memory_cycles = fixture_known(390, 350, 460, 0.95),
        .memory_ns = fixture_known(105.3, 94, 124, 0.95),
        .nnotes = 1,
        .notes = {"L3: less than usual may be free; other guests seem to use the rest."},
        .data = fixture_data(),
    };
    fixture_caches(&probed);
    fixture_tlbs(&probed);
    return probed;
}

#endif
