/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options that commands which count have in common: --pid, --all, --cgroup and
 * --events. */
#ifndef CLI_COUNTED_H
#define CLI_COUNTED_H

#include "cli/options.h"
#include "pmu/model.h"

enum { COUNTED_WHAT = 256 };

/* What is to be counted, and in words; *given: whether there was such an option. Without
 * one, both are left alone. */
int counted_target(const struct options *options, struct pmu_target *target,
                   char what[COUNTED_WHAT], bool *given, struct strata_error *error);

/* The tables of this machine, and the events of --events, or else `standard`, for it. Both
 * are the caller's to release, also after a failure. */
int counted_events(const struct options *options, const char *standard,
                   struct pmu_model *model, struct pmu_list *list,
                   struct strata_error *error);

#endif
