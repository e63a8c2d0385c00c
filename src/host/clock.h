/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The clock of this machine, and its processors. POSIX, but for pinning. */
#ifndef HOST_CLOCK_H
#define HOST_CLOCK_H

#include <stdbool.h>

/* Nanoseconds of a clock that never goes back. */
double clock_ns(void);

/* The clock's resolution as a program sees it: the smallest step between two readings. */
double clock_tick_ns(void);

/* Nanoseconds of one dependent integer add, the minimum over several runs. The first call
 * on a processor should be preceded by clock_warm_up(). */
double clock_add_ns(void);

/* Computes for about 20 ms, so that the processor reaches its working frequency. */
void clock_warm_up(void);

/* Times that this thread lost its processor to another one. */
long thread_preemptions(void);

/* Where a thread may run. */
struct affinity {
    bool known;
    unsigned char set[128];
};

/* Pins this thread to a processor: `cpu`, or if negative the quietest of those allowed.
 * Returns the processor, or -1 if pinning is refused (the thread then runs anywhere).
 * *before is for unpin_thread(). */
int pin_thread(int cpu, struct affinity *before);
void unpin_thread(const struct affinity *before);

#endif
