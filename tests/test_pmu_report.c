/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What strata stat says, for counts that are put together here: scaled, of two kinds of
 * cores, of several runs, denied. */
#include "report/stat_report.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct metric_table metrics;

static int read_metrics(void **state)
{
    struct strata_error error;
    (void)state;
    return metric_table_read("metrics/common.metrics", &metrics, &error);
}

static int release_metrics(void **state)
{
    (void)state;
    metric_table_release(&metrics);
    return 0;
}

static struct pmu_count counted(uint64_t value, uint64_t enabled, uint64_t running)
{
    return (struct pmu_count){.state = PMU_COUNTED,
                              .value = value,
                              .raw = value,
                              .enabled_ns = enabled,
                              .running_ns = running};
}

static struct pmu_count denied(void)
{
    return (struct pmu_count){
        .state = PMU_DENIED,
        .why =
            "denied (EACCES): perf_event_paranoid is 3, so only root may count; run 'sudo "
            "sysctl kernel.perf_event_paranoid=2', or give strata CAP_PERFMON"};
}

static void make(struct tally *tally, const char *const *names, size_t n)
{
    assert_int_equal(tally_init(tally, n, &metrics), 0);
    for (size_t i = 0; i < n; i++)
        strcpy(tally->rows[i].event, names[i]);
}

static char *print(const struct stat_report *report, char form, bool utf8)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct strata_error error;
    const struct style style = {.utf8 = utf8};
    assert_non_null(out);
    if (form == 't')
        stat_text(out, report, &style, 80);
    else if (form == 'c')
        stat_csv(out, report, true);
    else
        assert_int_equal(stat_json(out, report, true, &error), STRATA_OK);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void expect(const struct stat_report *report, char form, bool utf8,
                   const char *wanted)
{
    char *text = print(report, form, utf8);
    assert_string_equal(text, wanted);
    free(text);
}

static void one_run(void **state)
{
    static const char *const names[] = {"instructions", "cycles",    "l1d_misses",
                                        "l2_misses",    "l3_misses", "dtlb_walks",
                                        "page-faults"};
    struct tally tally;
    (void)state;
    make(&tally, names, 7);
    struct pmu_count counts[] = {counted(324000000, 100, 100),
                                 counted(241000000, 100, 100),
                                 counted(12345678, 100, 58),
                                 denied(),
                                 denied(),
                                 counted(1944000, 100, 100),
                                 counted(0, 100, 100)};
    counts[0].user_only = true;
    tally_run(&tally, counts);
    const struct stat_report report = {.tally = &tally,
                                       .what = "./prog",
                                       .source = "perf",
                                       .processor = "AMD Zen 3",
                                       .seconds = 1.24,
                                       .runs = 1};
    expect(
        &report, 't', true,
        "./prog: perf on AMD Zen 3, 1.24 s\n"
        "                           count  per 1000 instructions\n"
        "  instructions:u     324,000,000\n"
        "  cycles             241,000,000           1.34 instructions per cycle\n"
        "  l1d misses          12,345,678     38.1  well above typical (2–5)\n"
        "                                           scaled: counted 58% of the time\n"
        "  l2 misses         not counted: denied (EACCES): perf_event_paranoid is 3, so\n"
        "                    only root may count; run 'sudo sysctl\n"
        "                    kernel.perf_event_paranoid=2', or give strata CAP_PERFMON\n"
        "  l3 misses         not counted: as for l2 misses\n"
        "  dtlb walks           1,944,000     6.00  well above typical (0.1–1)\n"
        "  page-faults                  0\n"
        "dtlb walks from 5 per 1000 instructions on suggest accesses that the TLB does\n"
        "not like, such as large strides.\n");
    char *text = print(&report, 'j', true);
    json_t *object = json_loads(text, 0, NULL);
    assert_non_null(object);
    json_t *rows = json_object_get(object, "counters");
    assert_int_equal(json_array_size(rows), 7);
    assert_true(json_is_null(json_object_get(json_array_get(rows, 3), "count")));
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(rows, 3), "state")), "denied");
    assert_true(json_is_true(json_object_get(json_array_get(rows, 2), "scaled")));
    assert_true(json_is_true(json_object_get(json_array_get(rows, 0), "user_only")));
    assert_int_equal(json_integer_value(json_object_get(json_array_get(rows, 6), "count")),
                     0);
    json_decref(object);
    free(text);
    tally_release(&tally);
}

static void two_kinds(void **state)
{
    static const char *const names[] = {"instructions", "instructions", "l1d_misses",
                                        "l1d_misses"};
    struct tally tally;
    (void)state;
    make(&tally, names, 4);
    for (int i = 0; i < 4; i++)
        strcpy(tally.rows[i].device, i % 2 ? "cpu_atom" : "cpu_core");
    struct pmu_count counts[] = {counted(3000, 9, 9), counted(1000, 9, 9), counted(8, 9, 9),
                                 counted(4, 9, 9)};
    tally_run(&tally, counts);
    tally_drop_metrics(&tally);
    const struct stat_report report = {.tally = &tally,
                                       .what = "x",
                                       .source = "perf",
                                       .processor = "two kinds",
                                       .seconds = 2,
                                       .runs = 1};
    expect(&report, 't', false,
           "x: perf on two kinds, 2 s\n"
           "                                  count  per 1000 instructions\n"
           "  instructions (cpu_core)         3,000\n"
           "  instructions (cpu_atom)         1,000\n"
           "  l1d misses (cpu_core)               8\n"
           "  l1d misses (cpu_atom)               4\n"
           "  l1d misses                       3.00 per 1000 instructions\n");
    tally_release(&tally);
}

static void several_runs(void **state)
{
    static const char *const names[] = {"page-faults", "a,\"b\""};
    struct tally tally;
    (void)state;
    make(&tally, names, 2);
    for (uint64_t i = 0; i < 3; i++) {
        struct pmu_count counts[] = {counted(100 + i, 10, 10), denied()};
        tally_run(&tally, counts);
    }
    tally_drop_metrics(&tally);
    const struct stat_report report = {.tally = &tally,
                                       .what = "x",
                                       .source = "sim",
                                       .processor = "a machine",
                                       .seconds = 0.5,
                                       .virtual = 0.002,
                                       .runs = 3};
    expect(
        &report, 'c', false,
        "from,to,kind,name,pmu,value,deviation,enabled_ns,running_ns,why\n"
        "0,0.500000,event,page-faults,,101,1,30,30,\n"
        "0,0.500000,event,\"a,\"\"b\"\"\",,,,0,0,\"denied (EACCES): perf_event_paranoid is "
        "3, so only root may count; run 'sudo sysctl kernel.perf_event_paranoid=2', or "
        "give strata CAP_PERFMON\"\n");
    char *text = print(&report, 't', true);
    assert_non_null(
        strstr(text, "x: simulated on a machine, 2 ms virtual (simulating took 500 ms), "
                     "mean of 3 runs\n"));
    assert_non_null(strstr(text, "  page-faults                101           ± 0.99%\n"));
    free(text);
    tally_release(&tally);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_run),
                                       cmocka_unit_test(two_kinds),
                                       cmocka_unit_test(several_runs)};
    return cmocka_run_group_tests(tests, read_metrics, release_metrics);
}
