/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of a view that do not depend on which one it is, and the rows of totals. */
#ifndef VIEWS_VIEW_PARTS_H
#define VIEWS_VIEW_PARTS_H

#include "views/view.h"

/* The rows of the view of totals: each cache and TLB; and its title. */
int view_levels(struct view *view, const struct profile *profile,
                const struct view_query *query, struct strata_error *error);

/* The processes one by one. */
int view_processes(struct view *view, const struct profile *profile,
                   const struct view_query *query, struct strata_error *error);

/* What the processes did as a whole. */
int view_run(struct view *view, const struct profile *profile,
             const struct view_query *query, struct strata_error *error);

int view_provenance(struct view *view, const struct profile *profile,
                    struct strata_error *error);

/* What to know when reading the rows. */
int view_add_notes(struct view *view, const struct profile *profile,
                   const struct view_query *query, struct strata_error *error);

#endif
