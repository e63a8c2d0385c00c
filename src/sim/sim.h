/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The simulated machine: what a memory hierarchy does with one access after another.
 *
 * Freestanding C: no C library, the caller's allocator, no globals. It is compiled
 * into strata and into the Valgrind tool.
 *
 * Modelled: set-associative caches with any number of sets and levels, replacement
 * policies, inclusion, virtual or physical indexing (tags are physical) over a seeded
 * page mapping, huge pages, data types that bypass a level, TLBs by level and page
 * size, the page walk, prefetchers, a share of every set held by others.
 * Not modelled: bandwidth, overlap of misses, write-back traffic (a store is a load
 * that allocates), page-table lines in the caches. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "core/allocator.h"

#include <stddef.h>
#include <stdint.h>
#include <strata/machine.h>

struct sim;

enum sim_op { SIM_LOAD, SIM_STORE, SIM_FETCH };

#define SIM_NO_LINE UINT64_MAX

struct sim_result {
    uint32_t cycles; /* translation and data together */
    uint32_t level;  /* cache level that served it; levels + 1: memory */
    uint32_t tlb;    /* TLB level that had the translation; levels + 1: a page walk */
    uint64_t
        victim; /* virtual address of the line evicted from the nearest cache that
                   missed, or SIM_NO_LINE; not one that an inclusive cache takes back */
};

/* Counts since sim_create() or sim_reset_counts(); index 0 is level 1. */
struct sim_counts {
    uint64_t accesses[3]; /* by enum sim_op */
    uint64_t hits[STRATA_MAX_CACHES],
        misses[STRATA_MAX_CACHES];          /* demand, machine->caches order */
    uint64_t prefetches[STRATA_MAX_CACHES]; /* lines brought in by a prefetcher */
    uint64_t evictions[STRATA_MAX_CACHES];
    uint64_t tlb_hits[STRATA_MAX_TLBS],
        tlb_misses[STRATA_MAX_TLBS]; /* machine->tlbs order */
    uint64_t walks, fetch_walks;     /* the latter among the former */
    uint64_t cycles;
};

/* The machine must have passed strata_machine_check(); it is copied. The seed fixes
 * the page mapping and every random choice. NULL: out of memory. */
struct sim *sim_create(const struct strata_machine *machine, uint64_t seed,
                       const struct allocator *allocator);
void sim_release(struct sim *sim);

/* One access of 1..64 bytes. One that straddles lines or pages counts once, with the
 * worst level and the cost of its slower half. `type` is one of enum strata_types. */
void sim_access(struct sim *sim, uint64_t address, uint32_t size, enum sim_op op,
                enum strata_types type, struct sim_result *result);

/* n integer loads of 8 bytes that straddle nothing, at base + offset[i]; returns their
 * cycles. The same effect as n calls of sim_access(), faster. */
uint64_t sim_chase(struct sim *sim, uint64_t base, const uint64_t *offsets, size_t n);

/* [address, address + size) is on huge pages from now on (rounded inwards to whole
 * ones). Returns -1 where the machine has none, or past 64 such ranges. */
int sim_map_huge(struct sim *sim, uint64_t address, uint64_t size);

/* Empties caches and TLBs; the page mapping stays. */
void sim_flush(struct sim *sim);

/* A new page mapping from another seed; flushes. */
void sim_remap(struct sim *sim, uint64_t seed);

void sim_reset_counts(struct sim *sim);

/* Valid until the next call with this machine. */
const struct sim_counts *sim_counts(struct sim *sim);

#endif
