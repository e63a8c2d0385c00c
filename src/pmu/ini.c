/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lines of a text table; ini.h has the contract. inih is not used here: these values have
 * quoted texts in them, keys may come many times, and every message names its line. */
#include "pmu/ini.h"

#include "core/fail.h"
#include "core/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Without white space at either end; cut off in place. */
static char *trim(char *text)
{
    while (is_white(*text))
        text++;
    size_t length = strlen(text);
    while (length && is_white(text[length - 1]))
        text[--length] = '\0';
    return text;
}

static void cut_comment(char *line)
{
    bool quoted = false;
    for (char *p = line; *p; p++) {
        if (*p == '"')
            quoted = !quoted;
        if (!quoted && (*p == '#' || *p == ';') && (p == line || is_white(p[-1]))) {
            *p = '\0';
            return;
        }
    }
}

void ini_begin(struct ini *ini, const char *file, char *text, struct strata_error *error)
{
    static const char bom[] = "\xef\xbb\xbf";
    bool marked = strncmp(text, bom, sizeof bom - 1) == 0;
    *ini = (struct ini){
        .file = file, .next = marked ? text + sizeof bom - 1 : text, .error = error};
}

int ini_fail(const struct ini *ini, const char *format, ...)
{
    char raw[400], reason[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(raw, sizeof raw, format, arguments);
    va_end(arguments);
    utf8_clean(raw, reason, sizeof reason); /* it may quote binary junk */
    return fail(ini->error, STRATA_BAD_INPUT, "%s:%" PRIu32 ": %s", ini->file, ini->line,
                reason);
}

static enum ini_kind split_section(const struct ini *ini, char *line, char **a, char **b)
{
    size_t length = strlen(line);
    if (line[length - 1] != ']') {
        ini_fail(ini, "%.60s: a section ends with ']'", line);
        return INI_BAD;
    }
    line[length - 1] = '\0';
    *b = trim(line + 1);
    *a = ini_word(b);
    *b = trim(*b);
    if (*a)
        return INI_SECTION;
    ini_fail(ini, "[]: a section has a name");
    return INI_BAD;
}

static enum ini_kind split_key(const struct ini *ini, char *line, char **a, char **b)
{
    char *equals = strchr(line, '=');
    if (!equals || equals == line) {
        ini_fail(ini, "%.60s: neither a [section] nor `key = value`", line);
        return INI_BAD;
    }
    *equals = '\0';
    *a = trim(line);
    *b = trim(equals + 1);
    return INI_KEY;
}

enum ini_kind ini_next(struct ini *ini, char **a, char **b)
{
    while (*ini->next) {
        char *line = ini->next, *end = strchr(line, '\n');
        ini->next = end ? end + 1 : line + strlen(line);
        ini->line++;
        if (end)
            *end = '\0';
        cut_comment(line);
        line = trim(line);
        if (*line)
            return *line == '[' ? split_section(ini, line, a, b)
                                : split_key(ini, line, a, b);
    }
    return INI_END;
}

char *ini_word(char **text)
{
    char *word = *text;
    while (is_white(*word))
        word++;
    if (!*word)
        return NULL;
    char *end = word;
    while (*end && !is_white(*end))
        end++;
    *text = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

int ini_number(const char *word, uint64_t *number)
{
    char *end;
    if (*word < '0' || *word > '9')
        return -1;
    bool hex = word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
    errno = 0;
    unsigned long long value = strtoull(word, &end, hex ? 16 : 10);
    if (*end || errno || (hex && !word[2]))
        return -1;
    *number = value;
    return 0;
}

char *ini_copy(const char *file, const char *text, size_t size, struct strata_error *error)
{
    if (memchr(text, '\0', size)) {
        fail(error, STRATA_BAD_INPUT, "%s: a NUL byte: this is not a text file", file);
        return NULL;
    }
    char *copy = malloc(size + 1);
    if (!copy) {
        fail(error, STRATA_FAILED, "%s: out of memory", file);
        return NULL;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}
