/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The clock of this machine, and its processors. */
#include "host/clock.h"

#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

double clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
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

double clock_add_ns(void)
{
    double best = INFINITY;
    for (int i = 0; i < 8; i++)
        best = fmin(best, add_chain(1 << 17));
    return best;
}

void clock_warm_up(void)
{
    for (double start = clock_ns(); clock_ns() - start < 20e6;)
        add_chain(1 << 16);
}

long thread_preemptions(void)
{
    struct rusage usage;
#ifdef RUSAGE_THREAD
    if (getrusage(RUSAGE_THREAD, &usage) == 0)
        return usage.ru_nivcsw;
#endif
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

#ifdef __linux__
static int pin_to(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set);
}

/* Share of 10 ms that somebody else had this processor. A reading that comes later than
 * 20 us after the last one means that something came between. */
static double time_lost(void)
{
    double start = clock_ns(), last = start, lost = 0, now;
    do {
        now = clock_ns();
        if (now - last > 20e3)
            lost += now - last;
        last = now;
    } while (now - start < 10e6);
    return lost / (now - start);
}

_Static_assert(sizeof(cpu_set_t) <= sizeof((struct affinity *)0)->set, "room for a set");

void unpin_thread(const struct affinity *before)
{
    if (before->known) /* it was allowed before */
        sched_setaffinity(0, sizeof(cpu_set_t),
                          (const cpu_set_t *)(const void *)before->set);
}

int pin_thread(int cpu, struct affinity *before)
{
    cpu_set_t allowed;
    double least = INFINITY;
    int quietest = -1;
    before->known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    if (before->known)
        memcpy(before->set, &allowed, sizeof allowed);
    if (cpu >= 0)
        return cpu < CPU_SETSIZE && pin_to(cpu) == 0 ? cpu : -1;
    if (!before->known)
        return -1;
    /* From the last to the first, because interrupts prefer the first; of a large machine
     * sixteen are enough. */
    for (int i = CPU_SETSIZE - 1, tried = 0; i >= 0 && tried < 16; i--) {
        if (!CPU_ISSET(i, &allowed) || pin_to(i))
            continue;
        tried++;
        double lost = time_lost();
        if (lost < least) {
            least = lost;
            quietest = i;
        }
    }
    return quietest >= 0 && pin_to(quietest) == 0 ? quietest : -1;
}
#else
void unpin_thread(const struct affinity *before)
{
    (void)before;
}

int pin_thread(int cpu, struct affinity *before)
{
    (void)cpu;
    before->known = false;
    return -1;
}
#endif
