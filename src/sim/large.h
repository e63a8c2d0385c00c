/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The large form of an array (cache.h): sets of more than 16 ways.
 *
 * One hash index over the keys of all sets finds a key; keys of one bucket are chained.
 * The order of a set's ways is a queue of visits: a visit is put at its end, and counts
 * as long as the way was not visited again, so the oldest way is the first of the queue
 * whose visit counts. A full queue is packed, which takes no longer than its visits did.
 * (A doubly linked list would do, but a hit then has to wait for the stores of the last.)
 *
 * A node is a way of any set: set * ways + way. */
#ifndef SIM_LARGE_H
#define SIM_LARGE_H

#include "cache.h"

/* Makes a way the newest. */
void large_visit(struct cache *cache, uint64_t set, uint32_t way);

/* As the functions of the same names in cache.h. */
int large_init(struct cache *cache, const struct sim_allocator *allocator);
void large_release(struct cache *cache, const struct sim_allocator *allocator);
void large_clear(struct cache *cache);
uint64_t large_fill(struct cache *cache, uint64_t set, uint64_t key);
void large_vacate(struct cache *cache, uint64_t set, uint32_t way);

#endif
