/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The counting runner that asks the counters of this processor.
 *
 * For each level there is a list of events, the best first: strata's plain name by the
 * table of this processor, the kernel's own name, a related event. The first one that opens
 * and moves when memory is visited is taken. The others' reasons are kept, for the message.
 *
 * Visits are real loads in C, of integers or of doubles. To tell what one visit made move,
 * the counters are read before and after it: by the processor's own instruction where the
 * kernel allows that, else by system calls. Only user space is counted. */
#include "counting/hardware.h"
#include "core/fail.h"
#include "host/clock.h"
#include "host/memory.h"
#include "host/processors.h"
#include "host/shipped.h"
#include "pmu/pmu.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct candidate {
    int event;
    const char *name;
    enum event_way way;
} candidates[] = {
    {CACHE_EVENT(1), "l1d_misses", WAY_STANDARD},
    {CACHE_EVENT(1), "L1-dcache-load-misses", WAY_NATIVE},
    {CACHE_EVENT(2), "l2_misses", WAY_STANDARD},
    {CACHE_EVENT(2), "LLC-loads", WAY_SUBSTITUTE}, /* what comes to the next cache */
    {CACHE_EVENT(3), "l3_misses", WAY_STANDARD},
    {CACHE_EVENT(3), "LLC-load-misses", WAY_NATIVE},
    {CACHE_EVENT(3), "llc_misses", WAY_SUBSTITUTE},
    {CACHE_EVENT(3), "cache-misses", WAY_SUBSTITUTE},
    {TLB_EVENT(1), "dtlb_misses", WAY_STANDARD},
    {TLB_EVENT(1), "dTLB-load-misses", WAY_SUBSTITUTE},
    {TLB_EVENT(2), "dtlb_walks", WAY_STANDARD},
};
enum { CANDIDATES = sizeof candidates / sizeof *candidates };

struct hardware {
    struct counting counting;
    char *memory[ARENAS];
    struct affinity before;
    bool pinned;
    const struct pmu_system *system;
    struct pmu_model own; /* the model, if it is not the caller's */
    struct pmu *pmu;
    struct pmu_list lists[CANDIDATES];
    struct pmu_want wants[COUNTED_EVENTS];
    int events[COUNTED_EVENTS]; /* which event each counter is */
    size_t n;
};

static __attribute__((noinline)) void load_int(const char *at)
{
    (void)*(const volatile uint32_t *)((uintptr_t)at & ~(uintptr_t)3);
}

static __attribute__((noinline)) void load_double(const char *at)
{
    volatile double keep = *(const volatile double *)((uintptr_t)at & ~(uintptr_t)7);
    (void)keep;
}

static void visit(const char *at, enum strata_types type)
{
    (type == STRATA_FLOAT ? load_double : load_int)(at);
}

/* The counters as they stand. */
static void read_all(struct hardware *h, uint64_t *values)
{
    struct pmu_count counts[COUNTED_EVENTS];
    bool user = true;
    for (size_t i = 0; i < h->n && user; i++)
        user = pmu_read_user(h->pmu, i, &values[i]);
    if (user)
        return;
    pmu_read(h->pmu, counts);
    for (size_t i = 0; i < h->n; i++)
        values[i] = counts[i].value;
}

static uint32_t moved_bits(const struct hardware *h, const uint64_t *before,
                           const uint64_t *after)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < h->n; i++)
        if (after[i] != before[i])
            bits |= EVENT_BIT(h->events[i]);
    return bits;
}

static int hardware_walk(struct counting *counting, enum arena arena,
                         enum strata_types type, const uint64_t *at, size_t n,
                         uint32_t *moved, struct walk_counts *counts)
{
    struct hardware *h = (struct hardware *)counting;
    uint64_t first[COUNTED_EVENTS] = {0}, before[COUNTED_EVENTS], after[COUNTED_EVENTS];
    read_all(h, first);
    memcpy(before, first, sizeof before);
    memcpy(after, first, sizeof after);
    double start = clock_ns();
    for (size_t i = 0; i < n; i++) {
        visit(h->memory[arena] + at[i], type);
        if (!moved)
            continue;
        read_all(h, after);
        moved[i] = moved_bits(h, before, after);
        memcpy(before, after, sizeof before);
    }
    double ns = clock_ns() - start;
    read_all(h, after);
    *counts = (struct walk_counts){.visits = n, .cycles = ns / counting->cycle_ns};
    for (size_t i = 0; i < h->n; i++)
        counts->events[h->events[i]] = (double)(after[i] - first[i]);
    return 0;
}

static void hardware_release(struct counting *counting)
{
    struct hardware *h = (struct hardware *)counting;
    if (h->pmu)
        pmu_close(h->pmu);
    for (int i = 0; i < CANDIDATES; i++)
        pmu_list_release(&h->lists[i]);
    for (int i = 0; i < ARENAS; i++)
        unmap_pages(h->memory[i], counting->ground[i].bytes);
    if (h->pinned)
        unpin_thread(&h->before);
    pmu_model_release(&h->own);
    free(h);
}

static const struct counting_ops hardware_ops = {hardware_walk, NULL, hardware_release};

static const struct pmu_target this_thread = {.kind = PMU_SELF, .user_only = true};

/* Whether an event opens and moves; if not, why. */
static bool try_event(struct hardware *h, const struct pmu_want *want, char why[160])
{
    struct strata_error error = {0};
    struct pmu_count count;
    struct pmu *pmu;
    if (pmu_open(h->system, &this_thread, want, 1, &pmu, &error)) {
        snprintf(why, 160, "%.150s", error.text);
        return false;
    }
    pmu_enable(pmu);
    const struct ground *ground = &h->counting.ground[BASE_PAGES];
    for (uint64_t at = 0; at < ground->bytes; at += ground->page)
        load_int(h->memory[BASE_PAGES] + at);
    pmu_disable(pmu);
    pmu_read(pmu, &count);
    bool moves = count.state == PMU_COUNTED && count.value > 0;
    if (!moves)
        snprintf(why, 160, "%.150s", count.why);
    pmu_close(pmu);
    return moves;
}

/* Takes the first candidate of every event that can be counted. */
static int choose_events(struct hardware *h, const struct pmu_model *model,
                         struct strata_error *error)
{
    for (int i = 0; i < CANDIDATES; i++) {
        const struct candidate *candidate = &candidates[i];
        struct counted_event *event = &h->counting.events[candidate->event];
        struct pmu_list *list = &h->lists[i];
        char why[160] = "";
        if (event->present)
            continue;
        int status = pmu_list_split(candidate->name, list, error);
        if (!status)
            status = pmu_list_bind(list, model, h->system, error);
        if (status)
            return status;
        bool usable = list->nwants > 0 && try_event(h, &list->wants[0], why);
        if (!*event->name || usable)
            snprintf(event->name, sizeof event->name, "%s", candidate->name);
        if (!usable && !*event->why)
            snprintf(event->why, sizeof event->why, "%s",
                     *why ? why : "no event of this processor");
        if (!usable)
            continue;
        event->present = true;
        event->way = candidate->way;
        *event->why = 0;
        h->events[h->n] = candidate->event;
        h->wants[h->n++] = list->wants[0];
    }
    return STRATA_OK;
}

/* As much as is wanted, or less where memory is short. */
static void take_arena(struct hardware *h, enum arena arena, uint64_t page, uint64_t bytes,
                       void *(*map)(uint64_t))
{
    uint64_t most = memory_available() / 4;
    while (bytes > most)
        bytes /= 2;
    for (bytes -= page ? bytes % page : 0; page && bytes >= 1u << 20;
         bytes = bytes / 2 / page * page) {
        h->memory[arena] = map(bytes);
        if (h->memory[arena]) {
            h->counting.ground[arena] =
                (struct ground){.page = page, .bytes = bytes, .line = 64};
            return;
        }
    }
}

static int set_up(struct hardware *h, const struct pmu_model *model, uint64_t bytes,
                  uint64_t huge_bytes, struct strata_error *error)
{
    h->counting.cpu = pin_thread(h->counting.cpu, &h->before);
    h->pinned = true;
    clock_warm_up();
    h->counting.cycle_ns = clock_add_ns();
    h->counting.base_page = page_size();
    take_arena(h, BASE_PAGES, page_size(), bytes, map_base_pages);
    if (!h->counting.ground[BASE_PAGES].bytes)
        return fail(error, STRATA_UNABLE, "not enough memory to count on");
    if (huge_page_size())
        take_arena(h, HUGE_PAGES, huge_page_size(), huge_bytes, map_huge_pages);
    int status = choose_events(h, model, error);
    if (status || !h->n)
        return status;
    status = pmu_open(h->system, &this_thread, h->wants, h->n, &h->pmu, error);
    if (!status)
        pmu_enable(h->pmu);
    return status;
}

static struct hardware *create(const struct pmu_system *system, int cpu)
{
    struct hardware *h = calloc(1, sizeof *h);
    if (h) {
        h->counting.ops = &hardware_ops;
        h->counting.cpu = cpu;
        h->system = system;
    }
    return h;
}

/* The runner for the caller, unless it could not be set up. */
static int hand_over(struct hardware *h, int status, struct counting **counting)
{
    if (status)
        hardware_release(&h->counting);
    else
        *counting = &h->counting;
    return status;
}

int counting_hardware(struct counting **counting, const struct pmu_model *model,
                      const struct pmu_system *system, int cpu, uint64_t bytes,
                      uint64_t huge_bytes, struct strata_error *error)
{
    struct hardware *h = create(system, cpu);
    if (!h)
        return fail(error, STRATA_FAILED, "out of memory");
    return hand_over(h, set_up(h, model, bytes, huge_bytes, error), counting);
}

int counting_here(struct counting **counting, int cpu, struct strata_error *error)
{
    enum { BYTES = 512 << 20 };
    char folder[PATH_MAX];
    struct hardware *h = create(&pmu_system_codes, cpu);
    if (!h)
        return fail(error, STRATA_FAILED, "out of memory");
    int status = place_of_metrics(folder, error);
    if (!status)
        status = pmu_model_read(&h->own, folder, "", error);
    if (!status)
        status = set_up(h, &h->own, BYTES, UINT64_C(2) * BYTES, error);
    return hand_over(h, status, counting);
}
