/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two ways in which `strata inspect` gets its counts; cmd_inspect.c chooses one. */
#ifndef CLI_INSPECTING_H
#define CLI_INSPECTING_H

#include "cli/progress.h"
#include "inspect/findings.h"
#include "inspect/perform.h"
#include "pmu/model.h"
#include "pmu/system.h"

#include <limits.h>
#include <stdbool.h>
#include <strata/machine.h>

/* All that is measured. */
struct inspection {
    struct matrices matrices;
    struct pmu_model model;
    char **names; /* of the events; owned, as all below */
    char **why;   /* of those that cannot be counted; "" for the others */
    size_t nevents;
    size_t asked; /* of them, the first: those to answer about; 0: all */
    struct plan plan;
    bool flat_memory;    /* as struct counts_table has it */
    double *counts;      /* the same */
    double *ns;          /* the same; not a number where it is not known */
    const char *machine; /* --machine, or NULL */
    double noise, drift; /* of the simulated counts, to test the analysis */
    uint64_t seed;
    char processor[128]; /* what counted */
    char note[256];      /* what it rests on, one line */
    struct progress progress;
};

/* Adds an event. -1: out of memory. */
int inspection_add(struct inspection *inspection, const char *name);
/* Adds what shows the levels of caches and TLBs, if it is not there: an event alone cannot
 * tell that its level is not the first. Sets `asked`. */
int inspection_refer(struct inspection *inspection, const char *const *names, size_t n);
/* Says why an event cannot be counted. */
int inspection_refuse(struct inspection *inspection, size_t event, const char *why);
/* Makes room for the counts of the plan; all are not known. */
int inspection_room(struct inspection *inspection);
void inspection_release(struct inspection *inspection);

/* The events of the virtual PMU, where none are named; then the counts. `sets`: what is to
 * be run. STRATA_UNABLE, before anything runs: the machine has none of those named. */
int inspect_sim(struct inspection *inspection, unsigned sets, struct strata_error *error);

/* The same on this machine. With `only_plan`, nothing is counted. */
int inspect_perf(struct inspection *inspection, unsigned sets, bool only_plan,
                 struct strata_error *error);

/* Runs the kernels on a simulated machine: what `strata kernels FILE` does there. */
int kernels_run(const char *file, struct strata_error *error);

#endif
