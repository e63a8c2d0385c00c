/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Replacement policies, a table.
 *
 * The array (cache.h) fills free ways first and keeps all ways ordered by fill, so a
 * policy only says what a hit changes and which way goes when none is free. NULL stands
 * for the plain answer: a hit or a fill changes nothing more, the oldest way goes. */
#ifndef SIM_POLICY_H
#define SIM_POLICY_H

#include <stdint.h>

struct cache;

struct policy {
    const char *name;
    void (*touch)(struct cache *cache, uint64_t set, uint32_t way); /* on a hit */
    void (*fill)(struct cache *cache, uint64_t set, uint32_t way);  /* on a fill */
    uint32_t (*victim)(struct cache *cache, uint64_t set);          /* of a full set */
    int tree; /* needs the array's tree of bits */
};

enum { POLICIES = 4 };
extern const struct policy policies[POLICIES]; /* by enum strata_policy */

#endif
