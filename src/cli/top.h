/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the parts of `strata top` share: who is watched, and how it is arranged. */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include "report/top_report.h"

#include <stdbool.h>

enum { TOP_FILTER = 64 };

struct top {
    struct pmu_model model;
    struct pmu_list list;
    bool chosen; /* the events were named by the caller */
    pid_t *pids; /* NULL: all */
    size_t npids;
    enum watch_by by;
    struct watch *watch;
    double delay;    /* seconds between looks */
    unsigned frames; /* to be shown; 0: until the end */
    double began;
    char processor[256];
    struct users users;
    /* Arranging: */
    int sort; /* as in watch_sorted() */
    bool ascending;
    char filter[TOP_FILTER];
    bool *hidden;    /* of each column */
    size_t *columns; /* those that are not */
    size_t ncolumns;
    const struct watch_row **rows; /* owned: sorted and filtered */
    size_t nrows;
};

/* Begins to watch processes or processors, in the place of what was watched. On failure
 * that is kept. */
int top_watch(struct top *top, enum watch_by by, struct strata_error *error);

/* Looks, and arranges what was seen. */
int top_look(struct top *top, struct strata_error *error);

/* The same without a look, after a change of order, filter or columns. */
int top_arrange(struct top *top, struct strata_error *error);

/* What is to be shown. */
struct top_frame top_frame(struct top *top);

/* The live view, until it is left. */
int top_screen(struct top *top, struct strata_error *error);

#endif
