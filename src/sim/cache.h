/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A set-associative array of keys: the directory of a cache or of a TLB.
 *
 * A key is a line or page number; the caller chooses the set, so that index and key
 * may come from different addresses. Ways that hold nothing are filled first. A set keeps
 * its ways in order from newest to oldest; policy.h says what each policy makes of that.
 *
 * Two forms, because a set of 8 ways and one of 3072 need different ones:
 * - small, up to 16 ways: a head of 32 bytes a set, then its keys. The head has the order
 *   packed into a word (order.h) and a mark for each way: a hash of the key in 8 bits. All
 *   marks are compared at once, and only keys whose mark fits are looked at, so a search
 *   in vain mostly reads the head alone.
 * - large: a hash index and lists (large.h).
 * Find, touch, fill and remove take constant time in both, in large sets on average (tree
 * PLRU: the logarithm of the ways, to find a victim).
 *
 * An array that is `near` is the first that some accesses ask (quick.h). There, and in
 * large sets, a key has a stamp beside it, which says when it was visited, so that a hit is
 * one store to a known place. Small near sets have their keys and stamps apart from the
 * heads, so that a set of 8 ways is two lines of this computer's caches and one of 4 is
 * one. They have no marks: they are mostly searched in vain, and to look at all keys takes
 * no longer than to keep marks.
 *
 * Memory: 10 bytes a key for sets of 16 ways, 12 for 8, 16 for 4; 8 more where it is near;
 * 36 to 45 for large ones. */
#ifndef SIM_CACHE_H
#define SIM_CACHE_H

#include <core/rng.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "order.h"
#include "policy.h"
#include "quick.h"

/* What every access does is inlined even where the compiler would rather not. */
#define CACHE_HOT static inline __attribute__((always_inline))

#define CACHE_NONE    SIM_QUICK_NONE /* no key */
#define CACHE_NO_WAY  UINT32_MAX     /* not found */
#define CACHE_NO_NODE UINT32_MAX     /* the end of a hash chain */

/* Large: what is left of a set's list of ways by age, when that was made, and how many
 * ways hold nothing. */
struct cache_list {
    uint64_t made;
    uint32_t next, spare;
};

/* What a hit does: make the way the newest in a packed order; write a stamp; turn a tree;
 * nothing. */
enum cache_touch { TOUCH_ORDER, TOUCH_STAMP, TOUCH_TREE, TOUCH_NOTHING };

/* Sixteen marks, and what compares them at once. */
typedef uint8_t cache_marks __attribute__((vector_size(ORDER_MAX)));

struct cache_head {
    uint64_t order;
    uint64_t tree; /* PLRU */
    cache_marks marks;
    uint64_t keys[];
};

/* What a touch of a way does to the tree of pseudo-LRU. */
struct cache_branch {
    uint64_t path; /* the bits on the way from the root */
    uint64_t away; /* those of them that are set to lead elsewhere */
};

struct cache {
    struct cache_head *heads; /* small, by set */
    uint64_t stride;          /* bytes from one to the next */
    uint64_t mask;            /* sets - 1 where that is a mask */
    uint64_t modulo;          /* sets where it is not, else 0 */
    uint64_t inverse;         /* 2^64 / modulo */
    uint32_t ways;
    uint8_t index;  /* of a TLB: enum strata_tlb_index */
    uint8_t fold;   /* of such a one: log2 of the sets */
    uint32_t every; /* a bit for each way of a small set */
    bool large, near;
    bool plain;      /* small, the oldest way goes, none are occupied, and not near */
    bool stamped;    /* small, and the oldest stamp goes */
    uint8_t touch;   /* enum cache_touch */
    uint8_t oldest;  /* plain: the bit where the oldest way stands in the order */
    uint32_t filled; /* the way that was filled last, unless plain */
    uint64_t *clock; /* the last stamp; `ticks` where it has none in common with others */
    uint64_t ticks;
    uint64_t sets;
    const struct policy *policy;
    uint32_t *room;                /* ways not occupied, by set; NULL: all are free */
    struct cache_branch *branches; /* PLRU without stamps, by way */
    uint32_t leaves;               /* of a tree, a power of two */
    struct rng rng;
    struct sim_way *nodes; /* large or near: all ways, set by set; else NULL */
    /* Large sets: */
    uint32_t bucket_shift; /* 64 - log2 of the number of buckets */
    struct sim_way *times; /* by node, stamps in order of age: nodes, but others if near and
                              FIFO, because visits (quick.h) do not count there */
    uint32_t *buckets;     /* the first node */
    uint32_t *chains;      /* by node: the next of the same bucket */
    uint32_t *ages;        /* by set, ways from the oldest to the newest */
    struct cache_list *lists; /* by set */
    uint32_t *spares;         /* by node: a stack a set of ways that hold nothing */
};

/* What an array is to look like. */
struct cache_shape {
    uint64_t sets;
    uint32_t ways;
    uint32_t policy; /* enum strata_policy */
    double occupied; /* share of the ways that is not there; at least one is */
    bool near;       /* quick.h may know of its keys */
    uint64_t *clock; /* that all such arrays share; NULL: one of its own */
};

/* Makes an empty array. Returns -1 when memory runs out; then, and after it, call
 * cache_release(), which accepts a zeroed struct too. */
int cache_init(struct cache *cache, const struct cache_shape *shape,
               const struct allocator *allocator);
void cache_release(struct cache *cache, const struct allocator *allocator);

/* For its parts: `count` things of a size, at the beginning of a line of this computer's
 * caches; NULL: out of memory; and back. */
void *cache_allocate(const struct allocator *allocator, uint64_t count, size_t size);
void cache_free(const struct allocator *allocator, void *block);

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

/* Ways of a set that are not occupied. */
static inline uint32_t cache_room(const struct cache *cache, uint64_t set)
{
    return cache->room ? cache->room[set] : cache->ways;
}

/* A remainder by a product, which is faster than a division, and one or two too small a
 * quotient at the very most. */
static inline uint64_t cache_remainder(const struct cache *cache, uint64_t number)
{
    uint64_t quotient = (uint64_t)((unsigned __int128)number * cache->inverse >> 64);
    uint64_t rest = number - quotient * cache->modulo;
    while (__builtin_expect(rest >= cache->modulo, 0))
        rest -= cache->modulo;
    return rest;
}

static inline uint64_t cache_set(const struct cache *cache, uint64_t number)
{
    if (__builtin_expect(cache->modulo != 0, 0))
        return cache_remainder(cache, number);
    return number & cache->mask;
}

static inline uint64_t cache_hash(uint64_t key)
{
    return key * 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio: spreads even strides */
}

/* What stands for a page number where a TLB chooses the set by more than its low bits. */
static inline uint64_t cache_page_mixed(const struct cache *cache, uint64_t page)
{
    if (cache->index == STRATA_MIXED)
        return cache_hash(page) >> 24;
    return page ^ page >> (cache->index == STRATA_GRAY ? 1 : cache->fold);
}

/* The set of a page in a TLB. */
static inline uint64_t cache_set_of_page(const struct cache *cache, uint64_t page)
{
    return cache_set(cache, cache->index ? cache_page_mixed(cache, page) : page);
}

static inline uint8_t cache_mark(uint64_t key)
{
    return (uint8_t)(cache_hash(key) >> 56);
}

/* The head of a small set. */
CACHE_HOT struct cache_head *cache_head(const struct cache *cache, uint64_t set)
{
    return (struct cache_head *)((char *)cache->heads + set * cache->stride);
}

/* A bit for each mark that is equal. */
CACHE_HOT uint32_t cache_fits(cache_marks marks, uint8_t mark)
{
#ifdef __SSE2__
    typedef char bytes __attribute__((vector_size(ORDER_MAX)));
    return (uint32_t)__builtin_ia32_pmovmskb128((bytes)(marks == mark));
#else
    /* Every byte keeps a bit of its own; a product adds up the bytes of a word. */
    const cache_marks bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    typedef uint64_t words __attribute__((vector_size(ORDER_MAX)));
    words kept = (words)((cache_marks)(marks == mark) & bits) * 0x0101010101010101u >> 56;
    return (uint32_t)(kept[0] | kept[1] << 8);
#endif
}

/* The next stamp. */
CACHE_HOT uint64_t cache_tick(uint64_t *clock)
{
    return *clock += SIM_QUICK_TICK;
}

/* The ways of a set that is large or near. */
CACHE_HOT struct sim_way *cache_ways(const struct cache *cache, uint64_t set)
{
    return cache->nodes + set * cache->ways;
}

CACHE_HOT uint32_t cache_look_at(const struct sim_way *at, uint32_t ways, uint64_t key)
{
#pragma GCC unroll 8
    for (uint32_t way = 0; way < ways; way++)
        if (at[way].key == key)
            return way;
    return CACHE_NO_WAY;
}

/* The way of a small near set that holds a key, or CACHE_NO_WAY. */
CACHE_HOT uint32_t cache_way_near(const struct sim_way *at, uint32_t ways, uint64_t key)
{
    return ways == 8   ? cache_look_at(at, 8, key)
           : ways == 4 ? cache_look_at(at, 4, key)
                       : cache_look_at(at, ways, key);
}

/* The same of another small set. */
CACHE_HOT uint32_t cache_way_in(const struct cache *cache, const struct cache_head *head,
                                uint64_t key)
{
    uint32_t fits = cache_fits(head->marks, cache_mark(key)) & cache->every;
    for (; fits; fits &= fits - 1) {
        uint32_t way = (uint32_t)__builtin_ctz(fits);
        if (head->keys[way] == key)
            return way;
    }
    return CACHE_NO_WAY;
}

CACHE_HOT uint32_t cache_find_small(const struct cache *cache, uint64_t set, uint64_t key)
{
    return cache->near ? cache_way_near(cache_ways(cache, set), cache->ways, key)
                       : cache_way_in(cache, cache_head(cache, set), key);
}

/* As cache_find(), of a large set. */
uint32_t cache_find_large(const struct cache *cache, uint64_t set, uint64_t key);

/* The way that holds a key, or CACHE_NO_WAY. Changes nothing. */
CACHE_HOT uint32_t cache_find(const struct cache *cache, uint64_t set, uint64_t key)
{
    return cache->large ? cache_find_large(cache, set, key)
                        : cache_find_small(cache, set, key);
}

/* Where the key of a way is. */
CACHE_HOT uint64_t *cache_key(const struct cache *cache, uint64_t set, uint32_t way)
{
    return cache->nodes ? &cache_ways(cache, set)[way].key
                        : &cache_head(cache, set)->keys[way];
}

/* Turns a tree away from a way. */
static inline void cache_turn(const struct cache *cache, uint64_t *tree, uint32_t way)
{
    *tree = (*tree & ~cache->branches[way].path) | cache->branches[way].away;
}

/* Makes a way the newest of a small set. */
CACHE_HOT void cache_promote(struct cache_head *head, uint32_t way)
{
    head->order = order_promote(head->order, way);
}

/* Notes a hit in a way. */
CACHE_HOT void cache_touch(struct cache *cache, uint64_t set, uint32_t way)
{
    if (cache->touch == TOUCH_ORDER)
        cache_promote(cache_head(cache, set), way);
    else if (cache->touch == TOUCH_STAMP)
        cache_ways(cache, set)[way].stamp = cache_tick(cache->clock);
    else if (cache->touch == TOUCH_TREE)
        cache_turn(cache, &cache_head(cache, set)->tree, way);
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

/* As cache_fill(), of an array that is not plain. */
uint64_t cache_fill_otherwise(struct cache *cache, uint64_t set, uint64_t key);

/* As cache_fill(), of a set of a plain array. */
CACHE_HOT uint64_t cache_push(const struct cache *cache, struct cache_head *head,
                              uint64_t key)
{
    uint32_t way = (uint32_t)(head->order >> cache->oldest) & 15;
    uint64_t gone = head->keys[way];
    head->keys[way] = key;
    head->marks[way] = cache_mark(key);
    head->order = head->order << 4 | way;
    return gone;
}

/* Puts in a key that is not there. Returns the key that had to go, or CACHE_NONE. */
CACHE_HOT uint64_t cache_fill(struct cache *cache, uint64_t set, uint64_t key)
{
    return cache->plain ? cache_push(cache, cache_head(cache, set), key)
                        : cache_fill_otherwise(cache, set, key);
}

/* The older of two ways of which stamp and way are one number. */
CACHE_HOT uint64_t cache_older(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

/* The way with the oldest stamp. Stamp and way are compared as one number, without a
 * branch, because that is random. */
CACHE_HOT uint32_t cache_oldest(const struct sim_way *at, uint32_t ways)
{
    uint64_t oldest = at[0].stamp;
#pragma GCC unroll 8
    for (uint32_t way = 1; way < ways; way++)
        oldest = cache_older(oldest, at[way].stamp | way);
    return (uint32_t)oldest % SIM_QUICK_TICK;
}

/* The way to fill of a set of a stamped array. */
CACHE_HOT struct sim_way *cache_victim_near(struct sim_way *at, uint32_t ways)
{
    return at + (ways == 8   ? cache_oldest(at, 8)
                 : ways == 4 ? cache_oldest(at, 4)
                             : cache_oldest(at, ways));
}

/* As cache_fill(), of a stamped array: the way is `filled`. */
CACHE_HOT uint64_t cache_fill_stamped(struct cache *cache, uint64_t set, uint64_t key)
{
    struct sim_way *at = cache_ways(cache, set);
    struct sim_way *way = cache_victim_near(at, cache->ways);
    uint64_t gone = way->key;
    *way = (struct sim_way){key, cache_tick(cache->clock)};
    cache->filled = (uint32_t)(way - at);
    return gone;
}

/* The key that the next fill of a set throws out, where that is plain, or CACHE_NONE. */
CACHE_HOT uint64_t cache_victim(const struct cache *cache, uint64_t set)
{
    if (!cache->plain)
        return CACHE_NONE;
    const struct cache_head *head = cache_head(cache, set);
    return head->keys[head->order >> cache->oldest & 15];
}

/* Asks the memory of this computer for what the next use of a set reads. */
CACHE_HOT void cache_expect_at(const struct cache_head *head)
{
    __builtin_prefetch(head, 1);
    __builtin_prefetch((const char *)head + 64, 1);
    __builtin_prefetch((const char *)head + 128, 1);
}

CACHE_HOT void cache_expect(const struct cache *cache, uint64_t set)
{
    if (!cache->large)
        cache_expect_at(cache_head(cache, set));
}

#endif
