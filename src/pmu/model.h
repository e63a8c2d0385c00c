/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All that strata knows about counting on a machine: its kinds of processors, their tables
 * of events and the metrics; and lists of events as people write them. */
#ifndef PMU_MODEL_H
#define PMU_MODEL_H

#include "pmu/cpu.h"
#include "pmu/metrics.h"
#include "pmu/pmu.h"

/* A kind of processor with its table. */
struct pmu_model_kind {
    struct cpu_kind cpu;
    const struct cpu_row *row; /* NULL: not in the table of processors */
    struct event_table events;
};

struct pmu_model {
    struct cpu_table cpus;
    struct metric_table metrics;
    struct pmu_model_kind kinds[CPU_KINDS];
    size_t nkinds; /* at least 1: a processor that nobody knows has the generic table */
};

/* `folder` holds the tables; `root` goes before /proc and /sys, "" for this machine. */
int pmu_model_read(struct pmu_model *model, const char *folder, const char *root,
                   struct strata_error *error);
void pmu_model_release(struct pmu_model *model);

/* "AMD Zen 3", or what is known of one that is in no table. */
const char *pmu_model_name(const struct pmu_model *model, char *text, size_t size);

/* A list of events: "instructions,{cycles,r1a8},cpu/event=1,umask=2/". */
struct pmu_list {
    char *text;         /* owned; the names point into it */
    const char **names; /* as they were given */
    int *groups;        /* those in {} have the same number above 0 */
    size_t n;
    /* For the processors of a model, after pmu_list_bind(): */
    struct pmu_want *wants; /* a name of a table once for each kind that has it */
    const char **about;     /* what each counts, "" if not known */
    size_t nwants;
};

/* The events that are counted if none are named. */
extern const char pmu_standard_events[];

/* Splits a list. Commas within PMU/.../ and between the fields of event=...,umask=... do
 * not separate. STRATA_BAD_INPUT: braces that do not fit, an empty name. */
int pmu_list_split(const char *text, struct pmu_list *list, struct strata_error *error);

/* Makes the wants. STRATA_BAD_INPUT: a name that means nothing on any machine. What may
 * exist elsewhere (another processor's event, a tracepoint) is no error: it will not be
 * counted, with its reason. */
int pmu_list_bind(struct pmu_list *list, const struct pmu_model *model,
                  const struct pmu_system *system, struct strata_error *error);
void pmu_list_release(struct pmu_list *list);

/* Whether a name needs a PMU: it is no software event, tracepoint or breakpoint. */
bool pmu_needs_hardware(const struct pmu_model *model, const struct pmu_system *system,
                        const char *name);

#endif
