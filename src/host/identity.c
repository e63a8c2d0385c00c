/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names from /proc/cpuinfo and the device tree; identity.h has the contract. */
#include "host/identity.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The length of a sign of a trade mark that the text begins with, or 0. */
static size_t mark_length(const char *text)
{
    static const char *const marks[] = {"(R)", "(r)", "(TM)", "(tm)"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strncmp(text, marks[i], strlen(marks[i])) == 0)
            return strlen(marks[i]);
    return 0;
}

/* Copies words with single spaces between them, without such signs. A ';' or '#' would
 * begin a comment in a machine file. */
static void tidy(const char *from, char *text, size_t size)
{
    size_t used = 0, mark;
    while (*from) {
        while ((mark = mark_length(from)) > 0)
            from += mark;
        if (!*from)
            break;
        bool space = isspace((unsigned char)*from) || strchr(";#", *from);
        if (used + 1 < size && !(space && (!used || text[used - 1] == ' ')))
            text[used++] = space ? ' ' : *from;
        from++;
    }
    while (used && text[used - 1] == ' ')
        used--;
    text[used] = '\0';
}

/* The value of the first line with one of the keys. */
static void find_line(FILE *file, char *text, size_t size)
{
    static const char *const keys[] = {"model name", "cpu model", "Processor"};
    char line[512];
    while (fgets(line, sizeof line, file))
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            const char *colon = strchr(line, ':');
            if (colon && strncmp(line, keys[i], strlen(keys[i])) == 0) {
                tidy(colon + 1, text, size);
                return;
            }
        }
}

/* The whole of a short file. */
static void read_short(FILE *file, char *text, size_t size)
{
    char whole[256];
    size_t n = fread(whole, 1, sizeof whole - 1, file);
    whole[n] = '\0';
    tidy(whole, text, size);
}

void processor_name(const char *root, char *text, size_t size)
{
    static const struct {
        const char *path;
        void (*read)(FILE *file, char *text, size_t size);
    } places[] = {{"/proc/cpuinfo", find_line}, {"/proc/device-tree/model", read_short}};
    *text = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places && !*text; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s%s", root, places[i].path);
        FILE *file = fopen(path, "re");
        if (!file)
            continue;
        places[i].read(file, text, size);
        fclose(file);
    }
}

void host_name(char *text, size_t size)
{
    char name[HOST_NAME_MAX + 1] = "";
    if (gethostname(name, sizeof name) != 0)
        name[0] = '\0';
    name[sizeof name - 1] = '\0';
    tidy(name, text, size);
}
