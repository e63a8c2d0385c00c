/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata_probe_counted(): the plan of a probe by counts. */
#include "probe/counted.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_SEED = 20040606, PAGES = 1 << 15 };

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

static const struct part {
    const char *what;
    int (*run)(struct counted *c);
} parts[] = {
    {"caches", count_caches},
    {"TLBs", base_tlbs},
    {"huge-page TLBs", huge_tlbs},
    {"latencies", solve_costs},
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
    probed->huge = c->counting->ground[HUGE_PAGES].bytes
                       ? c->counting->ground[HUGE_PAGES].page
                       : 0;
    probed->cycle_ns = c->counting->cycle_ns;
    probed->cpu = c->counting->cpu;
    probed->data->seed = probed->seed;
    probed->data->cycle_ns = probed->cycle_ns;
    snprintf(probed->data->machine, sizeof probed->data->machine, "%s", probed->name);
    snprintf(probed->data->settings, sizeof probed->data->settings,
             "source %s, method counters", probed->source);
}

int strata_probe_counted(const struct strata_probe_options *options,
                         struct counting *counting, struct strata_probed *probed,
                         struct strata_error *error)
{
    struct strata_error own;
    struct counted c = {.counting = counting,
                        .probed = probed,
                        .options = options,
                        .type = STRATA_INT,
                        .error = error ? error : &own};
    int status = 0;
    memset(probed, 0, sizeof *probed);
    probed->seed = options->seed ? options->seed : DEFAULT_SEED;
    c.rng.state = probed->seed;
    probed->data = dataset_create();
    if (!probed->data)
        return counted_no_memory(&c);
    describe(&c);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !status; i++) {
        c.what = parts[i].what;
        status = parts[i].run(&c);
    }
    probed->accesses = counting->visits;
    free(c.moved);
    if (status)
        strata_probed_release(probed);
    return status;
}
