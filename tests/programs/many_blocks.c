/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The instructions that it takes to find a block among a thousand and among 1.3 million
 * (src/attrib/blocks.c), counted by the virtual PMU. For vpmu.sh. */
#include "attrib/blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <strata/vpmu.h>

enum { FEW = 1000, MANY = 1300000, FINDS = 1000, APART = 48 };
#define BASE UINT64_C(0x5000000000)

static void *take(void *context, size_t size)
{
    (void)context;
    return malloc(size);
}

static void give(void *context, void *block)
{
    (void)context;
    free(block);
}

/* Finds blocks all over, and takes one out and puts it in again. */
static void use(struct blocks *blocks, uint64_t n, uint64_t *finds, uint64_t *changes)
{
    struct block gone;
    vpmu_open(0, VPMU_INSTRUCTIONS, 0);
    for (uint64_t i = 0; i < FINDS; i++)
        if (!blocks_find(blocks, BASE + i * 7919 % n * APART + 30, &gone))
            exit(1);
    vpmu_read(0, finds);
    vpmu_open(0, VPMU_INSTRUCTIONS, 0);
    for (uint64_t i = 0; i < FINDS; i++) {
        uint64_t start = BASE + i * 7919 % n * APART;
        if (!blocks_remove(blocks, start, &gone) || blocks_add(blocks, start, 40, 1))
            exit(1);
    }
    vpmu_read(0, changes);
}

int main(void)
{
    const struct allocator allocator = {take, give, NULL};
    struct blocks *blocks = blocks_create(&allocator);
    uint64_t few[2] = {0}, many[2] = {0};
    for (uint64_t i = 0; blocks && i < MANY; i++) {
        if (blocks_add(blocks, BASE + i * APART, 40, 1))
            return 1;
        if (i + 1 == FEW)
            use(blocks, FEW, &few[0], &few[1]);
    }
    use(blocks, MANY, &many[0], &many[1]);
    blocks_release(blocks);
    printf("find %lu %lu\nchange %lu %lu\n", (unsigned long)few[0], (unsigned long)many[0],
           (unsigned long)few[1], (unsigned long)many[1]);
    return 0;
}
