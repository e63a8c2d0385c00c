/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `strata inspect` found, as JSON (docs/format/inspect-json.md) and as CSV. */
#include "core/fail.h"
#include "core/utf8.h"
#include "report/csv.h"
#include "report/inspect_report.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static json_t *text_or_null(const char *text)
{
    char clean[512];
    return *text ? json_string(utf8_clean(text, clean, sizeof clean)) : json_null();
}

/* JSON has no numbers that are not finite. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *numbers(const double *values, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, number(values[i]));
    return array;
}

static json_t *goodness_of(const struct finding *f)
{
    json_t *object = json_object();
    for (size_t i = 0; i < f->nscores; i++)
        json_object_set_new(object, f->scores[i].name, number(f->scores[i].goodness));
    return object;
}

static json_t *walks_of(const struct finding *f, const struct findings *all)
{
    const struct walk_signature *w = &f->walks;
    size_t caches = all->ncaches + 1, tlbs = all->ntlbs + 1;
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "read", numbers(w->read, caches), "write",
                     numbers(w->write, caches), "ascending", numbers(w->ahead[0], caches),
                     "pairs", numbers(w->ahead[1], caches), "pages",
                     numbers(w->pages, tlbs), "pages_write", numbers(w->pages_write, tlbs));
}

static const char *state_of(const struct finding *f)
{
    return !f->counted    ? "not counted"
           : !f->moved    ? "does not count here"
           : *f->category ? "known"
                          : "none";
}

static json_t *event_of(const struct inspect_report *report, size_t i)
{
    const struct finding *f = &report->findings->events[i];
    const struct matrices *m = report->table->matrices;
    json_t *event =
        json_pack("{s:o,s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "event",
                  text_or_null(f->name), "category", text_or_null(f->category), "label",
                  text_or_null(*f->category ? f->label : ""), "state", state_of(f), "why",
                  text_or_null(f->why), "goodness", goodness_of(f), "slopes",
                  numbers(f->slopes, m->branches.nkernels), "r2",
                  numbers(f->r2, m->branches.nkernels), "system_slopes",
                  numbers(f->system_slopes, m->system.nkernels), "work_slopes",
                  numbers(f->work_slopes, m->work.nkernels));
    if (event) {
        json_object_set_new(event, "best", number(f->best.goodness));
        json_object_set_new(event, "margin", number(f->best.goodness - f->second.goodness));
        json_object_set_new(event, "second", text_or_null(f->second.name));
        json_object_set_new(event, "walks", walks_of(f, report->findings));
    }
    return event;
}

static json_t *levels_of(const struct found_level *levels, size_t n, const char *reach,
                         const char *edge)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(
            array, json_pack("{s:i,s:o,s:o,s:o}", "level", (int)i + 1, reach,
                             number(levels[i].reach), edge, number(levels[i].edge), "event",
                             text_or_null(levels[i].event ? levels[i].event : "")));
    return array;
}

static json_t *kernels_of(const struct matrix *matrix)
{
    json_t *array = json_array();
    for (size_t i = 0; i < matrix->nkernels; i++)
        json_array_append_new(array, json_string(matrix->kernels[i].name));
    return array;
}

static json_t *points_of(const struct inspect_report *report, size_t event,
                         enum run_kind kind, uint32_t kernel)
{
    enum { POINTS = 128 };
    double x[POINTS], y[POINTS];
    json_t *array = json_array();
    size_t n = event_points(report->table, event, kind, kernel, x, y, POINTS);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, numbers((const double[]){x[i], y[i]}, 2));
    return array;
}

static json_t *variants_of(const struct inspect_report *report, size_t event,
                           enum run_kind kind, const uint32_t *kernels, size_t n,
                           const char *key)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_pack("{s:i,s:o}", key, (int)kernels[i], "points",
                                               points_of(report, event, kind, kernels[i])));
    return array;
}

static size_t length_of(const uint32_t *kernels)
{
    size_t n = 0;
    while (kernels[n])
        n++;
    return n;
}

/* What tells of prefetching into the second cache, and of cascading evictions. */
static json_t *studies_of(const struct inspect_report *report)
{
    static const uint32_t offsets[] = {0, 1, 2, 4};
    size_t hits = inspect_second_hits(report->findings);
    json_t *studies = json_pack("{s:o}", "cascade_ns",
                                variants_of(report, TIME_EVENT, RUN_CASCADE, offsets,
                                            sizeof offsets / sizeof *offsets, "offset"));
    if (!studies || hits == SIZE_MAX)
        return studies;
    json_object_set_new(studies, "l2_hits",
                        text_or_null(report->findings->events[hits].name));
    json_object_set_new(
        studies, "units",
        variants_of(report, hits, RUN_READ, plan_units, length_of(plan_units), "lines"));
    json_object_set_new(studies, "blocks",
                        variants_of(report, hits, RUN_BLOCKS, plan_blocks,
                                    length_of(plan_blocks), "pages"));
    return studies;
}

int inspect_json(FILE *out, const struct inspect_report *report, struct strata_error *error)
{
    const struct findings *f = report->findings;
    json_t *events = json_array();
    for (size_t i = 0; i < f->n; i++)
        json_array_append_new(events, event_of(report, i));
    json_t *whole =
        json_pack("{s:s,s:s,s:o,s:o,s:f,s:o,s:o,s:o,s:o}", "schema", "strata.inspect/1",
                  "source", report->source, "processor", text_or_null(report->processor),
                  "note", text_or_null(report->note), "seconds", report->seconds, "kernels",
                  kernels_of(&report->table->matrices->branches), "caches",
                  levels_of(f->caches, f->ncaches, "size", "edge"), "tlbs",
                  levels_of(f->tlbs, f->ntlbs, "entries", "edge"), "events", events);
    if (whole && report->table->plan->options.sets & PLAN_STUDIES)
        json_object_set_new(whole, "studies", studies_of(report));
    int bad =
        !whole || json_dumpf(whole, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) != 0;
    json_decref(whole);
    if (bad)
        return fail(error, STRATA_FAILED, "cannot write JSON: out of memory");
    fputc('\n', out);
    return STRATA_OK;
}

void inspect_csv(FILE *out, const struct inspect_report *report)
{
    const struct matrix *branches = &report->table->matrices->branches;
    fputs("event,state,category,goodness,second,second_goodness", out);
    for (size_t k = 0; k < branches->nkernels; k++)
        fprintf(out, ",slope_%s", branches->kernels[k].name);
    fputs(",why\n", out);
    for (size_t i = 0; i < report->findings->n; i++) {
        const struct finding *f = &report->findings->events[i];
        csv_text(out, f->name);
        fprintf(out, ",%s,%s,%.6g,%s,%.6g", state_of(f), f->category, f->goodness,
                f->second.name, f->second.goodness);
        for (size_t k = 0; k < branches->nkernels; k++)
            fprintf(out, ",%.6g", f->slopes[k]);
        fputc(',', out);
        csv_text(out, f->why);
        fputc('\n', out);
    }
}
