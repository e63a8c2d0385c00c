/* SPDX-License-Identifier: BSD-3-Clause
 *
 * probe_timed(): the plan of a probe by times. Which part runs when, and within which share
 * of the time, is one table; each part finds its parameters on its own. */
#include "core/fail.h"
#include "host/clock.h"
#include "host/load.h"
#include "host/memory.h"
#include "probe/probing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int base_tlbs(struct probing *p)
{
    return probe_tlbs(p, BASE_PAGES);
}

static int huge_tlbs(struct probing *p)
{
    return probe_tlbs(p, HUGE_PAGES);
}

static const struct part {
    const char *what;
    int (*run)(struct probing *p);
    double until; /* share of the budget used when it ends */
} parts[] = {
    {"first cache", probe_gap, 0.14},
    {"caches", probe_caches_roughly, 0.20},
    {"TLBs", probe_tlbs_roughly, 0.22},
    {"caches", probe_caches, 0.38},
    {"first cache", probe_gap_again, 0.41},
    {"TLBs", base_tlbs, 0.55},
    {"huge-page TLBs", huge_tlbs, 0.58},
    {"caches", probe_caches_again, 0.64},
    {"first cache", probe_gap_again, 0.66},
    {"TLBs", probe_tlbs_again, 0.67},
    {"latencies", probe_latencies_roughly, 0.68},
    {"TLBs", probe_tlbs_again, 0.69},
    {"lines", probe_lines, 0.78},
    {"latencies", probe_room, 0.79},
    {"TLBs", probe_tlbs_again, 0.80},
    {"latencies", probe_latencies, 0.83},
    {"first cache", probe_gap_again, 0.84},
    {"associativity", probe_ways, 0.85},
    {"TLBs", probe_tlbs_again, 0.855},
    {"caches", probe_caches_again, 0.865},
    {"TLBs", probe_tlbs_again, 0.87},
    {"lines", confirm_lines, 0.88},
    {"latencies", probe_latencies, 0.89},
    {"TLBs", probe_tlbs_again, 0.90},
    {"caches", probe_last_cache, 0.915},
    {"TLBs", judge_entries, 0.915},
    {"lines", judge_lines, 0.915},
    {"caches", cap_effective, 0.915},
};

enum {
    DEFAULT_BUDGET = 15, /* seconds of processor time, within… */
    MOST_SECONDS = 60,   /* …so many of the user's */
    PAGES = 16384,       /* as many as the TLB string visits */
    ARENA = 256 << 20, /* bytes of base pages; twice as much of huge ones, for their TLBs */
    DEFAULT_SEED = 20110410, /* any: a seed names a run */
};

/* Less memory is tried where there is little time: the largest footprints take the most. */
static uint64_t arena_bytes(double budget)
{
    return budget >= 10 ? ARENA : ARENA / 4;
}

/* The same with room for the TLBs, which reach far where pages are large. */
static uint64_t base_bytes(double budget, uint64_t page)
{
    uint64_t reach = page * (budget >= 10 ? PAGES : PAGES / 4), bytes = arena_bytes(budget);
    return reach > bytes ? reach : bytes;
}

static int make_runner(struct probing *p)
{
    const struct strata_probe_options *o = p->options;
    if (o->replay)
        return replay_log(p);
    uint64_t page = o->machine ? o->machine->page : page_size();
    uint64_t bytes = base_bytes(p->budget, page), huge = 2 * arena_bytes(p->budget);
    if (o->machine)
        return runner_simulated(&p->runner, o->machine, p->probed->seed, bytes, huge,
                                p->error);
    p->probed->cpu = o->cpu;
    return runner_timing(&p->runner, &p->probed->cpu, bytes, huge, p->error);
}

static void describe(struct probing *p)
{
    const struct strata_probe_options *o = p->options;
    struct strata_probed *probed = p->probed;
    if (!o->replay)
        snprintf(probed->name, sizeof probed->name, "%s",
                 o->machine ? o->machine->name : "this machine");
    probed->source = o->replay ? "replay" : o->machine ? "sim" : "timing";
    probed->method = "timing";
    probed->page = p->runner->ground[BASE_PAGES].page;
    probed->huge =
        p->runner->ground[HUGE_PAGES].bytes ? p->runner->ground[HUGE_PAGES].page : 0;
    probed->cycle_ns = p->runner->cycle_ns;
    probed->data->seed = probed->seed;
    probed->data->cycle_ns = probed->cycle_ns;
    snprintf(probed->data->machine, sizeof probed->data->machine, "%s", probed->name);
    snprintf(probed->data->settings, sizeof probed->data->settings,
             "source %s, cpu %d, budget %g s", probed->source, probed->cpu, p->budget);
}

/* What the trials and the kernel say of the machine's quiet. */
static void judge_quiet(struct probing *p, const struct load *before)
{
    struct load after;
    double share;
    const struct runner *r = p->runner;
    p->probed->busy = r->trials ? (double)r->disturbed / (double)r->trials : 0;
    if (p->probed->busy > 0.05)
        note(p,
             "cpu %d was busy with other work: %.0f%% of the trials were interrupted and "
             "repeated; see that it is idle for closer intervals",
             p->probed->cpu, 100 * p->probed->busy);
    if (r->simulated || p->options->replay)
        return;
    load_read(&after);
    int other = load_busiest(before, &after, p->probed->cpu, &share);
    if (other >= 0 && share > 0.5)
        note(p,
             "cpu %d was busy meanwhile (%.0f%%): what it shares with cpu %d was not all "
             "to be had",
             other, 100 * share, p->probed->cpu);
}

/* A part that could not go on from what was found before is left out: the rest stands. */
static int forgive(struct probing *p, int status)
{
    if (!status || !p->gave_up)
        return status;
    *p->error = (struct strata_error){0};
    note(p, "%s: not all was measured, because %s", p->what, p->gave_up);
    p->gave_up = NULL;
    return 0;
}

static void give_reason(struct strata_value *value)
{
    if (!value->known && !*value->why)
        *value = unknown("not measured: the probe was stopped early, or too disturbed");
}

/* What was not come to has a reason, too. */
static void give_reasons(struct strata_probed *probed)
{
    give_reason(&probed->memory_cycles);
    give_reason(&probed->memory_ns);
    for (int i = 0; i < probed->ncaches; i++) {
        struct strata_probed_cache *cache = &probed->caches[i];
        struct strata_value *const values[] = {
            &cache->size, &cache->effective,      &cache->line,      &cache->effective_line,
            &cache->ways, &cache->latency_cycles, &cache->latency_ns};
        for (size_t j = 0; j < sizeof values / sizeof *values; j++)
            give_reason(values[j]);
    }
    for (int i = 0; i < probed->ntlbs; i++) {
        struct strata_probed_tlb *tlb = &probed->tlbs[i];
        struct strata_value *const values[] = {&tlb->entries, &tlb->ways,
                                               &tlb->penalty_cycles, &tlb->penalty_ns};
        for (size_t j = 0; j < sizeof values / sizeof *values; j++)
            give_reason(values[j]);
    }
}

int probe_timed(const struct strata_probe_options *options, struct strata_probed *probed,
                struct strata_error *error)
{
    struct strata_error own;
    struct load before;
    struct probing p = {.options = options,
                        .probed = probed,
                        .began_ns = clock_ns(),
                        .error = error ? error : &own};
    int status;
    memset(probed, 0, sizeof *probed);
    probed->seed = options->seed ? options->seed : DEFAULT_SEED;
    probed->cpu = -1;
    p.rng.state = probed->seed;
    p.budget = options->budget > 0 ? options->budget
               : options->machine  ? INFINITY
                                   : DEFAULT_BUDGET;
    probed->data = dataset_create();
    if (!probed->data)
        return out_of_memory(&p);
    load_read(&before);
    p.guest = !options->machine && before.stolen > 0;
    status = make_runner(&p);
    if (status)
        goto out;
    p.runner->until = LAST * p.budget;
    if (options->budget <= 0)
        p.runner->stretch = (double)MOST_SECONDS / DEFAULT_BUDGET;
    describe(&p);
    status = options->log ? begin_log(&p) : 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !status && !p.stopped; i++) {
        begin_part(&p, parts[i].what, parts[i].until);
        status = forgive(&p, parts[i].run(&p));
    }
    judge_quiet(&p, &before);
    judge_log(&p);
    probed->seconds = options->log || options->replay ? runner_clock(p.runner)
                                                      : (clock_ns() - p.began_ns) * 1e-9;
    probed->accesses = p.runner->visits;
    settle_answers(&p);
    give_reasons(probed);
    if (p.stopped)
        note(&p, "stopped early: what is missing was not measured");
out:
    runner_release(p.runner);
    refs_release(&p.refs);
    if (status)
        strata_probed_release(probed);
    return status;
}

void strata_probed_release(struct strata_probed *probed)
{
    dataset_release(probed->data);
    memset(probed, 0, sizeof *probed);
}
