/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A set-associative array as one would draw it on paper: every way has its key and the
 * times when it was filled and used, and whatever is wanted is searched for. Slow and
 * obvious, to compare the simulated machine with. */
#ifndef TEST_SIM_NAIVE_H
#define TEST_SIM_NAIVE_H

#include "core/rng.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <strata/machine.h>

#define NAIVE_NONE UINT64_MAX

struct naive_way {
    uint64_t key, filled, used;
};

struct naive_set {
    uint32_t room;         /* ways that may be filled */
    struct naive_way *way; /* room of them */
    uint32_t *free;        /* a stack of those that hold nothing */
    uint32_t nfree;
    bool right[64]; /* PLRU: by node of the tree, the root is 1: victims are to the right */
};

struct naive {
    uint64_t sets, clock;
    uint32_t ways, policy;
    struct naive_set *set;
    struct rng rng; /* for random victims */
};

static inline void naive_clear(struct naive *naive)
{
    for (uint64_t s = 0; s < naive->sets; s++) {
        struct naive_set *set = &naive->set[s];
        set->nfree = set->room;
        for (uint32_t w = 0; w < set->room; w++) {
            set->way[w].key = NAIVE_NONE;
            set->free[w] = set->room - 1 - w; /* way 0 is filled first */
        }
        for (int node = 0; node < 64; node++)
            set->right[node] = false;
    }
}

static inline void naive_init(struct naive *naive, uint64_t sets, uint32_t ways,
                              uint32_t policy, double occupied)
{
    *naive = (struct naive){.sets = sets, .ways = ways, .policy = policy};
    naive->set = calloc(sets, sizeof *naive->set);
    for (uint64_t s = 0; s < sets; s++) {
        /* Whole ways of each set, so that the sum over sets is right to half a way. */
        double share = occupied * ways;
        double taken =
            floor(0.5 + share * (double)(s + 1)) - floor(0.5 + share * (double)s);
        naive->set[s].room = taken < ways ? ways - (uint32_t)taken : 1;
        naive->set[s].way = calloc(naive->set[s].room, sizeof *naive->set[s].way);
        naive->set[s].free = calloc(naive->set[s].room, sizeof *naive->set[s].free);
    }
    naive_clear(naive);
}

static inline void naive_release(struct naive *naive)
{
    for (uint64_t s = 0; s < naive->sets; s++) {
        free(naive->set[s].way);
        free(naive->set[s].free);
    }
    free(naive->set);
}

static inline int naive_find(const struct naive *naive, uint64_t s, uint64_t key)
{
    for (uint32_t w = 0; w < naive->set[s].room; w++)
        if (naive->set[s].way[w].key == key)
            return (int)w;
    return -1;
}

/* The node over ways [first, first + n), n a power of two: points away from a way. */
static inline void naive_point_away(struct naive_set *set, uint32_t node, uint32_t first,
                                    uint32_t n, uint32_t way)
{
    if (n == 1)
        return;
    bool is_left = way < first + n / 2;
    set->right[node] = is_left;
    if (is_left)
        naive_point_away(set, 2 * node, first, n / 2, way);
    else
        naive_point_away(set, 2 * node + 1, first + n / 2, n / 2, way);
}

static inline uint32_t naive_follow(const struct naive_set *set, uint32_t node,
                                    uint32_t first, uint32_t n)
{
    if (n == 1)
        return first;
    if (set->right[node] && first + n / 2 < set->room)
        return naive_follow(set, 2 * node + 1, first + n / 2, n / 2);
    return naive_follow(set, 2 * node, first, n / 2);
}

static inline uint32_t naive_leaves(const struct naive *naive)
{
    uint32_t leaves = 1;
    while (leaves < naive->ways)
        leaves *= 2;
    return leaves;
}

static inline void naive_touch(struct naive *naive, uint64_t s, int way)
{
    naive->set[s].way[way].used = ++naive->clock;
    if (naive->policy == STRATA_PLRU)
        naive_point_away(&naive->set[s], 1, 0, naive_leaves(naive), (uint32_t)way);
}

static inline uint32_t naive_victim(struct naive *naive, uint64_t s)
{
    const struct naive_set *set = &naive->set[s];
    uint32_t victim = 0;
    if (naive->policy == STRATA_PLRU)
        return naive_follow(set, 1, 0, naive_leaves(naive));
    if (naive->policy == STRATA_RANDOM)
        return (uint32_t)rng_below(&naive->rng, set->room);
    for (uint32_t w = 1; w < set->room; w++)
        if (naive->policy == STRATA_FIFO ? set->way[w].filled < set->way[victim].filled
                                         : set->way[w].used < set->way[victim].used)
            victim = w;
    return victim;
}

static inline uint64_t naive_fill(struct naive *naive, uint64_t s, uint64_t key)
{
    struct naive_set *set = &naive->set[s];
    uint32_t w = set->nfree ? set->free[--set->nfree] : naive_victim(naive, s);
    uint64_t gone = set->way[w].key;
    set->way[w].key = key;
    set->way[w].filled = ++naive->clock;
    naive_touch(naive, s, (int)w);
    return gone;
}

static inline bool naive_remove(struct naive *naive, uint64_t s, uint64_t key)
{
    int w = naive_find(naive, s, key);
    if (w < 0)
        return false;
    naive->set[s].way[w].key = NAIVE_NONE;
    naive->set[s].free[naive->set[s].nfree++] = (uint32_t)w;
    return true;
}

#endif
