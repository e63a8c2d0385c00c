/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program with an allocator of its own: its blocks are objects like all others. For
 * record-names.sh. */
#include <strata/strata.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define APART __attribute__((noinline))
#define STAY  __asm__ volatile("" ::: "memory")

static _Alignas(64) char pool[1 << 20];
static size_t used;

APART void *malloc(size_t size)
{
    size_t at = used;
    used += (size + 127) / 128 * 128;
    return used <= sizeof pool ? pool + at + 64 : NULL;
}

APART void free(void *block)
{
    STAY;
    (void)block;
}

APART void *calloc(size_t n, size_t size)
{
    return memset(malloc(n * size), 0, n * size);
}

APART void *realloc(void *block, size_t size)
{
    void *larger = malloc(size);
    return block ? memcpy(larger, block, size) : larger;
}

static APART long touch(const volatile char *bytes, size_t size)
{
    long sum = 0;
    for (size_t i = 0; i < size; i += 64)
        sum += bytes[i];
    return sum;
}

static APART char *make_first(void)
{
    char *block = malloc(6400);
    STAY;
    return block;
}

static APART char *make_second(void)
{
    char *block = malloc(12800);
    STAY;
    return block;
}

int main(void)
{
    char *first = make_first(), *second = make_second();
    vpmu_flush();
    strata_start();
    touch(first, 6400);
    touch(second, 12800);
    strata_stop();
    free(first);
    free(second);
    puts("done");
    return 0;
}
