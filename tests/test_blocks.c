/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks of memory by address: by hand at the edges, against a naive list on long random
 * sequences, with allocations that fail, and with as many blocks as a large program has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attrib/blocks.h"
#include "core/rng.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, GRANULE = 16 };
#define REGION (UINT64_C(64) << 20)

/* An allocator that counts, and fails when it is told to. */
struct memory {
    size_t out, made, bytes, fails_at; /* fails_at: 0: never, 1: the next */
};

static void *take(void *context, size_t size)
{
    struct memory *memory = context;
    if (memory->fails_at && --memory->fails_at == 0)
        return NULL;
    memory->out++;
    memory->made++;
    memory->bytes += size;
    void *block = malloc(size);
    assert_non_null(block);
    memset(block, 0xa5, size); /* the contract promises no zeros */
    return block;
}

static void give(void *context, void *block)
{
    ((struct memory *)context)->out--;
    free(block);
}

static struct blocks *make(struct memory *memory)
{
    const struct allocator allocator = {take, give, memory};
    struct blocks *blocks = blocks_create(&allocator);
    assert_non_null(blocks);
    return blocks;
}

static void discard(struct blocks *blocks, const struct memory *memory)
{
    blocks_release(blocks);
    assert_int_equal(memory->out, 0);
}

#define NOBODY UINT32_MAX

static uint32_t owner_at(struct blocks *blocks, uint64_t address)
{
    struct block block;
    return blocks_find(blocks, address, &block) ? block.owner : NOBODY;
}

static void a_block_has_its_bytes_and_no_others(void **state)
{
    (void)state;
    static const struct {
        uint64_t start, size;
    } cases[] = {
        {0x10000, 1},
        {0x10000, 16},
        {0x10008, 24},
        {0x10ff0, 16},
        {0x10ff0, 17},                          /* one byte of the next page */
        {0x10ff8, PAGE},                        /* no page is whole */
        {0x10000, PAGE},                        /* one is */
        {0x10010, 3 * PAGE},                    /* two are, and the last not */
        {REGION - 16, 32},                      /* two regions */
        {REGION - PAGE, 2 * REGION + 2 * PAGE}, /* four */
        {0x7ffffffff000 - 16, 16},              /* the highest a program has */
        {0, 64},                                /* the lowest */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct memory memory = {0};
        struct blocks *blocks = make(&memory);
        uint64_t start = cases[i].start, last = start + cases[i].size - 1;
        assert_int_equal(blocks_add(blocks, start, cases[i].size, 7), 0);
        assert_int_equal(owner_at(blocks, start), 7);
        assert_int_equal(owner_at(blocks, last), 7);
        assert_int_equal(owner_at(blocks, start + cases[i].size / 2), 7);
        assert_int_equal(owner_at(blocks, start - 1), NOBODY);
        assert_int_equal(owner_at(blocks, last + 1), NOBODY);
        struct block gone;
        assert_false(blocks_remove(blocks, start + 1, &gone));
        assert_true(blocks_remove(blocks, start, &gone));
        assert_int_equal(gone.start, start);
        assert_int_equal(gone.size, cases[i].size);
        assert_int_equal(gone.owner, 7);
        assert_int_equal(owner_at(blocks, start), NOBODY);
        assert_int_equal(owner_at(blocks, last), NOBODY);
        assert_false(blocks_remove(blocks, start, &gone));
        assert_int_equal(blocks_count(blocks), 0);
        discard(blocks, &memory);
    }
}

static void a_block_of_nothing_takes_a_byte(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct blocks *blocks = make(&memory);
    assert_int_equal(blocks_add(blocks, 0x2000, 0, 3), 0);
    assert_int_equal(owner_at(blocks, 0x2000), 3);
    assert_int_equal(owner_at(blocks, 0x2001), NOBODY);
    struct block gone;
    assert_true(blocks_remove(blocks, 0x2000, &gone));
    assert_int_equal(gone.size, 1);
    discard(blocks, &memory);
}

static void the_later_of_two_in_one_granule_replaces_the_earlier(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct blocks *blocks = make(&memory);
    struct block gone;
    assert_int_equal(blocks_add(blocks, 0x3000, 3 * PAGE, 1), 0);
    assert_int_equal(blocks_add(blocks, 0x3008, 8, 2), 0);
    assert_int_equal(blocks_count(blocks), 1);
    assert_int_equal(owner_at(blocks, 0x3000), NOBODY);
    assert_int_equal(owner_at(blocks, 0x3008), 2);
    assert_int_equal(owner_at(blocks, 0x3000 + 2 * PAGE), NOBODY);
    assert_false(blocks_remove(blocks, 0x3000, &gone));
    assert_true(blocks_remove(blocks, 0x3008, &gone));
    assert_int_equal(gone.owner, 2);
    discard(blocks, &memory);
}

/* The naive list. Blocks begin in a span of a few pages around the border of two regions;
 * `cover` says which block a page has from before, by the rule of the header. */
enum { SPAN = 12 * PAGE, LONGEST = 5 * PAGE, PAGES = (SPAN + LONGEST) / PAGE + 2 };
#define BASE (REGION - SPAN / 2)

struct model {
    struct {
        bool live;
        struct block block;
    } at[SPAN / GRANULE];
    const struct block *cover[PAGES];
    uint64_t count;
};

static void model_cover(struct model *model, const struct block *block, bool on)
{
    for (uint64_t page = (block->start - BASE) / PAGE + 1;
         BASE + page * PAGE < block->start + block->size; page++)
        if (on)
            model->cover[page] = block;
        else if (model->cover[page] == block)
            model->cover[page] = NULL;
}

static void model_remove(struct model *model, uint64_t slot)
{
    model_cover(model, &model->at[slot].block, false);
    model->at[slot].live = false;
    model->count--;
}

static void model_add(struct model *model, struct block block)
{
    uint64_t slot = (block.start - BASE) / GRANULE;
    if (model->at[slot].live)
        model_remove(model, slot);
    model->at[slot].live = true;
    model->at[slot].block = block;
    model_cover(model, &model->at[slot].block, true);
    model->count++;
}

static bool holds(const struct block *block, uint64_t address)
{
    return address >= block->start && address - block->start < block->size;
}

static const struct block *model_find(const struct model *model, uint64_t address)
{
    uint64_t page = (address - BASE) / PAGE, first = page * (PAGE / GRANULE);
    const struct block *found = NULL;
    for (uint64_t slot = first; slot < first + PAGE / GRANULE && slot < SPAN / GRANULE;
         slot++)
        if (model->at[slot].live && model->at[slot].block.start <= address)
            found = &model->at[slot].block;
    if (found && holds(found, address))
        return found;
    found = model->cover[page];
    return found && holds(found, address) ? found : NULL;
}

static uint64_t random_size(struct rng *rng)
{
    static const uint64_t most[] = {8, 64, 600, PAGE, LONGEST};
    return rng_below(rng, most[rng_below(rng, 5)]) + 1;
}

static void compare_at(struct blocks *blocks, const struct model *model, uint64_t address)
{
    const struct block *wanted = model_find(model, address);
    struct block got;
    assert_int_equal(blocks_find(blocks, address, &got), wanted != NULL);
    if (wanted) {
        assert_int_equal(got.owner, wanted->owner);
        assert_int_equal(got.start, wanted->start);
        assert_int_equal(got.size, wanted->size);
    }
}

static void compare_all(struct blocks *blocks, const struct model *model)
{
    assert_int_equal(blocks_count(blocks), model->count);
    for (uint64_t at = BASE; at < BASE + SPAN + LONGEST; at += 4)
        compare_at(blocks, model, at);
}

static void remove_first(struct blocks *blocks, struct model *model, struct rng *rng)
{
    uint64_t start = BASE + rng_below(rng, SPAN), end = start + random_size(rng);
    uint64_t slot = (start - BASE) / GRANULE;
    while (slot < SPAN / GRANULE &&
           (!model->at[slot].live || model->at[slot].block.start < start))
        slot++;
    bool there = slot < SPAN / GRANULE && model->at[slot].block.start < end;
    struct block gone;
    assert_int_equal(blocks_remove_first(blocks, start, end, &gone), there);
    if (!there)
        return;
    assert_int_equal(gone.start, model->at[slot].block.start);
    assert_int_equal(gone.owner, model->at[slot].block.owner);
    model_remove(model, slot);
}

/* One random step; `failing` of 10 additions run out of memory at some point. */
static void step(struct blocks *blocks, struct model *model, struct memory *memory,
                 struct rng *rng, uint32_t number, uint32_t failing)
{
    uint64_t start = BASE + rng_below(rng, SPAN / 8) * 8;
    uint64_t slot = (start - BASE) / GRANULE;
    struct block gone;
    if (rng_below(rng, 8) == 0) {
        remove_first(blocks, model, rng);
        return;
    }
    if (rng_below(rng, 3) == 0) {
        bool there = model->at[slot].live && model->at[slot].block.start == start;
        assert_int_equal(blocks_remove(blocks, start, &gone), there);
        if (!there)
            return;
        assert_int_equal(gone.owner, model->at[slot].block.owner);
        model_remove(model, slot);
        return;
    }
    struct block block = {start, random_size(rng), number};
    memory->fails_at = rng_below(rng, 10) < failing ? 1 + rng_below(rng, 3) : 0;
    if (blocks_add(blocks, block.start, block.size, block.owner) == 0)
        model_add(model, block);
    else
        assert_int_equal(memory->fails_at, 0); /* only then may it fail */
    memory->fails_at = 0;
}

static void play(uint64_t seed, uint32_t steps, uint32_t failing)
{
    struct rng rng = {seed};
    struct memory memory = {0};
    struct blocks *blocks = make(&memory);
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    for (uint32_t i = 0; i < steps; i++) {
        step(blocks, model, &memory, &rng, i, failing);
        compare_at(blocks, model, BASE + rng_below(&rng, SPAN + LONGEST));
    }
    compare_all(blocks, model);
    free(model);
    discard(blocks, &memory);
}

static void random_blocks_are_as_in_a_naive_list(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++)
        play(seed, 3000, 0);
}

/* Short sequences on fresh blocks, so that regions, pages and chunks are still to come and
 * each of them is the one that cannot be had. */
static void what_cannot_be_added_changes_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++)
        play(seed, 30, 8);
}

static void a_replacement_that_fails_leaves_the_earlier(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct blocks *blocks = make(&memory);
    uint64_t start = REGION - 2 * PAGE;
    assert_int_equal(blocks_add(blocks, start, 2 * PAGE, 1), 0);
    memory.fails_at = 1; /* the next region */
    assert_int_equal(blocks_add(blocks, start, 4 * PAGE, 2), -1);
    assert_int_equal(owner_at(blocks, start), 1);
    assert_int_equal(owner_at(blocks, start + PAGE), 1);
    assert_int_equal(blocks_count(blocks), 1);
    assert_int_equal(blocks_add(blocks, start, 4 * PAGE, 2), 0);
    assert_int_equal(owner_at(blocks, start + 3 * PAGE), 2);
    discard(blocks, &memory);
}

static void without_memory_there_are_no_blocks(void **state)
{
    (void)state;
    struct memory memory = {.fails_at = 1};
    const struct allocator allocator = {take, give, &memory};
    assert_null(blocks_create(&allocator));
    assert_int_equal(memory.out, 0);
    blocks_release(NULL);
}

/* A program may reserve more addresses than it has memory. */
static void blocks_may_be_huge_and_owners_may_not(void **state)
{
    (void)state;
    const uint64_t start = UINT64_C(1) << 40, size = (UINT64_C(33) << 30) + 5;
    struct memory memory = {0};
    struct blocks *blocks = make(&memory);
    struct block gone;
    assert_int_equal(blocks_add(blocks, start, size, BLOCKS_OWNERS - 1), 0);
    assert_int_equal(blocks_add(blocks, start + 2 * size, 16, BLOCKS_OWNERS), -1);
    assert_int_equal(blocks_count(blocks), 1);
    assert_int_equal(owner_at(blocks, start + size - 1), BLOCKS_OWNERS - 1);
    assert_int_equal(owner_at(blocks, start + size + PAGE), NOBODY);
    assert_true(blocks_remove(blocks, start, &gone));
    assert_true(gone.size >= size && gone.size < size + PAGE);
    assert_int_equal(owner_at(blocks, start + size / 2), NOBODY);
    discard(blocks, &memory);
}

/* The address of one of many blocks: 48 bytes each, some of them large. */
enum { MANY = 1300000 };

static uint64_t size_of(uint32_t i)
{
    return i % 1000 ? 40 : 10000;
}

static uint64_t address_of(uint32_t i)
{
    return UINT64_C(0x5000000000) + i * UINT64_C(48) + i / 1000 * UINT64_C(9984) +
           (i % 1000 ? 9984 : 0);
}

static void add_many(struct blocks *blocks)
{
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(blocks_add(blocks, address_of(i), size_of(i), i), 0);
    assert_int_equal(blocks_count(blocks), MANY);
}

static void more_than_a_million_are_found_without_more_memory(void **state)
{
    (void)state;
    struct memory memory = {0};
    struct blocks *blocks = make(&memory);
    add_many(blocks);
    size_t made = memory.made, bytes = memory.bytes;
    uint64_t pages = (address_of(MANY - 1) - address_of(0)) / PAGE;
    assert_true(made < pages + 200);
    assert_true(bytes < (pages + 1000) * 2200);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(owner_at(blocks, address_of(i) + size_of(i) - 1), i);
        assert_int_equal(owner_at(blocks, address_of(i) + size_of(i)), NOBODY);
    }
    /* What is taken out and put in again, in any order, takes no more either. */
    struct rng rng = {5};
    struct block gone;
    for (uint32_t n = 0; n < 200000; n++) {
        uint32_t i = (uint32_t)rng_below(&rng, MANY);
        assert_true(blocks_remove(blocks, address_of(i), &gone));
        assert_int_equal(gone.owner, i);
        assert_int_equal(blocks_add(blocks, address_of(i), size_of(i), i), 0);
    }
    assert_int_equal(memory.made, made);
    discard(blocks, &memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_has_its_bytes_and_no_others),
        cmocka_unit_test(a_block_of_nothing_takes_a_byte),
        cmocka_unit_test(the_later_of_two_in_one_granule_replaces_the_earlier),
        cmocka_unit_test(random_blocks_are_as_in_a_naive_list),
        cmocka_unit_test(what_cannot_be_added_changes_nothing),
        cmocka_unit_test(a_replacement_that_fails_leaves_the_earlier),
        cmocka_unit_test(without_memory_there_are_no_blocks),
        cmocka_unit_test(blocks_may_be_huge_and_owners_may_not),
        cmocka_unit_test(more_than_a_million_are_found_without_more_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
