/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks of memory by address; the header has the idea.
 *
 * A slot of the table of pages is empty, or has the number of a block that holds the whole
 * page (an odd value), or points to a page. Slots come in regions of 64 megabytes, which a
 * hash table finds; the region that was used last is tried first. */
#include "attrib/blocks.h"

enum {
    GRANULE_SHIFT = 4,
    PAGE_SHIFT = 12,
    GRANULES = 1 << (PAGE_SHIFT - GRANULE_SHIFT),
    WORDS = GRANULES / 64,
    REGION_SHIFT = 26,
    SLOTS = 1 << (REGION_SHIFT - PAGE_SHIFT),
    CHUNK = 1 << 14, /* blocks that are allocated together */
    MAX_CHUNKS = 1 << 16
};

#define NOBODY UINT32_MAX

struct page {
    uint64_t starts[WORDS];
    uint32_t block[GRANULES]; /* where a block starts */
    uint32_t cover;           /* the block that comes in from before, or NOBODY */
};

struct region {
    uint64_t number;
    struct region *next;
    uintptr_t slots[SLOTS];
};

struct entry {
    struct block block;
    uint32_t next_free;
};

struct blocks {
    struct allocator allocator;
    struct region *last;
    struct region *regions[1024]; /* chains, by number */
    struct entry **chunks;
    uint32_t nchunks, free, used;
    uint64_t count;
};

static void zero(void *memory, size_t size)
{
    __builtin_memset(memory, 0, size);
}

static void *allocate(struct blocks *blocks, size_t size)
{
    void *memory = blocks->allocator.allocate(blocks->allocator.context, size);
    if (memory)
        zero(memory, size);
    return memory;
}

struct blocks *blocks_create(const struct allocator *allocator)
{
    struct blocks *blocks = allocator->allocate(allocator->context, sizeof *blocks);
    if (!blocks)
        return NULL;
    zero(blocks, sizeof *blocks);
    blocks->allocator = *allocator;
    blocks->free = NOBODY;
    blocks->chunks = allocate(blocks, MAX_CHUNKS * sizeof *blocks->chunks);
    if (!blocks->chunks) {
        allocator->release(allocator->context, blocks);
        return NULL;
    }
    return blocks;
}

static void release(struct blocks *blocks, void *memory)
{
    blocks->allocator.release(blocks->allocator.context, memory);
}

static void release_region(struct blocks *blocks, struct region *region)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        if (region->slots[i] && !(region->slots[i] & 1))
            release(blocks, (void *)region->slots[i]);
    release(blocks, region);
}

void blocks_release(struct blocks *blocks)
{
    if (!blocks)
        return;
    for (size_t i = 0; i < sizeof blocks->regions / sizeof *blocks->regions; i++)
        for (struct region *region = blocks->regions[i], *next; region; region = next) {
            next = region->next;
            release_region(blocks, region);
        }
    for (uint32_t i = 0; i < blocks->nchunks; i++)
        release(blocks, blocks->chunks[i]);
    release(blocks, blocks->chunks);
    struct allocator allocator = blocks->allocator;
    allocator.release(allocator.context, blocks);
}

static struct entry *entry_at(const struct blocks *blocks, uint32_t number)
{
    return &blocks->chunks[number / CHUNK][number % CHUNK];
}

static struct region **chain(struct blocks *blocks, uint64_t number)
{
    return &blocks->regions[number * 0x9e3779b97f4a7c15u >> 54];
}

static struct region *find_region(struct blocks *blocks, uint64_t address)
{
    uint64_t number = address >> REGION_SHIFT;
    struct region *region = blocks->last;
    if (region && region->number == number)
        return region;
    for (region = *chain(blocks, number); region; region = region->next)
        if (region->number == number)
            return blocks->last = region;
    return NULL;
}

static struct region *make_region(struct blocks *blocks, uint64_t address)
{
    struct region *region = find_region(blocks, address);
    if (region)
        return region;
    region = allocate(blocks, sizeof *region);
    if (!region)
        return NULL;
    region->number = address >> REGION_SHIFT;
    struct region **first = chain(blocks, region->number);
    region->next = *first;
    *first = region;
    return blocks->last = region;
}

static uint64_t slot_of(uint64_t address)
{
    return address >> PAGE_SHIFT & (SLOTS - 1);
}

/* The page of an address; one that a block covers whole becomes a page of its own. */
static struct page *make_page(struct blocks *blocks, uint64_t address)
{
    struct region *region = make_region(blocks, address);
    if (!region)
        return NULL;
    uintptr_t *slot = &region->slots[slot_of(address)];
    if (*slot && !(*slot & 1))
        return (struct page *)*slot;
    struct page *page = allocate(blocks, sizeof *page);
    if (!page)
        return NULL;
    page->cover = *slot ? (uint32_t)(*slot >> 1) : NOBODY;
    *slot = (uintptr_t)page;
    return page;
}

/* A number for a new block; NOBODY: out of memory. */
static uint32_t take_entry(struct blocks *blocks)
{
    if (blocks->free != NOBODY) {
        uint32_t number = blocks->free;
        blocks->free = entry_at(blocks, number)->next_free;
        return number;
    }
    if (blocks->used == blocks->nchunks * CHUNK) {
        if (blocks->nchunks == MAX_CHUNKS)
            return NOBODY;
        struct entry *chunk = allocate(blocks, CHUNK * sizeof *chunk);
        if (!chunk)
            return NOBODY;
        blocks->chunks[blocks->nchunks++] = chunk;
    }
    return blocks->used++;
}

static void give_entry(struct blocks *blocks, uint32_t number)
{
    entry_at(blocks, number)->next_free = blocks->free;
    blocks->free = number;
}

/* Notes that a block comes into the page of an address from before, or no longer does. */
static void set_cover(struct region *region, uint64_t address, uint32_t number)
{
    uintptr_t *slot = &region->slots[slot_of(address)];
    if (*slot && !(*slot & 1))
        ((struct page *)*slot)->cover = number;
    else
        *slot = number == NOBODY ? 0 : (uintptr_t)number << 1 | 1;
}

static uint32_t get_cover(const struct region *region, uint64_t address)
{
    uintptr_t slot = region->slots[slot_of(address)];
    if (slot && !(slot & 1))
        return ((const struct page *)slot)->cover;
    return slot ? (uint32_t)(slot >> 1) : NOBODY;
}

static uint64_t next_page(uint64_t address)
{
    return ((address >> PAGE_SHIFT) + 1) << PAGE_SHIFT;
}

/* Takes a block out of the pages behind its first, up to an end. */
static void uncover(struct blocks *blocks, uint32_t number, uint64_t start, uint64_t end)
{
    for (uint64_t at = next_page(start); at < end; at += 1 << PAGE_SHIFT) {
        struct region *region = find_region(blocks, at);
        if (region && get_cover(region, at) == number)
            set_cover(region, at, NOBODY);
    }
}

/* Makes the regions that a block enters from before: then nothing can fail any more. */
static int make_regions(struct blocks *blocks, uint64_t start, uint64_t end)
{
    for (uint64_t at = next_page(start); at < end;
         at = ((at >> REGION_SHIFT) + 1) << REGION_SHIFT)
        if (!make_region(blocks, at))
            return -1;
    return 0;
}

static void cover(struct blocks *blocks, uint32_t number, const struct block *block)
{
    uint64_t end = block->start + block->size;
    for (uint64_t at = next_page(block->start); at < end; at += 1 << PAGE_SHIFT)
        set_cover(find_region(blocks, at), at, number);
}

static uint32_t granule_of(uint64_t address)
{
    return address >> GRANULE_SHIFT & (GRANULES - 1);
}

int blocks_add(struct blocks *blocks, uint64_t start, uint64_t size, uint32_t owner)
{
    struct block block = {start, size ? size : 1, owner};
    struct page *page = make_page(blocks, start);
    if (!page || make_regions(blocks, start, start + block.size))
        return -1;
    uint32_t number = take_entry(blocks);
    if (number == NOBODY)
        return -1;
    uint32_t granule = granule_of(start);
    uint64_t bit = UINT64_C(1) << granule % 64;
    if (page->starts[granule / 64] & bit) {
        struct block gone;
        blocks_remove(blocks, entry_at(blocks, page->block[granule])->block.start, &gone);
    }
    entry_at(blocks, number)->block = block;
    cover(blocks, number, &block);
    page->starts[granule / 64] |= bit;
    page->block[granule] = number;
    blocks->count++;
    return 0;
}

static struct page *find_page(struct blocks *blocks, uint64_t address)
{
    struct region *region = find_region(blocks, address);
    uintptr_t slot = region ? region->slots[slot_of(address)] : 0;
    return slot & 1 ? NULL : (struct page *)slot;
}

bool blocks_remove(struct blocks *blocks, uint64_t start, struct block *removed)
{
    struct page *page = find_page(blocks, start);
    uint32_t granule = granule_of(start);
    uint64_t bit = UINT64_C(1) << granule % 64;
    if (!page || !(page->starts[granule / 64] & bit))
        return false;
    uint32_t number = page->block[granule];
    *removed = entry_at(blocks, number)->block;
    if (removed->start != start)
        return false;
    page->starts[granule / 64] &= ~bit;
    uncover(blocks, number, start, start + removed->size);
    give_entry(blocks, number);
    blocks->count--;
    return true;
}

/* The first block of a page that begins at or after an address of it. */
static uint32_t first_start(const struct blocks *blocks, const struct page *page,
                            uint64_t address)
{
    uint32_t granule = granule_of(address), word = granule / 64;
    uint64_t bits = page->starts[word] & UINT64_MAX << granule % 64;
    for (;;) {
        for (; bits; bits &= bits - 1) {
            uint32_t number = page->block[word * 64 + (uint32_t)__builtin_ctzll(bits)];
            if (entry_at(blocks, number)->block.start >= address)
                return number;
        }
        if (++word == WORDS)
            return NOBODY;
        bits = page->starts[word];
    }
}

bool blocks_remove_first(struct blocks *blocks, uint64_t start, uint64_t end,
                         struct block *removed)
{
    for (uint64_t at = start; at < end; at = next_page(at)) {
        const struct page *page = find_page(blocks, at);
        uint32_t number = page ? first_start(blocks, page, at) : NOBODY;
        if (number == NOBODY)
            continue;
        uint64_t found = entry_at(blocks, number)->block.start;
        return found < end && blocks_remove(blocks, found, removed);
    }
    return false;
}

/* The last block of a page that begins at or before an address. */
static uint32_t last_start(const struct blocks *blocks, const struct page *page,
                           uint64_t address)
{
    uint32_t granule = granule_of(address), word = granule / 64;
    uint64_t bits = page->starts[word] & UINT64_MAX >> (63 - granule % 64);
    while (!bits && word > 0)
        bits = page->starts[--word];
    if (!bits)
        return NOBODY;
    uint32_t found = word * 64 + 63 - (uint32_t)__builtin_clzll(bits);
    uint32_t number = page->block[found];
    if (entry_at(blocks, number)->block.start <= address)
        return number;
    /* it begins in the same 16 bytes, but behind the address */
    uint64_t before = (address >> GRANULE_SHIFT << GRANULE_SHIFT) - 1;
    return before >> PAGE_SHIFT == address >> PAGE_SHIFT ? last_start(blocks, page, before)
                                                         : NOBODY;
}

static const struct block *check(const struct blocks *blocks, uint32_t number,
                                 uint64_t address)
{
    if (number == NOBODY)
        return NULL;
    const struct block *block = &entry_at(blocks, number)->block;
    return address - block->start < block->size ? block : NULL;
}

const struct block *blocks_find(struct blocks *blocks, uint64_t address)
{
    struct region *region = find_region(blocks, address);
    uintptr_t slot = region ? region->slots[slot_of(address)] : 0;
    if (!slot)
        return NULL;
    if (slot & 1)
        return check(blocks, (uint32_t)(slot >> 1), address);
    const struct page *page = (const struct page *)slot;
    const struct block *block = check(blocks, last_start(blocks, page, address), address);
    return block ? block : check(blocks, page->cover, address);
}

uint64_t blocks_count(const struct blocks *blocks)
{
    return blocks->count;
}
