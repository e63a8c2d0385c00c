/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the parts of pmu/watch.h share: who is watched, and the counters on each. */
#ifndef PMU_WATCHING_H
#define PMU_WATCHING_H

#include "host/load.h"
#include "pmu/watch.h"

enum { STATES = PMU_NEVER_MOVED + 1 };

/* A counter at a moment; small, since there may be thousands. */
struct reading {
    uint64_t value, enabled_ns, running_ns;
    enum pmu_state state;
};

/* A process or a processor. */
struct subject {
    struct watch_row row;
    uint64_t start, ticks; /* as in host/processes.h; of the last look */
    uint64_t recent;       /* ticks since the look before */
    uint32_t threads, opened_threads;
    bool seen;              /* by this look */
    bool granted;           /* it may be watched */
    struct pmu *pmu;        /* NULL: it is not */
    struct reading *before; /* of each possible want: at the last look */
    struct reading *now;
    double since; /* when `before` was read */
};

/* An event that is wanted, with what is known of it. */
struct wanted {
    size_t column;
    int possible;                  /* index among those that are opened; -1: it cannot be */
    bool moved;                    /* above 0 somewhere: a 0 elsewhere is believed */
    bool user_only;                /* without the kernel's part */
    enum pmu_state state;          /* if it is not possible */
    char reasons[STATES][PMU_WHY]; /* the last one of each state */
};

struct watching {
    struct watch shown; /* what the caller sees; first */
    struct watch_settings settings;
    struct wanted *wanted; /* one for each of list->wants */
    struct pmu_want *possible;
    size_t npossible;
    struct pmu_count *counts; /* npossible of them, to read into */
    bool inherits;            /* new threads are counted by themselves */
    bool all_users;
    struct subject **subjects; /* by id; rows of `shown` are theirs */
    size_t nsubjects;
    double looked; /* when the last look was */
    struct load load;
};

/* Tries all events once, and keeps those that can be counted. STRATA_UNABLE: none can. */
int watching_try(struct watching *w, struct strata_error *error);

/* Opens counters on the busiest, as many as there are descriptors for, and closes those
 * of others. */
int watching_grant(struct watching *w, struct strata_error *error);

/* Reads the counters of all that are watched into `now`. */
void watching_read(struct watching *w);

/* Takes over who is there now; `now` is the time. */
int watching_scan(struct watching *w, double now, struct strata_error *error);
void subject_release(struct subject *subject);

#endif
