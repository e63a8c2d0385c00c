/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Replacement policies: least recently used, tree pseudo-LRU, first in first out,
 * random.
 *
 * The tree of pseudo-LRU has a power of two of leaves, of which the first are the ways
 * of the set. Inner node n has the children 2n and 2n + 1; its bit is set where the
 * next victim is to be looked for on the right. Where no way is on the right, the bit
 * is not asked, so a way that is not there is never picked. */
#include "policy.h"
#include "cache.h"

/* Whether the left one of two neighbouring groups of ways has the newest stamp. */
static bool left_is_newer(const struct sim_way *at, uint32_t half, uint32_t room)
{
    uint64_t left = 0, right = 0;
    for (uint32_t i = 0; i < half; i++)
        left = at[i].stamp > left ? at[i].stamp : left;
    for (uint32_t i = half; i < 2 * half && i < room; i++)
        right = at[i].stamp > right ? at[i].stamp : right;
    return left > right;
}

/* The bit of a node leads away from the way below it that was visited last; stamps say the
 * same. */
static uint32_t tree_victim(struct cache *cache, uint64_t set)
{
    bool stamped = cache->touch == TOUCH_STAMP;
    const struct sim_way *at = stamped ? cache_ways(cache, set) : NULL;
    uint64_t tree = stamped ? 0 : cache_head(cache, set)->tree;
    uint32_t room = cache_room(cache, set), node = 1, first = 0;
    for (uint32_t half = cache->leaves >> 1; half; half >>= 1) {
        uint32_t right = first + half < room;
        if (right)
            right =
                stamped ? left_is_newer(at + first, half, room - first) : tree >> node & 1;
        node = 2 * node + right;
        first += right * half;
    }
    return first;
}

static uint32_t random_victim(struct cache *cache, uint64_t set)
{
    return (uint32_t)rng_below(&cache->rng, cache_room(cache, set));
}

const struct policy policies[POLICIES] = {
    [STRATA_LRU] = {.name = "lru", .promotes = true},
    [STRATA_PLRU] = {.name = "plru", .tree = true, .victim = tree_victim},
    [STRATA_FIFO] = {.name = "fifo"},
    [STRATA_RANDOM] = {.name = "random", .victim = random_victim},
};
