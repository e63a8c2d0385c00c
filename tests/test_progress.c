/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The progress bar: its line, when it is drawn, and what Ctrl-C does to it. Time is
 * moved by changing the start, so nothing here waits. */
#include "cli/progress.h"
#include "cli/record_progress.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void test_line(void **state)
{
    (void)state;
    char line[128];
    progress_line(line, sizeof line, 80, "strata probe", "L2 ways", 0.655, 4.4);
    assert_string_equal(line, "strata probe: L2 ways                  "
                              " [#############-------]  65%   4 s left");
    assert_int_equal(strlen(line), 79 - 1);
    progress_line(line, sizeof line, 80, "strata probe", NULL, 0, -1);
    assert_non_null(strstr(line, "[--------------------]   0%"));
    assert_null(strstr(line, "left"));
    assert_null(strstr(line, "probe:"));
}

static void test_line_bounds(void **state)
{
    (void)state;
    char line[128];
    progress_line(line, sizeof line, 80, "t", NULL, 1, 0);
    assert_non_null(strstr(line, "[####################] 100%   0 s left"));
    progress_line(line, sizeof line, 80, "t", NULL, 1.5, 0); /* more than all */
    assert_non_null(strstr(line, "100%"));
    progress_line(line, sizeof line, 80, "t", NULL, -1, 0);
    assert_non_null(strstr(line, "  0%"));
    progress_line(line, sizeof line, 80, "t", NULL, 0.5, 99);
    assert_non_null(strstr(line, " 99 s left"));
    progress_line(line, sizeof line, 80, "t", NULL, 0.5, 600);
    assert_non_null(strstr(line, " 10 m left"));
    progress_line(line, sizeof line, 80, "t", NULL, 0.5, 1e12);
    assert_non_null(strstr(line, "999 m left"));
}

/* No line is ever as wide as the terminal: it would wrap. */
static void test_widths(void **state)
{
    (void)state;
    static const char what[] = "a very long part of the work, so long that it is cut off";
    char line[128];
    for (int columns = 2; columns <= 80; columns++) {
        progress_line(line, sizeof line, columns, "strata probe", what, 0.5, 99);
        assert_true(strlen(line) < (size_t)columns);
    }
}

struct drawing {
    struct progress progress;
    int out; /* what was drawn can be read here */
};

static void start(struct drawing *drawing, bool shown)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    progress_start(&drawing->progress, "work", true);
    drawing->progress.shown = shown;
    drawing->progress.fd = ends[1];
    drawing->progress.columns = 80;
    drawing->out = ends[0];
}

static void end(struct drawing *drawing)
{
    progress_end(&drawing->progress);
    close(drawing->progress.fd);
    close(drawing->out);
}

/* What was drawn since the last look; "" if nothing. */
static const char *drawn(struct drawing *drawing)
{
    static char text[512];
    ssize_t n = read(drawing->out, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static void test_not_before_a_second(void **state)
{
    (void)state;
    struct drawing drawing;
    start(&drawing, true);
    drawing.progress.start += 3600; /* the second never comes */
    assert_int_equal(progress_update(&drawing.progress, 0.1, "a"), 0);
    progress_end(&drawing.progress);
    assert_string_equal(drawn(&drawing), "");
    end(&drawing);
}

static void test_drawn_and_erased(void **state)
{
    (void)state;
    struct drawing drawing;
    start(&drawing, true);
    drawing.progress.start -= 10;
    assert_int_equal(progress_update(&drawing.progress, 0.5, "a"), 0);
    const char *text = drawn(&drawing);
    assert_int_equal(strncmp(text, "\r\033[Kwork: a ", 12), 0);
    assert_non_null(strstr(text, "[##########----------]  50%"));
    drawing.progress.last += 3600; /* drawn just now: not again so soon */
    progress_update(&drawing.progress, 0.6, "a");
    assert_string_equal(drawn(&drawing), "");
    progress_end(&drawing.progress);
    assert_string_equal(drawn(&drawing), "\r\033[K");
    end(&drawing);
    assert_string_equal(drawn(&drawing), "");
}

static void test_silent(void **state)
{
    (void)state;
    struct drawing drawing;
    start(&drawing, false);
    drawing.progress.start -= 10;
    assert_int_equal(progress_update(&drawing.progress, 0.5, "a"), 0);
    progress_end(&drawing.progress);
    assert_string_equal(drawn(&drawing), "");
    end(&drawing);
}

/* Standard error of a test is no terminal. */
static void test_not_on_a_file(void **state)
{
    (void)state;
    struct progress progress;
    setenv("TERM", "xterm", 1);
    progress_start(&progress, "work", true);
    bool terminal = isatty(STDERR_FILENO);
    assert_int_equal(progress.shown, terminal);
    progress_end(&progress);
    setenv("TERM", "dumb", 1);
    progress_start(&progress, "work", true);
    assert_false(progress.shown);
    progress_end(&progress);
}

static void test_interrupt(void **state)
{
    (void)state;
    struct sigaction before, after;
    struct drawing drawing;
    sigaction(SIGINT, NULL, &before);
    start(&drawing, false);
    assert_false(progress_interrupted());
    raise(SIGINT);
    assert_true(progress_interrupted());
    assert_int_not_equal(progress_update(&drawing.progress, 0.5, "a"), 0);
    sigaction(SIGINT, NULL, &after); /* a second one would end the program */
    assert_true(after.sa_handler == SIG_DFL);
    end(&drawing);
    sigaction(SIGINT, NULL, &after);
    assert_true(after.sa_handler == before.sa_handler);
    start(&drawing, false); /* and the next run begins without it */
    assert_false(progress_interrupted());
    end(&drawing);
}

static void test_record_line(void **state)
{
    (void)state;
    char line[200];
    struct record_pace pace = {.accesses = 412345678, .elapsed = 14.9, .slowdown = 67.4};
    record_progress_line(line, sizeof line, 80, &pace);
    assert_string_equal(
        line, "strata: 14 s, 412 M accesses, 67x slower than the simulated machine");
    record_progress_line(line, sizeof line, 60, &pace);
    assert_string_equal(line, "strata: 14 s, 412 M accesses, 67x slower");
    pace.slowdown = 0; /* not known */
    pace.elapsed = 754;
    record_progress_line(line, sizeof line, 80, &pace);
    assert_string_equal(line, "strata: 12 min 34 s, 412 M accesses");
    pace = (struct record_pace){UINT64_MAX, 1e9, 1e9};
    for (int columns = 1; columns <= 200; columns++) {
        record_progress_line(line, sizeof line, columns, &pace);
        assert_true(strlen(line) < (size_t)columns);
    }
}

/* At every tick where it is drawn over itself; else after 5, 10, 20, 40 ... */
static void test_record_due(void **state)
{
    (void)state;
    for (int i = 0; i < 9; i++) /* one a second is due at every one of them */
        assert_true(record_progress_next(true, i + 0.01) < i + 1);
    double due = 0;
    static const double whole[] = {5, 10, 20, 40, 80};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        assert_true((due = record_progress_next(false, due)) == whole[i]);
    assert_true(record_progress_next(false, 300) == 320); /* it was suspended */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_line_bounds),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_not_before_a_second),
        cmocka_unit_test(test_drawn_and_erased),
        cmocka_unit_test(test_silent),
        cmocka_unit_test(test_not_on_a_file),
        cmocka_unit_test(test_interrupt),
        cmocka_unit_test(test_record_line),
        cmocka_unit_test(test_record_due),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
