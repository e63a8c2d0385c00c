/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the levels of probe_levels.h are found in what was measured. */
#include "report/probe_levels.h"

#include "core/units.h"
#include "report/params.h"
#include "report/terminal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The latency that is told of the i-th level; what lies behind all caches is memory. */
static const struct strata_value *latency_of(const struct strata_probed *probed, size_t i)
{
    return i < (size_t)cache_count(probed) ? &probed->caches[i].latency_cycles
                                           : &probed->memory_cycles;
}

static void set_latency(struct level *level, const struct strata_value *latency)
{
    if (!value_known(latency) || latency->value <= 0)
        return;
    bool interval = isfinite(latency->low) && isfinite(latency->high);
    level->height = latency->value;
    level->low = interval ? latency->low : latency->value;
    level->high = interval ? latency->high : latency->value;
    format_cycles(latency, level->cost, sizeof level->cost);
}

/* Names the i-th level by the cache in its place, and puts it where its latency is. */
static void name_level(const struct strata_probed *probed, size_t i, struct level *level)
{
    level->low = level->high = level->height;
    set_latency(level, latency_of(probed, i));
    if (i >= (size_t)cache_count(probed)) {
        snprintf(level->name, sizeof level->name, "memory");
        return;
    }
    const struct strata_probed_cache *cache = &probed->caches[i];
    snprintf(level->name, sizeof level->name, "L%d", cache->level);
    if (value_known(&cache->effective)) {
        char size[SIZE_TEXT];
        snprintf(level->extent, sizeof level->extent, "%s",
                 format_size_measured(cache->effective.value, 0, size));
    }
}

static size_t from_steps(const struct strata_probed *probed, const struct series *series,
                         struct level levels[PROBE_LEVELS])
{
    size_t n = 0;
    double begin = series->points[0].x, last = series->points[series->npoints - 1].x;
    for (size_t i = 0; i < series->nsteps && n < PROBE_LEVELS; i++) {
        double end = fmin(series->steps[i].end, last), height = series->steps[i].height;
        if (!(end > begin && height > 0 && isfinite(height)))
            continue;
        levels[n] = (struct level){.begin = begin, .end = end, .height = height};
        name_level(probed, i, &levels[n++]);
        begin = end;
    }
    return n;
}

static size_t from_caches(const struct strata_probed *probed, double begin, double last,
                          struct level levels[PROBE_LEVELS])
{
    size_t n = 0;
    for (int i = 0; i <= cache_count(probed); i++) {
        bool memory = i == cache_count(probed);
        const struct strata_value *end = &probed->caches[memory ? 0 : i].effective;
        const struct strata_value *height = latency_of(probed, (size_t)i);
        double to = memory ? last : value_known(end) ? fmin(end->value, last) : NAN;
        if (!(to > begin) || !value_known(height) || height->value <= 0)
            continue;
        levels[n] = (struct level){.begin = begin, .end = to, .height = height->value};
        name_level(probed, (size_t)i, &levels[n++]);
        begin = to;
    }
    return n;
}

size_t list_levels(const struct strata_probed *probed, struct level levels[PROBE_LEVELS])
{
    const struct series *series = dataset_find(probed->data, "cache");
    if (!series || !series->npoints)
        return 0;
    if (series->nsteps)
        return from_steps(probed, series, levels);
    return from_caches(probed, series->points[0].x, series->points[series->npoints - 1].x,
                       levels);
}

const struct series *latency_series(const struct strata_probed *probed, size_t i)
{
    char name[32];
    snprintf(name, sizeof name, "latency%zu", i + 1);
    return dataset_find(probed->data, name);
}

double latency_footprint(const struct strata_probed *probed, size_t i, double visits)
{
    enum { PAGE = 4096 }; /* nothing is brought in beyond the smallest page */
    double unit = 1;
    for (size_t j = 0; j <= i && j < (size_t)cache_count(probed); j++) {
        const struct strata_probed_cache *cache = &probed->caches[j];
        unit = fmax(unit, value_known(&cache->line) ? cache->line.value : 1);
        unit = fmax(unit,
                    value_known(&cache->effective_line) ? cache->effective_line.value : 1);
    }
    return visits * fmin(unit, PAGE);
}

int curve_make(const struct series *series, struct curve *curve)
{
    *curve = (struct curve){0};
    if (!series || !series->npoints)
        return 0;
    curve->x = calloc(series->npoints, sizeof *curve->x);
    curve->y = calloc(series->npoints, sizeof *curve->y);
    if (!curve->x || !curve->y) {
        curve_release(curve);
        return -1;
    }
    for (size_t i = 0; i < series->npoints; i++) {
        double x = series->points[i].x, y = point_min(&series->points[i]);
        if (!(x > 0 && y > 0 && isfinite(y)))
            continue;
        curve->x[curve->n] = x;
        curve->y[curve->n++] = y;
    }
    return 0;
}

void curve_release(struct curve *curve)
{
    free(curve->x);
    free(curve->y);
    *curve = (struct curve){0};
}
