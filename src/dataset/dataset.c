/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The containers of a dataset: sorted points that grow, and order statistics that
 * neither allocate nor reorder the observations. */
#include "dataset/dataset.h"

#include "core/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for one more element; 0, or -1: out of memory, nothing changed. */
static int reserve(void **elements, size_t n, size_t *capacity, size_t size)
{
    if (n < *capacity)
        return 0;
    if (*capacity > SIZE_MAX / size / 2)
        return -1;
    size_t larger = *capacity ? *capacity * 2 : 8;
    void *moved = realloc(*elements, larger * size);
    if (!moved)
        return -1;
    *elements = moved;
    *capacity = larger;
    return 0;
}

struct dataset *dataset_create(void)
{
    return calloc(1, sizeof(struct dataset));
}

static void series_release(struct series *series)
{
    for (size_t i = 0; i < series->npoints; i++)
        free(series->points[i].y);
    free(series->points);
    free(series->steps);
    free(series->density);
    free(series);
}

void dataset_release(struct dataset *dataset)
{
    if (!dataset)
        return;
    for (size_t i = 0; i < dataset->nseries; i++)
        series_release(dataset->series[i]);
    free(dataset->series);
    trials_release(dataset->trials);
    free(dataset);
}

struct series *dataset_add(struct dataset *dataset, const char *name, const char *title,
                           const char *x_unit, const char *y_unit)
{
    void *all = dataset->series;
    if (reserve(&all, dataset->nseries, &dataset->capacity, sizeof *dataset->series))
        return NULL;
    dataset->series = all;
    struct series *series = calloc(1, sizeof *series);
    if (!series)
        return NULL;
    utf8_clean(name, series->name, sizeof series->name);
    utf8_clean(title, series->title, sizeof series->title);
    utf8_clean(x_unit, series->x_unit, sizeof series->x_unit);
    utf8_clean(y_unit, series->y_unit, sizeof series->y_unit);
    dataset->series[dataset->nseries++] = series;
    return series;
}

struct series *dataset_find(const struct dataset *dataset, const char *name)
{
    for (size_t i = 0; dataset && i < dataset->nseries; i++)
        if (!strcmp(dataset->series[i]->name, name))
            return dataset->series[i];
    return NULL;
}

/* The first point that is not left of x, by bisection. */
static size_t lower_bound(const struct series *series, double x)
{
    size_t low = 0, high = series->npoints;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (series->points[middle].x < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct point *series_at(struct series *series, double x)
{
    if (!isfinite(x))
        return NULL; /* it has no place in an ascending order */
    size_t at = lower_bound(series, x);
    if (at < series->npoints && series->points[at].x == x)
        return &series->points[at];
    void *points = series->points;
    if (reserve(&points, series->npoints, &series->capacity, sizeof *series->points))
        return NULL;
    series->points = points;
    struct point *point = &series->points[at];
    memmove(point + 1, point, (series->npoints - at) * sizeof *point);
    *point = (struct point){.x = x};
    series->npoints++;
    return point;
}

int point_add(struct point *point, double y)
{
    void *all = point->y;
    if (reserve(&all, point->n, &point->capacity, sizeof *point->y))
        return -1;
    point->y = all;
    point->y[point->n++] = y;
    return 0;
}

static int replace(struct step **kept, size_t *nkept, const struct step *steps, size_t n)
{
    struct step *copy = NULL;
    if (n) {
        copy = calloc(n, sizeof *copy);
        if (!copy)
            return -1;
        memcpy(copy, steps, n * sizeof *copy);
    }
    free(*kept);
    *kept = copy;
    *nkept = n;
    return 0;
}

int series_set_steps(struct series *series, const struct step *steps, size_t n)
{
    return replace(&series->steps, &series->nsteps, steps, n);
}

int series_set_density(struct series *series, const struct step *density, size_t n)
{
    return replace(&series->density, &series->ndensity, density, n);
}

double point_min(const struct point *point)
{
    double least = NAN;
    for (size_t i = 0; i < point->n; i++)
        least = fmin(least, point->y[i]); /* fmin() passes over NAN */
    return least;
}

/* Doubles as integers in the same order: the bits of a negative one are reversed. */
static uint64_t key_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double of_key(uint64_t key)
{
    uint64_t bits = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static size_t count_up_to(const struct point *point, uint64_t key)
{
    size_t n = 0;
    for (size_t i = 0; i < point->n; i++)
        n += !isnan(point->y[i]) && key_of(point->y[i]) <= key;
    return n;
}

/* The observation of rank k (0: the least), by bisecting the keys: 64 passes, where
 * sorting would need a copy and so a way to run out of memory. */
static double ranked(const struct point *point, size_t k)
{
    uint64_t low = key_of(-INFINITY), high = key_of(INFINITY);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (count_up_to(point, middle) > k)
            high = middle;
        else
            low = middle + 1;
    }
    return of_key(low);
}

double point_median(const struct point *point)
{
    size_t n = count_up_to(point, UINT64_MAX);
    if (!n)
        return NAN;
    return n % 2 ? ranked(point, n / 2)
                 : (ranked(point, n / 2 - 1) + ranked(point, n / 2)) / 2;
}
