/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata stat on a simulated machine: the program runs under Valgrind, and the counts are
 * those of the virtual PMU, summed over all processes that it started. */
#include "cli/stat_run.h"
#include "collect/collect.h"
#include "core/fail.h"
#include "pmu/virtual.h"
#include "profile/raw_read.h"

#include <stdlib.h>
#include <string.h>

struct simulation {
    struct stat_job *job;
    struct collect_options collect;
    struct program program;
    char machine[PATH_MAX];
    char note[512];
    struct tally tally;
    struct pmu_count *counts;
    double seconds;
    unsigned runs;
};

/* Setting up. */

static int init_tally(struct simulation *s)
{
    const struct pmu_list *list = &s->job->list;
    if (tally_init(&s->tally, list->n, &s->job->model.metrics) != 0)
        return -1;
    for (size_t i = 0; i < list->n; i++)
        snprintf(s->tally.rows[i].event, sizeof s->tally.rows[i].event, "%s",
                 list->names[i]);
    if (!s->job->all_metrics)
        tally_drop_metrics(&s->tally);
    return 0;
}

static void configure(struct simulation *s)
{
    unsigned needs = 0;
    collect_defaults(&s->collect);
    for (size_t i = 0; i < s->job->list.n; i++)
        needs |= virtual_needs(s->job->list.names[i]);
    s->collect.argv = s->job->argv;
    s->collect.duration = s->job->duration;
    s->collect.config.fetches = (needs & VIRTUAL_FETCHES) != 0;
    s->collect.config.branches = (needs & VIRTUAL_BRANCHES) != 0;
}

/* The kernel's events are not among those that are counted if none are named. */
static int choose_events(struct stat_job *job, struct strata_error *error)
{
    if (!job->all_metrics)
        return STRATA_OK;
    pmu_list_release(&job->list);
    return pmu_list_split(virtual_standard_events, &job->list, error);
}

static int set_up(struct simulation *s, struct strata_error *error)
{
    int status = choose_events(s->job, error);
    if (!status) {
        configure(s);
        status = program_find(s->job->argv[0], &s->program, error);
    }
    if (!status)
        status = place_of_machine(s->job->machine, s->machine, error);
    if (!status)
        status = strata_machine_read(s->machine, &s->collect.config.machine, error);
    if (status)
        return status;
    s->counts = calloc(s->job->list.n, sizeof *s->counts);
    if (!s->counts || init_tally(s) != 0)
        return fail(error, STRATA_FAILED, "out of memory");
    return STRATA_OK;
}

/* One line; where JSON or CSV goes to standard error, it would be in its way, and JSON has
 * it inside. */
static void announce(struct simulation *s, const char *why)
{
    const char *slash = strrchr(s->machine, '/');
    snprintf(s->note, sizeof s->note, "%ssimulating %.400s under valgrind", why,
             s->job->machine || !slash ? s->machine : slash + 1);
    if (s->job->format == STAT_TEXT || s->job->output)
        fprintf(stderr, "strata: %s\n", s->note);
}

/* Counts. */

static void add_header(struct virtual_counts *sum, const struct raw_header *header)
{
    const uint64_t *events = header->events;
    sum->instructions += events[RAW_INSTRUCTIONS];
    sum->conditional += events[RAW_CONDITIONAL];
    sum->taken += events[RAW_TAKEN];
    sum->jumps += events[RAW_JUMPS];
    sum->indirect += events[RAW_INDIRECT];
    sum->calls += events[RAW_CALLS];
    sum->returns += events[RAW_RETURNS];
    sum->mispredicted += events[RAW_MISPREDICTED];
    sum->cycles += header->cycles;
    virtual_add(&sum->sim, &header->counts);
}

/* Adds what each process left; a file that is not whole still has its counts. */
static int add_processes(const struct collected *collected, struct virtual_counts *sum,
                         struct strata_error *error)
{
    size_t read = 0;
    struct strata_error last = {0, "valgrind could not start the program"};
    for (size_t i = 0; i < collected->n; i++) {
        struct raw_file raw;
        if (raw_read(collected->raws[i], &raw, &last) != STRATA_OK)
            continue;
        add_header(sum, raw.header);
        raw_release(&raw);
        read++;
    }
    if (read)
        return STRATA_OK;
    char log[200];
    run_folder_log(&collected->folder, log, sizeof log);
    return fail(error, STRATA_FAILED, "nothing was counted: %.200s%s%s", last.text,
                *log ? "; valgrind says: " : "", log);
}

/* Virtual time: a cycle of the machine takes 1 / frequency. */
static uint64_t virtual_ns(const struct virtual_counts *sum)
{
    uint64_t frequency = sum->machine->frequency;
    return frequency ? (uint64_t)((double)sum->cycles * 1e9 / (double)frequency) : 0;
}

static void take_counts(struct simulation *s, const struct virtual_counts *sum)
{
    for (size_t i = 0; i < s->job->list.n; i++) {
        struct pmu_count *count = &s->counts[i];
        *count = (struct pmu_count){.state = PMU_COUNTED};
        if (!virtual_count(sum, s->job->list.names[i], &count->value, count->why))
            count->state = PMU_UNKNOWN;
        count->raw = count->value;
        count->enabled_ns = count->running_ns = virtual_ns(sum);
    }
    tally_run(&s->tally, s->counts);
}

static int one_run(struct simulation *s, struct stat_end *end, struct strata_error *error)
{
    struct collected collected;
    struct virtual_counts sum = {.machine = &s->collect.config.machine,
                                 .fetches = s->collect.config.fetches,
                                 .branches = s->collect.config.branches};
    int status = collect_prepare(&s->collect, &collected, error);
    if (status)
        return status;
    status = collect_run(&s->collect, &collected, error);
    if (!status)
        status = add_processes(&collected, &sum, error);
    if (!status) {
        take_counts(s, &sum);
        s->seconds += collected.end.seconds;
        s->runs++;
        bool stopped = collected.end.stopped && collected.end.end == RAW_SIGNALLED;
        *end =
            (struct stat_end){.program = true,
                              .signalled = collected.end.end == RAW_SIGNALLED && !stopped,
                              .status = stopped ? 0 : collected.end.status};
    }
    run_folder_remove(&collected.folder);
    collect_release(&collected);
    return status;
}

static int report(const struct simulation *s, struct strata_error *error)
{
    const struct stat_report whole = {.tally = &s->tally,
                                      .what = s->job->what,
                                      .source = "sim",
                                      .processor = s->collect.config.machine.name,
                                      .note = s->note,
                                      .seconds = s->seconds / (s->runs ? s->runs : 1),
                                      .runs = s->runs};
    return stat_print(s->job, &whole, error);
}

int stat_run_sim(struct stat_job *job, const char *why, struct stat_end *end,
                 struct strata_error *error)
{
    struct simulation s = {.job = job};
    int status = set_up(&s, error);
    if (!status)
        announce(&s, why);
    for (unsigned i = 0; i < job->runs && !status && !end->signalled; i++)
        status = one_run(&s, end, error);
    if (!status)
        status = report(&s, error);
    tally_release(&s.tally);
    free(s.counts);
    return status;
}
