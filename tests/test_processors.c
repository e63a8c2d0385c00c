/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which processors are of the same kind, on small trees that stand for other machines, and
 * going from one to another on this one. */
#include "host/processors.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "test_tree.h"

#define CPU "sys/devices/system/cpu/cpu"

static void kinds_differ_by_what_the_kernel_says(void **state)
{
    const char *root = *state;
    assert_true(processors_alike(root, 0, 1)); /* nothing is said of either */
    tree_put(root, CPU "0/cache/index2/size", "2048K\n");
    assert_false(processors_alike(root, 0, 1)); /* cpu 1 may have no such cache */
    tree_put(root, CPU "1/cache/index2/size", "2048K\n");
    tree_put(root, CPU "2/cache/index2/size", "4096K\n");
    assert_true(processors_alike(root, 0, 1));
    assert_false(processors_alike(root, 0, 2));
    tree_put(root, CPU "0/cpu_capacity", "1024\n");
    tree_put(root, CPU "1/cpu_capacity", "446\n");
    assert_false(processors_alike(root, 0, 1));
}

static int processor(void)
{
    return sched_getcpu();
}

/* Whether another one is idle is up to this machine: but then the thread is there, and if
 * not, where it was. */
static void goes_elsewhere_or_stays(void **state)
{
    (void)state;
    struct affinity before, unused;
    int home = pin_thread(-1, &before);
    if (home < 0) {
        print_message("skipped: this process may not be pinned\n");
        skip();
    }
    int other = pin_elsewhere(home, &before);
    assert_true(other != home);
    assert_int_equal(processor(), other >= 0 ? other : home);
    assert_int_equal(pin_thread(home, &unused), home);
    assert_int_equal(processor(), home);
    unpin_thread(&before);
}

/* One processor only: nowhere to go. */
static void stays_where_it_must(void **state)
{
    (void)state;
    struct affinity before, alone;
    int home = pin_thread(-1, &before);
    if (home < 0 || pin_thread(home, &alone) != home) {
        print_message("skipped: this process may not be pinned\n");
        skip();
    }
    assert_int_equal(pin_elsewhere(home, &alone), -1); /* allowed is home alone */
    assert_int_equal(processor(), home);
    unpin_thread(&before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kinds_differ_by_what_the_kernel_says, tree_set_up,
                                        tree_tear_down),
        cmocka_unit_test(goes_elsewhere_or_stays),
        cmocka_unit_test(stays_where_it_must),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
