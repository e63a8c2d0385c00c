/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counters: a set of events, opened on a target, read as often as one likes.
 *
 *     const struct pmu_want wants[] = {{.name = "instructions", .row = row}, ...};
 *     pmu_open(&pmu_system_here, &target, wants, n, &pmu, error);
 *     pmu_enable(pmu);
 *     work();
 *     pmu_read(pmu, counts);          counts[i] belongs to wants[i]
 *     pmu_close(pmu);
 *
 * No event is ever lost without a word: each count is one, or has a state and a sentence
 * that say why there is none. */
#ifndef PMU_PMU_H
#define PMU_PMU_H

#include "pmu/encode.h"
#include "pmu/events.h"
#include "pmu/system.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <strata/error.h>
#include <sys/types.h>

enum pmu_state {
    PMU_COUNTED,
    PMU_UNKNOWN,         /* this processor, kernel or machine has no such event */
    PMU_DENIED,          /* a setting or a missing capability forbids it */
    PMU_REFUSED,         /* the kernel would not open it */
    PMU_NEVER_SCHEDULED, /* it was opened, but never got a counter, or nothing ran */
    PMU_NEVER_MOVED      /* it was opened and ran, and stayed at 0 where that is odd */
};

const char *pmu_state_name(enum pmu_state state); /* "never scheduled" */

/* An event that is wanted. */
struct pmu_want {
    const char *name;            /* for messages */
    const struct event_row *row; /* the ways to count it; NULL: `name` is the only one */
    struct pmu_kind kind;        /* of which processor */
    int group;                   /* those with the same number above 0 are counted at the
                                    same times; they must stand together */
};

enum pmu_target_kind {
    PMU_SELF,    /* this thread, and those that it starts if inherited */
    PMU_PROCESS, /* all threads of a process */
    PMU_CHILD,   /* a process that waits before exec: counting starts there */
    PMU_CPU,     /* all that runs on one processor */
    PMU_ALL,     /* all that runs on all processors */
    PMU_CGROUP   /* all that runs in a control group */
};

struct pmu_target {
    enum pmu_target_kind kind;
    pid_t pid;
    int cpu;
    const char *cgroup; /* a path, or below the root of control groups */
    bool inherit;       /* count new threads and children too */
    bool threads_only;  /* with inherit: not children, which are processes of their own; the
                           kernel can do that from 5.13 on, and refuses it before */
    bool pinned;        /* always on a counter, or an error: nothing is scaled */
    bool user_only;     /* leave the kernel out */
};

struct pmu;

/* What came of an event. */
struct pmu_count {
    enum pmu_state state;
    char why[PMU_WHY];               /* a sentence, where it was not counted */
    uint64_t value;                  /* scaled to the whole time */
    uint64_t raw;                    /* as it was counted */
    uint64_t enabled_ns, running_ns; /* summed over threads or processors */
    bool user_only;                  /* the kernel's part was not allowed, and left out */
};

/* Opens all that can be opened, disabled, or for PMU_CHILD enabled at its exec. Fails only
 * where the target is not there (STRATA_BAD_INPUT) or without memory. `wants` and what it
 * points to must outlive the set. */
int pmu_open(const struct pmu_system *system, const struct pmu_target *target,
             const struct pmu_want *wants, size_t n, struct pmu **pmu,
             struct strata_error *error);
void pmu_close(struct pmu *pmu);

void pmu_enable(struct pmu *pmu);
void pmu_disable(struct pmu *pmu);

/* Reads all counters; counts[] has a place for each event. */
void pmu_read(struct pmu *pmu, struct pmu_count *counts);

size_t pmu_size(const struct pmu *pmu);

/* Whether an event was opened; and why not, or by which way it is counted. */
bool pmu_opened(const struct pmu *pmu, size_t i);
const char *pmu_way(const struct pmu *pmu, size_t i);
bool pmu_is_software(const struct pmu *pmu, size_t i);

/* Reads a counter of this thread without a system call, as it stands, unscaled. False
 * where the kernel or the processor does not allow that now; pmu_read() always works. For
 * PMU_SELF without inherit. */
bool pmu_read_user(const struct pmu *pmu, size_t i, uint64_t *count);

/* What a refused perf_event_open() means. `kernel`: the kernel's part was asked for too;
 * `wide`: a whole processor was. The state, and a sentence in why. */
enum pmu_state pmu_explain(const struct pmu_system *system, int error, bool kernel,
                           bool wide, char why[PMU_WHY]);

#endif
