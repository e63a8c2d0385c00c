/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Probing by counts: the banks of the first cache that loads of a type use.
 *
 * Pairs of loads that may go in one cycle, a growing distance apart, both in that cache.
 * The first distance at which they conflict is that of a bank to itself, all banks further:
 * banks
 * * interleave. They conflict until the distance reaches the next bank: interleave bytes
 * later. Where there is no event for conflicts, or it is not believed, the cycle that a
 * conflict costs tells. */
#include "probe/counted.h"

#include <stdio.h>

enum {
    STEP = 4,  /* bytes: no bank is narrower */
    PAIRS = 8, /* of loads, for each distance */
    MOST = 8192,
};

/* Conflicts of a pair, and its cycles. */
static int try_distance(struct counted *c, uint64_t distance, double *conflicts,
                        double *cycles)
{
    uint64_t at[2 * PAIRS];
    struct walk_counts counts;
    for (int i = 0; i < PAIRS; i++) {
        at[2 * i] = 0;
        at[2 * i + 1] = distance;
    }
    int status = 0;
    for (int i = 0; i < 2 && !status; i++) /* the first brings both in */
        status = counting_pairs(c->counting, BASE_PAGES, c->type, at, PAIRS, &counts);
    *conflicts = counts.events[BANK_EVENT] / PAIRS;
    *cycles = counts.cycles / PAIRS;
    return status;
}

static struct strata_value value_of(const struct counted *c, double value, bool timed)
{
    struct strata_value answer = counted_value(c, BANK_EVENT, value);
    if (timed)
        snprintf(answer.by, sizeof answer.by, "the clock, %s", event_way_names[WAY_TIMING]);
    return answer;
}

int count_banks(struct counted *c)
{
    struct strata_probed_cache *cache = &c->probed->caches[0];
    double least = 0, conflicts, cycles, first = 0, last = 0;
    bool event = c->counting->events[BANK_EVENT].present;
    if (!c->probed->ncaches || !c->counting->ops->pairs || !cache->size.known)
        return 0;
    double most = cache->size.value / 2 < MOST ? cache->size.value / 2 : MOST;
    for (uint64_t d = STEP; (double)d <= most && last <= 0; d += STEP) {
        int status = try_distance(c, d, &conflicts, &cycles);
        if (status)
            return status;
        least = d == STEP ? cycles : least;
        bool now = event ? conflicts > 0.5 : cycles > least + 0.5;
        if (now && first <= 0)
            first = (double)d;
        else if (!now && first > 0)
            last = (double)d;
    }
    if (last <= 0)
        return 0;
    cache->interleave = value_of(c, last - first, !event);
    cache->banks = value_of(c, first / (last - first), !event);
    counted_note(c, "L%d has %.0f banks of %.0f bytes (by %s)", cache->level,
                 cache->banks.value, cache->interleave.value, cache->banks.by);
    return 0;
}
