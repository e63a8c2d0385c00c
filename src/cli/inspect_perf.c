/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata inspect on this machine: each kernel runs in this process, once for each group of
 * events that have counters at the same time.
 *
 * Events of a PMU are opened in groups of a few, which take turns with nobody; those of the
 * kernel need no counters and are all in one. What cannot be opened is kept with its
 * reason.
 */
#include "cli/inspecting.h"

#include "core/fail.h"
#include "host/facts.h"
#include "pmu/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { AT_ONCE = 4 }; /* events of a PMU: what any processor has counters for */

/* Written to by a kernel and watched by breakpoints. */
static volatile uint64_t watched;

struct group {
    struct pmu *pmu;
    struct pmu_want wants[64];
    size_t events[64]; /* in the inspection */
    size_t n;
    struct pmu_count before[64], after[64];
};

enum { GROUP_MOST = 64 };

struct session {
    struct inspection *inspection;
    struct pmu_list list;
    struct group *groups;
    size_t ngroups;
};

/* Which events. */

struct text {
    char *text;
    size_t size;
    FILE *file;
};

static void add_name(struct text *text, const char *name)
{
    fprintf(text->file, "%s%s", ftell(text->file) > 0 ? "," : "", name);
}

static bool add_named(const struct named_event *event, void *context)
{
    /* Modifiers that select nothing are not events of their own. */
    if (event->present && !strchr(event->name, ','))
        add_name(context, event->name);
    return true;
}

static void add_row(const struct event_table *owner, const struct event_row *row,
                    void *context)
{
    (void)owner;
    if (row->nways)
        add_name(context, row->name);
}

/* All that this machine may have: the table's events, the kernel's, those of its PMUs, and
 * of the kernel's own tracepoints those that a kernel provokes. */
static char *all_events(struct inspection *inspection, unsigned sets, bool hardware)
{
    struct text text = {.text = NULL};
    const char *name, *about;
    uint32_t type;
    uint64_t config;
    text.file = open_memstream(&text.text, &text.size);
    if (!text.file)
        return NULL;
    for (size_t i = 0; hardware && i < inspection->model.nkinds; i++)
        event_each(&inspection->model.kinds[i].events, add_row, &text);
    if (hardware)
        names_each(NULL, add_named, &text);
    for (size_t i = 0; (name = pmu_kernel_event(i, &about, &type, &config)); i++)
        if (type == PERF_TYPE_SOFTWARE ? (sets & PLAN_SYSTEM) != 0 : hardware)
            add_name(&text, name);
    if (sets & PLAN_SYSTEM) {
        char breakpoint[64];
        snprintf(breakpoint, sizeof breakpoint, "mem:%#lx/8:w", (unsigned long)&watched);
        add_name(&text, breakpoint);
        add_name(&text, "sched:sched_switch");
        add_name(&text, "raw_syscalls:sys_enter");
        add_name(&text, "syscalls:sys_enter_getppid");
    }
    return fclose(text.file) == 0 ? text.text : NULL;
}

/* Opening. */

static int make_group(struct session *session, const size_t *events, size_t n,
                      bool hardware, struct strata_error *error)
{
    struct group *groups =
        realloc(session->groups, (session->ngroups + 1) * sizeof *groups);
    if (!groups)
        return fail(error, STRATA_FAILED, "out of memory");
    session->groups = groups;
    struct group *group = &groups[session->ngroups++];
    *group = (struct group){.n = n};
    for (size_t i = 0; i < n; i++) {
        group->events[i] = events[i];
        group->wants[i] = session->list.wants[events[i]];
        group->wants[i].group = hardware ? 1 : 0;
    }
    return STRATA_OK;
}

/* Opens the counters of all groups: not before the array has come to rest, since they keep
 * pointers to what is wanted. */
static int open_groups(struct session *session, struct strata_error *error)
{
    for (size_t i = 0; i < session->ngroups; i++) {
        struct group *group = &session->groups[i];
        const struct pmu_target target = {.kind = PMU_SELF,
                                          .pinned = group->wants[0].group != 0,
                                          .user_only = group->wants[0].group != 0};
        int status =
            pmu_open(&pmu_system_here, &target, group->wants, group->n, &group->pmu, error);
        if (status)
            return status;
    }
    return STRATA_OK;
}

/* Tries an event alone: 1 it is one of a PMU, 0 of the kernel, -1 it cannot be opened. */
static int try_event(struct session *session, size_t i, struct strata_error *error)
{
    const struct pmu_target target = {.kind = PMU_SELF};
    struct pmu *pmu = NULL;
    struct pmu_count count;
    if (pmu_open(&pmu_system_here, &target, &session->list.wants[i], 1, &pmu, error) != 0)
        return -1;
    int kind = pmu_opened(pmu, 0) ? !pmu_is_software(pmu, 0) : -1;
    pmu_read(pmu, &count);
    pmu_close(pmu);
    if (kind < 0 && inspection_refuse(session->inspection, i, count.why) != 0)
        fail(error, STRATA_FAILED, "out of memory");
    return kind;
}

/* Sorts events into groups: those of PMUs a few at a time, those of the kernel together. */
static int make_groups(struct session *session, struct strata_error *error)
{
    size_t n = session->list.nwants, sets[2][GROUP_MOST], have[2] = {0, 0};
    int status = STRATA_OK;
    for (size_t i = 0; i < n && !status; i++) {
        int kind = try_event(session, i, error);
        if (kind < 0)
            continue;
        sets[kind][have[kind]++] = i;
        if (have[kind] == (kind ? (size_t)AT_ONCE : (size_t)GROUP_MOST)) {
            status = make_group(session, sets[kind], have[kind], kind, error);
            have[kind] = 0;
        }
    }
    for (int kind = 0; kind < 2 && !status; kind++)
        if (have[kind])
            status = make_group(session, sets[kind], have[kind], kind, error);
    return status;
}

/* Counted besides, where walks are run and the processor has a table. */
static int add_references(struct inspection *in, unsigned sets, bool hardware,
                          struct strata_error *error)
{
    static const char *const names[] = {"l1d_misses", "l2_misses", "l3_misses",
                                        "dtlb_misses", "dtlb_walks"};
    if (sets & PLAN_CACHE && hardware &&
        inspection_refer(in, names, sizeof names / sizeof *names) != 0)
        return fail(error, STRATA_FAILED, "out of memory");
    return STRATA_OK;
}

static int choose_events(struct session *session, unsigned sets, bool hardware,
                         struct strata_error *error)
{
    struct inspection *in = session->inspection;
    char *text = NULL;
    size_t size = 0;
    FILE *file = in->nevents ? open_memstream(&text, &size) : NULL;
    for (size_t i = 0; file && i < in->nevents; i++)
        fprintf(file, "%s%s", i ? "," : "", in->names[i]);
    if (file && fclose(file) != 0)
        return fail(error, STRATA_FAILED, "out of memory");
    if (!file)
        text = all_events(in, sets, hardware);
    if (!text)
        return fail(error, STRATA_FAILED, "out of memory");
    int status = pmu_list_split(text, &session->list, error);
    free(text);
    if (!status)
        status = pmu_list_bind(&session->list, &in->model, &pmu_system_here, error);
    return status;
}

/* From now on the events are those of the list: a name may stand for one on each kind of
 * processor. */
static int rename_events(struct session *session, struct strata_error *error)
{
    struct inspection *in = session->inspection;
    size_t asked = 0;
    for (size_t i = 0; in->asked && i < session->list.nwants; i++)
        for (size_t j = 0; j < in->asked; j++)
            if (strcmp(session->list.wants[i].name, in->names[j]) == 0) {
                asked = i + 1;
                break;
            }
    in->asked = asked;
    for (size_t i = 0; i < in->nevents; i++) {
        free(in->names[i]);
        free(in->why[i]);
    }
    in->nevents = 0;
    for (size_t i = 0; i < session->list.nwants; i++)
        if (inspection_add(in, session->list.wants[i].name) != 0)
            return fail(error, STRATA_FAILED, "out of memory");
    return STRATA_OK;
}

/* Counting. */

static int count(void *context, size_t run, size_t g, void (*work)(void *), void *argument,
                 struct strata_error *error)
{
    struct session *session = context;
    struct inspection *in = session->inspection;
    struct group *group = &session->groups[g];
    (void)error;
    pmu_read(group->pmu, group->before);
    pmu_enable(group->pmu);
    work(argument);
    pmu_disable(group->pmu);
    pmu_read(group->pmu, group->after);
    for (size_t i = 0; i < group->n; i++) {
        const struct pmu_count *after = &group->after[i];
        if (after->state == PMU_COUNTED || after->state == PMU_NEVER_MOVED)
            in->counts[run * in->nevents + group->events[i]] =
                (double)(after->value - group->before[i].value);
    }
    return STRATA_OK;
}

/* What was opened but never got a counter has its reason now. */
static int note_unscheduled(struct session *session, struct strata_error *error)
{
    for (size_t g = 0; g < session->ngroups; g++)
        for (size_t i = 0; i < session->groups[g].n; i++) {
            const struct pmu_count *last = &session->groups[g].after[i];
            if (last->state != PMU_COUNTED && last->state != PMU_NEVER_MOVED &&
                inspection_refuse(session->inspection, session->groups[g].events[i],
                                  last->why) != 0)
                return fail(error, STRATA_FAILED, "out of memory");
        }
    return STRATA_OK;
}

static int measure(struct session *session, struct strata_error *error)
{
    struct inspection *in = session->inspection;
    const struct counting counting = {.context = session,
                                      .groups = session->ngroups,
                                      .count = count,
                                      .watched = &watched,
                                      .progress = progress_update,
                                      .progress_context = &in->progress};
    int status = open_groups(session, error);
    if (!status)
        status = perform(&in->plan, &in->matrices, &counting, error);
    if (!status)
        status = note_unscheduled(session, error);
    return status;
}

/* How far walks go: twice what the operating system says of the largest cache. */
static struct plan_options bounds(unsigned sets, uint64_t seed)
{
    enum { LARGEST = 128 << 20, GUESS = 32 << 20, PAGES = 16384 };
    long last = sysconf(_SC_LEVEL3_CACHE_SIZE), page = sysconf(_SC_PAGESIZE);
    uint64_t bytes = 1 << 20, wanted = 2 * (uint64_t)(last > 0 ? last : GUESS);
    while (bytes < wanted && bytes < LARGEST)
        bytes *= 2;
    return (struct plan_options){.sets = sets,
                                 .page = (uint64_t)(page > 0 ? page : 4096),
                                 .unit = 64,
                                 .bytes = bytes,
                                 .pages = PAGES,
                                 .seed = seed};
}

static void close_session(struct session *session)
{
    for (size_t i = 0; i < session->ngroups; i++)
        pmu_close(session->groups[i].pmu);
    free(session->groups);
    pmu_list_release(&session->list);
}

static void describe(struct inspection *in, const struct session *session)
{
    char name[96];
    size_t opened = 0;
    for (size_t g = 0; g < session->ngroups; g++)
        opened += session->groups[g].n;
    snprintf(in->processor, sizeof in->processor, "%s",
             pmu_model_name(&in->model, name, sizeof name));
    snprintf(in->note, sizeof in->note,
             "%zu events, of which %zu can be opened, in %zu groups; %zu runs of kernels; "
             "about %.0f s",
             in->nevents, opened, session->ngroups, in->plan.n,
             plan_seconds(&in->plan) * (double)session->ngroups + 1);
}

int inspect_perf(struct inspection *in, unsigned sets, bool only_plan,
                 struct strata_error *error)
{
    struct session session = {.inspection = in};
    struct fact counters = {.name = "hardware_counters"};
    fact_hardware_counters("", &counters);
    bool hardware = counters.state != FACT_MISSING;
    if (!hardware && !in->nevents)
        sets = PLAN_SYSTEM;
    const struct plan_options options = bounds(sets, in->seed);
    int status = add_references(in, sets, hardware, error);
    if (!status)
        status = choose_events(&session, sets, hardware, error);
    if (!status)
        status = rename_events(&session, error);
    if (!status)
        status = make_groups(&session, error);
    if (!status &&
        (plan_make(&options, &in->matrices, &in->plan) != 0 || inspection_room(in) != 0))
        status = fail(error, STRATA_FAILED, "out of memory");
    if (!status)
        describe(in, &session);
    if (!status && !only_plan)
        status = measure(&session, error);
    close_session(&session);
    return status;
}
