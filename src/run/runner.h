/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A runner walks reference strings and says what a visit cost.
 *
 * Three kinds: the clock of this machine (timing.c), a simulated machine (simulated.c), and
 * the log of a run on either (replay.c). They offer an arena of base pages and, where there
 * are any, one of huge pages, and give costs in cycles, where a cycle is one dependent
 * integer add. */
#ifndef RUN_RUNNER_H
#define RUN_RUNNER_H

#include "dataset/trials.h"
#include "refs/refs.h"

#include <stdbool.h>
#include <strata/error.h>
#include <strata/machine.h>

enum arena { BASE_PAGES, HUGE_PAGES, ARENAS };

enum {
    RAMP = 8, /* parts in which a string with a ramp is warmed up */
    LAPS = 8, /* to warm up */
};

/* A ring is walked until a lap is no longer faster than the one before: a cache with random
 * replacement, or one that does not trust what is new, takes several laps to hold what it
 * can. That is seen from the first part of a lap already. */
#define SAME 0.98

/* Laps to warm up at the most. Long rings take long, and gain little from the last ones. */
static inline int runner_laps(size_t n)
{
    enum { LONG = 1 << 18 };
    return n < LONG ? LAPS : LAPS / 2;
}

static inline size_t runner_part(size_t n)
{
    enum { SHORT = 2048 };
    return n < SHORT ? n : n / 8 < SHORT ? SHORT : n / 8;
}

struct runner;

/* One trial: a string laid out, walked once to warm up, then walked for the clock. */
struct trial {
    double cycles;  /* a visit */
    bool disturbed; /* the thread lost the processor meanwhile: do not believe it */
};

struct runner_ops {
    int (*walk)(struct runner *, enum arena, const struct refs *, struct trial *);
    double (*clock)(struct runner *);
    bool (*leave)(struct runner *);
    void (*come_back)(struct runner *);
    void (*release)(struct runner *);
};

struct runner {
    const struct runner_ops *ops;
    struct ground ground[ARENAS]; /* bytes == 0: there is no such arena */
    double cycle_ns;
    double tick_ns; /* the clock's resolution */
    bool simulated;
    double until;    /* runner_clock(): a trial then still under way is cut short */
    double stretch;  /* seconds that one of the clock may last; up to 1: it is the wall's */
    uint64_t visits; /* so far, for reports of effort */
    uint64_t trials, disturbed; /* so far */
    int cpu;                    /* of the last walk; -1: simulated */
    struct trials *log;         /* where every walk is put down, or NULL */
    uint64_t log_us;            /* the clock after the last of them */
    uint64_t not_logged;        /* walks that a replay had to refuse */
};

/* Cost of a visit to the string. 0, or WALK_REFUSED: it is a replay of a log that has no
 * such string; else it failed. */
enum { WALK_REFUSED = 1 };
int runner_walk(struct runner *runner, enum arena arena, const struct refs *refs,
                struct trial *trial);

/* Seconds since the runner was made: what a budget is about. Where they may be stretched,
 * seconds of processor time that was had, but never less than the time that went by divided
 * by `stretch`: so a busy machine makes a probe last longer, up to a limit. With a log, as
 * of the end of the last walk: so a replay sees the very same times. */
double runner_clock(struct runner *runner);

/* Goes on on another idle processor of the same kind, whose neighbours are others. Returns
 * false if there is none, or if one was asked for. */
bool runner_leave(struct runner *runner);
void runner_come_back(struct runner *runner);

void runner_release(struct runner *runner);

/* A string as logs know it. */
struct trial_string runner_string(enum arena arena, const struct refs *refs);

/* This machine. cpu < 0: the quietest of those allowed; *cpu says which it became.
 * `bytes` is the wanted size of the arena; less is taken where memory is short. */
int runner_timing(struct runner **runner, int *cpu, uint64_t bytes, uint64_t huge_bytes,
                  struct strata_error *error);

/* A simulated machine; its noise is applied to every trial. */
int runner_simulated(struct runner **runner, const struct strata_machine *machine,
                     uint64_t seed, uint64_t bytes, uint64_t huge_bytes,
                     struct strata_error *error);

/* A log, which has to outlive it. `cycle_ns` is that of its dataset. */
int runner_replay(struct runner **runner, const struct trials *trials, double cycle_ns,
                  struct strata_error *error);

#endif
