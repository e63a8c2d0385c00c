/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How much memory may be taken, by /proc/meminfo and both versions of control groups. */
#include "host/limits.h"

#include "host/facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Adds up the numbers of lines "KEY 123" for each of the keys, which end with NULL;
 * UINT64_MAX if there is no such line. */
static uint64_t sum_of(const char *path, const char *const keys[])
{
    char line[256], key[64];
    uint64_t value, sum = 0;
    int found = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return UINT64_MAX;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%63s %" SCNu64, key, &value) != 2)
            continue;
        for (const char *const *wanted = keys; *wanted; wanted++)
            if (strcmp(key, *wanted) == 0) {
                sum += value;
                found = 1;
            }
    }
    fclose(file);
    return found ? sum : UINT64_MAX;
}

uint64_t limits_unused(const char *root)
{
    static const char *const available[] = {"MemAvailable:", NULL};
    static const char *const older[] = {"MemFree:", "Buffers:", "Cached:", NULL};
    char path[4096];
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    uint64_t kilobytes = sum_of(path, available);
    if (kilobytes == UINT64_MAX) /* before Linux 3.14 */
        kilobytes = sum_of(path, older);
    return kilobytes == UINT64_MAX ? UINT64_MAX : kilobytes << 10;
}

/* A version of the interface. */
struct interface {
    const char *kinds; /* as /proc/self/cgroup has them */
    const char *base, *limit, *usage;
    const char *cached[3]; /* in memory.stat */
};

static const struct interface interfaces[] = {
    {"",
     "/sys/fs/cgroup",
     "memory.max",
     "memory.current",
     {"inactive_file", "active_file", NULL}},
    {"memory",
     "/sys/fs/cgroup/memory",
     "memory.limit_in_bytes",
     "memory.usage_in_bytes",
     {"total_inactive_file", "total_active_file", NULL}},
};

static void take_least(uint64_t *least, uint64_t value)
{
    if (value < *least)
        *least = value;
}

/* Takes one group's limit into account; "max" and absurdly large ones are none. */
static void add_group(const char *root, const struct interface *of, const char *group,
                      struct group_limit *least)
{
    char path[2048], whole[4096 + 2048];
    int64_t limit, usage;
    snprintf(path, sizeof path, "%s%s/%s", of->base, group, of->limit);
    if (facts_read_number(root, path, &limit) || limit <= 0 || limit > INT64_C(1) << 60)
        return;
    take_least(&least->bytes, (uint64_t)limit);
    snprintf(path, sizeof path, "%s%s/%s", of->base, group, of->usage);
    if (facts_read_number(root, path, &usage) || usage < 0)
        usage = 0;
    snprintf(whole, sizeof whole, "%s%s%s/memory.stat", root, of->base, group);
    uint64_t cached = sum_of(whole, of->cached), used = (uint64_t)usage;
    if (cached != UINT64_MAX)
        used = used > cached ? used - cached : 0;
    take_least(&least->left, (uint64_t)limit > used ? (uint64_t)limit - used : 0);
}

/* The group and every one above it; cuts `group` short. */
static void add_groups(const char *root, const struct interface *of, char *group,
                       struct group_limit *least)
{
    for (;;) {
        add_group(root, of, group, least);
        char *slash = strrchr(group, '/');
        if (!slash)
            return;
        *slash = '\0';
    }
}

struct group_limit limits_group(const char *root)
{
    char path[4096], line[1024];
    struct group_limit least = {UINT64_MAX, UINT64_MAX};
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    if (!file)
        return least;
    while (fgets(line, sizeof line, file)) { /* "0::/a/b" or "4:memory:/a/b" */
        line[strcspn(line, "\n")] = '\0';
        char *kinds = strchr(line, ':'), *group = kinds ? strchr(kinds + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        for (size_t i = 0; i < sizeof interfaces / sizeof *interfaces; i++)
            if (strcmp(kinds + 1, interfaces[i].kinds) == 0)
                add_groups(root, &interfaces[i], group, &least);
    }
    fclose(file);
    return least;
}
