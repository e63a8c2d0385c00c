/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The processors of this machine. */
#include "host/processors.h"

#include "host/clock.h"
#include "host/facts.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define IDLE 0.05 /* of the time of an idle processor is lost at the most */

enum { TRIED = 16 }; /* processors that are looked at: enough of a large machine */

/* What the kernel says of a processor; empty if nothing. */
static void read_trait(const char *root, int cpu, const char *name, char *text, size_t size)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, name);
    if (facts_read_line(root, path, text, size))
        *text = '\0';
}

bool processors_alike(const char *root, int a, int b)
{
    static const char *const traits[] = {
        "cpu_capacity",      "cpufreq/cpuinfo_max_freq",
        "cache/index0/size", "cache/index0/ways_of_associativity",
        "cache/index1/size", "cache/index1/ways_of_associativity",
        "cache/index2/size", "cache/index2/ways_of_associativity",
        "cache/index3/size", "cache/index3/ways_of_associativity",
    };
    char of_a[64], of_b[64];
    for (size_t i = 0; i < sizeof traits / sizeof *traits; i++) {
        read_trait(root, a, traits[i], of_a, sizeof of_a);
        read_trait(root, b, traits[i], of_b, sizeof of_b);
        if (strcmp(of_a, of_b) != 0)
            return false;
    }
    return true;
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
    /* From the last to the first, because interrupts prefer the first. */
    for (int i = CPU_SETSIZE - 1, tried = 0; i >= 0 && tried < TRIED; i--) {
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

int pin_elsewhere(int cpu, const struct affinity *before)
{
    cpu_set_t allowed;
    memcpy(&allowed, before->set, sizeof allowed);
    for (int i = CPU_SETSIZE - 1, tried = 0; before->known && i >= 0 && tried < TRIED;
         i--) {
        if (i == cpu || !CPU_ISSET(i, &allowed) || !processors_alike("", cpu, i) ||
            pin_to(i))
            continue;
        if (time_lost() < IDLE)
            return i;
        tried++;
    }
    if (before->known)
        pin_to(cpu); /* where it was allowed to be before */
    return -1;
}
#else
int pin_elsewhere(int cpu, const struct affinity *before)
{
    (void)cpu;
    (void)before;
    return -1;
}

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
