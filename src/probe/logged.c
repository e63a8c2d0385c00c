/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A probe that keeps a log of its trials, or that replays one. What a plan depends on
 * besides its trials goes into the log and comes from there: seed, budget, memory,
 * processor. */
#include "core/fail.h"
#include "probe/probing.h"

#include <stdio.h>

int begin_log(struct probing *p)
{
    struct trials *log = trials_create();
    if (!log)
        return out_of_memory(p);
    for (int i = 0; i < ARENAS; i++)
        log->ground[i] = (struct trial_ground){.page = p->runner->ground[i].page,
                                               .bytes = p->runner->ground[i].bytes};
    log->budget = p->budget;
    log->tick_ns = p->runner->tick_ns;
    log->cpu = p->probed->cpu;
    log->simulated = p->runner->simulated;
    log->guest = p->guest;
    p->probed->data->trials = p->runner->log = log;
    return 0;
}

int replay_log(struct probing *p)
{
    const struct dataset *from = p->options->replay;
    int status = runner_replay(&p->runner, from->trials, from->cycle_ns, p->error);
    if (status)
        return status;
    p->probed->seed = p->rng.state = from->seed;
    p->probed->cpu = from->trials->cpu;
    p->budget = from->trials->budget;
    p->guest = from->trials->guest;
    snprintf(p->probed->name, sizeof p->probed->name, "%s", from->machine);
    return 0;
}

void judge_log(struct probing *p)
{
    if (p->runner->not_logged)
        note(p,
             "%llu of the trials that were asked for are not in the log: what they would "
             "have told is not known",
             (unsigned long long)p->runner->not_logged);
}
