/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What strata doctor says, on trees that stand for other machines: one that was captured
 * in a guest (tests/data/sysfs-guest), and small ones that are written here, file by
 * file, beside what they must lead to. What a fact tries on the running machine (counters,
 * the clock) is only asked for an answer that makes sense. */
#include "host/facts.h"
#include "host/limits.h"

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "test_tree.h"

#define GUEST "tests/data/sysfs-guest"

static void expect(fact_finder *find, const char *root, enum fact_state state,
                   const char *found)
{
    struct fact fact = {.state = FACT_UNKNOWN};
    find(root, &fact);
    assert_string_equal(fact.found, found);
    assert_int_equal(fact.state, state);
}

/* The advice of the same fact must hold the words; "" means that there must be none. */
static void expect_advice(fact_finder *find, const char *root, const char *words)
{
    struct fact fact = {.state = FACT_UNKNOWN};
    find(root, &fact);
    if (*words)
        assert_non_null(strstr(fact.advice, words));
    else
        assert_string_equal(fact.advice, "");
}

static void test_captured_guest(void **state)
{
    (void)state;
    expect(fact_perf_event_paranoid, GUEST, FACT_LIMITED,
           "2: everybody may count their own programs, without the kernel");
    expect(fact_huge_page_pool, GUEST, FACT_MISSING, "2M: 0 free of 0, 1G: 0 free of 0");
    expect(fact_core_time, GUEST, FACT_LIMITED,
           "no quota; 1.7% of the busy time since boot went to other guests");
    expect(fact_smt, GUEST, FACT_GOOD, "off, or hidden by the hypervisor");
    expect(fact_numa, GUEST, FACT_GOOD, "1 node");
    expect(fact_hypervisor, GUEST, FACT_GOOD, "none seen");
    assert_true(limits_group(GUEST).bytes == UINT64_C(4) << 30);
}

static void test_paranoid(void **state)
{
    static const struct {
        const char *text;
        enum fact_state state;
        const char *found, *advice;
    } rows[] = {
        {"-1\n", FACT_GOOD, "-1: everybody may count everything", ""},
        {"0\n", FACT_GOOD, "0: everybody may count everything but raw tracepoints", ""},
        {"1\n", FACT_GOOD, "1: everybody may count their own programs, kernel included",
         ""},
        {"3\n", FACT_MISSING, "3: only root may count", "perf_event_paranoid=1"},
        {"4\n", FACT_MISSING, "4: only root may count", "perf_event_paranoid=1"},
        {"soon\n", FACT_MISSING, "not there: this kernel has no perf events", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tree_put(*state, "/proc/sys/kernel/perf_event_paranoid", rows[i].text);
        expect(fact_perf_event_paranoid, *state, rows[i].state, rows[i].found);
        expect_advice(fact_perf_event_paranoid, *state, rows[i].advice);
    }
}

static void test_paranoid_missing(void **state)
{
    expect(fact_perf_event_paranoid, *state, FACT_MISSING,
           "not there: this kernel has no perf events");
}

static void test_transparent_huge_pages(void **state)
{
    expect(fact_transparent_huge_pages, *state, FACT_MISSING,
           "none: the kernel does not have them");
    tree_put(*state, "/sys/kernel/mm/transparent_hugepage/enabled",
             "always madvise [never]\n");
    expect(fact_transparent_huge_pages, *state, FACT_MISSING,
           "2M, mode never: asked for 4, got none");
    expect_advice(fact_transparent_huge_pages, *state, "echo madvise");
    tree_put(*state, "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "33554432\n");
    expect(fact_transparent_huge_pages, *state, FACT_MISSING,
           "32M, mode never: asked for 4, got none");
    tree_put(*state, "/sys/kernel/mm/transparent_hugepage/enabled", "no brackets\n");
    expect(fact_transparent_huge_pages, *state, FACT_MISSING,
           "none: the kernel does not have them");
}

static void test_huge_page_pool(void **state)
{
    expect(fact_huge_page_pool, *state, FACT_MISSING,
           "none: the kernel has no hugetlb pages");
    tree_put(*state, "/sys/kernel/mm/hugepages/hugepages-524288kB/nr_hugepages", "1\n");
    tree_put(*state, "/sys/kernel/mm/hugepages/hugepages-64kB/nr_hugepages", "8\n");
    tree_put(*state, "/sys/kernel/mm/hugepages/hugepages-64kB/free_hugepages", "6\n");
    tree_put(*state, "/sys/kernel/mm/hugepages/other/nr_hugepages", "9\n");
    expect(fact_huge_page_pool, *state, FACT_GOOD, "64K: 6 free of 8, 512M: 0 free of 1");
    expect_advice(fact_huge_page_pool, *state, "");
}

/* A tree stands still, so that the average decides. */
static void test_load(void **state)
{
    expect(fact_load, *state, FACT_UNKNOWN, "the kernel does not tell the load average");
    tree_put(*state, "/proc/loadavg", "0.04 0.11 0.20 1/123 4567\n");
    expect(fact_load, *state, FACT_GOOD, "0.0 processors wanted in the last minute");
    expect_advice(fact_load, *state, "");
    tree_put(*state, "/proc/loadavg", "5.02 3.11 1.20 6/123 4567\n");
    expect(fact_load, *state, FACT_LIMITED, "5.0 processors wanted in the last minute");
    expect_advice(fact_load, *state, "strata top");
    tree_put(*state, "/proc/loadavg", "much\n");
    expect(fact_load, *state, FACT_UNKNOWN, "the kernel does not tell the load average");
}

static void test_core_time(void **state)
{
    expect(fact_core_time, *state, FACT_UNKNOWN,
           "no quota; /proc/stat does not tell of stolen time");
    tree_put(*state, "/proc/stat", "cpu  100 0 100 9000 50 0 0 0 0 0\n");
    expect(fact_core_time, *state, FACT_GOOD,
           "no quota; 0.0% of the busy time since boot went to other guests");
    tree_put(*state, "/sys/fs/cgroup/cpu.max", "150000 100000\n");
    expect(fact_core_time, *state, FACT_LIMITED,
           "a quota of 1.50 processors; 0.0% of the busy time since boot went to other "
           "guests");
    expect_advice(fact_core_time, *state, "cpu limit");
    tree_put(*state, "/sys/fs/cgroup/cpu.max", "max 100000\n");
    tree_put(*state, "/proc/stat", "cpu  100 0 100 9000 50 0 0 200 0 0\n");
    expect(fact_core_time, *state, FACT_LIMITED,
           "no quota; 50.0% of the busy time since boot went to other guests");
    expect_advice(fact_core_time, *state, "other guests");
}

static void test_core_time_first_cgroups(void **state)
{
    tree_put(*state, "/proc/stat", "cpu  100 0 100 9000 50 0 0 0 0 0\n");
    tree_put(*state, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
    tree_put(*state, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    expect(fact_core_time, *state, FACT_LIMITED,
           "a quota of 0.50 processors; 0.0% of the busy time since boot went to other "
           "guests");
}

static void test_smt(void **state)
{
    expect(fact_smt, *state, FACT_UNKNOWN, "the kernel does not tell");
    tree_put(*state, "/sys/devices/system/cpu/smt/active", "1\n");
    expect(fact_smt, *state, FACT_LIMITED, "on");
    tree_put(*state, "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
             "0,64\n");
    expect(fact_smt, *state, FACT_LIMITED, "on: processor 0 shares its core (0,64)");
    expect_advice(fact_smt, *state, "sibling");
}

static void test_numa(void **state)
{
    expect(fact_numa, *state, FACT_GOOD, "1 node");
    tree_put(*state, "/sys/devices/system/node/online", "0-1,4\n");
    expect(fact_numa, *state, FACT_LIMITED, "3 nodes");
    expect_advice(fact_numa, *state, "numactl");
    tree_put(*state, "/sys/devices/system/node/online", "0-\n");
    expect(fact_numa, *state, FACT_UNKNOWN, "the kernel's list of nodes cannot be read");
    tree_put(*state, "/sys/devices/system/node/online", "\n");
    expect(fact_numa, *state, FACT_UNKNOWN, "the kernel's list of nodes cannot be read");
}

static void test_hypervisor(void **state)
{
    tree_put(*state, "/sys/class/dmi/id/product_name", "PowerEdge R7525\n");
    expect(fact_hypervisor, *state, FACT_GOOD, "none seen, on PowerEdge R7525");
    tree_put(*state, "/sys/hypervisor/type", "xen\n");
    expect(fact_hypervisor, *state, FACT_LIMITED, "xen, PowerEdge R7525");
    expect_advice(fact_hypervisor, *state, "other guests");
}

static void test_cgroup_memory(void **state)
{
    assert_true(limits_group(*state).bytes == UINT64_MAX);
    tree_put(*state, "/proc/self/cgroup", "0::/a/b\n");
    assert_true(limits_group(*state).bytes == UINT64_MAX);
    tree_put(*state, "/sys/fs/cgroup/a/b/memory.max", "max\n");
    tree_put(*state, "/sys/fs/cgroup/memory.max", "2097152\n");
    assert_true(limits_group(*state).bytes == 2097152);
    tree_put(*state, "/sys/fs/cgroup/a/memory.max", "1048576\n"); /* the least counts */
    assert_true(limits_group(*state).bytes == 1048576);
    tree_put(*state, "/proc/self/cgroup", "nonsense\n3:cpu:/a\n");
    assert_true(limits_group(*state).bytes == UINT64_MAX);
}

/* Pages of files are free for the asking; a group of the older interface has them under
 * other names. */
static void test_cgroup_left(void **state)
{
    tree_put(*state, "/proc/self/cgroup", "0::/a\n4:memory:/b\n");
    tree_put(*state, "/sys/fs/cgroup/a/memory.max", "1000000\n");
    assert_true(limits_group(*state).left == 1000000);
    tree_put(*state, "/sys/fs/cgroup/a/memory.current", "999000\n");
    assert_true(limits_group(*state).left == 1000);
    tree_put(*state, "/sys/fs/cgroup/a/memory.stat",
             "anon 1000\nfile 990000\ninactive_file 400000\nactive_file 500000\n");
    assert_true(limits_group(*state).left == 901000);
    tree_put(*state, "/sys/fs/cgroup/memory/b/memory.limit_in_bytes", "500000\n");
    tree_put(*state, "/sys/fs/cgroup/memory/b/memory.usage_in_bytes", "500100\n");
    assert_true(limits_group(*state).left == 0);
    tree_put(*state, "/sys/fs/cgroup/memory/b/memory.stat",
             "inactive_file 7\ntotal_inactive_file 300\ntotal_active_file 200\n");
    assert_true(limits_group(*state).left == 400);
    assert_true(limits_group(*state).bytes == 500000);
}

static void test_unused(void **state)
{
    assert_true(limits_unused(*state) == UINT64_MAX);
    tree_put(*state, "/proc/meminfo", "MemFree: 1 kB\nBuffers: 2 kB\nCached: 4 kB\n");
    assert_true(limits_unused(*state) == 7 << 10);
    tree_put(*state, "/proc/meminfo", "MemFree: 1 kB\nMemAvailable: 9 kB\nCached: 4 kB\n");
    assert_true(limits_unused(*state) == 9 << 10);
}

static void test_memory_limit(void **state)
{
    struct fact fact = {.state = FACT_UNKNOWN};
    tree_put(*state, "/proc/meminfo", "MemTotal: 9 kB\nMemAvailable:  2048 kB\n");
    tree_put(*state, "/proc/self/cgroup", "0::/\n");
    tree_put(*state, "/sys/fs/cgroup/memory.max", "1048576\n");
    fact_memory_limit(*state, &fact);
    assert_string_equal(fact.found, "1M, by the cgroup; available: 2M");
    assert_int_equal(fact.state, FACT_LIMITED);
    assert_non_null(strstr(fact.advice, "1G is enough"));
}

static void test_lists(void **state)
{
    (void)state;
    assert_int_equal(facts_count_list(""), 0);
    assert_int_equal(facts_count_list("0"), 1);
    assert_int_equal(facts_count_list("0-3,8"), 5);
    assert_int_equal(facts_count_list("3-0"), -1);
    assert_int_equal(facts_count_list("0-"), -1);
    assert_int_equal(facts_count_list("0;1"), -1);
    assert_int_equal(facts_count_list("-1"), -1);
    assert_int_equal(facts_count_list("0-99999999999999999999"), -1);
}

static void test_read_line(void **state)
{
    char line[8], path[5000];
    int64_t number;
    tree_put(*state, "/empty", "");
    tree_put(*state, "/two", "first\nsecond\n");
    tree_put(*state, "/long", "0123456789\n");
    assert_int_equal(facts_read_line(*state, "/empty", line, sizeof line), 0);
    assert_string_equal(line, "");
    assert_int_equal(facts_read_line(*state, "/two", line, sizeof line), 0);
    assert_string_equal(line, "first");
    assert_int_equal(facts_read_line(*state, "/long", line, sizeof line), 0);
    assert_string_equal(line, "0123456");
    assert_int_equal(facts_read_line(*state, "/none", line, sizeof line), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(facts_read_line(*state, "/", line, sizeof line), -1); /* a folder */
    memset(path, 'a', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    assert_int_equal(facts_read_line(*state, path, line, sizeof line), -1);
    assert_int_equal(errno, ENAMETOOLONG);
    assert_int_equal(facts_read_number(*state, "/two", &number), -1);
    tree_put(*state, "/huge", "99999999999999999999\n");
    assert_int_equal(facts_read_number(*state, "/huge", &number), -1);
}

static void test_refusals(void **state)
{
    const char *meaning, *advice;
    (void)state;
    facts_explain_perf(ENOENT, &meaning, &advice);
    assert_non_null(strstr(meaning, "hypervisor hides it"));
    facts_explain_perf(EACCES, &meaning, &advice);
    assert_non_null(strstr(advice, "perf_event_paranoid=1"));
    facts_explain_perf(E2BIG, &meaning, &advice); /* one that has no row */
    assert_string_equal(meaning, strerror(E2BIG));
    assert_string_equal(advice, "");
}

/* Every fact has an answer in words, on this machine as on an empty tree; what is good
 * needs no advice, but for what is only slow. */
static void check_all(const char *root)
{
    struct fact facts[FACTS_MAX];
    size_t n = facts_collect(root, facts);
    assert_int_equal(n, 14);
    for (size_t i = 0; i < n; i++) {
        assert_true(strlen(facts[i].name) > 0);
        assert_int_equal(strspn(facts[i].name, "abcdefghijklmnopqrstuvwxyz_"),
                         strlen(facts[i].name));
        assert_true(strlen(facts[i].found) > 0);
        assert_true(strlen(facts[i].found) < sizeof facts[i].found - 1);
        assert_true(strlen(facts[i].advice) < sizeof facts[i].advice - 1);
        assert_true(strlen(fact_state_name(facts[i].state)) > 0);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(facts[i].name, facts[j].name);
    }
}

static void test_all(void **state)
{
    check_all("");
    check_all(*state);
    check_all("/no/such/tree");
}

int main(void)
{
#define IN_TREE(f) cmocka_unit_test_setup_teardown(f, tree_set_up, tree_tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_captured_guest),
        IN_TREE(test_paranoid),
        IN_TREE(test_paranoid_missing),
        IN_TREE(test_transparent_huge_pages),
        IN_TREE(test_huge_page_pool),
        IN_TREE(test_core_time),
        IN_TREE(test_load),
        IN_TREE(test_core_time_first_cgroups),
        IN_TREE(test_smt),
        IN_TREE(test_numa),
        IN_TREE(test_hypervisor),
        IN_TREE(test_cgroup_memory),
        IN_TREE(test_cgroup_left),
        IN_TREE(test_unused),
        IN_TREE(test_memory_limit),
        cmocka_unit_test(test_lists),
        IN_TREE(test_read_line),
        cmocka_unit_test(test_refusals),
        IN_TREE(test_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
