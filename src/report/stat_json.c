/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts and metrics as JSON: plain numbers, and null with a "why" where something was not
 * counted. */
#include "core/fail.h"
#include "core/utf8.h"
#include "report/stat_report.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static json_t *text_of(const char *text)
{
    char clean[1024];
    return json_string(utf8_clean(text, clean, sizeof clean));
}

static json_t *text_or_null(const char *text)
{
    return text && *text ? text_of(text) : json_null();
}

static json_t *count_of(const struct tally_row *row)
{
    if (!row->count.n)
        return json_null();
    return row->count.n == 1 ? json_integer((json_int_t)row->last)
                             : json_real(row->count.mean);
}

static json_t *counter(const struct tally_row *row, unsigned runs)
{
    json_t *object = json_pack(
        "{s:o,s:o,s:s,s:o,s:I,s:I,s:b,s:b}", "event", text_of(row->event), "count",
        count_of(row), "state", pmu_state_name(row->count.n ? PMU_COUNTED : row->state),
        "why", row->count.n ? json_null() : text_of(row->why), "enabled_ns",
        (json_int_t)row->enabled_ns, "running_ns", (json_int_t)row->running_ns, "scaled",
        row->scaled, "user_only", row->user_only);
    if (object && *tally_unit(row->event))
        json_object_set_new(object, "unit", json_string(tally_unit(row->event)));
    if (object && *row->device)
        json_object_set_new(object, "pmu", text_of(row->device));
    if (object && runs > 1)
        json_object_set_new(object, "deviation",
                            row->count.n ? json_real(running_deviation(&row->count))
                                         : json_null());
    return object;
}

static json_t *metric(const struct tally_metric *metric, unsigned runs)
{
    const struct metric *m = metric->metric;
    bool known = metric->value.n > 0;
    json_t *typical =
        m->has_typical ? json_pack("[f,f]", m->typical[0], m->typical[1]) : json_null();
    json_t *object =
        json_pack("{s:s,s:o,s:o,s:s,s:s,s:o,s:o}", "name", m->name, "value",
                  known ? json_real(metric->value.mean) : json_null(), "why",
                  known ? json_null() : text_of(metric->why), "unit", m->unit, "formula",
                  m->formula, "typical", typical, "verdict",
                  text_or_null(known ? metric_verdict(m, metric->value.mean) : NULL));
    if (object && runs > 1)
        json_object_set_new(object, "deviation",
                            known ? json_real(running_deviation(&metric->value))
                                  : json_null());
    return object;
}

static json_t *whole(const struct stat_report *report)
{
    json_t *counters = json_array(), *metrics = json_array();
    int bad = !counters || !metrics;
    for (size_t i = 0; i < report->tally->nrows && !bad; i++)
        bad =
            json_array_append_new(counters, counter(&report->tally->rows[i], report->runs));
    for (size_t i = 0; i < report->tally->nmetrics && !bad; i++)
        bad = json_array_append_new(metrics,
                                    metric(&report->tally->metrics[i], report->runs));
    json_t *object =
        json_pack("{s:s,s:o,s:s,s:o,s:f,s:i,s:o,s:o}", "schema", "strata.stat/1", "target",
                  text_of(report->what), "source", report->source, "processor",
                  text_of(report->processor), "seconds", report->seconds, "runs",
                  (int)report->runs, "counters", counters, "metrics", metrics);
    if (object && report->virtual > 0)
        bad = json_object_set_new(object, "virtual_seconds", json_real(report->virtual)) ||
              bad;
    if (object && report->note && *report->note)
        bad = json_object_set_new(object, "note", text_of(report->note)) || bad;
    if (object && report->interval)
        bad = json_object_set_new(object, "interval",
                                  json_pack("[f,f]", report->from, report->to)) ||
              bad;
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

int stat_json(FILE *out, const struct stat_report *report, bool compact,
              struct strata_error *error)
{
    json_t *object = whole(report);
    char *text =
        object ? json_dumps(object, compact ? JSON_COMPACT : JSON_INDENT(2)) : NULL;
    json_decref(object);
    if (!text)
        return fail(error, STRATA_FAILED, "cannot write the counts as JSON: out of memory");
    fprintf(out, "%s\n", text);
    free(text);
    return STRATA_OK;
}
