/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How fast the simulated machine is, in millions of accesses a second.
 *
 *     build/bench/sim [FOLDER]    machine files are in FOLDER, machines/ by default
 *
 * Each row is a machine and an order of 8-byte loads, run through sim_chase() and through
 * sim_access(), with the shares of loads that each level served and that needed a page
 * walk. A mix is of random lines, so many of 16 in three quarters of L1, in half of L2 and
 * in half of L3; fewer are served by L1 than are aimed at it, because the others throw its
 * lines out. Runs are pinned and cut into pieces of a fraction of a millisecond, of which
 * the fastest counts: it is the one that nothing else on this computer disturbed. The
 * length of a cycle is measured beside it, by additions that wait for each other.
 *
 *     generic           1 cycle = 0.308 ns  chase  access  goal    L1   L2   L3  mem walk
 *       L1 in random order                  322.2   162.5   100  100%   0%   0%   0%   0%
 *
 * The last table is of loads and stores as a program makes them (struct program says
 * which), through sim_access() alone, and through sim_quick() with sim_access() for what
 * that leaves over; beside it the shares of accesses that were not quick, and that missed
 * in the first cache and in the first TLB. There a whole trace counts, the fastest of many
 * times. One of its machines is what cachegrind simulates, with a TLB added.
 */
#include "core/rng.h"
#include "host/clock.h"
#include "host/processors.h"
#include "sim/quick.h"

#include <stdio.h>
#include <stdlib.h>
#include <strata/error.h>
#include <strata/machine.h>

enum { LOADS = 1 << 20, PIECE = 1 << 12, CELLS = 5, TRACE = 1 << 18 };

static const double spend_ns = 5e8; /* on each figure */

static const uint64_t base = UINT64_C(1) << 40;

static void *allocate(void *context, size_t size)
{
    (void)context;
    return malloc(size);
}

static void release(void *context, void *block)
{
    (void)context;
    free(block);
}

static const struct allocator allocator = {allocate, release, NULL};

/* The size of the data cache of a level, or four times the last one's for memory. */
static uint64_t size_of(const struct strata_machine *machine, uint32_t level)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < machine->ncaches; i++) {
        const struct strata_cache *cache = &machine->caches[i];
        if (cache->kind == STRATA_INSTRUCTION)
            continue;
        if (cache->level == level)
            return cache->size;
        size = 4 * cache->size;
    }
    return size;
}

static uint64_t random_line(struct rng *rng, uint64_t bytes)
{
    return rng_below(rng, bytes / 64) * 64;
}

/* Orders of loads: the i-th one's offset. */

static uint64_t l1_random(const struct strata_machine *machine, struct rng *rng, size_t i)
{
    (void)i;
    return random_line(rng, size_of(machine, 1) * 3 / 4);
}

static uint64_t l1_ascending(const struct strata_machine *machine, struct rng *rng,
                             size_t i)
{
    (void)rng;
    return 8 * i % (size_of(machine, 1) * 3 / 4);
}

static uint64_t l2_random(const struct strata_machine *machine, struct rng *rng, size_t i)
{
    (void)i;
    return random_line(rng, size_of(machine, 2) / 2);
}

static uint64_t l3_random(const struct strata_machine *machine, struct rng *rng, size_t i)
{
    (void)i;
    return random_line(rng, size_of(machine, 3) / 2);
}

static uint64_t memory_random(const struct strata_machine *machine, struct rng *rng,
                              size_t i)
{
    (void)i;
    return random_line(rng, size_of(machine, 99));
}

static uint64_t mix(const struct strata_machine *machine, struct rng *rng, uint64_t l1,
                    uint64_t l2)
{
    uint64_t die = rng_below(rng, 16);
    return die < l1        ? l1_random(machine, rng, 0)
           : die < l1 + l2 ? l2_random(machine, rng, 0)
                           : l3_random(machine, rng, 0);
}

static uint64_t near_mix(const struct strata_machine *machine, struct rng *rng, size_t i)
{
    (void)i;
    return mix(machine, rng, 13, 2);
}

static uint64_t far_mix(const struct strata_machine *machine, struct rng *rng, size_t i)
{
    (void)i;
    return mix(machine, rng, 10, 4);
}

typedef uint64_t order(const struct strata_machine *machine, struct rng *rng, size_t i);

static const struct row {
    const char *name;
    order *order;
    int goal; /* million accesses a second, 0: none */
} rows[] = {
    {"L1 in random order", l1_random, 100},
    {"L1 in ascending order", l1_ascending, 100},
    {"mix, 13 : 2 : 1", near_mix, 25},
    {"mix, 10 : 4 : 2", far_mix, 25},
    {"L2 in random order", l2_random, 0},
    {"L3 in random order", l3_random, 0},
    {"memory in random order", memory_random, 0},
};

static void run_chase(struct sim *sim, const uint64_t *offsets, size_t n)
{
    sim_chase(sim, base, offsets, n);
}

static void run_access(struct sim *sim, const uint64_t *offsets, size_t n)
{
    struct sim_result result;
    for (size_t i = 0; i < n; i++)
        sim_access(sim, base + offsets[i], 8, SIM_LOAD, STRATA_INT, &result);
}

/* The speed of the fastest piece, in millions a second. */
static double speed(struct sim *sim, const uint64_t *offsets,
                    void (*run)(struct sim *, const uint64_t *, size_t))
{
    double best = 1e18, begin = clock_ns();
    for (size_t at = 0; clock_ns() < begin + spend_ns; at = (at + PIECE) % LOADS) {
        double start = clock_ns();
        run(sim, offsets + at, PIECE);
        double took = clock_ns() - start;
        best = took < best ? took : best;
    }
    return PIECE * 1e3 / best;
}

/* In which share of loads each level, memory, or a walk took part. */
static void shares(struct sim *sim, const struct strata_machine *machine,
                   double share[CELLS])
{
    const struct sim_counts *counts = sim_counts(sim);
    double loads = (double)counts->accesses[SIM_LOAD], rest = loads;
    for (int i = 0; i < CELLS; i++)
        share[i] = 0;
    for (uint32_t i = 0; i < machine->ncaches; i++)
        if (machine->caches[i].kind != STRATA_INSTRUCTION &&
            machine->caches[i].level <= 3) {
            share[machine->caches[i].level - 1] = (double)counts->hits[i] / loads;
            rest -= (double)counts->hits[i];
        }
    share[3] = rest / loads;
    share[4] = (double)counts->walks / loads;
}

static int measure(const struct strata_machine *machine, const struct row *row,
                   const char *name, double cell[2], double share[CELLS])
{
    struct sim *sim = sim_create(machine, 1, &allocator);
    uint64_t *offsets = malloc(LOADS * sizeof *offsets);
    struct rng rng = {1};
    int status = -1;
    if (!sim || !offsets) {
        fprintf(stderr, "sim: out of memory for %s\n", name);
        goto out;
    }
    for (size_t i = 0; i < LOADS; i++)
        offsets[i] = row->order(machine, &rng, i);
    /* Filled first, so that what is in reach of a level is there. */
    for (uint64_t at = 0; at < size_of(machine, 3) / 2; at += 64)
        sim_chase(sim, base, &at, 1);
    run_chase(sim, offsets, LOADS);
    sim_reset_counts(sim);
    cell[0] = speed(sim, offsets, run_chase);
    shares(sim, machine, share);
    cell[1] = speed(sim, offsets, run_access);
    status = 0;
out:
    free(offsets);
    sim_release(sim);
    return status;
}

static int print_row(const struct strata_machine *machine, const struct row *row,
                     const char *name)
{
    double cell[2], share[CELLS];
    if (measure(machine, row, name, cell, share))
        return -1;
    printf("  %-34s %6.1f  %6.1f", name, cell[0], cell[1]);
    if (row->goal)
        printf(" %5d ", row->goal);
    else
        printf("       ");
    for (int i = 0; i < CELLS; i++)
        printf(" %3.0f%%", 100 * share[i]);
    putchar('\n');
    fflush(stdout);
    return 0;
}

static void print_head(const char *name)
{
    printf("%-17.17s 1 cycle = %5.3f ns  chase  access  goal    L1   L2   L3  mem walk\n",
           name, clock_add_ns());
}

static int read_machine(const char *folder, const char *name,
                        struct strata_machine *machine)
{
    char path[512];
    struct strata_error error = {0};
    snprintf(path, sizeof path, "%s/%s.machine", folder, name);
    if (!strata_machine_read(path, machine, &error))
        return 0;
    fprintf(stderr, "sim: %s\n", error.text);
    return -1;
}

static int bench_machine(const char *folder, const char *name)
{
    struct strata_machine machine;
    if (read_machine(folder, name, &machine))
        return -1;
    print_head(name);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (print_row(&machine, &rows[i], rows[i].name))
            return -1;
    return 0;
}

/* The generic machine with another policy in all caches, and without prefetchers. */
static int bench_policies(const char *folder)
{
    static const char *const names[] = {"lru", "plru", "fifo", "random"};
    struct strata_machine machine;
    if (read_machine(folder, "generic", &machine))
        return -1;
    machine.nprefetchers = 0;
    print_head("generic, policy");
    for (uint32_t policy = STRATA_LRU; policy <= STRATA_RANDOM; policy++)
        for (size_t i = 0; i <= 2; i += 2) { /* L1 at random, mix */
            char name[64];
            struct row row = rows[i];
            row.goal = 0;
            snprintf(name, sizeof name, "%s: %s", names[policy], row.name);
            for (uint32_t c = 0; c < machine.ncaches; c++)
                machine.caches[c].policy = policy;
            if (print_row(&machine, &row, name))
                return -1;
        }
    return 0;
}

/* A program that never was, with habits that real ones have. Of 32 accesses, 14 are to its
 * stack: to the 12 words above a stack pointer that calls and returns move up and down by
 * 32 to 256 bytes, a third of them stores. 6 go through arrays of 256K by steps of 4 bytes,
 * two that are read and one that is written. 8 are to fields of objects of 48 bytes, 4 to
 * 11 in one object before the next; there are 2048 objects, and the eighth that is liked
 * best gets half of all visits. 3 are to 2K of globals. One is a probe of a hash table, 7
 * times of 8 in 4K of it, else somewhere in 1M. */
struct program {
    struct rng rng;
    uint64_t stack, object;
    uint64_t scan[3];
    uint64_t fields, turn; /* left of this object; which array is next */
};

struct event {
    uint64_t address;
    uint32_t size, op;
};

static const uint64_t stack_top = 0x7ffe12345670, heap = 0x55d2c0de0000,
                      arrays = 0x7f31a2b3c010, table = 0x7f3199900000,
                      globals = 0x55d2bfee1040;

static struct event stack_event(struct program *p)
{
    uint64_t die = rng_below(&p->rng, 32), frame = 32 + 32 * rng_below(&p->rng, 8);
    if (die == 0 && p->stack < 8192)
        p->stack += frame;
    else if (die == 1)
        p->stack -= p->stack < frame ? p->stack : frame;
    return (struct event){stack_top - p->stack + 8 * rng_below(&p->rng, 12), 8,
                          rng_below(&p->rng, 3) ? SIM_LOAD : SIM_STORE};
}

static struct event scan_event(struct program *p)
{
    uint64_t which = p->turn++ % 3, size = UINT64_C(1) << 18;
    p->scan[which] = (p->scan[which] + 4) % size;
    return (struct event){arrays + which * 2 * size + p->scan[which], 4,
                          which == 2 ? SIM_STORE : SIM_LOAD};
}

static struct event field_event(struct program *p)
{
    if (p->fields-- == 0) {
        uint64_t n = 2048, u = rng_below(&p->rng, n);
        p->object = u * u / n * u / n;
        p->fields = 3 + rng_below(&p->rng, 8);
    }
    return (struct event){heap + 48 * p->object + 4 * rng_below(&p->rng, 12), 4,
                          rng_below(&p->rng, 4) ? SIM_LOAD : SIM_STORE};
}

static struct event next_event(struct program *p)
{
    uint64_t die = rng_below(&p->rng, 32);
    if (die < 14)
        return stack_event(p);
    if (die < 20)
        return scan_event(p);
    if (die < 28)
        return field_event(p);
    if (die < 31)
        return (struct event){globals + 8 * rng_below(&p->rng, 256), 8, SIM_LOAD};
    uint64_t reach = rng_below(&p->rng, 8) ? 4 << 10 : 1 << 20;
    return (struct event){table + 8 * rng_below(&p->rng, reach / 8), 8, SIM_LOAD};
}

static uint64_t replay_access(struct sim *sim, const struct event *trace, size_t n)
{
    struct sim_result result;
    for (size_t i = 0; i < n; i++)
        sim_access(sim, trace[i].address, trace[i].size, trace[i].op, STRATA_INT, &result);
    return 0;
}

/* Returns how many were not quick. */
static uint64_t replay_quick(struct sim *sim, const struct event *trace, size_t n)
{
    struct sim_quick *quick = sim_quick_for(sim, SIM_LOAD, STRATA_INT);
    uint64_t hits[2] = {0, 0};
    struct sim_result result;
    for (size_t i = 0; i < n; i++) {
        const struct event *e = &trace[i];
        if (sim_quick(quick, e->address, e->size))
            hits[e->op]++;
        else
            sim_access(sim, e->address, e->size, e->op, STRATA_INT, &result);
    }
    for (uint32_t op = SIM_LOAD; op <= SIM_STORE; op++)
        sim_add_hits(sim, op, STRATA_INT, hits[op]);
    return n - hits[SIM_LOAD] - hits[SIM_STORE];
}

static double replay_speed(struct sim *sim, const struct event *trace, uint64_t *rest,
                           uint64_t (*replay)(struct sim *, const struct event *, size_t))
{
    double best = 1e18, begin = clock_ns();
    while (clock_ns() < begin + spend_ns) {
        double start = clock_ns();
        *rest = replay(sim, trace, TRACE);
        double took = clock_ns() - start;
        best = took < best ? took : best;
    }
    return TRACE * 1e3 / best;
}

static int bench_program(const struct strata_machine *machine, const char *name,
                         const struct event *trace)
{
    struct sim *sim = sim_create(machine, 1, &allocator);
    uint64_t rest = 0;
    if (!sim) {
        fprintf(stderr, "sim: out of memory for %s\n", name);
        return -1;
    }
    replay_access(sim, trace, TRACE);
    sim_reset_counts(sim);
    double access = replay_speed(sim, trace, &rest, replay_access);
    double quick = replay_speed(sim, trace, &rest, replay_quick);
    const struct sim_counts *counts = sim_counts(sim);
    double all = (double)(counts->accesses[SIM_LOAD] + counts->accesses[SIM_STORE]) / 100;
    printf("  %-34s %6.1f  %6.1f  %9.2f%% %6.2f%% %6.2f%%\n", name, access, quick,
           100.0 * (double)rest / TRACE, (double)counts->misses[0] / all,
           (double)counts->tlb_misses[0] / all);
    fflush(stdout);
    sim_release(sim);
    return 0;
}

static const char like_cachegrind[] =
    "[machine]\nname = like cachegrind\npage = 4K\nfrequency = 3000M\n"
    "mapping = contiguous\n"
    "[cache L1d]\nlevel = 1\nkind = data\nsize = 32K\nline = 64\nways = 8\n"
    "latency = 4\nindex = virtual\n"
    "[cache LL]\nlevel = 2\nkind = unified\nsize = 8M\nline = 64\nways = 16\n"
    "latency = 20\nindex = virtual\n"
    "[tlb L1d]\nlevel = 1\nkind = data\nentries = 64\nways = full\n"
    "[walk]\nlatency = 30\n[memory]\nlatency = 200\n";

static int bench_programs(const char *folder, const char *const *names, size_t n)
{
    static struct event trace[TRACE];
    struct program program = {.rng = {1}, .stack = 4096};
    struct strata_machine machine;
    struct strata_error error = {0};
    for (size_t i = 0; i < TRACE; i++)
        trace[i] = next_event(&program);
    printf("a program         1 cycle = %5.3f ns access   quick  not quick  L1 miss TLB "
           "miss\n",
           clock_add_ns());
    for (size_t i = 0; i < n; i++)
        if (read_machine(folder, names[i], &machine) ||
            bench_program(&machine, names[i], trace))
            return -1;
    if (strata_machine_parse("like cachegrind", like_cachegrind, &machine, &error)) {
        fprintf(stderr, "sim: %s\n", error.text);
        return -1;
    }
    return bench_program(&machine, machine.name, trace);
}

int main(int argc, char **argv)
{
    static const char *const machines[] = {"generic", "intel-skylake-sp", "amd-zen-4"};
    const char *folder = argc > 1 ? argv[1] : "machines";
    struct affinity before;
    if (pin_thread(-1, &before) < 0)
        fprintf(stderr, "sim: not pinned to a processor\n");
    clock_warm_up();
    printf("The simulated machine, million accesses a second\n");
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (bench_machine(folder, machines[i]))
            return 1;
    if (bench_policies(folder) || bench_programs(folder, machines, 3))
        return 1;
    return fflush(stdout) ? 1 : 0;
}
