/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ways and sizes: the first cache's once more, those behind it by gaps on huge pages, and
 * by evictions without these. What the other parts would have found is given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/probing.h"

#include <math.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
enum { QUICK = 1 }; /* sanitizers are slow, and look for other things than right answers */
#else
enum { QUICK = 0 };
#endif
enum { K = 1024, ARENA = 256 << 20, HUGE_ARENA = 512 << 20 };

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

static struct strata_probed probed;

/* Runs a part of a probe, once the others are done. */
static void run(int (*part)(struct probing *), const struct strata_machine *m,
                uint64_t bytes, uint64_t seed)
{
    struct strata_probe_options options = {.machine = m};
    struct strata_error error;
    struct probing p = {.options = &options,
                        .probed = &probed,
                        .error = &error,
                        .budget = INFINITY,
                        .deadline = INFINITY,
                        .rng = {seed}};
    assert_int_equal(
        runner_simulated(&p.runner, m, seed, bytes, m->huge ? HUGE_ARENA : 0, &error), 0);
    assert_int_equal(part(&p), 0);
    runner_release(p.runner);
    refs_release(&p.refs);
}

/* Asks for the ways of all caches behind the first. */
static void ask(const struct strata_machine *m, uint64_t bytes, uint64_t seed)
{
    memset(&probed, 0, sizeof probed);
    probed.ncaches = (int)m->ncaches;
    for (int i = 0; i < probed.ncaches; i++)
        give(&probed.caches[i], &m->caches[i]);
    probed.memory_cycles =
        known(m->memory_latency, m->memory_latency, m->memory_latency, 1);
    run(probe_ways, m, bytes, seed);
}

static struct strata_probed_cache probe(const struct strata_machine *m, uint64_t bytes,
                                        uint64_t seed)
{
    ask(m, bytes, seed);
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
    if (QUICK)
        return;
    m = machine(4 * K, 32 * K, 8, 256 * K, 8, STRATA_PLRU);
    assert_found(&m);
    /* more ways than a power of two, and a way of as many pages */
    m = machine(4 * K, 16 * K, 4, 240 * K, 20, STRATA_LRU);
    assert_found(&m);
    /* fewer ways than the first cache has: the pressure must drive its lines out of that */
    m = machine(4 * K, 32 * K, 8, 256 * K, 2, STRATA_LRU);
    assert_found(&m);
}

/* What they bring in evicts some lines of blocks that share no set with the others. */
static void prefetchers_do_not_add_to_a_way(void **state)
{
    (void)state;
    struct strata_machine m = machine(4 * K, 48 * K, 6, 256 * K, 4, STRATA_LRU);
    m.nprefetchers = 2;
    m.prefetchers[0] = (struct strata_prefetcher){
        .name = "L1d", .level = 1, .kind = STRATA_PREFETCH_STRIDE, .degree = 3};
    m.prefetchers[1] = (struct strata_prefetcher){
        .name = "L2", .level = 2, .kind = STRATA_PREFETCH_ADJACENT, .degree = 1};
    assert_found(&m);
}

/* A way of the first cache may be longer or shorter than a page. */
static void blocks_need_not_be_pages(void **state)
{
    (void)state;
    struct strata_machine m = machine(4 * K, 32 * K, 2, 256 * K, 8, STRATA_LRU);
    assert_found(&m);
    if (QUICK)
        return;
    m = machine(64 * K, 16 * K, 4, 256 * K, 16, STRATA_LRU);
    assert_found(&m);
}

static void a_dirty_clock_will_do(void **state)
{
    (void)state;
    struct strata_machine m = machine(4 * K, 32 * K, 8, 256 * K, 8, STRATA_LRU);
    m.noise = (struct strata_noise){
        .jitter = 0.02, .spikes = 0.01, .spike_cycles = 20000, .timer_ns = 1000};
    assert_found(&m);
}

/* All blocks that share a set of the first cache share one of the second: there is nothing
 * left to drive them out of the first alone, and its ways must not pass for the second's.
 */
static void ways_of_the_first_do_not_pass_for_those_of_the_second(void **state)
{
    (void)state;
    struct strata_machine m = machine(4 * K, 64 * K, 2, 512 * K, 16, STRATA_LRU);
    m.mapping = STRATA_MAP_COLOURED;
    m.memory_latency = 36;
    struct strata_probed_cache cache = probe(&m, ARENA, 1);
    assert_false(cache.ways.known || cache.size.known);
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

/* The first search found a multiple of the gap, because a neighbour hid the smaller ones.
 */
static void a_gap_that_is_too_large_is_divided(void **state)
{
    (void)state;
    static const double times[] = {2, 3, 6, 1};
    struct strata_machine m = machine(4 * K, 32 * K, 8, 256 * K, 8, STRATA_LRU);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct strata_probed_cache *l1 = &probed.caches[0];
        memset(&probed, 0, sizeof probed);
        probed.ncaches = 1;
        give(l1, &m.caches[0]);
        l1->effective = known(32 * K, 16 * K, 128 * K, 1); /* it is noisy */
        l1->size.value = l1->size.low = l1->size.high = times[i] * 32 * K;
        run(probe_gap_again, &m, ARENA, 1);
        assert_int_equal(l1->size.value, 32 * K);
        assert_int_equal(l1->ways.value, 8);
    }
}

#ifndef __SANITIZE_ADDRESS__ /* slow there, and nothing new to them */
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

static void add_third(struct strata_machine *m, uint64_t size, uint32_t ways,
                      uint32_t policy)
{
    struct strata_cache *third = &m->caches[m->ncaches++];
    *third = m->caches[1];
    memcpy(third->name, "L3", 3);
    third->level = 3;
    third->size = size;
    third->ways = ways;
    third->latency = 35;
    third->policy = policy;
    m->memory_latency = 150;
    m->huge = 2 << 20;
    m->tlbs[m->ntlbs] = m->tlbs[0];
    m->tlbs[m->ntlbs].entries = m->tlbs[m->ntlbs].ways = 16;
    m->tlbs[m->ntlbs++].page = m->huge;
}

/* Gaps that divide a huge page tell, but not where no way does: then the pressure does not
 * keep off the sets of the ring, and must not be taken for a part of it. */
static void gaps_tell_ways_that_divide_a_huge_page(void **state)
{
    (void)state;
    struct strata_machine m = machine(64 * K, 36 * K, 9, 1536 * K, 12, STRATA_LRU);
    add_third(&m, 16384 * K, 16, STRATA_LRU);
    ask(&m, ARENA, 1);
    assert_int_equal(probed.caches[1].ways.value, 12);
    assert_int_equal(probed.caches[1].size.value, 1536 * K);
    assert_int_equal(probed.caches[2].ways.value, 16);
    assert_int_equal(probed.caches[2].size.value, 16384 * K);
    m.ncaches = 2;
    m.ntlbs = 1;
    add_third(&m, 30720 * K, 20, STRATA_FIFO);
    ask(&m, ARENA, 1);
    assert_int_equal(probed.caches[1].ways.value, 12);
    assert_false(probed.caches[2].ways.known || probed.caches[2].size.known);
    assert_true(*probed.caches[2].ways.why);
}
#endif

/* A host that has no huge pages for its guest: gaps cannot tell. */
static void splintered_huge_pages_do_not_matter(void **state)
{
    (void)state;
    struct strata_machine m = machine(4 * K, 32 * K, 8, 256 * K, 8, STRATA_LRU);
    m.huge = 2 << 20;
    m.tlbs[m.ntlbs] = m.tlbs[0];
    m.tlbs[m.ntlbs++].page = m.huge;
    assert_found(&m);
    m.splintered = true;
    assert_found(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_and_size_need_no_huge_pages),
        cmocka_unit_test(little_memory_is_null),
        cmocka_unit_test(a_gap_that_is_too_large_is_divided),
        cmocka_unit_test(prefetchers_do_not_add_to_a_way),
        cmocka_unit_test(blocks_need_not_be_pages),
        cmocka_unit_test(a_dirty_clock_will_do),
        cmocka_unit_test(ways_of_the_first_do_not_pass_for_those_of_the_second),
        cmocka_unit_test(splintered_huge_pages_do_not_matter),
        cmocka_unit_test(random_replacement_is_null),
#ifndef __SANITIZE_ADDRESS__
        cmocka_unit_test(an_exclusive_cache_is_not_taken_for_two),
        cmocka_unit_test(gaps_tell_ways_that_divide_a_huge_page),
#endif
    };
    const size_t n = QUICK ? 3 : sizeof tests / sizeof *tests;
    return _cmocka_run_group_tests("ways", tests, n, NULL, NULL);
}
