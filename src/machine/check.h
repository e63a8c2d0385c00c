/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether a machine is possible, and where in its file it is not. */
#ifndef MACHINE_CHECK_H
#define MACHINE_CHECK_H

#include "machine/keys.h"

#include <strata/error.h>

/* The lines of a machine file: line[section][record][0] is a section's header, and
 * [1 + key] a key's; 0: not in the file. */
struct origin {
    const char *file;
    uint32_t line[SECTIONS][MAX_RECORDS][1 + MAX_KEYS];
};

/* Where caches (by level, then kind), TLBs (by page size, level, kind) and prefetchers
 * (by the cache they fill) belong in their arrays: below 0 if record i comes before
 * record j, 0 if both claim the same place. */
int record_order(const struct strata_machine *machine, enum section section, uint32_t i,
                 uint32_t j);

/* strata_machine_check() with messages that name the file and line. origin may be NULL.
 * Wants the C locale. */
int machine_check(const struct strata_machine *machine, const struct origin *origin,
                  struct strata_error *error);

#endif
