/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A set-associative array of keys: the directory of a cache or of a TLB.
 *
 * A key is a line or page number; the caller chooses the set, so that index and key
 * may come from different addresses. Every set keeps its ways in order from newest to
 * oldest; ways that hold nothing are always the oldest, so that filling never has to
 * search for them. All policies share this order; see policy.h for what each adds.
 *
 * Three forms, because a set of 8 ways and one of 3072 need different ones:
 * - up to 8 ways, up to 16 ways: one block of words a set: the order packed into a word
 *   (order.h), one or two words of marks, the keys. A mark is a hash of the key in 7 bits
 *   and a bit that says that there is one; eight marks are compared at a time, and only
 *   keys whose mark fits are looked at. A set of 8 ways takes 80 bytes.
 * - more: nodes in a doubly linked list a set, and one hash index over all of them.
 * Find, touch, fill and remove take constant time in all (tree PLRU: the logarithm of the
 * ways, to find a victim). Memory: 10 to 16 bytes a key for small sets, about 32 for large
 * ones; tree PLRU takes a word a set more. */
#ifndef SIM_CACHE_H
#define SIM_CACHE_H

#include <core/rng.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "order.h"
#include "policy.h"
#include "sim.h"

/* What every access does is inlined even where the compiler would rather not. */
#define CACHE_HOT static inline __attribute__((always_inline))

#define CACHE_NONE UINT64_MAX     /* no key */
#define CACHE_NO_WAY UINT32_MAX   /* not found */
#define CACHE_NO_NODE UINT32_MAX  /* the end of a hash chain */

struct cache_node {
    uint64_t key;
    uint32_t newer, older; /* a ring through the set's sentinel */
    uint32_t chain;        /* the next node of the same hash bucket */
};

enum cache_form { CACHE_EIGHT, CACHE_SIXTEEN, CACHE_LARGE };

/* What a touch of a way does to the tree of pseudo-LRU. */
struct cache_branch {
    uint64_t path; /* the bits on the way from the root */
    uint64_t away; /* those of them that are set to lead elsewhere */
};

struct cache {
    uint64_t *blocks; /* up to 16 ways */
    uint64_t stride;  /* words a block */
    uint64_t mask;    /* sets - 1 where that is a mask */
    uint64_t modulo;  /* sets where it is not, else 0 */
    uint8_t form;     /* enum cache_form */
    bool promotes;    /* as policy->promotes */
    bool orders;      /* does, and the order is packed */
    uint32_t ways;
    const struct policy *policy;
    struct cache_node *nodes; /* large: sets * ways, then one sentinel a set */
    uint32_t *buckets;
    uint32_t bucket_shift; /* 64 - log2 of the number of buckets */
    uint32_t leaves;       /* of a PLRU tree, a power of two */
    uint64_t sets;
    uint32_t *room;  /* ways that are not occupied, by set; NULL: all are free */
    uint64_t *trees; /* PLRU of large sets; small ones have it at the end of the block */
    struct cache_branch *branches; /* PLRU, by way */
    struct rng rng;
};

/* What an array is to look like. */
struct cache_shape {
    uint64_t sets;
    uint32_t ways;
    uint32_t policy; /* enum strata_policy */
    double occupied; /* share of the ways that is not there; at least one is */
};

/* Makes an empty array. Returns -1 when memory runs out; then, and after it, call
 * cache_release(), which accepts a zeroed struct too. */
int cache_init(struct cache *cache, const struct cache_shape *shape,
               const struct sim_allocator *allocator);
void cache_release(struct cache *cache, const struct sim_allocator *allocator);

/* Empties the array. */
void cache_clear(struct cache *cache);

/* Fixes every random choice from here on. */
void cache_seed(struct cache *cache, uint64_t seed);

/* Puts in a key that is not there. Returns the key that had to go, or CACHE_NONE. */
uint64_t cache_fill(struct cache *cache, uint64_t set, uint64_t key);

/* Empties a way that holds a key. */
void cache_vacate(struct cache *cache, uint64_t set, uint32_t way);

/* Takes out a key; says whether it was there. */
bool cache_remove(struct cache *cache, uint64_t set, uint64_t key);

/* Takes out every key in [first, last]; looks at the whole array. */
void cache_purge(struct cache *cache, uint64_t first, uint64_t last);

/* The key in a way, or CACHE_NONE. */
uint64_t cache_key(const struct cache *cache, uint64_t set, uint32_t way);

/* Ways of a set that are not occupied. */
static inline uint32_t cache_room(const struct cache *cache, uint64_t set)
{
    return cache->room ? cache->room[set] : cache->ways;
}

static inline uint64_t cache_set(const struct cache *cache, uint64_t number)
{
    return cache->modulo ? number % cache->modulo : number & cache->mask;
}

static inline uint64_t cache_hash(uint64_t key)
{
    return key * 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio: spreads even strides */
}

static inline uint64_t cache_mark(uint64_t key)
{
    return cache_hash(key) >> 57 | 0x80;
}

/* Where the keys begin in a block. */
static inline uint32_t cache_keys_at(const struct cache *cache)
{
    return cache->form == CACHE_EIGHT ? 2 : 3;
}

/* The top bit of every byte of `marks` that equals that of the key; perhaps also that of
 * the byte above such a one. */
static inline uint64_t cache_fits(uint64_t marks, uint64_t key)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t differs = marks ^ cache_mark(key) * ones;
    return (differs - ones) & ~differs & (ones << 7);
}

CACHE_HOT uint32_t cache_find_eight(const uint64_t *block, uint64_t key)
{
    uint64_t fits = cache_fits(block[1], key);
    for (; fits; fits &= fits - 1) {
        uint32_t way = (uint32_t)__builtin_ctzll(fits) >> 3;
        if (block[2 + way] == key)
            return way;
    }
    return CACHE_NO_WAY;
}

CACHE_HOT uint32_t cache_find_sixteen(const uint64_t *block, uint64_t key)
{
    /* The second eight use bit 6 of every byte. */
    uint64_t fits = cache_fits(block[1], key) | cache_fits(block[2], key) >> 1;
    for (; fits; fits &= fits - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(fits);
        uint32_t way = bit >> 3 | (~bit & 1) << 3;
        if (block[3 + way] == key)
            return way;
    }
    return CACHE_NO_WAY;
}

CACHE_HOT uint32_t cache_find_large(const struct cache *cache, uint64_t set, uint64_t key)
{
    uint32_t node = cache->buckets[cache_hash(key) >> cache->bucket_shift];
    while (node != CACHE_NO_NODE && cache->nodes[node].key != key)
        node = cache->nodes[node].chain;
    return node == CACHE_NO_NODE ? CACHE_NO_WAY : node - (uint32_t)set * cache->ways;
}

/* The way that holds a key, or CACHE_NO_WAY. Changes nothing. */
CACHE_HOT uint32_t cache_find(const struct cache *cache, uint64_t set, uint64_t key)
{
    if (cache->form == CACHE_EIGHT)
        return cache_find_eight(cache->blocks + set * cache->stride, key);
    if (cache->form == CACHE_SIXTEEN)
        return cache_find_sixteen(cache->blocks + set * cache->stride, key);
    return cache_find_large(cache, set, key);
}

/* Puts a node that is in no ring behind `at`, towards the older ones. */
static inline void cache_link(struct cache_node *nodes, uint32_t node, uint32_t at)
{
    uint32_t older = nodes[at].older;
    nodes[node].newer = at;
    nodes[node].older = older;
    nodes[older].newer = node;
    nodes[at].older = node;
}

static inline void cache_unlink(struct cache_node *nodes, uint32_t node)
{
    nodes[nodes[node].older].newer = nodes[node].newer;
    nodes[nodes[node].newer].older = nodes[node].older;
}

static inline void cache_promote_node(struct cache *cache, uint64_t set, uint32_t node)
{
    uint32_t sentinel = (uint32_t)(cache->sets * cache->ways + set);
    if (cache->nodes[node].newer != sentinel) {
        cache_unlink(cache->nodes, node);
        cache_link(cache->nodes, node, sentinel);
    }
}

/* Makes a way the newest of its set. */
static inline void cache_promote(struct cache *cache, uint64_t set, uint32_t way)
{
    if (cache->form == CACHE_LARGE) {
        cache_promote_node(cache, set, (uint32_t)set * cache->ways + way);
        return;
    }
    uint64_t *order = cache->blocks + set * cache->stride;
    *order = order_promote(*order, way);
}

/* The tree of a set, under a policy that has one. */
static inline uint64_t *cache_tree(const struct cache *cache, uint64_t set)
{
    return cache->trees ? cache->trees + set
                        : cache->blocks + (set + 1) * cache->stride - 1;
}

/* Turns a tree away from a way. */
static inline void cache_turn(const struct cache *cache, uint64_t *tree, uint32_t way)
{
    *tree = (*tree & ~cache->branches[way].path) | cache->branches[way].away;
}

/* Notes a hit in a way. */
CACHE_HOT void cache_touch(struct cache *cache, uint64_t set, uint32_t way)
{
    if (cache->promotes)
        cache_promote(cache, set, way);
    else if (cache->branches)
        cache_turn(cache, cache_tree(cache, set), way);
}

/* Finds and, if it is there, touches a key. */
CACHE_HOT bool cache_hit(struct cache *cache, uint64_t set, uint64_t key)
{
    uint32_t way = cache_find(cache, set, key);
    if (way == CACHE_NO_WAY)
        return false;
    cache_touch(cache, set, way);
    return true;
}

/* Where a key was found; it may have gone since. */
struct cache_place {
    uint64_t *at;     /* the set's block; large: the node */
    uint8_t key, way; /* words from there to the key; way, large: 0 */
};

struct cache_place cache_place(const struct cache *cache, uint64_t set, uint32_t way);

/* What a hit does under other policies than LRU, and in large sets. */
void cache_touch_otherwise(struct cache *cache, struct cache_place place);

/* Notes a hit in a place. */
CACHE_HOT void cache_touch_at(struct cache *cache, struct cache_place place)
{
    if (__builtin_expect(cache->orders, 1))
        *place.at = order_promote(*place.at, place.way);
    else
        cache_touch_otherwise(cache, place);
}

#endif
