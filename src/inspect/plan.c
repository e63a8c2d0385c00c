/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Making the list of runs; plan.h has the contract. */
#include "inspect/plan.h"

#include "core/rng.h"
#include "inspect/kernels.h"

#include <stdlib.h>
#include <string.h>

enum {
    REPEATS = 3,      /* of each number of turns: a disturbed one is outvoted */
    LENGTHS = 6,      /* different numbers of turns */
    TURNS = 1000,     /* the least of them; the others are multiples */
    WORK_TURNS = 8,   /* the same for BARE instructions */
    SYSTEM_TURNS = 8, /* the same for kernels that ask the operating system for work */
    VISITS = 1 << 16, /* of a walk that are counted: what else is counted is little to it */
    BLOCK = 16,       /* pages: few enough for any TLB */
    IDLE_MOST = 4,    /* sleeps */
    CHANCE_TURNS = 20000,
    CHANCE_MOST = 64,
    LEAST_BYTES = 4096,
    LEAST_PAGES = 8
};

const uint32_t plan_units[] = {1, 2, 4, 0};
const uint32_t plan_blocks[] = {4, 8, 16, 32, 34, 64, 0};

static int add(struct plan *plan, struct run run)
{
    if (plan->n == plan->capacity) {
        size_t capacity = plan->capacity ? 2 * plan->capacity : 256;
        struct run *runs = realloc(plan->runs, capacity * sizeof *runs);
        if (!runs)
            return -1;
        plan->runs = runs;
        plan->capacity = capacity;
    }
    plan->runs[plan->n++] = run;
    return 0;
}

/* Loops of several lengths, in an order by chance: a counter that drifts must not look like
 * one that grows with the turns. */
static int add_loops(struct plan *plan, enum run_kind kind, uint32_t kernel, uint64_t turns)
{
    uint64_t order[LENGTHS * REPEATS];
    struct rng rng = {plan->options.seed + 97 * kernel + 1009 * kind};
    for (uint64_t i = 0; i < LENGTHS * REPEATS; i++)
        order[i] = i % LENGTHS + 1;
    for (uint64_t i = LENGTHS * REPEATS; i > 1; i--) {
        uint64_t j = rng_below(&rng, i), other = order[j];
        order[j] = order[i - 1];
        order[i - 1] = other;
    }
    for (uint64_t i = 0; i < LENGTHS * REPEATS; i++)
        if (add(plan,
                (struct run){.kind = kind, .kernel = kernel, .x = order[i] * turns}) != 0)
            return -1;
    return 0;
}

static int add_matrix(struct plan *plan, enum run_kind kind, const struct matrix *matrix,
                      uint64_t turns)
{
    for (uint32_t k = 0; k < matrix->nkernels; k++)
        if (add_loops(plan, kind, k, turns) != 0)
            return -1;
    return 0;
}

static int add_studies(struct plan *plan)
{
    for (uint32_t code = 0; code < 3; code++)
        if (add_loops(plan, RUN_CODE, code, TURNS) != 0)
            return -1;
    for (uint64_t k = 2; k <= CHANCE_MOST; k += k < 16 ? 1 : 4)
        if (add(plan, (struct run){.kind = RUN_CHANCE,
                                   .kernel = (uint32_t)k,
                                   .x = CHANCE_TURNS}) != 0)
            return -1;
    return 0;
}

/* Whole blocks: a smaller one at the end would be followed where the others are not. */
static uint64_t whole_blocks(uint64_t x, uint64_t block)
{
    return x < block ? x : (x + block - 1) / block * block;
}

/* Blocks of more pages are more than a prefetcher can follow. Units are of two lines, as in
 * the source; sizes are powers of two. */
static int add_blocks(struct plan *plan)
{
    const struct plan_options *o = &plan->options;
    for (uint64_t x = o->page > LEAST_BYTES ? o->page : LEAST_BYTES; x <= o->study; x *= 2)
        for (const uint32_t *block = plan_blocks; *block; block++)
            if (add(plan, (struct run){.kind = RUN_BLOCKS,
                                       .kernel = *block,
                                       .x = whole_blocks(x, *block * o->page),
                                       .unit = 2 * o->unit,
                                       .block = *block,
                                       .visits = VISITS}) != 0)
                return -1;
    return 0;
}

/* A walk of one kind through sizes that are powers of two and half-way between. */
static int add_walks(struct plan *plan, enum run_kind kind, uint64_t least, uint64_t most,
                     uint32_t lines, uint64_t block)
{
    for (uint64_t x = least; x <= most; x = x & (x - 1) ? x / 3 * 4 : x / 2 * 3)
        if (add(plan, (struct run){.kind = kind,
                                   .kernel = lines,
                                   .x = x,
                                   .unit = (lines ? lines : 1) * plan->options.unit,
                                   .block = block,
                                   .visits = VISITS}) != 0)
            return -1;
    return 0;
}

/* Those by which all is walked: larger ones where a prefetcher may act on every miss. */
static const uint32_t *units_of(const struct plan *plan)
{
    static const uint32_t lines[] = {1, 0};
    return plan->options.sets & PLAN_UNITS ? plan_units : lines;
}

/* Once and three times: what the others add is free of how it began. */
static int add_ways_back(struct plan *plan, enum run_kind kind, uint64_t x, uint64_t unit,
                         uint64_t visits)
{
    for (uint32_t laps = 1; laps <= BACK_LAPS; laps += BACK_LAPS - 1)
        if (add(plan, (struct run){.kind = kind,
                                   .kernel = laps,
                                   .x = x,
                                   .unit = unit,
                                   .block = kind == RUN_BACK ? BLOCK : 0,
                                   .visits = visits}) != 0)
            return -1;
    return 0;
}

static int add_sizes(struct plan *plan)
{
    const struct plan_options *o = &plan->options;
    for (const uint32_t *lines = units_of(plan); *lines; lines++)
        if (add_ways_back(plan, RUN_BACK, 2 * o->bytes, *lines * o->unit,
                          2 * o->bytes / (*lines * o->unit)) != 0)
            return -1;
    return add_ways_back(plan, RUN_PAGES_BACK, o->pages, o->unit, o->pages);
}

/* Blocks of a page around the size of a first cache, skipping some in each lap. */
static int add_cascade(struct plan *plan)
{
    const struct plan_options *o = &plan->options;
    enum { LEAST = 4, MOST = 24, LAPS = 8 };
    for (uint32_t offset = 0; offset <= 4; offset = offset ? 2 * offset : 1)
        for (uint64_t blocks = LEAST; blocks <= MOST; blocks++)
            if (add(plan, (struct run){.kind = RUN_CASCADE,
                                       .kernel = offset,
                                       .x = blocks * o->page,
                                       .unit = o->unit,
                                       .visits = LAPS * blocks * o->page / o->unit}) != 0)
                return -1;
    return 0;
}

/* A chase by each unit; those that only a study wants do not go as far. */
static int add_units(struct plan *plan, enum run_kind kind)
{
    const struct plan_options *o = &plan->options;
    bool all = o->sets & PLAN_UNITS, study = kind == RUN_READ && o->sets & PLAN_STUDIES;
    for (const uint32_t *lines = plan_units; *lines; lines++) {
        bool whole = all || lines == plan_units;
        if ((whole || study) && add_walks(plan, kind, LEAST_BYTES,
                                          whole ? o->bytes : o->study, *lines, BLOCK) != 0)
            return -1;
    }
    return 0;
}

static int add_chases(struct plan *plan)
{
    const struct plan_options *o = &plan->options;
    static const enum run_kind orders[] = {RUN_ASCEND, RUN_PAIRS, RUN_APART};
    if (add_units(plan, RUN_READ) != 0 || add_units(plan, RUN_WRITE) != 0)
        return -1;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if ((orders[i] != RUN_APART || o->sets & PLAN_UNITS) &&
            add_walks(plan, orders[i], LEAST_BYTES, o->bytes, 0, BLOCK) != 0)
            return -1;
    return 0;
}

static int add_caches(struct plan *plan)
{
    const struct plan_options *o = &plan->options;
    if (add_chases(plan) != 0 ||
        add_walks(plan, RUN_PAGES, LEAST_PAGES, o->pages, 0, 0) != 0 ||
        add_walks(plan, RUN_PAGES_WRITE, LEAST_PAGES, o->pages, 0, 0) != 0)
        return -1;
    if (o->sets & PLAN_STUDIES && (add_blocks(plan) != 0 || add_cascade(plan) != 0))
        return -1;
    return o->sets & PLAN_SIZES ? add_sizes(plan) : 0;
}

static int add_sets(struct plan *plan, const struct matrices *matrices)
{
    unsigned sets = plan->options.sets;
    if (sets & PLAN_BRANCH && add_matrix(plan, RUN_BRANCH, &matrices->branches, TURNS) != 0)
        return -1;
    if (sets & (PLAN_BRANCH | PLAN_CACHE) &&
        add_matrix(plan, RUN_WORK, &matrices->work, WORK_TURNS * BARE) != 0)
        return -1;
    for (uint64_t x = 1; sets & PLAN_IDLE && x <= IDLE_MOST; x++)
        if (add(plan, (struct run){.kind = RUN_HALT, .x = x}) != 0)
            return -1;
    if (sets & PLAN_STUDIES && add_studies(plan) != 0)
        return -1;
    if (sets & PLAN_SYSTEM &&
        add_matrix(plan, RUN_SYSTEM, &matrices->system, SYSTEM_TURNS) != 0)
        return -1;
    return sets & PLAN_CACHE ? add_caches(plan) : 0;
}

int plan_make(const struct plan_options *options, const struct matrices *matrices,
              struct plan *plan)
{
    *plan = (struct plan){.options = *options};
    if (add_sets(plan, matrices) == 0)
        return 0;
    plan_release(plan);
    return -1;
}

void plan_release(struct plan *plan)
{
    free(plan->runs);
    *plan = (struct plan){.n = 0};
}

static uint64_t run_bytes(const struct plan *plan, const struct run *run)
{
    if (run->kind == RUN_WORK)
        return plan->options.bytes; /* one of them is a chase */
    if (run->kind < RUN_READ)
        return 0;
    bool pages = run->kind >= RUN_PAGES && run->kind <= RUN_PAGES_BACK;
    return pages ? run->x * plan->options.page : run->x;
}

uint64_t plan_bytes(const struct plan *plan)
{
    uint64_t most = 0;
    for (size_t i = 0; i < plan->n; i++)
        if (run_bytes(plan, &plan->runs[i]) > most)
            most = run_bytes(plan, &plan->runs[i]);
    return most;
}

double plan_seconds(const struct plan *plan)
{
    double seconds = 0;
    for (size_t i = 0; i < plan->n; i++) {
        const struct run *run = &plan->runs[i];
        double far = (double)run_bytes(plan, run) > 1e6 ? 1e-7 : 1e-8;
        bool back = run->kind == RUN_BACK || run->kind == RUN_PAGES_BACK;
        if (run->visits)
            seconds += (double)run->visits * far * (back ? 2 * run->kernel + 1 : 1);
        else if (run->kind == RUN_SYSTEM || run->kind == RUN_HALT)
            seconds += (double)run->x * (run->kind == RUN_HALT ? 1e-3 : 2e-5);
        else
            seconds += (double)run->x * (run->kind == RUN_WORK ? 3e-10 : 3e-8);
    }
    return seconds;
}
