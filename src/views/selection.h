/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The part of a profile that a query asks for, as SQL. */
#ifndef VIEWS_SELECTION_H
#define VIEWS_SELECTION_H

#include "profile/profile.h"
#include "profile/sql.h"
#include "views/view.h"

/* Says whether there is such an object, function and process. */
int selection_check(const struct profile *profile, const struct view_query *query,
                    struct strata_error *error);

/* Prepares a statement with these replaced in its text:
 *     {sums}         what figures_read() wants, of `cell c`
 *     {again}        the same from a SELECT that has {sums}
 *     {cells}        the condition for `cell c`, with its WHERE
 *     {processes}    the condition for a column `process`, with its WHERE
 *     {allocations}  the condition for `allocation a`, with its WHERE
 *     {touched}      where a function was named: the condition that x.id is there
 * and :line bound to the bytes of a line of the nearest cache. */
int selection_prepare(const struct profile *profile, const struct view_query *query,
                      const char *text, sqlite3_stmt **statement,
                      struct strata_error *error);

#endif
