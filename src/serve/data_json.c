/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The samples for the page: what there is to show, then the last minutes of it. A number
 * that is not known is null. */
#include "core/utf8.h"
#include "core/version.h"
#include "serve/answers.h"

#include <jansson.h>
#include <math.h>

static json_t *text(const char *value)
{
    char clean[1024];
    return json_string(utf8_clean(value, clean, sizeof clean));
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *event(const struct sampler *sampler, size_t i)
{
    const struct tally_row *row = &sampler->tally.rows[i];
    bool counted = row->state == PMU_COUNTED;
    return json_pack("{s:o,s:o,s:o,s:s,s:o,s:o,s:b}", "event", text(row->event), "pmu",
                     text(row->device), "about", text(row->about), "state",
                     pmu_state_name(row->state), "why",
                     counted ? json_null() : text(row->why), "scaling",
                     number(sampler->events[i].scaling), "user_only", row->user_only);
}

static json_t *metric(const struct tally_metric *metric)
{
    const struct metric *m = metric->metric;
    json_t *typical =
        m->has_typical ? json_pack("[f,f]", m->typical[0], m->typical[1]) : json_null();
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:o,s:o}", "name", m->name, "label", m->label,
                     "unit", m->unit, "about", m->about, "formula", m->formula, "typical",
                     typical, "why", metric->value.n ? json_null() : text(metric->why));
}

static json_t *unit(const struct sampler_unit *unit)
{
    return json_pack("{s:i,s:b,s:o}", "cpu", unit->cpu, "up", unit->state == UNIT_UP, "why",
                     unit->state == UNIT_UP ? json_null() : text(unit->why));
}

static json_t *numbers(const float **values, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, number((double)*(*values)++));
    return array;
}

static json_t *sample(const struct sampler *sampler, uint64_t n)
{
    int64_t time;
    const float *values = timeline_at(&sampler->timeline, n, &time);
    json_t *rates = numbers(&values, sampler->nevents);
    json_t *metrics = numbers(&values, sampler->tally.nmetrics);
    json_t *units = json_array();
    for (size_t u = 0; u < sampler->curves; u++)
        json_array_append_new(units, numbers(&values, sampler->nevents));
    return json_pack("{s:I,s:I,s:o,s:o,s:o}", "number", (json_int_t)n, "time",
                     (json_int_t)time, "rates", rates, "metrics", metrics, "units", units);
}

/* What there is to show. */
static json_t *describe(const struct sampler *sampler)
{
    char name[256];
    const char *why;
    bool up = sampler_is_up(sampler, &why);
    return json_pack("{s:s,s:s,s:I,s:o,s:s,s:o,s:b,s:o,s:f,s:I}", "schema",
                     "strata.serve/1", "version", build_version, "started",
                     (json_int_t)sampler->started_ms, "target", text(sampler->plan.what),
                     "source", "perf", "processor",
                     text(pmu_model_name(sampler->plan.model, name, sizeof name)), "up", up,
                     "why", up ? json_null() : text(why), "interval",
                     sampler->plan.interval, "kept", (json_int_t)sampler->timeline.rows);
}

/* Events, metrics, units, and the samples that are asked for. */
static int add_lists(const struct sampler *sampler, json_t *object, uint64_t after)
{
    const struct timeline *timeline = &sampler->timeline;
    json_t *events = json_array(), *metrics = json_array(), *units = json_array(),
           *samples = json_array();
    int bad = 0;
    for (size_t i = 0; i < sampler->nevents; i++)
        bad |= json_array_append_new(events, event(sampler, i));
    for (size_t i = 0; i < sampler->tally.nmetrics; i++)
        bad |= json_array_append_new(metrics, metric(&sampler->tally.metrics[i]));
    for (size_t u = 0; u < sampler->nunits; u++)
        bad |= json_array_append_new(units, unit(&sampler->units[u]));
    for (uint64_t n = timeline_first(timeline, after); n < timeline->next; n++)
        bad |= json_array_append_new(samples, sample(sampler, n));
    bad |= json_object_set_new(object, "events", events);
    bad |= json_object_set_new(object, "metrics", metrics);
    bad |= json_object_set_new(object, "units", units);
    return bad | json_object_set_new(object, "samples", samples);
}

int data_json(struct sampler *sampler, uint64_t after, FILE *out)
{
    sampler_lock(sampler);
    json_t *object = describe(sampler);
    int bad = object ? add_lists(sampler, object, after) : -1;
    sampler_unlock(sampler);
    if (!bad)
        bad = json_dumpf(object, out, JSON_COMPACT | JSON_REAL_PRECISION(6));
    json_decref(object);
    return bad ? -1 : 0;
}
