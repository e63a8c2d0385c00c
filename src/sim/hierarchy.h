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
 * pages, its lines and translations are dropped; there, alone, the two would differ. */
#ifndef SIM_HIERARCHY_H
#define SIM_HIERARCHY_H

#include "cache.h"
#include "mapping.h"
#include "prefetch.h"
#include "sim.h"

struct level {
    struct cache lines;
    uint32_t id;      /* in machine->caches and in the counts */
    uint32_t shift;   /* log2 of the line */
    uint32_t latency; /* cycles, on a hit */
    uint32_t level;
    bool translated; /* the set depends on the physical page */
    bool inclusive, exclusive;
    uint32_t nnearer, nprefetchers;
    struct level *nearer[STRATA_MAX_CACHES]; /* those it includes */
    struct prefetcher *prefetchers[STRATA_MAX_PREFETCHERS];
};

struct tlb {
    struct cache pages;
    uint32_t latency; /* extra cycles, on a hit */
    uint32_t level;
};

enum { PATH_INT, PATH_FLOAT, PATH_FETCH, PATHS };

struct path {
    uint32_t n;
    uint32_t grain;  /* log2 of the smallest line or page: what an access may straddle */
    bool fetch;      /* uses the routes of instructions */
    bool translated; /* some level is */
    bool prefetches; /* some level has a prefetcher */
    bool casts[STRATA_MAX_CACHES]; /* the level's victims go into the next */
    struct level *level[STRATA_MAX_CACHES];
};

enum { ROUTES = 4 };

struct route {
    uint32_t n, id;
    uint64_t flag; /* set in keys of huge pages that share TLBs with base pages */
    uint32_t shift[STRATA_MAX_TLBS];
    uint32_t tlb[STRATA_MAX_TLBS]; /* in sim->tlbs */
};

struct sim {
    struct sim_allocator allocator;
    struct mapping mapping;
    uint32_t page_shift;
    uint32_t walk_latency, memory_latency;
    uint32_t cache_levels, tlb_levels;
    uint32_t ncaches, ntlbs, nprefetchers;
    /* The page that each route had last: it is the newest in the route's first TLB,
     * which thus need not be asked. CACHE_NONE where another route came between. */
    uint64_t last[ROUTES];
    struct path paths[PATHS];
    struct route routes[2][2]; /* [fetch][huge] */
    struct level caches[STRATA_MAX_CACHES];
    struct tlb tlbs[STRATA_MAX_TLBS];
    struct prefetcher prefetchers[STRATA_MAX_PREFETCHERS];
    struct sim_counts counts;
};

/* The set of a cache in which a line is. */
static inline uint64_t level_set(const struct level *level, uint64_t virtual, uint64_t physical)
{
    return cache_set(&level->lines,
                     (level->translated ? physical : virtual) >> level->shift);
}

#endif
