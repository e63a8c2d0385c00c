/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What all runners share: dispatch, the tally of trials and their log. */
#include "run/runner.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

_Static_assert((int)ARENAS == TRIAL_ARENAS, "a log has every arena");
_Static_assert((int)REFS_PARAMETERS == TRIAL_PARAMETERS, "and every parameter");

struct trial_string runner_string(enum arena arena, const struct refs *refs)
{
    struct trial_string string = {.arena = arena, .n = (uint32_t)refs->call.n};
    snprintf(string.name, sizeof string.name, "%s", refs->call.name ? refs->call.name : "");
    memcpy(string.given, refs->call.given, refs->call.n * sizeof *string.given);
    return string;
}

/* Adds the walk, of which string and cost are known, to the log. */
static int put_down(struct runner *runner, enum arena arena, const struct refs *refs,
                    struct trial_walk *walk)
{
    struct trial_string string = runner_string(arena, refs);
    long index = trials_string(runner->log, &string);
    runner->log_us = (uint64_t)llround(runner->ops->clock(runner) * 1e6);
    walk->string = (uint32_t)index;
    walk->cpu = runner->cpu;
    walk->us = runner->log_us;
    return index < 0 ? -1 : trials_add(runner->log, walk);
}

int runner_walk(struct runner *runner, enum arena arena, const struct refs *refs,
                struct trial *trial)
{
    uint64_t visits = runner->visits, disturbed = runner->disturbed;
    runner->cpu = runner->simulated ? -1 : sched_getcpu();
    int status = runner->ops->walk(runner, arena, refs, trial);
    struct trial_walk walk = {.cycles = trial->cycles,
                              .visits = runner->visits - visits,
                              .repeats = (uint32_t)(runner->disturbed - disturbed),
                              .disturbed = trial->disturbed};
    runner->trials++;
    runner->disturbed += trial->disturbed;
    return status || !runner->log ? status : put_down(runner, arena, refs, &walk);
}

double runner_clock(struct runner *runner)
{
    return runner->log ? 1e-6 * (double)runner->log_us : runner->ops->clock(runner);
}

bool runner_leave(struct runner *runner)
{
    bool left = runner->ops->leave && runner->ops->leave(runner);
    if (runner->log)
        (void)trials_leave(runner->log, left); /* a replay without it stays at home */
    return left;
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
