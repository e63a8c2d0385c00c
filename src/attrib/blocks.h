/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks of memory by address: which one, of millions, holds a byte?
 *
 * A table of pages, and in each page a bit for every 16 bytes that says whether a block
 * begins there: the block that holds an address begins at the last bit before it, or it
 * came in from an earlier page. So adding, removing and finding take a time that does not
 * depend on the number of blocks; a large block costs one word a page. The price is memory:
 * about a kilobyte for each page in which blocks begin, and 32 bytes a block.
 *
 * Two blocks do not begin within the same 16 bytes; the later one replaces the earlier.
 * Where blocks overlap, the one that was added last has the pages that it enters from
 * before; within a page, the one that begins last before the address is found.
 *
 * Freestanding: it is part of the Valgrind tool. */
#ifndef ATTRIB_BLOCKS_H
#define ATTRIB_BLOCKS_H

#include "core/allocator.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block {
    uint64_t start, size; /* bytes */
    uint32_t owner;       /* what the caller gave */
};

struct blocks;

/* NULL: out of memory. */
struct blocks *blocks_create(const struct allocator *allocator);
void blocks_release(struct blocks *blocks);

/* A block of 0 bytes takes one. Returns -1, with nothing changed, when memory runs out. */
int blocks_add(struct blocks *blocks, uint64_t start, uint64_t size, uint32_t owner);

/* Takes out the block that begins there and copies it to *removed; false: there is none. */
bool blocks_remove(struct blocks *blocks, uint64_t start, struct block *removed);

/* Takes out the first block that begins in [start, end) and copies it to *removed; false:
 * there is none. */
bool blocks_remove_first(struct blocks *blocks, uint64_t start, uint64_t end,
                         struct block *removed);

/* The block that holds a byte, or NULL; valid until the next call that changes blocks. */
const struct block *blocks_find(struct blocks *blocks, uint64_t address);

uint64_t blocks_count(const struct blocks *blocks);

#endif
