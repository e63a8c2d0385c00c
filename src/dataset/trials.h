/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A log of trials: every walk of a probe by times with its string, the processor, the time
 * and the cycles, and what else the probe was told by its runner. Replayed, it leads the
 * same plan to the same answers, without the machine (run/replay.c). docs/format/dataset.md
 * describes it as part of a dataset's file. */
#ifndef DATASET_TRIALS_H
#define DATASET_TRIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRIAL_PARAMETERS = 10, TRIAL_NAME = 24, TRIAL_ARENAS = 2 };

/* A string that was walked: its generator, the arena, and what the generator was given. */
struct trial_string {
    char name[TRIAL_NAME];
    uint32_t arena;
    uint32_t n;
    uint64_t given[TRIAL_PARAMETERS]; /* 0 behind n */
};

struct trial_walk {
    uint32_t string; /* its index */
    int32_t cpu;     /* -1: simulated */
    uint64_t us;     /* of the runner's clock when it ended; it never goes back */
    double cycles;   /* a visit */
    uint64_t visits;
    uint32_t repeats; /* tries before it that were disturbed */
    bool disturbed;   /* it still was */
};

struct trials {
    struct trial_ground {
        uint64_t page, bytes; /* 0: there is no such arena */
    } ground[TRIAL_ARENAS];
    double budget;  /* seconds; INFINITY: none */
    double tick_ns; /* the clock's resolution */
    int cpu;        /* where it began; -1: simulated */
    bool simulated;
    bool guest; /* others ran on the same host */
    size_t nstrings, string_capacity, nwalks, walk_capacity, nleaves, leave_capacity;
    struct trial_string *strings;
    struct trial_walk *walks; /* in their order */
    bool *leaves;             /* each time that it was to go to another processor: it did */
    uint32_t *table;          /* of strings by hash: index + 1, or 0 */
    size_t table_size;
};

struct trials *trials_create(void); /* NULL: out of memory */
void trials_release(struct trials *trials);

/* The index of a string, or -1: it was not walked. O(1). */
long trials_find(const struct trials *trials, const struct trial_string *string);

/* Its index, after it was added if it was not there; -1: out of memory. */
long trials_string(struct trials *trials, const struct trial_string *string);

int trials_add(struct trials *trials, const struct trial_walk *walk); /* -1: no memory */
int trials_leave(struct trials *trials, bool left);                   /* -1: no memory */

#endif
