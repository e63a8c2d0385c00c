/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What all runners share: dispatch and the tally of trials. */
#include "run/runner.h"

int runner_walk(struct runner *runner, enum arena arena, const struct refs *refs,
                struct trial *trial)
{
    int status = runner->ops->walk(runner, arena, refs, trial);
    runner->trials++;
    runner->disturbed += trial->disturbed;
    return status;
}

double runner_clock(struct runner *runner)
{
    return runner->ops->clock(runner);
}

bool runner_leave(struct runner *runner)
{
    return runner->ops->leave && runner->ops->leave(runner);
}

void runner_come_back(struct runner *runner)
{
    if (runner->ops->come_back)
        runner->ops->come_back(runner);
}

void runner_release(struct runner *runner)
{
    if (runner)
        runner->ops->release(runner);
}
