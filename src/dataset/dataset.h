/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A dataset: measured series with their provenance.
 *
 * A series holds points in ascending x (footprint, pages, stripe width…); a point
 * holds every observation made there, not only the best one, so that an analysis
 * can be repeated on sub-samples. What an analysis found (steps, density) is kept
 * beside the points, for plots. A log of every trial may be there, too.
 * docs/format/dataset.md describes the files. */
#ifndef DATASET_DATASET_H
#define DATASET_DATASET_H

#include "dataset/trials.h"

#include <stddef.h>
#include <stdint.h>
#include <strata/error.h>

struct point {
    double x;
    size_t n, capacity;
    double *y; /* n observations, in the order they were made */
};

/* A flat piece of a step function: y == height up to and including x == end. */
struct step {
    double end, height;
};

struct series {
    char name[32];   /* "cache", "tlb1", "line2"…: unique in the dataset */
    char title[80];  /* for people */
    char x_unit[16]; /* "bytes", "pages" */
    char y_unit[16]; /* "cycles" */
    size_t npoints, capacity;
    struct point *points;
    size_t nsteps;
    struct step *steps; /* found by the analysis; nsteps == 0 if none */
    size_t ndensity;
    struct step *density; /* density[i].end is a latency, .height the density there */
};

struct dataset {
    char machine[64]; /* provenance */
    char command[256];
    char version[32];
    char settings[256];
    char host[64],
        date[16]; /* where and when (2026-11-18); "" where that does not matter */
    uint64_t seed;
    double cycle_ns;
    size_t nseries, capacity;
    struct series **series;
    struct trials *trials; /* every trial, where that was asked for; else NULL */
};

struct dataset *dataset_create(void); /* NULL: out of memory */
void dataset_release(struct dataset *dataset);

/* A new, empty series owned by the dataset; NULL: out of memory. */
struct series *dataset_add(struct dataset *dataset, const char *name, const char *title,
                           const char *x_unit, const char *y_unit);
struct series *dataset_find(const struct dataset *dataset, const char *name);

/* The point at x, made in its place if it is not there; NULL: out of memory, or x is
 * not finite. Pointers to points are good until the next new point. */
struct point *series_at(struct series *series, double x);
int point_add(struct point *point, double y); /* 0, or -1: out of memory */

/* Replaces what the analysis found; 0, or -1: out of memory. */
int series_set_steps(struct series *series, const struct step *steps, size_t n);
int series_set_density(struct series *series, const struct step *density, size_t n);

/* Of the observations that are numbers; NAN if there is none. */
double point_min(const struct point *point);
double point_median(const struct point *point); /* O(64 n), no allocation */

/* Writes JSON or CSV by the ending of the path; the file appears whole or not at all. */
int dataset_write(const struct dataset *dataset, const char *path,
                  struct strata_error *error);

/* Reads what dataset_write() wrote as JSON. */
int dataset_read(const char *path, struct dataset **dataset, struct strata_error *error);

/* The same for text in memory; `name` stands for the file in messages. Any bytes may
 * be given: what is not a dataset is an error that says where. */
int dataset_parse(const char *name, const char *text, size_t size, struct dataset **dataset,
                  struct strata_error *error);

#endif
