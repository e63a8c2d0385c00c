/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For programs that are recorded: say what to record and what things are called.
 *
 *     strata_start();                                 with `strata record --paused`
 *     struct node *pool = strata_malloc_named(size, "node pool");
 *     strata_name(table, sizeof table, "hash table");
 *     strata_stop();
 *
 * When the program is not recorded, these do nothing (strata_malloc_named() allocates) and
 * cost a few instructions. This header is all that is needed: nothing is linked. */
#ifndef STRATA_STRATA_H
#define STRATA_STRATA_H

#include <stddef.h>
#include <stdlib.h>
#include <strata/vpmu.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Events are recorded from here on. */
static inline void strata_start(void)
{
    (void)vpmu_request(0, VPMU_REQUEST_START, 0, 0, 0);
}

/* No more; the simulated machine goes on, so that its caches stay warm. */
static inline void strata_stop(void)
{
    (void)vpmu_request(0, VPMU_REQUEST_STOP, 0, 0, 0);
}

/* [start, start + size) is part of what is called so, until it is freed, forgotten or
 * named anew. Ranges of one name are shown as one object. Of ranges that begin within the
 * same 16 bytes, the last one counts. */
static inline void strata_name(const void *start, size_t size, const char *name)
{
    (void)vpmu_request(0, VPMU_REQUEST_NAME, (unsigned long)start, size,
                       (unsigned long)name);
}

/* The range that begins there has no name any more. */
static inline void strata_forget(const void *start)
{
    (void)vpmu_request(0, VPMU_REQUEST_FORGET, (unsigned long)start, 0, 0);
}

/* malloc(), with a name; free() frees it. */
static inline void *strata_malloc_named(size_t size, const char *name)
{
    void *block = malloc(size);
    if (block)
        strata_name(block, size, name);
    return block;
}

#ifdef __cplusplus
}
#endif
#endif
