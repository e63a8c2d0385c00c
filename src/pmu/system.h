/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the counters need of the system, as a table of functions, so that tests can stand
 * in for a kernel that refuses, and for the trees /proc and /sys of another machine. */
#ifndef PMU_SYSTEM_H
#define PMU_SYSTEM_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PMU_WHY = 240 };

/* Gives the code of an event by its name: of the PMU that the name names ("skl::X"), or
 * `pmu`. 0, or -1 and why. `present`: only PMUs of this processor. */
typedef int pmu_namer(const char *pmu, const char *name, bool present,
                      struct perf_event_attr *attr, char why[PMU_WHY]);

struct pmu_system {
    /* perf_event_open(2): a descriptor, or -1 and errno. */
    int (*open)(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
                unsigned long flags);
    pmu_namer *names;        /* NULL: names of PMUs are not known */
    const char *root;        /* before every path in /proc, /sys and /dev; "" here */
    bool (*may_count)(void); /* this process has CAP_PERFMON or CAP_SYS_ADMIN, and not in a
                                user namespace only */
};

/* The real one, with the names of libpfm4. */
extern const struct pmu_system pmu_system_here;

/* The same without names: the kernel's own events and codes, for which no library is
 * needed. */
extern const struct pmu_system pmu_system_codes;

/* Its parts. */
int pmu_system_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
                    unsigned long flags);
bool pmu_system_may_count(void);

/* Many events on many processors are more than the usual 1024 files: raises the limit of
 * this process as far as it may, and returns it. */
size_t pmu_raise_file_limit(void);

#endif
