/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loops whose misses can be counted by hand; record-exact.sh has the counts. Each runs
 * on empty caches, in a function of its own, and keeps to registers and its arrays: the
 * stack is not touched while it loops. Lines that access memory have a name for the test
 * to find them by. */
#include <strata/strata.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL static __attribute__((noinline)) long
#define PAGED  __attribute__((aligned(4096)))

enum { KB = 1024, LAPS = 10, PAGES = 64, FEW = 12, NODES = 1000, RECORDS = 500 };

struct wide {
    long key;
    char rest[184]; /* three lines each */
};

struct narrow {
    long key, other, more; /* 24 bytes */
};

struct node {
    struct node *next;
    char rest[120]; /* two lines each */
};

/* Not static: else the compiler knows what is in them. */
PAGED char bytes[64 * KB], strided[64 * KB], fits[4 * KB], nearly[5 * KB], large[8 * KB];
PAGED double rows[64][64], columns[64][64];
PAGED long left[512], right[512], added[8 * KB], filled[8 * KB];
PAGED struct wide wide[RECORDS];
PAGED struct narrow narrow[1024];
PAGED char straddled[16 * KB], paged[PAGES * 4 * KB], local[FEW * 4 * KB];

KERNEL sequential(const char *from, long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += from[i]; /* line: sequential */
    return sum;
}

KERNEL stride(const char *from, long n, long step)
{
    long sum = 0;
    for (long i = 0; i < n; i += step)
        sum += from[i]; /* line: stride */
    return sum;
}

KERNEL again(const char *from, long n, long laps)
{
    long sum = 0;
    for (; laps > 0; laps--)
        for (long i = 0; i < n; i += 8)
            sum += from[i]; /* line: again */
    return sum;
}

KERNEL by_rows(void)
{
    double sum = 0;
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++)
            sum += rows[i][j]; /* line: rows */
    return (long)sum;
}

KERNEL by_columns(void)
{
    double sum = 0;
    for (int j = 0; j < 64; j++)
        for (int i = 0; i < 64; i++)
            sum += columns[i][j]; /* line: columns */
    return (long)sum;
}

KERNEL conflict(void)
{
    long sum = 0;
    for (int i = 0; i < 512; i++) {
        sum += left[i];  /* line: left */
        sum ^= right[i]; /* line: right */
    }
    return sum;
}

KERNEL walk(const struct node *node)
{
    long n = 0;
    for (; node; node = node->next) /* line: walk */
        n++;
    return n;
}

KERNEL fill(long value)
{
    for (int i = 0; i < 8 * KB; i++) {
        __asm__ volatile("" ::: "memory"); /* so that it does not become a memset() */
        filled[i] = value;                 /* line: fill */
    }
    return value;
}

/* A load and a store by one instruction, where the processor has one. */
KERNEL add(long value)
{
    for (int i = 0; i < 8 * KB; i++) {
#ifdef __x86_64__
        __asm__ volatile("addq %1, %0" : "+m"(added[i]) : "r"(value)); /* line: add */
#else
        added[i] += value; /* line: add */
#endif
    }
    return value;
}

KERNEL keys_of_wide(void)
{
    long sum = 0;
    for (int i = 0; i < RECORDS; i++)
        sum += wide[i].key; /* line: wide */
    return sum;
}

KERNEL keys_of_narrow(void)
{
    long sum = 0;
    for (int i = 0; i < 1024; i++)
        sum += narrow[i].key; /* line: narrow */
    return sum;
}

/* Eight bytes, four of them in one line and four in the next. */
typedef long unaligned __attribute__((aligned(1), may_alias));

KERNEL straddle(long n, long step)
{
    long sum = 0;
    for (const char *at = straddled + 60; n > 0; n--, at += step)
        sum += *(const unaligned *)at; /* line: straddle */
    return sum;
}

/* A byte of each page, in another line of each. */
KERNEL pages(const char *from, long n, long laps)
{
    long sum = 0;
    for (; laps > 0; laps--)
        for (long i = 0; i < n; i++)
            sum += from[i * 4096 + i % 64 * 64]; /* line: pages */
    return sum;
}

KERNEL heap_longs(const long *from, long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += from[i]; /* line: heap */
    return sum;
}

static __attribute__((noinline)) struct node *make_list(void)
{
    struct node *pool = aligned_alloc(4096, NODES * sizeof *pool);
    if (!pool)
        exit(1);
    /* 7 has no factor in common with 1000, so every node comes once. */
    for (int i = 0; i < NODES; i++)
        pool[i * 7 % NODES].next = i + 1 < NODES ? &pool[(i + 1) * 7 % NODES] : NULL;
    return pool;
}

static __attribute__((noinline)) long *make_longs(size_t n)
{
    long *longs = malloc(n * sizeof *longs); /* large: 16 bytes behind a page */
    if (!longs || (uintptr_t)longs % 64 != 16)
        exit(1);
    memset(longs, 0, n * sizeof *longs);
    return longs;
}

#define MEASURE(call)                                                                      \
    do {                                                                                   \
        vpmu_flush();                                                                      \
        strata_start();                                                                    \
        sum += call;                                                                       \
        strata_stop();                                                                     \
    } while (0)

int main(void)
{
    struct node *list = make_list();
    long *longs = make_longs(32 * KB), sum = 0;
    MEASURE(sequential(bytes, sizeof bytes));
    MEASURE(stride(strided, sizeof strided, 256));
    MEASURE(again(fits, sizeof fits, LAPS));
    MEASURE(again(nearly, sizeof nearly, LAPS));
    MEASURE(again(large, sizeof large, LAPS));
    MEASURE(by_rows());
    MEASURE(by_columns());
    MEASURE(conflict());
    MEASURE(walk(list));
    MEASURE(fill(0));
    MEASURE(add(0));
    MEASURE(keys_of_wide());
    MEASURE(keys_of_narrow());
    MEASURE(straddle(100, 64));
    MEASURE(straddle(50, 128));
    MEASURE(pages(paged, PAGES, LAPS));
    MEASURE(pages(local, FEW, LAPS));
    MEASURE(heap_longs(longs, 32 * KB));
    free(longs);
    free(list);
    printf("%ld\n", sum);
    return 0;
}
