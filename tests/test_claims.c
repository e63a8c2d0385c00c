/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What others claim, replayed: a tree that was recorded on a Zen 4 guest (sysfs, and hwloc
 * as XML), small trees with what sysfs may hold, and machine files. */
#include "host/claims.h"

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "test_tree.h"

#define ZEN4 "tests/data/sysfs-zen4"

static int make_tree(void **state)
{
    char *root = strdup("/tmp/strata-claims-XXXXXX");
    *state = root && mkdtemp(root) ? root : NULL;
    return *state ? 0 : -1;
}

static int remove_tree(void **state)
{
    int status = tree_remove(*state);
    free(*state);
    return status;
}

/* One cache of processor 0 as sysfs has it; NULL: no such file. */
static void put_cache(const char *root, int index, const char *type, const char *level,
                      const char *size, const char *line, const char *ways)
{
    const struct {
        const char *name, *text;
    } files[] = {{"type", type},
                 {"level", level},
                 {"size", size},
                 {"coherency_line_size", line},
                 {"ways_of_associativity", ways}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[128];
        snprintf(path, sizeof path, "sys/devices/system/cpu/cpu0/cache/index%d/%s", index,
                 files[i].name);
        if (files[i].text)
            tree_put(root, path, files[i].text);
    }
}

static struct claims read_tree(const char *root, int cpu)
{
    struct claims claims;
    struct strata_error error = {0};
    assert_int_equal(claims_read(root, cpu, &claims, &error), STRATA_OK);
    return claims;
}

static void expect(const struct claim_list *list, int level, uint64_t size, uint32_t line,
                   uint32_t ways)
{
    const struct claim *claim = claims_find(list, level);
    assert_non_null(claim);
    assert_int_equal(claim->level, level);
    assert_int_equal(claim->size, size);
    assert_int_equal(claim->line, line);
    assert_int_equal(claim->ways, ways);
}

static void a_recorded_machine_is_replayed(void **state)
{
    (void)state;
    struct claims claims = read_tree(ZEN4, 0);
    assert_string_equal(claims.by[0].who, "OS");
    assert_string_equal(claims.by[1].who, "hwloc");
    for (int i = 0; i < CLAIMANTS; i++) {
        assert_int_equal(claims.by[i].n, 3); /* no instruction cache */
        expect(&claims.by[i], 1, 32 << 10, 64, 8);
        expect(&claims.by[i], 2, 1 << 20, 64, 8);
        expect(&claims.by[i], 3, 32 << 20, 64, 16);
        assert_null(claims_find(&claims.by[i], 4));
    }
    assert_int_equal(claims.npages, 3);
    assert_int_equal(claims.pages[0], 4096);
    assert_int_equal(claims.pages[1], 2 << 20);
    assert_int_equal(claims.pages[2], 1 << 30);
    assert_int_equal(claims.ntlbs, 0);
}

static void the_first_processor_stands_in(void **state)
{
    (void)state;
    struct claims claims = read_tree(ZEN4, -1);
    assert_int_equal(claims.by[0].n, 3);
}

static void what_is_missing_is_explained(void **state)
{
    struct claims claims = read_tree(*state, 0);
    assert_int_equal(claims.by[0].n, 0);
    assert_non_null(strstr(claims.by[0].why, "cpu0/cache names no cache"));
    assert_int_equal(claims.by[1].n, 0);
    assert_non_null(strstr(claims.by[1].why, "hwloc cannot read"));
    assert_int_equal(claims.npages, 0);
    claims = read_tree(ZEN4, 77);
    assert_int_equal(claims.by[0].n + claims.by[1].n, 0);
    assert_non_null(strstr(claims.by[1].why, "cpu 77"));
}

/* sysfs numbers its folders in any order, and leaves out what it does not know. */
static void odd_trees_are_read(void **state)
{
    const char *root = *state;
    put_cache(root, 0, "Unified\n", "3\n", "6144K\n", "128\n", "0\n"); /* fully assoc. */
    put_cache(root, 1, "Instruction\n", "1\n", "64K\n", "64\n", "4\n");
    put_cache(root, 2, "Data\n", "1\n", "48K\n", "64\n", "12\n");
    put_cache(root, 3, "Unified\n", "2\n", "rubbish\n", NULL, NULL);
    put_cache(root, 5, "Unified\n", "4\n", "1M\n", "64\n", "8\n"); /* behind a gap */
    struct claims claims = read_tree(root, 0);
    assert_int_equal(claims.by[0].n, 3);
    assert_int_equal(claims.by[0].caches[0].level, 1); /* in order */
    expect(&claims.by[0], 1, 48 << 10, 64, 12);
    expect(&claims.by[0], 2, 0, 0, 0);
    expect(&claims.by[0], 3, 6144 << 10, 128, 6144 * 1024 / 128);
}

static void broken_trees_do_no_harm(void **state)
{
    const char *root = *state;
    put_cache(root, 0, "Data\n", "-1\n", "99999999999999999999K\n", "5000000000\n", "\n");
    put_cache(root, 1, "Data\n", "17\n", "1K\n", "64\n", "1\n");
    tree_put(root, "proc/self/smaps", "KernelPageSize: 18446744073709551615 kB\n");
    tree_put(root, "sys/kernel/mm/hugepages/hugepages-x/nr", "");
    tree_put(root, "hwloc.xml", "<topology><object type=\"Machine\"");
    struct claims claims = read_tree(root, 0);
    assert_int_equal(claims.by[0].n, 0);
    assert_int_equal(claims.by[1].n, 0);
    assert_int_equal(claims.npages, 0);
}

static void huge_pages_are_listed_in_order(void **state)
{
    const char *root = *state;
    tree_put(root, "proc/self/smaps",
             "55d0-55d1 r--p\nSize: 4 kB\nKernelPageSize:       64 kB\n");
    tree_put(root, "sys/kernel/mm/hugepages/hugepages-16777216kB/nr", "0");
    tree_put(root, "sys/kernel/mm/hugepages/hugepages-2048kB/nr", "0");
    tree_put(root, "sys/kernel/mm/hugepages/hugepages-524288kB/nr", "0");
    struct claims claims = read_tree(root, 0);
    assert_int_equal(claims.npages, 4);
    assert_int_equal(claims.pages[0], 64 << 10);
    for (int i = 1; i < claims.npages; i++)
        assert_true(claims.pages[i] > claims.pages[i - 1]);
}

static void a_machine_file_claims_what_loads_can_hit(void **state)
{
    (void)state;
    struct strata_machine machine;
    struct strata_error error = {0};
    struct claims claims;
    assert_int_equal(
        strata_machine_read("machines/intel-xeon-e5530-nehalem.machine", &machine, &error),
        STRATA_OK);
    claims_of_machine(&machine, &claims);
    assert_string_equal(claims.by[0].who, "file");
    assert_null(claims.by[1].who);
    expect(&claims.by[0], 1, 32 << 10, 64, 8);
    expect(&claims.by[0], 2, 256 << 10, 64, 8);
    const struct claim_tlb *tlb = claims_find_tlb(&claims, 1, machine.page);
    assert_non_null(tlb);
    assert_int_equal(tlb->entries, 64);
    assert_null(claims_find_tlb(&claims, 9, machine.page));
    assert_int_equal(claims.pages[0], 4096);
}

/* Loads of integers pass a cache for floating point by. */
static void caches_for_other_types_are_left_out(void **state)
{
    (void)state;
    struct strata_machine machine = {
        .page = 4096,
        .ncaches = 2,
        .caches =
            {{.level = 1, .size = 16384, .line = 64, .ways = 4, .types = STRATA_FLOAT},
             {.level = 2,
              .size = 262144,
              .line = 128,
              .ways = 8,
              .types = STRATA_INT | STRATA_FLOAT}},
        .ntlbs = 1,
        .tlbs = {{.level = 1, .kind = STRATA_INSTRUCTION, .entries = 64, .ways = 64}},
    };
    struct claims claims;
    claims_of_machine(&machine, &claims);
    assert_int_equal(claims.by[0].n, 1);
    expect(&claims.by[0], 2, 262144, 128, 8);
    assert_int_equal(claims.ntlbs, 0);
    assert_int_equal(claims.npages, 1);
    machine.ncaches = 0;
    claims_of_machine(&machine, &claims);
    assert_int_equal(claims.by[0].n, 0);
    assert_string_not_equal(claims.by[0].why, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recorded_machine_is_replayed),
        cmocka_unit_test(the_first_processor_stands_in),
        cmocka_unit_test_setup_teardown(what_is_missing_is_explained, make_tree,
                                        remove_tree),
        cmocka_unit_test_setup_teardown(odd_trees_are_read, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(broken_trees_do_no_harm, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(huge_pages_are_listed_in_order, make_tree,
                                        remove_tree),
        cmocka_unit_test(a_machine_file_claims_what_loads_can_hit),
        cmocka_unit_test(caches_for_other_types_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
