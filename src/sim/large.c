/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The large form of an array: its hash index and its lists by age. */
#include "large.h"

int large_init(struct cache *cache, const struct allocator *allocator)
{
    uint64_t nodes = cache->sets * cache->ways;
    if (nodes >= CACHE_NO_NODE / 8)
        return -1;
    cache->bucket_shift = 64 - 5;
    while (UINT64_C(1) << (64 - cache->bucket_shift) < 2 * nodes) /* short chains */
        cache->bucket_shift--;
    cache->nodes = cache_allocate(allocator, nodes, sizeof *cache->nodes);
    cache->times = cache->nodes;
    if (cache->near && cache->touch == TOUCH_NOTHING)
        cache->times = cache_allocate(allocator, nodes, sizeof *cache->times);
    cache->chains = cache_allocate(allocator, nodes, sizeof *cache->chains);
    cache->ages = cache_allocate(allocator, nodes, sizeof *cache->ages);
    cache->spares = cache_allocate(allocator, nodes, sizeof *cache->spares);
    cache->lists = cache_allocate(allocator, cache->sets, sizeof *cache->lists);
    cache->buckets = cache_allocate(allocator, UINT64_C(1) << (64 - cache->bucket_shift),
                                    sizeof *cache->buckets);
    return cache->nodes && cache->times && cache->chains && cache->ages && cache->spares &&
                   cache->lists && cache->buckets
               ? 0
               : -1;
}

void large_release(struct cache *cache, const struct allocator *allocator)
{
    if (cache->times != cache->nodes)
        cache_free(allocator, cache->times);
    cache_free(allocator, cache->nodes);
    cache_free(allocator, cache->chains);
    cache_free(allocator, cache->ages);
    cache_free(allocator, cache->spares);
    cache_free(allocator, cache->lists);
    cache_free(allocator, cache->buckets);
}

void large_clear(struct cache *cache)
{
    for (uint64_t i = 0; i >> (64 - cache->bucket_shift) == 0; i++)
        cache->buckets[i] = CACHE_NO_NODE;
    for (uint64_t node = 0; node < cache->sets * cache->ways; node++)
        cache->nodes[node] = cache->times[node] = (struct sim_way){CACHE_NONE, 0};
    for (uint64_t set = 0; set < cache->sets; set++) {
        uint32_t room = cache_room(cache, set);
        cache->lists[set] = (struct cache_list){.next = room, .spare = room};
        for (uint32_t i = 0; i < room; i++) { /* way 0 is filled first */
            cache->spares[set * cache->ways + i] = room - 1 - i;
            cache->ages[set * cache->ways + i] = i;
        }
    }
}

static uint32_t *bucket_of(const struct cache *cache, uint64_t key)
{
    return &cache->buckets[cache_hash(key) >> cache->bucket_shift];
}

static void chain_remove(struct cache *cache, uint32_t node)
{
    uint32_t *link = bucket_of(cache, cache->nodes[node].key);
    while (*link != node)
        link = &cache->chains[*link];
    *link = cache->chains[node];
}

static void chain_insert(struct cache *cache, uint32_t node)
{
    uint32_t *bucket = bucket_of(cache, cache->nodes[node].key);
    cache->chains[node] = *bucket;
    *bucket = node;
}

uint32_t cache_find_large(const struct cache *cache, uint64_t set, uint64_t key)
{
    uint32_t node = *bucket_of(cache, key);
    while (node != CACHE_NO_NODE && cache->nodes[node].key != key)
        node = cache->chains[node];
    return node == CACHE_NO_NODE ? CACHE_NO_WAY : node - (uint32_t)set * cache->ways;
}

/* Sorts ways by stamp, by Shell's method: short, in place, and needs no luck. */
static void sort_by_age(uint32_t *ways, uint32_t n, const struct sim_way *of)
{
    static const uint32_t gaps[] = {3905, 1750, 701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (uint32_t i = gaps[g]; i < n; i++) {
            uint32_t way = ways[i], at = i;
            uint64_t stamp = of[way].stamp;
            for (; at >= gaps[g] && of[ways[at - gaps[g]]].stamp > stamp; at -= gaps[g])
                ways[at] = ways[at - gaps[g]];
            ways[at] = way;
        }
}

/* Makes a list by age from the last one. Ways that were filled in turn are still in order;
 * only those that were visited since have to be sorted, and merged with the rest. No way is
 * a spare, so there is room for them. */
static void list_by_age(struct cache *cache, uint64_t set)
{
    uint32_t *ages = cache->ages + set * cache->ways, n = cache_room(cache, set), kept = n;
    uint32_t *moved = cache->spares + set * cache->ways, nmoved = 0;
    const struct sim_way *at = cache->times + set * cache->ways;
    uint64_t before = UINT64_MAX;
    for (uint32_t i = n; i-- > 0;) {
        uint32_t way = ages[i];
        if (at[way].stamp < before) {
            before = at[way].stamp;
            ages[--kept] = way;
        } else {
            moved[nmoved++] = way;
        }
    }
    sort_by_age(moved, nmoved, at);
    for (uint32_t to = 0, i = 0; i < nmoved; to++) {
        bool first = kept == n || at[moved[i]].stamp < at[ages[kept]].stamp;
        ages[to] = first ? moved[i++] : ages[kept++];
    }
}

/* The oldest way of a set in which all hold something. */
static uint32_t oldest_way(struct cache *cache, uint64_t set)
{
    struct cache_list *list = &cache->lists[set];
    const uint32_t *ages = cache->ages + set * cache->ways;
    const struct sim_way *at = cache->times + set * cache->ways;
    uint32_t room = cache_room(cache, set);
    while (list->next < room && at[ages[list->next]].stamp > list->made)
        list->next++;
    if (list->next == room) {
        list_by_age(cache, set);
        list->made = *cache->clock;
        list->next = 0;
    }
    return ages[list->next];
}

static uint32_t way_to_fill(struct cache *cache, uint64_t set)
{
    struct cache_list *list = &cache->lists[set];
    if (list->spare)
        return cache->spares[set * cache->ways + --list->spare];
    return cache->policy->victim ? cache->policy->victim(cache, set)
                                 : oldest_way(cache, set);
}

uint64_t large_fill(struct cache *cache, uint64_t set, uint64_t key)
{
    uint32_t way = way_to_fill(cache, set);
    uint32_t node = (uint32_t)set * cache->ways + way;
    uint64_t gone = cache->nodes[node].key;
    if (gone != CACHE_NONE)
        chain_remove(cache, node);
    cache->nodes[node].key = key;
    chain_insert(cache, node);
    cache->times[node].stamp = cache_tick(cache->clock);
    cache->filled = way;
    return gone;
}

/* Its stamp stays: a tree is not turned by this. It is visited before it counts again. */
void large_vacate(struct cache *cache, uint64_t set, uint32_t way)
{
    uint32_t node = (uint32_t)set * cache->ways + way;
    chain_remove(cache, node);
    cache->nodes[node].key = CACHE_NONE;
    cache->spares[set * cache->ways + cache->lists[set].spare++] = way;
}
