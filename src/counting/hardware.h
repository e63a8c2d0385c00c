/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A counting runner on the counters of this processor. */
#ifndef COUNTING_HARDWARE_H
#define COUNTING_HARDWARE_H

#include "counting/counting.h"
#include "pmu/model.h"

/* cpu < 0: the quietest. `bytes` and `huge_bytes` are the wanted arenas; less is taken
 * where memory is short. Events that cannot be counted are no error: each has its reason.
 * The model must outlive the runner. */
int counting_hardware(struct counting **counting, const struct pmu_model *model,
                      const struct pmu_system *system, int cpu, uint64_t bytes,
                      uint64_t huge_bytes, struct strata_error *error);

/* The same with the tables that are installed, which it reads and keeps. Events are taken
 * by the kernel's names and by codes: these need no library, and each event of
 * hardware.c's that a table has by name has its code there, too. */
int counting_here(struct counting **counting, int cpu, struct strata_error *error);

#endif
