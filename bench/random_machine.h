/* SPDX-License-Identifier: BSD-3-Clause
 *
 * random_machine(): machines that nobody tuned for, to try analyses on.
 *
 * Each is one that could have been built: 2 to 4 levels, shapes as in real processors
 * (odd ones too: 36K with 9 ways, 1.25M with 20, 35.75M with 11), each level at least 4
 * times as large and 2.2 times as slow as the one before, TLBs whose reach has nothing to
 * do with the caches' sizes, half of them with huge pages, prefetchers or a dirty clock.
 * A seed names a machine; neighbouring seeds have nothing in common.
 *
 * Not varied: occupied shares and data types that bypass a level (none), and TLBs whose
 * number of sets is no power of two (none are known). */
#ifndef BENCH_RANDOM_MACHINE_H
#define BENCH_RANDOM_MACHINE_H

#include "core/rng.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <strata/machine.h>
#include <string.h>

struct random_shape {
    uint64_t size; /* in K; of a TLB, entries */
    uint32_t ways; /* 0: full */
};

static const struct random_shape random_l1_shapes[] = {
    {8, 4},  {16, 4}, {16, 2},  {24, 6},  {32, 8}, {32, 8},  {32, 4},
    {32, 2}, {36, 9}, {40, 10}, {48, 3},  {48, 6}, {48, 12}, {48, 12},
    {64, 2}, {64, 4}, {64, 8},  {64, 16}, {96, 6}, {96, 12}, {128, 8},
};
static const struct random_shape random_l2_shapes[] = {
    {128, 4},   {128, 8},  {256, 4},   {256, 8},   {256, 16},  {512, 8},   {512, 16},
    {768, 12},  {768, 6},  {1024, 8},  {1024, 16}, {1280, 20}, {1280, 10}, {1536, 12},
    {1536, 24}, {2048, 8}, {2048, 16}, {3072, 12}, {3072, 24}, {4096, 16},
};
static const struct random_shape random_l3_shapes[] = {
    {2048, 16},  {2048, 32},  {3072, 12},  {4096, 16},  {6144, 12},  {6144, 24},
    {8192, 16},  {10240, 20}, {12288, 16}, {16384, 16}, {20480, 20}, {24576, 12},
    {30720, 20}, {32768, 16}, {36608, 11}, {36864, 12}, {39424, 11}, {46080, 20},
    {49152, 12}, {61440, 12}, {65536, 16},
};
static const struct random_shape random_l4_shapes[] = {
    {32768, 16}, {49152, 12}, {49152, 24}, {65536, 16}, {65536, 32},
};
static const struct random_shape random_tlb_shapes[] = {
    {16, 4}, {16, 0}, {24, 0}, {32, 0},  {32, 4},  {32, 2},  {40, 0},  {48, 0}, {48, 3},
    {48, 6}, {56, 0}, {64, 0}, {64, 0},  {64, 4},  {64, 4},  {64, 8},  {64, 2}, {72, 0},
    {80, 5}, {96, 0}, {96, 6}, {128, 0}, {128, 2}, {128, 4}, {128, 8},
};
static const struct random_shape random_tlb2_shapes[] = {
    {256, 4},  {256, 8},   {512, 4},  {512, 8},   {512, 16}, {768, 6},
    {768, 12}, {1024, 4},  {1024, 8}, {1280, 5},  {1536, 6}, {1536, 12},
    {2048, 8}, {2048, 16}, {3072, 6}, {3072, 12}, {4096, 8}, {4096, 16},
};
static const struct random_shape random_huge_tlb_shapes[] = {
    {16, 0}, {16, 4}, {32, 0}, {32, 4}, {32, 8}, {40, 0}, {48, 0}, {64, 0}, {64, 4},
};

/* One of a table of shapes; the second form takes only those within bounds, of which
 * there must be one. */
#define RANDOM_SHAPE(rng, table) RANDOM_SHAPE_IN(rng, table, 0, UINT64_MAX)
#define RANDOM_SHAPE_IN(rng, table, low, high)                                             \
    random_shape_in(rng, table, sizeof(table) / sizeof *(table), low, high)

static inline struct random_shape random_shape_in(struct rng *rng,
                                                  const struct random_shape *table,
                                                  size_t n, uint64_t low, uint64_t high)
{
    size_t fitting = 0;
    for (size_t i = 0; i < n; i++)
        fitting += table[i].size >= low && table[i].size <= high;
    size_t skip = rng_below(rng, fitting);
    size_t i = 0;
    while (table[i].size < low || table[i].size > high || skip-- > 0)
        i++;
    return table[i];
}

static inline bool random_chance(struct rng *rng, unsigned percent)
{
    return rng_below(rng, 100) < percent;
}

/* A whole number, both ends included. */
static inline uint32_t random_between(struct rng *rng, uint32_t low, uint32_t high)
{
    return low + (uint32_t)rng_below(rng, high - low + 1);
}

/* x times a factor within bounds, rounded up. */
static inline uint32_t random_times(struct rng *rng, uint32_t x, double low, double high)
{
    double product = x * (low + rng_unit(rng) * (high - low));
    uint32_t whole = (uint32_t)product;
    return whole + (whole < product);
}

/* Real trees of pseudo-LRU have a power of two of leaves; other caches get plain LRU. */
static inline uint32_t random_policy(uint32_t policy, uint32_t ways)
{
    return policy == STRATA_PLRU && (ways & (ways - 1)) ? STRATA_LRU : policy;
}

/* A choice by weights that add up to 100. */
static inline uint32_t random_weighted(struct rng *rng, const unsigned char *weights)
{
    uint32_t i = 0;
    for (uint64_t left = rng_below(rng, 100); left >= weights[i]; i++)
        left -= weights[i];
    return i;
}

static inline void random_pages(struct rng *rng, struct strata_machine *m)
{
    static const unsigned char weights[] = {58, 17, 17, 8}, mappings[] = {75, 10, 15};
    static const uint64_t pages[] = {4 << 10, 16 << 10, 64 << 10, 8 << 10};
    static const uint64_t huge[] = {2 << 20, 32 << 20, 2 << 20, 4 << 20};
    uint32_t i = random_weighted(rng, weights);
    m->page = pages[i];
    m->huge = random_chance(rng, 50) ? huge[i] : 0;
    m->mapping = random_weighted(rng, mappings);
}

static inline void random_l1(struct rng *rng, struct strata_machine *m)
{
    static const unsigned char policies[] = {50, 40, 6, 4}, lines[] = {15, 65, 20};
    struct random_shape shape = RANDOM_SHAPE(rng, random_l1_shapes);
    struct strata_cache *cache = &m->caches[m->ncaches++];
    *cache = (struct strata_cache){
        .name = "L1d",
        .level = 1,
        .kind = STRATA_DATA,
        .size = shape.size << 10,
        .line = 32u << random_weighted(rng, lines),
        .ways = shape.ways,
        .latency = random_between(rng, 2, 5),
        .policy = random_policy(random_weighted(rng, policies), shape.ways),
        .index = STRATA_VIRTUAL,
        .types = STRATA_INT | STRATA_FLOAT,
    };
    m->caches[m->ncaches] = *cache;
    m->caches[m->ncaches].kind = STRATA_INSTRUCTION;
    memcpy(m->caches[m->ncaches++].name, "L1i", 4);
}

/* The level behind `near`, at most `high` K large; `last` if memory is behind it. */
static inline void random_outer(struct rng *rng, struct strata_machine *m, uint64_t high,
                                bool last)
{
    static const unsigned char policies[] = {40, 25, 5, 30}, inclusions[] = {60, 20, 20};
    const struct strata_cache *near = &m->caches[m->ncaches - 1];
    struct strata_cache *cache = &m->caches[m->ncaches++];
    uint64_t low = 4 * near->size >> 10;
    uint32_t level = near->level + 1;
    struct random_shape shape =
        level == 2   ? RANDOM_SHAPE_IN(rng, random_l2_shapes, low, high)
        : level == 3 ? RANDOM_SHAPE_IN(rng, random_l3_shapes, low, high)
                     : RANDOM_SHAPE_IN(rng, random_l4_shapes, low, high);
    *cache = (struct strata_cache){
        .level = level,
        .kind = STRATA_UNIFIED,
        .size = shape.size << 10,
        .line = near->line << (near->line < 256 && random_chance(rng, 20)),
        .ways = shape.ways,
        .latency = random_times(rng, near->latency, 2.2, 4),
        .policy = random_policy(random_weighted(rng, policies), shape.ways),
        .index = STRATA_PHYSICAL,
        .types = STRATA_INT | STRATA_FLOAT,
    };
    snprintf(cache->name, sizeof cache->name, "L%" PRIu32, level);
    uint32_t inclusion = random_weighted(rng, inclusions);
    if (last && (inclusion != STRATA_EXCLUSIVE || cache->line == near->line))
        cache->inclusion = inclusion;
}

static inline void random_caches(struct rng *rng, struct strata_machine *m)
{
    static const unsigned char weights[] = {25, 57, 18};
    uint32_t levels = 2 + random_weighted(rng, weights);
    random_l1(rng, m);
    for (uint32_t level = 2; level <= levels; level++) {
        /* with a fourth level, the third leaves room for it */
        uint64_t high = level == 3 && levels == 4 ? 16 << 10 : UINT64_MAX;
        random_outer(rng, m, high, level == levels);
    }
    m->memory_latency = random_times(rng, m->caches[m->ncaches - 1].latency, 2.5, 6);
}

static inline struct strata_tlb *random_tlb(struct rng *rng, struct strata_machine *m,
                                            const char *name, uint32_t level,
                                            struct random_shape shape, uint64_t page)
{
    struct strata_tlb *tlb = &m->tlbs[m->ntlbs++];
    *tlb = (struct strata_tlb){
        .level = level,
        .kind = level == 1 ? STRATA_DATA : STRATA_UNIFIED,
        .entries = (uint32_t)shape.size,
        .ways = shape.ways ? shape.ways : (uint32_t)shape.size,
        .policy = STRATA_LRU,
        .page = page,
    };
    snprintf(tlb->name, sizeof tlb->name, "%s", name);
    if (tlb->ways <= 16 && random_chance(rng, 15))
        tlb->policy = random_policy(STRATA_PLRU, tlb->ways);
    return tlb;
}

/* Those of huge pages come last: machines list TLBs by page size. */
static inline void random_tlbs(struct rng *rng, struct strata_machine *m)
{
    uint32_t second_latency = random_between(rng, 5, 12);
    bool second = random_chance(rng, 70);
    struct random_shape first = RANDOM_SHAPE(rng, random_tlb_shapes), shape = {0, 0};
    m->walk_latency = random_between(rng, 20, 60);
    random_tlb(rng, m, "L1d", 1, first, m->page);
    random_tlb(rng, m, "L1i", 1, (struct random_shape){64, 0}, m->page)->kind =
        STRATA_INSTRUCTION;
    if (second) {
        shape = RANDOM_SHAPE_IN(rng, random_tlb2_shapes, 4 * first.size, UINT64_MAX);
        random_tlb(rng, m, "L2", 2, shape, m->page)->latency = second_latency;
    }
    if (!m->huge)
        return;
    random_tlb(rng, m, "L1d-huge", 1, RANDOM_SHAPE(rng, random_huge_tlb_shapes), m->huge);
    if (second && random_chance(rng, 70)) {
        if (shape.size > 1536)
            shape = (struct random_shape){1536, 12};
        random_tlb(rng, m, "L2-huge", 2, shape, m->huge)->latency = second_latency;
    }
}

static inline void random_prefetcher(struct rng *rng, struct strata_machine *m,
                                     const struct strata_cache *cache,
                                     const unsigned char *weights)
{
    struct strata_prefetcher *prefetcher = &m->prefetchers[m->nprefetchers++];
    *prefetcher = (struct strata_prefetcher){
        .level = cache->level,
        .kind = random_weighted(rng, weights),
        .degree = 1,
    };
    memcpy(prefetcher->name, cache->name, sizeof prefetcher->name);
    if (prefetcher->kind != STRATA_PREFETCH_ADJACENT)
        prefetcher->degree = random_between(rng, 1, 3);
}

static inline void random_prefetchers(struct rng *rng, struct strata_machine *m)
{
    /* none, next-line, adjacent, stride, stream */
    static const unsigned char inner[] = {0, 25, 0, 45, 30}, outer[] = {0, 15, 40, 20, 25};
    bool first = random_chance(rng, 50);
    if (first)
        random_prefetcher(rng, m, &m->caches[0], inner);
    if (!first || random_chance(rng, 70))
        random_prefetcher(rng, m, &m->caches[2], outer);
}

static inline void random_noise(struct rng *rng, struct strata_noise *noise)
{
    noise->jitter = 0.005 + 0.015 * rng_unit(rng);
    noise->spikes = 0.01;
    noise->spike_cycles = 50000;
    noise->timer_ns = random_chance(rng, 25) ? 0 : random_between(rng, 1, 1000);
}

/* Makes machine number `seed`; it passes strata_machine_check(). */
static inline void random_machine(uint64_t seed, struct strata_machine *m)
{
    struct rng rng = {mix64(seed + 1)};
    memset(m, 0, sizeof *m); /* the padding too: equal machines have equal bytes */
    snprintf(m->name, sizeof m->name, "Random machine %" PRIu64, seed);
    m->frequency = 100000000 * (uint64_t)random_between(&rng, 10, 50);
    random_pages(&rng, m);
    random_caches(&rng, m);
    random_tlbs(&rng, m);
    if (random_chance(&rng, 50))
        random_prefetchers(&rng, m);
    if (random_chance(&rng, 50))
        m->branch = (struct strata_branch){1, 4096u << rng_below(&rng, 3), 12, 8, 15};
    if (random_chance(&rng, 50))
        random_noise(&rng, &m->noise);
}

#endif
