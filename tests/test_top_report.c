/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The lines of `strata top`: as wide as the terminal at the most, whatever there is to
 * show; columns that line up; and what was not counted, once and with its reason. */
#include "core/utf8.h"
#include "report/top_report.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 3, COLUMNS = 4 };

static const struct metric ipc = {.name = "ipc", .unit = "per cycle"};

static double values[ROWS][COLUMNS] = {
    {1234.5, NAN, 0.5e9, 1.3456}, {0, NAN, 0, NAN}, {9.96, NAN, 99.95e9, 123.456}};

static struct watch_column columns[COLUMNS] = {
    {.name = "page-faults", .possible = true, .counted = true},
    {.name = "instructions", .why = "there is no PMU"},
    {.name = "task-clock", .possible = true, .counted = true},
    {.name = "ipc", .metric = &ipc, .possible = true, .counted = true}};

static struct watch_row rows[ROWS] = {
    {.id = 4711, .name = "solver", .busy = 0.995, .state = WATCH_COUNTED},
    {.id = 1, .name = "r\303\251sum\303\251\033[2J", .busy = 0, .state = WATCH_ENDED},
    {.id = 4194304, .name = "a name as long as the kernel allows", .busy = NAN}};

static const struct watch_row *order[ROWS] = {&rows[0], &rows[1], &rows[2]};
static struct watch_row *all[ROWS] = {&rows[0], &rows[1], &rows[2]};
static const size_t shown[COLUMNS] = {0, 1, 2, 3};
static struct watch watch;
static struct users users;
static struct top_frame frame;

static int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS; i++)
        rows[i].values = values[i];
    watch = (struct watch){
        .columns = columns, .ncolumns = COLUMNS, .rows = all, .nrows = ROWS, .seconds = 2};
    frame = (struct top_frame){.watch = &watch,
                               .rows = order,
                               .nrows = ROWS,
                               .columns = shown,
                               .ncolumns = COLUMNS,
                               .sort = WATCH_BY_BUSY,
                               .users = &users,
                               .processor = "a processor",
                               .from = 2,
                               .to = 4};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    users_release(&users);
    return 0;
}

static void lines_are_as_wide_as_the_terminal(void **state)
{
    char line[TOP_LINE];
    (void)state;
    for (int by = WATCH_PROCESSES; by <= WATCH_CPUS; by++)
        for (int width = 1; width <= 200; width++)
            for (size_t first = 0; first < COLUMNS; first++) {
                frame.by = by;
                top_heading(&frame, first, width, line);
                assert_true((int)utf8_length(line) <= width);
                for (int i = 0; i < ROWS; i++) {
                    top_line(&frame, order[i], first, width, line);
                    assert_true((int)utf8_length(line) <= width);
                    assert_null(strchr(line, '\033'));
                }
            }
}

static void columns_that_fit(void **state)
{
    (void)state;
    assert_int_equal(top_fits(&frame, 0, 200), 4);
    assert_int_equal(top_fits(&frame, 0, 10), 1); /* at least one */
    assert_int_equal(top_fits(&frame, 3, 200), 1);
    assert_true(top_fits(&frame, 0, 60) < 4);
}

static void expect_text(const char *wanted)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    top_text(out, &frame, 0, 80);
    fclose(out);
    assert_string_equal(text, wanted);
    free(text);
}

static void a_table(void **state)
{
    (void)state;
    rows[0].uid = rows[1].uid = rows[2].uid = 3999999999; /* nobody has a name for it */
    expect_text(
        "2.000 s to 4.000 s: 3 processes, perf on a processor\n"
        "not counted: instructions: there is no PMU\n"
        "     PID USER       CPU%  faults/s   instr/s  task ms/s       ipc  COMMAND\n"
        "    4711 39999999   99.5     1.23K         -        500      1.35  solver\n"
        "       1 39999999    0.0         0         -          0         -  r\303\251sum"
        "\303\251 [2J (e\n"
        " 4194304 39999999      -        10         -       100K       123  a name as lon\n"
        "\n");
}

static void processors(void **state)
{
    (void)state;
    static const size_t one[] = {0};
    frame.by = WATCH_CPUS;
    frame.columns = one;
    frame.ncolumns = 1;
    expect_text("2.000 s to 4.000 s: 3 processors, perf on a processor\n"
                "not counted: instructions: there is no PMU\n"
                "     CPU  busy%  faults/s\n"
                "    4711   99.5     1.23K\n"
                "       1    0.0         0\n"
                " 4194304      -        10\n"
                "\n");
}

static void what_is_not_there(void **state)
{
    char notes[TOP_NOTES][TOP_NOTE], summary[TOP_LINE];
    (void)state;
    watch.left_out = 2;
    watch.others = 7;
    watch.refused = 1;
    strcpy(watch.refusal, "denied");
    columns[0].user_only = true;
    size_t n = top_notes(&frame, notes);
    columns[0].user_only = false;
    assert_int_equal(n, 5);
    assert_non_null(strstr(notes[0], "2 processes are not watched"));
    assert_non_null(strstr(notes[1], "7 of other users are not shown"));
    assert_string_equal(notes[2], "1 rows were not counted: denied");
    assert_string_equal(notes[3], "not counted: instructions: there is no PMU");
    assert_non_null(strstr(notes[4], "without the kernel's part"));
    top_summary(&frame, summary);
    assert_string_equal(summary, "3 processes, 2 of them not watched");
    frame.nrows = 1;
    top_summary(&frame, summary);
    assert_string_equal(summary, "3 processes, 2 of them not watched, 1 shown");
}

/* The place of the column that is sorted by is where its heading stands. */
static void where_the_order_is_shown(void **state)
{
    static const struct {
        int sort;
        const char *label;
    } cases[] = {{WATCH_BY_ID, "PID"},
                 {WATCH_BY_BUSY, "CPU%"},
                 {WATCH_BY_NAME, "COMMAND"},
                 {0, "faults/s"},
                 {3, "ipc"}};
    char line[TOP_LINE];
    (void)state;
    top_heading(&frame, 0, 100, line);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int begin;
        frame.sort = cases[i].sort;
        int wide = top_sorted_at(&frame, 0, 100, &begin);
        const char *at = strstr(line, cases[i].label);
        assert_true(at >= line + begin && at < line + begin + wide);
    }
    frame.sort = 3;
    int begin;
    assert_int_equal(top_sorted_at(&frame, 0, 40, &begin), 0); /* has no room */
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(lines_are_as_wide_as_the_terminal),
        TEST(columns_that_fit),
        TEST(a_table),
        TEST(processors),
        TEST(what_is_not_there),
        TEST(where_the_order_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
