/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts and metrics of one run or several. */
#include "pmu/tally.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void mean_add(struct running_mean *mean, double value)
{
    mean->n++;
    double distance = value - mean->mean;
    mean->mean += distance / mean->n;
    mean->squares += distance * (value - mean->mean);
}

const char *tally_unit(const char *event)
{
    size_t length = strcspn(event, ":");
    bool clock = (length == 10 && strncmp(event, "task-clock", length) == 0) ||
                 (length == 9 && strncmp(event, "cpu-clock", length) == 0);
    return clock ? "ns" : "";
}

double running_deviation(const struct running_mean *mean)
{
    return mean->n < 2 ? 0 : sqrt(mean->squares / (mean->n - 1));
}

int tally_init(struct tally *tally, size_t n, const struct metric_table *metrics)
{
    *tally = (struct tally){.nrows = n, .nmetrics = metrics->n};
    tally->rows = calloc(n ? n : 1, sizeof *tally->rows);
    tally->metrics = calloc(metrics->n ? metrics->n : 1, sizeof *tally->metrics);
    if (!tally->rows || !tally->metrics)
        return -1;
    for (size_t i = 0; i < metrics->n; i++)
        tally->metrics[i].metric = &metrics->metrics[i];
    for (size_t i = 0; i < n; i++)
        tally->rows[i].about = "";
    return 0;
}

void tally_release(struct tally *tally)
{
    free(tally->rows);
    free(tally->metrics);
    *tally = (struct tally){.nrows = 0};
}

static bool has_event(const struct tally *tally, const char *event)
{
    for (size_t i = 0; i < tally->nrows; i++)
        if (strcmp(tally->rows[i].event, event) == 0)
            return true;
    return false;
}

static bool has_events(const struct tally *tally, const struct metric *metric)
{
    for (uint32_t i = 0; i < metric->nsteps; i++)
        if (metric->steps[i].op == METRIC_EVENT &&
            !has_event(tally, metric->steps[i].event))
            return false;
    return true;
}

void tally_drop_metrics(struct tally *tally)
{
    size_t kept = 0;
    for (size_t i = 0; i < tally->nmetrics; i++)
        if (has_events(tally, tally->metrics[i].metric))
            tally->metrics[kept++] = tally->metrics[i];
    tally->nmetrics = kept;
}

/* Counts of a run, by the names of the rows. */
struct run {
    const struct tally *tally;
    const struct pmu_count *counts;
};

/* The sum over kinds of processors: one that ran nothing adds nothing. */
static bool find_count(void *context, const char *event, double *count, char *why)
{
    const struct run *run = context;
    bool counted = false;
    *count = 0;
    snprintf(why, METRIC_WHY, "there is no event %s on this processor", event);
    for (size_t i = 0; i < run->tally->nrows; i++) {
        if (strcmp(run->tally->rows[i].event, event) != 0)
            continue;
        if (run->counts[i].state == PMU_COUNTED) {
            *count += (double)run->counts[i].value;
            counted = true;
        } else
            snprintf(why, METRIC_WHY, "%s: %.180s", event, run->counts[i].why);
    }
    return counted;
}

static void take_count(struct tally_row *row, const struct pmu_count *count)
{
    row->enabled_ns += count->enabled_ns;
    row->running_ns += count->running_ns;
    row->user_only = row->user_only || count->user_only;
    if (count->state == PMU_COUNTED) {
        mean_add(&row->count, (double)count->value);
        row->last = count->value;
        row->scaled = row->scaled || count->running_ns < count->enabled_ns;
        row->state = PMU_COUNTED;
        *row->why = '\0';
    } else if (!row->count.n) {
        row->state = count->state;
        snprintf(row->why, sizeof row->why, "%s", count->why);
    }
}

static void take_metric(struct tally_metric *metric, struct run *run)
{
    double value;
    char why[METRIC_WHY];
    if (metric_value(metric->metric, find_count, run, &value, why))
        mean_add(&metric->value, value);
    else if (!metric->value.n)
        snprintf(metric->why, sizeof metric->why, "%s", why);
}

void tally_run(struct tally *tally, const struct pmu_count *counts)
{
    struct run run = {.tally = tally, .counts = counts};
    for (size_t i = 0; i < tally->nrows; i++)
        take_count(&tally->rows[i], &counts[i]);
    for (size_t i = 0; i < tally->nmetrics; i++)
        take_metric(&tally->metrics[i], &run);
}

void tally_reset(struct tally *tally)
{
    for (size_t i = 0; i < tally->nrows; i++) {
        struct tally_row *row = &tally->rows[i];
        row->count = (struct running_mean){.n = 0};
        row->state = PMU_COUNTED;
        row->enabled_ns = row->running_ns = 0;
        row->scaled = false;
        *row->why = '\0';
    }
    for (size_t i = 0; i < tally->nmetrics; i++) {
        tally->metrics[i].value = (struct running_mean){.n = 0};
        *tally->metrics[i].why = '\0';
    }
}

int tally_init_list(struct tally *tally, const struct pmu_list *list,
                    const struct pmu_model *model, bool all_metrics)
{
    if (tally_init(tally, list->nwants, &model->metrics) != 0)
        return -1;
    for (size_t i = 0; i < tally->nrows; i++) {
        struct tally_row *row = &tally->rows[i];
        snprintf(row->event, sizeof row->event, "%s", list->wants[i].name);
        row->about = list->about[i];
        if (model->nkinds > 1 && list->wants[i].row)
            snprintf(row->device, sizeof row->device, "%s", list->wants[i].kind.device);
    }
    if (!all_metrics)
        tally_drop_metrics(tally);
    return 0;
}

static uint64_t minus(uint64_t after, uint64_t before)
{
    return after > before ? after - before : 0; /* scaled counts may go back a little */
}

void tally_difference(const struct pmu_count *before, const struct pmu_count *after,
                      struct pmu_count *difference)
{
    *difference = *after;
    if (after->state != PMU_COUNTED)
        return;
    difference->value = minus(after->value, before->value);
    difference->raw = minus(after->raw, before->raw);
    difference->enabled_ns = minus(after->enabled_ns, before->enabled_ns);
    difference->running_ns = minus(after->running_ns, before->running_ns);
    if (difference->running_ns || !difference->enabled_ns)
        return; /* where nothing ran, nothing happened: that is a count */
    difference->state = PMU_NEVER_SCHEDULED;
    snprintf(difference->why, sizeof difference->why, "not scheduled in this interval");
}
