/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading source lines, as sources.h promises it. A file of the same name in another place
 * is a guess: a name without any folder is not looked for, and a line that is empty is no
 * text. */
#include "views/sources.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A regular file that is no younger than the profile. */
static FILE *open_source(const char *path, const struct stat *profile)
{
    struct stat found;
    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode) ||
        found.st_mtime > profile->st_mtime)
        return NULL;
    return fopen(path, "re");
}

static FILE *find_source(const char *path, const struct stat *profile)
{
    FILE *file = open_source(path, profile);
    for (const char *from = path; !file && *path == '/';) {
        from += strspn(from, "/");
        if (!strchr(from, '/'))
            break; /* a bare name */
        file = open_source(from, profile);
        from += strcspn(from, "/");
    }
    return file;
}

/* Without the space on both sides; false: nothing is left. */
static bool trim(const char *line, char text[SOURCE_TEXT])
{
    while (isspace((unsigned char)*line))
        line++;
    int n = snprintf(text, SOURCE_TEXT, "%s", line);
    size_t length = n < SOURCE_TEXT ? (size_t)n : SOURCE_TEXT - 1;
    while (length && isspace((unsigned char)text[length - 1]))
        length--;
    text[length] = '\0';
    return length > 0;
}

bool source_line(const char *path, uint64_t line, const char *profile,
                 char text[SOURCE_TEXT])
{
    struct stat written;
    if (!line || stat(profile, &written) != 0)
        return false;
    FILE *file = find_source(path, &written);
    char *read = NULL;
    size_t room = 0;
    bool found = file;
    for (uint64_t i = 0; found && i < line; i++)
        found = getline(&read, &room, file) > 0;
    found = found && trim(read, text);
    free(read);
    if (file)
        fclose(file);
    return found;
}
