/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files that make findings share. */
#ifndef INSPECT_INNER_H
#define INSPECT_INNER_H

#include "inspect/findings.h"

/* Notes a category's goodness, and whether it is the best so far. */
void finding_score(struct finding *finding, enum family family, const char *name,
                   const char *label, double goodness);

/* Slopes of loops, and their categories. */
void find_loops(const struct counts_table *table, size_t event, struct finding *finding);

/* Levels from the transitions of all events, then signatures and categories of each. */
int find_walks(const struct counts_table *table, struct findings *findings);

#endif
