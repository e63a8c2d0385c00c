/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A set-associative array of keys: the directory of a cache or of a TLB.
 *
 * A key is a line or page number; the caller chooses the set, so that index and key
 * may come from different addresses. Ways that hold nothing are filled first. A set keeps
 * its ways in order from newest to oldest; policy.h says what each policy makes of that.
 *
 * Three forms, because a set of 8 ways and one of 3072 need different ones:
 * - up to 8 ways, up to 16 ways: one block of words a set: the order packed into a word
 *   (order.h), one or two words of marks, the keys. A mark is a hash of the key in 7 bits
 *   and a bit that says that there is one; eight marks are compared at a time, and only
 *   keys whose mark fits are looked at. A set of 8 ways takes 80 bytes.
 * - more: a hash index and queues (large.h).
 * Find, touch, fill and remove take constant time in all (tree PLRU: the logarithm of the
 * ways, to find a victim). Memory: 10 to 16 bytes a key for small sets, 40 to 70 for large
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

#define CACHE_NONE    UINT64_MAX       /* no key */
#define CACHE_NO_WAY  UINT32_MAX       /* not found */
#define CACHE_NO_NODE UINT32_MAX       /* the end of a hash chain */
#define CACHE_NO_TURN (UINT32_MAX - 1) /* no visit; no turn comes before or behind it */

/* Large: the part of a set's queue that is in use, and how many ways hold nothing. */
struct cache_queue {
    uint32_t head, tail, spare;
};

/* What a hit does: make the way the newest in a packed order, or in the queue of the only
 * set; turn a tree; nothing; or what takes longer to say. */
enum cache_touch { TOUCH_ORDER, TOUCH_QUEUE, TOUCH_TREE, TOUCH_NOTHING, TOUCH_OTHERWISE };

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
    uint8_t touch;    /* enum cache_touch */
    bool plain;       /* the oldest way of a packed order goes, and none are occupied */
    uint8_t oldest;   /* plain: the bit where the oldest way stands in the order */
    uint32_t ways;
    uint64_t sets;
    const struct policy *policy;
    uint32_t *room;                /* ways not occupied, by set; NULL: all are free */
    struct cache_branch *branches; /* PLRU, by way */
    uint32_t leaves;               /* of a tree, a power of two */
    struct rng rng;
    /* Large sets: */
    uint32_t bucket_shift;      /* 64 - log2 of the number of buckets */
    uint32_t *buckets;          /* the first node */
    uint64_t *keys;             /* by node */
    uint32_t *chains;           /* by node: the next of the same bucket */
    uint32_t *turns;            /* by node: the place of its last visit in the queue */
    uint32_t *spares;           /* by node: a stack a set of ways that hold nothing */
    uint32_t *visits;           /* the queues, of ways */
    uint32_t queue_size;        /* visits of each */
    struct cache_queue *queues; /* by set */
    uint64_t *trees; /* PLRU, by set; small sets have it at the end of the block */
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

/* For its parts: `count` things of a size, NULL: out of memory; and back. */
void *cache_allocate(const struct sim_allocator *allocator, uint64_t count, size_t size);
void cache_free(const struct sim_allocator *allocator, void *block);

/* Empties the array. */
void cache_clear(struct cache *cache);

/* Fixes every random choice from here on. */
void cache_seed(struct cache *cache, uint64_t seed);

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

/* The top bit of every byte of `marks` that equals the key's; perhaps also that of the
 * byte above such a one. */
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
    while (node != CACHE_NO_NODE && cache->keys[node] != key)
        node = cache->chains[node];
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

/* Packs the full queue of a large set. */
void cache_pack(struct cache *cache, uint64_t set);

/* Makes a way the newest of a large set. */
CACHE_HOT void cache_visit(struct cache *cache, uint64_t set, uint32_t way)
{
    struct cache_queue *queue = &cache->queues[set];
    if (__builtin_expect(queue->tail == cache->queue_size, 0))
        cache_pack(cache, set);
    uint32_t turn = queue->tail++;
    cache->visits[set * cache->queue_size + turn] = way;
    cache->turns[set * cache->ways + way] = turn;
}

/* Makes a way the newest of its set. */
CACHE_HOT void cache_promote(struct cache *cache, uint64_t set, uint32_t way)
{
    uint64_t *order = cache->blocks + set * cache->stride;
    if (cache->form == CACHE_LARGE)
        cache_visit(cache, set, way);
    else
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

static inline void cache_set_mark(uint64_t *block, uint32_t way, uint64_t mark)
{
    uint64_t *word = block + 1 + way / 8;
    *word = (*word & ~(UINT64_C(0xff) << way % 8 * 8)) | mark << way % 8 * 8;
}

/* As cache_fill(), of an array that is not plain. */
uint64_t cache_fill_otherwise(struct cache *cache, uint64_t set, uint64_t key);

/* Puts in a key that is not there. Returns the key that had to go, or CACHE_NONE. */
CACHE_HOT uint64_t cache_fill(struct cache *cache, uint64_t set, uint64_t key)
{
    if (!cache->plain)
        return cache_fill_otherwise(cache, set, key);
    uint64_t *block = cache->blocks + set * cache->stride;
    uint32_t way = (uint32_t)(block[0] >> cache->oldest) & 15;
    uint64_t *at = block + cache_keys_at(cache) + way, gone = *at;
    *at = key;
    block[0] = block[0] << 4 | way;
    cache_set_mark(block, way, cache_mark(key));
    return gone;
}

/* Where a key was found; it may have gone since. */
struct cache_place {
    uint64_t *at;     /* the set's block; large: the key */
    uint8_t key, way; /* words from there to the key; the way, large: 0 */
};

struct cache_place cache_place(const struct cache *cache, uint64_t set, uint32_t way);

/* Whether cache_touch_simply() can note a hit. */
CACHE_HOT bool cache_is_simple(const struct cache *cache, uint32_t touch)
{
    return touch == TOUCH_QUEUE ? cache->queues->tail < cache->queue_size
                                : touch != TOUCH_OTHERWISE;
}

/* Notes a hit in a place where that is simple: no function is called. `touch` is the
 * array's own. */
CACHE_HOT void cache_touch_simply(struct cache *cache, uint32_t touch, uint64_t *at,
                                  uint32_t way)
{
    if (touch == TOUCH_ORDER) {
        *at = order_promote(*at, way);
    } else if (touch == TOUCH_QUEUE) {
        uint32_t turn = cache->queues->tail, visitor = (uint32_t)(at - cache->keys);
        if (cache->turns[visitor] + 1 == turn)
            return;
        cache->queues->tail = turn + 1;
        cache->visits[turn] = visitor;
        cache->turns[visitor] = turn;
    } else if (touch == TOUCH_TREE) {
        cache_turn(cache, at + cache->stride - 1, way);
    }
}

/* Notes a hit in a place. */
void cache_touch_at(struct cache *cache, uint64_t *at, uint32_t way);

#endif
