/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The counts of a profile one by one, in order, for exports to the formats of others. */
#ifndef VIEWS_COSTS_H
#define VIEWS_COSTS_H

#include "profile/profile.h"
#include "views/figures.h"

/* The events of one object at one source line. Texts may be NULL: not known. */
struct cost {
    const char *object, *module, *function, *file;
    uint64_t object_id, module_id, function_id, file_id; /* 0: not known */
    uint64_t line;                                       /* 0: not known */
    struct figures figures; /* estimates, where only samples were collected */
};

/* Calls take() for each, sorted by object, file, function and line; the texts live until
 * it returns. take() may return nonzero to end it: STRATA_FAILED, as when memory is short.
 */
int costs_each(const struct profile *profile,
               int (*take)(void *context, const struct cost *cost), void *context,
               struct strata_error *error);

#endif
