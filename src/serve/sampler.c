/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Taking samples.
 *
 * A total is not the counter's value scaled by the counter's times: over days these have
 * seen other loads, so that such a value moves by more or less than what was counted, and
 * even back. Each interval is scaled by its own times, and added. An event that had no
 * turn in an interval is compared with the same reading next time: nothing is lost. */
#include "serve/sampler.h"

#include "core/fail.h"
#include "serve/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Opening. */

static size_t rows_of_timeline(double interval)
{
    enum { MINUTES = 5, LEAST = 60, MOST = 600 };
    double rows = 60 * MINUTES / interval;
    return (size_t)fmin(fmax(rows, LEAST), MOST);
}

static int allocate(struct sampler *sampler)
{
    const struct sampler_plan *plan = &sampler->plan;
    size_t n = sampler->nevents;
    sampler->events = calloc(n ? n : 1, sizeof *sampler->events);
    sampler->sums = calloc(n ? n : 1, sizeof *sampler->sums);
    if (!sampler->events || !sampler->sums ||
        tally_init_list(&sampler->tally, plan->list, plan->model, plan->all_metrics) != 0)
        return -1;
    sampler->curves =
        sampler->nunits > 1 && sampler->nunits <= SAMPLER_CURVES ? sampler->nunits : 0;
    return timeline_init(&sampler->timeline, rows_of_timeline(plan->interval),
                         n + sampler->tally.nmetrics + sampler->curves * n);
}

size_t sampler_counted(const struct sampler *sampler)
{
    size_t counted = 0;
    for (size_t i = 0; i < sampler->nevents; i++) {
        bool any = false;
        for (size_t u = 0; u < sampler->nunits; u++)
            any = any || (sampler->units[u].pmu && pmu_opened(sampler->units[u].pmu, i));
        counted += any;
    }
    return counted;
}

/* Nothing at all can be counted: the first reason stands for all. */
static int refuse_nothing(struct sampler *sampler, struct strata_error *error)
{
    if (sampler_counted(sampler))
        return STRATA_OK;
    const struct sampler_unit *unit = &sampler->units[0];
    pmu_read(unit->pmu, unit->counts);
    return fail(error, STRATA_UNABLE, "nothing can be counted: %s: %s",
                sampler->plan.list->wants[0].name, unit->counts[0].why);
}

int sampler_open(struct sampler **made, const struct sampler_plan *plan,
                 struct strata_error *error)
{
    struct sampler *sampler = calloc(1, sizeof *sampler);
    *made = NULL;
    if (!sampler || pthread_mutex_init(&sampler->lock, NULL) != 0) {
        free(sampler);
        return fail(error, STRATA_FAILED, "out of memory");
    }
    sampler->plan = *plan;
    sampler->nevents = plan->list->nwants;
    sampler->process = sampler->group = -1;
    int status = units_open(sampler, error);
    if (!status && allocate(sampler) != 0)
        status = fail(error, STRATA_FAILED, "out of memory");
    if (!status)
        status = refuse_nothing(sampler, error);
    if (status) {
        sampler_close(sampler);
        return status;
    }
    for (size_t u = 0; u < sampler->nunits; u++)
        pmu_enable(sampler->units[u].pmu);
    *made = sampler;
    return STRATA_OK;
}

void sampler_close(struct sampler *sampler)
{
    if (!sampler)
        return;
    units_close(sampler);
    tally_release(&sampler->tally);
    timeline_release(&sampler->timeline);
    free(sampler->events);
    free(sampler->sums);
    pthread_mutex_destroy(&sampler->lock);
    free(sampler);
}

/* Adding up. */

static uint64_t minus(uint64_t after, uint64_t before)
{
    return after > before ? after - before : 0;
}

static uint64_t scale(uint64_t raw, uint64_t enabled, uint64_t running)
{
    if (running == 0 || running >= enabled)
        return raw;
    return (uint64_t)((unsigned __int128)raw * enabled / running);
}

/* One event of a unit that was read. */
static void add_count(struct sampler_total *total, const struct pmu_count *count,
                      double now)
{
    uint64_t raw = minus(count->raw, total->base.raw);
    uint64_t enabled = minus(count->enabled_ns, total->base.enabled_ns);
    uint64_t running = minus(count->running_ns, total->base.running_ns);
    total->state = count->state;
    total->why = count->why;
    if (count->state != PMU_COUNTED)
        return;
    if (enabled && !running) {
        total->state = PMU_NEVER_SCHEDULED;
        total->why = "not scheduled in this interval: other events hold the counters";
        return;
    }
    uint64_t events = scale(raw, enabled, running);
    total->events += events;
    total->enabled_ns += enabled;
    total->running_ns += running;
    total->enabled_now = enabled;
    total->running_now = running;
    total->counted = true;
    if (total->base.time > 0 && now > total->base.time)
        total->rate = (double)events / (now - total->base.time);
    total->base.raw = count->raw;
    total->base.enabled_ns = count->enabled_ns;
    total->base.running_ns = count->running_ns;
    total->base.time = now;
}

static void add_unit(struct sampler *sampler, struct sampler_unit *unit, double now)
{
    struct pmu_count *counts = unit->counts;
    if (unit->pmu) {
        counts = unit->fresh;
        unit->fresh = unit->counts;
        unit->counts = counts;
    }
    for (size_t i = 0; i < sampler->nevents; i++) {
        struct sampler_total *total = &unit->totals[i];
        total->rate = NAN;
        total->enabled_now = total->running_now = 0;
        if (unit->pmu)
            add_count(total, &counts[i], now);
        else if (total->state == PMU_COUNTED) {
            total->state = PMU_NEVER_SCHEDULED;
            total->why = unit->why;
        }
    }
}

/* The event of the whole target, from that of its units. */
static void add_event(struct sampler *sampler, size_t i, double seconds)
{
    struct sampler_event *event = &sampler->events[i];
    struct pmu_count *sum = &sampler->sums[i];
    const struct sampler_total *reason = NULL;
    *event = (struct sampler_event){.rate = NAN, .scaling = NAN};
    *sum = (struct pmu_count){.state = PMU_COUNTED};
    for (size_t u = 0; u < sampler->nunits; u++) {
        const struct sampler_total *total = &sampler->units[u].totals[i];
        if (isnan(total->rate)) {
            reason = reason ? reason : total;
            continue;
        }
        event->rate = (isnan(event->rate) ? 0 : event->rate) + total->rate;
        sum->enabled_ns += total->enabled_now;
        sum->running_ns += total->running_now;
        sum->user_only = sum->user_only || sampler->units[u].counts[i].user_only;
    }
    if (sum->enabled_ns)
        event->scaling = (double)sum->running_ns / (double)sum->enabled_ns;
    if (!isnan(event->rate)) {
        sum->value = (uint64_t)llround(event->rate * seconds);
        return;
    }
    sum->state = reason->state == PMU_COUNTED ? PMU_NEVER_SCHEDULED : reason->state;
    snprintf(sum->why, sizeof sum->why, "%s",
             reason->why && *reason->why ? reason->why : "no interval has passed yet");
}

static void remember(struct sampler *sampler, int64_t ms)
{
    float *values = timeline_add(&sampler->timeline, ms);
    const struct tally *tally = &sampler->tally;
    for (size_t i = 0; i < sampler->nevents; i++)
        *values++ = (float)sampler->events[i].rate;
    for (size_t i = 0; i < tally->nmetrics; i++)
        *values++ = tally->metrics[i].value.n ? (float)tally->metrics[i].value.mean : NAN;
    for (size_t u = 0; u < sampler->curves; u++)
        for (size_t i = 0; i < sampler->nevents; i++)
            *values++ = (float)sampler->units[u].totals[i].rate;
}

static double clock_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void sampler_take(struct sampler *sampler, double now, int64_t ms)
{
    const char *why;
    double began = clock_now();
    bool was_up = sampler_is_up(sampler, &why); /* then there is a last reading, at least */
    units_read(sampler);
    double took = clock_now() - began;
    sampler_lock(sampler);
    for (size_t u = 0; u < sampler->nunits; u++)
        add_unit(sampler, &sampler->units[u], now);
    double seconds = sampler->samples ? now - sampler->last : sampler->plan.interval;
    for (size_t i = 0; i < sampler->nevents; i++)
        add_event(sampler, i, seconds);
    tally_reset(&sampler->tally);
    tally_run(&sampler->tally, sampler->sums);
    if (!sampler->samples)
        sampler->started_ms = ms;
    else if (was_up)
        remember(sampler, ms);
    sampler->samples++;
    sampler->last = now;
    sampler->last_ms = ms;
    sampler->took = took;
    units_settle(sampler);
    sampler_unlock(sampler);
}

/* Looking. */

void sampler_lock(struct sampler *sampler)
{
    pthread_mutex_lock(&sampler->lock);
}

void sampler_unlock(struct sampler *sampler)
{
    pthread_mutex_unlock(&sampler->lock);
}

bool sampler_is_up(const struct sampler *sampler, const char **why)
{
    *why = "";
    for (size_t u = 0; u < sampler->nunits; u++) {
        if (sampler->units[u].state == UNIT_UP)
            return true;
        *why = sampler->units[u].why;
    }
    return false;
}
