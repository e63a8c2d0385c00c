/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The names of processors, as kernels write them. */
#include "host/identity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test_tree.h"

static int make_folder(void **state)
{
    char *folder = strdup("/tmp/strata-identity-XXXXXX");
    *state = folder && mkdtemp(folder) ? folder : NULL;
    return *state ? 0 : -1;
}

static int remove_folder(void **state)
{
    int status = tree_remove(*state);
    free(*state);
    return status;
}

static void assert_name(void **state, const char *wanted)
{
    char name[64];
    processor_name(*state, name, sizeof name);
    assert_string_equal(name, wanted);
}

static void names_are_found(void **state)
{
    assert_name(state, "");
    tree_put(*state, "proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4");
    tree_put(*state, "proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 108.00\n");
    assert_name(state, "Raspberry Pi 4 Model B Rev 1.4");
    tree_put(*state, "proc/cpuinfo",
             "processor\t: 0\nmodel\t\t: 143\n"
             "model name\t: Intel(R) Xeon(R)  Platinum #8488C; CPU(TM)\nmodel name\t: B\n");
    assert_name(state, "Intel Xeon Platinum 8488C CPU");
}

/* A name may be longer than there is room for, or nothing but signs. */
static void names_fit(void **state)
{
    char name[8];
    tree_put(*state, "proc/cpuinfo", "model name\t: A processor\n");
    processor_name(*state, name, sizeof name);
    assert_string_equal(name, "A proce");
    tree_put(*state, "proc/cpuinfo", "model name\t: (R)(TM)\n");
    assert_name(state, "");
    host_name(name, sizeof name);
    assert_true(strlen(name) < sizeof name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_are_found, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(names_fit, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
