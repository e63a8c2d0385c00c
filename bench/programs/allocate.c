/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Twenty million blocks are allocated and freed, a third each with 1,000, 10,000 and
 * 100,000 of them alive, from three places in the code. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 100000, BLOCKS = 20000000 };

static unsigned char *live[MOST];

static void *small(uint32_t i)
{
    return malloc(16 + i % 5 * 8);
}

static void *medium(uint32_t i)
{
    return malloc(64 + i % 13 * 24);
}

static void *large(uint32_t i)
{
    return malloc(400 + i % 7 * 100);
}

static void *get(uint32_t i)
{
    return i % 16 == 0 ? large(i) : i % 4 == 0 ? medium(i) : small(i);
}

int main(void)
{
    uint32_t seed = 1, alive = 1000;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        if (i % (BLOCKS / 3 + 1) == 0)
            alive = i == 0 ? 1000 : alive * 10;
        seed = seed * 1664525u + 1013904223u;
        uint32_t at = (uint32_t)((uint64_t)seed * alive >> 32);
        free(live[at]);
        live[at] = get(i);
        if (!live[at])
            return 1;
        live[at][0] = (unsigned char)i;
        sum += live[at][0];
    }
    printf("%lu\n", (unsigned long)sum);
    return 0;
}
