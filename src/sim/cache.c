/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A set-associative array of keys: making, filling and emptying it. What is done for
 * every access is inlined from cache.h. */
#include "cache.h"

static void *allocate(const struct sim_allocator *allocator, uint64_t count, size_t size)
{
    if (count > SIZE_MAX / size)
        return NULL;
    return allocator->allocate(allocator->context, (size_t)count * size);
}

static void release(const struct sim_allocator *allocator, void *block)
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
    cache->room = allocate(allocator, cache->sets, sizeof *cache->room);
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
    cache->stride = cache_keys_at(cache) + cache->ways + (cache->policy->tree ? 1 : 0);
    cache->blocks =
        allocate(allocator, cache->sets * cache->stride, sizeof *cache->blocks);
    return cache->blocks ? 0 : -1;
}

static int init_large(struct cache *cache, const struct sim_allocator *allocator)
{
    uint64_t nodes = cache->sets * cache->ways + cache->sets;
    if (nodes >= CACHE_NO_NODE)
        return -1;
    cache->bucket_shift = 64 - 4;
    while (UINT64_C(1) << (64 - cache->bucket_shift) < cache->sets * cache->ways)
        cache->bucket_shift--;
    cache->bucket_shift--; /* twice as many buckets as keys keeps chains short */
    cache->nodes = allocate(allocator, nodes, sizeof *cache->nodes);
    cache->buckets = allocate(allocator, UINT64_C(1) << (64 - cache->bucket_shift),
                              sizeof *cache->buckets);
    return cache->nodes && cache->buckets ? 0 : -1;
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
    cache->branches = allocate(allocator, cache->ways, sizeof *cache->branches);
    if (cache->form == CACHE_LARGE)
        cache->trees = allocate(allocator, cache->sets, sizeof *cache->trees);
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

int cache_init(struct cache *cache, const struct cache_shape *shape,
               const struct sim_allocator *allocator)
{
    bool power = (shape->sets & (shape->sets - 1)) == 0;
    *cache = (struct cache){
        .sets = shape->sets,
        .mask = shape->sets - 1,
        .modulo = power ? 0 : shape->sets,
        .ways = shape->ways,
        .form = form_of(shape->ways),
        .promotes = policies[shape->policy].promotes,
        .orders = policies[shape->policy].promotes && shape->ways <= ORDER_MAX,
        .policy = &policies[shape->policy],
    };
    if (init_room(cache, shape->occupied, allocator) ||
        (cache->form == CACHE_LARGE ? init_large : init_small)(cache, allocator) ||
        init_trees(cache, allocator))
        return -1;
    cache_clear(cache);
    return 0;
}

void cache_release(struct cache *cache, const struct sim_allocator *allocator)
{
    release(allocator, cache->room);
    release(allocator, cache->blocks);
    release(allocator, cache->nodes);
    release(allocator, cache->buckets);
    release(allocator, cache->trees);
    release(allocator, cache->branches);
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

static void clear_large(struct cache *cache)
{
    struct cache_node *nodes = cache->nodes;
    for (uint64_t i = 0; i >> (64 - cache->bucket_shift) == 0; i++)
        cache->buckets[i] = CACHE_NO_NODE;
    for (uint64_t set = 0; set < cache->sets; set++) {
        if (cache->trees)
            cache->trees[set] = 0;
        uint32_t sentinel = (uint32_t)(cache->sets * cache->ways + set);
        uint32_t first = (uint32_t)set * cache->ways, room = cache_room(cache, set);
        nodes[sentinel] = (struct cache_node){CACHE_NONE, sentinel, sentinel, CACHE_NO_NODE};
        for (uint32_t way = 0; way < cache->ways; way++) {
            nodes[first + way] = (struct cache_node){.key = CACHE_NONE};
            if (way < room)
                cache_link(nodes, first + way, sentinel);
        }
    }
}

void cache_clear(struct cache *cache)
{
    if (cache->form == CACHE_LARGE)
        clear_large(cache);
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
               ? cache->nodes[set * cache->ways + way].key
               : cache->blocks[set * cache->stride + cache_keys_at(cache) + way];
}

static void set_mark(uint64_t *block, uint32_t way, uint64_t mark)
{
    uint64_t *word = block + 1 + way / 8;
    *word = (*word & ~(UINT64_C(0xff) << way % 8 * 8)) | mark << way % 8 * 8;
}

static uint32_t *bucket_of(struct cache *cache, uint64_t key)
{
    return &cache->buckets[cache_hash(key) >> cache->bucket_shift];
}

static void chain_remove(struct cache *cache, uint32_t node)
{
    uint32_t *link = bucket_of(cache, cache->nodes[node].key);
    while (*link != node)
        link = &cache->nodes[*link].chain;
    *link = cache->nodes[node].chain;
}

static void chain_insert(struct cache *cache, uint32_t node)
{
    uint32_t *bucket = bucket_of(cache, cache->nodes[node].key);
    cache->nodes[node].chain = *bucket;
    *bucket = node;
}

/* The oldest way; if that is not free, none is, and the policy may choose another. */
static uint32_t choose(struct cache *cache, uint64_t set, uint32_t oldest, uint64_t key)
{
    return key == CACHE_NONE || !cache->policy->victim ? oldest
                                                       : cache->policy->victim(cache, set);
}

static uint64_t fill_small(struct cache *cache, uint64_t set, uint64_t key)
{
    uint64_t *block = cache->blocks + set * cache->stride;
    uint64_t *keys = block + cache_keys_at(cache);
    uint32_t way = order_oldest(block[0], cache_room(cache, set));
    way = choose(cache, set, way, keys[way]);
    uint64_t gone = keys[way];
    keys[way] = key;
    set_mark(block, way, cache_mark(key));
    block[0] = order_promote(block[0], way);
    if (cache->branches)
        cache_turn(cache, cache_tree(cache, set), way);
    return gone;
}

static uint64_t fill_large(struct cache *cache, uint64_t set, uint64_t key)
{
    struct cache_node *nodes = cache->nodes;
    uint32_t first = (uint32_t)set * cache->ways;
    uint32_t oldest = nodes[cache->sets * cache->ways + set].newer;
    uint32_t way = choose(cache, set, oldest - first, nodes[oldest].key);
    uint64_t gone = nodes[first + way].key;
    if (gone != CACHE_NONE)
        chain_remove(cache, first + way);
    nodes[first + way].key = key;
    chain_insert(cache, first + way);
    cache_promote(cache, set, way);
    if (cache->branches)
        cache_turn(cache, cache_tree(cache, set), way);
    return gone;
}

uint64_t cache_fill(struct cache *cache, uint64_t set, uint64_t key)
{
    return cache->form == CACHE_LARGE ? fill_large(cache, set, key)
                                      : fill_small(cache, set, key);
}

/* It becomes the oldest, so that it is filled next. */
void cache_vacate(struct cache *cache, uint64_t set, uint32_t way)
{
    if (cache->form != CACHE_LARGE) {
        uint64_t *block = cache->blocks + set * cache->stride;
        block[cache_keys_at(cache) + way] = CACHE_NONE;
        set_mark(block, way, 0);
        block[0] = order_demote(block[0], way, cache_room(cache, set));
        return;
    }
    struct cache_node *nodes = cache->nodes;
    uint32_t sentinel = (uint32_t)(cache->sets * cache->ways + set);
    uint32_t node = (uint32_t)set * cache->ways + way;
    chain_remove(cache, node);
    nodes[node].key = CACHE_NONE;
    cache_unlink(nodes, node);
    cache_link(nodes, node, nodes[sentinel].newer);
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
        return (struct cache_place){&cache->nodes[set * cache->ways + way].key, 0, 0};
    return (struct cache_place){cache->blocks + set * cache->stride,
                                (uint8_t)(cache_keys_at(cache) + way), (uint8_t)way};
}

void cache_touch_otherwise(struct cache *cache, struct cache_place place)
{
    if (cache->form != CACHE_LARGE) {
        if (cache->branches)
            cache_turn(cache, place.at + cache->stride - 1, place.way);
        return;
    }
    uint32_t node = (uint32_t)((struct cache_node *)(void *)place.at - cache->nodes);
    uint32_t set = cache->sets == 1 ? 0 : node / cache->ways;
    cache_touch(cache, set, node - set * cache->ways);
}
