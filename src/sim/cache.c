/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A set-associative array of keys: making, filling and emptying it. What is done for
 * every access is inlined from cache.h; sets of more than 16 ways are in large.c. */
#include "cache.h"
#include "large.h"

/* What was allocated is noted before the part that is used. */
void *cache_allocate(const struct allocator *allocator, uint64_t count, size_t size)
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

void cache_free(const struct allocator *allocator, void *part)
{
    if (part)
        allocator->release(allocator->context, ((void **)part)[-1]);
}

/* The occupied share of each set in whole ways: the product is carried from set to set
 * in 32.32 fixed point, so that the average over sets is right. */
static int init_room(struct cache *cache, double occupied,
                     const struct allocator *allocator)
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
static int init_small(struct cache *cache, const struct allocator *allocator)
{
    const uint64_t size = sizeof *cache->heads;
    uint64_t keys = cache->near ? 0 : cache->ways * sizeof *cache->heads->keys;
    cache->stride = size + (keys + size - 1) / size * size;
    cache->heads = cache_allocate(allocator, cache->sets, (size_t)cache->stride);
    if (cache->near)
        cache->nodes =
            cache_allocate(allocator, cache->sets * cache->ways, sizeof *cache->nodes);
    return cache->heads && (cache->nodes || !cache->near) ? 0 : -1;
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

static int init_trees(struct cache *cache, const struct allocator *allocator)
{
    if (!cache->policy->tree)
        return 0;
    cache->leaves = 1;
    while (cache->leaves < cache->ways)
        cache->leaves *= 2;
    if (cache->leaves > POLICY_TREE_WAYS)
        return -1;
    if (cache->touch == TOUCH_STAMP)
        return 0;
    cache->branches = cache_allocate(allocator, cache->ways, sizeof *cache->branches);
    if (!cache->branches)
        return -1;
    for (uint32_t way = 0; way < cache->ways; way++)
        cache->branches[way] = branch_to(cache->leaves, way);
    return 0;
}

static uint8_t touch_of(const struct policy *policy, bool stamps)
{
    if (!policy->promotes && !policy->tree)
        return TOUCH_NOTHING;
    return stamps ? TOUCH_STAMP : policy->tree ? TOUCH_TREE : TOUCH_ORDER;
}

int cache_init(struct cache *cache, const struct cache_shape *shape,
               const struct allocator *allocator)
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
        .near = shape->near,
        .policy = policy,
        .plain = !policy->victim && !large && !(shape->occupied > 0) && !shape->near,
        .oldest = (uint8_t)(4 * (shape->ways - 1)),
        .stamped = !large && shape->near && policy->promotes,
        .touch = touch_of(policy, large || shape->near),
        .clock = shape->clock ? shape->clock : &cache->ticks,
    };
    if (init_room(cache, shape->occupied, allocator) ||
        (cache->large ? large_init : init_small)(cache, allocator) ||
        init_trees(cache, allocator))
        return -1;
    cache_clear(cache);
    return 0;
}

void cache_release(struct cache *cache, const struct allocator *allocator)
{
    cache_free(allocator, cache->room);
    cache_free(allocator, cache->heads);
    cache_free(allocator, cache->branches);
    large_release(cache, allocator);
    *cache = (struct cache){0};
}

/* Ways that hold nothing have the oldest stamp there is. Ways that are not there have the
 * newest. */
static void clear_near(struct cache *cache, uint64_t set)
{
    struct sim_way *at = cache_ways(cache, set);
    uint32_t room = cache_room(cache, set);
    for (uint32_t way = 0; way < cache->ways; way++) {
        uint64_t stamp = way < room || cache->policy->tree ? 0 : UINT64_MAX;
        at[way] = (struct sim_way){CACHE_NONE, stamp};
    }
}

static void clear_small(struct cache *cache)
{
    for (uint64_t set = 0; set < cache->sets; set++) {
        struct cache_head *head = cache_head(cache, set);
        *head = (struct cache_head){.order = order_initial(cache_room(cache, set))};
        if (cache->near)
            clear_near(cache, set);
        for (uint32_t way = 0; way < cache->ways && !cache->near; way++)
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

/* Ways that hold nothing are the oldest of a small set. */
static uint32_t way_to_fill(struct cache *cache, uint64_t set, struct cache_head *head)
{
    uint32_t way = order_oldest(head->order, cache_room(cache, set));
    if (cache->policy->victim && *cache_key(cache, set, way) != CACHE_NONE)
        way = cache->policy->victim(cache, set);
    return way;
}

static uint64_t fill_small(struct cache *cache, uint64_t set, uint64_t key)
{
    struct cache_head *head = cache_head(cache, set);
    uint32_t way = way_to_fill(cache, set, head);
    uint64_t *at = cache_key(cache, set, way), gone = *at;
    *at = key;
    head->marks[way] = cache_mark(key);
    head->order = order_promote(head->order, way);
    cache->filled = way;
    if (cache->touch == TOUCH_STAMP)
        cache_ways(cache, set)[way].stamp = cache_tick(cache->clock);
    else if (cache->touch == TOUCH_TREE)
        cache_turn(cache, &head->tree, way);
    return gone;
}

uint64_t cache_fill_otherwise(struct cache *cache, uint64_t set, uint64_t key)
{
    if (cache->stamped)
        return cache_fill_stamped(cache, set, key);
    return cache->large ? large_fill(cache, set, key) : fill_small(cache, set, key);
}

static void vacate_small(struct cache *cache, uint64_t set, uint32_t way)
{
    struct cache_head *head = cache_head(cache, set);
    *cache_key(cache, set, way) = CACHE_NONE;
    head->order = order_demote(head->order, way, cache_room(cache, set));
    if (cache->stamped)
        cache_ways(cache, set)[way].stamp = 0;
}

void cache_vacate(struct cache *cache, uint64_t set, uint32_t way)
{
    if (cache->large)
        large_vacate(cache, set, way);
    else
        vacate_small(cache, set, way);
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
            uint64_t key = *cache_key(cache, set, way);
            if (key != CACHE_NONE && key >= first && key <= last)
                cache_vacate(cache, set, way);
        }
}
