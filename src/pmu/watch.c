/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Looking at who is there and what they did; watch.h has the contract.
 *
 * A look reads all counters first, then the list of processes, which takes longer, and
 * last opens counters on those that are new. So a row's counts are over the time from its
 * own reading to its own next one. */
#include "pmu/watch.h"

#include "core/fail.h"
#include "host/processes.h"
#include "pmu/launch.h"
#include "pmu/places.h"
#include "pmu/tally.h"
#include "pmu/watching.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int no_memory(struct strata_error *error)
{
    return fail(error, STRATA_FAILED, "out of memory");
}

/* Who is there. */

void subject_release(struct subject *subject)
{
    if (!subject)
        return;
    pmu_close(subject->pmu);
    free(subject->row.values);
    free(subject->before);
    free(subject->now);
    free(subject);
}

/* Before the events are tried, it is not known how many counters there will be. */
static struct subject *subject_make(const struct watching *w)
{
    size_t n = w->settings.list->nwants;
    struct subject *subject = calloc(1, sizeof *subject);
    if (!subject)
        return NULL;
    subject->row.values = calloc(w->shown.ncolumns + 1, sizeof *subject->row.values);
    subject->before = calloc(n + 1, sizeof *subject->before);
    subject->now = calloc(n + 1, sizeof *subject->now);
    subject->row.state = WATCH_NEW;
    subject->row.busy = NAN;
    if (subject->row.values && subject->before && subject->now)
        return subject;
    subject_release(subject);
    return NULL;
}

/* Processes that are to be shown, by pid. */
static bool is_ours(struct watching *w, const struct process *process)
{
    bool ours = w->settings.pids || w->all_users || process->uid == geteuid();
    w->shown.others += !ours;
    return ours;
}

static int find_pids(const struct watching *w, struct process_list *found)
{
    found->list = calloc(w->settings.npids + 1, sizeof *found->list);
    for (size_t i = 0; found->list && i < w->settings.npids; i++)
        found->n += process_read(w->settings.system->root, w->settings.pids[i],
                                 &found->list[found->n]) == 0;
    return found->list ? 0 : -1;
}

static int find_processes(struct watching *w, struct process_list *found,
                          struct strata_error *error)
{
    *found = (struct process_list){.n = 0};
    w->shown.others = 0;
    if (w->settings.pids)
        return find_pids(w, found) == 0 ? STRATA_OK : no_memory(error);
    int status = processes_read(w->settings.system->root, found, error);
    size_t kept = 0;
    for (size_t i = 0; i < found->n; i++)
        if (is_ours(w, &found->list[i]))
            found->list[kept++] = found->list[i];
    found->n = kept;
    return status;
}

/* Processors look like processes without threads and names. */
static int find_cpus(const struct watching *w, struct process_list *found,
                     struct strata_error *error)
{
    const struct pmu_target all = {.kind = PMU_ALL};
    struct pmu_places places;
    int none = -1;
    *found = (struct process_list){.n = 0};
    int status = pmu_places_find(w->settings.system, &all, &places, &none, error);
    if (!status) {
        found->list = calloc(places.n + 1, sizeof *found->list);
        for (size_t i = 0; found->list && i < places.n; i++)
            found->list[found->n++].pid = places.list[i].cpu;
        status = found->list ? STRATA_OK : no_memory(error);
    }
    pmu_places_release(&places);
    return status;
}

/* How busy. */

static double busy_since(const struct watching *w, uint64_t ticks, double now)
{
    double seconds = now - w->looked;
    return seconds > 0 ? (double)ticks / (double)sysconf(_SC_CLK_TCK) / seconds : NAN;
}

static void update_process(struct watching *w, struct subject *subject,
                           const struct process *process, bool fresh, double now)
{
    struct watch_row *row = &subject->row;
    /* one that has just been started has done all that it did since the last look */
    uint64_t before = fresh ? 0 : subject->ticks;
    subject->recent = process->ticks > before ? process->ticks - before : 0;
    row->busy = w->looked > 0 ? busy_since(w, subject->recent, now) : NAN;
    row->uid = process->uid;
    row->used = (double)process->ticks / (double)sysconf(_SC_CLK_TCK);
    memcpy(row->name, process->name, sizeof row->name);
    subject->start = process->start;
    subject->ticks = process->ticks;
    subject->threads = process->threads;
}

static void update_cpus(struct watching *w)
{
    struct load load;
    load_read(&load);
    for (size_t i = 0; i < w->nsubjects; i++) {
        int cpu = w->subjects[i]->row.id;
        bool known = cpu < LOAD_CPUS && w->looked > 0 && load.all[cpu] > w->load.all[cpu];
        w->subjects[i]->row.busy = known ? (double)(load.busy[cpu] - w->load.busy[cpu]) /
                                               (double)(load.all[cpu] - w->load.all[cpu])
                                         : NAN;
    }
    w->load = load;
}

/* Merging. */

/* The next of those that there were: those before this one have ended. */
static void end_before(struct watching *w, size_t *at, int id, struct subject **merged,
                       size_t *n)
{
    for (; *at < w->nsubjects && w->subjects[*at]->row.id < id; (*at)++) {
        struct subject *gone = w->subjects[*at];
        if (gone->row.state == WATCH_ENDED || !gone->pmu) {
            subject_release(gone);
            continue;
        }
        gone->row.state = WATCH_ENDED; /* its last counts are still there */
        gone->row.busy = NAN;
        gone->recent = 0;
        merged[(*n)++] = gone;
    }
}

/* The same process or processor as one that was there; NULL: it is another. */
static struct subject *find_same(struct watching *w, size_t *at,
                                 const struct process *process)
{
    struct subject *known = *at < w->nsubjects ? w->subjects[*at] : NULL;
    if (!known || known->row.id != process->pid)
        return NULL;
    (*at)++;
    if (known->start == process->start && known->row.state != WATCH_ENDED)
        return known;
    subject_release(known); /* the pid was used again */
    return NULL;
}

static int merge(struct watching *w, const struct process_list *found, double now)
{
    struct subject **merged = calloc(w->nsubjects + found->n + 1, sizeof *merged);
    size_t n = 0, at = 0;
    int bad = merged == NULL;
    for (size_t i = 0; i < found->n && !bad; i++) {
        const struct process *process = &found->list[i];
        end_before(w, &at, process->pid, merged, &n);
        struct subject *subject = find_same(w, &at, process);
        bool fresh = !subject;
        if (fresh)
            subject = subject_make(w);
        bad = !subject;
        if (bad)
            break;
        subject->row.id = process->pid;
        update_process(w, subject, process, fresh, now);
        merged[n++] = subject;
    }
    if (!merged)
        return -1;
    if (bad) /* keep what is left, so that it can be released */
        for (; at < w->nsubjects; at++)
            merged[n++] = w->subjects[at];
    else
        end_before(w, &at, INT32_MAX, merged, &n);
    free(w->subjects);
    w->subjects = merged;
    w->nsubjects = n;
    return bad;
}

int watching_scan(struct watching *w, double now, struct strata_error *error)
{
    struct process_list found;
    int status = w->settings.by == WATCH_CPUS ? find_cpus(w, &found, error)
                                              : find_processes(w, &found, error);
    if (!status && merge(w, &found, now) != 0)
        status = no_memory(error);
    if (!status && w->settings.by == WATCH_CPUS)
        update_cpus(w);
    processes_release(&found);
    return status;
}

/* Values. */

/* What came between two readings: a count, or a state. */
static enum pmu_state difference(const struct wanted *wanted, const struct reading *before,
                                 const struct reading *now, double *count)
{
    struct pmu_count first = {.value = before->value,
                              .enabled_ns = before->enabled_ns,
                              .running_ns = before->running_ns};
    struct pmu_count last = {.state = now->state,
                             .value = now->value,
                             .enabled_ns = now->enabled_ns,
                             .running_ns = now->running_ns};
    struct pmu_count between;
    if (last.state == PMU_NEVER_MOVED && wanted->moved)
        last.state = PMU_COUNTED;
    tally_difference(&first, &last, &between);
    *count = (double)between.value;
    return between.state;
}

static void set_events(const struct watching *w, struct subject *subject, double now)
{
    double seconds = subject->row.seconds = now - subject->since;
    double *values = subject->row.values;
    for (size_t i = 0; i < w->settings.list->n; i++)
        values[i] = NAN;
    for (size_t i = 0; i < w->settings.list->nwants; i++) {
        const struct wanted *wanted = &w->wanted[i];
        double count, *value = &values[wanted->column];
        if (wanted->possible < 0 || seconds <= 0 ||
            difference(wanted, &subject->before[wanted->possible],
                       &subject->now[wanted->possible], &count) != PMU_COUNTED)
            continue;
        *value = (isnan(*value) ? 0 : *value) + count / seconds; /* kinds of cores */
    }
}

struct lookup {
    const struct watching *w;
    const double *values;
};

static bool find_value(void *context, const char *event, double *count, char *why)
{
    const struct lookup *lookup = context;
    const struct pmu_list *list = lookup->w->settings.list;
    *why = '\0';
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->names[i], event) == 0) {
            *count = lookup->values[i];
            return !isnan(*count);
        }
    return false;
}

static void set_metrics(const struct watching *w, struct subject *subject)
{
    struct lookup lookup = {.w = w, .values = subject->row.values};
    for (size_t i = w->settings.list->n; i < w->shown.ncolumns; i++) {
        char why[METRIC_WHY];
        double *value = &subject->row.values[i];
        if (!metric_value(w->shown.columns[i].metric, find_value, &lookup, value, why))
            *value = NAN;
    }
}

static void set_values(struct watching *w, struct subject *subject, double now)
{
    struct watch_row *row = &subject->row;
    bool counted = subject->pmu != NULL;
    for (size_t i = 0; i < w->shown.ncolumns; i++)
        row->values[i] = NAN;
    row->seconds = 0;
    if (!counted)
        return;
    if (row->state != WATCH_ENDED)
        row->state = WATCH_COUNTED;
    set_events(w, subject, now);
    set_metrics(w, subject);
    memcpy(subject->before, subject->now, w->npossible * sizeof *subject->now);
    subject->since = now;
    for (size_t i = 0; i < w->shown.ncolumns; i++)
        w->shown.columns[i].counted = w->shown.columns[i].counted || !isnan(row->values[i]);
}

/* The reason of a column that was counted nowhere. */
static void explain_column(struct watching *w, size_t i)
{
    struct watch_column *column = &w->shown.columns[i];
    if (column->counted || !column->possible || column->metric)
        return;
    for (size_t j = 0; j < w->settings.list->nwants; j++)
        for (int state = 0; state < STATES && w->wanted[j].column == i; state++)
            if (*w->wanted[j].reasons[state])
                snprintf(column->why, PMU_WHY, "%s", w->wanted[j].reasons[state]);
}

static void publish(struct watching *w)
{
    for (size_t i = 0; i < w->nsubjects; i++)
        w->shown.rows[i] = &w->subjects[i]->row;
    w->shown.nrows = w->nsubjects;
}

static int make_room(struct watching *w, struct strata_error *error)
{
    void *rows = realloc(w->shown.rows, (w->nsubjects + 1) * sizeof *w->shown.rows);
    if (!rows)
        return no_memory(error);
    w->shown.rows = rows;
    return STRATA_OK;
}

int watch_look(struct watch *watch, struct strata_error *error)
{
    struct watching *w = (struct watching *)watch;
    double now = launch_now();
    watching_read(w);
    int status = watching_scan(w, now, error);
    if (!status)
        status = make_room(w, error);
    if (status)
        return status;
    for (size_t i = 0; i < w->shown.ncolumns; i++)
        w->shown.columns[i].counted = false;
    for (size_t i = 0; i < w->nsubjects; i++)
        set_values(w, w->subjects[i], now);
    for (size_t i = 0; i < w->shown.ncolumns; i++)
        explain_column(w, i);
    w->shown.seconds = now - w->looked;
    w->looked = w->shown.at = now;
    status = watching_grant(w, error);
    publish(w);
    return status;
}

/* Setting up. */

static bool has_events(const struct pmu_list *list, const struct metric *metric)
{
    for (uint32_t i = 0; i < metric->nsteps; i++) {
        bool found = metric->steps[i].op != METRIC_EVENT;
        for (size_t j = 0; j < list->n && !found; j++)
            found = strcmp(list->names[j], metric->steps[i].event) == 0;
        if (!found)
            return false;
    }
    return true;
}

static void make_columns(struct watching *w)
{
    const struct pmu_list *list = w->settings.list;
    const struct metric_table *metrics = &w->settings.model->metrics;
    struct watch_column *columns = w->shown.columns;
    for (size_t i = 0; i < list->n; i++)
        columns[i] = (struct watch_column){.name = list->names[i], .about = ""};
    w->shown.ncolumns = list->n;
    for (size_t i = 0; i < metrics->n; i++)
        if (has_events(list, &metrics->metrics[i]))
            columns[w->shown.ncolumns++] =
                (struct watch_column){.name = metrics->metrics[i].name,
                                      .about = metrics->metrics[i].about,
                                      .metric = &metrics->metrics[i]};
    for (size_t i = 0; i < list->nwants; i++)
        for (size_t j = 0; j < list->n; j++)
            if (list->wants[i].name == list->names[j]) {
                w->wanted[i].column = j;
                columns[j].about = list->about[i];
            }
}

/* A metric can be had if its events can; else it has the reason of the first that is
 * missing. */
static void judge_metric(struct watching *w, struct watch_column *column)
{
    const struct pmu_list *list = w->settings.list;
    column->possible = true;
    for (uint32_t i = 0; i < column->metric->nsteps; i++) {
        const struct metric_step *step = &column->metric->steps[i];
        for (size_t j = 0; step->op == METRIC_EVENT && j < list->n; j++) {
            const struct watch_column *event = &w->shown.columns[j];
            if (strcmp(list->names[j], step->event) != 0 || event->possible ||
                !column->possible)
                continue;
            column->possible = false;
            snprintf(column->why, PMU_WHY, "%s: %.200s", event->name, event->why);
        }
    }
}

static int allocate(struct watching *w, struct strata_error *error)
{
    size_t n = w->settings.list->nwants + 1;
    w->wanted = calloc(n, sizeof *w->wanted);
    w->possible = calloc(n, sizeof *w->possible);
    w->counts = calloc(n, sizeof *w->counts);
    w->shown.columns = calloc(w->settings.list->n + w->settings.model->metrics.n,
                              sizeof *w->shown.columns);
    if (!w->wanted || !w->possible || !w->counts || !w->shown.columns)
        return no_memory(error);
    make_columns(w);
    return STRATA_OK;
}

static int begin(struct watching *w, struct strata_error *error)
{
    double now = launch_now();
    int status = watching_scan(w, now, error);
    if (!status && !w->nsubjects)
        status = fail(error, STRATA_BAD_INPUT, "none of these processes is there");
    if (!status)
        status = watching_try(w, error);
    if (status)
        return status;
    for (size_t i = w->settings.list->n; i < w->shown.ncolumns; i++)
        judge_metric(w, &w->shown.columns[i]);
    w->looked = w->shown.at = now;
    status = make_room(w, error);
    if (!status)
        status = watching_grant(w, error);
    for (size_t i = 0; !status && i < w->nsubjects; i++)
        for (size_t j = 0; j < w->shown.ncolumns; j++)
            w->subjects[i]->row.values[j] = NAN;
    if (!status)
        publish(w);
    return status;
}

int watch_open(const struct watch_settings *settings, struct watch **watch,
               struct strata_error *error)
{
    struct watching *w = calloc(1, sizeof *w);
    *watch = NULL;
    if (!w)
        return no_memory(error);
    w->settings = *settings;
    w->all_users = settings->system->may_count();
    int status = allocate(w, error);
    if (!status)
        status = begin(w, error);
    if (status)
        watch_close(&w->shown);
    else
        *watch = &w->shown;
    return status;
}

void watch_close(struct watch *watch)
{
    struct watching *w = (struct watching *)watch;
    if (!w)
        return;
    for (size_t i = 0; i < w->nsubjects; i++)
        subject_release(w->subjects[i]);
    free(w->subjects);
    free(w->wanted);
    free(w->possible);
    free(w->counts);
    free(w->shown.columns);
    free(w->shown.rows);
    free(w);
}

/* Reasons. */

const char *watch_state_name(enum watch_state state)
{
    static const char *const names[] = {[WATCH_COUNTED] = "counted",
                                        [WATCH_NEW] = "new",
                                        [WATCH_LEFT_OUT] = "not watched",
                                        [WATCH_REFUSED] = "refused",
                                        [WATCH_ENDED] = "ended"};
    return names[state];
}

static const char *why_event(const struct watching *w, const struct subject *subject,
                             size_t column)
{
    for (size_t i = 0; i < w->settings.list->nwants; i++) {
        const struct wanted *wanted = &w->wanted[i];
        if (wanted->column != column || wanted->possible < 0)
            continue;
        enum pmu_state state = subject->now[wanted->possible].state;
        return state == PMU_COUNTED ? "not scheduled in this interval"
                                    : wanted->reasons[state];
    }
    return w->shown.columns[column].why;
}

const char *watch_why(const struct watch *watch, const struct watch_row *row, size_t column)
{
    static const char *const states[] = {
        [WATCH_NEW] = "it is watched from now on",
        [WATCH_LEFT_OUT] = "not watched: there are more processes than descriptors; raise "
                           "'ulimit -n'"};
    const struct watching *w = (const struct watching *)watch;
    const struct subject *subject = (const struct subject *)row;
    if (!watch->columns[column].possible)
        return watch->columns[column].why;
    if (row->state == WATCH_NEW || row->state == WATCH_LEFT_OUT)
        return states[row->state];
    if (row->state == WATCH_REFUSED)
        return watch->refusal;
    return watch->columns[column].metric ? "what it is divided by is 0, or not known"
                                         : why_event(w, subject, column);
}
