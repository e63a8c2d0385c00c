/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata: measures memory hierarchies. The commands are in commands.c. */
#include "cli/commands.h"

int main(int argc, char **argv)
{
    struct strata_error error = {0};
    bool json = command_wants_json(argc, argv);
    int status = command_dispatch(argc, argv, &error);
    if (status) {
        error.status = status;
        command_report(&error, json, stdout, stderr);
    }
    return status;
}
