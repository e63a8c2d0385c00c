/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of the simulated machine, as sim.c builds them and access.c walks them.
 *
 * A path is the caches that a kind of access may use, from the nearest outwards; there
 * is one for integers, one for floating point and one for instructions. A route is the
 * same for TLBs; there is one for each of data and instructions, base and huge pages.
 *
 * Keys in caches are virtual line numbers. The page mapping is a bijection, so they
 * name the same lines as physical ones would, need no translation where the index needs
 * none, and tell at once which address an evicted line had. When a range moves to huge
 * pages, its lines and translations are dropped; there, alone, the two would differ.
 *
 * An access ends at a depth of its route and at a depth of its path: the place that had the
 * page or the line; the number of places, if it was a walk or memory. Only those ends are
 * counted; sim_counts() works out the rest from that. Most accesses are quick: they end at
 * depth 0 of both. */
#ifndef SIM_HIERARCHY_H
#define SIM_HIERARCHY_H

#include "cache.h"
#include "mapping.h"
#include "prefetch.h"
#include "sim.h"

struct level {
    struct cache lines;
    uint32_t shift;   /* log2 of the line */
    uint32_t latency; /* cycles, on a hit */
    uint32_t level;
    uint32_t id;     /* in machine->caches and in the counts */
    bool translated; /* the set depends on the physical page */
    bool inclusive, exclusive;
    uint32_t nnearer, nprefetchers;
    struct level *nearer[STRATA_MAX_CACHES]; /* those it includes */
    struct prefetcher *prefetchers[STRATA_MAX_PREFETCHERS];
    struct prefetcher *trained; /* the first of those that have to see hits too */
};

struct tlb {
    struct cache pages;
    uint32_t latency; /* extra cycles, on a hit */
    uint32_t level;
};

enum { PATH_INT, PATH_FLOAT, PATH_FETCH, PATHS };

struct route {
    uint32_t n;
    uint32_t latency; /* of the first TLB, 0: there is none */
    uint32_t level;   /* likewise */
    uint64_t flag;    /* set in keys of huge pages that share TLBs with base pages */
    uint32_t shift[STRATA_MAX_TLBS];
    struct tlb *tlb[STRATA_MAX_TLBS];
};

/* Where the line and the page of an access were found last. It is a guess that is
 * checked before use, so nothing has to keep it true. */
struct memo {
    uint64_t line, page;         /* their keys in the first cache and the first TLB */
    uint64_t *line_at, *page_at; /* their places there */
    uint8_t line_key, line_way, page_key, page_way;
    bool huge;
    uint8_t line_touch, page_touch; /* enum cache_touch; the latter says if both can be
                                       done simply */
};

enum { MEMOS = 1024 };

struct path {
    uint32_t n;
    uint32_t grain;             /* log2 of the first line: what an access may straddle */
    struct memo *memos;         /* by line number */
    struct cache *lines;        /* of the first level */
    struct cache *pages[2];     /* of the first TLB, by [huge] */
    struct prefetcher *trained; /* of the first level */
    bool is_simple; /* at most one of these, and hits in the first level are simple */
    struct {
        struct sim_result result; /* theirs */
        uint64_t n[3];            /* those that are not in the counts yet, by enum sim_op */
    } quick[2];                   /* accesses, by [huge] */
    bool translated;              /* some level is */
    bool prefetches;              /* some level has a prefetcher */
    bool casts[STRATA_MAX_CACHES]; /* the level's victims go into the next */
    struct level *level[STRATA_MAX_CACHES];
    const struct route *routes;                                   /* [huge] */
    uint64_t ends[2][STRATA_MAX_TLBS + 1][STRATA_MAX_CACHES + 1]; /* not quick, likewise */
};

struct sim {
    struct path *path[3][4]; /* by enum sim_op and set of enum strata_types */
    struct mapping mapping;
    uint32_t page_shift;
    uint32_t walk_latency, memory_latency;
    uint32_t cache_levels, tlb_levels;
    uint32_t ncaches, ntlbs, nprefetchers;
    struct sim_counts counts;
    struct path paths[PATHS];
    struct route routes[2][2]; /* [fetch][huge] */
    struct level caches[STRATA_MAX_CACHES];
    struct tlb tlbs[STRATA_MAX_TLBS];
    struct prefetcher prefetchers[STRATA_MAX_PREFETCHERS];
    struct memo memos[PATHS][MEMOS];
    struct sim_allocator allocator;
};

/* The set of a cache in which a line is. */
static inline uint64_t level_set(const struct level *level, uint64_t virtual,
                                 uint64_t physical)
{
    return cache_set(&level->lines,
                     (level->translated ? physical : virtual) >> level->shift);
}

/* What a translation costs that ended at a depth of a route. */
static inline uint32_t translation_cycles(const struct sim *sim, const struct route *route,
                                          uint32_t depth)
{
    return depth < route->n ? route->tlb[depth]->latency : route->n ? sim->walk_latency : 0;
}

/* What data cost that were found at a depth of a path. */
static inline uint32_t data_cycles(const struct sim *sim, const struct path *path,
                                   uint32_t depth)
{
    return depth < path->n ? path->level[depth]->latency : sim->memory_latency;
}

#endif
