/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks of memory by address: which one, of millions, holds a byte?
 *
 * A table of pages, and in each page a bit for every 16 bytes that says whether a block
 * begins there: the block that holds an address begins at the last bit before it, or it
 * came in from an earlier page. So adding, removing and finding take a time that does not
 * depend on the number of blocks; a large block costs one word a page. What is known of a
 * block is packed into a word beside its bit, because with many blocks each line of memory
 * that has to be read costs more than all else. The price is memory: two kilobytes for each
 * page in which blocks begin.
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
    uint64_t start;
    uint64_t size;  /* bytes; from 32 gigabytes on in whole pages of 4K, rounded up */
    uint32_t owner; /* what the caller gave */
};

enum { BLOCKS_OWNERS = 1 << 24 }; /* owners are smaller; addresses are below 2^63 */

struct blocks;

/* NULL: out of memory. */
struct blocks *blocks_create(const struct allocator *allocator);
void blocks_release(struct blocks *blocks);

/* A block of 0 bytes takes one. Returns -1, with nothing changed, when memory runs out or
 * the owner is too large. */
int blocks_add(struct blocks *blocks, uint64_t start, uint64_t size, uint32_t owner);

/* Takes out the block that begins there and copies it to *removed; false: there is none. */
bool blocks_remove(struct blocks *blocks, uint64_t start, struct block *removed);

/* Takes out the first block that begins in [start, end) and copies it to *removed; false:
 * there is none. */
bool blocks_remove_first(struct blocks *blocks, uint64_t start, uint64_t end,
                         struct block *removed);

/* Copies the block that holds a byte to *found; false: there is none. */
bool blocks_find(struct blocks *blocks, uint64_t address, struct block *found);

/* Asks the memory of this computer for what blocks_find() will read. */
void blocks_expect(struct blocks *blocks, uint64_t address);

/* Where in the table blocks_find() reads for an address, or NULL: for those who want to
 * know what such a search does to a cache. */
const void *blocks_read_at(struct blocks *blocks, uint64_t address);

uint64_t blocks_count(const struct blocks *blocks);

#endif
