/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Latencies by the sparse string: within what a level holds and beyond what the one before
 * it does, every visit is served by that level. Only every fourth line is visited, so that
 * a line that was prefetched beside another one is never wanted; on huge pages, where there
 * are any, so that translation costs nothing. */
#include "core/sort.h"
#include "probe/probing.h"

#include <math.h>
#include <string.h>

enum {
    SKIP = 4,   /* lines */
    BLOCK = 8,  /* pages */
    TRIALS = 6, /* at a time, and the time comes three times in a probe */
    MOST_TRIALS = 64,
};

static int build_sparse(struct probing *p, const struct string *s, double x)
{
    int status = refs_sparse(&p->refs, &p->runner->ground[s->arena], &p->rng, (uint64_t)x,
                             s->b, BLOCK);
    p->refs.ramp = s->a; /* what was only prefetched takes room */
    return status;
}

/* Visits that a level has room for, one to a line, or one to where the strings may go. */
static double room(const struct probing *p, const struct strata_probed_cache *cache)
{
    double line = (double)p->runner->ground[BASE_PAGES].line;
    return cache->effective.value / fmax(line, cache->line.known ? cache->line.value : 0);
}

/* What translation adds to a visit of a string of so many: the first one in each page may
 * miss in the TLBs. */
static double translation(const struct probing *p, double visits, uint64_t skip)
{
    const struct ground *ground = &p->runner->ground[BASE_PAGES];
    double in_page = (double)(ground->page / ground->line / skip), cost = 0;
    for (int i = 0; i < p->probed->ntlbs; i++) {
        const struct strata_probed_tlb *tlb = &p->probed->tlbs[i];
        if (tlb->page == ground->page && tlb->entries.known && tlb->penalty_cycles.known &&
            visits / in_page > tlb->entries.value)
            cost = tlb->penalty_cycles.value;
    }
    return cost / in_page;
}

/* Memory is visited more densely than the caches: as many lines as there are must be. But
 * not every line of the last cache, or an adjacent one that was prefetched would be wanted.
 */
static uint64_t skip_of(const struct probing *p, int level)
{
    int last = p->probed->ncaches - 1;
    const struct strata_value *line = last >= 0 ? &p->probed->caches[last].line : NULL;
    uint64_t unit = p->runner->ground[BASE_PAGES].line;
    if (level <= last || !line || !line->known || line->value <= (double)unit)
        return level <= last ? SKIP : 2;
    return 2 * (uint64_t)line->value / unit;
}

static struct string plan(const struct probing *p, double visits, int level)
{
    const struct ground *huge = &p->runner->ground[HUGE_PAGES];
    uint64_t skip = skip_of(p, level);
    bool fits = (double)huge->bytes >= visits * (double)(huge->line * skip);
    return (struct string){.build = build_sparse,
                           .arena = fits ? HUGE_PAGES : BASE_PAGES,
                           .a = level < p->probed->ncaches,
                           .b = skip};
}

/* The visits with which a level is measured; that behind the last one is memory. */
static double visits_of(const struct probing *p, int level)
{
    const struct strata_probed_cache *cache = &p->probed->caches[level];
    const struct ground *ground = &p->runner->ground[BASE_PAGES];
    double most = (double)(ground->bytes / ground->line / skip_of(p, level));
    if (level == p->probed->ncaches) /* many times what the last level holds */
        return floor(level ? fmin(most, 6 * room(p, cache - 1)) : most);
    double here = room(p, cache);
    if (!level)
        return floor(here / 2);
    /* Well above what the level before holds, of which sets that few pages share still hold
     * theirs, and well below what this one holds. */
    double before = room(p, cache - 1);
    return floor(fmax(sqrt(before * here), fmin(2.5 * before, 0.6 * here)));
}

/* Not the least, but one of the least: disturbances and unlucky pages make a trial longer,
 * but a dirty clock errs both ways. */
static struct strata_value judge(const struct point *point)
{
    double sorted[MOST_TRIALS];
    size_t n = point->n < MOST_TRIALS ? point->n : MOST_TRIALS;
    if (!n)
        return no_time();
    memcpy(sorted, point->y, n * sizeof *sorted);
    sort_ascending(sorted, n);
    double value = sorted[n / 8], high = sorted[n * 3 / 4];
    double factor = spread_factor(value, sorted[0], fmax(value, high));
    return known(value, value / factor, value * factor, 1 - exp2(1 - (double)n));
}

/* Whether all the trials so far gave the same to the cycle: no more will tell anything. */
static bool certain(const struct point *point)
{
    struct strata_value value = judge(point);
    return point->n >= TRIALS && value.high - value.low < 0.5;
}

static int measure(struct probing *p, struct series *series, int level)
{
    double visits = visits_of(p, level), cycles;
    double line = (double)p->runner->ground[BASE_PAGES].line;
    struct string string = plan(p, visits, level);
    struct point *point = series_at(series, level + 1);
    if (!point)
        return out_of_memory(p);
    if (certain(point))
        return 0;
    int status = try_string(p, &string, visits * line, &cycles);
    if (status)
        return status;
    if (string.arena == BASE_PAGES)
        cycles = fmax(1, cycles - translation(p, visits, string.b));
    return point_add(point, cycles) ? out_of_memory(p) : 0;
}

/* All levels by turns, so that a disturbance does not hit all the trials of one. */
int probe_latencies(struct probing *p)
{
    struct strata_probed *probed = p->probed;
    struct series *series = dataset_find(probed->data, "latency");
    int n = probed->ncaches;
    if (!series)
        series =
            dataset_add(probed->data, "latency", "latency by level", "level", "cycles");
    if (!series)
        return out_of_memory(p);
    for (int t = 0; t < TRIALS; t++)
        for (int i = 0; i <= n && !late(p); i++) {
            int status = measure(p, series, i);
            if (status)
                return status;
            time_left(p, (double)t / TRIALS);
        }
    for (int i = 0; i <= n; i++) {
        const struct point *point = series_at(series, i + 1);
        struct strata_value cycles = point ? judge(point) : no_time();
        *(i < n ? &probed->caches[i].latency_cycles : &probed->memory_cycles) = cycles;
        *(i < n ? &probed->caches[i].latency_ns : &probed->memory_ns) = in_ns(p, cycles);
    }
    return 0;
}
