/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The virtual PMU: performance counters of the simulated machine on which a program runs
 * under `strata record` or `strata stat --source sim`.
 *
 *     struct vpmu_sample sample;
 *     if (vpmu_open(0, VPMU_CACHE_MISSES(1), 1000) == 0)      1 in 1000 misses of level 1
 *         work();
 *     uint64_t misses;
 *     vpmu_read(0, &misses);
 *     while (vpmu_next_sample(0, &sample) == 0)
 *         printf("%#lx\n", (unsigned long)sample.address);
 *
 * Outside, every call returns VPMU_NOT_AVAILABLE and costs a few instructions. This header
 * is all that a program needs: nothing is linked.
 *
 * Counters count the whole process, all threads, from vpmu_open() to vpmu_close(). On
 * overflow of a counter with a period the virtual PMU takes a sample: its registers hold
 * the addresses and the latency of the event. It keeps the last VPMU_SAMPLES of each
 * counter until they are read. */
#ifndef STRATA_VPMU_H
#define STRATA_VPMU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    VPMU_COUNTERS = 32,
    VPMU_SAMPLES = 4096,
    VPMU_NOT_AVAILABLE = -1, /* the program does not run on a simulated machine */
    VPMU_NO_EVENT = -2,      /* this machine has no such event, level or counter */
    VPMU_EMPTY = -3          /* no sample is waiting */
};

/* Events. Those with a level count from 1, the nearest. */
enum {
    VPMU_INSTRUCTIONS,
    VPMU_CYCLES, /* virtual: an instruction takes one, plus waiting */
    VPMU_LOADS,
    VPMU_STORES,
    VPMU_FETCHES,        /* only where fetches are simulated */
    VPMU_WALKS,          /* page walks */
    VPMU_CONDITIONAL,    /* branches: only where they are counted */
    VPMU_TAKEN,          /* conditional ones that were */
    VPMU_JUMPS,          /* direct, not conditional */
    VPMU_INDIRECT_JUMPS, /* through a register */
    VPMU_CALLS,
    VPMU_RETURNS,
    VPMU_MISPREDICTED,
    VPMU_MISPREDICTED_INDIRECT, /* of these, jumps and calls through a register */
    VPMU_MISPREDICTED_RETURNS,
    VPMU_INDIRECT_CALLS, /* of the calls */
    /* Executed behind a wrong guess and thrown away; in none of the counts above. */
    VPMU_SHADOW_CONDITIONAL,
    VPMU_SHADOW_TAKEN,
    VPMU_SHADOW_JUMPS,
    VPMU_SHADOW_INDIRECT_JUMPS,
    VPMU_SHADOW_CALLS,
    VPMU_SHADOW_RETURNS,
    VPMU_SHADOW_INSTRUCTIONS
};
#define VPMU_CACHE_HITS(level)       (0x100 + (level))
#define VPMU_CACHE_MISSES(level)     (0x200 + (level))
#define VPMU_CACHE_PREFETCHES(level) (0x300 + (level))
#define VPMU_CACHE_EVICTIONS(level)  (0x400 + (level))
#define VPMU_TLB_HITS(level)         (0x500 + (level))
#define VPMU_TLB_MISSES(level)       (0x600 + (level))

/* What the registers held at an overflow. An address is 0 where there is none. */
struct vpmu_sample {
    uint64_t address;     /* of the data */
    uint64_t instruction; /* that accessed it */
    uint64_t evicted;     /* address of the line that it displaced */
    uint64_t latency;     /* cycles */
};

/* Requests; the numbers are part of the interface of the tool. */
enum {
    VPMU_REQUEST = ('S' << 24) | ('T' << 16),
    VPMU_REQUEST_OPEN = VPMU_REQUEST,
    VPMU_REQUEST_CLOSE,
    VPMU_REQUEST_READ,
    VPMU_REQUEST_SAMPLE,
    VPMU_REQUEST_START,
    VPMU_REQUEST_STOP,
    VPMU_REQUEST_NAME,
    VPMU_REQUEST_FORGET,
    VPMU_REQUEST_FLUSH,
    VPMU_REQUEST_TOTALS /* of strata itself: all totals at once, as src/profile/raw.h has */
};

/* Asks the tool; `otherwise` is the answer where there is none. The instructions do
 * nothing on a real processor. */
static inline long vpmu_request(long otherwise, unsigned long request, unsigned long a,
                                unsigned long b, unsigned long c)
{
    volatile unsigned long arguments[6] = {request, a, b, c, 0, 0};
    long result = otherwise;
#if defined(__x86_64__) && defined(__linux__)
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(result)
                     : "a"(&arguments[0])
                     : "cc", "memory");
#elif defined(__aarch64__) && defined(__linux__)
    register volatile unsigned long *block __asm__("x4") = arguments;
    register long answer __asm__("x3") = result;
    __asm__ volatile("ror x12, x12, #3; ror x12, x12, #13\n\t"
                     "ror x12, x12, #51; ror x12, x12, #61\n\t"
                     "orr x10, x10, x10"
                     : "+r"(answer)
                     : "r"(block)
                     : "cc", "memory");
    result = answer;
#else
    (void)arguments;
#endif
    return result;
}

/* Counts an event from now on; a period above 0 takes a sample for every so many, at
 * random distances with that mean. */
static inline int vpmu_open(unsigned counter, unsigned event, unsigned long period)
{
    return (int)vpmu_request(VPMU_NOT_AVAILABLE, VPMU_REQUEST_OPEN, counter, event, period);
}

static inline int vpmu_close(unsigned counter)
{
    return (int)vpmu_request(VPMU_NOT_AVAILABLE, VPMU_REQUEST_CLOSE, counter, 0, 0);
}

static inline int vpmu_read(unsigned counter, uint64_t *count)
{
    return (int)vpmu_request(VPMU_NOT_AVAILABLE, VPMU_REQUEST_READ, counter,
                             (unsigned long)count, 0);
}

/* Takes the oldest sample that waits. */
static inline int vpmu_next_sample(unsigned counter, struct vpmu_sample *sample)
{
    return (int)vpmu_request(VPMU_NOT_AVAILABLE, VPMU_REQUEST_SAMPLE, counter,
                             (unsigned long)sample, 0);
}

/* Empties the caches and TLBs of the simulated machine. */
static inline int vpmu_flush(void)
{
    return (int)vpmu_request(VPMU_NOT_AVAILABLE, VPMU_REQUEST_FLUSH, 0, 0, 0);
}

#ifdef __cplusplus
}
#endif
#endif
