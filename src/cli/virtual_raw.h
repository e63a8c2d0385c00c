/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From what the collector counts to what the virtual PMU names. */
#ifndef CLI_VIRTUAL_RAW_H
#define CLI_VIRTUAL_RAW_H

#include "pmu/virtual.h"
#include "profile/raw.h"

struct raw_totals raw_totals_of(const struct raw_header *header);

/* Adds totals of the collector to the counts. */
void virtual_add_raw(struct virtual_counts *sum, const struct raw_totals *totals);

#endif
