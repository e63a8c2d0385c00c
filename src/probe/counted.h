/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A probe by counts: caches and TLBs from which visits miss where (Dongarra, Moore, Mucci,
 * Seymour, You 2004), made exact for physical indexes, any replacement policy and
 * prefetchers. docs/design/counters.md has the reasoning.
 *
 * All of it rests on one fact that holds under every policy: lines that fit end up all
 * resident, and then a lap over them has no miss, while of lines of which one set has too
 * many at least one misses in every lap. */
#ifndef PROBE_COUNTED_H
#define PROBE_COUNTED_H

#include "counting/counting.h"
#include "probe/probing.h"

/* Places to visit, as offsets into an arena. */
struct lines {
    size_t n, capacity;
    uint64_t *at;
};

int lines_add(struct lines *lines, uint64_t at); /* -1: out of memory */
int lines_append(struct lines *lines, const struct lines *more, uint64_t offset);
bool lines_have(const struct lines *lines, uint64_t at);
void lines_remove(struct lines *lines, uint64_t at); /* if it is there */
void lines_release(struct lines *lines);

/* Times, solved from the counts of many walks: what serves a visit, and what translates
 * it. Columns are cache levels, memory, then TLB levels behind the first, the walk. */
enum { COSTS = 2 * COUNTED_LEVELS + 2 };
struct costs {
    double a[COSTS][COSTS], b[COSTS], squares;
    size_t rows;
};

struct counted {
    struct counting *counting;
    struct strata_probed *probed;
    const struct strata_probe_options *options;
    struct strata_error *error;
    struct rng rng;
    enum strata_types type;
    enum arena arena;
    uint32_t *moved; /* what each visit of the last lap made move */
    size_t capacity;
    struct walk_counts counts; /* of the last lap */
    struct costs costs;
    bool bypassed[COUNTED_EVENTS]; /* doubles do not make these events move */
    bool stopped;
};

/* Visits all lines once in their order; c->moved and c->counts say what moved. */
int lap(struct counted *c, const struct lines *lines);

/* How many visits of the last lap made an event move. */
size_t lap_misses(const struct counted *c, const struct lines *lines, uint32_t bit);

/* Adds the lines that missed in the last lap to a list; says how many were new there. */
int lap_collect(struct counted *c, const struct lines *lines, uint32_t bit,
                struct lines *to, size_t *added);

void shuffle(struct counted *c, struct lines *lines);

/* A pool: lines that share one set in every cache nearer in than `level`, and what is found
 * from them about that level. */
struct pool {
    int level;
    uint32_t bit;       /* of the level's misses */
    size_t inner;       /* ways of the level before; 0: there is none */
    size_t innermost;   /* those of the level before that one */
    uint64_t inner_way; /* bytes: its way size */
    bool inner_virtual; /* it is indexed by virtual addresses */
    bool inner_random;  /* chance decides what some nearer cache keeps */
    uint64_t spread;    /* bytes: their physical addresses are multiples of it apart */
    uint64_t before;    /* that of the pool from which this one was taken */
    struct pool *from;  /* that one, while it may have more of them */
    size_t taken;       /* so many of its lines were looked at */
    struct lines lines; /* in random order */
    size_t tried;       /* so many of them were */
    size_t vain;        /* the last ones of these, which did not fit */
    struct lines held;  /* as many of them as the level holds at a time */
    struct lines rest;  /* those that were tried and do not fit with these */
    struct lines set;   /* those of `held` that share one set… */
    uint64_t extra;     /* …and one that is too many there */
    struct lines press; /* some of `held` that do not */
    bool exclusive;     /* it holds what the level before casts out, and nothing else */
    bool steady;        /* laps in one order repeat themselves: nothing random goes on */
    size_t ways, colours;
    uint64_t granule; /* of the index: way size / colours */
    uint64_t way, line;
    bool line_hidden; /* a prefetcher may make it seem longer than it is */
    bool ways_hidden; /* some may be those of the level before */
    char why[160];    /* where it cannot be told */
};

/* Lines for each way of a nearer cache, to drive others out of it. */
enum { POOL_PRESS = 3 };

/* Laps in which nothing new is seen, after which nothing new will be. */
enum { STEADY_PATIENCE = 12, RANDOM_PATIENCE = 60 };
int pool_patience(const struct pool *pool);

/* Laps over n lines without a miss that are believed. */
int pool_clean_laps(const struct pool *pool, size_t n);

/* Whether it holds so many lines that the last of them are not looked for. */
bool pool_is_large(const struct pool *pool);

int pool_hold(struct counted *c, struct pool *pool); /* held, rest, steady */
/* Whether the level takes in what the one before casts out; if so, what it holds is
 * gathered anew, with more care. */
int pool_exclusive(struct counted *c, struct pool *pool, const struct lines *others);
int pool_set(struct counted *c, struct pool *pool);   /* set, extra, ways, colours */
int pool_press(struct counted *c, struct pool *pool); /* press */
int pool_line(struct counted *c, struct pool *pool, uint64_t from);
/* Whether places `shift` apart are in one line, where a prefetcher of the level before
 * brings both in. `told` is false where that cannot be arranged. */
int pool_neighbour(struct counted *c, const struct pool *pool, const struct lines *others,
                   uint64_t shift, bool *told, bool *same);
int pool_granule(struct counted *c, struct pool *pool, const struct lines *others);
/* The lines of the pool that share the set, as the pool of the next level; `others` gets
 * some that do not. The next pool begins with few lines: pool_need() gets it more from
 * this one, which has to stay, until it has n or there are no more. */
int pool_members(struct counted *c, struct pool *pool, struct pool *next,
                 struct lines *others);
int pool_need(struct counted *c, struct pool *pool, size_t n);
void pool_release(struct pool *pool);

/* Which events can be believed. */
int judge_events(struct counted *c);

/* Whether there is an event that loads of the present type make move. */
bool is_counted(const struct counted *c, int event);
void counted_note(struct counted *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int count_caches(struct counted *c);
int count_tlbs(struct counted *c, enum arena arena);
int count_banks(struct counted *c);
int count_kernels(struct counted *c); /* the series for plots, if they are wanted */

void costs_add(struct counted *c);
int solve_costs(struct counted *c);

struct strata_value counted_value(const struct counted *c, int event, double value);
int counted_no_memory(struct counted *c);

/* Probes by the counts of a runner, which stays the caller's. What has no event that can be
 * believed is taken from the clock. STRATA_UNABLE: no cache has one. */
int probe_counted(const struct strata_probe_options *options, struct counting *counting,
                  struct strata_probed *probed, struct strata_error *error);

/* The sizes of the arenas that a counting runner should have for it. */
uint64_t counted_base_bytes(uint64_t page);
uint64_t counted_huge_bytes(uint64_t page);

#endif
