/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The busiest processor, from made-up readings of the kernel's account; and that the real
 * account can be read. */
#include "host/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Two readings, of which each test fills in what it needs: 16K each, so not on the stack
 * of a test. */
struct readings {
    struct load before, after;
};

static int none_yet(void **state)
{
    static struct readings readings;
    memset(&readings, 0, sizeof readings);
    *state = &readings;
    return 0;
}

/* In between, the processor was busy for `busy` of `all` ticks. */
static void was_busy(struct readings *r, int cpu, unsigned long long busy,
                     unsigned long long all)
{
    r->before.busy[cpu] = 500;
    r->before.all[cpu] = 1000;
    r->after.busy[cpu] = 500 + busy;
    r->after.all[cpu] = 1000 + all;
}

static int busiest(const struct readings *r, int except, double *share)
{
    *share = -1;
    return load_busiest(&r->before, &r->after, except, share);
}

static void no_processors(void **state)
{
    double share;
    assert_int_equal(busiest(*state, -1, &share), -1);
    assert_true(share == 0);
}

static void the_busiest_of_several(void **state)
{
    double share;
    was_busy(*state, 0, 10, 100);
    was_busy(*state, 1, 75, 100);
    was_busy(*state, 2, 140, 200); /* more ticks, but a smaller share */
    assert_int_equal(busiest(*state, -1, &share), 1);
    assert_true(share == 0.75);
}

static void one_is_left_out(void **state)
{
    double share;
    was_busy(*state, 0, 25, 100);
    was_busy(*state, 1, 100, 100);
    assert_int_equal(busiest(*state, 1, &share), 0);
    assert_true(share == 0.25);
    assert_int_equal(busiest(*state, 0, &share), 1);
    assert_true(share == 1);
}

static void the_only_one_is_left_out(void **state)
{
    double share;
    was_busy(*state, 0, 100, 100);
    assert_int_equal(busiest(*state, 0, &share), -1);
    assert_true(share == 0);
}

static void an_idle_one_is_the_busiest_if_there_is_no_other(void **state)
{
    double share;
    was_busy(*state, 5, 0, 100);
    assert_int_equal(busiest(*state, -1, &share), 5);
    assert_true(share == 0);
}

/* Processors that are switched off have no line any more; some kernels let counters fall.
 * Where no time passed there is no share. */
static void readings_without_time_do_not_count(void **state)
{
    struct readings *r = *state;
    double share;
    was_busy(r, 0, 20, 100);
    was_busy(r, 1, 0, 0);
    was_busy(r, 2, 100, 100);
    r->after.busy[2] = r->after.all[2] = 0;
    was_busy(r, 3, 100, 100);
    r->after.all[3] = 900;
    assert_int_equal(busiest(r, -1, &share), 0);
    assert_true(share == 0.2);
}

static void the_last_processor_counts(void **state)
{
    double share;
    was_busy(*state, 0, 1, 100);
    was_busy(*state, LOAD_CPUS - 1, 50, 100);
    assert_int_equal(busiest(*state, -1, &share), LOAD_CPUS - 1);
    assert_true(share == 0.5);
}

static void processors_that_were_busy(void **state)
{
    struct readings *r = *state;
    double stolen;
    assert_false(load_moved(&r->before, &r->after));
    assert_true(load_busy(&r->before, &r->after, &stolen) == 0 && stolen == 0);
    was_busy(r, 0, 100, 100);
    was_busy(r, 1, 50, 100);
    assert_true(load_moved(&r->before, &r->after));
    assert_true(load_busy(&r->before, &r->after, &stolen) == 1.5 && stolen == 0);
    /* Of 200 ticks on each of both, other guests had a half. */
    r->after.stolen = 200;
    assert_true(load_busy(&r->before, &r->after, &stolen) == 0.75 && stolen == 1);
}

/* Whatever this machine does meanwhile: time does not go back, and a processor is not busy
 * for longer than there was time. */
static void the_real_account(void **state)
{
    struct readings *r = *state;
    load_read(&r->before);
    load_read(&r->after);
    int seen = 0;
    for (int i = 0; i < LOAD_CPUS; i++) {
        assert_true(r->after.busy[i] <= r->after.all[i]);
        seen += r->after.all[i] > 0;
    }
    assert_true(r->before.stolen <= r->after.stolen);
    if (!seen) {
        print_message("skip: the kernel keeps no account here\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(no_processors, none_yet),
        cmocka_unit_test_setup(the_busiest_of_several, none_yet),
        cmocka_unit_test_setup(one_is_left_out, none_yet),
        cmocka_unit_test_setup(the_only_one_is_left_out, none_yet),
        cmocka_unit_test_setup(an_idle_one_is_the_busiest_if_there_is_no_other, none_yet),
        cmocka_unit_test_setup(readings_without_time_do_not_count, none_yet),
        cmocka_unit_test_setup(the_last_processor_counts, none_yet),
        cmocka_unit_test_setup(processors_that_were_busy, none_yet),
        cmocka_unit_test_setup(the_real_account, none_yet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
