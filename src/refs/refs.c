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
    refs->ramp = refs->brief = false;
    refs->timed = refs->again = 0;
    if (n <= refs->capacity)
        return 0;
    uint64_t *at = realloc(refs->at, n * sizeof *at);
    refs->no_memory = !at;
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
static int place(const struct ground *ground, struct rng *rng, uint64_t bytes,
                 uint64_t *start)
{
    if (bytes > ground->bytes)
        return -1;
    *start = rng_below(rng, (ground->bytes - bytes) / ground->page + 1) * ground->page;
    return 0;
}

/* The column of the ith of a run of pages, out of `columns`: a diagonal that moves on by
 * one after every `columns` pages. Whatever low bits of the page number go into a cache's
 * index, the lines fill its sets evenly: a level is full before any of its sets overflows.
 */
static uint64_t diagonal(size_t i, size_t columns)
{
    return (i + i / columns) % columns;
}

int refs_gap(struct refs *refs, const struct ground *ground, struct rng *rng, size_t n,
             uint64_t k, uint64_t o)
{
    uint64_t start;
    if (!n || refs_reserve(refs, n) ||
        place(ground, rng, n * k + o + sizeof(void *), &start))
        return -1;
    for (size_t i = 0; i < n; i++)
        refs->at[i] = start + i * k;
    refs->at[n - 1] += o;
    refs->n = n;
    refs_shuffle(refs->at, n, rng);
    return 0;
}

int refs_gap_control(struct refs *refs, const struct ground *ground, struct rng *rng,
                     size_t n, uint64_t k)
{
    enum { GRAIN = 128 }; /* no first level has longer lines */
    uint64_t start;
    if (refs_reserve(refs, n) || place(ground, rng, n * k + ground->page, &start))
        return -1;
    for (size_t i = 0; i < n; i++)
        refs->at[i] = start + i * k / ground->page * ground->page +
                      diagonal(i, ground->page / GRAIN) * GRAIN;
    refs->n = n;
    refs_shuffle(refs->at, n, rng);
    return 0;
}

int refs_gap_pressed(struct refs *refs, const struct ground *ground, struct rng *rng,
                     size_t n, uint64_t k, uint64_t o, size_t m, uint64_t inner,
                     uint64_t way)
{
    uint64_t start, others = way / inner - 1; /* sets to choose from */
    if (!n || !others || way % inner || k % way || refs_reserve(refs, n * (m + 1)) ||
        place(ground, rng, n * k + (m / others + 1) * way + o + sizeof(void *), &start))
        return -1;
    for (size_t i = 0; i < n; i++)
        refs->at[i] = start + i * k;
    refs->at[n - 1] += o;
    refs_shuffle(refs->at, n, rng);
    for (size_t i = n; i-- > 0;) {
        uint64_t first = refs->at[i], moved = (first - start) % k;
        refs->at[i * (m + 1)] = first;
        for (size_t j = 0; j < m; j++)
            refs->at[i * (m + 1) + 1 + j] =
                start + n * k + j / others * way + (1 + j % others) * inner + moved;
    }
    refs->n = n * (m + 1);
    return 0;
}

int refs_cache(struct refs *refs, const struct ground *ground, struct rng *rng, uint64_t k,
               size_t block)
{
    return refs_sparse(refs, ground, rng, k, 1, block);
}

/* The sum of the digits of r in base `base`, modulo that base: it takes all values evenly
 * over the rows that share any low bits of r, and so the sets of a cache with a power of
 * two of them, as a diagonal does. */
static uint64_t digits(uint64_t r, uint64_t base)
{
    uint64_t sum = 0;
    for (; r && base > 1; r /= base)
        sum += r % base;
    return base > 1 ? sum % base : 0;
}

/* Every `skip`th line of so many rows. Their offsets are sums of digits, or, if `parts`,
 * the first one in the first part of the rows, the next one in the next part, and so on:
 * rows side by side fill the sets of any cache evenly, however many it has. */
static int lay_sparse(struct refs *refs, const struct ground *ground, struct rng *rng,
                      uint64_t k, size_t skip, size_t block, bool parts)
{
    enum { ROW = 4096 }; /* bytes: the smallest page */
    uint64_t start, line = ground->line, row = ROW / line;
    size_t n = k / line, per_row = row / skip;
    size_t per_block = block * (ground->page / ROW ? ground->page / ROW : 1) * per_row;
    size_t rows = (n + per_row - 1) / per_row, blocks = (n + per_block - 1) / per_block;
    size_t part = (rows + skip - 1) / skip;
    if (n == 0 || refs_reserve(refs, n + blocks) || place(ground, rng, rows * ROW, &start))
        return -1;

    /* The blocks are visited in random order; the order is kept in the tail of the array.
     */
    uint64_t *order = refs->at + n;
    for (size_t b = 0; b < blocks; b++)
        order[b] = b;
    refs_shuffle(order, blocks, rng);

    for (size_t b = 0; b < blocks; b++) {
        size_t first = refs->n, i = order[b] * per_block;
        size_t end = i + per_block < n ? i + per_block : n;
        for (; i < end; i++) {
            size_t r = i / per_row;
            uint64_t offset = parts ? r / part : digits(r, skip);
            refs->at[refs->n++] = start + r * ROW + (i % per_row * skip + offset) * line;
        }
        refs_shuffle(refs->at + first, refs->n - first, rng);
    }
    return 0;
}

int refs_sparse(struct refs *refs, const struct ground *ground, struct rng *rng, uint64_t k,
                size_t skip, size_t block)
{
    return lay_sparse(refs, ground, rng, k, skip, block, false);
}

int refs_sparse_pressed(struct refs *refs, const struct ground *ground, struct rng *rng,
                        uint64_t k, size_t skip, size_t block, size_t laps)
{
    enum { SHARE = 4, MOST = 8192 };
    if (lay_sparse(refs, ground, rng, k, skip, block, true))
        return -1;
    size_t n = refs->n, timed = (n + SHARE - 1) / SHARE;
    timed = timed < MOST ? timed : MOST;
    size_t rest = n - timed, all = timed + laps * rest;
    if (refs_reserve(refs, all))
        return -1;
    for (size_t i = n; i < all; i++)
        refs->at[i] = refs->at[i - rest] + sizeof(void *);
    refs->n = all;
    refs->timed = timed;
    refs->again = all - n;
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
            uint64_t column = (diagonal(i, lines) + j * lines / n) % lines;
            refs->at[refs->n++] = start + i * ground->page + column * ground->line;
        }
    refs_shuffle(refs->at, refs->n, rng);
    return 0;
}

/* By how much more the diagonal must move on from one round of the folded string to the
 * next, so that the second visit to a page is not to the same line: that would happen where
 * a round moves the diagonal by just a page's columns. */
static size_t sidestep(size_t pages, size_t columns)
{
    size_t moves = (pages + pages / columns) % columns; /* or one more */
    return moves == 0 ? 1 : moves == columns - 1 ? 2 : 0;
}

int refs_folded(struct refs *refs, const struct ground *ground, struct rng *rng, size_t n,
                size_t pages)
{
    uint64_t start;
    size_t lines = ground->page / ground->line, step = sidestep(pages, lines);
    if (refs_reserve(refs, n + pages) || place(ground, rng, pages * ground->page, &start))
        return -1;
    uint64_t *order = refs->at + n;
    for (size_t i = 0; i < pages; i++)
        order[i] = i;
    refs_shuffle(order, pages, rng);
    for (size_t round = 0; round * pages < n; round++)
        for (size_t i = 0; i < pages; i++) {
            size_t nth = round * pages + order[i];
            uint64_t column = (diagonal(nth, lines) + round * step) % lines;
            if (nth < n)
                refs->at[refs->n++] =
                    start + order[i] * ground->page + column * ground->line;
        }
    return 0;
}

int refs_tlb_gap(struct refs *refs, const struct ground *ground, struct rng *rng, size_t n,
                 size_t stride, size_t groups)
{
    uint64_t start;
    size_t lines = ground->page / ground->line;
    if (!n || refs_reserve(refs, n * groups) ||
        place(ground, rng, ((n - 1) * stride + groups) * ground->page, &start))
        return -1;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < groups; j++) {
            uint64_t column = diagonal(refs->n, lines);
            refs->at[refs->n++] =
                start + (i * stride + j) * ground->page + column * ground->line;
        }
    refs_shuffle(refs->at, refs->n, rng);
    return 0;
}

int refs_scattered(struct refs *refs, const struct ground *ground, struct rng *rng,
                   size_t n, size_t keep)
{
    size_t lines = ground->page / ground->line;
    if (!n || !keep)
        return -1;
    uint64_t choices = ground->bytes / ground->page / n / keep;
    if (choices < 2 || refs_reserve(refs, n))
        return -1;
    for (size_t i = 0; i < n; i++) {
        uint64_t page = (i * choices + rng_below(rng, choices)) * keep + i % keep;
        refs->at[refs->n++] = page * ground->page + diagonal(i, lines) * ground->line;
    }
    refs_shuffle(refs->at, refs->n, rng);
    return 0;
}

/* The visits of one page of the line string, in pattern A or B. */
static void line_page(struct refs *refs, uint64_t page, uint64_t bytes,
                      const struct stripes *stripes, bool b)
{
    uint64_t width = stripes->visits * stripes->s, used = bytes / width / 2 * 2 * width;
    uint64_t shift = stripes->shift + (b && !stripes->together ? width : 0);
    for (uint64_t stripe = 0; stripe < used; stripe += 2 * width)
        for (size_t i = 0; i < stripes->visits; i++)
            refs->at[refs->n++] = page + (stripe + shift + i * stripes->s) % used;
}

int refs_line(struct refs *refs, const struct ground *ground, struct rng *rng, uint64_t n,
              const struct stripes *stripes, size_t block)
{
    uint64_t start;
    size_t half = (n + ground->page - 1) / ground->page;
    size_t visits = ground->page / (stripes->visits * stripes->s) / 2 * stripes->visits;
    if (!visits || refs_reserve(refs, 2 * half * visits) ||
        place(ground, rng, 2 * half * ground->page, &start))
        return -1;
    for (size_t page = 0, first = 0; page < 2 * half; page++) {
        line_page(refs, start + page * ground->page, ground->page, stripes, page >= half);
        if (page % half % block == block - 1 || page % half == half - 1) {
            refs_shuffle(refs->at + first, refs->n - first, rng);
            first = refs->n;
        }
    }
    refs->ramp = true;
    return 0;
}

int refs_pair(struct refs *refs, const struct ground *ground, struct rng *rng,
              size_t chunks, uint64_t d, bool both)
{
    uint64_t start;
    size_t visits = both ? 2 : 1;
    if (!chunks || refs_reserve(refs, visits * chunks) ||
        place(ground, rng, chunks * 2 * d, &start))
        return -1;
    for (size_t i = 0; i < chunks; i++)
        refs->at[i] = start + i * 2 * d;
    refs_shuffle(refs->at, chunks, rng);
    for (size_t i = chunks; both && i-- > 0;) {
        uint64_t first = refs->at[i];
        refs->at[2 * i] = first;
        refs->at[2 * i + 1] = first + d;
    }
    refs->n = visits * chunks;
    return 0;
}

/* Adds lines of blocks, in random order. */
static void add_blocks(struct refs *refs, struct rng *rng, const struct eviction *e,
                       const struct blocks *blocks, uint64_t shift)
{
    size_t first = refs->n;
    for (size_t i = 0; i < blocks->n; i++)
        for (size_t j = 0; j < e->lines; j++)
            refs->at[refs->n++] = blocks->at[i] + j * e->apart + shift;
    refs_shuffle(refs->at + first, refs->n - first, rng);
}

int refs_eviction(struct refs *refs, const struct ground *ground, struct rng *rng,
                  const struct eviction *e)
{
    const struct blocks *const all[] = {&e->timed, &e->set, &e->press};
    uint64_t size = e->lines * e->apart;
    if (!e->timed.n || !e->lines || e->shift >= e->apart ||
        refs_reserve(refs, (e->timed.n + e->set.n + e->press.n) * e->lines))
        return -1;
    for (int i = 0; i < 3; i++)
        for (size_t j = 0; j < all[i]->n; j++)
            if (all[i]->at[j] > ground->bytes || ground->bytes - all[i]->at[j] < size)
                return -1;
    add_blocks(refs, rng, e, &e->timed, 0);
    refs->timed = refs->n;
    add_blocks(refs, rng, e, &e->set, e->shift);
    add_blocks(refs, rng, e, &e->press, 0);
    refs->brief = true;
    return 0;
}
