/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Metrics: formulas over the plain names of events, with what is typical for them
 * (metrics/common.metrics). */
#ifndef PMU_METRICS_H
#define PMU_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <strata/error.h>

enum metric_op {
    METRIC_NUMBER,
    METRIC_EVENT,
    METRIC_ADD,
    METRIC_SUB,
    METRIC_MUL,
    METRIC_DIV
};

/* A step of a formula in reverse Polish notation. */
struct metric_step {
    enum metric_op op;
    double number;
    const char *event;
};

enum { METRIC_STEPS = 32 };

struct metric {
    const char *name;  /* "l1d_mpki" */
    const char *label; /* what is counted, for a table: "l1d misses" */
    const char *unit;  /* "per 1000 instructions" */
    const char *about; /* a sentence */
    const char *formula;
    const char *event; /* the event that it is about, in whose row it is shown; or NULL */
    struct metric_step steps[METRIC_STEPS];
    uint32_t nsteps;
    bool has_typical;
    double typical[2];
    double poor;      /* from here on it is well above typical */
    const char *hint; /* what a value from there on suggests; NULL: nothing */
    uint32_t line;
};

struct metric_table {
    char *text; /* owned */
    struct metric *metrics;
    size_t n;
};

int metric_table_read(const char *path, struct metric_table *table,
                      struct strata_error *error);
int metric_table_parse(const char *file, const char *text, size_t size,
                       struct metric_table *table, struct strata_error *error);
void metric_table_release(struct metric_table *table);

enum { METRIC_WHY = 240 };

/* Where counts come from: true and the count of an event, or false and why there is none,
 * in why[METRIC_WHY]. */
typedef bool metric_source(void *context, const char *event, double *count, char *why);

/* Evaluates a formula. False: `why` says what was missing. */
bool metric_value(const struct metric *metric, metric_source *source, void *context,
                  double *value, char why[METRIC_WHY]);

/* "below typical", "typical", "above typical", "well above typical"; NULL where nothing is
 * said to be typical. */
const char *metric_verdict(const struct metric *metric, double value);

#endif
