/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Why an event could not be opened, in words: which setting, which capability. */
#include "pmu/pmu.h"

#include "host/facts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *pmu_state_name(enum pmu_state state)
{
    static const char *const names[] = {[PMU_COUNTED] = "counted",
                                        [PMU_UNKNOWN] = "unknown here",
                                        [PMU_DENIED] = "denied",
                                        [PMU_REFUSED] = "refused by the kernel",
                                        [PMU_NEVER_SCHEDULED] = "never scheduled",
                                        [PMU_NEVER_MOVED] = "never moved"};
    return names[state];
}

/* The highest perf_event_paranoid at which a user without CAP_PERFMON may do that. */
static int allowed_at(bool kernel, bool wide)
{
    return wide ? 0 : kernel ? 1 : 2;
}

/* From 3 on, kernels of some distributions let only root count; others go on as at 2. That
 * is known when counting a program of one's own, without the kernel, was denied. */
static const char *level_means(int64_t level, int needed)
{
    return level >= 3 && needed == 2 ? "only root may count"
           : level >= 3 ? "users may count at the most their own programs, without the "
                          "kernel"
           : level == 2 ? "users may count only their own programs, without the kernel"
           : level == 1 ? "users may count only their own programs"
                        : "raw tracepoints are for root";
}

static void explain_denied(const struct pmu_system *system, const char *name, bool kernel,
                           bool wide, char why[PMU_WHY])
{
    int64_t level;
    int needed = allowed_at(kernel, wide);
    bool known = facts_read_number(system->root, "/proc/sys/kernel/perf_event_paranoid",
                                   &level) == 0;
    if (!known)
        snprintf(why, PMU_WHY, "denied (%s): the kernel does not say why", name);
    else if (!system->may_count() && level > needed)
        snprintf(why, PMU_WHY,
                 "denied (%s): perf_event_paranoid is %d, so %s; run 'sudo sysctl "
                 "kernel.perf_event_paranoid=%d', or give strata CAP_PERFMON",
                 name, (int)level, level_means(level, needed), needed);
    else if (system->may_count())
        snprintf(why, PMU_WHY,
                 "denied (%s) in spite of CAP_PERFMON: a container's seccomp filter or the "
                 "kernel's lockdown forbids perf_event_open",
                 name);
    else
        snprintf(why, PMU_WHY,
                 "denied (%s), though perf_event_paranoid is %d: it belongs to another "
                 "user, or a container's seccomp filter forbids perf_event_open; give "
                 "strata CAP_PERFMON and CAP_SYS_PTRACE",
                 name, (int)level);
}

static const struct {
    int error;
    const char *name, *meaning;
} refusals[] = {
    {EINVAL, "EINVAL",
     "this PMU does not know the code, or the group is larger than its counters"},
    {ENOSPC, "ENOSPC", "all of the processor's debug registers are taken"},
    {EBADF, "EBADF", "this folder is no control group that counters know"},
    {ESRCH, "ESRCH", "the process is gone"},
    {E2BIG, "E2BIG", "the kernel is older than strata expects"},
    {EINTR, "EINTR", "interrupted"},
};

enum pmu_state pmu_explain(const struct pmu_system *system, int error, bool kernel,
                           bool wide, char why[PMU_WHY])
{
    const char *meaning, *advice;
    if (error == EACCES || error == EPERM) {
        explain_denied(system, error == EACCES ? "EACCES" : "EPERM", kernel, wide, why);
        return PMU_DENIED;
    }
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        if (refusals[i].error == error) {
            snprintf(why, PMU_WHY, "refused by the kernel (%s): %s", refusals[i].name,
                     refusals[i].meaning);
            return PMU_REFUSED;
        }
    facts_explain_perf(error, &meaning, &advice);
    snprintf(why, PMU_WHY, "refused by the kernel: %s%s%s", meaning, *advice ? "; " : "",
             advice);
    return PMU_REFUSED;
}
