/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The system call, and the rights of this process. */
#include "pmu/system.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int pmu_system_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
                    unsigned long flags)
{
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group,
                        flags | PERF_FLAG_FD_CLOEXEC);
}

/* Root of a user namespace, as in many containers, has all capabilities there, but the
 * kernel asks for them outside. A namespace of its own maps fewer users than there are. */
static bool is_outside(void)
{
    unsigned long long inner, outer, n = 0;
    FILE *file = fopen("/proc/self/uid_map", "re");
    bool all = !file || (fscanf(file, "%llu %llu %llu", &inner, &outer, &n) == 3 &&
                         inner == 0 && outer == 0 && n == UINT32_MAX);
    if (file)
        fclose(file);
    return all;
}

bool pmu_system_may_count(void)
{
    enum { SYS_ADMIN = 21, PERFMON = 38 };
    char line[128];
    unsigned long long set = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "CapEff: %llx", &set) == 1)
            break;
    if (file)
        fclose(file);
    return ((set >> PERFMON & 1) || (set >> SYS_ADMIN & 1)) && is_outside();
}

size_t pmu_raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 256;
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    rlim_t now = setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
    return now == RLIM_INFINITY || now > SIZE_MAX ? SIZE_MAX : (size_t)now;
}

const struct pmu_system pmu_system_codes = {
    .open = pmu_system_open, .root = "", .may_count = pmu_system_may_count};
