/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counters by perf_event_open().
 *
 * An event has one descriptor for each place that it is counted in: a thread, a processor,
 * or both "any" and "this". It is read with the times that it was enabled and running.
 *
 * Counters of a group are read at once, by its leader, unless they are inherited: the
 * kernel cannot do that. A read of another processor's counter interrupts that processor,
 * which is most of its cost. So software events, which need no place in a PMU and can stand
 * in any group, are put into one where nobody asked for another. */
#include "pmu/pmu.h"

#include "core/fail.h"
#include "pmu/places.h"
#include "pmu/user_read.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OWN_GROUP = INT_MAX }; /* of software events that nobody has put into one */

struct counter {
    const struct pmu_want *want;
    int group;                    /* want->group, or OWN_GROUP */
    const struct counter *leader; /* NULL: it leads itself, or stands alone */
    int *fds;                     /* one for each place; -1: not there */
    bool opened, software, user_only, leads;
    const char *way;
    enum pmu_state state; /* why it was not opened */
    char why[PMU_WHY];
    void *page; /* for reads without a system call; NULL: none */
};

struct pmu {
    const struct pmu_system *system;
    struct pmu_target target;
    struct pmu_places places;
    int cgroup; /* descriptor, or -1 */
    struct counter *counters;
    size_t n;
    uint64_t *words; /* that a read of a whole group may give */
};

/* Opening. */

static bool reads_groups(const struct pmu *pmu)
{
    return !pmu->target.inherit;
}

static void set_attributes(const struct pmu *pmu, const struct counter *counter,
                           struct perf_event_attr *attr)
{
    attr->size = sizeof *attr;
    attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    if (reads_groups(pmu) && counter->group)
        attr->read_format |= PERF_FORMAT_GROUP;
    attr->disabled = counter->leads; /* the others follow their leader */
    attr->inherit = pmu->target.inherit;
    attr->inherit_thread = pmu->target.inherit && pmu->target.threads_only;
    attr->pinned = pmu->target.pinned && counter->leads;
    attr->enable_on_exec = pmu->target.kind == PMU_CHILD && counter->leads;
    /* PMUs outside of the cores refuse what would leave something out. */
    bool core = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
                attr->type == PERF_TYPE_RAW;
    attr->exclude_hv = core;
    attr->exclude_guest = core;
    if (pmu->target.user_only)
        attr->exclude_kernel = 1;
}

/* Opens one code in all places. Returns 0 if it is open in at least one, or the first
 * errno. A thread that has ended and a processor without that PMU are no failure. */
static int open_everywhere(struct pmu *pmu, struct counter *counter,
                           const struct counter *leader, struct perf_event_attr *attr)
{
    int first = 0;
    size_t opened = 0;
    for (size_t i = 0; i < pmu->places.n; i++) {
        const struct pmu_place *place = &pmu->places.list[i];
        int group = leader ? leader->fds[i] : -1;
        bool cgroup = pmu->cgroup >= 0;
        int fd =
            leader && group < 0
                ? (errno = ENODEV, -1)
                : pmu->system->open(attr, cgroup ? pmu->cgroup : place->pid, place->cpu,
                                    group, cgroup ? PERF_FLAG_PID_CGROUP : 0);
        counter->fds[i] = fd;
        opened += fd >= 0;
        if (fd < 0 && !first)
            first = errno;
        if (fd < 0 && (errno == EMFILE || errno == EACCES || errno == EPERM))
            break; /* it will not get better */
    }
    if (opened == pmu->places.n || (opened && first != EMFILE))
        return 0;
    for (size_t i = 0; i < pmu->places.n; i++) {
        if (counter->fds[i] >= 0)
            close(counter->fds[i]);
        counter->fds[i] = -1;
    }
    return first ? first : ENODEV;
}

/* Keeps the reason that says most: denied before refused before unknown. */
static void note(struct counter *counter, enum pmu_state state, const char *why)
{
    static const int weight[] = {[PMU_UNKNOWN] = 1, [PMU_REFUSED] = 2, [PMU_DENIED] = 3};
    if (counter->state && weight[state] <= weight[counter->state])
        return;
    counter->state = state;
    snprintf(counter->why, sizeof counter->why, "%s", why);
}

static bool is_wide(const struct pmu *pmu)
{
    return pmu->target.kind >= PMU_CPU;
}

/* Tries one code; without the right to count the kernel, for user space alone. */
static bool try_code(struct pmu *pmu, struct counter *counter, const struct counter *leader,
                     struct pmu_code *code)
{
    char why[PMU_WHY];
    set_attributes(pmu, counter, &code->attr);
    bool kernel = !code->attr.exclude_kernel;
    int error = open_everywhere(pmu, counter, leader, &code->attr);
    bool denied = error == EACCES || error == EPERM;
    if (denied && kernel && !code->kernel_only && !code->attr.exclude_user) {
        code->attr.exclude_kernel = 1;
        int again = open_everywhere(pmu, counter, leader, &code->attr);
        counter->user_only = again == 0;
        if (again == 0)
            return true;
        kernel = false;
        error = again;
    }
    if (error == 0)
        return true;
    note(counter, pmu_explain(pmu->system, error, kernel, is_wide(pmu), why), why);
    return false;
}

static bool try_way(struct pmu *pmu, struct counter *counter, const struct counter *leader,
                    const char *way)
{
    struct pmu_code code;
    char why[PMU_WHY], text[PMU_WHY];
    if (pmu_encode(pmu->system, &counter->want->kind, way, &code, why) != 0) {
        snprintf(text, sizeof text, "unknown here: %.220s", why);
        note(counter, PMU_UNKNOWN, text);
        return false;
    }
    counter->software = code.software;
    counter->way = way;
    return try_code(pmu, counter, leader, &code);
}

static void open_counter(struct pmu *pmu, struct counter *counter,
                         const struct counter *leader)
{
    const struct event_row *row = counter->want->row;
    counter->leads = leader == NULL;
    counter->leader = leader;
    if (row && !row->nways) {
        note(counter, PMU_UNKNOWN, row->about);
        return;
    }
    size_t n = row ? row->nways : 1;
    for (size_t i = 0; i < n && !counter->opened; i++)
        counter->opened =
            try_way(pmu, counter, leader, row ? row->ways[i] : counter->want->name);
}

/* The counter that the group of counter i begins with; NULL: it begins itself. */
static const struct counter *leader_of(const struct pmu *pmu, size_t i)
{
    int group = pmu->counters[i].group;
    for (size_t j = 0; group && j < i; j++)
        if (pmu->counters[j].group == group && pmu->counters[j].opened &&
            pmu->counters[j].leads)
            return &pmu->counters[j];
    return NULL;
}

/* Whether the kernel counts it in the place where it happens, without a PMU of any kind. */
static bool is_plain_software(const struct pmu *pmu, const struct pmu_want *want)
{
    struct pmu_code code;
    char why[PMU_WHY];
    return !want->row &&
           pmu_encode(pmu->system, &want->kind, want->name, &code, why) == 0 &&
           code.attr.type == PERF_TYPE_SOFTWARE;
}

static int group_of(const struct pmu *pmu, const struct pmu_want *want)
{
    bool own = !want->group && reads_groups(pmu) && is_plain_software(pmu, want);
    return own ? OWN_GROUP : want->group;
}

/* One alone needs no group. */
static void drop_small_group(struct pmu *pmu)
{
    struct counter *last = NULL;
    size_t members = 0;
    for (size_t i = 0; i < pmu->n; i++)
        if (pmu->counters[i].group == OWN_GROUP) {
            last = &pmu->counters[i];
            members++;
        }
    if (members == 1)
        last->group = 0;
}

static int make_counters(struct pmu *pmu, const struct pmu_want *wants, size_t n)
{
    pmu->counters = calloc(n ? n : 1, sizeof *pmu->counters);
    pmu->words = calloc(3 + n, sizeof *pmu->words);
    if (!pmu->counters || !pmu->words)
        return -1;
    for (pmu->n = 0; pmu->n < n; pmu->n++) {
        struct counter *counter = &pmu->counters[pmu->n];
        counter->want = &wants[pmu->n];
        counter->group = group_of(pmu, counter->want);
        counter->fds = malloc(pmu->places.n * sizeof *counter->fds);
        if (!counter->fds)
            return -1;
        memset(counter->fds, -1, pmu->places.n * sizeof *counter->fds);
    }
    drop_small_group(pmu);
    return 0;
}

static void map_pages(struct pmu *pmu)
{
    if (pmu->target.kind != PMU_SELF || pmu->target.inherit)
        return;
    for (size_t i = 0; i < pmu->n; i++)
        if (pmu->counters[i].opened)
            pmu->counters[i].page = user_page_map(pmu->counters[i].fds[0]);
}

int pmu_open(const struct pmu_system *system, const struct pmu_target *target,
             const struct pmu_want *wants, size_t n, struct pmu **pmu,
             struct strata_error *error)
{
    struct pmu *set = calloc(1, sizeof *set);
    *pmu = NULL;
    if (!set)
        return fail(error, STRATA_FAILED, "out of memory");
    set->system = system;
    set->target = *target;
    set->cgroup = -1;
    int status = pmu_places_find(system, target, &set->places, &set->cgroup, error);
    if (!status && make_counters(set, wants, n) != 0)
        status = fail(error, STRATA_FAILED, "out of memory");
    if (status) {
        pmu_close(set);
        return status;
    }
    for (size_t i = 0; i < n; i++)
        open_counter(set, &set->counters[i], leader_of(set, i));
    map_pages(set);
    *pmu = set;
    return STRATA_OK;
}

void pmu_close(struct pmu *pmu)
{
    if (!pmu)
        return;
    for (size_t i = 0; i < pmu->n; i++) {
        struct counter *counter = &pmu->counters[i];
        user_page_unmap(counter->page);
        for (size_t j = 0; j < pmu->places.n; j++)
            if (counter->fds[j] >= 0)
                close(counter->fds[j]);
        free(counter->fds);
    }
    if (pmu->cgroup >= 0)
        close(pmu->cgroup);
    free(pmu->counters);
    free(pmu->words);
    pmu_places_release(&pmu->places);
    free(pmu);
}

/* Counting. */

static void tell_leaders(struct pmu *pmu, unsigned long request)
{
    for (size_t i = 0; i < pmu->n; i++)
        for (size_t j = 0; pmu->counters[i].leads && j < pmu->places.n; j++)
            if (pmu->counters[i].fds[j] >= 0)
                ioctl(pmu->counters[i].fds[j], request, 0);
}

void pmu_enable(struct pmu *pmu)
{
    tell_leaders(pmu, PERF_EVENT_IOC_ENABLE);
}

void pmu_disable(struct pmu *pmu)
{
    tell_leaders(pmu, PERF_EVENT_IOC_DISABLE);
}

static uint64_t scale(uint64_t raw, uint64_t enabled, uint64_t running)
{
    if (running == 0 || running >= enabled)
        return raw;
    return (uint64_t)((unsigned __int128)raw * enabled / running);
}

static bool read_words(int fd, uint64_t *words, size_t n)
{
    ssize_t got;
    do
        got = read(fd, words, n * sizeof *words);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)(n * sizeof *words);
}

static void add_value(struct pmu_count *count, uint64_t value, uint64_t enabled,
                      uint64_t running)
{
    count->raw += value;
    count->enabled_ns += enabled;
    count->running_ns += running;
    count->value += scale(value, enabled, running);
}

static void set_state(struct pmu_count *count, enum pmu_state state, const char *why)
{
    count->state = state;
    snprintf(count->why, sizeof count->why, "%s", why);
}

/* Why an event that could count never got a counter. The kernel does not count a leader
 * that is disabled when it looks whether a group fits, so that one too many is let in. */
static const char *explain_waiting(const struct pmu_want *want)
{
    return want->group ? "opened but never scheduled: the group is larger than the PMU, or "
                         "other events hold the counters"
           : *want->kind.device
               ? "opened but never scheduled: nothing ran on such a core, or other events "
                 "hold its counters"
               : "opened but never scheduled: other events hold the counters";
}

/* What the numbers mean. */
static void judge(const struct counter *counter, size_t lost, struct pmu_count *count)
{
    if (lost)
        set_state(count, PMU_NEVER_SCHEDULED,
                  "opened but never scheduled: a pinned counter found no free place");
    else if (count->enabled_ns == 0)
        set_state(count, PMU_NEVER_SCHEDULED,
                  "opened but never scheduled: nothing ran that it could count");
    else if (count->running_ns == 0)
        set_state(count, PMU_NEVER_SCHEDULED, explain_waiting(counter->want));
    else if (count->raw == 0 && !counter->software) {
        count->state = PMU_NEVER_MOVED;
        snprintf(count->why, sizeof count->why,
                 "opened but never moved: at 0 for %.3g ms, which a PMU that does not "
                 "implement it also shows",
                 (double)count->running_ns / 1e6);
    }
}

/* One descriptor of a counter that stands alone; false: a pinned counter that lost its
 * place. */
static bool add_place(int fd, struct pmu_count *count)
{
    uint64_t words[3]; /* value, enabled, running */
    if (!read_words(fd, words, 3))
        return false;
    add_value(count, words[0], words[1], words[2]);
    return true;
}

static bool is_member(const struct pmu *pmu, size_t i, const struct counter *leader)
{
    const struct counter *counter = &pmu->counters[i];
    return counter->opened && (counter == leader || counter->leader == leader);
}

/* One place of a group: the members that are there, in the order in which they were
 * opened. */
static bool add_group(const struct pmu *pmu, const struct counter *leader, size_t place,
                      struct pmu_count *counts)
{
    uint64_t *words = pmu->words; /* how many, enabled, running, values */
    size_t there = 0;
    for (size_t i = 0; i < pmu->n; i++)
        there += is_member(pmu, i, leader) && pmu->counters[i].fds[place] >= 0;
    if (!read_words(leader->fds[place], words, 3 + there) || words[0] != there)
        return false;
    const uint64_t *value = words + 3;
    for (size_t i = 0; i < pmu->n; i++)
        if (is_member(pmu, i, leader) && pmu->counters[i].fds[place] >= 0)
            add_value(&counts[i], *value++, words[1], words[2]);
    return true;
}

static void begin_count(const struct counter *counter, struct pmu_count *count)
{
    *count = (struct pmu_count){.user_only = counter->user_only};
    set_state(count, counter->opened ? PMU_COUNTED : counter->state,
              counter->opened ? "" : counter->why);
}

static void read_alone(const struct pmu *pmu, const struct counter *counter,
                       struct pmu_count *count)
{
    size_t lost = 0;
    for (size_t i = 0; i < pmu->places.n; i++)
        if (counter->fds[i] >= 0)
            lost += !add_place(counter->fds[i], count);
    judge(counter, lost, count);
}

static void read_group(const struct pmu *pmu, const struct counter *leader,
                       struct pmu_count *counts)
{
    size_t lost = 0;
    for (size_t i = 0; i < pmu->places.n; i++)
        if (leader->fds[i] >= 0)
            lost += !add_group(pmu, leader, i, counts);
    for (size_t i = 0; i < pmu->n; i++)
        if (is_member(pmu, i, leader))
            judge(&pmu->counters[i], lost, &counts[i]);
}

void pmu_read(struct pmu *pmu, struct pmu_count *counts)
{
    for (size_t i = 0; i < pmu->n; i++)
        begin_count(&pmu->counters[i], &counts[i]);
    for (size_t i = 0; i < pmu->n; i++) {
        const struct counter *counter = &pmu->counters[i];
        if (!counter->opened)
            continue;
        if (!counter->group || !reads_groups(pmu))
            read_alone(pmu, counter, &counts[i]);
        else if (!counter->leader)
            read_group(pmu, counter, counts);
    }
}

bool pmu_read_user(const struct pmu *pmu, size_t i, uint64_t *count)
{
    return pmu->counters[i].page && user_page_read(pmu->counters[i].page, count);
}

/* Facts. */

size_t pmu_size(const struct pmu *pmu)
{
    return pmu->n;
}

bool pmu_opened(const struct pmu *pmu, size_t i)
{
    return pmu->counters[i].opened;
}

const char *pmu_way(const struct pmu *pmu, size_t i)
{
    return pmu->counters[i].opened ? pmu->counters[i].way : NULL;
}

bool pmu_is_software(const struct pmu *pmu, size_t i)
{
    return pmu->counters[i].software;
}
