/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A profile in callgrind's format, for KCachegrind and callgrind_annotate.
 *
 * That format knows code only. A data object becomes a function that the code calls: the
 * cost of an access is the object's own, and part of what the accessing function costs in
 * all. So the list by own cost has the objects, the list by inclusive cost the functions,
 * callers of an object are the functions that use it, and callees of a function are the
 * objects that it uses; files, lines and modules stay what they are. */
#ifndef REPORT_CALLGRIND_H
#define REPORT_CALLGRIND_H

#include "views/costs.h"

#include <stdio.h>

/* Write errors stay in the stream. Fails with STRATA_BAD_INPUT: the profile is damaged; or
 * STRATA_FAILED: out of memory. */
int callgrind_export(FILE *out, const struct profile *profile, struct strata_error *error);

#endif
