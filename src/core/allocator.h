/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where freestanding code gets its memory: the caller's two functions. */
#ifndef CORE_ALLOCATOR_H
#define CORE_ALLOCATOR_H

#include <stddef.h>

struct allocator {
    void *(*allocate)(void *context, size_t size); /* zeroed or not; NULL: out of memory */
    void (*release)(void *context, void *block);
    void *context;
};

#endif
