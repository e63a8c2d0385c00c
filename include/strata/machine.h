/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A machine: the description of a memory hierarchy.
 *
 * `strata probe` writes one, the simulated machine runs one, tests use them as
 * ground truth, and autotuners read them. It is plain data without pointers, so
 * that it can be copied, compared, written to a file and handed to code that has
 * no C library. The text form (*.machine) is described in docs/format/machine.md.
 *
 * Units: bytes and cycles unless a name says otherwise. */
#ifndef STRATA_MACHINE_H
#define STRATA_MACHINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    STRATA_MAX_CACHES = 8,
    STRATA_MAX_TLBS = 16,
    STRATA_MAX_PREFETCHERS = 8,
    STRATA_NAME_SIZE = 64
};

enum strata_kind { STRATA_DATA, STRATA_INSTRUCTION, STRATA_UNIFIED };
enum strata_policy { STRATA_LRU, STRATA_PLRU, STRATA_FIFO, STRATA_RANDOM };
enum strata_index { STRATA_VIRTUAL, STRATA_PHYSICAL };

/* How a TLB chooses the set of a page: by the low bits of its number; by these and their
 * upper neighbours; by these and as many above them; by a mix of all bits, so that pages
 * side by side do not fill the sets evenly. */
enum strata_tlb_index { STRATA_LOW, STRATA_GRAY, STRATA_XOR, STRATA_MIXED };
enum strata_inclusion { STRATA_NINE, STRATA_INCLUSIVE, STRATA_EXCLUSIVE };
enum strata_mapping { STRATA_MAP_RANDOM, STRATA_MAP_CONTIGUOUS, STRATA_MAP_COLOURED };
enum strata_prefetch {
    STRATA_PREFETCH_NONE,
    STRATA_PREFETCH_NEXT_LINE, /* the line after a missing one */
    STRATA_PREFETCH_ADJACENT,  /* the other half of an aligned pair of lines */
    STRATA_PREFETCH_STRIDE,    /* a constant stride within a page, seen twice */
    STRATA_PREFETCH_STREAM     /* ascending or descending lines within a page */
};
enum strata_types { STRATA_INT = 1, STRATA_FLOAT = 2 }; /* a set of data types */

/* A cache level. size == sets * ways * line; the number of sets is arbitrary. */
struct strata_cache {
    char name[16];
    uint32_t level;      /* 1 is nearest to the processor */
    uint32_t kind;       /* enum strata_kind */
    uint64_t size;       /* bytes */
    uint32_t line;       /* bytes, a power of two */
    uint32_t ways;       /* size / line if fully associative */
    uint32_t latency;    /* cycles from load to use, on a hit here */
    uint32_t policy;     /* enum strata_policy */
    uint32_t index;      /* enum strata_index */
    uint32_t types;      /* set of enum strata_types kept here; others bypass it */
    uint32_t inclusion;  /* enum strata_inclusion, towards the levels nearer in */
    uint32_t banks;      /* that serve one load each in a cycle; 0: it is not split */
    uint32_t interleave; /* bytes after which the next bank begins; 0 without banks */
    double occupied;     /* share of every set that others hold, 0 <= x < 1 */
};

struct strata_tlb {
    char name[16];
    uint32_t level;
    uint32_t kind;
    uint32_t entries;
    uint32_t ways;    /* == entries if fully associative */
    uint32_t latency; /* extra cycles when the translation is found here */
    uint32_t policy;
    uint32_t index; /* enum strata_tlb_index */
    uint64_t page;  /* bytes mapped by an entry */
};

struct strata_prefetcher {
    char name[16];
    uint32_t level;  /* the cache that it fills */
    uint32_t kind;   /* enum strata_prefetch */
    uint32_t degree; /* lines fetched ahead at a time */
};

/* For the virtual PMU: how branches are predicted and what a wrong guess costs. */
struct strata_branch {
    uint32_t present;
    uint32_t entries; /* two-bit counters, a power of two */
    uint32_t history; /* bits of global history xored into the index; 0: bimodal */
    uint32_t window;  /* instructions executed speculatively after a wrong guess */
    uint32_t penalty; /* cycles */
};

/* How dirty a measured time is, for testing analyses. */
struct strata_noise {
    double jitter;         /* standard deviation of a measured time, relative */
    double spikes;         /* chance that a trial is interrupted */
    uint64_t spike_cycles; /* what an interruption costs */
    uint64_t timer_ns;     /* the clock's resolution; 0: perfect */
};

struct strata_machine {
    char name[STRATA_NAME_SIZE];
    uint64_t page;       /* bytes, the base page */
    uint64_t huge;       /* bytes, 0: programs cannot have huge pages */
    uint64_t frequency;  /* Hz */
    uint32_t mapping;    /* enum strata_mapping */
    uint32_t splintered; /* the host keeps huge pages as base pages: so do the TLBs */
    uint32_t ncaches, ntlbs, nprefetchers;
    uint32_t walk_latency;   /* extra cycles for a page walk */
    uint32_t walk_tables;    /* its last step is a load through the data caches */
    uint32_t memory_latency; /* cycles */
    struct strata_cache caches[STRATA_MAX_CACHES]; /* by level, data before code */
    struct strata_tlb tlbs[STRATA_MAX_TLBS];       /* by page size, then level */
    struct strata_prefetcher prefetchers[STRATA_MAX_PREFETCHERS];
    struct strata_branch branch;
    struct strata_noise noise;
};

struct strata_error;

/* Reads and checks a machine file. On failure *machine is unchanged. */
int strata_machine_read(const char *path, struct strata_machine *machine,
                        struct strata_error *error);

/* The same for text in memory; `name` stands for the file in messages. */
int strata_machine_parse(const char *name, const char *text, struct strata_machine *machine,
                         struct strata_error *error);

/* Writes a machine file that strata_machine_read() reads back to an equal machine.
 * The file appears whole or not at all. `comment` may be NULL; its lines are put
 * at the top, each behind a '#'. */
int strata_machine_write(const char *path, const struct strata_machine *machine,
                         const char *comment, struct strata_error *error);

/* Says whether a machine that was built in memory is possible. */
int strata_machine_check(const struct strata_machine *machine, struct strata_error *error);

#ifdef __cplusplus
}
#endif
#endif
