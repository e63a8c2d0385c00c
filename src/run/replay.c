/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The runner that reads the log of another one: a captured machine.
 *
 * A walk costs what it cost in the log when the same string was walked, found by its
 * generator and what that was given. Several walks of one string are served in their order,
 * and then from the first one on again. Each takes as long as it took then, with what was
 * done between it and the walk before. So the same plan with the same seed asks the same
 * and ends with the same answers; a plan that has changed gets what there is, and is
 * refused what nobody has measured. Nothing is guessed from neighbours. */
#include "core/fail.h"
#include "run/runner.h"

#include <math.h>
#include <stdlib.h>

struct replay {
    struct runner runner;
    const struct trials *trials;
    size_t *walks; /* of all strings, string after string */
    size_t *first; /* of each string, there; one more at the end */
    size_t *next;  /* of each string: how many were served */
    size_t leaves; /* that were served */
    uint64_t us;
};

static int replay_walk(struct runner *runner, enum arena arena, const struct refs *refs,
                       struct trial *trial)
{
    struct replay *r = (struct replay *)runner;
    struct trial_string string = runner_string(arena, refs);
    long index = trials_find(r->trials, &string);
    size_t n = index < 0 ? 0 : r->first[index + 1] - r->first[index];
    if (!n) {
        runner->not_logged++;
        return WALK_REFUSED;
    }
    size_t at = r->walks[r->first[index] + r->next[index]++ % n];
    const struct trial_walk *walk = &r->trials->walks[at];
    r->us += walk->us - (at ? walk[-1].us : 0);
    runner->cpu = walk->cpu;
    runner->visits += walk->visits;
    runner->trials += walk->repeats;
    runner->disturbed += walk->repeats;
    *trial = (struct trial){.cycles = walk->cycles, .disturbed = walk->disturbed};
    return 0;
}

static double replay_clock(struct runner *runner)
{
    return 1e-6 * (double)((struct replay *)runner)->us;
}

static bool replay_leave(struct runner *runner)
{
    struct replay *r = (struct replay *)runner;
    return r->leaves < r->trials->nleaves && r->trials->leaves[r->leaves++];
}

static void replay_release(struct runner *runner)
{
    struct replay *r = (struct replay *)runner;
    free(r->walks);
    free(r->first);
    free(r->next);
    free(r);
}

static const struct runner_ops replay_ops = {.walk = replay_walk,
                                             .clock = replay_clock,
                                             .leave = replay_leave,
                                             .release = replay_release};

/* Sorts the walks by strings, each string's in their order. */
static int sort_walks(struct replay *r)
{
    const struct trials *trials = r->trials;
    r->walks = calloc(trials->nwalks + 1, sizeof *r->walks);
    r->first = calloc(trials->nstrings + 1, sizeof *r->first);
    r->next = calloc(trials->nstrings + 1, sizeof *r->next);
    if (!r->walks || !r->first || !r->next)
        return -1;
    for (size_t i = 0; i < trials->nwalks; i++)
        r->first[trials->walks[i].string + 1]++;
    for (size_t i = 0; i < trials->nstrings; i++)
        r->first[i + 1] += r->first[i];
    for (size_t i = 0; i < trials->nwalks; i++) {
        uint32_t string = trials->walks[i].string;
        r->walks[r->first[string] + r->next[string]++] = i;
    }
    for (size_t i = 0; i < trials->nstrings; i++)
        r->next[i] = 0;
    return 0;
}

int runner_replay(struct runner **runner, const struct trials *trials, double cycle_ns,
                  struct strata_error *error)
{
    if (!trials || !(cycle_ns > 0) || !trials->ground[BASE_PAGES].bytes)
        return fail(error, STRATA_BAD_INPUT,
                    "the dataset has no trials to replay: `strata probe --log FILE` writes "
                    "one that has");
    struct replay *r = calloc(1, sizeof *r);
    if (!r)
        return fail(error, STRATA_FAILED, "out of memory");
    r->trials = trials;
    r->runner.ops = &replay_ops;
    r->runner.until = INFINITY;
    r->runner.cycle_ns = cycle_ns;
    r->runner.tick_ns = trials->tick_ns;
    r->runner.simulated = trials->simulated;
    for (int i = 0; i < ARENAS; i++)
        r->runner.ground[i] = (struct ground){
            .page = trials->ground[i].page, .bytes = trials->ground[i].bytes, .line = 64};
    if (sort_walks(r)) {
        replay_release(&r->runner);
        return fail(error, STRATA_FAILED, "out of memory");
    }
    *runner = &r->runner;
    return 0;
}
