/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `strata stat` says: as a table, as JSON, as CSV. */
#ifndef REPORT_STAT_REPORT_H
#define REPORT_STAT_REPORT_H

#include "pmu/tally.h"
#include "report/terminal.h"

#include <stdio.h>

struct stat_report {
    const struct tally *tally;
    const char *what;      /* the program, "process 12", "all processors" */
    const char *source;    /* "perf" or "sim" */
    const char *processor; /* what counted: a processor, or a simulated machine */
    const char *note;      /* why it is simulated; NULL or "": nothing to say */
    double seconds;        /* on the wall; under simulation those of the simulator */
    double virtual; /* seconds of the simulated machine: cycles / frequency; 0: none */
    unsigned runs;
    bool interval; /* counts are those from `from` to `to`, seconds since the start */
    double from, to;
};

/* At most `width` columns wide. */
void stat_text(FILE *out, const struct stat_report *report, const struct style *style,
               int width);

/* One object, or with `compact` one line. STRATA_FAILED: out of memory. */
int stat_json(FILE *out, const struct stat_report *report, bool compact,
              struct strata_error *error);

/* `heading`: the names of the columns first. */
void stat_csv(FILE *out, const struct stat_report *report, bool heading);

#endif
