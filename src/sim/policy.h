/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Replacement policies, a table.
 *
 * The array (cache.h) fills free ways first and keeps all ways ordered by fill, so a
 * policy only says what a hit changes and which way goes when none is free. */
#ifndef SIM_POLICY_H
#define SIM_POLICY_H

#include <stdbool.h>
#include <stdint.h>

struct cache;

struct policy {
    const char *name;
    bool promotes; /* a hit makes the way the newest, as a fill does */
    bool tree;     /* a hit or a fill turns a tree of bits; up to POLICY_TREE_WAYS ways */
    uint32_t (*victim)(struct cache *cache, uint64_t set); /* NULL: the oldest way */
};

enum { POLICIES = 4, POLICY_TREE_WAYS = 64 /* a tree is one word */ };
extern const struct policy policies[POLICIES]; /* by enum strata_policy */

#endif
