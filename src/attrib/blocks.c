/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks of memory by address; the header has the idea.
 *
 * A slot of the table of pages is empty, or has the start of a block that holds the whole
 * page (an odd value), or points to a page. Slots come in regions of 64 megabytes, which a
 * hash table finds; the region that was used last is tried first. */
#include "attrib/blocks.h"

enum {
    GRANULE_SHIFT = 4,
    PART_SHIFT = GRANULE_SHIFT + 6, /* a word of bits */
    PAGE_SHIFT = 12,
    PARTS = 1 << (PAGE_SHIFT - PART_SHIFT),
    REGION_SHIFT = 26,
    SLOTS = 1 << (REGION_SHIFT - PAGE_SHIFT),
    HASH_BITS = 10
};

#define NOWHERE UINT64_MAX

/* What is known of a block, in a word: its owner, where in its 16 bytes it begins, whether
 * the size is in bytes or in pages, and the size. */
enum { SIZE_BITS = 35, SKEW_SHIFT = SIZE_BITS + 1, OWNER_SHIFT = SKEW_SHIFT + 4 };
#define SIZE_LIMIT (UINT64_C(1) << SIZE_BITS)

struct part {
    uint64_t starts; /* a bit for each 16 bytes */
    uint64_t packed[64];
};

struct page {
    struct part parts[PARTS];
    uint64_t cover; /* the start of the block that comes in from before, or NOWHERE */
};

struct region {
    uint64_t number;
    struct region *next;
    uintptr_t slots[SLOTS];
};

struct blocks {
    struct allocator allocator;
    struct region *last;
    struct region *regions[1 << HASH_BITS]; /* chains, by number */
    uint64_t count;
};

static void *allocate(const struct allocator *allocator, size_t size)
{
    void *memory = allocator->allocate(allocator->context, size);
    if (memory)
        __builtin_memset(memory, 0, size);
    return memory;
}

struct blocks *blocks_create(const struct allocator *allocator)
{
    struct blocks *blocks = allocate(allocator, sizeof *blocks);
    if (blocks)
        blocks->allocator = *allocator;
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
    struct allocator allocator = blocks->allocator;
    allocator.release(allocator.context, blocks);
}

static uint64_t pack(const struct block *block)
{
    uint64_t size = block->size, skew = block->start % (1 << GRANULE_SHIFT);
    if (size >= SIZE_LIMIT)
        size = SIZE_LIMIT | (((size - 1) >> PAGE_SHIFT) + 1);
    return (uint64_t)block->owner << OWNER_SHIFT | skew << SKEW_SHIFT | size;
}

/* The block whose word stands for the 16 bytes at an address. */
static struct block unpack(uint64_t packed, uint64_t address)
{
    uint64_t granule = address >> GRANULE_SHIFT << GRANULE_SHIFT;
    uint64_t size = packed & (SIZE_LIMIT - 1);
    return (struct block){.start = granule + (packed >> SKEW_SHIFT & 15),
                          .size = packed & SIZE_LIMIT ? size << PAGE_SHIFT : size,
                          .owner = (uint32_t)(packed >> OWNER_SHIFT)};
}

static struct region **chain(struct blocks *blocks, uint64_t number)
{
    return &blocks->regions[number * 0x9e3779b97f4a7c15u >> (64 - HASH_BITS)];
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
    region = allocate(&blocks->allocator, sizeof *region);
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
    struct page *page = allocate(&blocks->allocator, sizeof *page);
    if (!page)
        return NULL;
    page->cover = *slot ? *slot >> 1 : NOWHERE;
    *slot = (uintptr_t)page;
    return page;
}

static struct page *find_page(struct blocks *blocks, uint64_t address)
{
    struct region *region = find_region(blocks, address);
    uintptr_t slot = region ? region->slots[slot_of(address)] : 0;
    return slot & 1 ? NULL : (struct page *)slot;
}

static struct part *part_of(struct page *page, uint64_t address)
{
    return &page->parts[address >> PART_SHIFT & (PARTS - 1)];
}

static uint32_t granule_of(uint64_t address)
{
    return address >> GRANULE_SHIFT & 63;
}

/* Notes that a block comes into the page of an address from before, or no longer does. */
static void set_cover(struct region *region, uint64_t address, uint64_t start)
{
    uintptr_t *slot = &region->slots[slot_of(address)];
    if (*slot && !(*slot & 1))
        ((struct page *)*slot)->cover = start;
    else
        *slot = start == NOWHERE ? 0 : start << 1 | 1;
}

static uint64_t get_cover(const struct region *region, uint64_t address)
{
    uintptr_t slot = region->slots[slot_of(address)];
    if (slot && !(slot & 1))
        return ((const struct page *)slot)->cover;
    return slot ? slot >> 1 : NOWHERE;
}

static uint64_t next_page(uint64_t address)
{
    return ((address >> PAGE_SHIFT) + 1) << PAGE_SHIFT;
}

/* Takes a block out of the pages behind its first. */
static void uncover(struct blocks *blocks, const struct block *block)
{
    uint64_t end = block->start + block->size;
    for (uint64_t at = next_page(block->start); at < end; at += 1 << PAGE_SHIFT) {
        struct region *region = find_region(blocks, at);
        if (region && get_cover(region, at) == block->start)
            set_cover(region, at, NOWHERE);
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

static void cover(struct blocks *blocks, const struct block *block)
{
    uint64_t end = block->start + block->size;
    for (uint64_t at = next_page(block->start); at < end; at += 1 << PAGE_SHIFT)
        set_cover(find_region(blocks, at), at, block->start);
}

int blocks_add(struct blocks *blocks, uint64_t start, uint64_t size, uint32_t owner)
{
    struct block block = {start, size ? size : 1, owner};
    struct page *page = owner < BLOCKS_OWNERS ? make_page(blocks, start) : NULL;
    if (!page || make_regions(blocks, start, start + block.size))
        return -1;
    struct part *part = part_of(page, start);
    uint32_t granule = granule_of(start);
    uint64_t bit = UINT64_C(1) << granule;
    if (part->starts & bit) {
        struct block gone = unpack(part->packed[granule], start);
        blocks_remove(blocks, gone.start, &gone);
    }
    cover(blocks, &block);
    part->starts |= bit;
    part->packed[granule] = pack(&block);
    blocks->count++;
    return 0;
}

bool blocks_remove(struct blocks *blocks, uint64_t start, struct block *removed)
{
    struct page *page = find_page(blocks, start);
    if (!page)
        return false;
    struct part *part = part_of(page, start);
    uint32_t granule = granule_of(start);
    uint64_t bit = UINT64_C(1) << granule;
    if (!(part->starts & bit))
        return false;
    struct block block = unpack(part->packed[granule], start);
    if (block.start != start)
        return false;
    part->starts &= ~bit;
    uncover(blocks, &block);
    blocks->count--;
    *removed = block;
    return true;
}

/* The first block of a page that begins at or after an address of it. */
static bool first_start(struct page *page, uint64_t address, struct block *found)
{
    uint64_t page_start = address >> PAGE_SHIFT << PAGE_SHIFT;
    for (uint64_t i = address >> PART_SHIFT & (PARTS - 1); i < PARTS; i++)
        for (uint64_t bits = page->parts[i].starts; bits; bits &= bits - 1) {
            uint32_t granule = (uint32_t)__builtin_ctzll(bits);
            *found = unpack(page->parts[i].packed[granule],
                            page_start + (i << PART_SHIFT) +
                                ((uint64_t)granule << GRANULE_SHIFT));
            if (found->start >= address)
                return true;
        }
    return false;
}

bool blocks_remove_first(struct blocks *blocks, uint64_t start, uint64_t end,
                         struct block *removed)
{
    for (uint64_t at = start; at < end; at = next_page(at)) {
        struct page *page = find_page(blocks, at);
        struct block found;
        if (page && first_start(page, at, &found))
            return found.start < end && blocks_remove(blocks, found.start, removed);
    }
    return false;
}

/* The last block of a page that begins at or before an address of it. */
static bool last_start(struct page *page, uint64_t address, struct block *found)
{
    uint64_t part_start = address >> PART_SHIFT << PART_SHIFT;
    uint64_t page_start = address >> PAGE_SHIFT << PAGE_SHIFT;
    uint64_t mask = UINT64_MAX >> (63 - granule_of(address));
    for (;; part_start -= 1 << PART_SHIFT, mask = UINT64_MAX) {
        const struct part *part = part_of(page, part_start);
        for (uint64_t bits = part->starts & mask; bits;) {
            uint32_t granule = 63 - (uint32_t)__builtin_clzll(bits);
            *found = unpack(part->packed[granule],
                            part_start + ((uint64_t)granule << GRANULE_SHIFT));
            if (found->start <= address) /* not behind it in the same 16 bytes */
                return true;
            bits ^= UINT64_C(1) << granule;
        }
        if (part_start == page_start)
            return false;
    }
}

static bool holds(const struct block *block, uint64_t address)
{
    return address - block->start < block->size;
}

/* The block that begins at an address, which is known to be there. */
static struct block block_at(struct blocks *blocks, uint64_t start)
{
    const struct part *part = part_of(find_page(blocks, start), start);
    return unpack(part->packed[granule_of(start)], start);
}

bool blocks_find(struct blocks *blocks, uint64_t address, struct block *found)
{
    struct region *region = find_region(blocks, address);
    uintptr_t slot = region ? region->slots[slot_of(address)] : 0;
    if (!slot)
        return false;
    if (!(slot & 1) && last_start((struct page *)slot, address, found) &&
        holds(found, address))
        return true;
    uint64_t start = get_cover(region, address);
    if (start == NOWHERE)
        return false;
    *found = block_at(blocks, start);
    return holds(found, address);
}

void blocks_expect(struct blocks *blocks, uint64_t address)
{
    struct page *page = find_page(blocks, address);
    if (!page)
        return;
    const struct part *part = part_of(page, address);
    __builtin_prefetch(&part->starts);
    __builtin_prefetch(&part->packed[granule_of(address)]);
}

const void *blocks_read_at(struct blocks *blocks, uint64_t address)
{
    struct page *page = find_page(blocks, address);
    return page ? part_of(page, address) : NULL;
}

uint64_t blocks_count(const struct blocks *blocks)
{
    return blocks->count;
}
