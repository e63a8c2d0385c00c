/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A raw file: what a collector leaves of one process, before it becomes part of a profile.
 *
 * The collector maps the file shared and works in it: its counts are in the file at the
 * moment they change, so that a process that is killed leaves all that was seen. The file
 * is a header and then records, one behind the other, each a multiple of 8 bytes that
 * begins with struct raw_record. A record is complete before `used` is moved behind it;
 * numbers in cells, buckets and the header go on changing. Records refer to one another by
 * ids that count from 0 in the order of appearance for each kind; a record only refers to
 * earlier ones. Numbers are as this machine stores them: a raw file never leaves the
 * machine, nor does it outlive the run.
 *
 * The same header, with no records behind it, tells the collector what to do: its first
 * part, up to `machine`, is written by `strata record` into the file "config" of a folder;
 * every process makes its own NAME.raw beside it.
 *
 * Freestanding: it is included by the Valgrind tool too. */
#ifndef PROFILE_RAW_H
#define PROFILE_RAW_H

#include "sim/sim.h"
#include <stdint.h>
#include <strata/machine.h>

#define RAW_MAGIC   "strataRW"
#define RAW_NONE    UINT32_MAX /* no string, no module */
#define RAW_VERSION 2

/* How the process ended, as far as the file knows. */
enum raw_end {
    RAW_RUNNING,   /* it did not say: killed, or still at it */
    RAW_EXITED,    /* status: its exit status */
    RAW_SIGNALLED, /* status: the signal that ended it */
    RAW_EXECUTED   /* it became another program by exec */
};

enum raw_collect { RAW_EXACT = 1, RAW_SAMPLED = 2 }; /* a set */

/* Events of the virtual PMU that have no level; raw_header.events counts them. */
enum raw_event {
    RAW_INSTRUCTIONS,
    RAW_CONDITIONAL, /* branches, by kind */
    RAW_TAKEN,       /* conditional ones that were */
    RAW_JUMPS,       /* direct, not conditional */
    RAW_INDIRECT,    /* jumps through a register */
    RAW_CALLS,
    RAW_RETURNS,
    RAW_MISPREDICTED, /* of all kinds */
    /* Of these, those through a register, and returns; the others were conditional. */
    RAW_MISPREDICTED_INDIRECT,
    RAW_MISPREDICTED_RETURNS,
    RAW_INDIRECT_CALLS, /* of the calls */
    /* Executed behind a wrong guess and thrown away; not among those above. In the order of
     * the kinds from RAW_CONDITIONAL on, so that a kind and its shadow are as far apart. */
    RAW_SHADOW_CONDITIONAL,
    RAW_SHADOW_TAKEN,
    RAW_SHADOW_JUMPS,
    RAW_SHADOW_INDIRECT,
    RAW_SHADOW_CALLS,
    RAW_SHADOW_RETURNS,
    RAW_SHADOW_INSTRUCTIONS,
    RAW_EVENTS
};

/* What the simulator does not tell of stores: those that missed in each level. */
struct raw_stores {
    uint64_t misses[STRATA_MAX_CACHES], tlb_misses[STRATA_MAX_TLBS];
};

/* Nor of instruction fetches, but for the walks. */
struct raw_fetched {
    uint64_t misses[STRATA_MAX_CACHES], tlb_misses[STRATA_MAX_TLBS];
};

struct raw_header {
    char magic[8];
    uint32_t version;
    uint32_t size; /* of this header; the first record is there */
    /* What to do: */
    uint32_t collect;          /* set of enum raw_collect */
    uint32_t fetches;          /* 1: instruction fetches go through the caches too */
    uint32_t branches;         /* 1: branches are counted */
    uint32_t stack_frames;     /* 1: the stack is split by function */
    uint32_t paused;           /* 1: nothing is collected until the program says so */
    uint32_t event_level;      /* sampled: misses of this cache level are the events */
    uint64_t period;           /* sampled: a mean of one sample for so many events */
    uint64_t interrupt_cycles; /* what a sample costs */
    uint64_t seed;             /* of page mapping, replacement and sampling */
    struct strata_machine machine;
    /* What came of it: */
    uint64_t used;  /* bytes of the file that hold whole records, with the header */
    uint32_t lost;  /* 1: the disk was full, what came later is not in here */
    uint32_t end;   /* enum raw_end */
    int32_t status; /* as enum raw_end says */
    int32_t pid;
    int32_t parent;   /* pid; a fork of that: its counts begin anew at the fork */
    uint32_t command; /* string: the program's path */
    /* Virtual cycles: one for an instruction, which covers a hit in the nearest cache, and
     * what comes on top of that: waiting for memory, wrong guesses, interrupts. */
    uint64_t cycles;
    uint64_t waits; /* of these, waiting for memory */
    uint64_t samples;
    uint64_t sampler_accesses, sampler_misses,
        sampler_cycles; /* what sampling itself did */
    uint64_t events[RAW_EVENTS];
    struct raw_stores stores;
    struct raw_fetched fetched;
    struct sim_counts counts; /* of the whole machine, the sampler's accesses included */
};

/* What the request VPMU_REQUEST_TOTALS answers with: all of it is 64-bit counts. */
struct raw_totals {
    uint64_t events[RAW_EVENTS];
    uint64_t samples;
    uint64_t cycles, waits;
    struct raw_stores stores;
    struct raw_fetched fetched;
    struct sim_counts counts;
};

enum raw_type { RAW_STRING = 1, RAW_SITE, RAW_BUCKET, RAW_CELL };

struct raw_record {
    uint32_t type; /* enum raw_type */
    uint32_t size; /* bytes, this included: a multiple of 8 */
};

/* Text: UTF-8 or whatever bytes a symbol has, without a 0; padded with 0 bytes. */
struct raw_string {
    struct raw_record record;
    uint32_t length;
    char text[];
};

/* An instruction that had an event. */
struct raw_site {
    struct raw_record record;
    uint64_t address;  /* in the process */
    uint64_t offset;   /* in the module's own addresses, as its symbol table has them */
    uint32_t module;   /* string: path of the program or library, or RAW_NONE */
    uint32_t function; /* string, or RAW_NONE */
    uint32_t file;     /* string: path as the debug information has it, or RAW_NONE */
    uint32_t line;     /* 0: not known */
};

enum raw_bucket_kind {
    RAW_UNKNOWN,
    RAW_GLOBAL, /* a variable */
    RAW_HEAP,   /* blocks that were allocated by the same three functions */
    RAW_NAMED,  /* blocks that the program gave a name */
    RAW_STACK,
    RAW_CODE /* instruction fetches */
};

/* What several objects share: all with one name. */
struct raw_bucket {
    struct raw_record record;
    uint32_t kind;           /* enum raw_bucket_kind */
    uint32_t name;           /* string; functions of a heap name are joined by '-': the one
                                that called the allocator first, then its caller */
    uint32_t module;         /* string, for a global; or RAW_NONE */
    uint32_t site;           /* string "file:line" of the first allocation; or RAW_NONE */
    uint64_t objects, bytes; /* in all */
    uint64_t live, live_bytes, most_bytes; /* now; the most at a time */
    uint64_t smallest, largest;            /* bytes, of an object */
};

/* The events of one instruction in the objects of one bucket. */
struct raw_cell {
    struct raw_record record;
    uint32_t bucket, site;
    uint32_t collect;  /* RAW_EXACT: every event; RAW_SAMPLED: the sampled ones */
    uint32_t stack;    /* reserved, 0 */
    uint64_t events;   /* accesses that missed the nearest cache or the nearest TLB */
    uint64_t stores;   /* of these */
    uint64_t latency;  /* cycles of these, translation and data together */
    uint64_t misses[]; /* of these, in each cache level, then in each TLB level */
};

/* The number of levels of a machine: as many misses[] as both together. */
static inline uint32_t raw_cache_levels(const struct strata_machine *machine)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < machine->ncaches; i++)
        most = machine->caches[i].level > most ? machine->caches[i].level : most;
    return most;
}

static inline uint32_t raw_tlb_levels(const struct strata_machine *machine)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < machine->ntlbs; i++)
        most = machine->tlbs[i].level > most ? machine->tlbs[i].level : most;
    return most;
}

#endif
