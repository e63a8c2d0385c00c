/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is run to find out about events: a list of runs of kernels, the same for every
 * source of counts. What comes out is a table of counts by run and event. */
#ifndef INSPECT_PLAN_H
#define INSPECT_PLAN_H

#include "inspect/matrix.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum run_kind {
    RUN_BRANCH, /* kernel `kernel` of the matrix, x turns */
    RUN_SYSTEM, /* the same of the matrix of the operating system */
    RUN_CODE,   /* the codes of section 2 of the source, x turns: kernel 0, 1, 2 */
    RUN_CHANCE, /* a branch that is taken once in x */
    RUN_WORK,   /* the same of the matrix of instructions, x instructions */
    RUN_HALT,   /* x sleeps of a millisecond */
    RUN_READ,   /* a chase through x bytes by units of `kernel` lines */
    RUN_WRITE,  /* x bytes written by such units, in an order that nothing guesses */
    RUN_ASCEND, /* x bytes read one unit after the other */
    RUN_PAIRS,  /* a chase through x bytes by neighbours: each other visit is one further */
    RUN_APART,  /* x bytes by lines, half a lap between neighbours */
    RUN_BACK,   /* x bytes read from the first to the last and back, `kernel` times */
    RUN_PAGES,  /* a chase through x pages, one link in each */
    RUN_PAGES_WRITE,
    RUN_PAGES_BACK, /* the same with pages */
    RUN_BLOCKS,     /* a chase by two lines through `kernel` pages at a time, by turns */
    RUN_CASCADE,    /* x bytes in blocks of a page, with `kernel` blocks of offset */
    RUN_KINDS
};

/* Lines of a unit. A prefetcher that fetches what is beside a line fetches nothing that is
 * visited where units are larger; ends with 0. */
extern const uint32_t plan_units[];

/* Pages of a block of RUN_BLOCKS; ends with 0. */
extern const uint32_t plan_blocks[];

/* How often the longer of the two runs of each way back goes; the shorter goes once. */
enum { BACK_LAPS = 3 };

struct run {
    enum run_kind kind;
    uint32_t kernel;
    uint64_t x;
    uint64_t unit;   /* bytes from one visit to the next, in memory */
    uint64_t block;  /* pages that are walked through before the next ones */
    uint64_t visits; /* that are counted; 0: it is none through memory */
};

enum plan_set {
    PLAN_BRANCH = 1,
    PLAN_CACHE = 2,
    PLAN_SYSTEM = 4,
    PLAN_STUDIES = 8,
    PLAN_IDLE = 16,  /* sleeps, where counters can be opened on a whole processor */
    PLAN_SIZES = 32, /* with PLAN_CACHE: how much each level holds */
    PLAN_UNITS = 64  /* with PLAN_CACHE: also by larger units, for prefetchers that act on
                      * every miss; elsewhere they show nothing but what lines show */
};

struct plan_options {
    unsigned sets;  /* of enum plan_set */
    uint64_t page;  /* bytes */
    uint64_t unit;  /* the largest line, or a guess */
    uint64_t bytes; /* walks go up to so many */
    uint64_t pages; /* and through so many pages */
    uint64_t study; /* bytes: studies go beyond a second cache, and no further */
    uint64_t seed;
};

struct plan {
    struct plan_options options;
    struct run *runs;
    size_t n, capacity;
};

/* -1: out of memory. */
int plan_make(const struct plan_options *options, const struct matrices *matrices,
              struct plan *plan);
void plan_release(struct plan *plan);

/* Bytes that all walks need. */
uint64_t plan_bytes(const struct plan *plan);

/* About how many seconds a processor of 3 GHz takes for all runs once. */
double plan_seconds(const struct plan *plan);

#endif
