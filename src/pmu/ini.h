/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text tables of sections and `key = value` lines, one line at a time, with the place of
 * everything for messages. Comments begin with # or ;, at the start of a line or behind
 * white space, but not inside "quotes". */
#ifndef PMU_INI_H
#define PMU_INI_H

#include <stddef.h>
#include <stdint.h>
#include <strata/error.h>

struct ini {
    const char *file; /* for messages */
    char *next;       /* what is left of the text, which is changed while it is read */
    uint32_t line;    /* the one that was read last */
    struct strata_error *error;
};

enum ini_kind {
    INI_END,
    INI_SECTION, /* a: its first word, b: the rest or "" */
    INI_KEY,     /* a: the key, b: the value or "" */
    INI_BAD      /* neither; ini->error says so */
};

/* `text` ends with a NUL and is cut into pieces that a and b point into. */
void ini_begin(struct ini *ini, const char *file, char *text, struct strata_error *error);
enum ini_kind ini_next(struct ini *ini, char **a, char **b);

/* STRATA_BAD_INPUT with "file:line: ..." about the line that was read last. */
int ini_fail(const struct ini *ini, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Cuts the next word off a text; NULL at its end. */
char *ini_word(char **text);

/* A whole number, decimal or 0x...; the whole word. -1: it is none. */
int ini_number(const char *word, uint64_t *number);

/* A copy of [text, text + size) with a NUL behind it, which must be the first one in it;
 * NULL and an error otherwise. The caller frees it. */
char *ini_copy(const char *file, const char *text, size_t size, struct strata_error *error);

#endif
