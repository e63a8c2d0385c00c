/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A set-associative array of keys: making, filling and emptying it. What is done for
 * every access is inlined from cache.h; sets of more than 16 ways are in large.c. */
#include "cache.h"
#include "large.h"

/* What was allocated is noted before the part that is used. */
void *cache_allocate(const struct sim_allocator *allocator, uint64_t count, size_t size)
{
    const size_t line = 64, more = line - 1 + sizeof(void *);
    if (count > (SIZE_MAX - more) / size)
        return NULL;
    void *block = allocator->allocate(allocator->context, (size_t)count * size + more);
    if (!block)
        return NULL;
    uintptr_t skip = line - ((uintptr_t)block + sizeof block - 1) % line - 1;
    void **part = (void **)((char *)block + skip + sizeof block);
    part[-1] = block;
    return part;
}

void cache_free(const struct sim_allocator *allocator, void *part)
{
    if (part)
        allocator->release(allocator->context, ((void **)part)[-1]);
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

/* A head begins at a multiple of its own size, so that it is in one line of the caches. */
static int init_small(struct cache *cache, const struct sim_allocator *allocator)
{
    const uint64_t size = sizeof *cache->heads;
    uint64_t keys = cache->ways * sizeof *cache->heads->keys;
    cache->stride = size + (keys + size - 1) / size * size;
    cache->heads = cache_allocate(allocator, cache->sets, (size_t)cache->stride);
    return cache->heads ? 0 : -1;
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
    if (cache->large)
        cache->trees = cache_allocate(allocator, cache->sets, sizeof *cache->trees);
    if (!cache->branches || (cache->large && !cache->trees))
        return -1;
    for (uint32_t way = 0; way < cache->ways; way++)
        cache->branches[way] = branch_to(cache->leaves, way);
    return 0;
}

static uint8_t touch_of(const struct policy *policy, bool large)
{
    if (policy->promotes)
        return large ? TOUCH_QUEUE : TOUCH_ORDER;
    return policy->tree ? TOUCH_TREE : TOUCH_NOTHING;
}

int cache_init(struct cache *cache, const struct cache_shape *shape,
               const struct sim_allocator *allocator)
{
    bool power = (shape->sets & (shape->sets - 1)) == 0;
    bool large = shape->ways > ORDER_MAX;
    const struct policy *policy = &policies[shape->policy];
    *cache = (struct cache){
        .sets = shape->sets,
        .mask = shape->sets - 1,
        .modulo = power ? 0 : shape->sets,
        .inverse = UINT64_MAX / shape->sets,
        .ways = shape->ways,
        .every = large ? 0 : (UINT32_C(1) << shape->ways) - 1,
        .large = large,
        .alone = large && shape->sets == 1 && policy->promotes,
        .policy = policy,
        .plain = !policy->victim && !large && !(shape->occupied > 0),
        .oldest = (uint8_t)(4 * (shape->ways - 1)),
        .touch = touch_of(policy, large),
    };
    if (init_room(cache, shape->occupied, allocator) ||
        (cache->large ? large_init : init_small)(cache, allocator) ||
        init_trees(cache, allocator))
        return -1;
    cache_clear(cache);
    return 0;
}

void cache_release(struct cache *cache, const struct sim_allocator *allocator)
{
    cache_free(allocator, cache->room);
    cache_free(allocator, cache->heads);
    cache_free(allocator, cache->trees);
    cache_free(allocator, cache->branches);
    large_release(cache, allocator);
    *cache = (struct cache){0};
}

static void clear_small(struct cache *cache)
{
    for (uint64_t set = 0; set < cache->sets; set++) {
        struct cache_head *head = cache_head(cache, set);
        *head = (struct cache_head){.order = order_initial(cache_room(cache, set))};
        for (uint32_t way = 0; way < cache->ways; way++)
            head->keys[way] = CACHE_NONE;
    }
}

void cache_clear(struct cache *cache)
{
    if (cache->large)
        large_clear(cache);
    else
        clear_small(cache);
}

void cache_seed(struct cache *cache, uint64_t seed)
{
    cache->rng.state = seed;
}

void cache_touch_otherwise(struct cache *cache, uint64_t set, uint32_t way)
{
    if (cache->touch == TOUCH_QUEUE)
        large_visit(cache, set, way);
    else
        cache_turn(cache, cache_tree(cache, set), way);
}

void cache_touch_at_otherwise(struct cache *cache, const uint64_t *at)
{
    if (cache->touch == TOUCH_NOTHING)
        return;
    if (cache->large) {
        uint64_t node = (uint64_t)(at - cache->keys);
        uint64_t set = cache->sets > 1 ? node / cache->ways : 0;
        cache_touch_otherwise(cache, set, (uint32_t)(node - set * cache->ways));
    } else {
        uint64_t bytes = (uint64_t)((const char *)at - (const char *)cache->heads);
        struct cache_head *head = cache_head(cache, bytes / cache->stride);
        cache_turn(cache, &head->tree, (uint32_t)(at - head->keys));
    }
}

/* Ways that hold nothing are the oldest of a small set. */
static uint64_t fill_small(struct cache *cache, uint64_t set, uint64_t key)
{
    struct cache_head *head = cache_head(cache, set);
    uint64_t *keys = head->keys;
    uint32_t way = order_oldest(head->order, cache_room(cache, set));
    if (cache->policy->victim && keys[way] != CACHE_NONE)
        way = cache->policy->victim(cache, set);
    uint64_t gone = keys[way];
    keys[way] = key;
    head->marks[way] = cache_mark(key);
    head->order = order_promote(head->order, way);
    if (cache->branches)
        cache_turn(cache, &head->tree, way);
    return gone;
}

uint64_t cache_fill_otherwise(struct cache *cache, uint64_t set, uint64_t key)
{
    return cache->large ? large_fill(cache, set, key) : fill_small(cache, set, key);
}

void cache_vacate(struct cache *cache, uint64_t set, uint32_t way)
{
    if (cache->large) {
        large_vacate(cache, set, way);
        return;
    }
    struct cache_head *head = cache_head(cache, set);
    head->keys[way] = CACHE_NONE;
    head->order = order_demote(head->order, way, cache_room(cache, set));
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
            uint64_t key = *cache_place(cache, set, way).at;
            if (key != CACHE_NONE && key >= first && key <= last)
                cache_vacate(cache, set, way);
        }
}
