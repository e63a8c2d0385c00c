/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processors, a process or a control group, while they come and go.
 *
 * A process is held by a descriptor: its number may be given to another. Where the kernel
 * has no such descriptors (before 5.3), the number must do. */
#include "serve/units.h"

#include "core/fail.h"
#include "pmu/places.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Opening. */

static int open_unit(const struct sampler *sampler, struct sampler_unit *unit,
                     struct strata_error *error)
{
    const struct sampler_plan *plan = &sampler->plan;
    struct pmu_target target = plan->target;
    if (unit->cpu >= 0) {
        target.kind = PMU_CPU;
        target.cpu = unit->cpu;
    }
    return pmu_open(plan->system, &target, plan->list->wants, sampler->nevents, &unit->pmu,
                    error);
}

static int make_unit(const struct sampler *sampler, int cpu, struct sampler_unit *unit)
{
    size_t n = sampler->nevents ? sampler->nevents : 1;
    *unit = (struct sampler_unit){.cpu = cpu,
                                  .counts = calloc(n, sizeof *unit->counts),
                                  .fresh = calloc(n, sizeof *unit->fresh),
                                  .totals = calloc(n, sizeof *unit->totals)};
    for (size_t i = 0; unit->totals && i < n; i++)
        unit->totals[i].rate = NAN;
    return unit->counts && unit->fresh && unit->totals ? 0 : -1;
}

static void release_unit(struct sampler_unit *unit)
{
    pmu_close(unit->pmu);
    free(unit->counts);
    free(unit->fresh);
    free(unit->totals);
    *unit = (struct sampler_unit){.cpu = -1};
}

static int add_unit(struct sampler *sampler, int cpu, struct strata_error *error)
{
    struct sampler_unit unit, *more;
    if (make_unit(sampler, cpu, &unit) != 0) {
        release_unit(&unit);
        return fail(error, STRATA_FAILED, "out of memory");
    }
    int status = open_unit(sampler, &unit, error);
    sampler_lock(sampler);
    more = status ? NULL : realloc(sampler->units, (sampler->nunits + 1) * sizeof *more);
    if (more) {
        sampler->units = more;
        sampler->units[sampler->nunits++] = unit;
    }
    sampler_unlock(sampler);
    if (more)
        return STRATA_OK;
    release_unit(&unit);
    return status ? status : fail(error, STRATA_FAILED, "out of memory");
}

static const struct pmu_target all = {.kind = PMU_ALL};

/* The processors that are online. */
static int find_processors(const struct sampler *sampler, struct pmu_places *places,
                           struct strata_error *error)
{
    int none = -1;
    return pmu_places_find(sampler->plan.system, &all, places, &none, error);
}

static int open_processors(struct sampler *sampler, struct strata_error *error)
{
    struct pmu_places places;
    int status = find_processors(sampler, &places, error);
    for (size_t i = 0; i < places.n && !status; i++)
        status = add_unit(sampler, places.list[i].cpu, error);
    pmu_places_release(&places);
    return status;
}

int units_open(struct sampler *sampler, struct strata_error *error)
{
    const struct pmu_target *target = &sampler->plan.target;
    if (target->kind == PMU_ALL)
        return open_processors(sampler, error);
    if (target->kind == PMU_PROCESS)
        sampler->process = (int)syscall(SYS_pidfd_open, target->pid, 0);
    if (target->kind == PMU_CGROUP) {
        struct pmu_places places;
        int status =
            pmu_places_find(sampler->plan.system, target, &places, &sampler->group, error);
        pmu_places_release(&places);
        if (status)
            return status;
    }
    return add_unit(sampler, -1, error);
}

void units_close(struct sampler *sampler)
{
    for (size_t u = 0; u < sampler->nunits; u++)
        release_unit(&sampler->units[u]);
    free(sampler->units);
    sampler->units = NULL;
    sampler->nunits = 0;
    if (sampler->process >= 0)
        close(sampler->process);
    if (sampler->group >= 0)
        close(sampler->group);
}

/* Looking which are there. */

static bool process_is_there(const struct sampler *sampler)
{
    struct pollfd wait = {.fd = sampler->process, .events = POLLIN};
    if (sampler->process >= 0)
        return poll(&wait, 1, 0) == 0;
    return kill(sampler->plan.target.pid, 0) == 0 || errno != ESRCH;
}

/* The folder of a group that was removed is empty. */
static bool group_is_there(const struct sampler *sampler)
{
    return faccessat(sampler->group, "cgroup.procs", F_OK, 0) == 0 || errno == EACCES;
}

static bool has_cpu(const struct pmu_places *places, int cpu)
{
    for (size_t i = 0; i < places->n; i++)
        if (places->list[i].cpu == cpu)
            return true;
    return false;
}

static struct sampler_unit *unit_of(const struct sampler *sampler, int cpu)
{
    for (size_t u = 0; u < sampler->nunits; u++)
        if (sampler->units[u].cpu == cpu)
            return &sampler->units[u];
    return NULL;
}

static void set_state(struct sampler *sampler, struct sampler_unit *unit,
                      enum unit_state state, const char *why)
{
    sampler_lock(sampler);
    unit->state = state;
    snprintf(unit->why, sizeof unit->why, "%s", why);
    sampler_unlock(sampler);
}

static bool any_opened(const struct sampler *sampler, const struct pmu *pmu)
{
    for (size_t i = 0; i < sampler->nevents; i++)
        if (pmu_opened(pmu, i))
            return true;
    return false;
}

/* A processor that has come back is opened anew, which needs the rights that it needed
 * before. Those may have been given up since: then that is said, and not tried again. */
static void come_back(struct sampler *sampler, struct sampler_unit *unit)
{
    char why[PMU_WHY];
    bool opened =
        open_unit(sampler, unit, NULL) == STRATA_OK && any_opened(sampler, unit->pmu);
    for (size_t i = 0; i < sampler->nevents; i++)
        memset(&unit->totals[i].base, 0, sizeof unit->totals[i].base);
    if (opened) {
        pmu_enable(unit->pmu);
        set_state(sampler, unit, UNIT_UP, "");
        return;
    }
    pmu_close(unit->pmu);
    unit->pmu = NULL;
    snprintf(why, sizeof why,
             "processor %d has come back, but strata has given up the right to open its "
             "counters: start strata serve again",
             unit->cpu);
    set_state(sampler, unit, UNIT_LOST, why);
}

static void look_at_unit(struct sampler *sampler, struct sampler_unit *unit, bool there)
{
    char why[64];
    snprintf(why, sizeof why, "processor %d is offline", unit->cpu);
    if (!there && unit->state != UNIT_GONE)
        set_state(sampler, unit, UNIT_GONE, why);
    else if (there && unit->state == UNIT_GONE)
        come_back(sampler, unit);
}

static void look_at_processors(struct sampler *sampler)
{
    struct pmu_places places;
    int status = find_processors(sampler, &places, NULL);
    /* without the list, nothing is known to have gone */
    for (size_t u = 0; u < sampler->nunits && !status; u++)
        look_at_unit(sampler, &sampler->units[u], has_cpu(&places, sampler->units[u].cpu));
    for (size_t i = 0; i < places.n && !status; i++)
        if (!unit_of(sampler, places.list[i].cpu) &&
            add_unit(sampler, places.list[i].cpu, NULL) == STRATA_OK)
            pmu_enable(sampler->units[sampler->nunits - 1].pmu);
    pmu_places_release(&places);
}

static void look(struct sampler *sampler)
{
    const struct pmu_target *target = &sampler->plan.target;
    char why[PMU_WHY];
    if (target->kind == PMU_ALL) {
        look_at_processors(sampler);
        return;
    }
    if (sampler->units[0].state != UNIT_UP)
        return;
    bool process = target->kind == PMU_PROCESS;
    if (process ? process_is_there(sampler) : group_is_there(sampler))
        return;
    snprintf(why, sizeof why, process ? "%.180s has ended" : "%.180s was removed",
             sampler->plan.what);
    set_state(sampler, &sampler->units[0], UNIT_GONE, why);
}

void units_read(struct sampler *sampler)
{
    look(sampler);
    for (size_t u = 0; u < sampler->nunits; u++)
        if (sampler->units[u].pmu)
            pmu_read(sampler->units[u].pmu, sampler->units[u].fresh);
}

void units_settle(struct sampler *sampler)
{
    for (size_t u = 0; u < sampler->nunits; u++)
        if (sampler->units[u].state != UNIT_UP) {
            pmu_close(sampler->units[u].pmu);
            sampler->units[u].pmu = NULL;
        }
}
