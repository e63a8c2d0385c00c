/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that uses libstrata, in the C that is C++ too: what a probe finds of a machine
 * file, by times (`timing`) or by counts (`counters`), a cache in each line; `here` is this
 * machine. The exit status is strata's. tests/cli/library.sh builds it with functions of
 * its own under every name that strata has inside. */
#include <stdio.h>
#include <strata/error.h>
#include <strata/machine.h>
#include <strata/probe.h>
#include <string.h>

static void print(const struct strata_probed *probed)
{
    int i;
    for (i = 0; i < probed->ncaches; i++)
        printf("%s %s L%d %.0f %.0f\n", probed->source, probed->method,
               probed->caches[i].level, probed->caches[i].size.value,
               probed->caches[i].ways.value);
}

int main(int argc, char **argv)
{
    struct strata_machine machine, copy;
    struct strata_probe_options options;
    struct strata_probed probed;
    struct strata_error error;
    int status = STRATA_OK, here = argc > 1 && strcmp(argv[1], "here") == 0;

    if (argc != 3)
        return 99;
    memset(&options, 0, sizeof options);
    options.cpu = -1;
    options.method = strcmp(argv[2], "counters") == 0 ? STRATA_COUNTERS : STRATA_TIMING;
    if (!here) {
        status = strata_machine_read(argv[1], &machine, &error);
        options.machine = &machine;
    }
    if (!status)
        status = strata_probe(&options, &probed, &error);
    if (!status) {
        print(&probed);
        status = strata_probed_machine(&probed, &copy, &error);
        if (!status)
            status = strata_machine_check(&copy, &error);
        strata_probed_release(&probed);
    }
    if (status)
        fprintf(stderr, "%s\n", error.text);
    return status;
}
