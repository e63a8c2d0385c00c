/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata stat: how often a program, a process, a control group or the whole machine misses.
 *
 *     $ strata stat -- ./prog
 *     ...the program's own output...
 *     ./prog: perf on AMD Zen 3, 1.24 s
 *                              count  per 1000 instructions
 *       l1d misses        12,345,678     38.1   well above typical (2-5)
 *       l3 misses         not counted: denied (EACCES): perf_event_paranoid is 3, so ...
 *
 * The program's input, output and exit status are its own: the report goes to standard
 * error, or to a file. */
#include "cli/commands.h"
#include "cli/counted.h"
#include "cli/ending.h"
#include "cli/output.h"
#include "cli/stat_run.h"
#include "cli/term.h"
#include "core/fail.h"
#include "core/file.h"
#include "host/facts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Printing. */

static int print_to(FILE *out, const struct stat_job *job, const struct stat_report *report,
                    bool heading, struct strata_error *error)
{
    struct style style = style_make(out == stderr && term_has_colour(stderr));
    if (job->format == STAT_JSON)
        return stat_json(out, report, job->interval > 0, error);
    if (job->format == STAT_CSV)
        stat_csv(out, report, heading);
    else
        stat_text(out, report, &style, term_text_columns(out));
    return STRATA_OK;
}

/* A file appears whole or not at all. */
static int print_to_file(const struct stat_job *job, const struct stat_report *report,
                         struct strata_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int status = out ? print_to(out, job, report, true, error) : STRATA_FAILED;
    if ((out && fclose(out) != 0) || !out)
        status = fail(error, STRATA_FAILED, "out of memory");
    if (!status)
        status = write_file(job->output, text, size, error);
    free(text);
    return status;
}

int stat_print(const struct stat_job *job, const struct stat_report *report,
               struct strata_error *error)
{
    return job->output ? print_to_file(job, report, error)
                       : print_to(stderr, job, report, true, error);
}

int stat_print_interval(const struct stat_job *job, const struct stat_report *report,
                        FILE **file, struct strata_error *error)
{
    bool first = !*file;
    if (first)
        *file = job->output ? fopen(job->output, "we") : stderr;
    if (!*file)
        return fail(error, STRATA_FAILED, "%s: %m", job->output);
    int status = print_to(*file, job, report, first, error);
    if (!status && fflush(*file) != 0)
        status = fail(error, STRATA_FAILED, "%s: %m",
                      job->output ? job->output : "standard error");
    return status;
}

/* Options. */

/* What is counted: a process, a group, everything, or the program. */
static int read_target(const struct options *options, struct stat_job *job,
                       struct strata_error *error)
{
    bool given;
    int status = counted_target(options, &job->target, job->what, &given, error);
    if (status || given)
        return status;
    if (!job->argv)
        return fail(error, STRATA_BAD_INPUT,
                    "what is to be counted? strata stat [OPTION]... -- PROGRAM "
                    "[ARGUMENT]..., or -p PID, -a, --cgroup PATH");
    job->program_counts = true;
    job->target = (struct pmu_target){.kind = PMU_CHILD, .inherit = true};
    snprintf(job->what, sizeof job->what, "%.255s", job->argv[0]);
    return STRATA_OK;
}

static int read_times(const struct options *options, struct stat_job *job,
                      struct strata_error *error)
{
    uint64_t ms = 0, runs = 1;
    int status = option_whole(options, "interval", 10, 3600000, &ms, error);
    if (!status)
        status = option_whole(options, "repeat", 1, 1000, &runs, error);
    if (!status)
        status = option_decimal(options, "duration", 0.001, 1e7, &job->duration, error);
    if (status)
        return status;
    job->interval = (double)ms / 1000;
    job->runs = (unsigned)runs;
    if (runs > 1 && !job->argv)
        return fail(error, STRATA_BAD_INPUT, "--repeat is for a program to run");
    if (runs > 1 && ms)
        return fail(error, STRATA_BAD_INPUT,
                    "--repeat and --interval do not go together; leave one out");
    return STRATA_OK;
}

static int read_format(const struct options *options, struct stat_job *job,
                       struct strata_error *error)
{
    bool json = option_given(options, "json"), csv = option_given(options, "csv");
    if (json && csv)
        return fail(error, STRATA_BAD_INPUT, "--json and --csv: give one of them");
    job->format = json ? STAT_JSON : csv ? STAT_CSV : STAT_TEXT;
    job->output = option_text(options, "output");
    return job->output ? output_check("output", job->output, error) : STRATA_OK;
}

static int read_options(const struct options *options, struct stat_job *job,
                        struct strata_error *error)
{
    job->argv = options->noperands ? options->operands : NULL;
    job->machine = option_text(options, "machine");
    int status = read_target(options, job, error);
    if (!status)
        status = read_times(options, job, error);
    if (!status)
        status = read_format(options, job, error);
    if (!status)
        status =
            counted_events(options, pmu_standard_events, &job->model, &job->list, error);
    job->all_metrics = !option_given(options, "events");
    job->target.user_only = option_given(options, "user");
    job->target.pinned = option_given(options, "pinned");
    return status;
}

/* Sources. */

static bool wants_hardware(const struct stat_job *job)
{
    for (size_t i = 0; i < job->list.n; i++)
        if (pmu_needs_hardware(&job->model, &pmu_system_here, job->list.names[i]))
            return true;
    return false;
}

static int check_sim(const struct stat_job *job, struct strata_error *error)
{
    if (!job->program_counts)
        return fail(error, STRATA_BAD_INPUT,
                    "a simulated machine runs a program of its own: give -- PROGRAM, and "
                    "neither --pid, --all nor --cgroup");
    if (job->target.user_only || job->target.pinned)
        return fail(error, STRATA_BAD_INPUT,
                    "--user and --pinned are for --source perf: a simulated machine has "
                    "neither a kernel nor too few counters");
    return STRATA_OK;
}

/* "no hardware counters here (ENOENT)", or that they are forbidden, which can be changed.
 */
static const char *explain_missing(const struct fact *counters, char text[120])
{
    const char *name = strstr(counters->found, "(E");
    int length = name ? (int)strcspn(name + 1, ")") : 0;
    bool forbidden =
        name && (strncmp(name + 1, "EACCES", 6) == 0 || strncmp(name + 1, "EPERM", 5) == 0);
    snprintf(text, 120, "%s here%s%.*s%s",
             forbidden ? "hardware counters are forbidden" : "no hardware counters",
             length ? " (" : "", length, name ? name + 1 : "",
             !length     ? ""
             : forbidden ? "; strata doctor says more)"
                         : ")");
    return text;
}

/* Without hardware counters a program is simulated; other targets cannot be. */
static int run_auto(struct stat_job *job, struct stat_end *end, struct strata_error *error)
{
    struct fact counters = {.name = "hardware_counters"};
    char why[128] = "", text[120];
    if (!job->machine && !wants_hardware(job))
        return stat_run_perf(job, end, error);
    if (!job->machine) {
        fact_hardware_counters("", &counters);
        if (counters.state != FACT_MISSING)
            return stat_run_perf(job, end, error);
    }
    if (!job->program_counts)
        return fail(error, STRATA_UNABLE,
                    "%s: %s; --source perf counts what the kernel "
                    "does (-e page-faults,context-switches), and a program of its own can "
                    "be simulated: strata stat -- PROGRAM",
                    explain_missing(&counters, text), counters.found);
    if (!job->machine)
        snprintf(why, sizeof why, "%s; ", explain_missing(&counters, text));
    int status = check_sim(job, error);
    return status ? status : stat_run_sim(job, why, end, error);
}

static int run(const struct options *options, struct stat_job *job, struct stat_end *end,
               struct strata_error *error)
{
    const char *source = option_text(options, "source");
    if (!source || strcmp(source, "auto") == 0)
        return run_auto(job, end, error);
    if (strcmp(source, "sim") == 0) {
        int status = check_sim(job, error);
        return status ? status : stat_run_sim(job, "", end, error);
    }
    if (job->machine)
        return fail(error, STRATA_BAD_INPUT,
                    "--machine is for --source sim; leave one of them out");
    return stat_run_perf(job, end, error);
}

int cmd_stat(const struct options *options, struct strata_error *error)
{
    struct stat_job job = {.runs = 1};
    struct stat_end end = {.program = false};
    int status = read_options(options, &job, error);
    if (!status)
        status = run(options, &job, &end, error);
    pmu_list_release(&job.list);
    pmu_model_release(&job.model);
    if (!status && end.program)
        end_like(end.signalled, end.status);
    return status;
}
