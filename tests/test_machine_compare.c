/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How two machines differ: every key, sections that one of them lacks, and names of
 * sections that do not matter. */
#include "../bench/random_machine.h"
#include "machine/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 64 };

static struct difference differences[MOST];

static size_t compare_machines(const struct strata_machine *a,
                               const struct strata_machine *b)
{
    struct strata_error error = {0, ""};
    size_t n = 0;
    assert_int_equal(strata_machine_check(a, &error), STRATA_OK);
    assert_int_equal(strata_machine_check(b, &error), STRATA_OK);
    assert_int_equal(machine_compare(a, b, differences, MOST, &n, &error), STRATA_OK);
    return n;
}

static void expect_difference(size_t i, const char *section, const char *key, const char *a,
                              const char *b)
{
    assert_string_equal(differences[i].section, section);
    if (key)
        assert_string_equal(differences[i].key, key);
    else
        assert_null(differences[i].key);
    assert_string_equal(differences[i].a, a);
    assert_string_equal(differences[i].b, b);
}

static struct strata_machine nehalem(void)
{
    struct strata_machine m;
    assert_int_equal(
        strata_machine_read("machines/intel-xeon-e5530-nehalem.machine", &m, NULL),
        STRATA_OK);
    return m;
}

static void test_equal(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct strata_machine a, b;
        random_machine(seed, &a);
        random_machine(seed, &b);
        assert_int_equal(compare_machines(&a, &b), 0);
    }
}

static void test_values(void **state)
{
    (void)state;
    struct strata_machine a = nehalem(), b = a;
    b.frequency = 2500000000;
    b.caches[2].ways = 16;
    b.caches[3].size = 12 << 20;
    b.tlbs[0].entries = 32;
    b.walk_latency = 31;
    b.memory_latency = 210;
    assert_int_equal(compare_machines(&a, &b), 6);
    expect_difference(0, "machine", "frequency", "2400M", "2500M");
    expect_difference(1, "cache L2", "ways", "8", "16");
    expect_difference(2, "cache L3", "size", "8M", "12M");
    expect_difference(3, "tlb L1d", "entries", "64", "32");
    expect_difference(4, "walk", "latency", "30", "31");
    expect_difference(5, "memory", "latency", "200", "210");
}

static void test_section_names_do_not_matter(void **state)
{
    (void)state;
    struct strata_machine a = nehalem(), b = a;
    memcpy(b.caches[3].name, "LLC", 4);
    memcpy(b.tlbs[0].name, "DTLB", 5);
    assert_int_equal(compare_machines(&a, &b), 0);
}

static void test_sections_of_one(void **state)
{
    (void)state;
    struct strata_machine a = nehalem(), b = a;
    b.ncaches--;
    memset(&b.caches[3], 0, sizeof b.caches[3]);
    b.prefetchers[b.nprefetchers++] =
        (struct strata_prefetcher){"L2", 2, STRATA_PREFETCH_STREAM, 2, 0};
    b.noise.jitter = 0.02;
    assert_int_equal(compare_machines(&a, &b), 3);
    expect_difference(0, "cache L3", NULL, "present", "");
    expect_difference(1, "prefetch L2", NULL, "", "present");
    expect_difference(2, "noise", NULL, "", "present");
}

/* The whole number is told even where there is no room. */
static void test_no_room(void **state)
{
    (void)state;
    struct strata_machine a, b;
    struct difference one[2];
    size_t n = 0;
    random_machine(1, &a);
    random_machine(2, &b);
    size_t all = compare_machines(&a, &b);
    assert_true(all > 2);
    memset(one, 0, sizeof one);
    assert_int_equal(machine_compare(&a, &b, one, 1, &n, NULL), STRATA_OK);
    assert_int_equal(n, all);
    assert_string_equal(one[0].key, "name");
    assert_string_equal(one[1].section, "");
    assert_int_equal(machine_compare(&a, &b, NULL, 0, &n, NULL), STRATA_OK);
    assert_int_equal(n, all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_section_names_do_not_matter),
        cmocka_unit_test(test_sections_of_one),
        cmocka_unit_test(test_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
