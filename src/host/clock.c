/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The clock of this machine. */
#include "host/clock.h"

#include <math.h>
#include <stdint.h>
#include <time.h>

double clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double clock_thread_ns(void)
{
#ifdef CLOCK_THREAD_CPUTIME_ID
    struct timespec t;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0)
        return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
#endif
    return clock_ns();
}

double clock_tick_ns(void)
{
    double tick = INFINITY;
    for (int i = 0; i < 200; i++) {
        double start = clock_ns(), now;
        do {
            now = clock_ns();
        } while (now == start);
        tick = fmin(tick, now - start);
    }
    return tick;
}

/* One add a cycle on every processor known: a chain through a register that the compiler
 * can neither fold nor unroll away. The addend is opaque, too, because processors that
 * add constants while renaming registers do that in no time. */
static double add_chain(uint32_t adds)
{
    uint64_t x = 0, y = 3;
    __asm__ volatile("" : "+r"(x), "+r"(y));
    double start = clock_ns();
    for (uint32_t i = 0; i < adds; i += 16) {
#define ADD                                                                                \
    x += y;                                                                                \
    __asm__ volatile("" : "+r"(x));
        ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD
#undef ADD
    }
    return (clock_ns() - start) / adds;
}

/* All else is told in these: one that is too long makes every latency too short. A program
 * that shares the core may slow it down for some milliseconds, so it is looked at for
 * longer.
 */
double clock_add_ns(void)
{
    const double while_ns = 60e6;
    double best = INFINITY, start = clock_ns();
    for (int i = 0; i < 8 || clock_ns() - start < while_ns; i++)
        best = fmin(best, add_chain(1 << 17));
    return best;
}

void clock_warm_up(void)
{
    for (double start = clock_ns(); clock_ns() - start < 20e6;)
        add_chain(1 << 16);
}
