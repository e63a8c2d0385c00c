/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata stat on a simulated machine: the program runs under Valgrind, and the counts are
 * those of the virtual PMU, summed over all processes that it started.
 *
 * Intervals are of the clock on the wall, as on hardware. The collector keeps its counts in
 * files that can be read at any time; they are some milliseconds old, so that a count may
 * fall into the next interval, but none is lost: intervals sum up to the whole. */
#include "cli/stat_run.h"
#include "cli/virtual_raw.h"
#include "collect/collect.h"
#include "core/fail.h"
#include "pmu/launch.h"
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
    struct tally tally, shown; /* of all runs; of an interval */
    struct pmu_count *counts, *before, *difference;
    double seconds, virtual; /* of all runs: on the wall, on the simulated machine */
    unsigned runs;
    double began, last; /* when the program was started; the end of the last interval */
    FILE *intervals;
    int status; /* of printing them */
    struct strata_error *error;
};

/* Setting up. */

static int init_tally(const struct simulation *s, struct tally *tally)
{
    const struct pmu_list *list = &s->job->list;
    if (tally_init(tally, list->n, &s->job->model.metrics) != 0)
        return -1;
    for (size_t i = 0; i < list->n; i++)
        snprintf(tally->rows[i].event, sizeof tally->rows[i].event, "%s", list->names[i]);
    if (!s->job->all_metrics)
        tally_drop_metrics(tally);
    return 0;
}

static void take_interval(const struct run_folder *folder, void *context);

static void configure(struct simulation *s)
{
    unsigned needs = 0;
    for (size_t i = 0; i < s->job->list.n; i++)
        needs |= virtual_needs(s->job->list.names[i]);
    s->collect.argv = s->job->argv;
    s->collect.duration = s->job->duration;
    s->collect.interval = s->job->interval;
    s->collect.tick = take_interval;
    s->collect.context = s;
    /* by default, only where the machine says what they go through */
    s->collect.config.fetches =
        (needs & VIRTUAL_FETCHES) &&
        (!s->job->all_metrics || virtual_has_code(&s->collect.config.machine));
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
    collect_defaults(&s->collect);
    if (!status)
        status = program_find(s->job->argv[0], &s->program, error);
    if (!status)
        status = place_of_machine(s->job->machine, s->machine, error);
    if (!status)
        status = strata_machine_read(s->machine, &s->collect.config.machine, error);
    if (status)
        return status;
    configure(s);
    s->counts = calloc(3 * s->job->list.n, sizeof *s->counts);
    if (!s->counts || init_tally(s, &s->tally) != 0 || init_tally(s, &s->shown) != 0)
        return fail(error, STRATA_FAILED, "out of memory");
    s->before = s->counts + s->job->list.n;
    s->difference = s->before + s->job->list.n;
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

/* Adds what the processes have counted; returns how many there were. */
static size_t add_headers(char *const *raws, size_t n, struct virtual_counts *sum,
                          struct strata_error *last)
{
    size_t read = 0;
    for (size_t i = 0; i < n; i++) {
        struct raw_header header;
        if (raw_read_header(raws[i], &header, last) != STRATA_OK)
            continue;
        const struct raw_totals totals = raw_totals_of(&header);
        virtual_add_raw(sum, &totals);
        read++;
    }
    return read;
}

/* A file that is not whole still has its counts. */
static int add_processes(const struct collected *collected, struct virtual_counts *sum,
                         struct strata_error *error)
{
    struct strata_error last = {0, "valgrind could not start the program"};
    if (add_headers(collected->raws, collected->n, sum, &last))
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
}

/* Intervals. */

static struct virtual_counts nothing_yet(const struct simulation *s)
{
    return (struct virtual_counts){.machine = &s->collect.config.machine,
                                   .fetches = s->collect.config.fetches,
                                   .branches = s->collect.config.branches};
}

static void show_interval(struct simulation *s, double now)
{
    size_t n = s->job->list.n;
    for (size_t i = 0; i < n; i++)
        tally_difference(&s->before[i], &s->counts[i], &s->difference[i]);
    memcpy(s->before, s->counts, n * sizeof *s->counts);
    tally_reset(&s->shown);
    tally_run(&s->shown, s->difference);
    const struct stat_report report = {.tally = &s->shown,
                                       .what = s->job->what,
                                       .source = "sim",
                                       .processor = s->collect.config.machine.name,
                                       .note = s->note,
                                       .seconds = now - s->last,
                                       .runs = 1,
                                       .interval = true,
                                       .from = s->last,
                                       .to = now};
    s->last = now;
    s->status = stat_print_interval(s->job, &report, &s->intervals, s->error);
}

/* Until valgrind has started the program there is nothing to show. */
static void take_interval(const struct run_folder *folder, void *context)
{
    struct simulation *s = context;
    struct virtual_counts sum = nothing_yet(s);
    struct strata_error ignored;
    char **raws = NULL;
    size_t n = 0;
    if (s->status || run_folder_raws(folder, 0, &raws, &n, &ignored) != STRATA_OK)
        return;
    if (add_headers(raws, n, &sum, &ignored) && sum.instructions) {
        take_counts(s, &sum);
        show_interval(s, launch_now() - s->began);
    }
    free(raws);
}

static void finish_run(struct simulation *s, const struct virtual_counts *sum,
                       const struct collected *collected)
{
    take_counts(s, sum);
    tally_run(&s->tally, s->counts);
    if (s->job->interval > 0 && !s->status)
        show_interval(s, collected->end.seconds);
    s->seconds += collected->end.seconds;
    s->virtual += (double)virtual_ns(sum) * 1e-9;
    s->runs++;
}

static int one_run(struct simulation *s, struct stat_end *end, struct strata_error *error)
{
    struct collected collected;
    struct virtual_counts sum = nothing_yet(s);
    int status = collect_prepare(&s->collect, &collected, error);
    if (status)
        return status;
    s->began = launch_now();
    status = collect_run(&s->collect, &collected, error);
    if (!status)
        status = add_processes(&collected, &sum, error);
    if (!status) {
        finish_run(s, &sum, &collected);
        status = s->status;
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

static int report(struct simulation *s, struct strata_error *error)
{
    const struct stat_report whole = {.tally = &s->tally,
                                      .what = s->job->what,
                                      .source = "sim",
                                      .processor = s->collect.config.machine.name,
                                      .note = s->note,
                                      .seconds = s->seconds / (s->runs ? s->runs : 1),
                                      .virtual = s->virtual / (s->runs ? s->runs : 1),
                                      .runs = s->runs};
    if (s->job->interval <= 0)
        return stat_print(s->job, &whole, error);
    /* for CSV the sum of the intervals would be one line too many */
    return s->job->format == STAT_CSV
               ? STRATA_OK
               : stat_print_interval(s->job, &whole, &s->intervals, error);
}

int stat_run_sim(struct stat_job *job, const char *why, struct stat_end *end,
                 struct strata_error *error)
{
    struct simulation s = {.job = job, .error = error};
    int status = set_up(&s, error);
    if (!status)
        announce(&s, why);
    for (unsigned i = 0; i < job->runs && !status && !end->signalled; i++)
        status = one_run(&s, end, error);
    if (!status)
        status = report(&s, error);
    if (s.intervals && s.intervals != stderr)
        fclose(s.intervals);
    tally_release(&s.tally);
    tally_release(&s.shown);
    free(s.counts);
    return status;
}
