/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How fast the simulated machine is: accesses a second through sim_chase().
 *
 * Each case is a machine and a random cyclic order over a footprint, one access a line.
 * A case is warmed up once and then timed five times; the slowest, the median and the
 * fastest are shown, in millions a second, beside the goal where there is one.
 *
 *     case                                        accesses/s     min  median     max  goal
 *     L1 hits: 24K on 32K 8-way, 64-entry TLB                  141.2   143.0   143.1   100
 */
#include <core/rng.h>
#include <sim/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TRIALS = 5, ACCESSES = 4000000 };

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

static const struct sim_allocator allocator = {allocate, release, NULL};

static void add_cache(struct strata_machine *machine, uint64_t size, uint32_t ways,
                      uint32_t latency)
{
    uint32_t i = machine->ncaches++;
    machine->caches[i] =
        (struct strata_cache){.level = i + 1,
                              .kind = STRATA_UNIFIED,
                              .size = size,
                              .line = 64,
                              .ways = ways,
                              .latency = latency,
                              .index = i ? STRATA_PHYSICAL : STRATA_VIRTUAL,
                              .types = STRATA_INT | STRATA_FLOAT};
}

static void add_tlb(struct strata_machine *machine, uint32_t entries, uint32_t ways)
{
    uint32_t i = machine->ntlbs++;
    machine->tlbs[i] = (struct strata_tlb){.level = i + 1,
                                           .kind = STRATA_UNIFIED,
                                           .entries = entries,
                                           .ways = ways,
                                           .latency = 7 * i,
                                           .page = 4096};
}

static struct strata_machine empty(void)
{
    return (struct strata_machine){
        .page = 4096, .frequency = 1000000000, .walk_latency = 30, .memory_latency = 200};
}

static struct strata_machine one_level(void)
{
    struct strata_machine machine = empty();
    add_cache(&machine, 32 << 10, 8, 4);
    add_tlb(&machine, 64, 4);
    return machine;
}

static struct strata_machine one_level_full_tlb(void)
{
    struct strata_machine machine = one_level();
    machine.tlbs[0].ways = 64;
    return machine;
}

static struct strata_machine three_levels(void)
{
    struct strata_machine machine = empty();
    add_cache(&machine, 32 << 10, 8, 4);
    add_cache(&machine, 1 << 20, 8, 14);
    add_cache(&machine, 32 << 20, 16, 50);
    add_tlb(&machine, 72, 72);
    add_tlb(&machine, 3072, 12);
    return machine;
}

static struct strata_machine odd_sizes(void)
{
    struct strata_machine machine = empty();
    add_cache(&machine, 48 << 10, 12, 5);
    add_cache(&machine, 1280 << 10, 20, 14);
    add_cache(&machine, 36 << 20, 12, 60);
    add_tlb(&machine, 64, 4);
    add_tlb(&machine, 1536, 12);
    return machine;
}

static struct strata_machine full_tlbs(void)
{
    struct strata_machine machine = three_levels();
    machine.tlbs[1].ways = machine.tlbs[1].entries;
    return machine;
}

static struct strata_machine inclusion(uint32_t kind)
{
    struct strata_machine machine = three_levels();
    machine.caches[2].inclusion = kind;
    return machine;
}

static struct strata_machine inclusive(void)
{
    return inclusion(STRATA_INCLUSIVE);
}

static struct strata_machine exclusive(void)
{
    return inclusion(STRATA_EXCLUSIVE);
}

static struct strata_machine with_policy(uint32_t policy)
{
    struct strata_machine machine = three_levels();
    for (uint32_t i = 0; i < machine.ncaches; i++)
        machine.caches[i].policy = policy;
    return machine;
}

static struct strata_machine plru(void)
{
    return with_policy(STRATA_PLRU);
}

static struct strata_machine fifo(void)
{
    return with_policy(STRATA_FIFO);
}

static struct strata_machine random_victims(void)
{
    return with_policy(STRATA_RANDOM);
}

static struct strata_machine one_level_plru(void)
{
    struct strata_machine machine = one_level();
    machine.caches[0].policy = machine.tlbs[0].policy = STRATA_PLRU;
    return machine;
}

static struct strata_machine prefetching(void)
{
    struct strata_machine machine = three_levels();
    machine.nprefetchers = 2;
    machine.prefetchers[0] = (struct strata_prefetcher){
        .level = 2, .kind = STRATA_PREFETCH_ADJACENT, .degree = 1};
    machine.prefetchers[1] =
        (struct strata_prefetcher){.level = 2, .kind = STRATA_PREFETCH_STREAM, .degree = 2};
    return machine;
}

static const struct {
    const char *name;
    struct strata_machine (*machine)(void);
    uint64_t footprint;
    double goal; /* million accesses a second, 0: none */
} cases[] = {
    {"L1 hits: 24K on 32K 8-way, TLB 64 4-way", one_level, 24 << 10, 100},
    {"L1 hits, TLB 64 full", one_level_full_tlb, 24 << 10, 100},
    {"L1 hits, tree PLRU", one_level_plru, 24 << 10, 0},
    {"L1 hits on three levels, TLB 72 full", three_levels, 24 << 10, 0},
    {"L2 hits: 640K on 32K/1M/32M, TLB 72 + 3072", three_levels, 640 << 10, 0},
    {"L3 hits: 16M on the same", three_levels, 16 << 20, 25},
    {"memory: 256M on the same", three_levels, 256 << 20, 0},
    {"16M, both TLBs fully associative", full_tlbs, 16 << 20, 25},
    {"16M on 48K/1.25M 20-way/36M, sets not 2^n", odd_sizes, 16 << 20, 25},
    {"16M, L3 inclusive", inclusive, 16 << 20, 0},
    {"16M, L3 exclusive", exclusive, 16 << 20, 0},
    {"16M, tree PLRU", plru, 16 << 20, 0},
    {"16M, FIFO", fifo, 16 << 20, 0},
    {"16M, random replacement", random_victims, 16 << 20, 0},
    {"16M, adjacent and stream prefetchers on L2", prefetching, 16 << 20, 0},
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The lines of a footprint in a random order. */
static uint64_t *shuffled_lines(uint64_t lines)
{
    uint64_t *offsets = malloc(lines * sizeof *offsets);
    struct rng rng = {1};
    for (uint64_t i = 0; offsets && i < lines; i++) {
        uint64_t j = rng_below(&rng, i + 1);
        offsets[i] = offsets[j];
        offsets[j] = i * 64;
    }
    return offsets;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int run_case(size_t which)
{
    uint64_t lines = cases[which].footprint / 64;
    size_t rounds = ACCESSES / lines + 1;
    double speed[TRIALS];
    struct strata_machine machine = cases[which].machine();
    struct sim *sim = sim_create(&machine, 1, &allocator);
    uint64_t *offsets = shuffled_lines(lines);
    int status = -1;
    if (!sim || !offsets)
        goto out;
    sim_chase(sim, UINT64_C(1) << 32, offsets, lines);
    for (int trial = 0; trial < TRIALS; trial++) {
        double start = now();
        for (size_t i = 0; i < rounds; i++)
            sim_chase(sim, UINT64_C(1) << 32, offsets, lines);
        speed[trial] = 1e-6 * (double)(rounds * lines) / (now() - start);
    }
    qsort(speed, TRIALS, sizeof *speed, ascending);
    printf("%-46s %7.1f %7.1f %7.1f", cases[which].name, speed[0], speed[TRIALS / 2],
           speed[TRIALS - 1]);
    if (cases[which].goal > 0)
        printf(" %5.0f", cases[which].goal);
    putchar('\n');
    status = 0;
out:
    free(offsets);
    sim_release(sim);
    return status;
}

int main(void)
{
    printf("%-46s %7s %7s %7s %5s\n", "million accesses a second", "min", "median", "max",
           "goal");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (run_case(i)) {
            fprintf(stderr, "sim: out of memory\n");
            return 1;
        }
    return fflush(stdout) ? 1 : 0;
}
