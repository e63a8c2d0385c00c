/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads of a process, processors that are online, and control groups. */
#include "pmu/places.h"

#include "core/fail.h"
#include "host/facts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add(struct pmu_places *places, struct pmu_place place)
{
    if ((places->n & (places->n - 1)) == 0) { /* room is a power of two */
        size_t room = places->n ? 2 * places->n : 1;
        void *more = realloc(places->list, room * sizeof *places->list);
        if (!more)
            return -1;
        places->list = more;
    }
    places->list[places->n++] = place;
    return 0;
}

static int no_memory(struct strata_error *error)
{
    return fail(error, STRATA_FAILED, "out of memory");
}

/* A counter is attached to threads, not to a process. */
static int find_threads(const struct pmu_system *system, pid_t pid,
                        struct pmu_places *places, struct strata_error *error)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/proc/%d/task", system->root, (int)pid);
    DIR *dir = opendir(path);
    if (!dir)
        return fail(error, STRATA_BAD_INPUT, "process %d: %s", (int)pid,
                    errno == ENOENT ? "there is none" : strerror(errno));
    int bad = 0;
    for (struct dirent *entry; !bad && (entry = readdir(dir));) {
        int thread = atoi(entry->d_name);
        if (thread > 0)
            bad = add(places, (struct pmu_place){.pid = thread, .cpu = -1});
    }
    closedir(dir);
    if (bad)
        return no_memory(error);
    return places->n ? STRATA_OK
                     : fail(error, STRATA_BAD_INPUT, "process %d has just ended", (int)pid);
}

static int find_cpus(const struct pmu_system *system, struct pmu_places *places,
                     struct strata_error *error)
{
    char list[4096], *at = list;
    if (facts_read_line(system->root, "/sys/devices/system/cpu/online", list,
                        sizeof list) != 0)
        return fail(error, STRATA_UNABLE, "/sys/devices/system/cpu/online: %s",
                    strerror(errno));
    while (*at) {
        char *end;
        long first = strtol(at, &end, 10), last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (end == at || first < 0 || last < first || last > 65535)
            break;
        for (long cpu = first; cpu <= last; cpu++)
            if (add(places, (struct pmu_place){.pid = -1, .cpu = (int)cpu}) != 0)
                return no_memory(error);
        at = *end == ',' ? end + 1 : end;
    }
    return places->n ? STRATA_OK
                     : fail(error, STRATA_UNABLE,
                            "/sys/devices/system/cpu/online has no processors in it");
}

static int open_cgroup(const struct pmu_system *system, const char *name, int *cgroup,
                       struct strata_error *error)
{
    static const char *const roots[] = {"/sys/fs/cgroup/perf_event",
                                        "/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
    char path[PATH_MAX];
    *cgroup = *name == '/' ? open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    for (size_t i = 0; i < sizeof roots / sizeof roots[0] && *cgroup < 0; i++) {
        snprintf(path, sizeof path, "%s%s/%.3000s", system->root, roots[i], name);
        *cgroup = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    if (*cgroup >= 0)
        return STRATA_OK;
    return fail(error, STRATA_BAD_INPUT,
                "the control group %s: %s; name one below /sys/fs/cgroup", name,
                strerror(errno));
}

int pmu_places_find(const struct pmu_system *system, const struct pmu_target *target,
                    struct pmu_places *places, int *cgroup, struct strata_error *error)
{
    struct pmu_place place = {.pid = target->pid, .cpu = -1};
    *places = (struct pmu_places){.n = 0};
    switch (target->kind) {
    case PMU_PROCESS:
        return find_threads(system, target->pid, places, error);
    case PMU_CGROUP:
        if (open_cgroup(system, target->cgroup, cgroup, error) != STRATA_OK)
            return STRATA_BAD_INPUT;
        return find_cpus(system, places, error);
    case PMU_ALL:
        return find_cpus(system, places, error);
    case PMU_CPU:
        place = (struct pmu_place){.pid = -1, .cpu = target->cpu};
        break;
    case PMU_SELF:
        place.pid = 0;
        break;
    case PMU_CHILD:
        break;
    }
    return add(places, place) == 0 ? STRATA_OK : no_memory(error);
}

void pmu_places_release(struct pmu_places *places)
{
    free(places->list);
    *places = (struct pmu_places){.n = 0};
}
