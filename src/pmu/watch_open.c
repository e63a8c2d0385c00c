/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which events can be counted at all, who of all gets counters, and reading them. */
#include "core/fail.h"
#include "host/processes.h"
#include "pmu/launch.h"
#include "pmu/watching.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Trying. */

/* Keeps what came of event i of the list when it was tried. */
static void take_trial(struct watching *w, const struct pmu *pmu, size_t i,
                       const struct pmu_count *count)
{
    struct wanted *wanted = &w->wanted[i];
    struct watch_column *column = &w->shown.columns[wanted->column];
    wanted->possible = -1;
    wanted->user_only = count->user_only;
    wanted->state = count->state;
    if (pmu_opened(pmu, i)) {
        wanted->possible = (int)w->npossible;
        w->possible[w->npossible++] = w->settings.list->wants[i];
        column->possible = true;
        column->user_only = column->user_only || count->user_only;
    } else {
        snprintf(wanted->reasons[count->state], PMU_WHY, "%s", count->why);
        if (!*column->why)
            snprintf(column->why, PMU_WHY, "%s", count->why);
    }
}

static int try_on(struct watching *w, const struct pmu_target *target,
                  struct strata_error *error)
{
    const struct pmu_list *list = w->settings.list;
    struct pmu *pmu;
    struct pmu_count *counts = calloc(list->nwants, sizeof *counts);
    if (!counts)
        return fail(error, STRATA_FAILED, "out of memory");
    int status =
        pmu_open(w->settings.system, target, list->wants, list->nwants, &pmu, error);
    if (!status) {
        pmu_read(pmu, counts);
        w->npossible = 0;
        for (size_t i = 0; i < list->nwants; i++)
            take_trial(w, pmu, i, &counts[i]);
        pmu_close(pmu);
    }
    free(counts);
    return status;
}

/* What this thread may not count of itself, it may count of nobody. */
int watching_try(struct watching *w, struct strata_error *error)
{
    struct pmu_target target = {.kind = PMU_SELF, .inherit = true, .threads_only = true};
    if (w->settings.by == WATCH_CPUS)
        target = (struct pmu_target){.kind = PMU_CPU, .cpu = w->subjects[0]->row.id};
    int status = try_on(w, &target, error);
    w->inherits = target.inherit;
    if (!status && !w->npossible && target.inherit) { /* an old kernel, perhaps */
        w->inherits = target.inherit = false;
        status = try_on(w, &target, error);
    }
    if (status || w->npossible)
        return status;
    return fail(error, STRATA_UNABLE, "nothing can be counted: %s: %s",
                w->shown.columns[0].name, w->shown.columns[0].why);
}

/* Reading. */

static bool is_idle(const struct pmu_count *count)
{
    return count->state == PMU_NEVER_SCHEDULED && count->enabled_ns == 0;
}

static void take_reading(struct watching *w, struct wanted *wanted,
                         const struct pmu_count *count, struct reading *reading)
{
    *reading = (struct reading){.value = count->value,
                                .enabled_ns = count->enabled_ns,
                                .running_ns = count->running_ns,
                                .state = is_idle(count) ? PMU_COUNTED : count->state};
    wanted->moved = wanted->moved || count->raw > 0;
    if (reading->state != PMU_COUNTED)
        snprintf(wanted->reasons[count->state], PMU_WHY, "%s", count->why);
    if (count->user_only)
        w->shown.columns[wanted->column].user_only = true;
}

static void read_subject(struct watching *w, struct subject *subject)
{
    pmu_read(subject->pmu, w->counts);
    for (size_t i = 0; i < w->settings.list->nwants; i++) {
        int at = w->wanted[i].possible;
        if (at >= 0)
            take_reading(w, &w->wanted[i], &w->counts[at], &subject->now[at]);
    }
}

void watching_read(struct watching *w)
{
    for (size_t i = 0; i < w->nsubjects; i++)
        if (w->subjects[i]->pmu)
            read_subject(w, w->subjects[i]);
}

/* Granting. */

/* The busiest first; of equals those that are watched already, so that they stay. */
static int by_need(const void *a, const void *b)
{
    const struct subject *left = *(struct subject *const *)a;
    const struct subject *right = *(struct subject *const *)b;
    if (left->recent != right->recent)
        return left->recent < right->recent ? 1 : -1;
    if (!left->pmu != !right->pmu)
        return left->pmu ? -1 : 1;
    if (left->ticks != right->ticks)
        return left->ticks < right->ticks ? 1 : -1;
    return (left->row.id > right->row.id) - (left->row.id < right->row.id);
}

static size_t cost_of(const struct watching *w, const struct subject *subject)
{
    uint32_t threads =
        subject->pmu ? subject->opened_threads : subject->threads; /* 0: a processor */
    return w->npossible * (threads ? threads : 1);
}

static void forget(struct subject *subject)
{
    pmu_close(subject->pmu);
    subject->pmu = NULL;
}

static bool is_opened(const struct watching *w, const struct pmu *pmu)
{
    for (size_t i = 0; i < w->npossible; i++)
        if (pmu_opened(pmu, i))
            return true;
    return false;
}

/* One that has ended meanwhile is not refused. */
static void refuse(struct watching *w, struct subject *subject)
{
    struct process process;
    if (w->settings.by == WATCH_PROCESSES &&
        process_read(w->settings.system->root, subject->row.id, &process) != 0)
        return;
    subject->row.state = WATCH_REFUSED;
    for (size_t i = 0; i < w->npossible && !*w->shown.refusal; i++)
        snprintf(w->shown.refusal, PMU_WHY, "%s", w->counts[i].why);
}

/* Counters on one that has none. It may have ended meanwhile: the next look will see. */
static void open_subject(struct watching *w, struct subject *subject)
{
    const struct pmu_target target = {.kind = w->settings.by == WATCH_CPUS ? PMU_CPU
                                                                           : PMU_PROCESS,
                                      .pid = subject->row.id,
                                      .cpu = subject->row.id,
                                      .inherit = w->inherits,
                                      .threads_only = true};
    subject->row.state = WATCH_NEW;
    if (pmu_open(w->settings.system, &target, w->possible, w->npossible, &subject->pmu,
                 NULL) != STRATA_OK)
        return;
    read_subject(w, subject);
    memcpy(subject->before, subject->now, w->npossible * sizeof *subject->now);
    subject->since = launch_now(); /* opening thousands takes a while */
    subject->opened_threads = subject->threads;
    if (is_opened(w, subject->pmu)) {
        pmu_enable(subject->pmu);
        return;
    }
    refuse(w, subject);
    forget(subject);
}

/* Without inheritance new threads have no counters: all are opened anew. */
static bool is_outdated(const struct watching *w, const struct subject *subject)
{
    return !w->inherits && subject->pmu && subject->threads != subject->opened_threads;
}

static void choose(struct watching *w, struct subject **order, size_t n)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        struct subject *subject = order[i];
        size_t cost = cost_of(w, subject);
        subject->granted =
            subject->row.state != WATCH_REFUSED && used + cost <= w->settings.descriptors;
        used += subject->granted ? cost : 0;
        if ((!subject->granted || is_outdated(w, subject)) && subject->pmu)
            forget(subject);
    }
}

int watching_grant(struct watching *w, struct strata_error *error)
{
    struct subject **order = calloc(w->nsubjects + 1, sizeof *order);
    size_t n = 0;
    if (!order)
        return fail(error, STRATA_FAILED, "out of memory");
    for (size_t i = 0; i < w->nsubjects; i++)
        if (w->subjects[i]->row.state != WATCH_ENDED)
            order[n++] = w->subjects[i];
    qsort(order, n, sizeof *order, by_need);
    choose(w, order, n);
    w->shown.left_out = w->shown.refused = 0;
    for (size_t i = 0; i < n; i++) {
        if (order[i]->granted && !order[i]->pmu)
            open_subject(w, order[i]);
        else if (!order[i]->granted && order[i]->row.state != WATCH_REFUSED)
            order[i]->row.state = WATCH_LEFT_OUT;
        w->shown.left_out += order[i]->row.state == WATCH_LEFT_OUT;
        w->shown.refused += order[i]->row.state == WATCH_REFUSED;
    }
    free(order);
    return STRATA_OK;
}
