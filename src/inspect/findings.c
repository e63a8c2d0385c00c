/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Putting findings together; findings.h has the contract. */
#include "inspect/findings.h"

#include "core/sort.h"
#include "inspect/inner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS_MOST = 16 };

struct sample {
    double x, y;
};

static int by_x(const void *a, const void *b)
{
    const struct sample *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

/* The middle of equal x; several sizes follow each other. */
static size_t medians(const struct sample *samples, size_t n, double *x, double *y,
                      size_t most)
{
    size_t points = 0;
    for (size_t i = 0; i < n && points < most; points++) {
        double values[REPEATS_MOST];
        size_t m = 0;
        x[points] = samples[i].x;
        for (; i < n && samples[i].x == x[points]; i++)
            if (m < REPEATS_MOST)
                values[m++] = samples[i].y;
        sort_ascending(values, m);
        y[points] = m % 2 ? values[m / 2] : (values[m / 2 - 1] + values[m / 2]) / 2;
    }
    return points;
}

static double count_of(const struct counts_table *table, size_t run, size_t event)
{
    if (event != TIME_EVENT)
        return table->counts[run * table->nevents + event];
    return table->ns ? table->ns[run] : NAN;
}

size_t event_points(const struct counts_table *table, size_t event, enum run_kind kind,
                    uint32_t kernel, double *x, double *y, size_t most)
{
    const struct plan *plan = table->plan;
    size_t n = 0;
    struct sample *samples = malloc((plan->n ? plan->n : 1) * sizeof *samples);
    for (size_t i = 0; samples && i < plan->n; i++) {
        const struct run *run = &plan->runs[i];
        double count = count_of(table, i, event);
        if (run->kind != kind || run->kernel != kernel || isnan(count))
            continue;
        samples[n++] = (struct sample){(double)run->x,
                                       run->visits ? count / (double)run->visits : count};
    }
    if (samples)
        qsort(samples, n, sizeof *samples, by_x);
    n = medians(samples, n, x, y, most);
    free(samples);
    return n;
}

void finding_score(struct finding *finding, enum family family, const char *name,
                   const char *label, double value)
{
    struct score score = {.family = family, .goodness = value};
    snprintf(score.name, sizeof score.name, "%s", name);
    if (finding->nscores < SCORES)
        finding->scores[finding->nscores++] = score;
    if (value <= finding->best.goodness)
        return;
    finding->best = score;
    snprintf(finding->label, sizeof finding->label, "%s", label);
}

/* The next best of those that the best was chosen from. */
static void find_second(struct finding *finding, const char *best)
{
    for (size_t i = 0; i < finding->nscores; i++) {
        const struct score *score = &finding->scores[i];
        if (score->family == finding->best.family && strcmp(score->name, best) != 0 &&
            score->goodness > finding->second.goodness)
            finding->second = *score;
    }
}

static bool has_moved(const struct counts_table *table, size_t event)
{
    for (size_t i = 0; i < table->plan->n; i++) {
        double count = table->counts[i * table->nevents + event];
        if (!isnan(count) && count != 0)
            return true;
    }
    return false;
}

/* What is not good enough is no category, however near it comes. */
static void decide(struct finding *finding)
{
    finding->goodness = finding->best.goodness;
    finding->family = finding->best.family;
    char name[CATEGORY_NAME];
    snprintf(name, sizeof name, "%s", finding->best.name);
    char *all = strstr(name, ".all"); /* said of a category that was chosen before */
    if (all)
        *all = '\0';
    find_second(finding, name);
    if (finding->moved && finding->goodness >= GOOD_ENOUGH)
        strcpy(finding->category, finding->best.name);
    else
        finding->family = FAMILY_NONE;
}

int findings_make(const struct counts_table *table, struct findings *findings)
{
    *findings = (struct findings){.n = table->nevents};
    findings->events = calloc(table->nevents ? table->nevents : 1, sizeof(struct finding));
    if (!findings->events)
        return -1;
    for (size_t i = 0; i < table->nevents; i++) {
        struct finding *finding = &findings->events[i];
        finding->name = table->names[i];
        finding->why = table->why && table->why[i] ? table->why[i] : "";
        finding->counted = !*finding->why;
        finding->moved = finding->counted && has_moved(table, i);
        if (finding->moved)
            find_loops(table, i, finding);
    }
    if (find_walks(table, findings) != 0) {
        findings_release(findings);
        return -1;
    }
    for (size_t i = 0; i < table->nevents; i++)
        decide(&findings->events[i]);
    return 0;
}

void findings_release(struct findings *findings)
{
    free(findings->events);
    *findings = (struct findings){.n = 0};
}
