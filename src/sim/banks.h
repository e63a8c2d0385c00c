/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Banks of a cache: two loads of the same cycle that hit it are served together, unless
 * they want different words of one bank: then the second one waits for a cycle. A bank has
 * every `banks`th word of `interleave` bytes. Loads that follow each other never conflict,
 * so the simulated machine itself, which does one after the other, knows nothing of banks.
 */
#ifndef SIM_BANKS_H
#define SIM_BANKS_H

#include <stdbool.h>
#include <stdint.h>
#include <strata/machine.h>

enum { BANK_CYCLES = 1 };

static inline bool banks_conflict(const struct strata_cache *cache, uint64_t a, uint64_t b)
{
    if (!cache->banks)
        return false;
    uint64_t one = a / cache->interleave, other = b / cache->interleave;
    return one != other && one % cache->banks == other % cache->banks;
}

#endif
