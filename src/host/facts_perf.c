/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counters: opened, enabled, read. A counter that opens may still never count (some
 * hypervisors offer one that stays at 0), so a loop is run and its count looked at. */
#include "host/facts.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    int error;
    const char *meaning, *advice;
} refusals[] = {
    {ENOENT, "there is no PMU, or the hypervisor hides it (ENOENT)",
     "nothing to change inside a guest; the host must offer a virtual PMU"},
    {EACCES, "perf_event_paranoid forbids it (EACCES)",
     "run 'sudo sysctl kernel.perf_event_paranoid=1'"},
    {EPERM, "not permitted (EPERM): perf_event_paranoid, or a container's seccomp filter",
     "run 'sudo sysctl kernel.perf_event_paranoid=1'; in a container, add CAP_PERFMON and "
     "allow perf_event_open"},
    {ENOSYS, "the kernel or its seccomp filter has no perf events (ENOSYS)",
     "use a kernel with CONFIG_PERF_EVENTS; in a container, allow perf_event_open"},
    {EOPNOTSUPP, "the PMU cannot count this (EOPNOTSUPP)", ""},
    {ENODEV, "the processor has no such counter (ENODEV)", ""},
    {EBUSY, "another program holds the counters (EBUSY)",
     "end it; the NMI watchdog holds one too: 'sudo sysctl kernel.nmi_watchdog=0'"},
    {EMFILE, "too many open files (EMFILE)", "raise 'ulimit -n'"},
};

void facts_explain_perf(int error, const char **meaning, const char **advice)
{
    *meaning = strerror(error);
    *advice = "";
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        if (refusals[i].error == error) {
            *meaning = refusals[i].meaning;
            *advice = refusals[i].advice;
        }
}

/* Something to count: instructions, cycles and time. */
static void spin(void)
{
    for (volatile int i = 0; i < 1000000; i++)
        ;
}

/* What a counter of this thread counts over spin(); -1: refused, see errno. */
static int64_t try_counter(uint32_t type, uint64_t config)
{
    struct perf_event_attr attr = {
        .type = type,
        .size = sizeof attr,
        .config = config,
        .disabled = 1,
        .exclude_kernel = 1, /* what an unprivileged user may ask for */
        .exclude_hv = 1,
    };
    uint64_t count = 0;
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -1;
    int bad = ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    spin();
    bad = bad || read(fd, &count, sizeof count) != sizeof count;
    int error = errno;
    close(fd);
    errno = error;
    return bad ? -1 : (int64_t)count;
}

struct attempt {
    const char *name;
    uint32_t type;
    uint64_t config;
};

/* Tries each; good if all count. The first refusal is the one that is explained. */
static void try_all(struct fact *fact, const struct attempt *attempts, size_t n)
{
    char names[80] = "", silent[80] = "";
    int error = 0;
    size_t good = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t count = try_counter(attempts[i].type, attempts[i].config);
        if (count < 0 && !error)
            error = errno ? errno : EIO;
        char *list = count > 0 ? names : silent;
        good += count > 0;
        if (count >= 0)
            snprintf(list + strlen(list), sizeof names - strlen(list), "%s%s",
                     *list ? ", " : "", attempts[i].name);
    }
    const char *meaning, *advice;
    facts_explain_perf(error, &meaning, &advice);
    if (good == n)
        fact_set(fact, FACT_GOOD, "%s count", names);
    else if (good)
        fact_set(fact, FACT_LIMITED, "only %s count", names);
    else if (error)
        fact_set(fact, FACT_MISSING, "%s", meaning);
    else
        fact_set(fact, FACT_MISSING, "%s can be opened but stay at 0", silent);
    if (error && *advice)
        fact_advise(fact, "%s", advice);
}

void fact_hardware_counters(const char *root, struct fact *fact)
{
    static const struct attempt attempts[] = {
        {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
        {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    };
    (void)root;
    try_all(fact, attempts, sizeof attempts / sizeof attempts[0]);
    if (fact->state == FACT_MISSING) {
        size_t used = strlen(fact->advice);
        snprintf(fact->advice + used, sizeof fact->advice - used,
                 "%sstrata probe needs none: it goes by the clock", used ? "; " : "");
    }
}

void fact_software_counters(const char *root, struct fact *fact)
{
    static const struct attempt attempts[] = {
        {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
        {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
    };
    (void)root;
    try_all(fact, attempts, sizeof attempts / sizeof attempts[0]);
}

void fact_perf_event_paranoid(const char *root, struct fact *fact)
{
    static const char *const meanings[] = {
        "everybody may count everything",
        "everybody may count everything but raw tracepoints",
        "everybody may count their own programs, kernel included",
        "everybody may count their own programs, without the kernel",
        "only root may count",
    };
    int64_t level;
    if (facts_read_number(root, "/proc/sys/kernel/perf_event_paranoid", &level)) {
        fact_set(fact, FACT_MISSING, "not there: this kernel has no perf events");
        return;
    }
    int64_t row = level < -1 ? 0 : level > 3 ? 4 : level + 1;
    enum fact_state state = level <= 1   ? FACT_GOOD
                            : level == 2 ? FACT_LIMITED
                                         : FACT_MISSING;
    fact_set(fact, state, "%lld: %s", (long long)level, meanings[row]);
    if (level > 1)
        fact_advise(fact, "run 'sudo sysctl kernel.perf_event_paranoid=1'");
}
