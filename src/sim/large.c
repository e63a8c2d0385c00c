/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The large form of an array: its hash index and its queues. */
#include "large.h"

int large_init(struct cache *cache, const struct sim_allocator *allocator)
{
    uint64_t nodes = cache->sets * cache->ways;
    /* A larger queue is packed less often; but many of them should stay near. */
    cache->queue_size = cache->ways * (cache->sets == 1 ? 8 : 2);
    if (nodes >= CACHE_NO_NODE / 8)
        return -1;
    cache->bucket_shift = 64 - 5;
    while (UINT64_C(1) << (64 - cache->bucket_shift) < 2 * nodes) /* short chains */
        cache->bucket_shift--;
    cache->keys = cache_allocate(allocator, nodes, sizeof *cache->keys);
    cache->chains = cache_allocate(allocator, nodes, sizeof *cache->chains);
    cache->turns = cache_allocate(allocator, nodes, sizeof *cache->turns);
    cache->spares = cache_allocate(allocator, nodes, sizeof *cache->spares);
    cache->visits =
        cache_allocate(allocator, cache->sets * cache->queue_size, sizeof *cache->visits);
    cache->queues = cache_allocate(allocator, cache->sets, sizeof *cache->queues);
    cache->buckets = cache_allocate(allocator, UINT64_C(1) << (64 - cache->bucket_shift),
                                    sizeof *cache->buckets);
    return cache->keys && cache->chains && cache->turns && cache->spares && cache->visits &&
                   cache->queues && cache->buckets
               ? 0
               : -1;
}

void large_release(struct cache *cache, const struct sim_allocator *allocator)
{
    cache_free(allocator, cache->keys);
    cache_free(allocator, cache->chains);
    cache_free(allocator, cache->turns);
    cache_free(allocator, cache->spares);
    cache_free(allocator, cache->visits);
    cache_free(allocator, cache->queues);
    cache_free(allocator, cache->buckets);
}

void large_clear(struct cache *cache)
{
    for (uint64_t i = 0; i >> (64 - cache->bucket_shift) == 0; i++)
        cache->buckets[i] = CACHE_NO_NODE;
    for (uint64_t node = 0; node < cache->sets * cache->ways; node++) {
        cache->keys[node] = CACHE_NONE;
        cache->turns[node] = CACHE_NO_TURN;
    }
    for (uint64_t set = 0; set < cache->sets; set++) {
        uint32_t room = cache_room(cache, set);
        cache->queues[set] = (struct cache_queue){.spare = room};
        for (uint32_t i = 0; i < room; i++) /* way 0 is filled first */
            cache->spares[set * cache->ways + i] = room - 1 - i;
        if (cache->trees)
            cache->trees[set] = 0;
    }
}

static uint32_t *bucket_of(const struct cache *cache, uint64_t key)
{
    return &cache->buckets[cache_hash(key) >> cache->bucket_shift];
}

static void chain_remove(struct cache *cache, uint32_t node)
{
    uint32_t *link = bucket_of(cache, cache->keys[node]);
    while (*link != node)
        link = &cache->chains[*link];
    *link = cache->chains[node];
}

static void chain_insert(struct cache *cache, uint32_t node)
{
    uint32_t *bucket = bucket_of(cache, cache->keys[node]);
    cache->chains[node] = *bucket;
    *bucket = node;
}

static void pack(struct cache *cache, uint64_t set)
{
    struct cache_queue *queue = &cache->queues[set];
    uint32_t *visits = cache->visits + set * cache->queue_size, n = 0;
    uint32_t *turns = cache->turns + set * cache->ways;
    for (uint32_t i = queue->head; i < queue->tail; i++) {
        uint32_t way = visits[i];
        if (turns[way] != i)
            continue;
        visits[n] = way;
        turns[way] = n++;
    }
    queue->head = 0;
    queue->tail = n;
}

void large_visit(struct cache *cache, uint64_t set, uint32_t way)
{
    struct cache_queue *queue = &cache->queues[set];
    uint32_t *turn = &cache->turns[set * cache->ways + way];
    if (queue->tail == cache->queue_size)
        pack(cache, set);
    cache->visits[set * cache->queue_size + queue->tail] = way;
    *turn = queue->tail++;
}

uint32_t cache_find_large(const struct cache *cache, uint64_t set, uint64_t key)
{
    uint32_t node = *bucket_of(cache, key);
    while (node != CACHE_NO_NODE && cache->keys[node] != key)
        node = cache->chains[node];
    return node == CACHE_NO_NODE ? CACHE_NO_WAY : node - (uint32_t)set * cache->ways;
}

static uint32_t oldest_way(struct cache *cache, uint64_t set)
{
    struct cache_queue *queue = &cache->queues[set];
    const uint32_t *visits = cache->visits + set * cache->queue_size;
    const uint32_t *turns = cache->turns + set * cache->ways;
    while (turns[visits[queue->head]] != queue->head)
        queue->head++;
    return visits[queue->head];
}

static uint32_t way_to_fill(struct cache *cache, uint64_t set)
{
    struct cache_queue *queue = &cache->queues[set];
    if (queue->spare)
        return cache->spares[set * cache->ways + --queue->spare];
    return cache->policy->victim ? cache->policy->victim(cache, set)
                                 : oldest_way(cache, set);
}

uint64_t large_fill(struct cache *cache, uint64_t set, uint64_t key)
{
    uint32_t way = way_to_fill(cache, set);
    uint32_t node = (uint32_t)set * cache->ways + way;
    uint64_t gone = cache->keys[node];
    if (gone != CACHE_NONE)
        chain_remove(cache, node);
    cache->keys[node] = key;
    chain_insert(cache, node);
    if (!cache->policy->victim)
        large_visit(cache, set, way);
    if (cache->branches)
        cache_turn(cache, cache_tree(cache, set), way);
    return gone;
}

void large_vacate(struct cache *cache, uint64_t set, uint32_t way)
{
    uint32_t node = (uint32_t)set * cache->ways + way;
    chain_remove(cache, node);
    cache->keys[node] = CACHE_NONE;
    cache->turns[node] = CACHE_NO_TURN; /* its visits count no more */
    cache->spares[set * cache->ways + cache->queues[set].spare++] = way;
}
