/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The identity of this machine's processors: from the CPUID instruction, or from what the
 * kernel shows in /proc/cpuinfo and sysfs, which can also be a captured tree. */
#include "pmu/cpu.h"

#include "host/facts.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* Families and models above 15 have their upper part in other bits. */
static void split_signature(uint32_t signature, struct cpu_id *id)
{
    id->stepping = signature & 0xf;
    id->model = (signature >> 4) & 0xf;
    id->family = (signature >> 8) & 0xf;
    if (id->family == 6 || id->family == 15)
        id->model |= (signature >> 12) & 0xf0;
    if (id->family == 15)
        id->family += (signature >> 20) & 0xff;
}

int cpu_identify(struct cpu_id *id)
{
    uint32_t a, b, c, d;
    *id = (struct cpu_id){.family = 0};
    if (!__get_cpuid(0, &a, &b, &c, &d))
        return -1;
    uint32_t vendor[3] = {b, d, c}, highest = a;
    memcpy(id->vendor, vendor, sizeof vendor);
    __cpuid(1, a, b, c, d);
    split_signature(a, id);
    if (highest < 0x1a)
        return 0;
    __cpuid_count(7, 0, a, b, c, d);
    bool hybrid = d & (1u << 15);
    __cpuid_count(0x1a, 0, a, b, c, d);
    id->core = hybrid ? a >> 24 : 0;
    return 0;
}
#else
int cpu_identify(struct cpu_id *id)
{
    *id = (struct cpu_id){.family = 0};
    return -1;
}
#endif

/* /proc/cpuinfo. */

/* The number behind "key : ", where this is such a line. */
static bool take_number(const char *line, const char *key, uint32_t *number)
{
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0 || strspn(line + length, " \t:") == 0)
        return false;
    const char *value = line + length + strspn(line + length, " \t:");
    *number = (uint32_t)strtoul(value, NULL, 0);
    return true;
}

static void take_x86(const char *line, struct cpu_id *id)
{
    sscanf(line, "vendor_id : %15s", id->vendor);
    take_number(line, "cpu family", &id->family);
    take_number(line, "model\t", &id->model); /* not "model name" */
    take_number(line, "stepping", &id->stepping);
}

static void take_arm(const char *line, struct cpu_id *id)
{
    static const struct {
        const char *key;
        int shift;
    } fields[] = {
        {"CPU implementer", 24}, {"CPU variant", 20}, {"CPU part", 4}, {"CPU revision", 0}};
    uint32_t number;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (take_number(line, fields[i].key, &number))
            id->midr |= ((uint64_t)number << fields[i].shift) | 0xf0000;
}

/* The entry of one processor; -1: there is none. */
static int read_cpuinfo(const char *root, int cpu, struct cpu_id *id)
{
    char path[PATH_MAX], line[512];
    snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
    FILE *file = fopen(path, "re");
    uint32_t number = UINT32_MAX;
    *id = (struct cpu_id){.family = 0};
    while (file && fgets(line, sizeof line, file)) {
        take_number(line, "processor", &number);
        if (number != (uint32_t)cpu)
            continue;
        take_x86(line, id);
        take_arm(line, id);
    }
    if (file)
        fclose(file);
    return *id->vendor || id->midr ? 0 : -1;
}

/* sysfs has the whole register, and for every processor. */
static int read_midr(const char *root, int cpu, struct cpu_id *id)
{
    char path[128], line[64];
    snprintf(path, sizeof path,
             "/sys/devices/system/cpu/cpu%d/regs/identification/midr_el1", cpu);
    if (facts_read_line(root, path, line, sizeof line) != 0)
        return -1;
    *id = (struct cpu_id){.midr = strtoull(line, NULL, 16)};
    return id->midr ? 0 : -1;
}

static int identify(const char *root, int cpu, struct cpu_id *id)
{
    if (read_midr(root, cpu, id) == 0)
        return 0;
    if (!*root && cpu_identify(id) == 0)
        return 0;
    return read_cpuinfo(root, cpu, id);
}

/* PMUs. */

static int first_of(const char *list)
{
    return *list >= '0' && *list <= '9' ? atoi(list) : -1;
}

/* The core PMUs are those that say which processors they belong to; uncore ones have a
 * cpumask instead. */
static bool device_cpus(const char *root, const char *device, char *list, size_t size)
{
    char path[320];
    snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/cpus", device);
    return facts_read_line(root, path, list, size) == 0;
}

static bool is_hybrid_core(const char *device, uint32_t *core)
{
    *core = strcmp(device, "cpu_core") == 0   ? CPU_CORE
            : strcmp(device, "cpu_atom") == 0 ? CPU_ATOM
                                              : 0;
    return *core != 0;
}

static bool add_device(const char *root, const char *device, struct cpu_kind *kind)
{
    char list[256];
    uint32_t core;
    if (!device_cpus(root, device, list, sizeof list) || first_of(list) < 0)
        return false;
    kind->first = first_of(list);
    snprintf(kind->device, sizeof kind->device, "%.31s", device);
    if (identify(root, kind->first, &kind->id) != 0)
        return false;
    if (is_hybrid_core(device, &core))
        kind->id.core = core;
    return true;
}

static int by_device(const void *a, const void *b)
{
    const struct cpu_kind *x = a, *y = b;
    bool core = y->id.core == CPU_CORE, other = x->id.core == CPU_CORE;
    return core != other ? core - other : strcmp(x->device, y->device);
}

size_t cpu_kinds(const char *root, struct cpu_kind kinds[CPU_KINDS])
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/sys/bus/event_source/devices", root);
    DIR *dir = opendir(path);
    size_t n = 0;
    for (struct dirent *entry; dir && n < CPU_KINDS && (entry = readdir(dir));) {
        kinds[n] = (struct cpu_kind){.first = 0};
        n += add_device(root, entry->d_name, &kinds[n]);
    }
    if (dir)
        closedir(dir);
    qsort(kinds, n, sizeof kinds[0], by_device);
    if (n)
        return n;
    kinds[0] = (struct cpu_kind){.first = 0};
    if (identify(root, 0, &kinds[0].id) != 0)
        return 0;
    kinds[0].id.core = 0; /* one PMU, or none: nothing to tell apart */
    return 1;
}

const char *cpu_describe(const struct cpu_id *id, char text[CPU_TEXT])
{
    const char *core = id->core == CPU_CORE   ? " (performance core)"
                       : id->core == CPU_ATOM ? " (efficiency core)"
                                              : "";
    if (id->midr)
        snprintf(text, CPU_TEXT, "MIDR 0x%llx", (unsigned long long)id->midr);
    else
        snprintf(text, CPU_TEXT, "%s family %u model 0x%x stepping %u%s", id->vendor,
                 id->family, id->model, id->stepping, core);
    return text;
}
