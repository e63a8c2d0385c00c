/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The virtual PMU, for vpmu.sh: prints what is counted in loops of known length. A count
 * is the difference of a long loop and one of half its length, so that what the requests
 * themselves do is not in it. */
#include <strata/strata.h>
#include <strata/vpmu.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define APART __attribute__((noinline))

enum { LINES = 1024, LINE = 64, SIZE = LINES * LINE, STEPS = 1000 };

__attribute__((aligned(4096))) char work[SIZE];

static APART void scan(long lines)
{
    for (long i = 0; i < lines; i++)
        *(volatile char *)(work + i % LINES * LINE);
}

#ifdef __x86_64__
/* Five instructions a turn: a load, a store, an addition, and the loop. */
static APART void simple(long n)
{
    __asm__ volatile("1: movq (%1), %%rax\n\t"
                     "movq %%rax, 8(%1)\n\t"
                     "addq $1, %%rax\n\t"
                     "decq %0\n\t"
                     "jnz 1b"
                     : "+r"(n)
                     : "r"(work)
                     : "rax", "cc", "memory");
}

/* Three: one that loads and stores is one access, a load. */
static APART void modify(long n)
{
    __asm__ volatile("1: addq $1, (%1)\n\t"
                     "decq %0\n\t"
                     "jnz 1b"
                     : "+r"(n)
                     : "r"(work)
                     : "cc", "memory");
}

/* Four: so are those that lock it, and exchanges. */
static APART void locked(long n)
{
    __asm__ volatile("1: lock addq $1, (%1)\n\t"
                     "xchgq %%rax, 8(%1)\n\t"
                     "decq %0\n\t"
                     "jnz 1b"
                     : "+r"(n)
                     : "r"(work)
                     : "rax", "cc", "memory");
}

/* Four: a call, its return, and the loop. */
static APART void calls(long n)
{
    __asm__ volatile("subq $128, %%rsp\n\t"
                     "jmp 1f\n"
                     "2: ret\n"
                     "1: call 2b\n\t"
                     "decq %0\n\t"
                     "jnz 1b\n\t"
                     "addq $128, %%rsp"
                     : "+r"(n)
                     :
                     : "cc", "memory");
}

/* Five: a jump over an instruction, one to an address in a register, and the loop. */
static APART void jumps(long n)
{
    __asm__ volatile("leaq 3f(%%rip), %%rax\n"
                     "1: jmp 2f\n\t"
                     "nop\n"
                     "2: jmp *%%rax\n\t"
                     "nop\n"
                     "3: nop\n\t"
                     "decq %0\n\t"
                     "jnz 1b"
                     : "+r"(n)
                     :
                     : "rax", "cc");
}

/* Four or five: a branch that goes the other way each time, skipping one, and the loop. */
static APART void alternate(long n)
{
    __asm__ volatile("1: testq $1, %0\n\t"
                     "jz 2f\n\t"
                     "nop\n"
                     "2: decq %0\n\t"
                     "jnz 1b"
                     : "+r"(n)
                     :
                     : "cc");
}
#endif

static uint64_t count(unsigned event, void (*loop)(long), long n)
{
    uint64_t result = 0;
    loop(n); /* so that predictors and code are as warm the first time */
    vpmu_flush();
    if (vpmu_open(0, event, 0))
        return UINT64_MAX;
    loop(n);
    vpmu_read(0, &result);
    vpmu_close(0);
    return result;
}

static void print(const char *name, unsigned event, void (*loop)(long), long n)
{
    uint64_t twice = count(event, loop, 2 * n), once = count(event, loop, n);
    if (twice == UINT64_MAX)
        printf("%s: no such event\n", name);
    else
        printf("%s: %ld\n", name, (long)(twice - once));
}

static const struct {
    const char *name;
    unsigned event;
} events[] = {
    {"instructions", VPMU_INSTRUCTIONS},
    {"cycles", VPMU_CYCLES},
    {"loads", VPMU_LOADS},
    {"stores", VPMU_STORES},
    {"conditional", VPMU_CONDITIONAL},
    {"taken", VPMU_TAKEN},
    {"jumps", VPMU_JUMPS},
    {"indirect", VPMU_INDIRECT_JUMPS},
    {"calls", VPMU_CALLS},
    {"returns", VPMU_RETURNS},
    {"mispredicted", VPMU_MISPREDICTED},
};

static void print_all(const char *name, void (*loop)(long))
{
    char both[80];
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        snprintf(both, sizeof both, "%s %s", name, events[i].name);
        print(both, events[i].event, loop, STEPS);
    }
}

static void loops(void)
{
#ifdef __x86_64__
    print_all("simple", simple);
    print_all("modify", modify);
    print_all("locked", locked);
    print_all("calls", calls);
    print_all("jumps", jumps);
    print_all("alternate", alternate);
#endif
}

static long waits(long lines)
{
    return (long)(count(VPMU_CYCLES, scan, lines) - count(VPMU_INSTRUCTIONS, scan, lines));
}

/* Up to half of what the second level and the TLB hold, so that they keep the stack. */
static void caches(void)
{
    enum { N = LINES / 4 };
    print("misses 1", VPMU_CACHE_MISSES(1), scan, N);
    print("misses 2", VPMU_CACHE_MISSES(2), scan, N);
    print("misses 3", VPMU_CACHE_MISSES(3), scan, N);
    print("evictions 1", VPMU_CACHE_EVICTIONS(1), scan, N);
    print("prefetches 1", VPMU_CACHE_PREFETCHES(1), scan, N);
    print("tlb misses 1", VPMU_TLB_MISSES(1), scan, N);
    print("tlb hits 1", VPMU_TLB_HITS(1), scan, N);
    print("walks", VPMU_WALKS, scan, N);
    print("loads", VPMU_LOADS, scan, N);
    print("fetches", VPMU_FETCHES, scan, N);
    printf("cycles of waiting: %ld\n", waits(2 * N) - waits(N));
    /* All of it, and then again: the second level has it. */
    print("again 1", VPMU_CACHE_MISSES(1), scan, LINES);
    print("again 2", VPMU_CACHE_MISSES(2), scan, LINES);
    print("again hits 2", VPMU_CACHE_HITS(2), scan, LINES);
}

static bool in_work(uint64_t address)
{
    return address - (uint64_t)work < SIZE;
}

/* Samples of misses at a period: how many are of the array, and whether all that is known
 * of each is so. `evicted` is how far behind a line is the one that it displaces. */
static void samples(unsigned long period, long laps, uint64_t evicted)
{
    struct vpmu_sample sample;
    long n = 0, others = 0, bad_latency = 0, bad_place = 0, bad_victim = 0, order = 0;
    uint64_t last = 0, misses = 0;
    vpmu_flush();
    vpmu_open(1, VPMU_CACHE_MISSES(1), period);
    scan(laps * LINES);
    vpmu_read(1, &misses);
    while (vpmu_next_sample(1, &sample) == 0) {
        if (!in_work(sample.address)) {
            others++;
            continue;
        }
        uint64_t at = sample.address - (uint64_t)work;
        uint64_t victim = (at + SIZE - evicted) % SIZE;
        order += n > 0 && at != (last + LINE) % SIZE;
        bad_latency += sample.latency != 100;
        bad_place += sample.instruction - (uint64_t)scan > 64;
        bad_victim += sample.evicted - (uint64_t)work != victim;
        last = at;
        n++;
    }
    printf("period %lu: %lu misses, %ld samples, %ld of others, wrong: %ld latency, "
           "%ld instruction, %ld evicted; %ld not in order\n",
           period, (unsigned long)misses, n, others, bad_latency, bad_place, bad_victim,
           order);
    vpmu_close(1);
}

/* Samples of events that have no address. */
static void plain_samples(const char *name, unsigned event, unsigned long period)
{
    struct vpmu_sample sample;
    uint64_t n = 0, total = 0;
    vpmu_open(2, event, period);
    scan(50 * LINES);
    vpmu_read(2, &total);
    while (vpmu_next_sample(2, &sample) == 0)
        n++;
    vpmu_close(2);
    printf("%s: %lu events, %lu samples\n", name, (unsigned long)total, (unsigned long)n);
}

static void wrong(void)
{
    struct vpmu_sample sample;
    uint64_t n;
    printf("counter 32: %d\n", vpmu_open(VPMU_COUNTERS, VPMU_LOADS, 0));
    printf("event 99: %d\n", vpmu_open(3, 99, 0));
    printf("level 0: %d\n", vpmu_open(3, VPMU_CACHE_MISSES(0), 0));
    printf("read of none: %d\n", vpmu_read(3, &n));
    printf("close of none: %d\n", vpmu_close(3));
    printf("sample of none: %d\n", vpmu_next_sample(3, &sample));
    printf("open: %d\n", vpmu_open(3, VPMU_LOADS, 0));
    printf("sample without a period: %d\n", vpmu_next_sample(3, &sample));
    printf("open anew: %d\n", vpmu_open(3, VPMU_STORES, 1000000000));
    printf("no sample yet: %d\n", vpmu_next_sample(3, &sample));
    printf("close: %d\n", vpmu_close(3));
    printf("closed: %d\n", vpmu_read(3, &n));
    printf("flush: %d\n", vpmu_flush());
}

int main(int n, char **arguments)
{
    const char *what = n > 1 ? arguments[1] : "";
    if (!strcmp(what, "loops"))
        loops();
    else if (!strcmp(what, "caches"))
        caches();
    else if (!strcmp(what, "samples")) {
        samples(1, 2, 4096);
        samples(100, 10, 4096);
        plain_samples("loads", VPMU_LOADS, 1000);
        plain_samples("instructions", VPMU_INSTRUCTIONS, 2000);
        plain_samples("cycles", VPMU_CYCLES, 50000);
    } else
        wrong();
    strata_name(work, SIZE, "work");
    strata_forget(work);
    free(strata_malloc_named(10, "block"));
    return 0;
}
