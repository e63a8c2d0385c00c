/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Probing by counts: lists of lines, laps over them, and what visits cost. */
#include "probe/counted.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int lines_add(struct lines *lines, uint64_t at)
{
    if (lines->n == lines->capacity) {
        size_t capacity = lines->capacity ? 2 * lines->capacity : 64;
        uint64_t *more = realloc(lines->at, capacity * sizeof *more);
        if (!more)
            return -1;
        lines->at = more;
        lines->capacity = capacity;
    }
    lines->at[lines->n++] = at;
    return 0;
}

int lines_append(struct lines *lines, const struct lines *more, uint64_t offset)
{
    for (size_t i = 0; i < more->n; i++)
        if (lines_add(lines, more->at[i] + offset))
            return -1;
    return 0;
}

bool lines_have(const struct lines *lines, uint64_t at)
{
    for (size_t i = 0; i < lines->n; i++)
        if (lines->at[i] == at)
            return true;
    return false;
}

void lines_remove(struct lines *lines, uint64_t at)
{
    size_t i = 0;
    while (i < lines->n && lines->at[i] != at)
        i++;
    if (i < lines->n)
        lines->at[i] = lines->at[--lines->n];
}

void lines_release(struct lines *lines)
{
    free(lines->at);
    *lines = (struct lines){0};
}

int counted_no_memory(struct counted *c)
{
    struct probing p = {.error = c->error};
    return out_of_memory(&p);
}

int lap(struct counted *c, const struct lines *lines)
{
    if (c->capacity < lines->n) {
        uint32_t *more = realloc(c->moved, lines->n * sizeof *more);
        if (!more)
            return counted_no_memory(c);
        c->moved = more;
        c->capacity = lines->n;
    }
    int status = counting_walk(c->counting, c->arena, c->type, lines->at, lines->n,
                               c->moved, &c->counts);
    if (!status)
        costs_add(c);
    return status;
}

size_t lap_misses(const struct counted *c, const struct lines *lines, uint32_t bit)
{
    size_t misses = 0;
    for (size_t i = 0; i < lines->n; i++)
        misses += (c->moved[i] & bit) != 0;
    return misses;
}

int lap_collect(struct counted *c, const struct lines *lines, uint32_t bit,
                struct lines *to, size_t *added)
{
    *added = 0;
    for (size_t i = 0; i < lines->n; i++)
        if (c->moved[i] & bit && !lines_have(to, lines->at[i])) {
            if (lines_add(to, lines->at[i]))
                return counted_no_memory(c);
            ++*added;
        }
    return 0;
}

void shuffle(struct counted *c, struct lines *lines)
{
    refs_shuffle(lines->at, lines->n, &c->rng);
}

/* Costs: every walk is an equation, its cycles the sum of what each of its visits cost. */

static int cache_levels(const struct counting *counting)
{
    int n = 0;
    while (n < COUNTED_LEVELS && counting->events[CACHE_EVENT(n + 1)].present)
        n++;
    return n;
}

static int tlb_levels(const struct counting *counting)
{
    int n = 0;
    while (n < COUNTED_LEVELS && counting->events[TLB_EVENT(n + 1)].present)
        n++;
    return n;
}

/* How many visits of a walk are in each column. */
static void shares(const struct counted *c, double *x)
{
    int caches = cache_levels(c->counting), tlbs = tlb_levels(c->counting);
    double visits = (double)c->counts.visits, before = visits;
    memset(x, 0, COSTS * sizeof *x);
    for (int l = 1; l <= caches; l++) {
        double misses = c->counts.events[CACHE_EVENT(l)];
        if (c->type == STRATA_FLOAT && c->bypassed[CACHE_EVENT(l)])
            misses = before; /* bypassed */
        x[l - 1] = (before - misses) / visits;
        before = misses;
    }
    x[COUNTED_LEVELS] = before / visits;
    for (int l = 1; l <= tlbs; l++) {
        double next = l < tlbs ? c->counts.events[TLB_EVENT(l + 1)] : 0;
        x[COUNTED_LEVELS + l] = (c->counts.events[TLB_EVENT(l)] - next) / visits;
    }
}

void costs_add(struct counted *c)
{
    double x[COSTS];
    if (c->arena != BASE_PAGES || !c->counts.visits)
        return;
    shares(c, x);
    double y = c->counts.cycles / (double)c->counts.visits;
    for (int i = 0; i < COSTS; i++) {
        for (int j = 0; j < COSTS; j++)
            c->costs.a[i][j] += x[i] * x[j];
        c->costs.b[i] += x[i] * y;
    }
    c->costs.squares += y * y;
    c->costs.rows++;
}

/* Solves the normal equations by elimination with the largest pivot; what no walk had is
 * NAN. */
static void eliminate(struct costs *k, double *x)
{
    bool used[COSTS] = {false};
    for (int i = 0; i < COSTS; i++)
        x[i] = NAN;
    int rows[COSTS], n = 0;
    for (;;) {
        int best = -1;
        for (int i = 0; i < COSTS; i++)
            if (!used[i] && (best < 0 || k->a[i][i] > k->a[best][best]))
                best = i;
        if (best < 0 || k->a[best][best] < 1e-9 * (double)(k->rows + 1))
            break;
        used[best] = true;
        rows[n++] = best;
        for (int i = 0; i < COSTS; i++) {
            double factor = i == best ? 0 : k->a[i][best] / k->a[best][best];
            for (int j = 0; j < COSTS && factor != 0; j++)
                k->a[i][j] -= factor * k->a[best][j];
            k->b[i] -= factor * k->b[best];
        }
    }
    for (int i = 0; i < n; i++)
        x[rows[i]] = k->b[rows[i]] / k->a[rows[i]][rows[i]];
}

/* A time, or why there is none. */
static struct strata_value cost_value(double cycles)
{
    if (!isfinite(cycles) || cycles <= 0)
        return unknown("no walk was served from there often enough to tell its time");
    struct strata_value value = known(cycles, cycles * 0.98, cycles * 1.02, 0.95);
    snprintf(value.by, sizeof value.by, "cycles, solved from all walks");
    return value;
}

static struct strata_value to_ns(const struct counted *c, struct strata_value cycles)
{
    cycles.value *= c->counting->cycle_ns;
    cycles.low *= c->counting->cycle_ns;
    cycles.high *= c->counting->cycle_ns;
    return cycles;
}

int solve_costs(struct counted *c)
{
    struct strata_probed *probed = c->probed;
    double x[COSTS];
    eliminate(&c->costs, x);
    for (int i = 0; i < probed->ncaches; i++) {
        struct strata_probed_cache *cache = &probed->caches[i];
        cache->latency_cycles = cost_value(x[cache->level - 1]);
        cache->latency_ns = to_ns(c, cache->latency_cycles);
    }
    probed->memory_cycles = cost_value(x[COUNTED_LEVELS]);
    probed->memory_ns = to_ns(c, probed->memory_cycles);
    for (int i = 0; i < probed->ntlbs; i++) {
        struct strata_probed_tlb *tlb = &probed->tlbs[i];
        tlb->penalty_cycles = tlb->page <= probed->page
                                  ? cost_value(x[COUNTED_LEVELS + tlb->level])
                                  : unknown("times are taken on base pages only");
        tlb->penalty_ns = to_ns(c, tlb->penalty_cycles);
    }
    return 0;
}
