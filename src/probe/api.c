/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata_probe(): which plan measures, and on what. */
#include "counting/hardware.h"
#include "probe/counted.h"

/* By counts of a simulated machine, or of this one's counters. */
static int probe_by_counts(const struct strata_probe_options *options,
                           struct strata_probed *probed, struct strata_error *error)
{
    const struct strata_machine *m = options->machine;
    struct counting *counting = NULL;
    int status = m ? counting_simulated(&counting, m, options->seed ? options->seed : 1,
                                        counted_base_bytes(m->page),
                                        counted_huge_bytes(m->huge), NULL, 0, error)
                   : counting_here(&counting, options->cpu, error);
    if (!status)
        status = probe_counted(options, counting, probed, error);
    counting_release(counting);
    return status;
}

int strata_probe(const struct strata_probe_options *options, struct strata_probed *probed,
                 struct strata_error *error)
{
    return options->method == STRATA_COUNTERS ? probe_by_counts(options, probed, error)
                                              : probe_timed(options, probed, error);
}
