/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linking chains; walks.h has the contract. */
#include "inspect/walks.h"

#include <stdbool.h>
#include <stdlib.h>

static void shuffle(uint32_t *order, uint64_t n, struct rng *rng)
{
    for (uint64_t i = n; i > 1; i--) {
        uint64_t j = rng_below(rng, i);
        uint32_t other = order[j];
        order[j] = order[i - 1];
        order[i - 1] = other;
    }
}

static struct link *link_at(const struct ground_plan *ground, uint64_t unit)
{
    return (struct link *)(void *)(ground->buffer + unit * ground->unit);
}

/* A ring that grows at its end. */
struct ring {
    struct link *first, *last;
};

static void append(struct ring *ring, struct link *link)
{
    link->mark = 0;
    if (ring->last) {
        ring->last->next = link;
        link->before = ring->last;
    } else {
        ring->first = link;
    }
    ring->last = link;
}

static struct link *close_ring(struct ring *ring)
{
    if (ring->last) {
        ring->last->next = ring->first;
        ring->first->before = ring->last;
    }
    return ring->first;
}

/* Items of so many neighbours, in random order within a block. */
static struct link *chain_items(const struct ground_plan *ground, uint64_t bytes,
                                uint64_t block, uint64_t neighbours, struct rng *rng)
{
    uint64_t item = ground->unit * neighbours;
    uint64_t items = bytes / item, most = block * ground->page / item;
    uint32_t *order = malloc(most * sizeof *order);
    struct ring ring = {0};
    for (uint64_t start = 0; order && start < items; start += most) {
        uint64_t n = items - start < most ? items - start : most;
        for (uint32_t i = 0; i < n; i++)
            order[i] = i;
        shuffle(order, n, rng);
        for (uint64_t i = 0; i < n; i++)
            for (uint64_t j = 0; j < neighbours; j++)
                append(&ring, link_at(ground, (start + order[i]) * neighbours + j));
    }
    free(order);
    return close_ring(&ring);
}

struct link *chain_random(const struct ground_plan *ground, uint64_t bytes, uint64_t block,
                          struct rng *rng)
{
    return chain_items(ground, bytes, block, 1, rng);
}

struct link *chain_pairs(const struct ground_plan *ground, uint64_t bytes, uint64_t block,
                         struct rng *rng)
{
    return chain_items(ground, bytes, block, 2, rng);
}

struct link *chain_rounds(const struct ground_plan *ground, uint64_t bytes, uint64_t block,
                          struct rng *rng)
{
    uint64_t units = ground->page / ground->unit, pages = bytes / ground->page;
    uint32_t *orders = malloc(block * units * sizeof *orders);
    struct ring ring = {0};
    for (uint64_t start = 0; orders && start < pages; start += block) {
        uint64_t n = pages - start < block ? pages - start : block;
        for (uint64_t page = 0; page < n; page++) {
            for (uint32_t i = 0; i < units; i++)
                orders[page * units + i] = i;
            shuffle(orders + page * units, units, rng);
        }
        for (uint64_t i = 0; i < units; i++)
            for (uint64_t page = 0; page < n; page++)
                append(&ring,
                       link_at(ground, (start + page) * units + orders[page * units + i]));
    }
    free(orders);
    return close_ring(&ring);
}

struct link *chain_apart(const struct ground_plan *ground, uint64_t bytes, struct rng *rng)
{
    uint64_t pairs = bytes / ground->unit / 2;
    uint32_t *order = malloc((pairs ? pairs : 1) * sizeof *order);
    struct ring ring = {0};
    for (uint32_t i = 0; order && i < pairs; i++)
        order[i] = i;
    if (order)
        shuffle(order, pairs, rng);
    for (uint64_t i = 0; order && i < pairs; i++) {
        append(&ring, link_at(ground, 2 * (uint64_t)order[i]));
        append(&ring, link_at(ground, 2 * (uint64_t)order[(i + pairs / 2) % pairs] + 1));
    }
    free(order);
    return close_ring(&ring);
}

static bool is_quiet(const uint32_t *order, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++) {
        int64_t step = (int64_t)order[i] - order[i - 1];
        int64_t before = i > 1 ? (int64_t)order[i - 1] - order[i - 2] : 0;
        if (step == 1 || step == -1 || step == before)
            return false;
    }
    return true;
}

/* Swaps what disturbs until nothing does; one in some seven orders of 64 is good already,
 * and fewer than eight units have no such order. */
static void make_quiet(uint32_t *order, uint64_t n, struct rng *rng)
{
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    for (int tries = 0; tries < 10000 && n >= 8; tries++) {
        shuffle(order, n, rng);
        if (is_quiet(order, n))
            return;
    }
}

struct link *chain_quiet(const struct ground_plan *ground, uint64_t bytes, uint64_t block,
                         struct rng *rng)
{
    uint64_t units = ground->page / ground->unit, pages = bytes / ground->page;
    uint32_t *order = malloc(units * sizeof *order);
    struct ring ring = {0};
    for (uint64_t start = 0; order && start < pages; start += block) {
        uint64_t n = pages - start < block ? pages - start : block;
        make_quiet(order, units, rng);
        for (uint64_t i = 0; i < units; i++)
            for (uint64_t page = start; page < start + n; page++)
                append(&ring, link_at(ground, page * units + order[i]));
    }
    free(order);
    return close_ring(&ring);
}

struct link *chain_pages(const struct ground_plan *ground, uint64_t pages, struct rng *rng)
{
    uint64_t units = ground->page / ground->unit;
    uint32_t *order = malloc(pages * sizeof *order);
    struct ring ring = {0};
    if (!order)
        return NULL;
    for (uint32_t i = 0; i < pages; i++)
        order[i] = i;
    shuffle(order, pages, rng);
    for (uint64_t i = 0; i < pages; i++)
        append(&ring, link_at(ground, order[i] * units + order[i] % units));
    free(order);
    return close_ring(&ring);
}

struct link *chain_blocks(const struct ground_plan *ground, uint64_t bytes, struct rng *rng)
{
    uint64_t units = ground->page / ground->unit, blocks = bytes / ground->page;
    uint32_t *order = malloc(units * sizeof *order);
    for (uint64_t block = 0; order && block < blocks; block++) {
        struct ring ring = {0};
        for (uint32_t u = 0; u < units; u++)
            order[u] = u;
        shuffle(order + 1, units - 1, rng);
        for (uint64_t u = 0; u < units; u++)
            append(&ring, link_at(ground, block * units + order[u]));
        close_ring(&ring);
    }
    struct link *first = order ? link_at(ground, 0) : NULL;
    free(order);
    return first;
}
