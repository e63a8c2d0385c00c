/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two ways in which `strata stat` counts; cmd_stat.c chooses one. */
#ifndef CLI_STAT_RUN_H
#define CLI_STAT_RUN_H

#include "cli/counted.h"
#include "collect/places.h"
#include "pmu/model.h"
#include "report/stat_report.h"

#include <stdbool.h>
#include <stdio.h>

enum stat_format { STAT_TEXT, STAT_JSON, STAT_CSV };

/* All that a measurement goes by. */
struct stat_job {
    struct pmu_model model;
    struct pmu_list list;
    bool all_metrics; /* also those whose events were not asked for */
    struct pmu_target target;
    char *const *argv;   /* the program, or NULL */
    bool program_counts; /* it is the target, not only the clock */
    double interval;     /* seconds; 0: none */
    double duration;     /* seconds; 0: until the end */
    unsigned runs;
    const char *machine; /* --machine, or NULL */
    const char *output;  /* --output, or NULL: standard error */
    enum stat_format format;
    char what[COUNTED_WHAT]; /* is counted */
};

/* How it ended. */
struct stat_end {
    bool program; /* there was one */
    bool signalled;
    int status;
};

int stat_run_perf(struct stat_job *job, struct stat_end *end, struct strata_error *error);

/* `why`: a few words before "simulating ...", or "". */
int stat_run_sim(struct stat_job *job, const char *why, struct stat_end *end,
                 struct strata_error *error);

/* Prints a report to where it belongs. */
int stat_print(const struct stat_job *job, const struct stat_report *report,
               struct strata_error *error);

/* The same for an interval, at once: *file is opened by the first, and NULL before it. */
int stat_print_interval(const struct stat_job *job, const struct stat_report *report,
                        FILE **file, struct strata_error *error);

#endif
