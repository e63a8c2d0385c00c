/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where a target is counted: its threads, or the processors that it may run on. */
#ifndef PMU_PLACES_H
#define PMU_PLACES_H

#include "pmu/pmu.h"

struct pmu_place {
    pid_t pid; /* -1: any */
    int cpu;   /* -1: any */
};

struct pmu_places {
    struct pmu_place *list;
    size_t n;
};

/* *cgroup gets a descriptor for PMU_CGROUP, and is left alone otherwise. */
int pmu_places_find(const struct pmu_system *system, const struct pmu_target *target,
                    struct pmu_places *places, int *cgroup, struct strata_error *error);
void pmu_places_release(struct pmu_places *places);

#endif
