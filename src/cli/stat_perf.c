/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata stat by the kernel's counters: a program, a process, a control group, all. */
#include "cli/stat_run.h"
#include "collect/program.h"
#include "core/fail.h"
#include "pmu/launch.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* A measurement that is under way. */
struct measurement {
    struct stat_job *job;
    struct launch launch;
    struct tally tally, shown; /* of all runs; of an interval */
    struct pmu *pmu;
    struct pmu_count *counts, *before, *difference;
    char program[PATH_MAX];
    char processor[256];
    double seconds; /* of all runs */
    double last;    /* when the last interval ended */
    unsigned runs;
    FILE *intervals;
    bool interrupted;
};

/* Setting up. */

static int start_tally(const struct stat_job *job, struct tally *tally)
{
    return tally_init_list(tally, &job->list, &job->model, job->all_metrics);
}

static int set_up(struct measurement *m, struct strata_error *error)
{
    const struct stat_job *job = m->job;
    size_t n = job->list.nwants;
    m->counts = calloc(3 * n, sizeof *m->counts);
    if (!m->counts || start_tally(job, &m->tally) != 0 || start_tally(job, &m->shown) != 0)
        return fail(error, STRATA_FAILED, "out of memory");
    m->before = m->counts + n;
    m->difference = m->counts + 2 * n;
    pmu_model_name(&job->model, m->processor, sizeof m->processor);
    int cause = job->argv ? path_search(job->argv[0], m->program) : 0;
    if (cause)
        return fail(error, STRATA_BAD_INPUT, "%s: %s", job->argv[0],
                    cause == ENOENT ? "no such program" : strerror(cause));
    launch_signals(&m->launch);
    return STRATA_OK;
}

static void tear_down(struct measurement *m)
{
    if (m->intervals && m->intervals != stderr)
        fclose(m->intervals);
    tally_release(&m->tally);
    tally_release(&m->shown);
    free(m->counts);
}

/* Nothing at all can be counted: the first reason stands for all. */
static int refuse_nothing(struct measurement *m, struct strata_error *error)
{
    size_t n = m->job->list.nwants;
    for (size_t i = 0; i < n; i++)
        if (pmu_opened(m->pmu, i))
            return STRATA_OK;
    pmu_read(m->pmu, m->counts);
    return fail(error, STRATA_UNABLE, "nothing can be counted: %s: %s%s",
                m->job->list.wants[0].name, m->counts[0].why,
                m->job->program_counts
                    ? "; --source sim runs the program on a simulated machine"
                    : "");
}

/* Opens the counters on a program that waits, or on what is there already. */
static int begin_run(struct measurement *m, struct strata_error *error)
{
    struct stat_job *job = m->job;
    struct pmu_target target = job->target;
    int status =
        job->argv ? launch_prepare(&m->launch, m->program, job->argv, error) : STRATA_OK;
    if (status)
        return status;
    pmu_raise_file_limit(); /* after the fork: the program keeps its own */
    if (job->program_counts)
        target.pid = m->launch.pid;
    status = pmu_open(&pmu_system_here, &target, job->list.wants, job->list.nwants, &m->pmu,
                      error);
    if (!status)
        status = refuse_nothing(m, error);
    if (!status)
        pmu_read(m->pmu, m->before); /* before the program does anything */
    if (!status && !job->program_counts)
        pmu_enable(m->pmu);
    if (!status && job->argv)
        status = launch_start(&m->launch, m->program, error);
    else if (status)
        launch_drop(&m->launch);
    return status;
}

/* Running. */

static int show_interval(struct measurement *m, double now, struct strata_error *error)
{
    size_t n = m->job->list.nwants;
    pmu_read(m->pmu, m->counts);
    for (size_t i = 0; i < n; i++)
        tally_difference(&m->before[i], &m->counts[i], &m->difference[i]);
    memcpy(m->before, m->counts, n * sizeof *m->counts);
    tally_reset(&m->shown);
    tally_run(&m->shown, m->difference);
    const struct stat_report report = {.tally = &m->shown,
                                       .what = m->job->what,
                                       .source = "perf",
                                       .processor = m->processor,
                                       .seconds = now - m->last,
                                       .runs = 1,
                                       .interval = true,
                                       .from = m->last,
                                       .to = now};
    m->last = now;
    return stat_print_interval(m->job, &report, &m->intervals, error);
}

/* A process that is attached to has ended. */
static bool is_gone(const struct stat_job *job)
{
    return job->target.kind == PMU_PROCESS && kill(job->target.pid, 0) != 0 &&
           errno == ESRCH;
}

/* When to look next, in seconds since the start. */
static double next_look(const struct measurement *m, double now)
{
    const struct stat_job *job = m->job;
    double until = job->duration > 0 ? job->duration : INFINITY;
    if (job->interval > 0)
        until = fmin(until, m->last + job->interval);
    if (job->target.kind == PMU_PROCESS)
        until = fmin(until, now + 0.1);
    return until;
}

/* Until the program or the time has come to its end. */
static int watch(struct measurement *m, struct strata_error *error)
{
    const struct stat_job *job = m->job;
    double start = m->launch.started;
    int status = STRATA_OK;
    for (bool over = false; !over && !status;) {
        double now = launch_now() - start;
        enum launch_event event = launch_wait(&m->launch, start + next_look(m, now));
        now = launch_now() - start;
        m->interrupted = event == LAUNCH_INTERRUPTED;
        over = event != LAUNCH_TIME || is_gone(job) ||
               (job->duration > 0 && now >= job->duration);
        if (job->interval > 0 && (over || now >= m->last + job->interval))
            status = show_interval(m, now, error);
    }
    return status;
}

static int one_run(struct measurement *m, struct strata_error *error)
{
    struct launch fresh = m->launch;
    m->last = 0;
    m->launch.started = launch_now();
    int status = begin_run(m, error);
    if (!status)
        status = watch(m, error);
    bool stopped = !m->launch.ended;
    launch_stop(&m->launch);
    if (!status) {
        pmu_read(m->pmu, m->counts);
        tally_run(&m->tally, m->counts);
        m->seconds +=
            m->launch.ended ? m->launch.seconds : launch_now() - m->launch.started;
        m->runs++;
    }
    pmu_close(m->pmu);
    m->pmu = NULL;
    /* a program that was told to stop, and did, has not failed */
    bool failed = !(stopped && m->launch.signalled);
    fresh.signalled = failed && m->launch.signalled;
    fresh.status = failed ? m->launch.status : 0;
    m->interrupted = m->interrupted || fresh.signalled;
    m->launch = fresh;
    return status;
}

static int report(struct measurement *m, struct strata_error *error)
{
    const struct stat_report whole = {.tally = &m->tally,
                                      .what = m->job->what,
                                      .source = "perf",
                                      .processor = m->processor,
                                      .seconds = m->seconds / (m->runs ? m->runs : 1),
                                      .runs = m->runs};
    if (m->job->interval <= 0)
        return stat_print(m->job, &whole, error);
    /* what follows on intervals: their sum; for CSV that would be one line too many */
    return m->job->format == STAT_CSV
               ? STRATA_OK
               : stat_print_interval(m->job, &whole, &m->intervals, error);
}

int stat_run_perf(struct stat_job *job, struct stat_end *end, struct strata_error *error)
{
    struct measurement m = {.job = job};
    int status = set_up(&m, error);
    for (unsigned i = 0; i < job->runs && !status && !m.interrupted; i++)
        status = one_run(&m, error);
    if (!status)
        status = report(&m, error);
    *end = (struct stat_end){.program = job->argv != NULL,
                             .signalled = m.launch.signalled,
                             .status = m.launch.status};
    tear_down(&m);
    return status;
}
