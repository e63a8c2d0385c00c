/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The clock of this machine. POSIX. */
#ifndef HOST_CLOCK_H
#define HOST_CLOCK_H

/* Nanoseconds of a clock that never goes back. */
double clock_ns(void);

/* Nanoseconds of processor time that this thread has had; those of clock_ns() where the
 * system does not tell. */
double clock_thread_ns(void);

/* The clock's resolution as a program sees it: the smallest step between two readings. */
double clock_tick_ns(void);

/* Nanoseconds of one dependent integer add, the minimum over several runs. The first call
 * on a processor should be preceded by clock_warm_up(). */
double clock_add_ns(void);

/* Computes for about 20 ms, so that the processor reaches its working frequency. */
void clock_warm_up(void);

#endif
