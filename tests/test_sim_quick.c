/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The quick path of the simulated machine by hand: what it takes, what it leaves to
 * sim_access(), and when it has to forget. Beside that, tests/test_sim_reference.c runs it
 * on random machines. */
#include "test_sim_machine.h"

#include "sim/quick.h"

enum { BASE = 1 << 24 };

/* A cache of 8 sets of 2 ways, a TLB of 4 pages, huge pages of 64K. */
static struct strata_machine small_machine(void)
{
    struct strata_machine machine = machine_empty();
    machine.huge = 65536;
    machine_add_cache(&machine, 1, 8, 2);
    machine_add_cache(&machine, 2, 64, 4);
    machine_add_tlb(&machine, 1, 4, 4);
    return machine;
}

static bool quick_load(struct sim *sim, uint64_t address, uint32_t size)
{
    return sim_quick(sim_quick_for(sim, SIM_LOAD, STRATA_INT), address, size);
}

static void discard(struct sim *sim, struct memory *memory)
{
    sim_release(sim);
    assert_int_equal(memory->blocks, 0);
}

static void only_what_is_near_is_quick(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct strata_machine machine = small_machine();
    struct sim *sim = machine_start(&machine, &memory);
    assert_false(quick_load(sim, BASE, 8));
    sim_load(sim, BASE);
    assert_true(quick_load(sim, BASE, 8));
    assert_true(quick_load(sim, BASE + 56, 8));
    assert_true(quick_load(sim, BASE, 64));
    assert_false(quick_load(sim, BASE + 64, 8));
    assert_false(quick_load(sim, BASE + 4096, 8));
    discard(sim, &memory);
}

/* Also where both lines are near. */
static void straddling_is_not_quick(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct strata_machine machine = small_machine();
    struct sim *sim = machine_start(&machine, &memory);
    sim_load(sim, BASE);
    sim_load(sim, BASE + 64);
    assert_true(quick_load(sim, BASE + 60, 4));
    assert_false(quick_load(sim, BASE + 60, 5));
    assert_false(quick_load(sim, BASE + 1, 64));
    discard(sim, &memory);
}

/* Line numbers that share a slot, and neighbours where the sum of a slot carries. */
static void neighbours_never_share_a_slot(void **state)
{
    (void)state;
    const uint64_t ends[] = {SIM_QUICK_LINES, UINT64_C(1) << 24, UINT64_C(1) << 30,
                             UINT64_C(1) << 36, UINT64_C(0x800) << 12};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (uint64_t line = ends[i] - 3; line < ends[i] + 3; line++)
            for (uint64_t more = 1; more <= 64; more++)
                assert_int_not_equal(sim_slot_of(line, SIM_LINE_BITS),
                                     sim_slot_of(line + more, SIM_LINE_BITS));
}

static void a_quick_visit_is_a_visit(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct strata_machine machine = small_machine();
    struct sim *sim = machine_start(&machine, &memory);
    const uint64_t a = BASE, b = BASE + 512, c = BASE + 1024; /* of one set */
    sim_load(sim, a);
    sim_load(sim, b);
    assert_true(quick_load(sim, a, 8));
    assert_int_equal(sim_load(sim, c).victim, b);
    assert_false(quick_load(sim, b, 8));
    assert_true(quick_load(sim, a, 8));
    discard(sim, &memory);
}

static void a_quick_visit_of_a_page_is_one_too(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct strata_machine machine = small_machine();
    struct sim *sim = machine_start(&machine, &memory);
    for (uint64_t page = 0; page < 4; page++) /* each in another set of the cache */
        sim_load(sim, BASE + page * (4096 + 64));
    assert_true(quick_load(sim, BASE, 8));
    sim_load(sim, BASE + 4 * (4096 + 64)); /* throws out the second page */
    assert_true(quick_load(sim, BASE, 8));
    assert_false(quick_load(sim, BASE + 4096 + 64, 8));
    assert_int_equal(sim_load(sim, BASE + 4096 + 64).tlb, 2);
    discard(sim, &memory);
}

/* A line that an inclusive cache takes back is near no more. */
static void inclusion_is_noticed(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct strata_machine machine = small_machine();
    machine.caches[1].inclusion = STRATA_INCLUSIVE;
    struct sim *sim = machine_start(&machine, &memory);
    sim_load(sim, BASE);
    for (uint64_t i = 1; i <= 4; i++) { /* of its set in the second cache */
        assert_true(quick_load(sim, BASE, 8));
        sim_load(sim, BASE + i * 4096);
    }
    assert_false(quick_load(sim, BASE, 8));
    assert_int_equal(sim_load(sim, BASE).level, 3);
    discard(sim, &memory);
}

static void what_empties_the_machine_empties_the_tables(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct strata_machine machine = small_machine();
    struct sim *sim = machine_start(&machine, &memory);
    sim_load(sim, BASE);
    sim_flush(sim);
    assert_false(quick_load(sim, BASE, 8));
    sim_load(sim, BASE);
    sim_remap(sim, 7);
    assert_false(quick_load(sim, BASE, 8));
    sim_load(sim, BASE);
    assert_int_equal(sim_map_huge(sim, BASE, 65536), 0);
    assert_false(quick_load(sim, BASE, 8));
    sim_load(sim, BASE);
    assert_false(quick_load(sim, BASE, 8)); /* huge pages never are */
    assert_int_equal(sim_load(sim, BASE).level, 1);
    discard(sim, &memory);
}

static void hits_are_counted_when_they_are_told(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct strata_machine machine = small_machine();
    struct sim *sim = machine_start(&machine, &memory);
    sim_load(sim, BASE);
    sim_reset_counts(sim);
    for (int i = 0; i < 10; i++)
        assert_true(quick_load(sim, BASE, 8));
    assert_int_equal(sim_counts(sim)->accesses[SIM_LOAD], 0);
    sim_add_hits(sim, SIM_LOAD, STRATA_INT, 6);
    sim_add_hits(sim, SIM_STORE, STRATA_FLOAT, 4);
    const struct sim_counts *counts = sim_counts(sim);
    assert_int_equal(counts->accesses[SIM_LOAD], 6);
    assert_int_equal(counts->accesses[SIM_STORE], 4);
    assert_int_equal(counts->hits[0], 10);
    assert_int_equal(counts->tlb_hits[0], 10);
    assert_int_equal(counts->cycles, 40);
    assert_int_equal(sim_quick_for(sim, SIM_LOAD, STRATA_INT)->result->cycles, 4);
    discard(sim, &memory);
}

/* The layout that code written for it relies on. */
static void the_layout_is_as_documented(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct sim_way), 16);
    assert_int_equal(offsetof(struct sim_way, stamp), 8);
    assert_int_equal(sizeof(struct sim_trail), 16);
    assert_int_equal(offsetof(struct sim_trail, before), 8);
    assert_int_equal(SIM_QUICK_LINES, 4096);
    assert_int_equal(SIM_QUICK_PAGES, 1024);
    assert_int_equal(SIM_QUICK_TRAILS, 64);
    assert_int_equal(SIM_QUICK_TICK, 16);
    for (uint64_t n = 1; n < UINT64_C(1) << 50; n = n * 3 + 1) {
        assert_int_equal(sim_slot_of(n, SIM_LINE_BITS), (n * 0x104100 & UINT32_MAX) >> 20);
        assert_int_equal(sim_slot_of(n, SIM_PAGE_BITS), (n * 0x421000 & UINT32_MAX) >> 22);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_near_is_quick),
        cmocka_unit_test(straddling_is_not_quick),
        cmocka_unit_test(neighbours_never_share_a_slot),
        cmocka_unit_test(a_quick_visit_is_a_visit),
        cmocka_unit_test(a_quick_visit_of_a_page_is_one_too),
        cmocka_unit_test(inclusion_is_noticed),
        cmocka_unit_test(what_empties_the_machine_empties_the_tables),
        cmocka_unit_test(hits_are_counted_when_they_are_told),
        cmocka_unit_test(the_layout_is_as_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
