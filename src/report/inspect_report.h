/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `strata inspect` says: as text, as JSON, as CSV, as a drawing. */
#ifndef REPORT_INSPECT_REPORT_H
#define REPORT_INSPECT_REPORT_H

#include "inspect/findings.h"
#include "report/terminal.h"

#include <stdio.h>

struct inspect_report {
    const struct counts_table *table;
    const struct findings *findings;
    const char *source;    /* "perf" or "sim" */
    const char *processor; /* what counted */
    const char *note;      /* what it rests on */
    double seconds;
};

/* What counted, and that it was simulated, where it was. */
void inspect_where(FILE *out, const struct inspect_report *report);

/* All events by category; then the studies, if they were run. */
void inspect_text(FILE *out, const struct inspect_report *report,
                  const struct style *style);

/* One event in words, with its curves. */
void inspect_explain(FILE *out, const struct inspect_report *report, size_t event,
                     const struct style *style);

/* The event that counts hits of loads in L2, which tell of prefetching into it; SIZE_MAX:
 * there is none. */
size_t inspect_second_hits(const struct findings *findings);

/* The studies: three codes of three lines, and branches that are taken once in K. */
void inspect_studies(FILE *out, const struct inspect_report *report,
                     const struct style *style);

/* Which events together count what a category does. */
void inspect_composite(FILE *out, const struct inspect_report *report,
                       const struct matrix_category *wanted,
                       const struct composite *composite);

/* What an event of the tables should be, by its name there; NULL: strata does not say. */
const char *inspect_expected(const char *event);

/* Whether each event counts what its name claims. Returns how many do not. */
size_t inspect_verdicts(FILE *out, const struct inspect_report *report,
                        const struct style *style);

/* STRATA_FAILED: out of memory. */
int inspect_json(FILE *out, const struct inspect_report *report,
                 struct strata_error *error);

void inspect_csv(FILE *out, const struct inspect_report *report);

/* The curves of one event, or with SIZE_MAX those of all that are in a category of caches
 * and TLBs, and the cascade. */
int inspect_plot(const char *path, const struct inspect_report *report, size_t event,
                 struct strata_error *error);

#endif
