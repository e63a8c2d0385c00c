/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Watching processes and processors: who is there, who gets descriptors, what is counted.
 * A tree of files stands for /proc, and descriptors that say what they are told for the
 * kernel's counters: each reading is one `step` more than the last. */
#include "host/processes.h"
#include "pmu/watch.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "test_tree.h"

enum { READINGS = 16 };

/* The kernel. */

static char root[64];
static pid_t refused_pid;        /* EACCES */
static bool old_kernel, nothing; /* no inherit_thread; no perf_event_open */
static bool may_count_all;
static uint64_t steps[2]; /* of hardware and of software events */
static pid_t still_pid;   /* nothing is counted of it */

static bool may_count(void)
{
    return may_count_all;
}

/* A group of one has its number first. */
static int give(uint64_t step, bool group)
{
    int fd = memfd_create("counter", MFD_CLOEXEC);
    for (uint64_t i = 0; i < READINGS && fd >= 0; i++) {
        uint64_t alone[] = {i * step, i * 1000000, i * 1000000};
        uint64_t one[] = {1, i * 1000000, i * 1000000, i * step};
        ssize_t size = group ? sizeof one : sizeof alone;
        assert_int_equal(write(fd, group ? one : alone, (size_t)size), size);
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static int open_fake(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
                     unsigned long flags)
{
    (void)cpu, (void)group, (void)flags;
    errno = nothing                              ? ENOSYS
            : old_kernel && attr->inherit_thread ? EINVAL
            : refused_pid && pid == refused_pid  ? EACCES
                                                 : 0;
    if (errno)
        return -1;
    bool still = still_pid && pid == still_pid;
    uint64_t step = steps[attr->type == PERF_TYPE_SOFTWARE];
    step = still && attr->type != PERF_TYPE_SOFTWARE ? 0 : step;
    return give(attr->config == PERF_COUNT_HW_CPU_CYCLES ? 2 * step : step,
                attr->read_format & PERF_FORMAT_GROUP);
}

static struct pmu_system fake;

/* Processes. */

static void put_process(pid_t pid, const char *name, unsigned ticks, int threads,
                        unsigned start)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "proc/%d/stat", (int)pid);
    snprintf(text, sizeof text,
             "%d (%s) S 1 1 1 0 -1 4194560 1 2 3 4 %u 0 0 0 20 0 %d 0 %u 1 2 3\n", (int)pid,
             name, ticks, threads, start);
    tree_put(root, path, text);
    for (int i = 0; i < threads; i++) {
        snprintf(path, sizeof path, "proc/%d/task/%d/comm", (int)pid, (int)pid + i);
        tree_put(root, path, name);
    }
}

static void drop_process(pid_t pid)
{
    char path[128];
    snprintf(path, sizeof path, "%s/proc/%d", root, (int)pid);
    assert_int_equal(tree_remove(path), 0);
}

/* A watch. */

static struct pmu_model model;
static struct pmu_list list;
static struct watch *watch;
static struct watch_settings settings;

static void begin(const char *events)
{
    struct strata_error error;
    settings = (struct watch_settings){
        .system = &fake, .model = &model, .list = &list, .descriptors = 1000};
    if (pmu_list_split(events, &list, &error) != STRATA_OK ||
        pmu_list_bind(&list, &model, &fake, &error) != STRATA_OK)
        fail_msg("%s", error.text);
}

static void open_watch(void)
{
    struct strata_error error;
    if (watch_open(&settings, &watch, &error) != STRATA_OK)
        fail_msg("%s", error.text);
}

static void look(void)
{
    struct strata_error error;
    if (watch_look(watch, &error) != STRATA_OK)
        fail_msg("%s", error.text);
}

static const struct watch_row *row_of(int id)
{
    for (size_t i = 0; i < watch->nrows; i++)
        if (watch->rows[i]->id == id)
            return watch->rows[i];
    return NULL;
}

static void expect_state(int id, enum watch_state state)
{
    assert_non_null(row_of(id));
    assert_string_equal(watch_state_name(row_of(id)->state), watch_state_name(state));
}

/* What was counted since the last look. */
static void expect_count(int id, size_t column, double count)
{
    const struct watch_row *row = row_of(id);
    assert_true(row->seconds > 0 && row->seconds <= watch->seconds);
    assert_float_equal(row->values[column] * row->seconds, count, 1e-6 * count);
}

static int set_up(void **state)
{
    struct strata_error error;
    (void)state;
    strcpy(root, "/tmp/strata-watch-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    fake = (struct pmu_system){.open = open_fake, .root = root, .may_count = may_count};
    refused_pid = still_pid = 0;
    old_kernel = nothing = false;
    may_count_all = true;
    steps[0] = 1000;
    steps[1] = 10;
    watch = NULL;
    put_process(100, "first", 50, 1, 7);
    put_process(200, "second", 40, 2, 8);
    tree_put(root, "sys/devices/system/cpu/online", "0-1\n");
    tree_put(root, "proc/sys/kernel/perf_event_paranoid", "2\n");
    return pmu_model_read(&model, "metrics", root, &error);
}

static int tear_down(void **state)
{
    (void)state;
    watch_close(watch);
    pmu_list_release(&list);
    pmu_model_release(&model);
    return tree_remove(root);
}

static void rates_of_processes(void **state)
{
    (void)state;
    begin("page-faults,instructions,cycles");
    open_watch();
    assert_int_equal(watch->nrows, 2);
    expect_state(100, WATCH_NEW);
    assert_true(isnan(row_of(100)->values[0]));
    put_process(100, "first", 60, 1, 7);
    look();
    expect_state(100, WATCH_COUNTED);
    expect_count(100, 0, 10);
    expect_count(200, 0, 20); /* two threads */
    expect_count(200, 1, 2000);
    assert_string_equal(watch->columns[3].name, "ipc");
    assert_float_equal(row_of(200)->values[3], 0.5, 1e-9);
    double busy = row_of(100)->busy * watch->seconds * (double)sysconf(_SC_CLK_TCK);
    assert_float_equal(busy, 10, 1e-6);
    assert_true(row_of(200)->busy == 0);
}

static void processes_come_and_go(void **state)
{
    (void)state;
    begin("page-faults");
    open_watch();
    drop_process(200);
    put_process(300, "third", 5, 1, 9);
    look();
    assert_int_equal(watch->nrows, 3);
    expect_state(200, WATCH_ENDED);
    expect_count(200, 0, 20); /* its last counts */
    assert_true(isnan(row_of(200)->busy));
    expect_state(300, WATCH_NEW);
    assert_true(row_of(300)->busy > 0); /* all its time is recent */
    look();
    assert_null(row_of(200));
    expect_state(300, WATCH_COUNTED);
    put_process(300, "other", 1, 1, 10); /* the same pid, started later */
    look();
    expect_state(300, WATCH_NEW);
    assert_string_equal(row_of(300)->name, "other");
}

static void the_busiest_get_descriptors(void **state)
{
    char text[256];
    (void)state;
    put_process(300, "third", 30, 1, 9);
    begin("page-faults,context-switches");
    settings.descriptors = 4; /* two of one thread, or the one of two */
    open_watch();
    expect_state(100, WATCH_NEW);
    expect_state(200, WATCH_LEFT_OUT);
    expect_state(300, WATCH_NEW);
    assert_int_equal(watch->left_out, 1);
    look();
    expect_state(300, WATCH_COUNTED); /* equals do not change places */
    snprintf(text, sizeof text, "%s", watch_why(watch, row_of(200), 0));
    assert_non_null(strstr(text, "ulimit -n"));
    put_process(200, "second", 90, 2, 8);
    look();
    expect_state(200, WATCH_NEW);
    expect_state(100, WATCH_LEFT_OUT);
    expect_state(300, WATCH_LEFT_OUT);
    assert_int_equal(watch->left_out, 2);
    look();
    expect_state(200, WATCH_COUNTED);
}

static void one_that_is_refused(void **state)
{
    (void)state;
    refused_pid = 100;
    begin("page-faults");
    open_watch();
    look();
    expect_state(100, WATCH_REFUSED);
    assert_true(isnan(row_of(100)->values[0]));
    assert_int_equal(watch->refused, 1);
    assert_non_null(strstr(watch_why(watch, row_of(100), 0), "denied (EACCES)"));
    expect_count(200, 0, 20);
    assert_true(watch->columns[0].counted);
}

static void nothing_can_be_counted(void **state)
{
    struct strata_error error;
    (void)state;
    nothing = true;
    begin("page-faults");
    assert_int_equal(watch_open(&settings, &watch, &error), STRATA_UNABLE);
    assert_non_null(strstr(error.text, "nothing can be counted: page-faults: refused"));
    assert_non_null(strstr(error.text, "ENOSYS"));
}

static void an_event_that_is_not_here(void **state)
{
    (void)state;
    begin("nopmu/event=1/,page-faults");
    open_watch();
    look();
    assert_false(watch->columns[0].possible);
    assert_non_null(strstr(watch->columns[0].why, "unknown here"));
    assert_true(isnan(row_of(100)->values[0]));
    expect_count(100, 1, 10);
}

/* 0 of a hardware event is believed once it has moved anywhere. */
static void a_zero_that_is_believed(void **state)
{
    (void)state;
    still_pid = 100;
    begin("instructions");
    open_watch();
    look();
    assert_true(row_of(100)->values[0] == 0);
    expect_count(200, 0, 2000);
}

static void a_zero_that_is_not(void **state)
{
    (void)state;
    steps[0] = 0;
    begin("instructions,page-faults");
    open_watch();
    look();
    assert_true(isnan(row_of(100)->values[0]));
    assert_false(watch->columns[0].counted);
    assert_non_null(strstr(watch->columns[0].why, "never moved"));
    assert_non_null(strstr(watch_why(watch, row_of(100), 0), "never moved"));
}

static void an_old_kernel(void **state)
{
    (void)state;
    old_kernel = true;
    begin("page-faults");
    open_watch();
    look();
    expect_count(200, 0, 20);
    put_process(200, "second", 40, 3, 8); /* one thread more */
    look();
    expect_state(200, WATCH_NEW);
    look();
    expect_count(200, 0, 30);
}

static void processes_of_others(void **state)
{
    char path[128];
    (void)state;
    if (geteuid() != 0)
        skip();
    snprintf(path, sizeof path, "%s/proc/200", root);
    assert_int_equal(chown(path, 12345, 12345), 0);
    may_count_all = false;
    begin("page-faults");
    open_watch();
    assert_int_equal(watch->nrows, 1);
    assert_int_equal(watch->others, 1);
}

static void some_pids(void **state)
{
    static const pid_t pids[] = {200, 999}, none[] = {999};
    struct strata_error error;
    (void)state;
    begin("page-faults");
    settings.pids = none;
    settings.npids = 1;
    assert_int_equal(watch_open(&settings, &watch, &error), STRATA_BAD_INPUT);
    settings.pids = pids;
    settings.npids = 2;
    open_watch();
    assert_int_equal(watch->nrows, 1);
    drop_process(200);
    look();
    expect_state(200, WATCH_ENDED);
    look();
    assert_int_equal(watch->nrows, 0);
}

static void processors(void **state)
{
    (void)state;
    begin("page-faults");
    settings.by = WATCH_CPUS;
    open_watch();
    assert_int_equal(watch->nrows, 2);
    look();
    expect_count(1, 0, 10);
    tree_put(root, "sys/devices/system/cpu/online", "0\n"); /* one is switched off */
    look();
    expect_state(1, WATCH_ENDED);
    look();
    assert_int_equal(watch->nrows, 1);
    tree_put(root, "sys/devices/system/cpu/online", "0-1\n");
    look();
    expect_state(1, WATCH_NEW);
}

/* Orders. */

static void expect_order(int column, bool ascending, const char *filter, const char *wanted)
{
    size_t n;
    char got[64] = "";
    const struct watch_row **rows = watch_sorted(watch, column, ascending, filter, &n);
    assert_non_null(rows);
    for (size_t i = 0; i < n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%d ", rows[i]->id);
    free(rows);
    assert_string_equal(got, wanted);
}

static void orders_and_filters(void **state)
{
    (void)state;
    put_process(300, "Third", 30, 1, 9);
    refused_pid = 300;
    begin("page-faults");
    open_watch();
    put_process(300, "Third", 90, 1, 9);
    look();
    expect_order(WATCH_BY_BUSY, false, "", "300 100 200 ");
    expect_order(WATCH_BY_ID, true, "", "100 200 300 ");
    expect_order(WATCH_BY_ID, false, "", "300 200 100 ");
    expect_order(WATCH_BY_NAME, true, "", "300 100 200 "); /* capitals first */
    expect_order(0, false, "", "200 100 300 ");            /* not counted: last */
    expect_order(0, true, "", "100 200 300 ");
    expect_order(WATCH_BY_ID, true, "thi", "300 ");
    expect_order(WATCH_BY_ID, true, "20", "200 ");
    expect_order(WATCH_BY_ID, true, "nobody", "");
}

static void names_of_processes(void **state)
{
    static const char line[] =
        "12 (a) b (c)) R 1 1 1 0 -1 64 1 2 3 4 7 8 0 0 20 0 3 0 99 1";
    struct process process;
    (void)state;
    assert_int_equal(process_parse(line, &process), 0);
    assert_int_equal(process.pid, 12);
    assert_string_equal(process.name, "a) b (c)");
    assert_int_equal(process.ticks, 15);
    assert_int_equal(process.threads, 3);
    assert_int_equal(process.start, 99);
    assert_int_equal(process_parse("12 (a) R 1 1", &process), -1);
    assert_int_equal(process_parse("", &process), -1);
    assert_int_equal(process_parse(")12(", &process), -1);
    assert_int_equal(process_read("", getpid(), &process), 0);
    assert_int_equal(process.uid, geteuid());
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(rates_of_processes),
        TEST(processes_come_and_go),
        TEST(the_busiest_get_descriptors),
        TEST(one_that_is_refused),
        TEST(nothing_can_be_counted),
        TEST(an_event_that_is_not_here),
        TEST(a_zero_that_is_believed),
        TEST(a_zero_that_is_not),
        TEST(an_old_kernel),
        TEST(processes_of_others),
        TEST(some_pids),
        TEST(processors),
        TEST(orders_and_filters),
        cmocka_unit_test(names_of_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
