/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists of events as people write them, on processors of one kind and of two; means and
 * deviations; metrics over what was counted; and the events of simulated machines. */
#include "pmu/model.h"
#include "pmu/names.h"
#include "pmu/tally.h"
#include "pmu/virtual.h"

#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "test_tree.h"

/* Lists. */

static void splits(const char *text, const char *wanted)
{
    struct pmu_list list;
    struct strata_error error;
    char got[400] = "";
    if (pmu_list_split(text, &list, &error) != STRATA_OK)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < list.n; i++) {
        size_t used = strlen(got);
        snprintf(got + used, sizeof got - used, "%s%s", i ? " " : "", list.names[i]);
        used = strlen(got);
        if (list.groups[i])
            snprintf(got + used, sizeof got - used, "@%d", list.groups[i]);
    }
    assert_string_equal(got, wanted);
    pmu_list_release(&list);
}

static void lists(void **state)
{
    (void)state;
    splits("a", "a");
    splits("a,b,c", "a b c");
    splits("{a,b},c,{d}", "a@1 b@1 c d@2");
    splits("a,{b,c}", "a b@1 c@1");
    splits("event=0xd1,umask=0x08,a", "event=0xd1,umask=0x08 a");
    splits("event=1,umask=2,event=3,cmask=4", "event=1,umask=2 event=3,cmask=4");
    splits("event=1,event=2", "event=1 event=2");
    splits("cpu/event=1,umask=2/,b", "cpu/event=1,umask=2/ b");
    splits("cpu/event=1,umask=2/u,b", "cpu/event=1,umask=2/u b");
    splits("{cpu/event=1,umask=2/,b}", "cpu/event=1,umask=2/@1 b@1");
    splits("sched:sched_switch,mem:0x10/8:w,r1", "sched:sched_switch mem:0x10/8:w r1");
}

static void wrong_lists(void **state)
{
    static const struct {
        const char *text, *why;
    } wrong[] = {{"", "the name of an event is missing"},
                 {"a,", "the name of an event is missing"},
                 {",a", "the name of an event is missing"},
                 {"{}", "the name of an event is missing"},
                 {"{a", "a { without its }"},
                 {"a}", "a } without its {"},
                 {"{a,{b}}", "a { within another"},
                 {"{a}b", "a comma is missing behind }"},
                 {"{a},", "the name of an event is missing"}};
    struct pmu_list list;
    struct strata_error error;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char wanted[120];
        snprintf(wanted, sizeof wanted, "--events %s: %s", wrong[i].text, wrong[i].why);
        assert_int_equal(pmu_list_split(wrong[i].text, &list, &error), STRATA_BAD_INPUT);
        assert_string_equal(error.text, wanted);
    }
}

/* A machine with two kinds of cores. */

static char root[64];

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/strata-model-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    (void)state;
    return tree_remove(root);
}

static void put(const char *path, const char *text)
{
    tree_put(root, path, text);
}

#define ENTRY(n)                                                                           \
    "processor\t: " n "\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 151\n"     \
    "stepping\t: 2\n\n"
#define DEVICES "/sys/bus/event_source/devices/"

static void hybrid(void **state)
{
    struct pmu_model model;
    struct pmu_list list;
    struct strata_error error;
    struct pmu_code code;
    char text[200], why[PMU_WHY];
    (void)state;
    put("/proc/cpuinfo", ENTRY("0") ENTRY("16"));
    put(DEVICES "cpu_core/cpus", "0-15\n");
    put(DEVICES "cpu_core/type", "4\n");
    put(DEVICES "cpu_atom/cpus", "16-23\n");
    put(DEVICES "cpu_atom/type", "10\n");
    const struct pmu_system system = {.names = names_encode, .root = root};
    if (pmu_model_read(&model, "metrics", root, &error) != STRATA_OK)
        fail_msg("%s", error.text);
    assert_int_equal(model.nkinds, 2);
    assert_string_equal(pmu_model_name(&model, text, sizeof text),
                        "Intel Alder Lake or Raptor Lake, performance core and Intel Alder "
                        "Lake or Raptor Lake, efficiency core");
    assert_int_equal(pmu_list_split("l3_misses,page-faults", &list, &error), STRATA_OK);
    assert_int_equal(pmu_list_bind(&list, &model, &system, &error), STRATA_OK);
    /* a name of the tables once for each kind, one of the kernel once */
    assert_int_equal(list.nwants, 3);
    assert_string_equal(list.wants[0].kind.device, "cpu_core");
    assert_string_equal(list.wants[1].kind.device, "cpu_atom");
    assert_null(list.wants[2].row);
    assert_int_equal(
        pmu_encode(&system, &list.wants[0].kind, list.wants[0].row->ways[1], &code, why),
        0);
    assert_int_equal(code.attr.type, 4);
    assert_int_equal(code.attr.config, 0x20d1);
    assert_int_equal(
        pmu_encode(&system, &list.wants[1].kind, list.wants[1].row->ways[0], &code, why),
        0);
    assert_int_equal(code.attr.type, 10);
    assert_int_equal(code.attr.config, 0x20d2);
    pmu_list_release(&list);
    pmu_model_release(&model);
}

static void unknown_processor(void **state)
{
    struct pmu_model model;
    struct pmu_list list;
    struct strata_error error;
    const struct pmu_system system = {.names = names_encode, .root = "/nonexistent"};
    (void)state;
    assert_int_equal(pmu_model_read(&model, "metrics", "/nonexistent", &error), STRATA_OK);
    assert_int_equal(model.nkinds, 1);
    assert_null(model.kinds[0].row);
    assert_string_equal(model.kinds[0].events.name, "generic");
    assert_int_equal(pmu_list_split(pmu_standard_events, &list, &error), STRATA_OK);
    assert_int_equal(pmu_list_bind(&list, &model, &system, &error), STRATA_OK);
    assert_int_equal(list.nwants, list.n);
    pmu_list_release(&list);
    assert_int_equal(pmu_list_split("page-faults,nosuch", &list, &error), STRATA_OK);
    assert_int_equal(pmu_list_bind(&list, &model, &system, &error), STRATA_BAD_INPUT);
    pmu_list_release(&list);
    assert_true(pmu_needs_hardware(&model, &system, "l1d_misses"));
    assert_true(pmu_needs_hardware(&model, &system, "r1a8"));
    assert_true(pmu_needs_hardware(&model, &system, "loads"));
    assert_false(pmu_needs_hardware(&model, &system, "page-faults"));
    assert_false(pmu_needs_hardware(&model, &system, "mem:0x10:w"));
    assert_false(pmu_needs_hardware(&model, &system, "sched:sched_switch"));
    pmu_model_release(&model);
    assert_int_equal(pmu_model_read(&model, "/nonexistent", "", &error), STRATA_BAD_INPUT);
}

/* Runs. */

static void read_metrics(struct metric_table *metrics)
{
    struct strata_error error;
    if (metric_table_read("metrics/common.metrics", metrics, &error) != STRATA_OK)
        fail_msg("%s", error.text);
}

static struct pmu_count counted(uint64_t value)
{
    return (struct pmu_count){.state = PMU_COUNTED,
                              .value = value,
                              .raw = value,
                              .enabled_ns = 10,
                              .running_ns = 10};
}

static struct pmu_count denied(void)
{
    return (struct pmu_count){.state = PMU_DENIED, .why = "denied: because"};
}

static const struct tally_metric *metric(const struct tally *tally, const char *name)
{
    for (size_t i = 0; i < tally->nmetrics; i++)
        if (strcmp(tally->metrics[i].metric->name, name) == 0)
            return &tally->metrics[i];
    return NULL;
}

static void runs(void **state)
{
    struct metric_table metrics;
    struct tally tally;
    (void)state;
    read_metrics(&metrics);
    assert_int_equal(tally_init(&tally, 3, &metrics), 0);
    strcpy(tally.rows[0].event, "instructions");
    strcpy(tally.rows[1].event, "l1d_misses");
    strcpy(tally.rows[2].event, "l3_misses");
    for (int i = 1; i <= 3; i++) {
        struct pmu_count counts[] = {counted(1000), counted((uint64_t)i), denied()};
        tally_run(&tally, counts);
    }
    assert_int_equal(tally.rows[1].count.n, 3);
    assert_true(fabs(tally.rows[1].count.mean - 2) < 1e-12);
    assert_true(fabs(running_deviation(&tally.rows[1].count) - 1) < 1e-12);
    assert_true(running_deviation(&tally.rows[0].count) == 0);
    assert_int_equal(tally.rows[1].last, 3);
    assert_int_equal(tally.rows[1].running_ns, 30);
    assert_false(tally.rows[1].scaled);
    assert_int_equal(tally.rows[2].count.n, 0);
    assert_int_equal(tally.rows[2].state, PMU_DENIED);
    assert_string_equal(tally.rows[2].why, "denied: because");
    assert_true(fabs(metric(&tally, "l1d_mpki")->value.mean - 2) < 1e-12);
    assert_int_equal(metric(&tally, "l3_mpki")->value.n, 0);
    assert_string_equal(metric(&tally, "l3_mpki")->why, "l3_misses: denied: because");
    assert_string_equal(metric(&tally, "l2_mpki")->why,
                        "there is no event l2_misses on this processor");
    tally_drop_metrics(&tally);
    assert_non_null(metric(&tally, "l1d_mpki"));
    assert_non_null(metric(&tally, "l3_mpki"));
    assert_null(metric(&tally, "l2_mpki"));
    tally_reset(&tally);
    assert_int_equal(tally.rows[1].count.n, 0);
    tally_release(&tally);
    metric_table_release(&metrics);
}

/* A metric adds up the kinds of cores, of which one may have had nothing to do. */
static void runs_on_two_kinds(void **state)
{
    struct metric_table metrics;
    struct tally tally;
    const struct pmu_count idle = {.state = PMU_NEVER_SCHEDULED, .why = "nothing ran"};
    (void)state;
    read_metrics(&metrics);
    assert_int_equal(tally_init(&tally, 4, &metrics), 0);
    for (int i = 0; i < 4; i++)
        strcpy(tally.rows[i].event, i < 2 ? "instructions" : "l1d_misses");
    struct pmu_count counts[] = {counted(3000), counted(1000), counted(8), idle};
    tally_run(&tally, counts);
    assert_true(fabs(metric(&tally, "l1d_mpki")->value.mean - 2) < 1e-12);
    tally_release(&tally);
    metric_table_release(&metrics);
}

static void differences(void **state)
{
    struct pmu_count before = counted(100), after = counted(150), difference;
    (void)state;
    after.enabled_ns = 40;
    after.running_ns = 25;
    tally_difference(&before, &after, &difference);
    assert_int_equal(difference.value, 50);
    assert_int_equal(difference.enabled_ns, 30);
    assert_int_equal(difference.running_ns, 15);
    tally_difference(&after, &after, &difference); /* nothing ran: that is a count of 0 */
    assert_int_equal(difference.state, PMU_COUNTED);
    assert_int_equal(difference.value, 0);
    before = after;
    after.enabled_ns += 10;
    tally_difference(&before, &after, &difference);
    assert_int_equal(difference.state, PMU_NEVER_SCHEDULED);
    after = denied();
    tally_difference(&before, &after, &difference);
    assert_int_equal(difference.state, PMU_DENIED);
}

/* Simulated machines. */

static void simulated(void **state)
{
    struct strata_machine machine;
    struct strata_error error;
    char why[PMU_WHY];
    const char *name, *about;
    unsigned needs;
    uint64_t count;
    (void)state;
    assert_int_equal(strata_machine_read("machines/generic.machine", &machine, &error),
                     STRATA_OK);
    struct virtual_counts counts = {
        .machine = &machine,
        .instructions = 1000,
        .cycles = 2000,
        .retired = {.conditional = 5, .jumps = 4, .indirect = 3, .calls = 2, .returns = 1},
        .branches = true};
    for (uint32_t i = 0; i < machine.ncaches; i++)
        counts.sim.misses[i] = 10 * machine.caches[i].level + machine.caches[i].kind;
    counts.sim.accesses[SIM_LOAD] = 7;
    counts.sim.accesses[SIM_STORE] = 30;
    counts.sim.walks = 9;
    for (uint32_t i = 0; i < machine.ntlbs; i++)
        counts.sim.tlb_misses[i] = 5;
    static const struct {
        const char *event;
        uint64_t count;
    } known[] = {{"instructions", 1000},
                 {"cycles", 2000},
                 {"loads", 7},
                 {"stores", 30},
                 {"l1d_accesses", 37},
                 {"l1d_misses", 10 + STRATA_DATA},
                 {"l2_misses", 20 + STRATA_UNIFIED},
                 {"l3_misses", 30 + STRATA_UNIFIED},
                 {"llc_misses", 30 + STRATA_UNIFIED},
                 {"dtlb_walks", 9},
                 {"walks", 9},
                 {"branches", 15},
                 {"conditional", 5}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (!virtual_count(&counts, known[i].event, &count, why))
            fail_msg("%s: %s", known[i].event, why);
        assert_int_equal(count, known[i].count);
    }
    assert_false(virtual_count(&counts, "l1i_misses", &count, why));
    assert_string_equal(why, "unknown here: fetches were not simulated in this run");
    assert_false(virtual_count(&counts, "page-faults", &count, why));
    counts.fetches = true;
    counts.branches = false;
    /* what fetches have of the counts is theirs alone, also of what they share with data */
    for (uint32_t i = 0; i < 3; i++)
        counts.fetch_misses[i] = 3;
    counts.fetch_walks = 2;
    static const struct {
        const char *event;
        uint64_t count;
    } fetched[] = {{"l1i_misses", 10 + STRATA_INSTRUCTION},
                   {"l1d_misses", 10 + STRATA_DATA},
                   {"l2_misses", 20 + STRATA_UNIFIED - 3},
                   {"itlb_walks", 2},
                   {"dtlb_walks", 7},
                   {"walks", 9}};
    for (size_t i = 0; i < sizeof fetched / sizeof fetched[0]; i++) {
        assert_true(virtual_count(&counts, fetched[i].event, &count, why));
        assert_int_equal(count, fetched[i].count);
    }
    assert_false(virtual_count(&counts, "branches", &count, why));
    machine.ncaches = 1;
    machine.ntlbs = 0;
    assert_false(virtual_count(&counts, "l2_misses", &count, why));
    assert_false(virtual_count(&counts, "walks", &count, why));
    for (size_t i = 0; (name = virtual_event(i, &about, &needs)); i++) {
        assert_true(virtual_has(name));
        assert_int_equal(virtual_needs(name), needs);
        assert_true(strlen(about) > 3);
    }
    assert_false(virtual_has("nosuch"));
    struct sim_counts sum = counts.sim;
    virtual_add(&sum, &counts.sim);
    assert_int_equal(sum.walks, 18);
    assert_int_equal(sum.accesses[SIM_STORE], 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),
        cmocka_unit_test(wrong_lists),
        cmocka_unit_test_setup_teardown(hybrid, make_root, remove_root),
        cmocka_unit_test(unknown_processor),
        cmocka_unit_test(runs),
        cmocka_unit_test(runs_on_two_kinds),
        cmocka_unit_test(differences),
        cmocka_unit_test(simulated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
