/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The figures of a row: events, misses and latency, and the columns that show them.
 *
 * Exact counts are shown as they are. Samples are shown as estimates, a sample standing
 * for as many events as the period says. Where a run collected both, the exact figures
 * come first and the estimates stand beside them, with their error. Only misses of one
 * cache level are sampled, so that samples tell nothing of nearer levels and of TLBs:
 * these are unknown, not 0. */
#ifndef VIEWS_FIGURES_H
#define VIEWS_FIGURES_H

#include "profile/profile.h"
#include "profile/sql.h"
#include "views/table.h"

struct figures {
    uint64_t events, stores, latency;
    uint64_t misses[STRATA_MAX_CACHES + STRATA_MAX_TLBS]; /* caches, then TLBs */
};

/* Both ways to collect; what was not collected is all zeros. */
struct figure_pair {
    struct figures exact, sampled;
};

enum figure_order { BY_LATENCY, BY_MISSES, BY_EVENTS };

/* The sums of a SELECT over `cell c`, separated by commas, in the order that
 * figures_read() wants, named s0, s1, …; `again` makes sums of such sums. The caller frees
 * it; NULL: out of memory. */
char *figures_sql(const struct profile *profile, bool again);

/* Takes them from a row of the statement, from column `first` on. */
void figures_read(const struct profile *profile, sqlite3_stmt *statement, int first,
                  struct figure_pair *pair);

void figures_add(struct figure_pair *sum, const struct figure_pair *pair);

/* What rows are sorted by, in descending order. */
uint64_t figures_measure(const struct profile *profile, const struct figure_pair *pair,
                         enum figure_order order);

/* Adds the columns to a table; `brief` adds the two shares only. */
void figures_columns(const struct profile *profile, struct table *table, bool brief);

/* Sets them in the last row, from column `first` on; `total` is what 100% are. */
void figures_fill(const struct profile *profile, struct table *table, size_t first,
                  const struct figure_pair *pair, const struct figure_pair *total,
                  bool brief);

#endif
