/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of events and metrics: every row of every table encodes, by libpfm4 where
 * that knows the processor and by its code, to the same thing; the codes are those that
 * the vendors document; formulas give what they should; wrong tables are refused. */
#include "pmu/encode.h"
#include "pmu/events.h"
#include "pmu/metrics.h"
#include "pmu/names.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A machine without PMUs in sysfs, so that codes do not depend on where this runs. */
static const struct pmu_system nowhere = {.open = pmu_system_open,
                                          .names = names_encode,
                                          .root = "/nonexistent",
                                          .may_count = pmu_system_may_count};

static void read_events(const char *name, struct event_table *table)
{
    struct strata_error error;
    if (event_table_read("metrics", name, table, &error) != STRATA_OK)
        fail_msg("%s", error.text);
}

/* Rows. */

struct row_check {
    const struct event_table *table;
    int ways;
};

/* Whether one of its ways needs no libpfm4: the library probes by counts without it. */
static bool has_code(const struct event_row *row, const struct pmu_kind *kind)
{
    struct pmu_system codes = nowhere;
    struct pmu_code code;
    char why[PMU_WHY];
    codes.names = NULL;
    for (uint32_t i = 0; i < row->nways; i++)
        if (pmu_encode(&codes, kind, row->ways[i], &code, why) == 0)
            return true;
    return row->nways == 0;
}

/* The first two ways of a row with a name and a code are the same event. */
static void check_row(const struct event_table *owner, const struct event_row *row,
                      void *context)
{
    struct row_check *check = context;
    const struct pmu_kind kind = {
        .pmu = event_table_pmu(check->table), .device = "", .absent = true};
    struct pmu_code codes[EVENT_WAYS];
    char why[PMU_WHY];
    (void)owner;
    assert_true(strlen(row->about) > 5);
    for (uint32_t i = 0; i < row->nways; i++, check->ways++)
        if (pmu_encode(&nowhere, &kind, row->ways[i], &codes[i], why) != 0)
            fail_msg("%s, %s = %s: %s", check->table->name, row->name, row->ways[i], why);
    if (!has_code(row, &kind))
        fail_msg("%s, %s: no way but libpfm4's", check->table->name, row->name);
    bool named = row->nways >= 2 && *kind.pmu && !strchr(row->ways[0], '=') &&
                 strchr(row->ways[1], '=');
    if (named && codes[0].attr.config != codes[1].attr.config)
        fail_msg("%s, %s: %s is 0x%llx, %s is 0x%llx", check->table->name, row->name,
                 row->ways[0], (unsigned long long)codes[0].attr.config, row->ways[1],
                 (unsigned long long)codes[1].attr.config);
    if (named)
        assert_int_equal(codes[0].attr.type, PERF_TYPE_RAW);
}

static void every_row_encodes(void **state)
{
    DIR *dir = opendir("metrics");
    int tables = 0;
    (void)state;
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char name[64];
        size_t length = strlen(entry->d_name);
        if (length < 8 || strcmp(entry->d_name + length - 7, ".events") != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)length - 7, entry->d_name);
        struct event_table table;
        read_events(name, &table);
        struct row_check check = {.table = &table};
        event_each(&table, check_row, &check);
        assert_true(check.ways >= 10);
        event_table_release(&table);
        tables++;
    }
    closedir(dir);
    assert_true(tables >= 15);
}

/* Every processor that the issue of counting is about has what its metrics need. */
static void every_table_has_the_events(void **state)
{
    static const char *const tables[] = {
        "skylake",     "skylake-sp", "kaby-lake",       "ice-lake",       "ice-lake-sp",
        "rocket-lake", "zen-2",      "sapphire-rapids", "emerald-rapids", "zen-3",
        "zen-4",       "zen-5",      "neoverse-n1",     "neoverse-v1",    "neoverse-v2",
        "golden-cove", "gracemont",  "generic"};
    static const char *const events[] = {
        "instructions", "cycles",     "l1d_accesses", "l1d_misses", "l2_misses",
        "l3_misses",    "dtlb_walks", "itlb_walks",   "branches",   "branch_misses"};
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        struct event_table table;
        read_events(tables[i], &table);
        for (size_t j = 0; j < sizeof events / sizeof events[0]; j++)
            if (!event_find(&table, events[j], NULL))
                fail_msg("%s.events has no %s", tables[i], events[j]);
        event_table_release(&table);
    }
}

/* Codes as the vendors document them: event, then unit mask in the second byte. */
static void codes_are_documented(void **state)
{
    static const struct {
        const char *tables, *event;
        unsigned config;
    } codes[] = {
        {"skylake skylake-sp kaby-lake ice-lake ice-lake-sp rocket-lake sapphire-rapids "
         "emerald-rapids golden-cove",
         "l1d_misses", 0x08d1},
        {"skylake skylake-sp kaby-lake ice-lake sapphire-rapids", "l2_misses", 0x10d1},
        {"skylake skylake-sp kaby-lake ice-lake sapphire-rapids", "l3_misses", 0x20d1},
        {"skylake skylake-sp kaby-lake ice-lake sapphire-rapids", "l1d_fills", 0x0151},
        {"skylake skylake-sp kaby-lake ice-lake ice-lake-sp rocket-lake", "l2_fills",
         0x1ff1},
        {"sapphire-rapids emerald-rapids golden-cove", "l2_fills", 0x1f25},
        {"skylake skylake-sp kaby-lake ice-lake sapphire-rapids", "llc_misses", 0x412e},
        {"skylake skylake-sp kaby-lake", "dtlb_walks", 0x0108},
        {"skylake skylake-sp kaby-lake", "dtlb_load_walks", 0x0e08},
        {"ice-lake ice-lake-sp rocket-lake", "dtlb_walks", 0x0e08},
        {"sapphire-rapids emerald-rapids golden-cove", "dtlb_walks", 0x0e12},
        {"skylake skylake-sp kaby-lake ice-lake ice-lake-sp rocket-lake",
         "dtlb_store_walks", 0x0e49},
        {"sapphire-rapids emerald-rapids golden-cove", "dtlb_store_walks", 0x0e13},
        {"skylake skylake-sp kaby-lake", "itlb_walks", 0x0185},
        {"skylake skylake-sp kaby-lake", "itlb_walks_done", 0x0e85},
        {"ice-lake ice-lake-sp rocket-lake", "itlb_walks", 0x0e85},
        {"sapphire-rapids emerald-rapids golden-cove", "itlb_walks", 0x0e11},
        {"skylake skylake-sp kaby-lake", "conditional", 0x01c4},
        {"ice-lake ice-lake-sp rocket-lake sapphire-rapids emerald-rapids", "conditional",
         0x11c4},
        {"ice-lake ice-lake-sp rocket-lake sapphire-rapids emerald-rapids",
         "conditional_taken", 0x01c4},
        {"skylake ice-lake sapphire-rapids gracemont", "branches", 0x00c4},
        {"skylake ice-lake sapphire-rapids gracemont", "branch_misses", 0x00c5},
        {"zen-2 zen-3 zen-4 zen-5", "instructions", 0xc0},
        {"zen-2 zen-3 zen-4 zen-5", "cycles", 0x76},
        {"zen-2 zen-3 zen-4 zen-5", "branches", 0xc2},
        {"zen-2 zen-3 zen-4 zen-5", "branch_misses", 0xc3},
        {"zen-2 zen-3 zen-4 zen-5", "taken", 0xc4},
        {"zen-2 zen-3 zen-4 zen-5", "conditional", 0xd1},
        {"zen-2 zen-3 zen-4 zen-5", "l2_misses", 0x0964},
        {"zen-2 zen-3 zen-4 zen-5", "dtlb_walks", 0xf045},
        {"zen-2", "l1d_misses", 0x5b43},
        {"zen-3", "l1d_misses", 0x5f44},
        {"zen-4", "l1d_misses", 0xdf44},
        {"zen-5", "l1d_misses", 0xff44},
        {"zen-2", "l3_misses", 0x4843},
        {"zen-3 zen-4 zen-5", "l3_misses", 0x4844},
        {"zen-2", "itlb_walks", 0x0785},
        {"zen-3 zen-4 zen-5", "itlb_walks", 0x0f85},
        {"neoverse-n1 neoverse-v1 neoverse-v2", "instructions", 0x08},
        {"neoverse-n1 neoverse-v1 neoverse-v2", "cycles", 0x11},
        {"neoverse-n1 neoverse-v1 neoverse-v2", "l1d_misses", 0x03},
        {"neoverse-n1 neoverse-v1 neoverse-v2", "l2_misses", 0x17},
        {"neoverse-n1 neoverse-v2", "l3_misses", 0x2a},
        {"neoverse-v1", "l3_misses", 0x37},
        {"neoverse-n1 neoverse-v1 neoverse-v2", "llc_misses", 0x37},
        {"neoverse-n1 neoverse-v1 neoverse-v2", "dtlb_walks", 0x34},
        {"neoverse-n1 neoverse-v1 neoverse-v2", "itlb_walks", 0x35},
        {"neoverse-n1 neoverse-v1 neoverse-v2", "branches", 0x21},
        {"neoverse-n1 neoverse-v1 neoverse-v2", "branch_misses", 0x22},
    };
    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        char names[256], *next = names, *name;
        strcpy(names, codes[i].tables);
        while ((name = strsep(&next, " "))) {
            struct event_table table;
            struct pmu_code code;
            char why[PMU_WHY];
            read_events(name, &table);
            const struct event_row *row = event_find(&table, codes[i].event, NULL);
            assert_non_null(row);
            assert_true(row->nways > 0);
            const struct pmu_kind kind = {
                .pmu = event_table_pmu(&table), .device = "", .absent = true};
            assert_int_equal(pmu_encode(&nowhere, &kind, row->ways[0], &code, why), 0);
            if (code.attr.config != codes[i].config)
                fail_msg("%s, %s: 0x%llx, documented is 0x%x", name, codes[i].event,
                         (unsigned long long)code.attr.config, codes[i].config);
            event_table_release(&table);
        }
    }
}

/* Wrong tables of events. */
static void wrong_events(void **state)
{
    static const struct {
        const char *text, *message;
    } tables[] = {
        {"name = x", "t:1: name stands before any section; begin with [table]"},
        {"[tables]", "t:1: [tables]: no such section; there are [table] and [events]"},
        {"[table x]", "t:1: [table x]: no such section; there are [table] and [events]"},
        {"[table]\nsize = 1", "t:2: size: no such key in [table]; it may have name, pmu "
                              "and like"},
        {"[table]\nname = a\nname = b", "t:3: name is given twice"},
        {"[table]\nname =", "t:2: name: a value is missing"},
        {"[table]\nlike = ../x", "t:2: like = ../x: the name of another table is wanted"},
        {"[events]\na = r1 | \"x\"", "t: no name in [table]; add a line such as `name = "
                                     "Intel Skylake`"},
        {"[events]\nA = r1 | \"x\"", "t:2: A: a name has small letters, digits and _, 40 "
                                     "at most"},
        {"[events]\na = r1", "t:2: a: what it counts is missing, in \"quotes\" at the end "
                             "of the line"},
        {"[events]\na = r1 | \"\"", "t:2: a: what it counts is missing, in \"quotes\" at "
                                    "the end of the line"},
        {"[events]\na = r1 | \"x\" y", "t:2: a: what it counts is missing, in \"quotes\" "
                                       "at the end of the line"},
        {"[events]\na = \"x\"", "t:2: a: no way to count it; write none for that"},
        {"[events]\na = r1 r2 | \"x\"", "t:2: a: wanted are 1 to 4 names or codes, each "
                                        "followed by |, and a text in quotes"},
        {"[events]\na = r1 | | \"x\"", "t:2: a: wanted are 1 to 4 names or codes, each "
                                       "followed by |, and a text in quotes"},
        {"[events]\na=a|b|c|d|e|\"x\"", "t:2: a: wanted are 1 to 4 names or codes, each "
                                        "followed by |, and a text in quotes"},
        {"[events]\na = r1 | \"x\"\n\na = r2 | \"y\"", "t:4: a is already in line 2"},
    };
    struct event_table table;
    struct strata_error error;
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        assert_int_equal(
            event_table_parse("t", tables[i].text, strlen(tables[i].text), &table, &error),
            STRATA_BAD_INPUT);
        assert_string_equal(error.text, tables[i].message);
    }
    assert_int_equal(event_table_read("metrics", "no-such", &table, &error),
                     STRATA_BAD_INPUT);
}

static void circle(void **state)
{
    char folder[] = "/tmp/strata-pmu-XXXXXX", path[64];
    struct event_table table;
    struct strata_error error;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.events", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("[table]\nname = a\nlike = a\n", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(event_table_read(folder, "a", &table, &error), STRATA_BAD_INPUT);
    assert_non_null(strstr(error.text, "in a circle"));
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* Formulas. */

static bool source(void *context, const char *event, double *count, char *why)
{
    (void)context;
    if (strcmp(event, "missing") == 0) {
        snprintf(why, METRIC_WHY, "missing: because");
        return false;
    }
    *count = strcmp(event, "zero") == 0 ? 0 : strcmp(event, "two") == 0 ? 2 : 10;
    return true;
}

static void parse_formula(const char *formula, struct metric_table *table, int wanted,
                          struct strata_error *error)
{
    char text[400];
    snprintf(text, sizeof text, "[metric m]\nlabel=m\nunit=u\nabout=a\nformula = %s\n",
             formula);
    assert_int_equal(metric_table_parse("t", text, strlen(text), table, error), wanted);
}

static void formulas(void **state)
{
    static const struct {
        const char *formula;
        double value;
    } good[] = {
        {"1", 1},          {"ten", 10},
        {"1 + 2 * 3", 7},  {"(1 + 2) * 3", 9},
        {"8 / 4 / 2", 1},  {"8 - 4 - 2", 2},
        {"2*two+ten", 14}, {"100 * two / ten", 20},
        {"((two))", 2},    {"ten/(two+3)", 2},
        {"1.5 * two", 3},  {"ten - two * (two + 1) / 3", 8},
    };
    static const struct {
        const char *formula, *why;
    } none[] = {{"1 / zero", "1 / zero: what it is divided by is 0"},
                {"two * missing", "missing: because"},
                {"1e308 * 1e308", "1e308 * 1e308: too large for a number"}};
    struct metric_table table;
    struct strata_error error;
    char why[METRIC_WHY];
    double value;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        parse_formula(good[i].formula, &table, STRATA_OK, &error);
        assert_true(metric_value(&table.metrics[0], source, NULL, &value, why));
        assert_true(fabs(value - good[i].value) < 1e-12);
        assert_string_equal(table.metrics[0].formula, good[i].formula);
        metric_table_release(&table);
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        parse_formula(none[i].formula, &table, STRATA_OK, &error);
        assert_false(metric_value(&table.metrics[0], source, NULL, &value, why));
        assert_string_equal(why, none[i].why);
        metric_table_release(&table);
    }
}

static void wrong_formulas(void **state)
{
    static const struct {
        const char *formula, *why;
    } wrong[] = {
        {"1 +", "a number or an event is missing"},
        {"* 2", "a number or an event is missing"},
        {"1 2", "an operator is missing"},
        {"(1", "a ( without its )"},
        {"1)", "a ) without its ("},
        {"()", "a number or an event is missing"},
        {"a b", "an operator is missing"},
        {"a % b", "only names, numbers, + - * / and ( ) may be in it"},
        {"Instructions", "a number or an event is missing"},
        {"1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1", "it is too long"},
        {"((((((((((((((((((((((((((((((((((1", "it is too long"},
    };
    struct metric_table table;
    struct strata_error error;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        parse_formula(wrong[i].formula, &table, STRATA_BAD_INPUT, &error);
        char wanted[200];
        snprintf(wanted, sizeof wanted, "t:5: formula = %s: %s", wrong[i].formula,
                 wrong[i].why);
        assert_string_equal(error.text, wanted);
    }
}

static void wrong_metrics(void **state)
{
    static const struct {
        const char *text, *message;
    } tables[] = {
        {"[metrics]", "t:1: [metrics]: a section is [metric NAME]"},
        {"label = x", "t:1: label stands before any section; begin with [metric NAME]"},
        {"[metric a]\n[metric a]", "t:2: [metric a] is already in line 1"},
        {"[metric a]\nlabel = a", "t:1: [metric a] has no formula"},
        {"[metric a]\nformula = 1", "t:1: [metric a] has no label"},
        {"[metric a]\ntypical = 5 .. 2", "t:2: typical: wanted is a range such as 2 .. 5"},
        {"[metric a]\ntypical = 5", "t:2: typical: wanted is a range such as 2 .. 5"},
        {"[metric a]\npoor = x", "t:2: poor = x: wanted is a number"},
        {"[metric a]\nlabel=a\nunit=b\nabout=c\nformula=1\npoor=2",
         "t:1: [metric a]: poor must be above what is typical"},
    };
    struct metric_table table;
    struct strata_error error;
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        assert_int_equal(
            metric_table_parse("t", tables[i].text, strlen(tables[i].text), &table, &error),
            STRATA_BAD_INPUT);
        assert_string_equal(error.text, tables[i].message);
    }
}

/* The metrics that come with strata: each over events that the tables have, and verdicts
 * by the reference points. */
static const struct metric *find_metric(const struct metric_table *table, const char *name)
{
    for (size_t i = 0; i < table->n; i++)
        if (strcmp(table->metrics[i].name, name) == 0)
            return &table->metrics[i];
    fail_msg("no metric %s", name);
    return NULL;
}

static void shipped_metrics(void **state)
{
    struct metric_table metrics;
    struct event_table events;
    struct strata_error error;
    (void)state;
    if (metric_table_read("metrics/common.metrics", &metrics, &error) != STRATA_OK)
        fail_msg("%s", error.text);
    read_events("skylake", &events);
    for (size_t i = 0; i < metrics.n; i++)
        for (uint32_t j = 0; j < metrics.metrics[i].nsteps; j++)
            if (metrics.metrics[i].steps[j].op == METRIC_EVENT)
                assert_non_null(
                    event_find(&events, metrics.metrics[i].steps[j].event, NULL));
    const struct metric *l1 = find_metric(&metrics, "l1d_mpki");
    assert_string_equal(metric_verdict(l1, 1.9), "below typical");
    assert_string_equal(metric_verdict(l1, 2), "typical");
    assert_string_equal(metric_verdict(l1, 5), "typical");
    assert_string_equal(metric_verdict(l1, 5.1), "above typical");
    assert_string_equal(metric_verdict(l1, 38.1), "well above typical");
    const struct metric *l3 = find_metric(&metrics, "l3_mpki");
    assert_string_equal(metric_verdict(l3, 0.4), "below typical");
    assert_string_equal(metric_verdict(l3, 4.9), "above typical");
    assert_string_equal(metric_verdict(l3, 5), "well above typical");
    assert_null(metric_verdict(find_metric(&metrics, "ipc"), 1));
    assert_string_equal(metric_verdict(find_metric(&metrics, "dtlb_walks_pki"), 0.05),
                        "below typical");
    event_table_release(&events);
    metric_table_release(&metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_row_encodes),
                                       cmocka_unit_test(every_table_has_the_events),
                                       cmocka_unit_test(codes_are_documented),
                                       cmocka_unit_test(wrong_events),
                                       cmocka_unit_test(circle),
                                       cmocka_unit_test(formulas),
                                       cmocka_unit_test(wrong_formulas),
                                       cmocka_unit_test(wrong_metrics),
                                       cmocka_unit_test(shipped_metrics)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
