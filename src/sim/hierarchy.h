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
 * counted; sim_counts() works out the rest from that. */
#ifndef SIM_HIERARCHY_H
#define SIM_HIERARCHY_H

#include "cache.h"
#include "mapping.h"
#include "prefetch.h"

struct level {
    struct cache lines;
    uint32_t shift;  /* log2 of the line */
    uint32_t id;     /* in machine->caches and in the counts */
    bool translated; /* the set depends on the physical page */
    bool inclusive, exclusive;
    uint32_t nnearer, nprefetchers;
    uint32_t in_page; /* log2 of the lines of a page */
    bool trains;      /* some prefetcher has to see hits too */
    struct prefetcher prefetchers[STRATA_MAX_PREFETCHERS];
    struct sim_trail trails[SIM_QUICK_TRAILS];
    struct level *nearer[STRATA_MAX_CACHES]; /* those it includes */
};

enum { PATH_INT, PATH_FLOAT, PATH_FETCH, PATHS };

struct route {
    uint32_t n;
    uint64_t flag; /* set in keys of huge pages that share TLBs with base pages */
    struct cache *tlb[STRATA_MAX_TLBS];
    uint32_t shift[STRATA_MAX_TLBS];
    uint32_t cycles[STRATA_MAX_TLBS + 1]; /* by depth; all 0 where there is no TLB */
    uint32_t level[STRATA_MAX_TLBS + 1];  /* as in a result, likewise */
};

/* Every pair of depths has a number, by huge page, depth of the route, depth of the path.
 */
enum {
    END_TLB = STRATA_MAX_CACHES + 1,
    END_HUGE = END_TLB * (STRATA_MAX_TLBS + 1),
    ENDS = 2 * END_HUGE
};

/* Where the sets of a small array are, of which there is a power of two. */
struct sets {
    char *first;
    uint64_t mask, stride; /* bytes from one to the next */
    uint32_t ways;
};

struct path {
    uint32_t n;
    uint32_t grain;                /* log2 of the first line: what an access may straddle */
    struct sim_quick *quick;       /* what is near; paths with one first cache share it */
    bool translated;               /* some level is */
    bool prefetches;               /* some level has a prefetcher */
    bool tables;                   /* walks load from tables */
    bool simple;                   /* access_simply() may be used */
    bool casts[STRATA_MAX_CACHES]; /* the level's victims go into the next */
    bool passes[STRATA_MAX_CACHES]; /* that, or it is inclusive */
    const struct route *routes;     /* [huge] */
    struct level *level[STRATA_MAX_CACHES];
    /* Of a simple path: the first cache, the first TLB and the second cache. No ways: there
     * is none, or it is a TLB that is not simple. */
    struct sets near, pages, next;
    uint32_t next_shift;
    uint64_t ends[ENDS];             /* how many accesses ended so */
    struct sim_result results[ENDS]; /* what they return; victims are those of the last */
};

struct sim {
    struct path *path[3][4]; /* by enum sim_op and set of enum strata_types */
    struct mapping mapping;
    uint32_t page_shift, huge_shift;
    uint32_t cache_levels, tlb_levels;
    uint32_t ncaches, ntlbs;
    uint64_t clock;      /* of all stamps */
    uint64_t hits[3][4]; /* quick ones that are not counted yet, as path */
    struct sim_counts counts;
    struct sim_result straddling; /* of the last access that did, or that read tables */
    uint32_t walked;              /* cycles of loads from tables that are not counted yet */
    uint64_t victim; /* of the last access that was not quick, as in a result */
    struct path paths[PATHS];
    struct route routes[2][2]; /* [fetch][huge] */
    struct level caches[STRATA_MAX_CACHES];
    struct cache tlbs[STRATA_MAX_TLBS]; /* of pages */
    struct sim_quick quick[PATHS];
    struct allocator allocator;
};

/* The set of a cache in which a line is. */
static inline uint64_t level_set(const struct level *level, uint64_t virtual,
                                 uint64_t physical)
{
    return cache_set(&level->lines,
                     (level->translated ? physical : virtual) >> level->shift);
}

#endif
