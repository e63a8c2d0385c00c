/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata inspect: what does this event really count?
 *
 *     $ strata inspect conditional_executed
 *     conditional_executed counts conditional branches executed, also those thrown away
 * (CE) goodness 1.000; next best CR 0.22
 *       ...
 *
 * Runs kernels whose behaviour is known under every event, and compares. */
#include "cli/commands.h"
#include "cli/inspecting.h"
#include "cli/output.h"
#include "cli/suggest.h"
#include "cli/term.h"
#include "core/fail.h"
#include "host/facts.h"
#include "host/shipped.h"
#include "pmu/launch.h"
#include "pmu/virtual.h"
#include "report/inspect_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was asked for. */
struct request {
    const char *event; /* the one to explain, or NULL */
    const char *plot;
    const struct matrix_category *compose;
    bool json, csv, verify, plan;
    bool simulate;
    unsigned sets;
};

/* Options. */

static int read_numbers(const struct options *options, struct inspection *in,
                        struct strata_error *error)
{
    in->seed = 1;
    int status = option_decimal(options, "noise", 0, 1, &in->noise, error);
    if (!status)
        status = option_decimal(options, "drift", 0, 1e9, &in->drift, error);
    if (!status)
        status = option_whole(options, "seed", 0, UINT64_MAX, &in->seed, error);
    return status;
}

static int read_tables(struct inspection *in, struct strata_error *error)
{
    char folder[PATH_MAX];
    int status = place_of_metrics(folder, error);
    if (!status)
        status = matrices_read(folder, &in->matrices, error);
    if (!status)
        status = pmu_model_read(&in->model, folder, "", error);
    return status;
}

static int read_compose(const struct options *options, const struct inspection *in,
                        struct request *request, struct strata_error *error)
{
    const char *name = option_text(options, "compose");
    const struct matrix *branches = &in->matrices.branches;
    const char *names[MATRIX_CATEGORIES];
    char hint[HINT_TEXT];
    if (!name)
        return STRATA_OK;
    request->compose = matrix_find(branches, name);
    if (request->compose)
        return STRATA_OK;
    for (size_t i = 0; i < branches->ncategories; i++)
        names[i] = branches->categories[i].name;
    return fail(error, STRATA_BAD_INPUT, "--compose %s: no such category of branches%s",
                name, hint_nearest(name, names, branches->ncategories, "", hint));
}

static unsigned read_sets(const char *kernels)
{
    static const struct {
        const char *name;
        unsigned sets;
    } all[] = {{"branch", PLAN_BRANCH | PLAN_STUDIES},
               {"cache", PLAN_CACHE | PLAN_SIZES | PLAN_STUDIES},
               {"system", PLAN_SYSTEM}};
    for (size_t i = 0; kernels && i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, kernels) == 0)
            return all[i].sets;
    return PLAN_BRANCH | PLAN_CACHE | PLAN_SIZES | PLAN_SYSTEM | PLAN_STUDIES;
}

static int read_request(const struct options *options, struct request *request,
                        struct strata_error *error)
{
    request->event = options->noperands ? options->operands[0] : NULL;
    request->json = option_given(options, "json");
    request->csv = option_given(options, "csv");
    request->verify = option_given(options, "verify");
    request->plan = option_given(options, "plan");
    request->plot = option_text(options, "plot");
    request->sets = read_sets(option_text(options, "kernels"));
    if (request->json && request->csv)
        return fail(error, STRATA_BAD_INPUT, "--json and --csv: give one of them");
    return request->plot ? output_check("plot", request->plot, error) : STRATA_OK;
}

/* Events. */

/* Whether a name means an event there; a list of the kernel's may have any. */
static int check_virtual(const char *name, struct strata_error *error)
{
    const char *names[256], *about;
    unsigned needs;
    char hint[HINT_TEXT];
    size_t n = 0;
    if (virtual_has(name))
        return STRATA_OK;
    while (n < 256 && (names[n] = virtual_event(n, &about, &needs)))
        n++;
    return fail(
        error, STRATA_BAD_INPUT,
        "no event %s on a simulated machine%s; `strata events --pmu sim` lists them", name,
        hint_nearest(name, names, n, "", hint));
}

static int add_event(struct inspection *in, const char *name, bool simulate,
                     struct strata_error *error)
{
    int status = simulate ? check_virtual(name, error) : STRATA_OK;
    if (!status && inspection_add(in, name) != 0)
        status = fail(error, STRATA_FAILED, "out of memory");
    return status;
}

/* The rows of a table that can be counted, for --verify. */
struct rows {
    struct inspection *in;
    bool simulate, failed;
};

static void add_row(const struct event_table *owner, const struct event_row *row,
                    void *context)
{
    struct rows *rows = context;
    (void)owner;
    if (row->nways && (!rows->simulate || virtual_has(row->name)))
        rows->failed |= inspection_add(rows->in, row->name) != 0;
}

/* The names that the tables of all processors share are those of the virtual PMU too. */
static int add_table(struct inspection *in, bool simulate, struct strata_error *error)
{
    struct rows rows = {.in = in, .simulate = simulate};
    for (size_t i = 0; i < in->model.nkinds; i++)
        event_each(&in->model.kinds[i].events, add_row, &rows);
    return rows.failed ? fail(error, STRATA_FAILED, "out of memory") : STRATA_OK;
}

static int read_events(const struct options *options, const struct request *request,
                       struct inspection *in, struct strata_error *error)
{
    const char *text = option_text(options, "events");
    struct pmu_list list;
    if (request->event && text)
        return fail(error, STRATA_BAD_INPUT, "an EVENT and --events: give one of them");
    if (request->event)
        text = request->event;
    if (!text)
        return request->verify ? add_table(in, request->simulate, error) : STRATA_OK;
    int status = pmu_list_split(text, &list, error);
    for (size_t i = 0; !status && i < list.n; i++)
        status = add_event(in, list.names[i], request->simulate, error);
    pmu_list_release(&list);
    return status;
}

/* Sources. */

static bool wants_hardware(const struct inspection *in, const char *text)
{
    return !text || pmu_needs_hardware(&in->model, &pmu_system_here, text);
}

static int choose_source(const struct options *options, struct request *request,
                         struct inspection *in, struct strata_error *error)
{
    const char *source = option_text(options, "source");
    in->machine = option_text(options, "machine");
    struct fact counters = {.name = "hardware_counters"};
    if (source && strcmp(source, "perf") == 0 && in->machine)
        return fail(error, STRATA_BAD_INPUT,
                    "--machine is for --source sim; leave one of them out");
    request->simulate = in->machine || (source && strcmp(source, "sim") == 0);
    bool system = request->sets == PLAN_SYSTEM;
    if (request->simulate || (source && strcmp(source, "auto") != 0) || system)
        return STRATA_OK;
    fact_hardware_counters("", &counters);
    request->simulate =
        counters.state == FACT_MISSING && wants_hardware(in, request->event);
    if (request->simulate && !request->json && !request->csv)
        fprintf(stderr, "strata: no hardware counters here: simulating\n");
    return STRATA_OK;
}

static int check_source(const struct request *request, const struct inspection *in,
                        struct strata_error *error)
{
    if (request->simulate && request->sets == PLAN_SYSTEM)
        return fail(error, STRATA_BAD_INPUT,
                    "--kernels system asks this machine's kernel: --source perf");
    if (!request->simulate && (in->noise > 0 || in->drift > 0))
        return fail(error, STRATA_BAD_INPUT,
                    "--noise and --drift are for simulated counts: --source sim");
    if (request->simulate && request->plan)
        return fail(
            error, STRATA_BAD_INPUT,
            "--plan is for --source perf; a simulation takes less than two minutes");
    return STRATA_OK;
}

/* Answers. */

static size_t find_event(const struct findings *findings, const char *name)
{
    for (size_t i = 0; name && i < findings->n; i++)
        if (strcmp(findings->events[i].name, name) == 0)
            return i;
    return findings->n ? 0 : SIZE_MAX;
}

static int print(const struct request *request, const struct inspect_report *report,
                 struct strata_error *error)
{
    struct style style = style_make(term_has_colour(stdout));
    size_t event = request->event ? find_event(report->findings, request->event) : SIZE_MAX;
    if (request->plot) {
        int status = inspect_plot(request->plot, report, event, error);
        if (status)
            return status;
    }
    if (request->json)
        return inspect_json(stdout, report, error);
    if (request->csv)
        inspect_csv(stdout, report);
    else if (request->verify)
        return inspect_verdicts(stdout, report, &style)
                   ? fail(error, STRATA_FAILED, "some events count something else")
                   : STRATA_OK;
    else if (request->compose) {
        struct composite composite =
            compose(report->table, report->findings, request->compose);
        inspect_composite(stdout, report, request->compose, &composite);
    } else if (event != SIZE_MAX)
        inspect_explain(stdout, report, event, &style);
    else
        inspect_text(stdout, report, &style);
    return STRATA_OK;
}

static int answer(const struct request *request, const struct inspection *in,
                  double seconds, struct strata_error *error)
{
    struct findings findings;
    const struct counts_table table = {&in->plan,
                                       &in->matrices,
                                       in->nevents,
                                       (const char *const *)in->names,
                                       (const char *const *)in->why,
                                       in->counts,
                                       in->flat_memory,
                                       in->ns};
    if (findings_make(&table, &findings) != 0)
        return fail(error, STRATA_FAILED, "out of memory");
    if (in->asked)
        findings.n = in->asked;
    const struct inspect_report report = {.table = &table,
                                          .findings = &findings,
                                          .source = request->simulate ? "sim" : "perf",
                                          .processor = in->processor,
                                          .note = in->note,
                                          .seconds = seconds};
    int status = print(request, &report, error);
    findings_release(&findings);
    return status;
}

static int measure(const struct request *request, struct inspection *in, double *seconds,
                   bool progress, struct strata_error *error)
{
    progress_start(&in->progress, "inspect", progress);
    double start = launch_now();
    int status = request->simulate ? inspect_sim(in, request->sets, error)
                                   : inspect_perf(in, request->sets, request->plan, error);
    *seconds = launch_now() - start;
    progress_end(&in->progress);
    return status;
}

static int run(const struct options *options, struct inspection *in,
               struct strata_error *error)
{
    struct request request = {.event = NULL};
    double seconds = 0;
    int status = read_request(options, &request, error);
    if (!status)
        status = read_numbers(options, in, error);
    if (!status)
        status = read_tables(in, error);
    if (!status)
        status = read_compose(options, in, &request, error);
    if (!status)
        status = choose_source(options, &request, in, error);
    if (!status)
        status = check_source(&request, in, error);
    if (!status)
        status = read_events(options, &request, in, error);
    if (!status)
        status =
            measure(&request, in, &seconds, !option_given(options, "no-progress"), error);
    if (!status && request.plan) {
        printf("%s\n", in->note);
        return STRATA_OK;
    }
    return status ? status : answer(&request, in, seconds, error);
}

int cmd_inspect(const struct options *options, struct strata_error *error)
{
    struct inspection in = {.seed = 1};
    int status = run(options, &in, error);
    inspection_release(&in);
    return status;
}
