/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata inspect on this machine: each kernel runs in this process, once for each group of
 * events that have counters at the same time (src/inspect/groups.h). */
#include "cli/inspecting.h"

#include "core/fail.h"
#include "host/facts.h"
#include "inspect/groups.h"
#include "pmu/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Of more events than these, it is said what they count and no more: studies and sizes take
 * longer than all else. */
enum { MANY = 32 };

/* Written to by a kernel and watched by breakpoints. */
static volatile uint64_t watched;

struct session {
    struct inspection *inspection;
    struct pmu_list list;
    struct groups groups;
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

static int note_reasons(struct session *session, struct strata_error *error)
{
    for (size_t i = 0; i < session->groups.nevents; i++)
        if (*session->groups.why[i] &&
            inspection_refuse(session->inspection, i, session->groups.why[i]) != 0)
            return fail(error, STRATA_FAILED, "out of memory");
    return STRATA_OK;
}

static int measure(struct session *session, struct strata_error *error)
{
    struct inspection *in = session->inspection;
    struct groups *groups = &session->groups;
    int status = groups_measure(groups, &in->plan, &in->matrices, &watched, progress_update,
                                &in->progress, error);
    if (!status)
        status = note_reasons(session, error);
    if (status)
        return status;
    memcpy(in->counts, groups->counts, in->plan.n * in->nevents * sizeof *in->counts);
    memcpy(in->ns, groups->ns, in->plan.n * sizeof *in->ns);
    in->flat_memory = groups_flat_memory(groups);
    return STRATA_OK;
}

/* How far walks go: twice what the operating system says of the largest cache. */
static struct plan_options bounds(unsigned sets, uint64_t seed)
{
    enum { LARGEST = 128 << 20, GUESS = 32 << 20, SECOND = 2 << 20, PAGES = 16384 };
    long second = sysconf(_SC_LEVEL2_CACHE_SIZE);
    long last = sysconf(_SC_LEVEL3_CACHE_SIZE), page = sysconf(_SC_PAGESIZE);
    uint64_t bytes = 1 << 20, wanted = 2 * (uint64_t)(last > 0 ? last : GUESS);
    while (bytes < wanted && bytes < LARGEST)
        bytes *= 2;
    uint64_t study = 1 << 20;
    while (study < 4 * (uint64_t)(second > 0 ? second : SECOND) && study < bytes)
        study *= 2;
    return (struct plan_options){.sets = sets | PLAN_UNITS,
                                 .page = (uint64_t)(page > 0 ? page : 4096),
                                 .unit = 64,
                                 .bytes = bytes,
                                 .study = study,
                                 .pages = PAGES,
                                 .seed = seed};
}

static void describe(struct inspection *in, const struct session *session)
{
    char name[96];
    const struct groups *groups = &session->groups;
    snprintf(in->processor, sizeof in->processor, "%s",
             pmu_model_name(&in->model, name, sizeof name));
    double once = plan_seconds(&in->plan);
    size_t all = groups->n + (in->nevents - groups->opened + GROUP_OF - 1) / GROUP_OF;
    int used = snprintf(
        in->note, sizeof in->note,
        "%zu events, of which %zu can be opened, in %zu groups; %zu runs of "
        "kernels; about %.0f s",
        in->nevents, groups->opened, groups->n, in->plan.n, once * (double)groups->n + 1);
    if (all > groups->n)
        snprintf(in->note + used, sizeof in->note - (size_t)used,
                 "; if all could be opened, %zu groups, about %.0f s", all,
                 once * (double)all + 1);
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
    int status = add_references(in, sets, hardware, error);
    if (!status)
        status = choose_events(&session, sets, hardware, error);
    if (!status)
        status = rename_events(&session, error);
    if (session.list.nwants > MANY)
        sets &= ~(unsigned)(PLAN_STUDIES | PLAN_SIZES);
    const struct plan_options options =
        bounds(hardware ? sets | PLAN_IDLE : sets, in->seed);
    if (!status)
        status = groups_open(&session.groups, &pmu_system_here, session.list.wants,
                             session.list.nwants, error);
    if (!status &&
        (plan_make(&options, &in->matrices, &in->plan) != 0 || inspection_room(in) != 0))
        status = fail(error, STRATA_FAILED, "out of memory");
    if (!status)
        status = note_reasons(&session, error);
    if (!status)
        describe(in, &session);
    if (!status && !only_plan)
        status = measure(&session, error);
    groups_close(&session.groups);
    pmu_list_release(&session.list);
    return status;
}
