/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What was counted, over one run or several, with the metrics that follow from it: what
 * `strata stat` has to report, wherever the counts came from. */
#ifndef PMU_TALLY_H
#define PMU_TALLY_H

#include "pmu/metrics.h"
#include "pmu/model.h"
#include "pmu/pmu.h"

/* The mean and the spread of numbers that come one by one (Welford's method). */
struct running_mean {
    unsigned n;
    double mean, squares; /* squares: sum of squared distances from the mean */
};

/* What a count of an event is in, where it is no number of events: "ns"; else "". */
const char *tally_unit(const char *event);

double running_deviation(const struct running_mean *mean); /* of the sample; 0 for one */

struct tally_row {
    char event[96];
    char device[32];   /* the kind of processor where there are several; else "" */
    const char *about; /* what it counts; "" if not known */
    enum pmu_state state;
    char why[PMU_WHY]; /* where it was not counted */
    struct running_mean count;
    uint64_t last; /* of the last run, exact */
    uint64_t enabled_ns, running_ns;
    bool scaled, user_only;
};

struct tally_metric {
    const struct metric *metric;
    struct running_mean value; /* n == 0: not known, `why` says why */
    char why[METRIC_WHY + 64];
};

struct tally {
    struct tally_row *rows;
    size_t nrows;
    struct tally_metric *metrics;
    size_t nmetrics;
};

/* n rows, to be filled in by the caller, and all metrics of a table. -1: no memory. */
int tally_init(struct tally *tally, size_t n, const struct metric_table *metrics);

/* A row for each event of a list that is bound to a model. Metrics over events that are not
 * in the list are left out unless `all_metrics`. */
int tally_init_list(struct tally *tally, const struct pmu_list *list,
                    const struct pmu_model *model, bool all_metrics);
void tally_release(struct tally *tally);

/* Leaves out metrics over events that no row has: they were not asked for. */
void tally_drop_metrics(struct tally *tally);

/* Takes the counts of a run, one for each row, and computes the metrics of that run. An
 * event that was counted in no run keeps the reason of the last one. */
void tally_run(struct tally *tally, const struct pmu_count *counts);

/* Forgets the runs, for the next interval. */
void tally_reset(struct tally *tally);

/* What came between two readings of the same event. */
void tally_difference(const struct pmu_count *before, const struct pmu_count *after,
                      struct pmu_count *difference);

#endif
