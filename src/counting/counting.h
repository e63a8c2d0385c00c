/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A counting runner visits addresses and says which events each visit, or a whole walk of
 * them, made move: misses of each cache and of each TLB, and time beside them.
 *
 * Two kinds: the virtual PMU of a simulated machine (simulated.c) and the counters of this
 * processor (hardware.c). Both offer an arena of base pages and, where there are any, one
 * of huge pages. An analysis sees counts and nothing else.
 *
 * Which event stands for a miss is the runner's matter; it names it, and says how near that
 * is to what is wanted. What it has no event for, it says so too, with the reason. */
#ifndef COUNTING_COUNTING_H
#define COUNTING_COUNTING_H

#include "refs/refs.h"
#include "run/runner.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <strata/error.h>
#include <strata/machine.h>

enum {
    COUNTED_LEVELS = STRATA_MAX_CACHES, /* of caches, and of TLBs */
    COUNTED_EVENTS = 2 * COUNTED_LEVELS + 1
};

/* Events by number: the misses of cache level l, those of TLB level l (both from 1), and
 * conflicts of banks. A visit's events are a set of bits. */
#define CACHE_EVENT(level) ((level)-1)
#define TLB_EVENT(level)   (COUNTED_LEVELS + (level)-1)
#define BANK_EVENT         (2 * COUNTED_LEVELS)
#define EVENT_BIT(event)   (UINT32_C(1) << (event))

/* How near an event is to what is wanted, best first. */
enum event_way {
    WAY_STANDARD, /* an event of strata's own table, or the kernel's, under a plain name */
    WAY_NATIVE,   /* an event of this processor under the processor's name */
    WAY_SUBSTITUTE, /* one that is closely related */
    WAY_TIMING,     /* none: times have to tell */
    EVENT_WAY_COUNT
};
extern const char *const event_way_names[EVENT_WAY_COUNT];

struct counted_event {
    bool present;
    char name[48];
    enum event_way way;
    char why[160]; /* where it is not present, or not believed */
};

/* What a walk made move. */
struct walk_counts {
    uint64_t visits;
    double events[COUNTED_EVENTS];
    double cycles; /* of the whole walk */
};

struct counting;

struct counting_ops {
    /* Loads at `at` one after the other. `moved`, if not NULL, gets the events of each. */
    int (*walk)(struct counting *, enum arena, enum strata_types, const uint64_t *at,
                size_t n, uint32_t *moved, struct walk_counts *);
    /* Pairs of loads that may go at the same time, at[2i] and at[2i + 1]; NULL: none. */
    int (*pairs)(struct counting *, enum arena, enum strata_types, const uint64_t *at,
                 size_t n, struct walk_counts *);
    void (*release)(struct counting *);
};

struct counting {
    const struct counting_ops *ops;
    struct ground ground[ARENAS];
    uint64_t base_page; /* bytes: prefetchers keep within one */
    double cycle_ns;
    bool simulated;
    int cpu; /* -1: simulated */
    uint64_t visits;
    struct counted_event events[COUNTED_EVENTS];
};

/* The walk, with its visits added up. 0, or a status. */
int counting_walk(struct counting *counting, enum arena arena, enum strata_types type,
                  const uint64_t *at, size_t n, uint32_t *moved,
                  struct walk_counts *counts);
int counting_pairs(struct counting *counting, enum arena arena, enum strata_types type,
                   const uint64_t *at, size_t n, struct walk_counts *counts);
void counting_release(struct counting *counting);

/* An event of a simulated machine that lies, for testing that lies are found. */
enum event_fault { FAULT_NONE, FAULT_STUCK, FAULT_DOUBLE, FAULT_NOISE, FAULT_MISSING };
struct counting_fault {
    int event;
    enum event_fault kind;
    double amount; /* of noise: relative */
};

/* A simulated machine. `faults` has n of them; it may be NULL. */
int counting_simulated(struct counting **counting, const struct strata_machine *machine,
                       uint64_t seed, uint64_t bytes, uint64_t huge_bytes,
                       const struct counting_fault *faults, size_t n,
                       struct strata_error *error);

#endif
