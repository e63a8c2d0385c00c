/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two kernels of Dongarra and others (2004), for plots like their figures.
 *
 * Size: an array of growing size is visited element by element; when a level no longer
 * holds it, its misses rise from none to one for every line. Block: an array that no level
 * holds is visited with strides that grow by powers of two, always as many visits. Up to
 * the line (or the page), misses double with the stride; then every visit misses; and when
 * the few elements that are left fit one set, none does.
 *
 * Misses are per visit. Arrays that would take millions of visits are visited once a line
 * instead of once an element, and the figures are scaled to that. */
#include "probe/counted.h"

#include <math.h>
#include <stdio.h>

enum {
    LEAST_BYTES = 1 << 10,
    LEAST_ARRAY = 1 << 23,  /* bytes: the array of the block kernel */
    MANY_VISITS = 1 << 20,  /* from here on, one a line */
    BLOCK_VISITS = 1 << 17, /* for every stride */
};

static uint64_t element(const struct counted *c)
{
    return c->type == STRATA_FLOAT ? 8 : 4;
}

static struct series *series_of(struct counted *c, const char *kernel, int event)
{
    char name[32], title[80];
    bool cache = event >= 0 && event < COUNTED_LEVELS;
    int level = event < 0 ? 0 : cache ? event + 1 : event - COUNTED_LEVELS + 1;
    snprintf(name, sizeof name,
             event < 0 ? "%s-time"
             : cache   ? "%s-l%d"
                       : "%s-tlb%d",
             kernel, level);
    snprintf(title, sizeof title, "%s",
             event < 0 ? "access time" : c->counting->events[event].name);
    struct series *series = dataset_find(c->probed->data, name);
    return series ? series
                  : dataset_add(c->probed->data, name, title, "bytes",
                                event < 0 ? "cycles" : "misses");
}

/* Notes the last walk in all series of a kernel. */
static int note_walk(struct counted *c, const char *kernel, double x, double scale)
{
    double visits = (double)c->counts.visits, near = c->counts.cycles / visits;
    struct series *time = dataset_find(c->probed->data, "size-time");
    if (time && time->npoints)
        near = point_min(&time->points[0]); /* what visits cost that are left out */
    for (int event = -1; event < COUNTED_EVENTS; event++) {
        if (event == BANK_EVENT || (event >= 0 && !is_counted(c, event)))
            continue;
        struct series *series = series_of(c, kernel, event);
        struct point *point = series ? series_at(series, x) : NULL;
        double y = event < 0 ? scale * c->counts.cycles / visits + (1 - scale) * near
                             : scale * c->counts.events[event] / visits;
        if (!point || point_add(point, y))
            return counted_no_memory(c);
    }
    return 0;
}

static int lay_out(struct counted *c, struct lines *lines, uint64_t bytes, uint64_t step)
{
    lines->n = 0;
    for (uint64_t at = 0; at < bytes; at += step)
        if (lines_add(lines, at))
            return counted_no_memory(c);
    return 0;
}

/* The largest capacity that was found, and the shortest line. */
static uint64_t largest(const struct counted *c, uint64_t *line)
{
    double most = 0;
    *line = c->counting->base_page;
    for (int i = 0; i < c->probed->ncaches; i++) {
        const struct strata_probed_cache *cache = &c->probed->caches[i];
        most = fmax(most, cache->size.known ? cache->size.value : 0);
        if (cache->line.known && cache->line.value < (double)*line)
            *line = (uint64_t)cache->line.value;
    }
    for (int i = 0; i < c->probed->ntlbs; i++) {
        const struct strata_probed_tlb *tlb = &c->probed->tlbs[i];
        if (tlb->entries.known && tlb->page <= c->probed->page)
            most = fmax(most, tlb->entries.value * (double)tlb->page);
    }
    return (uint64_t)most;
}

static int size_kernel(struct counted *c, uint64_t most, uint64_t line)
{
    struct lines lines = {0};
    int status = 0;
    for (uint64_t bytes = LEAST_BYTES; bytes <= most && !status; bytes *= 2)
        for (int quarter = 4; quarter < 8 && !status; quarter++) {
            uint64_t size = bytes / 4 * (uint64_t)quarter;
            uint64_t step = size / element(c) > MANY_VISITS ? line : element(c);
            status = lay_out(c, &lines, size, step);
            for (int i = 0; i < 2 && !status; i++) /* the first to warm up */
                status = lap(c, &lines);
            if (!status)
                status =
                    note_walk(c, "size", (double)size, (double)element(c) / (double)step);
        }
    lines_release(&lines);
    return status;
}

static int block_kernel(struct counted *c, uint64_t bytes)
{
    struct lines lines = {0};
    int status = 0;
    for (uint64_t stride = element(c); stride <= bytes && !status; stride *= 2) {
        lines.n = 0;
        for (uint64_t i = 0; i < BLOCK_VISITS && !status; i++)
            if (lines_add(&lines, i * stride % bytes))
                status = counted_no_memory(c);
        for (int i = 0; i < 2 && !status; i++)
            status = lap(c, &lines);
        if (!status)
            status = note_walk(c, "block", (double)stride, 1);
    }
    lines_release(&lines);
    return status;
}

int count_kernels(struct counted *c)
{
    uint64_t line, most = largest(c, &line), bytes = LEAST_ARRAY;
    if (!c->options->kernels || !c->probed->ncaches)
        return 0;
    c->arena = BASE_PAGES;
    while (bytes < 4 * most && 2 * bytes <= c->counting->ground[BASE_PAGES].bytes)
        bytes *= 2;
    int status = size_kernel(c, bytes / 2, line);
    return status ? status : block_kernel(c, bytes);
}
