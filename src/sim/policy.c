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

static void tree_touch(struct cache *cache, uint64_t set, uint32_t way)
{
    uint64_t *tree = cache->trees + set * cache->tree_words;
    for (uint32_t node = cache->tree_leaves + way; node > 1; node >>= 1) {
        uint32_t parent = node >> 1;
        uint64_t bit = UINT64_C(1) << (parent & 63);
        if (node & 1)
            tree[parent >> 6] &= ~bit;
        else
            tree[parent >> 6] |= bit;
    }
}

static uint32_t tree_victim(struct cache *cache, uint64_t set)
{
    const uint64_t *tree = cache->trees + set * cache->tree_words;
    uint32_t room = cache_room(cache, set), node = 1, first = 0;
    for (uint32_t half = cache->tree_leaves >> 1; half; half >>= 1) {
        uint32_t right = tree[node >> 6] >> (node & 63) & 1 && first + half < room;
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
    [STRATA_LRU] = {.name = "lru", .touch = cache_promote},
    [STRATA_PLRU] = {.name = "plru",
                     .touch = tree_touch,
                     .fill = tree_touch,
                     .victim = tree_victim,
                     .tree = 1},
    [STRATA_FIFO] = {.name = "fifo"},
    [STRATA_RANDOM] = {.name = "random", .victim = random_victim},
};
