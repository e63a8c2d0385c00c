/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plan of a probe by counts. */
#include "probe/counted.h"
#include "core/fail.h"
#include "host/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_SEED = 20040606, PAGES = 1 << 17 };

#define BASE (UINT64_C(2) << 30)

uint64_t counted_base_bytes(uint64_t page)
{
    return page * PAGES > BASE ? page * PAGES : BASE;
}

uint64_t counted_huge_bytes(uint64_t page)
{
    enum { HUGE_PAGES_WANTED = 1 << 13 };
    return page * HUGE_PAGES_WANTED;
}

struct strata_value counted_value(const struct counted *c, int event, double value)
{
    const struct counted_event *e = &c->counting->events[event];
    struct strata_value known_value = known(value, value, value, 0.99);
    snprintf(known_value.by, sizeof known_value.by, "%.30s, %s", e->name,
             event_way_names[e->way]);
    return known_value;
}

static int base_tlbs(struct counted *c)
{
    return count_tlbs(c, BASE_PAGES);
}

static int huge_tlbs(struct counted *c)
{
    return count_tlbs(c, HUGE_PAGES);
}

bool is_counted(const struct counted *c, int event)
{
    return c->counting->events[event].present &&
           !(c->type == STRATA_FLOAT && c->bypassed[event]);
}

void counted_note(struct counted *c, const char *format, ...)
{
    va_list arguments;
    struct strata_probed *probed = c->probed;
    if ((size_t)probed->nnotes == sizeof probed->notes / sizeof *probed->notes)
        return;
    va_start(arguments, format);
    vsnprintf(probed->notes[probed->nnotes++], sizeof *probed->notes, format, arguments);
    va_end(arguments);
}

static void mark_timed(struct strata_value *value)
{
    if (value->known)
        snprintf(value->by, sizeof value->by, "the clock, timing");
}

static void take_caches(struct counted *c, struct strata_probed *timed)
{
    for (int i = c->probed->ncaches; i < timed->ncaches; i++) {
        struct strata_probed_cache *cache = &timed->caches[i];
        struct strata_value *const values[] = {
            &cache->size, &cache->effective,      &cache->line,      &cache->effective_line,
            &cache->ways, &cache->latency_cycles, &cache->latency_ns};
        for (size_t j = 0; j < sizeof values / sizeof *values; j++)
            mark_timed(values[j]);
        c->probed->caches[c->probed->ncaches++] = *cache;
    }
}

static bool has_tlb(const struct strata_probed *probed, const struct strata_probed_tlb *tlb)
{
    for (int i = 0; i < probed->ntlbs; i++)
        if (probed->tlbs[i].level == tlb->level && probed->tlbs[i].page == tlb->page)
            return true;
    return false;
}

static void take_tlbs(struct counted *c, struct strata_probed *timed)
{
    for (int i = 0; i < timed->ntlbs && c->probed->ntlbs < STRATA_MAX_TLBS; i++) {
        struct strata_probed_tlb *tlb = &timed->tlbs[i];
        struct strata_value *const values[] = {&tlb->entries, &tlb->ways,
                                               &tlb->penalty_cycles, &tlb->penalty_ns};
        for (size_t j = 0; j < sizeof values / sizeof *values; j++)
            mark_timed(values[j]);
        if (!has_tlb(c->probed, tlb))
            c->probed->tlbs[c->probed->ntlbs++] = *tlb;
    }
}

/* Whether some event is wanted and cannot be used. On a simulated machine the events that
 * it has are known; on a real one, an event may stand for a level that is not there. */
static bool is_missing(const struct counted *c, int event)
{
    const struct counted_event *e = &c->counting->events[event];
    return !e->present && *e->why;
}

/* What has no event that can be believed is found by the clock. */
static int take_times(struct counted *c)
{
    struct strata_probed timed;
    bool caches = false, tlbs = false;
    for (int level = 1; level <= COUNTED_LEVELS; level++) {
        caches |= is_missing(c, CACHE_EVENT(level));
        tlbs |= is_missing(c, TLB_EVENT(level));
    }
    if (!caches && !tlbs)
        return 0;
    int status = probe_timed(c->options, &timed, c->error);
    if (status)
        return status;
    if (caches)
        take_caches(c, &timed);
    if (tlbs)
        take_tlbs(c, &timed);
    c->counting->visits += timed.accesses;
    counted_note(c, "what these events would have told was found by the clock instead");
    strata_probed_release(&timed);
    return 0;
}

/* Without the event of a first cache there is nothing to build on. */
static int refuse(struct counted *c)
{
    const struct counted_event *event = &c->counting->events[CACHE_EVENT(1)];
    int level = 1;
    while (level < COUNTED_LEVELS && !is_counted(c, CACHE_EVENT(level)))
        level++;
    if (level < COUNTED_LEVELS)
        return 0;
    return fail(c->error, STRATA_UNABLE,
                "--method counters: no event for misses of a cache can be used: %s: %s; "
                "--method timing needs none",
                *event->name ? event->name : "l1d_misses", event->why);
}

static const struct part {
    const char *what;
    int (*run)(struct counted *c);
} parts[] = {
    {"events", judge_events},      {"events", refuse},
    {"caches", count_caches},      {"TLBs", base_tlbs},
    {"huge-page TLBs", huge_tlbs}, {"banks", count_banks},
    {"kernels", count_kernels},    {"latencies", solve_costs},
    {"timing", take_times},
};

static void describe(struct counted *c)
{
    struct strata_probed *probed = c->probed;
    const struct strata_machine *machine = c->options->machine;
    snprintf(probed->name, sizeof probed->name, "%s",
             machine ? machine->name : "this machine");
    probed->source = c->counting->simulated ? "sim" : "perf";
    probed->method = "counters";
    probed->page = c->counting->base_page;
    probed->huge =
        c->counting->ground[HUGE_PAGES].bytes ? c->counting->ground[HUGE_PAGES].page : 0;
    probed->cycle_ns = c->counting->cycle_ns;
    probed->cpu = c->counting->cpu;
    probed->data->seed = probed->seed;
    probed->data->cycle_ns = probed->cycle_ns;
    snprintf(probed->data->machine, sizeof probed->data->machine, "%s", probed->name);
    snprintf(probed->data->settings, sizeof probed->data->settings,
             "source %s, method counters", probed->source);
}

/* Whether the user wants it to end. */
static bool show_progress(const struct counted *c, double done, const char *what)
{
    return c->options->progress && c->options->progress(c->options->context, done, what);
}

int probe_counted(const struct strata_probe_options *options, struct counting *counting,
                  struct strata_probed *probed, struct strata_error *error)
{
    struct strata_error own;
    struct counted c = {.counting = counting,
                        .probed = probed,
                        .options = options,
                        .type = options->type ? options->type : STRATA_INT,
                        .error = error ? error : &own};
    int status = 0;
    memset(probed, 0, sizeof *probed);
    probed->seed = options->seed ? options->seed : DEFAULT_SEED;
    c.rng.state = probed->seed;
    probed->data = dataset_create();
    if (!probed->data)
        return counted_no_memory(&c);
    describe(&c);
    double start = clock_ns();
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !status && !c.stopped; i++) {
        c.stopped =
            show_progress(&c, (double)i / (sizeof parts / sizeof *parts), parts[i].what);
        if (!c.stopped)
            status = parts[i].run(&c);
    }
    probed->seconds = (clock_ns() - start) * 1e-9;
    probed->accesses = counting->visits;
    free(c.moved);
    if (status)
        strata_probed_release(probed);
    return status;
}
