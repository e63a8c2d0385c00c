/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The processors of this machine, and which of them a thread runs on. */
#ifndef HOST_PROCESSORS_H
#define HOST_PROCESSORS_H

#include <stdbool.h>

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

/* Whether two processors are of the same kind, by what the kernel says of their caches,
 * capacity and frequency under `root` ("" here). What it does not say, they have in common.
 */
bool processors_alike(const char *root, int a, int b);

/* Pins this thread, which is pinned to `cpu`, to another processor of the same kind that is
 * idle. Returns which, or -1 if there is none: then it stays where it was. */
int pin_elsewhere(int cpu, const struct affinity *before);

#endif
