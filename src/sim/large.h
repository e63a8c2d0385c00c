/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The large form of an array (cache.h): sets of more than 16 ways.
 *
 * One hash index over the keys of all sets finds a key; keys of one bucket are chained.
 * Every way has a stamp of its last visit (FIFO: of its fill). The ways of a set are
 * listed by age now and then: the oldest way is the next of the list that was not visited
 * since, and when none is left, a new list is made. A way leaves the list by a visit or by
 * a fill, so lists cost no more, on average, than the logarithm of the ways for each.
 *
 * A node is a way of any set: set * ways + way. */
#ifndef SIM_LARGE_H
#define SIM_LARGE_H

#include "cache.h"

/* As the functions of the same names in cache.h. */
int large_init(struct cache *cache, const struct allocator *allocator);
void large_release(struct cache *cache, const struct allocator *allocator);
void large_clear(struct cache *cache);
uint64_t large_fill(struct cache *cache, uint64_t set, uint64_t key);
void large_vacate(struct cache *cache, uint64_t set, uint32_t way);

#endif
