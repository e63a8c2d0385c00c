/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two kernels of Dongarra and others (2004), for plots like their figures.
 *
 * Size: an array of growing size is visited element by element; when a level no longer
 * holds it, its misses rise from none to one for every line. Block: an array that no level
 * holds is visited with strides that grow by powers of two. Up to the line (or the page) a
 * visit in so many misses, stride / line; then every visit misses; and when the few
 * elements that are left fit one set, none does.
 *
 * Every array is visited in two orders, because prefetchers and TLBs want opposite ones.
 * - Apart, for the caches: one line in each page, then another one in each, neighbours
 *   half an array apart. A prefetcher that goes on in equal steps sees none, and what one
 *   brings in beside a line has left again when its turn comes.
 * - Together, for TLBs and time: page by page, so that a page misses once. Within it, lines
 *   do not follow on each other either.
 *
 * Misses are per visit. A short stride in a large array would take millions of visits, of
 * which most hit the line that was just visited. So the whole array is visited once a line,
 * which leaves all levels as the short stride would, and the visits that follow are counted
 * as far as they have to be. Where the size kernel leaves such hits out, its figures are
 * scaled to them. */
#include "probe/counted.h"

#include <math.h>
#include <stdio.h>

enum {
    LEAST_BYTES = 1 << 10,
    LEAST_ARRAY = 1 << 23,  /* bytes: the array of the block kernel */
    MANY_VISITS = 1 << 17,  /* from here on, one a line */
    BLOCK_VISITS = 1 << 17, /* for every stride */
    MEMORY_RATIO = 4,       /* the array of the block kernel and what the levels hold */
};

enum order { TOGETHER, APART, ORDERS };

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

/* Whether an event, or with -1 the time, is taken from visits in this order. */
static bool is_taken(const struct counted *c, int event, enum order order)
{
    if (event < 0)
        return order == TOGETHER;
    bool cache = event < COUNTED_LEVELS;
    return event != BANK_EVENT && is_counted(c, event) && cache == (order == APART);
}

/* Notes the last walk in the series of a kernel. */
static int note_walk(struct counted *c, const char *kernel, enum order order, double x,
                     double scale)
{
    double visits = (double)c->counts.visits, near = c->counts.cycles / visits;
    struct series *time = dataset_find(c->probed->data, "size-time");
    if (time && time->npoints)
        near = point_min(&time->points[0]); /* what visits cost that are left out */
    for (int event = -1; event < COUNTED_EVENTS; event++) {
        if (!is_taken(c, event, order))
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

/* The bits of i in reverse order, n being the power of two above all i: 0, 4, 2, 6, 1, ….
 * No two steps of it that follow on each other are equal, and none is to a neighbour. */
static uint64_t reversed(uint64_t i, uint64_t n)
{
    uint64_t to = 0;
    for (; n > 1; n /= 2, i /= 2)
        to = 2 * to + i % 2;
    return to;
}

struct array {
    uint64_t bytes, stride;
    uint64_t shortest, longest; /* lines of the caches; visits to the longest one stay
                                   together in all orders */
    enum order order;
};

/* The first visits of a lap over an array; `most` at most. */
static int lay_out(struct counted *c, struct lines *lines, const struct array *array,
                   uint64_t most)
{
    uint64_t page = c->counting->base_page, stride = array->stride;
    uint64_t unit = stride > array->longest ? stride : array->longest;
    uint64_t block = unit > page ? unit : page, in_block = block / unit;
    uint64_t blocks = (array->bytes + block - 1) / block;
    lines->n = 0;
    for (uint64_t i = 0; i < blocks * in_block; i++) {
        bool apart = array->order == APART;
        uint64_t place = reversed(apart ? i / blocks : i % in_block, in_block) * unit;
        uint64_t at = (apart ? i % blocks : i / in_block) * block + place, end = at + unit;
        for (; at < end && at < array->bytes && lines->n < most; at += stride)
            if (lines_add(lines, at))
                return counted_no_memory(c);
    }
    return 0;
}

/* Further laps, until there are so many visits. */
static int lap_again(struct counted *c, struct lines *lines, uint64_t visits)
{
    for (size_t n = lines->n; lines->n < visits;)
        if (lines_add(lines, lines->at[lines->n - n]))
            return counted_no_memory(c);
    return 0;
}

/* A lap of which only the sums are wanted. */
static int walk(struct counted *c, const struct lines *lines)
{
    int status = counting_walk(c->counting, c->arena, c->type, lines->at, lines->n, NULL,
                               &c->counts);
    if (!status)
        costs_add(c);
    return status;
}

/* The largest capacity that was found, and the lines; the usual one where none was. */
static uint64_t largest(const struct counted *c, struct array *array)
{
    double most = 0;
    array->shortest = array->longest = c->counting->ground[BASE_PAGES].line;
    for (int i = 0; i < c->probed->ncaches; i++) {
        const struct strata_probed_cache *cache = &c->probed->caches[i];
        uint64_t line = cache->line.known ? (uint64_t)cache->line.value : array->shortest;
        most = fmax(most, cache->size.known ? cache->size.value : 0);
        array->shortest = line < array->shortest ? line : array->shortest;
        array->longest = line > array->longest ? line : array->longest;
    }
    for (int i = 0; i < c->probed->ntlbs; i++) {
        const struct strata_probed_tlb *tlb = &c->probed->tlbs[i];
        if (tlb->entries.known && tlb->page <= c->probed->page)
            most = fmax(most, tlb->entries.value * (double)tlb->page);
    }
    return (uint64_t)most;
}

static int size_walk(struct counted *c, struct lines *lines, struct array array)
{
    array.stride = array.bytes / element(c) > MANY_VISITS ? array.shortest : element(c);
    int status = lay_out(c, lines, &array, UINT64_MAX);
    for (int i = 0; i < 2 && !status; i++) /* the first to warm up */
        status = walk(c, lines);
    double scale = (double)element(c) / (double)array.stride;
    return status ? status : note_walk(c, "size", array.order, (double)array.bytes, scale);
}

/* Arrays up to half of the one that is given. */
static int size_kernel(struct counted *c, struct lines *lines, struct array array)
{
    uint64_t most = array.bytes / 2;
    int status = 0;
    for (uint64_t bytes = LEAST_BYTES; bytes <= most && !status; bytes *= 2)
        for (unsigned quarter = 4; quarter < 8 && !status; quarter++) {
            array.bytes = bytes / 4 * quarter;
            status = size_walk(c, lines, array);
        }
    return status;
}

/* All levels as a lap leaves them, then as many visits as are counted at every stride. */
static int block_walk(struct counted *c, struct lines *lines, const struct array *array)
{
    struct array warm = *array;
    warm.stride = array->stride > array->shortest ? array->stride : array->shortest;
    int status = lay_out(c, lines, &warm, UINT64_MAX);
    if (!status)
        status = walk(c, lines);
    if (!status)
        status = lay_out(c, lines, array, BLOCK_VISITS);
    if (!status)
        status = lap_again(c, lines, BLOCK_VISITS);
    if (!status)
        status = walk(c, lines);
    return status ? status : note_walk(c, "block", array->order, (double)array->stride, 1);
}

static int block_kernel(struct counted *c, struct lines *lines, struct array array)
{
    int status = 0;
    for (array.stride = element(c); array.stride <= array.bytes && !status;
         array.stride *= 2)
        status = block_walk(c, lines, &array);
    return status;
}

int count_kernels(struct counted *c)
{
    struct array array = {.bytes = LEAST_ARRAY};
    struct lines lines = {0};
    int status = 0;
    if (!c->options->kernels || !c->probed->ncaches)
        return 0;
    uint64_t most = MEMORY_RATIO * largest(c, &array);
    c->arena = BASE_PAGES;
    while (array.bytes < most && 2 * array.bytes <= c->counting->ground[BASE_PAGES].bytes)
        array.bytes *= 2;
    for (array.order = 0; array.order < ORDERS && !status; array.order++) {
        status = size_kernel(c, &lines, array);
        if (!status)
            status = block_kernel(c, &lines, array);
    }
    lines_release(&lines);
    return status;
}
