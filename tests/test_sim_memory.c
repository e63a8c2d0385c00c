/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The memory of the simulated machine: the page mapping, huge pages, what an index by
 * physical address makes of them; and its own memory when that runs out. */
#include "test_sim_machine.h"

#include "sim/mapping.h"

#define PAGE      UINT64_C(4096)
#define HUGE_PAGE (64 * PAGE)

/* A machine whose one cache is indexed by 64 pages, one way. */
static struct strata_machine direct_mapped(uint32_t index, uint32_t mapping)
{
    struct strata_machine machine = machine_empty();
    machine.mapping = mapping;
    machine.huge = HUGE_PAGE;
    machine_add_cache(&machine, 1, 64 * PAGE / 64, 1)->index = index;
    return machine;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

enum { PAGES = 1 << 16 };

/* No two pages, base or huge, share a frame, and offsets within a page stay. */
static void a_mapping_is_a_bijection(void **state)
{
    (void)state;
    for (uint32_t kind = STRATA_MAP_RANDOM; kind <= STRATA_MAP_COLOURED; kind++) {
        struct strata_machine machine = direct_mapped(STRATA_PHYSICAL, kind);
        struct mapping mapping;
        uint64_t *frames = malloc(PAGES * sizeof *frames);
        assert_non_null(frames);
        mapping_init(&mapping, &machine, 3);
        for (uint64_t i = 0; i < PAGES; i++) {
            bool huge = kind != STRATA_MAP_CONTIGUOUS && i >= PAGES / 2;
            uint64_t address = i * PAGE + 1000;
            frames[i] = mapping_physical(&mapping, address, huge);
            assert_int_equal(frames[i] % PAGE, 1000);
            if (huge)
                assert_int_equal(frames[i] % HUGE_PAGE, address % HUGE_PAGE);
            if (kind == STRATA_MAP_COLOURED)
                assert_int_equal(frames[i] % (64 * PAGE), address % (64 * PAGE));
            if (kind == STRATA_MAP_CONTIGUOUS)
                assert_int_equal(frames[i], address);
        }
        qsort(frames, PAGES, sizeof *frames, ascending);
        for (uint64_t i = 1; i < PAGES; i++)
            assert_int_not_equal(frames[i - 1], frames[i]);
        free(frames);
    }
}

/* Chi squared of 64 colours over 64 * 256 neighbouring pages, 63 degrees of freedom: 130 is
 * beyond one in a million, and 20 too good to be random. Fixed seeds: always or never. */
static void a_random_mapping_looks_random(void **state)
{
    (void)state;
    struct strata_machine machine = direct_mapped(STRATA_PHYSICAL, STRATA_MAP_RANDOM);
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct mapping mapping;
        double counts[64] = {0}, chi = 0;
        mapping_init(&mapping, &machine, seed);
        for (uint64_t i = 0; i < UINT64_C(64) * 256; i++)
            counts[mapping_physical(&mapping, i * PAGE, false) / PAGE % 64]++;
        for (int i = 0; i < 64; i++)
            chi += (counts[i] - 256) * (counts[i] - 256) / 256;
        assert_in_range((int)chi, 20, 130);
    }
}

/* Of 1000 pairs of lines that are as far apart as the index spans, how many collide. */
static int collisions(uint32_t index, uint32_t kind, bool huge)
{
    struct memory memory = {0};
    struct strata_machine machine = direct_mapped(index, kind);
    struct sim *sim = machine_start(&machine, &memory);
    int n = 0;
    if (huge)
        assert_int_equal(sim_map_huge(sim, 0, 2000 * 64 * PAGE), 0);
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t address = i * 128 * PAGE;
        sim_flush(sim);
        sim_load(sim, address);
        sim_load(sim, address + 64 * PAGE);
        n += sim_load(sim, address).level == 2;
    }
    sim_release(sim);
    assert_int_equal(memory.blocks, 0);
    return n;
}

static void a_physical_index_depends_on_the_mapping(void **state)
{
    (void)state;
    assert_int_equal(collisions(STRATA_VIRTUAL, STRATA_MAP_RANDOM, false), 1000);
    assert_int_equal(collisions(STRATA_PHYSICAL, STRATA_MAP_CONTIGUOUS, false), 1000);
    assert_int_equal(collisions(STRATA_PHYSICAL, STRATA_MAP_COLOURED, false), 1000);
    /* One in 64, 15.6 of 1000; the seed is fixed. */
    assert_in_range(collisions(STRATA_PHYSICAL, STRATA_MAP_RANDOM, false), 4, 32);
    /* A huge page is as large as the index spans, so all of it is where it would be. */
    assert_int_equal(collisions(STRATA_PHYSICAL, STRATA_MAP_RANDOM, true), 1000);
}

static struct strata_machine with_tlbs(bool own)
{
    struct strata_machine machine = machine_empty();
    machine.huge = HUGE_PAGE;
    machine_add_cache(&machine, 1, 64, 16);
    machine_add_tlb(&machine, 1, 4, 4);
    if (own)
        machine_add_tlb(&machine, 1, 2, 2)->page = HUGE_PAGE;
    return machine;
}

/* How many walks a second round over every 8th page of 16 needs, and of 16 huge ones. */
static uint64_t walks(bool own, bool map, uint64_t stride, uint64_t n)
{
    struct memory memory = {0};
    struct strata_machine machine = with_tlbs(own);
    struct sim *sim = machine_start(&machine, &memory);
    if (map)
        assert_int_equal(sim_map_huge(sim, 0, 64 * HUGE_PAGE), 0);
    for (int round = 0; round < 2; round++) {
        sim_reset_counts(sim);
        for (uint64_t i = 0; i < n; i++)
            sim_load(sim, i * stride);
    }
    uint64_t walked = sim_counts(sim)->walks;
    sim_release(sim);
    return walked;
}

static void huge_pages_reach_further(void **state)
{
    (void)state;
    assert_int_equal(walks(true, false, PAGE, 4), 0);
    assert_int_equal(walks(true, false, PAGE, 5), 5);
    assert_int_equal(walks(true, true, PAGE, 128), 0); /* two huge pages */
    assert_int_equal(walks(true, true, HUGE_PAGE, 2), 0);
    assert_int_equal(walks(true, true, HUGE_PAGE, 3), 3);
    assert_int_equal(walks(false, true, HUGE_PAGE, 4), 0); /* in the TLB of base pages */
    assert_int_equal(walks(false, true, HUGE_PAGE, 5), 5);
}

/* A base page and a huge one with the same number are not the same translation. */
static void base_and_huge_pages_share_a_tlb(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct strata_machine machine = with_tlbs(false);
    struct sim *sim = machine_start(&machine, &memory);
    assert_int_equal(sim_map_huge(sim, HUGE_PAGE, HUGE_PAGE), 0);
    assert_int_equal(sim_load(sim, PAGE).tlb, 2);      /* base page 1 */
    assert_int_equal(sim_load(sim, HUGE_PAGE).tlb, 2); /* huge page 1 */
    assert_int_equal(sim_load(sim, PAGE).tlb, 1);
    assert_int_equal(sim_load(sim, 2 * HUGE_PAGE - 8).tlb, 1);
    sim_release(sim);
}

/* A walk costs as much as the machine says for its page size; 0: as any other. */
static void huge_pages_have_a_walk_of_their_own(void **state)
{
    (void)state;
    for (uint32_t own = 0; own < 2; own++) {
        struct memory memory = {0};
        struct strata_machine machine = with_tlbs(true);
        machine.walk_huge_latency = own ? machine.walk_latency - 9 : 0;
        struct sim *sim = machine_start(&machine, &memory);
        assert_int_equal(sim_map_huge(sim, HUGE_PAGE, HUGE_PAGE), 0);
        struct sim_result base = sim_load(sim, 0), huge = sim_load(sim, HUGE_PAGE);
        assert_int_equal(base.tlb, 2);
        assert_int_equal(huge.tlb, 2);
        assert_int_equal(base.cycles - huge.cycles, own ? 9 : 0);
        sim_release(sim);
    }
}

static void a_range_is_rounded_inwards(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct strata_machine machine = with_tlbs(true);
    struct sim *sim = machine_start(&machine, &memory);
    /* All but the first and the last byte of four huge pages: two in the middle. */
    assert_int_equal(sim_map_huge(sim, 1, 4 * HUGE_PAGE - 2), 0);
    assert_int_equal(sim_map_huge(sim, 8 * HUGE_PAGE + 1, HUGE_PAGE - 1), 0); /* none */
    assert_int_equal(sim_map_huge(sim, UINT64_MAX, 1), 0);
    for (uint64_t i = 0; i < 10; i++)
        sim_load(sim, i * HUGE_PAGE);
    const struct sim_counts *counts = sim_counts(sim);
    assert_int_equal(counts->tlb_misses[0], 8);
    assert_int_equal(counts->tlb_misses[1], 2);
    sim_release(sim);
}

static void what_moves_to_huge_pages_is_forgotten(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct strata_machine machine = with_tlbs(true);
    struct sim *sim = machine_start(&machine, &memory);
    for (int i = 0; i < 3; i++) {
        sim_load(sim, 0);
        sim_load(sim, HUGE_PAGE);
    }
    assert_int_equal(sim_map_huge(sim, 0, HUGE_PAGE), 0);
    struct sim_result moved = sim_load(sim, 0), other = sim_load(sim, HUGE_PAGE);
    assert_int_equal(moved.level, 2);
    assert_int_equal(moved.tlb, 2);
    assert_int_equal(other.level, 1);
    assert_int_equal(other.tlb, 1);
    assert_int_equal(sim_map_huge(sim, 0, HUGE_PAGE), 0); /* it is already there */
    assert_int_equal(sim_load(sim, 0).level, 1);
    sim_release(sim);
}

static void huge_pages_have_limits(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct strata_machine machine = with_tlbs(true);
    struct sim *sim = machine_start(&machine, &memory);
    for (uint64_t i = 0; i < 64; i++)
        assert_int_equal(sim_map_huge(sim, 2 * i * HUGE_PAGE, HUGE_PAGE), 0);
    assert_int_equal(sim_map_huge(sim, 200 * HUGE_PAGE, HUGE_PAGE), -1);
    assert_int_equal(sim_map_huge(sim, HUGE_PAGE, HUGE_PAGE), 0); /* joins two */
    assert_int_equal(sim_map_huge(sim, 200 * HUGE_PAGE, HUGE_PAGE), 0);
    assert_int_equal(sim_map_huge(sim, 0, UINT64_MAX), 0); /* joins all */
    assert_int_equal(sim_map_huge(sim, 0, HUGE_PAGE), 0);
    sim_release(sim);
    machine.huge = 0;
    machine.ntlbs = 1;
    sim = machine_start(&machine, &memory);
    assert_int_equal(sim_map_huge(sim, 0, 1 << 30), -1);
    sim_release(sim);
    assert_int_equal(memory.blocks, 0);
}

/* Everything that a seed fixes: the mapping and random victims. */
static uint64_t run(struct sim *sim)
{
    uint64_t offsets[4000];
    struct rng rng = {5};
    for (int i = 0; i < 4000; i++)
        offsets[i] = rng_below(&rng, 100 * PAGE / 64) * 64;
    return sim_chase(sim, 0, offsets, 4000);
}

static void a_remap_is_a_new_machine(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct allocator allocator = memory_allocator(&memory);
    struct strata_machine machine = direct_mapped(STRATA_PHYSICAL, STRATA_MAP_RANDOM);
    machine.caches[0].ways = 16;
    machine.caches[0].policy = STRATA_RANDOM;
    struct sim *a = sim_create(&machine, 1, &allocator);
    struct sim *b = sim_create(&machine, 2, &allocator);
    assert_non_null(a);
    assert_non_null(b);
    uint64_t first = run(a), second = run(b);
    assert_int_not_equal(first, second);
    sim_remap(a, 2);
    assert_int_equal(run(a), second);
    sim_remap(a, 1);
    assert_int_equal(run(a), first);
    sim_release(a);
    sim_release(b);
    assert_int_equal(memory.blocks, 0);
}

/* A machine that needs every kind of block there is. */
static struct strata_machine demanding(void)
{
    struct strata_machine machine = machine_empty();
    machine_add_cache(&machine, 1, 4, 4)->occupied = 0.25;
    machine_add_cache(&machine, 2, 4, 24)->policy = STRATA_PLRU;
    machine_add_cache(&machine, 3, 64, 12)->policy = STRATA_PLRU;
    machine.caches[1].occupied = 0.25;
    machine_add_tlb(&machine, 1, 72, 72);
    machine_add_tlb(&machine, 2, 100, 4);
    return machine;
}

static void no_memory_is_no_machine_and_no_leak(void **state)
{
    (void)state;
    struct strata_machine machine = demanding();
    size_t fails_at = 1;
    for (;; fails_at++) {
        struct memory memory = {.fails_at = fails_at};
        struct allocator allocator = memory_allocator(&memory);
        struct sim *sim = sim_create(&machine, 1, &allocator);
        if (sim) {
            run(sim);
            sim_release(sim);
        }
        assert_int_equal(memory.blocks, 0);
        if (sim)
            break;
        assert_int_equal(memory.made >= fails_at, 1);
    }
    assert_true(fails_at > 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mapping_is_a_bijection),
        cmocka_unit_test(a_random_mapping_looks_random),
        cmocka_unit_test(a_physical_index_depends_on_the_mapping),
        cmocka_unit_test(huge_pages_reach_further),
        cmocka_unit_test(base_and_huge_pages_share_a_tlb),
        cmocka_unit_test(huge_pages_have_a_walk_of_their_own),
        cmocka_unit_test(a_range_is_rounded_inwards),
        cmocka_unit_test(what_moves_to_huge_pages_is_forgotten),
        cmocka_unit_test(huge_pages_have_limits),
        cmocka_unit_test(a_remap_is_a_new_machine),
        cmocka_unit_test(no_memory_is_no_machine_and_no_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
