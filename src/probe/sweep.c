/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measuring a series with discipline: the whole sweep is repeated rather than one point, so
 * that a disturbance touches many points once and not one point often; each pass lays the
 * strings out anew, which samples the mappings of pages; a point is left alone when its
 * minimum has settled. */
#include "core/fail.h"
#include "host/clock.h"
#include "probe/probing.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int out_of_memory(struct probing *p)
{
    return fail(p->error, STRATA_FAILED, "out of memory");
}

/* What was found before asks for more than the arena holds, or for less than nothing: it
 * was wrong, and this part cannot go on from there. */
static int no_such_string(struct probing *p)
{
    p->gave_up = "what came before was too disturbed";
    return fail(p->error, STRATA_FAILED, "there is no such string");
}

/* The parts look at the clock themselves; this is for those that misjudged it. */
static int no_time_for(struct probing *p)
{
    p->gave_up = "no time was left";
    return fail(p->error, STRATA_FAILED, "no time was left");
}

/* A replay ends what asks for more than was measured, as if the time were over. */
static int not_in_log(struct probing *p)
{
    p->gave_up = "the log ends there";
    return fail(p->error, STRATA_FAILED, "the log has no such trial");
}

void begin_part(struct probing *p, const char *what, double until)
{
    p->what = what;
    p->started = p->share;
    p->share = until;
    p->deadline = p->budget * until;
}

/* Of the budget: what comes after the last measurement needs the rest. */
#define HARD 0.92
#define SLOW 0.1 /* of it: trials that take longer may be cut short in the end */

/* When nothing more may be begun: on a busy machine a trial may take long. */
static double end_of(const struct probing *p)
{
    double longest = fmin(p->longest, SLOW * p->budget);
    return fmin(HARD * p->budget, LAST * p->budget - longest);
}

void more_time(struct probing *p, double share)
{
    p->deadline = fmin(runner_clock(p->runner) + share * p->budget, end_of(p));
}

/* What the progress says: a budget that is stretched takes longer than usual. */
static const char *doing(struct probing *p, double now)
{
    double wall = (clock_ns() - p->began_ns) * 1e-9, stretch = p->runner->stretch;
    if (stretch <= 1 || wall < now + 1)
        return p->what;
    snprintf(p->doing, sizeof p->doing, "busy, up to %.0f s: %s", stretch * p->budget,
             p->what);
    return p->doing;
}

bool time_left(struct probing *p, double done)
{
    double now = runner_clock(p->runner);
    double fraction = p->started + (p->share - p->started) * fmin(1, done);
    if (isfinite(p->budget))
        fraction = fmin(1, now / p->budget);
    if (p->options->progress &&
        p->options->progress(p->options->context, fraction, doing(p, now)))
        p->stopped = true;
    return !p->stopped && now < p->deadline;
}

bool late(const struct probing *p)
{
    return p->stopped || runner_clock(p->runner) > end_of(p);
}

int try_string(struct probing *p, const struct string *string, double x, double *cycles)
{
    struct trial trial = {0};
    double started = runner_clock(p->runner);
    if (string->build(p, string, x) || !p->refs.n)
        return p->refs.no_memory ? out_of_memory(p) : no_such_string(p);
    int status = runner_walk(p->runner, string->arena, &p->refs, &trial);
    if (status)
        return status == WALK_REFUSED ? not_in_log(p)
                                      : fail(p->error, STRATA_FAILED, "a walk failed");
    double ended = runner_clock(p->runner);
    if (ended > p->runner->until) /* and was cut short */
        return no_time_for(p);
    p->longest = fmax(p->longest, ended - started);
    *cycles = trial.cycles;
    return 0;
}

int try_best(struct probing *p, const struct string *string, double x, size_t n,
             double *cycles)
{
    *cycles = INFINITY;
    for (size_t i = 0; i < n; i++) {
        double now;
        int status = try_string(p, string, x, &now);
        if (status)
            return status;
        *cycles = fmin(*cycles, now);
    }
    return 0;
}

enum { FEW = 2 }; /* observations are enough where the curve is level */

bool noticeable(double a, double b)
{
    return fabs(a - b) > 0.5 && fabs(log2(a / b)) > LEAST_RISE / 4;
}

static bool alike(const struct point *point)
{
    double most = 0;
    for (size_t i = 0; i < point->n; i++)
        most = fmax(most, point->y[i]);
    return !noticeable(point_min(point), most);
}

/* Whether the minimum did not fall noticeably within the last `least` observations. */
static bool settled(const struct point *point, size_t least)
{
    double before = INFINITY, after = INFINITY;
    if (point->n <= least)
        return 3 * point->n >= least && point->n > FEW && alike(point);
    for (size_t i = 0; i < point->n; i++) {
        if (i + least < point->n)
            before = fmin(before, point->y[i]);
        else
            after = fmin(after, point->y[i]);
    }
    return after > before || !noticeable(after, before);
}

/* Whether the minimum at i does not differ noticeably from its neighbours'. */
static bool level_ground(const struct series *series, size_t i)
{
    double here = point_min(&series->points[i]);
    for (size_t j = i ? i - 1 : 0; j <= i + 1 && j < series->npoints; j++)
        if (!series->points[j].n || noticeable(point_min(&series->points[j]), here))
            return false;
    return true;
}

/* Whether a larger x costs noticeably less: then this one was unlucky with its pages. */
static bool overtaken(const struct series *series, size_t i)
{
    double here = point_min(&series->points[i]);
    for (size_t j = i + 1; j < series->npoints; j++) {
        double there = series->points[j].n ? point_min(&series->points[j]) : INFINITY;
        if (there < here && noticeable(there, here))
            return true;
    }
    return false;
}

/* Whether another observation at i would tell nothing new. */
static bool enough(const struct series *series, size_t i, size_t least)
{
    const struct point *point = &series->points[i];
    if (least == NEVER || (point->n < 4 * least && overtaken(series, i)))
        return false;
    return settled(point, least) || (point->n >= FEW && level_ground(series, i));
}

long sweep_once(struct probing *p, const struct string *string, struct series *series,
                size_t least, double from, double to)
{
    long visited = 0;
    double pace = 0; /* seconds for a unit of x */
    for (size_t i = 0; i < series->npoints; i++) {
        struct point *point = &series->points[i];
        double cycles, started = runner_clock(p->runner);
        if (point->x < from || point->x > to || (point->n && enough(series, i, least)))
            continue;
        bool time = time_left(p, (double)i / (double)series->npoints);
        bool over = late(p) || started + pace * point->x > end_of(p);
        if (point->n ? !time : over) /* each is visited once as long as that can be */
            continue;
        if (try_string(p, string, point->x, &cycles))
            return -1;
        if (point_add(point, cycles)) {
            out_of_memory(p);
            return -1;
        }
        pace = (runner_clock(p->runner) - started) / point->x;
        visited++;
    }
    return visited;
}

static double half_min(const struct point *point, struct rng *rng)
{
    double least = INFINITY;
    for (size_t i = 0; i < point->n; i++)
        if (rng_next(rng) & 1)
            least = fmin(least, point->y[i]);
    return isfinite(least) ? least : point->y[rng_below(rng, point->n)];
}

int series_curve(const struct series *series, struct rng *half, struct curve *curve)
{
    curve->n = 0;
    curve->x = malloc(2 * (series->npoints + 1) * sizeof *curve->x);
    if (!curve->x)
        return -1;
    curve->y = curve->x + series->npoints;
    for (size_t i = 0; i < series->npoints; i++) {
        const struct point *point = &series->points[i];
        if (!point->n)
            continue;
        curve->x[curve->n] = point->x;
        curve->y[curve->n++] = half ? half_min(point, half) : point_min(point);
    }
    return 0;
}

const struct strata_value *latency_behind(const struct probing *p, int i)
{
    bool last = i + 1 == p->probed->ncaches;
    return last ? &p->probed->memory_cycles : &p->probed->caches[i + 1].latency_cycles;
}

struct strata_value no_time(void)
{
    return unknown("no time was left; try a larger --budget");
}

struct strata_value known(double value, double low, double high, double confidence)
{
    return (struct strata_value){
        .known = true, .value = value, .low = low, .high = high, .confidence = confidence};
}

double spread_factor(double value, double low, double high)
{
    return pow(fmax(high / value, value / low), M_SQRT2);
}

bool leave_by_turns(struct probing *p)
{
    p->elsewhere = !p->elsewhere;
    return p->elsewhere && time_left(p, 0) && runner_leave(p->runner);
}

struct strata_value in_ns(const struct probing *p, struct strata_value cycles)
{
    cycles.value *= p->runner->cycle_ns;
    cycles.low *= p->runner->cycle_ns;
    cycles.high *= p->runner->cycle_ns;
    return cycles;
}

struct strata_value unknown(const char *format, ...)
{
    struct strata_value value = {.known = false};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value.why, sizeof value.why, format, arguments);
    va_end(arguments);
    return value;
}

void note(struct probing *p, const char *format, ...)
{
    struct strata_probed *probed = p->probed;
    const int most = sizeof probed->notes / sizeof *probed->notes;
    if (probed->nnotes == most)
        return;
    char *text = probed->notes[probed->nnotes];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof *probed->notes, format, arguments);
    va_end(arguments);
    for (int i = 0; i < probed->nnotes; i++)
        if (strcmp(probed->notes[i], text) == 0)
            return; /* said once is enough */
    probed->nnotes++;
}

double agreement(size_t k, size_t n)
{
    return ((double)k + 1) / ((double)n + 2);
}
