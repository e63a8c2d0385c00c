/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Chains through a buffer, for the walks of a plan (Danalis et al. 2019, section 4). */
#ifndef INSPECT_WALKS_H
#define INSPECT_WALKS_H

#include "core/rng.h"
#include "inspect/kernels.h"

#include <stddef.h>
#include <stdint.h>

struct ground_plan {
    char *buffer;
    uint64_t page, unit;
};

/* All of these link a ring and return its first link; NULL: out of memory. */

/* One link in each unit of `bytes`: `block` pages at a time, by chance within these. */
struct link *chain_random(const struct ground_plan *ground, uint64_t bytes, uint64_t block,
                          struct rng *rng);

/* The same, but each unit with an even number is followed by its neighbour. */
struct link *chain_pairs(const struct ground_plan *ground, uint64_t bytes, uint64_t block,
                         struct rng *rng);

/* The same, but so that no two visits of a page in a row are neighbours or equally far
 * apart, either way: there is nothing in it to prefetch. */
struct link *chain_quiet(const struct ground_plan *ground, uint64_t bytes, uint64_t block,
                         struct rng *rng);

/* The same, but the pages of a block take turns, always in the same order; within a page
 * the order is by chance. Who follows the pages that were visited last, and fewer than a
 * block has, follows none of them. */
struct link *chain_rounds(const struct ground_plan *ground, uint64_t bytes, uint64_t block,
                          struct rng *rng);

/* All pairs of neighbouring units by chance, but half a lap between the two of a pair. What
 * holds more than half of it still has the one when the other is visited. */
struct link *chain_apart(const struct ground_plan *ground, uint64_t bytes, struct rng *rng);

/* One link in each page, at a unit that differs from page to page. */
struct link *chain_pages(const struct ground_plan *ground, uint64_t pages, struct rng *rng);

/* A ring of its own for each page of `bytes`; each begins at the page's first unit. */
struct link *chain_blocks(const struct ground_plan *ground, uint64_t bytes,
                          struct rng *rng);

#endif
