/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counters that are read again and again: totals that only grow, the rates and metrics of
 * the last interval, and the last minutes of both.
 *
 * A target has units: each processor for PMU_ALL, else one for the whole. A unit may go
 * away while it is counted. Its totals stay as they were, and it is said.
 *
 * One thread takes samples; others look between sampler_lock() and sampler_unlock(). The
 * counters are read without the lock, which is held only to add up. */
#ifndef SERVE_SAMPLER_H
#define SERVE_SAMPLER_H

#include "pmu/tally.h"
#include "serve/timeline.h"

#include <pthread.h>

struct sampler_plan {
    const struct pmu_system *system;
    const struct pmu_model *model;
    const struct pmu_list *list; /* bound */
    struct pmu_target target;    /* PMU_ALL, PMU_PROCESS or PMU_CGROUP */
    const char *what;            /* the target in words */
    double interval;             /* seconds between samples: how much is kept follows */
    bool all_metrics;            /* also those whose events are not in the list */
};

/* An event in a unit, since the start. */
struct sampler_total {
    uint64_t events; /* scaled interval by interval, so that it never goes back */
    uint64_t enabled_ns, running_ns;
    bool counted;                      /* at least once: the numbers mean something */
    enum pmu_state state;              /* at the last sample */
    const char *why;                   /* in that state; the unit's */
    double rate;                       /* per second in the last interval; NAN: not known */
    uint64_t enabled_now, running_now; /* of the last interval */
    struct {
        uint64_t raw, enabled_ns, running_ns;
        double time;
    } base; /* the reading that the next one is compared with */
};

enum unit_state {
    UNIT_UP,   /* it is there and is counted */
    UNIT_GONE, /* it has ended, was removed, is offline */
    UNIT_LOST  /* it has come back, and may not be counted any more */
};

struct sampler_unit {
    int cpu; /* -1: the whole target */
    enum unit_state state;
    char why[PMU_WHY];            /* it is not up */
    struct pmu *pmu;              /* NULL: it is not up */
    struct pmu_count *counts;     /* of the last reading, one for each event */
    struct pmu_count *fresh;      /* of the reading under way: the sampler's own */
    struct sampler_total *totals; /* one for each event */
};

/* The last interval, of the whole target. */
struct sampler_event {
    double rate;    /* per second; NAN: not counted */
    double scaling; /* running / enabled; NAN: nothing was enabled */
};

enum { SAMPLER_CURVES = 8 }; /* units that have curves of their own in the timeline */

struct sampler {
    struct sampler_plan plan;
    size_t nevents;
    struct sampler_unit *units;
    size_t nunits;
    struct sampler_event *events;
    struct tally tally; /* of the last interval: names, reasons, metrics */
    struct pmu_count *sums;
    struct timeline timeline; /* rates, metrics, rates of each unit with a curve */
    size_t curves;
    uint64_t samples;
    double last;                 /* when the last one was taken: monotonic seconds */
    int64_t started_ms, last_ms; /* the first and the last one, since 1970 */
    double took;                 /* seconds that the last one took to read */
    int process;                 /* descriptor of the process; -1: none */
    int group;                   /* of the control group; -1: none */
    pthread_mutex_t lock;
};

/* Opens and enables the counters. What plan points to must outlive the sampler.
 * STRATA_UNABLE: nothing of it can be counted; STRATA_BAD_INPUT: there is no such target.
 */
int sampler_open(struct sampler **sampler, const struct sampler_plan *plan,
                 struct strata_error *error);
void sampler_close(struct sampler *sampler);

/* Reads all counters. `now` is a monotonic clock's seconds, `ms` the time since 1970. */
void sampler_take(struct sampler *sampler, double now, int64_t ms);

void sampler_lock(struct sampler *sampler);
void sampler_unlock(struct sampler *sampler);

/* Whether the target is there still, in any of its units; the reason where it is not. */
bool sampler_is_up(const struct sampler *sampler, const char **why);

/* Events that are counted in some unit. */
size_t sampler_counted(const struct sampler *sampler);

#endif
