/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processors, clock, hypervisor, and the tools beside us. */
#include "host/facts.h"

#include "host/load.h"

#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The least difference that two readings ever show, and the cost of one. */
static void measure_clock(int64_t *resolution, double *cost)
{
    enum { READINGS = 100000 };
    int64_t first = now_ns(), last = first, least = INT64_MAX;
    for (int i = 0; i < READINGS; i++) {
        int64_t now = now_ns();
        if (now > last && now - last < least)
            least = now - last;
        last = now;
    }
    *resolution = least;
    *cost = (double)(last - first) / READINGS;
}

void fact_clock(const char *root, struct fact *fact)
{
    char source[64];
    int64_t resolution;
    double cost;
    if (facts_read_line(root,
                        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                        source, sizeof source))
        snprintf(source, sizeof source, "unknown source");
    measure_clock(&resolution, &cost);
    if (resolution == INT64_MAX) {
        fact_set(fact, FACT_MISSING, "%s: it stood still for 100000 readings", source);
        return;
    }
    enum fact_state state = resolution <= 1000 ? FACT_GOOD : FACT_LIMITED;
    fact_set(fact, state, "%s: smallest step %" PRId64 " ns, a reading takes %.0f ns",
             source, resolution, cost);
    if (cost > 300 || state != FACT_GOOD)
        fact_advise(fact,
                    "a faster source may be listed in /sys/devices/system/clocksource/"
                    "clocksource0/available_clocksource");
}

void fact_cores(const char *root, struct fact *fact)
{
    char online[256], offline[256] = "";
    cpu_set_t set;
    int on = -1;
    if (!facts_read_line(root, "/sys/devices/system/cpu/online", online, sizeof online))
        on = facts_count_list(online);
    facts_read_line(root, "/sys/devices/system/cpu/offline", offline, sizeof offline);
    int off = facts_count_list(offline);
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        fact_set(fact, FACT_UNKNOWN, "more processors than this can ask about");
        return;
    }
    int allowed = CPU_COUNT(&set);
    int limited = allowed < 2 || off > 0 || (on > 0 && allowed < on);
    char of[32] = "";
    if (on > 0)
        snprintf(of, sizeof of, " of %d online", on);
    fact_set(fact, limited ? FACT_LIMITED : FACT_GOOD, "%d%s allowed, %d offline", allowed,
             of, off > 0 ? off : 0);
    if (on > 0 && allowed < on)
        fact_advise(fact, "'taskset' or the container's cpuset keeps the others away");
    else if (allowed < 2)
        fact_advise(fact, "with one processor, anything else that runs disturbs a "
                          "measurement: keep the machine quiet");
}

/* The quota of the cgroup at the root of our view, in processors; 0: none. */
static double quota(const char *root)
{
    char line[64];
    double most, period;
    int64_t most_v1, period_v1;
    if (!facts_read_line(root, "/sys/fs/cgroup/cpu.max", line, sizeof line))
        return sscanf(line, "%lf %lf", &most, &period) == 2 && period > 0 ? most / period
                                                                          : 0;
    if (facts_read_number(root, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &most_v1) ||
        facts_read_number(root, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", &period_v1))
        return 0;
    return most_v1 > 0 && period_v1 > 0 ? (double)most_v1 / (double)period_v1 : 0;
}

/* Since boot, the share of the time that something else had the processors although
 * this machine wanted them; -1: not told. */
static double stolen(const char *root)
{
    char line[256];
    uint64_t t[8];
    if (facts_read_line(root, "/proc/stat", line, sizeof line) ||
        sscanf(line,
               "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64 " %" SCNu64,
               &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) != 8)
        return -1;
    /* user, nice, system, irq, softirq, steal: idle and iowait wanted nothing */
    uint64_t wanted = t[0] + t[1] + t[2] + t[5] + t[6] + t[7];
    return wanted ? (double)t[7] / (double)wanted : 0;
}

void fact_core_time(const char *root, struct fact *fact)
{
    double most = quota(root), steal = stolen(root);
    char cap[48] = "no quota";
    if (most > 0)
        snprintf(cap, sizeof cap, "a quota of %.2f processors", most);
    if (steal < 0)
        fact_set(fact, FACT_UNKNOWN, "%s; /proc/stat does not tell of stolen time", cap);
    else
        fact_set(fact, most > 0 || steal > 0.01 ? FACT_LIMITED : FACT_GOOD,
                 "%s; %.1f%% of the busy time since boot went to other guests", cap,
                 100 * steal);
    if (steal > 0.01)
        fact_advise(fact, "other guests share the processors: expect wider intervals");
    else if (most > 0)
        fact_advise(fact,
                    "a run past the quota is paused; raise the container's cpu limit");
}

/* How many processors others keep busy while this program sleeps, and how many other
 * guests took; false: nothing moved, as in a captured tree. */
static bool look_at_load(const char *root, double *busy, double *stolen)
{
    enum { LOOK_NS = 250000000 };
    struct load *loads = calloc(2, sizeof *loads); /* too large for a stack */
    const struct timespec look = {.tv_nsec = LOOK_NS};
    if (!loads)
        return false;
    load_read_from(root, &loads[0]);
    if (!root[0])
        nanosleep(&look, NULL);
    load_read_from(root, &loads[1]);
    bool moved = load_moved(&loads[0], &loads[1]);
    *busy = load_busy(&loads[0], &loads[1], stolen);
    free(loads);
    return moved;
}

/* The average lags behind by a minute, so that what is seen now decides where it can be
 * seen. */
void fact_load(const char *root, struct fact *fact)
{
    char line[64], now[64] = "";
    double average, busy = 0, stolen = 0;
    if (facts_read_line(root, "/proc/loadavg", line, sizeof line) ||
        sscanf(line, "%lf", &average) != 1) {
        fact_set(fact, FACT_UNKNOWN, "the kernel does not tell the load average");
        return;
    }
    bool seen = look_at_load(root, &busy, &stolen);
    if (seen)
        snprintf(now, sizeof now, "; now %.1f busy, %.1f had by other guests", busy,
                 stolen);
    bool disturbed = seen ? busy >= 0.5 || stolen >= 0.1 : average >= 1;
    fact_set(fact, disturbed ? FACT_LIMITED : FACT_GOOD,
             "%.1f processors wanted in the last minute%s", average, now);
    if (disturbed)
        fact_advise(fact,
                    seen && busy < 0.5
                        ? "the host is busy: expect wider intervals, or measure later"
                        : "what runs ('strata top' shows it) disturbs a probe: end it, or "
                          "expect wider intervals");
}

void fact_smt(const char *root, struct fact *fact)
{
    int64_t active;
    char siblings[64];
    if (!facts_read_line(root, "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
                         siblings, sizeof siblings) &&
        facts_count_list(siblings) > 1) {
        fact_set(fact, FACT_LIMITED, "on: processor 0 shares its core (%s)", siblings);
        fact_advise(fact,
                    "keep the sibling idle while measuring: it has half of L1 and L2");
        return;
    }
    if (facts_read_number(root, "/sys/devices/system/cpu/smt/active", &active))
        fact_set(fact, FACT_UNKNOWN, "the kernel does not tell");
    else if (active)
        fact_set(fact, FACT_LIMITED, "on");
    else
        fact_set(fact, FACT_GOOD, "off, or hidden by the hypervisor");
}

void fact_numa(const char *root, struct fact *fact)
{
    char online[256];
    int nodes = 1; /* a kernel without NUMA has no such file */
    if (!facts_read_line(root, "/sys/devices/system/node/online", online, sizeof online))
        nodes = facts_count_list(online);
    if (nodes < 1) {
        fact_set(fact, FACT_UNKNOWN, "the kernel's list of nodes cannot be read");
        return;
    }
    fact_set(fact, nodes > 1 ? FACT_LIMITED : FACT_GOOD, "%d node%s", nodes,
             nodes == 1 ? "" : "s");
    if (nodes > 1)
        fact_advise(fact, "memory latency depends on the node: run under 'numactl "
                          "--membind' to choose one");
}

/* The name that the hypervisor gives itself: "KVMKVMKVM"; "" if there is none, or if a
 * captured tree is looked at: this processor knows nothing of that machine. */
static void cpuid_name(const char *root, char name[13])
{
    name[0] = '\0';
    if (root[0])
        return;
#if defined(__x86_64__) || defined(__i386__)
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31))
        return;
    __cpuid(0x40000000, a, b, c, d);
    memcpy(name, &b, 4);
    memcpy(name + 4, &c, 4);
    memcpy(name + 8, &d, 4);
    name[12] = '\0';
    for (char *p = name; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '\0';
    if (!name[0])
        strcpy(name, "unnamed");
#endif
}

/* The signatures that hypervisors put into CPUID, as people call them. */
static const char *hypervisor_name(const char *signature)
{
    static const struct {
        const char *signature, *name;
    } known[] = {
        {"KVMKVMKVM", "KVM"},    {"Microsoft Hv", "Hyper-V"},   {"VMwareVMware", "VMware"},
        {"XenVMMXenVMM", "Xen"}, {"TCGTCGTCGTCG", "QEMU, TCG"}, {"bhyve bhyve ", "bhyve"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].signature, signature) == 0)
            return known[i].name;
    return signature;
}

void fact_hypervisor(const char *root, struct fact *fact)
{
    char name[13], type[64] = "", product[64] = "";
    cpuid_name(root, name);
    if (facts_read_line(root, "/sys/hypervisor/type", type, sizeof type))
        facts_read_line(root, "/proc/device-tree/hypervisor/compatible", type, sizeof type);
    facts_read_line(root, "/sys/class/dmi/id/product_name", product, sizeof product);
    const char *which = name[0] ? name : type;
    if (!which[0]) {
        fact_set(fact, FACT_GOOD, "none seen%s%s", product[0] ? ", on " : "", product);
        return;
    }
    fact_set(fact, FACT_LIMITED, "%s%s%s", hypervisor_name(which), product[0] ? ", " : "",
             product);
    fact_advise(fact, "caches beyond L2 may be shared with other guests");
}

void fact_valgrind(const char *root, struct fact *fact)
{
    char line[64] = "";
    FILE *pipe = popen("valgrind --version 2>/dev/null", "re");
    (void)root;
    if (!pipe) {
        fact_set(fact, FACT_UNKNOWN, "cannot start a shell to look for it");
        return;
    }
    int nothing = fgets(line, sizeof line, pipe) == NULL;
    int status = pclose(pipe);
    line[strcspn(line, "\n")] = '\0';
    if (nothing || status != 0) {
        fact_set(fact, FACT_MISSING, "not found");
        fact_advise(fact, "strata probe does not need it; 'sudo apt-get install valgrind' "
                          "brings it");
        return;
    }
    fact_set(fact, FACT_GOOD, "%s", line);
}
