/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The list of facts, and how their files are read. */
#include "host/facts.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    fact_finder *find;
} finders[] = {
    {"hardware_counters", fact_hardware_counters},
    {"software_counters", fact_software_counters},
    {"perf_event_paranoid", fact_perf_event_paranoid},
    {"transparent_huge_pages", fact_transparent_huge_pages},
    {"huge_page_pool", fact_huge_page_pool},
    {"clock", fact_clock},
    {"cores", fact_cores},
    {"core_time", fact_core_time},
    {"load", fact_load},
    {"smt", fact_smt},
    {"numa", fact_numa},
    {"memory_limit", fact_memory_limit},
    {"hypervisor", fact_hypervisor},
    {"valgrind", fact_valgrind},
};

enum { NFINDERS = sizeof finders / sizeof finders[0] };
_Static_assert(sizeof finders / sizeof finders[0] <= FACTS_MAX, "room for every fact");

size_t facts_collect(const char *root, struct fact facts[FACTS_MAX])
{
    for (size_t i = 0; i < NFINDERS; i++) {
        facts[i] = (struct fact){.name = finders[i].name, .state = FACT_UNKNOWN};
        finders[i].find(root, &facts[i]);
    }
    return NFINDERS;
}

const char *fact_state_name(enum fact_state state)
{
    static const char *const names[] = {
        [FACT_GOOD] = "good",
        [FACT_LIMITED] = "limited",
        [FACT_MISSING] = "missing",
        [FACT_UNKNOWN] = "unknown",
    };
    return names[state];
}

void fact_set(struct fact *fact, enum fact_state state, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fact->found, sizeof fact->found, format, arguments);
    va_end(arguments);
    fact->state = state;
}

void fact_advise(struct fact *fact, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fact->advice, sizeof fact->advice, format, arguments);
    va_end(arguments);
}

int facts_read_line(const char *root, const char *path, char *line, size_t size)
{
    char whole[4096];
    if (snprintf(whole, sizeof whole, "%s%s", root, path) >= (int)sizeof whole) {
        errno = ENAMETOOLONG;
        return -1;
    }
    FILE *file = fopen(whole, "re");
    if (!file)
        return -1;
    line[0] = '\0'; /* what an empty file has */
    errno = 0;
    int failed = fgets(line, (int)size, file) == NULL && ferror(file);
    int error = errno;
    fclose(file);
    if (failed) {
        errno = error ? error : EIO;
        return -1;
    }
    line[strcspn(line, "\n")] = '\0';
    return 0;
}

int facts_read_number(const char *root, const char *path, int64_t *number)
{
    char line[64], *end;
    if (facts_read_line(root, path, line, sizeof line))
        return -1;
    errno = 0;
    long long value = strtoll(line, &end, 10);
    if (end == line || errno)
        return -1;
    *number = value;
    return 0;
}

int facts_count_list(const char *list)
{
    long count = 0;
    while (*list) {
        char *end;
        if (!isdigit((unsigned char)*list))
            return -1;
        long first = strtol(list, &end, 10), last = first;
        if (*end == '-') {
            list = end + 1;
            if (!isdigit((unsigned char)*list))
                return -1;
            last = strtol(list, &end, 10);
        }
        if (last < first || last > 1 << 20 || (*end && *end != ','))
            return -1;
        count += last - first + 1;
        list = *end ? end + 1 : end;
    }
    return (int)count;
}
