/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The families of /metrics. What was not counted has no number in any of them; it is named
 * with its reason instead. */
#include "core/version.h"
#include "serve/answers.h"
#include "serve/exposition.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Labels. */

static void label_event(struct exposition *out, const struct sampler *sampler, size_t i)
{
    expose_label(out, "event", sampler->tally.rows[i].event);
    expose_label(out, "pmu", sampler->tally.rows[i].device);
}

static void label_unit(struct exposition *out, const struct sampler_unit *unit)
{
    if (unit->cpu >= 0)
        expose_label_number(out, "cpu", unit->cpu);
}

/* Counters: an event in a unit. */

typedef void expose_total(struct exposition *out, const struct sampler_total *total);

static void expose_events(struct exposition *out, const struct sampler_total *total)
{
    expose_count(out, total->events);
}

static void expose_enabled(struct exposition *out, const struct sampler_total *total)
{
    expose_seconds(out, total->enabled_ns);
}

static void expose_running(struct exposition *out, const struct sampler_total *total)
{
    expose_seconds(out, total->running_ns);
}

static void each_total(struct exposition *out, const struct sampler *sampler,
                       expose_total *expose)
{
    for (size_t i = 0; i < sampler->nevents; i++)
        for (size_t u = 0; u < sampler->nunits; u++)
            if (sampler->units[u].totals[i].counted) {
                label_event(out, sampler, i);
                label_unit(out, &sampler->units[u]);
                expose(out, &sampler->units[u].totals[i]);
            }
}

static void expose_totals(struct exposition *out, const struct sampler *sampler)
{
    expose_family(out, "strata_events_total", "counter",
                  "Events, scaled to the whole time where they shared a counter.");
    each_total(out, sampler, expose_events);
    expose_family(out, "strata_event_enabled_seconds_total", "counter",
                  "Time in which an event was to be counted.");
    each_total(out, sampler, expose_enabled);
    expose_family(out, "strata_event_running_seconds_total", "counter",
                  "Time in which an event was on a counter.");
    each_total(out, sampler, expose_running);
}

/* Gauges: the last interval, of the whole target. */

static void expose_rates(struct exposition *out, const struct sampler *sampler)
{
    expose_family(out, "strata_event_rate", "gauge",
                  "Events per second in the last interval, of the whole target.");
    for (size_t i = 0; i < sampler->nevents; i++)
        if (!isnan(sampler->events[i].rate)) {
            label_event(out, sampler, i);
            expose_number(out, sampler->events[i].rate);
        }
    expose_family(out, "strata_event_scaling_ratio", "gauge",
                  "Share of the last interval in which an event was on a counter: below 1, "
                  "its counts are scaled.");
    for (size_t i = 0; i < sampler->nevents; i++)
        if (!isnan(sampler->events[i].scaling)) {
            label_event(out, sampler, i);
            expose_number(out, sampler->events[i].scaling);
        }
}

static void expose_metrics(struct exposition *out, const struct sampler *sampler)
{
    const struct tally *tally = &sampler->tally;
    expose_family(out, "strata_metric", "gauge",
                  "Metrics of the last interval, of the whole target, by the formulas of "
                  "strata.");
    for (size_t i = 0; i < tally->nmetrics; i++)
        if (tally->metrics[i].value.n) {
            expose_label(out, "metric", tally->metrics[i].metric->name);
            expose_label(out, "unit", tally->metrics[i].metric->unit);
            expose_number(out, tally->metrics[i].value.mean);
        }
    expose_family(out, "strata_metric_not_known", "gauge",
                  "1: a metric has no value, for the reason in the label.");
    for (size_t i = 0; i < tally->nmetrics; i++)
        if (!tally->metrics[i].value.n) {
            expose_label(out, "metric", tally->metrics[i].metric->name);
            expose_label(out, "reason", tally->metrics[i].why);
            expose_count(out, 1);
        }
}

/* What was not counted. */

static bool is_missing(const struct sampler_total *total)
{
    return total->state != PMU_COUNTED;
}

/* An event that all units lack for the same reason is named once. */
static bool all_alike(const struct sampler *sampler, size_t i)
{
    const struct sampler_total *first = &sampler->units[0].totals[i];
    for (size_t u = 0; u < sampler->nunits; u++) {
        const struct sampler_total *total = &sampler->units[u].totals[i];
        if (!is_missing(total) || strcmp(total->why, first->why) != 0)
            return false;
    }
    return true;
}

/* On a hybrid processor an event belongs to one kind of core; that the others lack it is no
 * news. */
static bool is_elsewhere(const struct sampler *sampler, size_t i)
{
    return *sampler->tally.rows[i].device && !isnan(sampler->events[i].rate);
}

static void expose_reason(struct exposition *out, const struct sampler *sampler, size_t i,
                          const struct sampler_unit *unit)
{
    label_event(out, sampler, i);
    if (unit)
        label_unit(out, unit);
    else if (sampler->units[0].cpu >= 0)
        expose_label(out, "cpu", "all");
    const struct sampler_unit *from = unit ? unit : &sampler->units[0];
    expose_label(out, "state", pmu_state_name(from->totals[i].state));
    expose_label(out, "reason", from->totals[i].why);
    expose_count(out, 1);
}

static void expose_reasons(struct exposition *out, const struct sampler *sampler)
{
    expose_family(out, "strata_event_not_counted", "gauge",
                  "1: an event is not counted, for the reason in the label.");
    for (size_t i = 0; i < sampler->nevents; i++) {
        if (all_alike(sampler, i)) {
            expose_reason(out, sampler, i, NULL);
            continue;
        }
        for (size_t u = 0; u < sampler->nunits && !is_elsewhere(sampler, i); u++)
            if (is_missing(&sampler->units[u].totals[i]))
                expose_reason(out, sampler, i, &sampler->units[u]);
    }
    expose_family(out, "strata_event_user_only", "gauge",
                  "1: the kernel's part of an event may not be counted, and is left out.");
    for (size_t i = 0; i < sampler->nevents; i++)
        if (sampler->tally.rows[i].user_only) {
            label_event(out, sampler, i);
            expose_count(out, 1);
        }
}

/* The target, and strata itself. */

static void expose_target(struct exposition *out, const struct sampler *sampler)
{
    static const char *const kinds[] = {
        [PMU_PROCESS] = "process", [PMU_ALL] = "all", [PMU_CGROUP] = "cgroup"};
    char name[256];
    const char *why;
    bool up = sampler_is_up(sampler, &why);
    expose_family(out, "strata_target_info", "gauge", "What is counted, and on what.");
    expose_label(out, "target", sampler->plan.what);
    expose_label(out, "kind", kinds[sampler->plan.target.kind]);
    expose_label(out, "source", "perf");
    expose_label(out, "processor", pmu_model_name(sampler->plan.model, name, sizeof name));
    expose_count(out, 1);
    expose_family(out, "strata_target_up", "gauge",
                  "1: the target is there. 0: it has gone, for the reason in the label.");
    expose_label(out, "reason", up ? NULL : why);
    expose_count(out, up);
    if (sampler->units[0].cpu < 0)
        return;
    expose_family(
        out, "strata_cpu_up", "gauge",
        "1: the processor is counted. 0: it is not, for the reason in the label.");
    for (size_t u = 0; u < sampler->nunits; u++) {
        bool there = sampler->units[u].state == UNIT_UP;
        label_unit(out, &sampler->units[u]);
        expose_label(out, "reason", there ? NULL : sampler->units[u].why);
        expose_count(out, there);
    }
}

static uint64_t resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%*u %llu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void expose_gauge(struct exposition *out, const char *name, const char *help,
                         double value)
{
    expose_family(out, name, "gauge", help);
    expose_number(out, value);
}

static void expose_self(struct exposition *out, const struct sampler *sampler)
{
    uint64_t resident = resident_bytes();
    expose_family(out, "strata_build_info", "gauge", "The version of strata.");
    expose_label(out, "version", build_version);
    expose_count(out, 1);
    expose_family(out, "strata_samples_total", "counter",
                  "Times that the counters were read.");
    expose_count(out, sampler->samples);
    expose_gauge(out, "strata_sample_interval_seconds",
                 "Time between two readings, as it was asked for.", sampler->plan.interval);
    expose_gauge(out, "strata_sample_timestamp_seconds",
                 "When the counters were read last, since 1970.",
                 (double)sampler->last_ms / 1000);
    expose_gauge(out, "strata_sample_read_seconds", "What the last reading took.",
                 sampler->took);
    if (resident)
        expose_gauge(out, "process_resident_memory_bytes", "Resident memory of strata.",
                     (double)resident);
    expose_gauge(out, "process_start_time_seconds", "When strata began, since 1970.",
                 (double)sampler->started_ms / 1000);
}

int metrics_text(struct sampler *sampler, FILE *file)
{
    struct exposition out = {.file = file};
    sampler_lock(sampler);
    expose_totals(&out, sampler);
    expose_rates(&out, sampler);
    expose_metrics(&out, sampler);
    expose_reasons(&out, sampler);
    expose_target(&out, sampler);
    expose_self(&out, sampler);
    sampler_unlock(sampler);
    return 0;
}
