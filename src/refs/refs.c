/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reference strings of refs.h. */
#include "refs/refs.h"

#include <stdlib.h>
#include <string.h>

void refs_release(struct refs *refs)
{
    free(refs->at);
    memset(refs, 0, sizeof *refs);
}

static int refs_reserve(struct refs *refs, size_t n)
{
    refs->n = 0;
    if (n <= refs->capacity)
        return 0;
    uint64_t *at = realloc(refs->at, n * sizeof *at);
    if (!at)
        return -1;
    refs->at = at;
    refs->capacity = n;
    return 0;
}

void refs_shuffle(uint64_t *p, size_t n, struct rng *rng)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = rng_below(rng, i);
        uint64_t t = p[i - 1];
        p[i - 1] = p[j];
        p[j] = t;
    }
}

/* A random page-aligned start for `bytes` bytes, so that repeated strings sample many
 * mappings of virtual to physical pages. Returns -1 if the arena is too small. */
static int place(const struct ground *ground, struct rng *rng, uint64_t bytes, uint64_t *start)
{
    if (bytes > ground->bytes)
        return -1;
    *start = rng_below(rng, (ground->bytes - bytes) / ground->page + 1) * ground->page;
    return 0;
}

/* The column of the ith visit, out of `columns`. Multiples of the golden ratio spread evenly
 * however many of them there are and whatever power of two of the page number is taken
 * along into a cache's index, so that the lines of a string fill the sets evenly. */
static uint64_t golden_column(size_t i, size_t columns)
{
    return ((uint64_t)(uint32_t)(i * 0x9e3779b9u) * columns) >> 32;
}

int refs_gap(struct refs *refs, const struct ground *ground, struct rng *rng, size_t n, uint64_t k,
             uint64_t o)
{
    uint64_t start;
    if (refs_reserve(refs, n) || place(ground, rng, n * k + o + sizeof(void *), &start))
        return -1;
    for (size_t i = 0; i < n; i++)
        refs->at[i] = start + i * k;
    refs->at[n - 1] += o;
    refs->n = n;
    refs_shuffle(refs->at, n, rng);
    return 0;
}

int refs_gap_control(struct refs *refs, const struct ground *ground, struct rng *rng, size_t n,
                     uint64_t k)
{
    enum { GRAIN = 128 }; /* no first level has longer lines */
    uint64_t start;
    if (refs_reserve(refs, n) || place(ground, rng, n * k + ground->page, &start))
        return -1;
    for (size_t i = 0; i < n; i++)
        refs->at[i] = start + i * k / ground->page * ground->page +
                      golden_column(i, ground->page / GRAIN) * GRAIN;
    refs->n = n;
    refs_shuffle(refs->at, n, rng);
    return 0;
}

int refs_cache(struct refs *refs, const struct ground *ground, struct rng *rng, uint64_t k,
               size_t block)
{
    return refs_sparse(refs, ground, rng, k, 1, block);
}

int refs_sparse(struct refs *refs, const struct ground *ground, struct rng *rng, uint64_t k,
                size_t skip, size_t block)
{
    uint64_t start, line = ground->line;
    size_t n = k / line, lines_per_page = ground->page / line;
    if (skip > lines_per_page)
        skip = lines_per_page;
    size_t per_page = lines_per_page / skip;
    size_t pages = (n + per_page - 1) / per_page, blocks = (pages + block - 1) / block;
    if (n == 0 || refs_reserve(refs, n + blocks) || place(ground, rng, pages * ground->page, &start))
        return -1;

    /* The blocks are visited in random order; the order is kept in the tail of the array. */
    uint64_t *order = refs->at + n;
    for (size_t b = 0; b < blocks; b++)
        order[b] = b;
    refs_shuffle(order, blocks, rng);

    for (size_t b = 0; b < blocks; b++) {
        size_t first = refs->n, i = order[b] * block * per_page;
        size_t end = i + block * per_page < n ? i + block * per_page : n;
        for (; i < end; i++) {
            size_t page = i / per_page;
            uint64_t column = (i % per_page) * skip + page % skip;
            refs->at[refs->n++] = start + page * ground->page + column * line;
        }
        refs_shuffle(refs->at + first, refs->n - first, rng);
    }
    return 0;
}

int refs_tlb(struct refs *refs, const struct ground *ground, struct rng *rng, size_t n,
             size_t pages)
{
    uint64_t start;
    size_t lines = ground->page / ground->line;
    if (n > lines || refs_reserve(refs, n * pages) ||
        place(ground, rng, pages * ground->page, &start))
        return -1;
    for (size_t i = 0; i < pages; i++)
        for (size_t j = 0; j < n; j++) {
            uint64_t column = (golden_column(i, lines) + j * lines / n) % lines;
            refs->at[refs->n++] = start + i * ground->page + column * ground->line;
        }
    refs_shuffle(refs->at, refs->n, rng);
    return 0;
}

int refs_tlb_gap(struct refs *refs, const struct ground *ground, struct rng *rng, size_t n,
                 size_t stride, size_t groups)
{
    uint64_t start;
    size_t lines = ground->page / ground->line;
    if (refs_reserve(refs, n * groups) ||
        place(ground, rng, ((n - 1) * stride + groups) * ground->page, &start))
        return -1;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < groups; j++) {
            uint64_t column = golden_column(refs->n, lines);
            refs->at[refs->n++] =
                start + (i * stride + j) * ground->page + column * ground->line;
        }
    refs_shuffle(refs->at, refs->n, rng);
    return 0;
}

int refs_line(struct refs *refs, const struct ground *ground, struct rng *rng, uint64_t n,
              uint64_t s)
{
    uint64_t start;
    size_t half = (n + ground->page - 1) / ground->page;
    size_t stripes = ground->page / s / 2;
    if (!stripes || refs_reserve(refs, 2 * half * stripes) ||
        place(ground, rng, 2 * half * ground->page, &start))
        return -1;
    for (size_t pattern = 0; pattern < 2; pattern++) {
        size_t first = refs->n;
        for (size_t i = 0; i < half; i++)
            for (size_t j = 0; j < stripes; j++)
                refs->at[refs->n++] = start + (pattern * half + i) * ground->page +
                                      (2 * j + pattern) * s;
        refs_shuffle(refs->at + first, refs->n - first, rng);
    }
    return 0;
}

int refs_pair(struct refs *refs, const struct ground *ground, struct rng *rng, uint64_t k,
              uint64_t d)
{
    uint64_t start, chunk = 2 * d;
    size_t chunks = k / chunk;
    if (!chunks || refs_reserve(refs, 2 * chunks) || place(ground, rng, k, &start))
        return -1;
    for (size_t i = 0; i < chunks; i++)
        refs->at[i] = start + i * chunk;
    refs_shuffle(refs->at, chunks, rng);
    for (size_t i = chunks; i-- > 0;) {
        uint64_t first = refs->at[i];
        refs->at[2 * i] = first;
        refs->at[2 * i + 1] = first + d;
    }
    refs->n = 2 * chunks;
    return 0;
}
