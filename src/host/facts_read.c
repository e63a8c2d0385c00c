/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the facts have in common, also for those who count: reading files below a root, and
 * filling in a fact. */
#include "host/facts.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
