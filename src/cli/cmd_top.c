/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata top: what each process, or each processor, does to the memory hierarchy now.
 *
 *     $ strata top
 *     strata top   143 processes   every 2 s   by CPU%
 *     not counted: instructions, cycles, l1d_misses: there is no PMU, or the hypervisor ...
 *         PID USER       CPU%  faults/s  switch/s    migr/s  COMMAND
 *        4711 jane       99.5      1.2K        12         0  solver
 *
 * On a terminal it is a live view (top_screen.c); into a pipe, frame after frame. */
#include "cli/commands.h"
#include "cli/counted.h"
#include "cli/suggest.h"
#include "cli/term.h"
#include "cli/top.h"
#include "core/fail.h"
#include "pmu/launch.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Those of the metrics that matter most, and what the kernel counts. */
static const char standard_events[] =
    "instructions,cycles,l1d_misses,l2_misses,l3_misses,dtlb_walks,branch_misses,"
    "page-faults,context-switches,cpu-migrations";

enum {
    SPARE_FILES = 64,         /* for all else: /proc, libraries */
    MOST_DESCRIPTORS = 16384, /* a kilobyte of the kernel's memory each */
    BATCH_ROWS = 20
};

/* Arranging. */

/* Without -e: metrics, then what is in none of them, where it can be counted. */
static bool is_shown_first(const struct top *top, size_t i)
{
    const struct watch_column *column = &top->watch->columns[i];
    if (top->chosen)
        return true;
    return column->possible &&
           (column->metric ||
            !pmu_needs_hardware(&top->model, &pmu_system_here, column->name));
}

static int choose_columns(struct top *top)
{
    size_t n = top->watch->ncolumns;
    if (top->hidden)
        return 0;
    top->hidden = calloc(n + 1, sizeof *top->hidden);
    top->columns = calloc(n + 1, sizeof *top->columns);
    if (!top->hidden || !top->columns)
        return -1;
    for (size_t i = 0; i < n; i++)
        top->hidden[i] = !is_shown_first(top, i);
    return 0;
}

/* Metrics come first unless events were named. */
static void list_columns(struct top *top)
{
    size_t n = top->watch->ncolumns;
    top->ncolumns = 0;
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < n; i++) {
            bool first = (top->watch->columns[i].metric != NULL) != top->chosen;
            if (!top->hidden[i] && first == (turn == 0))
                top->columns[top->ncolumns++] = i;
        }
}

int top_arrange(struct top *top, struct strata_error *error)
{
    size_t n;
    const struct watch_row **rows =
        watch_sorted(top->watch, top->sort, top->ascending, top->filter, &n);
    if (!rows || choose_columns(top) != 0) {
        free(rows);
        return fail(error, STRATA_FAILED, "out of memory");
    }
    free(top->rows);
    top->rows = rows;
    top->nrows = n;
    list_columns(top);
    return STRATA_OK;
}

int top_watch(struct top *top, enum watch_by by, struct strata_error *error)
{
    size_t files = pmu_raise_file_limit();
    size_t room = files > 2 * SPARE_FILES ? files - SPARE_FILES : files / 2;
    const struct watch_settings settings = {
        .system = &pmu_system_here,
        .model = &top->model,
        .list = &top->list,
        .by = by,
        .pids = by == WATCH_PROCESSES ? top->pids : NULL,
        .npids = top->npids,
        .descriptors = room < MOST_DESCRIPTORS ? room : MOST_DESCRIPTORS};
    struct watch *watch;
    int status = watch_open(&settings, &watch, error);
    if (status)
        return status;
    watch_close(top->watch);
    top->watch = watch;
    top->by = by;
    return top_arrange(top, error);
}

int top_look(struct top *top, struct strata_error *error)
{
    int status = watch_look(top->watch, error);
    return status ? status : top_arrange(top, error);
}

struct top_frame top_frame(struct top *top)
{
    double now = top->watch->at - top->began;
    return (struct top_frame){.watch = top->watch,
                              .by = top->by,
                              .rows = top->rows,
                              .nrows = top->nrows,
                              .columns = top->columns,
                              .ncolumns = top->ncolumns,
                              .sort = top->sort,
                              .users = &top->users,
                              .processor = top->processor,
                              .from = fmax(0, now - top->watch->seconds),
                              .to = now};
}

/* Batches. */

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

struct batch {
    enum format format;
    size_t most; /* rows; 0: all */
};

static int print_frame(struct top *top, const struct batch *batch, bool first,
                       struct strata_error *error)
{
    struct top_frame frame = top_frame(top);
    int status = STRATA_OK;
    if (batch->format == FORMAT_JSON)
        status = top_json(stdout, &frame, batch->most, error);
    else if (batch->format == FORMAT_CSV)
        top_csv(stdout, &frame, batch->most, first);
    else
        top_text(stdout, &frame, batch->most, term_columns(STDOUT_FILENO));
    if (!status && fflush(stdout) != 0)
        status = fail(error, STRATA_FAILED, "cannot write to standard output: %m");
    return status;
}

static int run_batch(struct top *top, const struct batch *batch, struct strata_error *error)
{
    struct launch launch;
    int status = STRATA_OK;
    launch_signals(&launch);
    for (unsigned i = 0; !status && (!top->frames || i < top->frames); i++) {
        if (launch_wait(&launch, launch_now() + top->delay) != LAUNCH_TIME)
            break;
        status = top_look(top, error);
        if (!status)
            status = print_frame(top, batch, i == 0, error);
        if (top->pids && top->watch->nrows == 0)
            break; /* all of them have ended */
    }
    return status;
}

/* Options. */

static int by_number(const void *a, const void *b)
{
    return (*(const pid_t *)a > *(const pid_t *)b) -
           (*(const pid_t *)a < *(const pid_t *)b);
}

/* "12,34": sorted, each once. */
static int read_pids(const struct options *options, struct top *top,
                     struct strata_error *error)
{
    const char *text = option_text(options, "pid");
    if (!text)
        return STRATA_OK;
    top->pids = calloc(strlen(text) + 1, sizeof *top->pids);
    if (!top->pids)
        return fail(error, STRATA_FAILED, "out of memory");
    for (const char *at = text;; at++) {
        char *end;
        long pid = strtol(at, &end, 10);
        if (end == at || pid < 1 || pid > INT32_MAX || (*end && *end != ','))
            return fail(error, STRATA_BAD_INPUT,
                        "--pid %s: it must be the numbers of processes, separated by "
                        "commas",
                        text);
        top->pids[top->npids++] = (pid_t)pid;
        at = end;
        if (!*at)
            break;
    }
    qsort(top->pids, top->npids, sizeof *top->pids, by_number);
    size_t kept = 1;
    for (size_t i = 1; i < top->npids; i++)
        if (top->pids[i] != top->pids[kept - 1])
            top->pids[kept++] = top->pids[i];
    top->npids = kept;
    return STRATA_OK;
}

static const struct {
    const char *name;
    int column;
} fixed_columns[] = {
    {"pid", WATCH_BY_ID}, {"cpu", WATCH_BY_BUSY}, {"command", WATCH_BY_NAME}};

enum { FIXED = sizeof fixed_columns / sizeof fixed_columns[0] };

static int refuse_column(const struct top *top, const char *text,
                         struct strata_error *error)
{
    size_t n = top->watch->ncolumns;
    const char **names = calloc(n + FIXED, sizeof *names);
    char hint[HINT_TEXT] = "";
    for (size_t i = 0; names && i < n + FIXED; i++)
        names[i] = i < n ? top->watch->columns[i].name : fixed_columns[i - n].name;
    if (names)
        hint_nearest(text, names, n + FIXED, "", hint);
    free(names);
    return fail(error, STRATA_BAD_INPUT,
                "--sort %s: there is no such column%s; there are cpu, pid, command and the "
                "events and metrics that are counted",
                text, hint);
}

/* Largest first, but numbers and names in their order. */
static int read_sort(const struct options *options, struct top *top,
                     struct strata_error *error)
{
    const char *text = option_text(options, "sort");
    bool found = !text;
    top->sort = top->by == WATCH_CPUS ? WATCH_BY_ID : WATCH_BY_BUSY;
    for (size_t i = 0; i < FIXED && !found; i++)
        if ((found = strcmp(text, fixed_columns[i].name) == 0))
            top->sort = fixed_columns[i].column;
    for (size_t i = 0; i < top->watch->ncolumns && !found; i++)
        if ((found = strcmp(text, top->watch->columns[i].name) == 0))
            top->sort = (int)i;
    top->ascending = top->sort == WATCH_BY_ID || top->sort == WATCH_BY_NAME;
    return found ? STRATA_OK : refuse_column(top, text, error);
}

static int read_format(const struct options *options, struct batch *batch,
                       struct strata_error *error)
{
    bool json = option_given(options, "json"), csv = option_given(options, "csv");
    uint64_t rows = json || csv ? 0 : BATCH_ROWS;
    if (json && csv)
        return fail(error, STRATA_BAD_INPUT, "--json and --csv: give one of them");
    batch->format = json ? FORMAT_JSON : csv ? FORMAT_CSV : FORMAT_TEXT;
    int status = option_whole(options, "rows", 0, 1000000, &rows, error);
    batch->most = (size_t)rows;
    return status;
}

static int read_numbers(const struct options *options, struct top *top,
                        struct strata_error *error)
{
    uint64_t frames = 0;
    const char *filter = option_text(options, "filter");
    top->delay = 2;
    int status = option_decimal(options, "delay", 0.1, 3600, &top->delay, error);
    if (!status)
        status = option_whole(options, "frames", 1, 1000000000, &frames, error);
    if (!status && filter && strlen(filter) >= TOP_FILTER)
        status = fail(error, STRATA_BAD_INPUT, "--filter: %d characters at the most",
                      TOP_FILTER - 1);
    if (status)
        return status;
    top->frames = (unsigned)frames;
    snprintf(top->filter, sizeof top->filter, "%s", filter ? filter : "");
    return STRATA_OK;
}

static int read_events(const struct options *options, struct top *top,
                       struct strata_error *error)
{
    int status = counted_events(options, standard_events, &top->model, &top->list, error);
    top->chosen = option_given(options, "events");
    if (!status)
        pmu_model_name(&top->model, top->processor, sizeof top->processor);
    return status;
}

static int set_up(const struct options *options, struct top *top, struct batch *batch,
                  struct strata_error *error)
{
    const char *by = option_text(options, "by");
    int status = read_format(options, batch, error);
    top->began = launch_now();
    top->sort = WATCH_BY_BUSY;
    if (!status)
        status = read_numbers(options, top, error);
    if (!status)
        status = read_pids(options, top, error);
    if (!status && top->pids && by && strcmp(by, "cpu") == 0)
        status = fail(error, STRATA_BAD_INPUT,
                      "--pid is about processes, and --by cpu about processors; leave one "
                      "of them out");
    if (!status)
        status = read_events(options, top, error);
    if (!status)
        status = top_watch(top, by && strcmp(by, "cpu") == 0 ? WATCH_CPUS : WATCH_PROCESSES,
                           error);
    if (!status)
        status = read_sort(options, top, error);
    return status ? status : top_arrange(top, error);
}

static void tear_down(struct top *top)
{
    watch_close(top->watch);
    free(top->pids);
    free(top->hidden);
    free(top->columns);
    free(top->rows);
    users_release(&top->users);
    pmu_list_release(&top->list);
    pmu_model_release(&top->model);
}

int cmd_top(const struct options *options, struct strata_error *error)
{
    struct top top = {.npids = 0};
    struct batch batch = {.format = FORMAT_TEXT};
    setlocale(LC_CTYPE, ""); /* whether the terminal takes UTF-8 */
    int status = set_up(options, &top, &batch, error);
    bool live = !option_given(options, "batch") && batch.format == FORMAT_TEXT &&
                term_is_terminal(STDIN_FILENO) && term_is_terminal(STDOUT_FILENO);
    if (!status)
        status = live ? top_screen(&top, error) : run_batch(&top, &batch, error);
    tear_down(&top);
    return status;
}
