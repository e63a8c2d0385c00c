/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata probe: this machine's memory hierarchy, or a simulated one's. */
#include "cli/commands.h"
#include "cli/progress.h"
#include "core/fail.h"

#include <strata/machine.h>
#include <strata/probe.h>
#include <string.h>

static int refuse_counters(const struct options *options, struct strata_error *error)
{
    const char *source = option_text(options, "source");
    const char *method = option_text(options, "method");
    if (source && strcmp(source, "perf") == 0)
        return fail(error, STRATA_UNABLE,
                    "--source perf: the probe goes by the clock; leave --source out");
    if (method && strcmp(method, "counters") == 0)
        return fail(error, STRATA_UNABLE,
                    "--method counters: the probe goes by the clock; leave --method out");
    if (source && strcmp(source, "sim") == 0 && !option_given(options, "machine"))
        return fail(error, STRATA_BAD_INPUT, "--source sim needs --machine FILE");
    return STRATA_OK;
}

static int read_options(const struct options *options, struct strata_probe_options *probe,
                        struct strata_machine *machine, struct strata_error *error)
{
    uint64_t cpu = UINT64_MAX;
    *probe = (struct strata_probe_options){.cpu = -1};
    int status = refuse_counters(options, error);
    if (!status && option_given(options, "quick"))
        probe->budget = 4;
    if (!status)
        status = option_decimal(options, "budget", 0.1, 3600, &probe->budget, error);
    if (!status)
        status = option_whole(options, "cpu", 0, 65535, &cpu, error);
    if (!status)
        status = option_whole(options, "seed", 1, UINT64_MAX, &probe->seed, error);
    if (!status && cpu != UINT64_MAX)
        probe->cpu = (int)cpu;
    if (!status && option_given(options, "machine")) {
        status = strata_machine_read(option_text(options, "machine"), machine, error);
        probe->machine = machine;
    }
    return status;
}

int cmd_probe(const struct options *options, struct strata_error *error)
{
    struct strata_machine machine;
    struct strata_probe_options probe;
    struct strata_probed probed = {0};
    struct progress progress;
    int status = read_options(options, &probe, &machine, error);
    if (status)
        return status;
    progress_start(&progress, "strata probe", !option_given(options, "no-progress"));
    probe.progress = progress_update;
    probe.context = &progress;
    status = strata_probe(&probe, &probed, error);
    progress_end(&progress);
    strata_probed_release(&probed);
    return status;
}
