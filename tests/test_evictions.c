/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ways and size of the second cache by evictions, on machines without huge pages: what the
 * other parts would have found is given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/probing.h"

#include <math.h>
#include <string.h>

enum { K = 1024, ARENA = 256 << 20 };

static struct strata_machine machine(uint64_t page, uint64_t l1, uint32_t l1_ways,
                                     uint64_t l2, uint32_t l2_ways, uint32_t policy)
{
    struct strata_machine m = {.name = "evictions",
                               .frequency = 2000000000,
                               .page = page,
                               .mapping = STRATA_MAP_RANDOM,
                               .memory_latency = 90,
                               .walk_latency = 30,
                               .ncaches = 2,
                               .ntlbs = 1};
    m.caches[0] = (struct strata_cache){.name = "L1d",
                                        .level = 1,
                                        .kind = STRATA_DATA,
                                        .size = l1,
                                        .line = 64,
                                        .ways = l1_ways,
                                        .latency = 4,
                                        .policy = STRATA_LRU,
                                        .index = STRATA_VIRTUAL,
                                        .types = STRATA_INT | STRATA_FLOAT};
    m.caches[1] = (struct strata_cache){.name = "L2",
                                        .level = 2,
                                        .kind = STRATA_UNIFIED,
                                        .size = l2,
                                        .line = 64,
                                        .ways = l2_ways,
                                        .latency = 14,
                                        .policy = policy,
                                        .index = STRATA_PHYSICAL,
                                        .types = STRATA_INT | STRATA_FLOAT};
    m.tlbs[0] = (struct strata_tlb){.name = "L1d",
                                    .level = 1,
                                    .kind = STRATA_DATA,
                                    .entries = 48,
                                    .ways = 48,
                                    .policy = STRATA_LRU,
                                    .page = page};
    return m;
}

static void give(struct strata_probed_cache *cache, const struct strata_cache *truth)
{
    double size = (double)truth->size;
    cache->level = (int)truth->level;
    cache->latency_cycles = known(truth->latency, truth->latency, truth->latency, 1);
    cache->effective = known(0.75 * size, 0.7 * size, size, 1);
    cache->effective_line = known(truth->line, truth->line, truth->line, 1);
    if (truth->level > 1)
        return;
    cache->size = known(size, size, size, 1);
    cache->ways = known(truth->ways, truth->ways, truth->ways, 1);
}

/* The second cache, as evictions tell it. */
static struct strata_probed_cache probe(const struct strata_machine *m, uint64_t bytes,
                                        uint64_t seed)
{
    static struct strata_probed probed;
    struct strata_probe_options options = {.machine = m};
    struct strata_error error;
    struct probing p = {.options = &options,
                        .probed = &probed,
                        .error = &error,
                        .budget = INFINITY,
                        .deadline = INFINITY,
                        .rng = {seed}};
    memset(&probed, 0, sizeof probed);
    assert_int_equal(runner_simulated(&p.runner, m, seed, bytes, 0, &error), 0);
    probed.ncaches = 2;
    give(&probed.caches[0], &m->caches[0]);
    give(&probed.caches[1], &m->caches[1]);
    probed.memory_cycles =
        known(m->memory_latency, m->memory_latency, m->memory_latency, 1);
    assert_int_equal(ways_by_evictions(&p), 0);
    runner_release(p.runner);
    refs_release(&p.refs);
    return probed.caches[1];
}

static void assert_found(const struct strata_machine *m)
{
    struct strata_probed_cache cache = probe(m, ARENA, 1);
    assert_true(cache.ways.known && cache.size.known);
    assert_int_equal(cache.ways.value, m->caches[1].ways);
    assert_int_equal(cache.size.value, m->caches[1].size);
    assert_true(cache.ways.confidence >= SURE && cache.size.confidence >= SURE);
}

static void ways_and_size_need_no_huge_pages(void **state)
{
    (void)state;
    struct strata_machine m = machine(4 * K, 32 * K, 8, 256 * K, 8, STRATA_LRU);
    assert_found(&m);
    m = machine(4 * K, 32 * K, 8, 256 * K, 8, STRATA_PLRU);
    assert_found(&m);
#ifndef __SANITIZE_ADDRESS__ /* slow there, and nothing new to them */
    /* more ways than a power of two, and a way of as many pages */
    m = machine(4 * K, 16 * K, 4, 240 * K, 20, STRATA_LRU);
    assert_found(&m);
    /* fewer ways than the first cache has: the pressure must drive its lines out of that */
    m = machine(4 * K, 32 * K, 8, 256 * K, 2, STRATA_LRU);
    assert_found(&m);
#endif
}

/* A way of the first cache may be longer or shorter than a page. */
static void blocks_need_not_be_pages(void **state)
{
    (void)state;
    struct strata_machine m = machine(4 * K, 32 * K, 2, 512 * K, 8, STRATA_LRU);
    assert_found(&m);
    m = machine(64 * K, 16 * K, 4, 256 * K, 16, STRATA_LRU);
    assert_found(&m);
}

/* What the pressure leaves in the first cache blurs the edge: then it is null, but never
 * more than there are. */
static void an_exclusive_cache_is_not_taken_for_two(void **state)
{
    (void)state;
    struct strata_machine m = machine(4 * K, 16 * K, 4, 512 * K, 16, STRATA_LRU);
    int found = 0;
    m.caches[1].inclusion = STRATA_EXCLUSIVE;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct strata_probed_cache cache = probe(&m, ARENA, seed);
        found += cache.ways.known;
        if (cache.ways.known)
            assert_int_equal(cache.ways.value, 16);
        if (cache.size.known)
            assert_int_equal(cache.size.value, 512 * K);
    }
    assert_true(found > 0);
}

static void a_dirty_clock_will_do(void **state)
{
    (void)state;
    struct strata_machine m = machine(4 * K, 32 * K, 8, 256 * K, 8, STRATA_LRU);
    m.noise = (struct strata_noise){
        .jitter = 0.02, .spikes = 0.01, .spike_cycles = 20000, .timer_ns = 1000};
    assert_found(&m);
}

/* There is no edge where chance decides. */
static void random_replacement_is_null(void **state)
{
    (void)state;
    struct strata_machine m = machine(4 * K, 32 * K, 8, 512 * K, 16, STRATA_RANDOM);
    struct strata_probed_cache cache = probe(&m, ARENA, 1);
    assert_false(cache.ways.known || cache.size.known);
    assert_non_null(strstr(cache.ways.why, "random"));
}

/* Too few pages to find a set among, or to tell how many sets there are. */
static void little_memory_is_null(void **state)
{
    (void)state;
    struct strata_machine m = machine(4 * K, 32 * K, 8, 256 * K, 8, STRATA_LRU);
    struct strata_probed_cache cache = probe(&m, 512 * K, 1);
    assert_false(cache.ways.known || cache.size.known);
    assert_true(*cache.ways.why && *cache.size.why);
    cache = probe(&m, 4 << 20, 1);
    assert_true(cache.ways.known);
    assert_int_equal(cache.ways.value, 8);
    assert_false(cache.size.known);
    assert_true(*cache.size.why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_and_size_need_no_huge_pages),
        cmocka_unit_test(blocks_need_not_be_pages),
        cmocka_unit_test(an_exclusive_cache_is_not_taken_for_two),
        cmocka_unit_test(a_dirty_clock_will_do),
        cmocka_unit_test(random_replacement_is_null),
        cmocka_unit_test(little_memory_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
