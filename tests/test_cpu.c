/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which processor this is: recorded identities of many processors against the table that
 * comes with strata, trees of other machines (hybrid, ARM) that are written here, and
 * tables that are wrong. */
#include "pmu/cpu.h"

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

static struct cpu_table table;

static int read_table(void **state)
{
    struct strata_error error = {0};
    (void)state;
    int status = cpu_table_read("metrics/cpus.table", &table, &error);
    if (status)
        print_error("%s\n", error.text);
    return status;
}

static int release_table(void **state)
{
    (void)state;
    cpu_table_release(&table);
    return 0;
}

static void expect(const struct cpu_id *id, const char *key, const char *events)
{
    char text[CPU_TEXT];
    const struct cpu_row *row = cpu_find(&table, id);
    if (!row)
        fail_msg("%s: not in the table", cpu_describe(id, text));
    if (strcmp(row->key, key) != 0 || strcmp(row->events, events) != 0)
        fail_msg("%s: %s with %s.events, wanted %s with %s.events", cpu_describe(id, text),
                 row->key, row->events, key, events);
}

/* As CPUID gives them: family, model and stepping of processors in use. */
static void recorded_x86(void **state)
{
    static const struct {
        const char *vendor;
        uint32_t family, model, stepping;
        const char *key, *events;
    } seen[] = {
        {"GenuineIntel", 6, 0x5e, 3, "skylake", "skylake"},         /* Core i7-6700K */
        {"GenuineIntel", 6, 0x55, 4, "skylake-sp", "skylake-sp"},   /* Gold 6148 */
        {"GenuineIntel", 6, 0x55, 7, "cascade-lake", "skylake-sp"}, /* Gold 6248 */
        {"GenuineIntel", 6, 0x9e, 9, "kaby-lake", "kaby-lake"},     /* Core i7-7700 */
        {"GenuineIntel", 6, 0x7e, 5, "ice-lake", "ice-lake"},       /* i7-1065G7 */
        {"GenuineIntel", 6, 0x6a, 6, "ice-lake-sp", "ice-lake-sp"}, /* Gold 6338 */
        {"GenuineIntel", 6, 0xa7, 1, "rocket-lake", "rocket-lake"}, /* i7-11700 */
        {"GenuineIntel", 6, 0x8f, 8, "sapphire-rapids", "sapphire-rapids"}, /* 8480+ */
        {"GenuineIntel", 6, 0xcf, 2, "emerald-rapids", "emerald-rapids"},   /* 8592+ */
        {"GenuineIntel", 6, 0x3f, 2, "haswell", "generic"},                 /* E5-2680 v3 */
        {"AuthenticAMD", 0x17, 0x01, 2, "zen-1", "generic"},                /* EPYC 7551 */
        {"AuthenticAMD", 0x17, 0x31, 0, "zen-2", "zen-2"},                  /* EPYC 7742 */
        {"AuthenticAMD", 0x17, 0x71, 0, "zen-2", "zen-2"}, /* Ryzen 3900X */
        {"AuthenticAMD", 0x19, 0x01, 1, "zen-3", "zen-3"}, /* EPYC 7763 */
        {"AuthenticAMD", 0x19, 0x21, 0, "zen-3", "zen-3"}, /* Ryzen 5950X */
        {"AuthenticAMD", 0x19, 0x11, 1, "zen-4", "zen-4"}, /* EPYC 9654 */
        {"AuthenticAMD", 0x19, 0x61, 2, "zen-4", "zen-4"}, /* Ryzen 7950X */
        {"AuthenticAMD", 0x1a, 0x02, 1, "zen-5", "zen-5"}, /* EPYC 9755 */
        {"AuthenticAMD", 0x1a, 0x44, 0, "zen-5", "zen-5"}, /* Ryzen 9950X */
    };
    (void)state;
    for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++) {
        struct cpu_id id = {
            .family = seen[i].family, .model = seen[i].model, .stepping = seen[i].stepping};
        strcpy(id.vendor, seen[i].vendor);
        expect(&id, seen[i].key, seen[i].events);
    }
}

static void recorded_arm(void **state)
{
    static const struct {
        uint64_t midr;
        const char *key, *events;
    } seen[] = {
        {0x413fd0c1, "neoverse-n1", "neoverse-n1"}, /* Graviton 2, Ampere Altra */
        {0x411fd401, "neoverse-v1", "neoverse-v1"}, /* Graviton 3 */
        {0x410fd4f0, "neoverse-v2", "neoverse-v2"}, /* Graviton 4, Grace */
        {0x410fd083, "cortex-a72", "generic"},      /* Raspberry Pi 4 */
        {0x00000000413fd0c1, "neoverse-n1", "neoverse-n1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++)
        expect(&(struct cpu_id){.midr = seen[i].midr}, seen[i].key, seen[i].events);
}

static void unknown(void **state)
{
    struct cpu_id ids[] = {
        {.vendor = "GenuineIntel", .family = 6, .model = 0xfe},
        {.vendor = "NobodyKnows", .family = 6, .model = 0x55},
        {.vendor = "AuthenticAMD", .family = 6, .model = 0x55},
        {.midr = 0x410f0000},
        {.midr = 0x513fd0c1},
        {.midr = 0},
        /* a hybrid processor, one of whose kinds nothing is known about */
        {.vendor = "GenuineIntel", .family = 6, .model = 0x97, .core = 0x10},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        assert_null(cpu_find(&table, &ids[i]));
}

/* Every table of events that a row names is there. */
static void tables_are_there(void **state)
{
    char path[128];
    struct stat info;
    (void)state;
    assert_true(table.nrows >= 15);
    for (size_t i = 0; i < table.nrows; i++) {
        snprintf(path, sizeof path, "metrics/%s.events", table.rows[i].events);
        if (stat(path, &info) != 0)
            fail_msg("%s: %s", path, strerror(errno));
    }
}

/* Trees of other machines. */

static int make_tree(void **state)
{
    char *root = strdup("/tmp/strata-cpu-XXXXXX");
    *state = root;
    return root && mkdtemp(root) ? 0 : -1;
}

static int remove_tree(void **state)
{
    int status = tree_remove(*state);
    free(*state);
    return status;
}

#define DEVICES "/sys/bus/event_source/devices/"
#define ENTRY(n, model)                                                                    \
    "processor\t: " n "\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: " model    \
    "\nmodel name\t: Intel\nstepping\t: 2\n\n"

static void plain_tree(void **state)
{
    struct cpu_kind kinds[CPU_KINDS];
    tree_put(*state, "/proc/cpuinfo", ENTRY("0", "85") ENTRY("1", "85"));
    assert_int_equal(cpu_kinds(*state, kinds), 1);
    assert_string_equal(kinds[0].id.vendor, "GenuineIntel");
    assert_int_equal(kinds[0].id.family, 6);
    assert_int_equal(kinds[0].id.model, 0x55);
    assert_int_equal(kinds[0].id.stepping, 2);
    assert_string_equal(kinds[0].device, "");
    expect(&kinds[0].id, "skylake-sp", "skylake-sp");
}

static void hybrid_tree(void **state)
{
    struct cpu_kind kinds[CPU_KINDS];
    tree_put(*state, "/proc/cpuinfo", ENTRY("0", "151") ENTRY("16", "151"));
    tree_put(*state, DEVICES "cpu_atom/cpus", "16-23\n");
    tree_put(*state, DEVICES "cpu_core/cpus", "0-15\n");
    tree_put(*state, DEVICES "uncore_imc_0/cpumask", "0\n");
    assert_int_equal(cpu_kinds(*state, kinds), 2);
    assert_string_equal(kinds[0].device, "cpu_core");
    assert_string_equal(kinds[1].device, "cpu_atom");
    assert_int_equal(kinds[1].first, 16);
    expect(&kinds[0].id, "golden-cove", "golden-cove");
    expect(&kinds[1].id, "gracemont", "gracemont");
}

static void arm_tree(void **state)
{
    struct cpu_kind kinds[CPU_KINDS];
    tree_put(*state, "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
             "0x00000000411fd401\n");
    tree_put(*state, DEVICES "armv8_pmuv3_0/cpus", "0-3\n");
    assert_int_equal(cpu_kinds(*state, kinds), 1);
    assert_string_equal(kinds[0].device, "armv8_pmuv3_0");
    expect(&kinds[0].id, "neoverse-v1", "neoverse-v1");
}

static void arm_cpuinfo(void **state)
{
    struct cpu_kind kinds[CPU_KINDS];
    tree_put(*state, "/proc/cpuinfo",
             "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
             "CPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n");
    assert_int_equal(cpu_kinds(*state, kinds), 1);
    assert_int_equal(kinds[0].id.midr, 0x413fd0c1);
    expect(&kinds[0].id, "neoverse-n1", "neoverse-n1");
}

static void empty_tree(void **state)
{
    struct cpu_kind kinds[CPU_KINDS];
    assert_int_equal(cpu_kinds(*state, kinds), 0);
}

/* This machine: something is known, and twice the same. */
static void this_machine(void **state)
{
    struct cpu_kind kinds[CPU_KINDS], again[CPU_KINDS];
    (void)state;
    size_t n = cpu_kinds("", kinds);
    assert_true(n >= 1);
    assert_int_equal(cpu_kinds("", again), n);
    for (size_t i = 0; i < n; i++)
        assert_true(*kinds[i].id.vendor || kinds[i].id.midr);
    assert_string_equal(kinds[0].id.vendor, again[0].id.vendor);
}

/* Tables that are wrong. */

static void wrong_tables(void **state)
{
    static const struct {
        const char *text, *message;
    } tables[] = {
        {"x86 = A 1 2", "t:1: x86 stands before any section; begin with [cpu NAME]"},
        {"[cpu a", "t:1: [cpu a: a section ends with ']'"},
        {"[]", "t:1: []: a section has a name"},
        {"[cpu]", "t:1: [cpu]: a section is [cpu NAME]"},
        {"\n[core a]", "t:2: [core]: a section is [cpu NAME]"},
        {"[cpu a]\nname = A\n[cpu a]", "t:3: [cpu a] is already in line 1"},
        {"[cpu a]\nevents = x", "t:1: [cpu a] has no name; add a line such as `name = "
                                "Intel Skylake`"},
        {"[cpu a]\nsize = 1", "t:2: size: no such key; there are name, events, x86 and "
                              "arm"},
        {"[cpu a]\nname =", "t:2: name: a value is missing"},
        {"[cpu a]\nnonsense", "t:2: nonsense: neither a [section] nor `key = value`"},
        {"[cpu a]\narm = 0x41", "t:2: arm: wanted is IMPLEMENTER PART, as 0x41 0xd0c"},
        {"[cpu a]\narm = 0 1", "t:2: arm: wanted is IMPLEMENTER PART, as 0x41 0xd0c"},
    };
    static const char *const x86[] = {"",
                                      "A",
                                      "A b 1",
                                      "A 6",
                                      "A 6 0x",
                                      "A 6 5-4",
                                      "A 6 5 x",
                                      "A 6 5 stepping",
                                      "A 6 5 stepping x",
                                      "AAAAAAAAAAAAAAAAA 6 1",
                                      "A 6 0x1ffffffff",
                                      "A 6 5-"};
    struct cpu_table wrong;
    struct strata_error error;
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        assert_int_equal(
            cpu_table_parse("t", tables[i].text, strlen(tables[i].text), &wrong, &error),
            STRATA_BAD_INPUT);
        assert_string_equal(error.text, tables[i].message);
    }
    for (size_t i = 0; i < sizeof x86 / sizeof x86[0]; i++) {
        char text[80];
        snprintf(text, sizeof text, "[cpu a]\nx86 = %s\n", x86[i]);
        assert_int_equal(cpu_table_parse("t", text, strlen(text), &wrong, &error),
                         STRATA_BAD_INPUT);
        assert_non_null(strstr(error.text, "t:2: x86: wanted is VENDOR FAMILY MODEL"));
    }
    assert_int_equal(cpu_table_parse("t", "[cpu\0 a]", 8, &wrong, &error),
                     STRATA_BAD_INPUT);
    assert_string_equal(error.text, "t: a NUL byte: this is not a text file");
    assert_int_equal(cpu_table_read("no/such", &wrong, &error), STRATA_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_x86),
        cmocka_unit_test(recorded_arm),
        cmocka_unit_test(unknown),
        cmocka_unit_test(tables_are_there),
        cmocka_unit_test_setup_teardown(plain_tree, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(hybrid_tree, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(arm_tree, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(arm_cpuinfo, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(empty_tree, make_tree, remove_tree),
        cmocka_unit_test(this_machine),
        cmocka_unit_test(wrong_tables),
    };
    return cmocka_run_group_tests(tests, read_table, release_table);
}
