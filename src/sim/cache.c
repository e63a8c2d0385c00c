/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A set-associative array of keys: making, filling and emptying it. What is done for
 * every access is inlined from cache.h; sets of more than 16 ways are in large.c. */
#include "cache.h"
#include "large.h"

void *cache_allocate(const struct sim_allocator *allocator, uint64_t count, size_t size)
{
    if (count > SIZE_MAX / size)
        return NULL;
    return allocator->allocate(allocator->context, (size_t)count * size);
}

void cache_free(const struct sim_allocator *allocator, void *block)
{
    if (block)
        allocator->release(allocator->context, block);
}

/* The occupied share of each set in whole ways: the product is carried from set to set
 * in 32.32 fixed point, so that the average over sets is right. */
static int init_room(struct cache *cache, double occupied,
                     const struct sim_allocator *allocator)
{
    if (!(occupied > 0))
        return 0;
    cache->room = cache_allocate(allocator, cache->sets, sizeof *cache->room);
    if (!cache->room)
        return -1;
    uint64_t share = (uint64_t)(occupied * cache->ways * 0x1p32 + 0.5);
    uint64_t carried = UINT64_C(1) << 31;
    for (uint64_t set = 0; set < cache->sets; set++) {
        carried = (carried & UINT32_MAX) + share;
        uint64_t taken = carried >> 32;
        cache->room[set] = taken < cache->ways ? cache->ways - (uint32_t)taken : 1;
    }
    return 0;
}

static int init_small(struct cache *cache, const struct sim_allocator *allocator)
{
    cache->stride = cache_keys_at(cache) + cache->ways + cache->policy->tree;
    if (cache->sets > UINT64_MAX / cache->stride)
        return -1;
    cache->blocks =
        cache_allocate(allocator, cache->sets * cache->stride, sizeof *cache->blocks);
    return cache->blocks ? 0 : -1;
}

/* The path of a way in a tree whose inner node n has the children 2n and 2n + 1. */
static struct cache_branch branch_to(uint32_t leaves, uint32_t way)
{
    struct cache_branch branch = {0, 0};
    for (uint32_t node = leaves + way; node > 1; node >>= 1) {
        uint64_t bit = UINT64_C(1) << (node >> 1);
        branch.path |= bit;
        branch.away |= node & 1 ? 0 : bit;
    }
    return branch;
}

static int init_trees(struct cache *cache, const struct sim_allocator *allocator)
{
    if (!cache->policy->tree)
        return 0;
    cache->leaves = 1;
    while (cache->leaves < cache->ways)
        cache->leaves *= 2;
    if (cache->leaves > POLICY_TREE_WAYS)
        return -1;
    cache->branches = cache_allocate(allocator, cache->ways, sizeof *cache->branches);
    if (cache->form == CACHE_LARGE)
        cache->trees = cache_allocate(allocator, cache->sets, sizeof *cache->trees);
    if (!cache->branches || (cache->form == CACHE_LARGE && !cache->trees))
        return -1;
    for (uint32_t way = 0; way < cache->ways; way++)
        cache->branches[way] = branch_to(cache->leaves, way);
    return 0;
}

static uint8_t form_of(uint32_t ways)
{
    return ways <= 8 ? CACHE_EIGHT : ways <= ORDER_MAX ? CACHE_SIXTEEN : CACHE_LARGE;
}

static uint8_t touch_of(const struct cache_shape *shape)
{
    const struct policy *policy = &policies[shape->policy];
    bool small = shape->ways <= ORDER_MAX;
    if (policy->promotes)
        return small ? TOUCH_ORDER : shape->sets == 1 ? TOUCH_QUEUE : TOUCH_OTHERWISE;
    if (policy->tree)
        return small ? TOUCH_TREE : TOUCH_OTHERWISE;
    return TOUCH_NOTHING;
}

int cache_init(struct cache *cache, const struct cache_shape *shape,
               const struct sim_allocator *allocator)
{
    bool power = (shape->sets & (shape->sets - 1)) == 0;
    const struct policy *policy = &policies[shape->policy];
    *cache = (struct cache){
        .sets = shape->sets,
        .mask = shape->sets - 1,
        .modulo = power ? 0 : shape->sets,
        .ways = shape->ways,
        .form = form_of(shape->ways),
        .policy = policy,
        .promotes = policy->promotes,
        .plain = !policy->victim && shape->ways <= ORDER_MAX && !(shape->occupied > 0),
        .oldest = (uint8_t)(4 * (shape->ways - 1)),
        .touch = touch_of(shape),
    };
    if (init_room(cache, shape->occupied, allocator) ||
        (cache->form == CACHE_LARGE ? large_init : init_small)(cache, allocator) ||
        init_trees(cache, allocator))
        return -1;
    cache_clear(cache);
    return 0;
}

void cache_release(struct cache *cache, const struct sim_allocator *allocator)
{
    cache_free(allocator, cache->room);
    cache_free(allocator, cache->blocks);
    cache_free(allocator, cache->trees);
    cache_free(allocator, cache->branches);
    large_release(cache, allocator);
    *cache = (struct cache){0};
}

static void clear_small(struct cache *cache)
{
    uint64_t *block = cache->blocks;
    uint32_t keys = cache_keys_at(cache);
    for (uint64_t set = 0; set < cache->sets; set++, block += cache->stride) {
        block[0] = order_initial(cache_room(cache, set));
        for (uint32_t word = 1; word < cache->stride; word++)
            block[word] = word >= keys && word < keys + cache->ways ? CACHE_NONE : 0;
    }
}

void cache_clear(struct cache *cache)
{
    if (cache->form == CACHE_LARGE)
        large_clear(cache);
    else
        clear_small(cache);
}

void cache_seed(struct cache *cache, uint64_t seed)
{
    cache->rng.state = seed;
}

uint64_t cache_key(const struct cache *cache, uint64_t set, uint32_t way)
{
    return cache->form == CACHE_LARGE
               ? cache->keys[set * cache->ways + way]
               : cache->blocks[set * cache->stride + cache_keys_at(cache) + way];
}

/* Ways that hold nothing are the oldest of a small set. */
static uint64_t fill_small(struct cache *cache, uint64_t set, uint64_t key)
{
    uint64_t *block = cache->blocks + set * cache->stride;
    uint64_t *keys = block + cache_keys_at(cache);
    uint32_t way = order_oldest(block[0], cache_room(cache, set));
    if (cache->policy->victim && keys[way] != CACHE_NONE)
        way = cache->policy->victim(cache, set);
    uint64_t gone = keys[way];
    keys[way] = key;
    cache_set_mark(block, way, cache_mark(key));
    block[0] = order_promote(block[0], way);
    if (cache->branches)
        cache_turn(cache, cache_tree(cache, set), way);
    return gone;
}

uint64_t cache_fill_otherwise(struct cache *cache, uint64_t set, uint64_t key)
{
    return cache->form == CACHE_LARGE ? large_fill(cache, set, key)
                                      : fill_small(cache, set, key);
}

void cache_vacate(struct cache *cache, uint64_t set, uint32_t way)
{
    if (cache->form == CACHE_LARGE) {
        large_vacate(cache, set, way);
        return;
    }
    uint64_t *block = cache->blocks + set * cache->stride;
    block[cache_keys_at(cache) + way] = CACHE_NONE;
    cache_set_mark(block, way, 0);
    block[0] = order_demote(block[0], way, cache_room(cache, set));
}

bool cache_remove(struct cache *cache, uint64_t set, uint64_t key)
{
    uint32_t way = cache_find(cache, set, key);
    if (way == CACHE_NO_WAY)
        return false;
    cache_vacate(cache, set, way);
    return true;
}

void cache_purge(struct cache *cache, uint64_t first, uint64_t last)
{
    for (uint64_t set = 0; set < cache->sets; set++)
        for (uint32_t way = 0; way < cache->ways; way++) {
            uint64_t key = cache_key(cache, set, way);
            if (key != CACHE_NONE && key >= first && key <= last)
                cache_vacate(cache, set, way);
        }
}

struct cache_place cache_place(const struct cache *cache, uint64_t set, uint32_t way)
{
    if (cache->form == CACHE_LARGE)
        return (struct cache_place){cache->keys + set * cache->ways + way, 0, 0};
    return (struct cache_place){cache->blocks + set * cache->stride,
                                (uint8_t)(cache_keys_at(cache) + way), (uint8_t)way};
}

void cache_touch_at(struct cache *cache, uint64_t *at, uint32_t way)
{
    if (cache_is_simple(cache, cache->touch)) {
        cache_touch_simply(cache, cache->touch, at, way);
    } else {
        uint32_t node = (uint32_t)(at - cache->keys);
        cache_touch(cache, node / cache->ways, node % cache->ways);
    }
}
