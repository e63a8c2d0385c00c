/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The names of events, by libpfm4: of every PMU that it knows, present or not. */
#ifndef PMU_NAMES_H
#define PMU_NAMES_H

#include "pmu/system.h"

#include <stdint.h>

pmu_namer names_encode;

/* An event, or one unit mask of an event that has some. */
struct named_event {
    const char *pmu;      /* "skl" */
    const char *pmu_name; /* "Intel Skylake" */
    bool present;         /* this processor has that PMU, as far as its identity tells */
    char name[160];       /* "MEM_LOAD_RETIRED:L1_MISS" */
    const char *about;
};

/* Calls visit() for every event of the PMUs that this processor has, or of the one that
 * is named, until it returns false. Returns the number of PMUs that were looked at. */
size_t names_each(const char *pmu,
                  bool (*visit)(const struct named_event *event, void *context),
                  void *context);

/* The code of an event as it stands; false: it needs more words than that. */
bool names_code(const struct named_event *event, uint32_t *type, uint64_t *config);

/* Calls visit() for every PMU: its name, what it is, and whether it is present. */
void names_pmus(void (*visit)(const char *name, const char *about, bool present,
                              int nevents, void *context),
                void *context);

/* Of the library in use: "4.13". */
const char *names_version(char text[32]);

#endif
