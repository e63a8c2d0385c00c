/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A line that was typed at a prompt: its words, and what may complete the last of them. */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include "cli/options.h"

#include <stddef.h>

enum { WORDS_MAX = 32 };

/* Splits a line in place, as a shell does: '…', "…" and \ keep spaces. words[] gets NULL
 * behind the last one. Returns their number, or -1: a quote that is not closed, or too
 * many words. */
int words_split(char *line, char *words[WORDS_MAX + 1]);

/* Texts that do not end; NULL behind the last. */
struct word_list {
    const char *const *list;
    size_t n;
};

/* What may be typed. */
struct grammar {
    const char *operands;            /* "a|b|c": the first word that is no option */
    const struct option_spec *specs; /* --options */
    struct {
        const char *option;     /* the argument of this option ... */
        struct word_list names; /* ... is one of these */
    } named[2];
};

struct completion {
    size_t start;   /* the word that is completed begins here in the line */
    char **matches; /* all that it may become, each once; the caller frees them */
    size_t n;
    char *replacement; /* for the word: as much as is certain, quoted where it must be and
                          with a space behind it where only one matches; NULL: nothing */
};

/* What may stand for the word that ends at `cursor`. Returns 0, or -1: out of memory. */
int words_complete(const struct grammar *grammar, const char *line, size_t cursor,
                   struct completion *completion);
void completion_release(struct completion *completion);

#endif
