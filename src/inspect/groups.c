/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counting by groups; groups.h has the contract. */
#include "inspect/groups.h"

#include "core/fail.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GROUP_MOST = 64 };

struct group {
    bool hardware;
    size_t n;
    size_t events[GROUP_MOST];
    struct pmu_want wants[GROUP_MOST];
    struct pmu *pmu;
    struct pmu *wide; /* all that runs on this processor, the kernel too: for naps */
    struct pmu_count before[GROUP_MOST], after[GROUP_MOST];
};

/* Opening. */

static int add_group(struct groups *groups, const size_t *events, size_t n, bool hardware,
                     struct strata_error *error)
{
    struct group *list = realloc(groups->list, (groups->n + 1) * sizeof *list);
    if (!list)
        return fail(error, STRATA_FAILED, "out of memory");
    groups->list = list;
    struct group *group = &list[groups->n++];
    *group = (struct group){.hardware = hardware, .n = n};
    for (size_t i = 0; i < n; i++) {
        group->events[i] = events[i];
        group->wants[i] = groups->wants[events[i]];
        group->wants[i].group = hardware && n > 1;
    }
    groups->opened += n;
    return STRATA_OK;
}

/* Tries an event alone: 1 it is one of a PMU, 0 of the kernel, -1 it cannot be opened. */
static int try_event(struct groups *groups, size_t i, struct strata_error *error)
{
    const struct pmu_target target = {.kind = PMU_SELF};
    struct pmu *pmu = NULL;
    struct pmu_count count;
    if (pmu_open(groups->system, &target, &groups->wants[i], 1, &pmu, error) != STRATA_OK)
        return -2;
    int kind = pmu_opened(pmu, 0) ? !pmu_is_software(pmu, 0) : -1;
    pmu_read(pmu, &count);
    pmu_close(pmu);
    if (kind < 0)
        snprintf(groups->why[i], PMU_WHY, "%s", *count.why ? count.why : "not opened");
    return kind;
}

static int sort_events(struct groups *groups, struct strata_error *error)
{
    size_t sets[2][GROUP_MOST], have[2] = {0, 0};
    int status = STRATA_OK;
    for (size_t i = 0; i < groups->nevents && !status; i++) {
        int kind = try_event(groups, i, error);
        if (kind < -1)
            return STRATA_FAILED;
        if (kind < 0)
            continue;
        sets[kind][have[kind]++] = i;
        if (have[kind] == (kind ? (size_t)GROUP_OF : (size_t)GROUP_MOST)) {
            status = add_group(groups, sets[kind], have[kind], kind, error);
            have[kind] = 0;
        }
    }
    for (int kind = 0; kind < 2 && !status; kind++)
        if (have[kind])
            status = add_group(groups, sets[kind], have[kind], kind, error);
    return status;
}

int groups_open(struct groups *groups, const struct pmu_system *system,
                const struct pmu_want *wants, size_t nevents, struct strata_error *error)
{
    *groups = (struct groups){.system = system, .wants = wants, .nevents = nevents};
    groups->why = calloc(nevents ? nevents : 1, sizeof *groups->why);
    if (!groups->why)
        return fail(error, STRATA_FAILED, "out of memory");
    int status = sort_events(groups, error);
    if (status)
        groups_close(groups);
    return status;
}

void groups_close(struct groups *groups)
{
    for (size_t i = 0; i < groups->n; i++) {
        pmu_close(groups->list[i].pmu);
        pmu_close(groups->list[i].wide);
    }
    free(groups->list);
    free(groups->why);
    free(groups->counts);
    free(groups->ns);
    *groups = (struct groups){.n = 0};
}

/* Counters keep pointers to what is wanted, so that they are opened when the groups have
 * come to rest. A group that does not get its counters becomes one for each event. */

static int open_counters(struct groups *groups, struct group *group,
                         struct strata_error *error)
{
    const struct pmu_target self = {
        .kind = PMU_SELF, .pinned = group->hardware, .user_only = group->hardware};
    const struct pmu_target wide = {.kind = PMU_CPU, .cpu = sched_getcpu()};
    struct strata_error ignored;
    int status =
        pmu_open(groups->system, &self, group->wants, group->n, &group->pmu, error);
    if (!status && group->hardware && groups->plan->options.sets & PLAN_IDLE)
        (void)pmu_open(groups->system, &wide, group->wants, group->n, &group->wide,
                       &ignored);
    return status;
}

static bool is_scheduled(struct group *group)
{
    volatile uint64_t turns = 0;
    pmu_enable(group->pmu);
    while (turns < 100000)
        turns++;
    pmu_disable(group->pmu);
    pmu_read(group->pmu, group->after);
    for (size_t i = 0; i < group->n; i++)
        if (group->after[i].state == PMU_NEVER_SCHEDULED)
            return false;
    return true;
}

static int split_unscheduled(struct groups *groups, struct strata_error *error)
{
    size_t n = groups->n;
    int status = STRATA_OK;
    for (size_t i = 0; i < n && !status; i++) {
        struct group *group = &groups->list[i];
        if (!group->hardware || group->n < 2)
            continue;
        status = open_counters(groups, group, error);
        bool good = !status && is_scheduled(group);
        pmu_close(group->pmu);
        pmu_close(group->wide);
        group->pmu = group->wide = NULL;
        if (status || good)
            continue;
        size_t events[GROUP_OF], alone = group->n;
        memcpy(events, group->events, alone * sizeof *events);
        groups->opened -= alone - 1;
        group->n = 1;
        group->wants[0].group = 0;
        for (size_t j = 1; j < alone && !status; j++)
            status = add_group(groups, &events[j], 1, true, error);
    }
    return status;
}

static int open_all(struct groups *groups, struct strata_error *error)
{
    int status = split_unscheduled(groups, error);
    for (size_t i = 0; i < groups->n && !status; i++)
        status = open_counters(groups, &groups->list[i], error);
    return status;
}

/* Counting. */

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void note_time(struct groups *groups, const struct run *run, double ns)
{
    if (run->kind != RUN_WORK)
        return;
    if (run->kernel == groups->idle_kernel) {
        groups->idle += ns;
        groups->nidle += (double)run->x;
    } else if (run->kernel == groups->miss_kernel) {
        groups->miss += ns;
        groups->nmiss += (double)run->x;
    }
}

static int count(void *context, size_t run, size_t g, void (*work)(void *), void *argument,
                 struct strata_error *error)
{
    struct groups *groups = context;
    struct group *group = &groups->list[g];
    bool idle = groups->plan->runs[run].kind == RUN_HALT;
    struct pmu *pmu = idle ? group->wide : group->pmu;
    (void)error;
    if (!pmu)
        return STRATA_OK;
    pmu_read(pmu, group->before);
    pmu_enable(pmu);
    double start = now_ns();
    work(argument);
    double ns = now_ns() - start;
    pmu_disable(pmu);
    pmu_read(pmu, group->after);
    note_time(groups, &groups->plan->runs[run], ns);
    groups->ns[run] = fmin(groups->ns[run], ns); /* a number, where one of them is none */
    for (size_t i = 0; i < group->n; i++) {
        const struct pmu_count *after = &group->after[i];
        if (after->state == PMU_COUNTED || after->state == PMU_NEVER_MOVED)
            groups->counts[run * groups->nevents + group->events[i]] =
                (double)(after->value - group->before[i].value);
        else if (!idle)
            snprintf(groups->why[group->events[i]], PMU_WHY, "%s", after->why);
    }
    return STRATA_OK;
}

static size_t kernel_named(const struct matrix *matrix, const char *name)
{
    size_t i = 0;
    while (i < matrix->nkernels && strcmp(matrix->kernels[i].name, name) != 0)
        i++;
    return i;
}

int groups_measure(struct groups *groups, const struct plan *plan,
                   const struct matrices *matrices, volatile uint64_t *watched,
                   int (*progress)(void *, double, const char *), void *progress_context,
                   struct strata_error *error)
{
    size_t n = plan->n * groups->nevents;
    struct counters counting = {.context = groups,
                                .count = count,
                                .watched = watched,
                                .progress = progress,
                                .progress_context = progress_context};
    groups->plan = plan;
    groups->idle_kernel = kernel_named(&matrices->work, "idle");
    groups->miss_kernel = kernel_named(&matrices->work, "miss");
    groups->counts = malloc((n ? n : 1) * sizeof *groups->counts);
    groups->ns = malloc((plan->n ? plan->n : 1) * sizeof *groups->ns);
    if (!groups->counts || !groups->ns)
        return fail(error, STRATA_FAILED, "out of memory");
    for (size_t i = 0; i < n; i++)
        groups->counts[i] = NAN;
    for (size_t i = 0; i < plan->n; i++)
        groups->ns[i] = NAN;
    int status = open_all(groups, error);
    counting.groups = groups->n;
    return status ? status : perform(plan, matrices, &counting, error);
}

bool groups_flat_memory(const struct groups *groups)
{
    return groups->nidle > 0 && groups->nmiss > 0 &&
           groups->miss / groups->nmiss < 2 * groups->idle / groups->nidle;
}
