/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Kernels whose behaviour is known: loops that execute so many branches of each kind a turn
 * (Danalis et al. 2019, Figure 11, and what today's processors have besides), and walks
 * through memory (their section 4).
 *
 * A kernel is C, but which branches it is made of decides the compiler. All its variables
 * are volatile, so that no condition is folded, moved or turned into arithmetic; and
 * scripts/kernel-branches counts the branches in the machine code when strata is built.
 *
 * Nothing here calls a library. */
#ifndef INSPECT_KERNELS_H
#define INSPECT_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

/* The variables of the branch kernels. */
struct kernel_state {
    volatile uint64_t turn, turns, half;
    volatile uint64_t random, result;
    volatile uint64_t divisor; /* K of the study of mispredictions */
    volatile uint64_t first, second;
    void (*volatile leaf)(struct kernel_state *state);
};

/* Turns a loop `turns` times. */
typedef void kernel_function(struct kernel_state *state, uint64_t turns);

struct kernel {
    const char *name; /* "a": as the matrix calls it */
    kernel_function *run;
};

/* Those of the matrix, in its order, then those of the studies; ends with no name. */
extern const struct kernel kernels[];
const struct kernel *kernel_find(const char *name);

void kernel_prepare(struct kernel_state *state);

/* An element of a chain: one in each unit of a buffer. */
struct link {
    struct link *next, *before;
    uint64_t mark;
};

/* Walks n links on from one; returns where it is then. */
struct link *walk_on(struct link *at, uint64_t n);

/* Reads the n links of a ring from the first to the last and back to the first, `laps`
 * times, and touches nothing else in memory. */
void walk_both_ways(struct link *first, struct link *last, uint64_t n, uint64_t laps);

/* Kernels of machine code: n instructions, where n is a multiple of BARE. */
enum { BARE = 64 * 3 * 13 };

/* As walk_on(), three instructions a link; no other access of memory. */
struct link *walk_bare(struct link *at, uint64_t n);

/* 62 of 64 do nothing; are stores to the word; are loads of it. */
void idle_bare(uint64_t n);
void store_bare(uint64_t n, volatile uint64_t *word);
void load_bare(uint64_t n, volatile uint64_t *word); /* the word is 0 */

/* 8 of 13 are stores, each in another page; from `at` on, up to `end` and then again from
 * `first`. Returns where it is then. */
char *strew_bare(uint64_t n, char *at, char *first, char *end);
enum { STREW = 8 * (4096 + 64) }; /* bytes that are needed behind `end` */

/* A branch by chance in each six, which leaps over a seventh. Returns the next chance. */
uint64_t guess_bare(uint64_t n, uint64_t chance);

/* Reads n units one after the other from `at` on, up to `end` and then again from `first`.
 * Returns where it is then. */
const char *walk_ascending(const char *at, const char *first, const char *end,
                           uint64_t unit, uint64_t n);

/* Where a walk that writes is: in a buffer of `units`, `block` at a time, a power of two
 * that divides them. */
struct writing {
    char *buffer;
    uint64_t units, unit, block;
    char *at;       /* the block: the buffer at first */
    uint64_t place; /* in it: 0 at first */
};

/* Writes n units without reading anything: each of a block once, in an order that nothing
 * guesses, then those of the next. */
void walk_writing(struct writing *writing, uint64_t n);

#endif
