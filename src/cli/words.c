/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Splitting and completing lines, as words.h promises it. */
#include "cli/words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Moves one word to *to, its quotes taken off. Returns the end of it in the line, or NULL
 * if a quote is open. */
static char *take_word(char *from, char **to)
{
    char quote = 0;
    for (; *from && (quote || !isspace((unsigned char)*from)); from++) {
        if (quote && *from == quote)
            quote = 0;
        else if (!quote && (*from == '\'' || *from == '"'))
            quote = *from;
        else if (*from == '\\' && quote != '\'' && from[1])
            *(*to)++ = *++from;
        else
            *(*to)++ = *from;
    }
    return quote ? NULL : from;
}

int words_split(char *line, char *words[WORDS_MAX + 1])
{
    int n = 0;
    char *from = line, *to = line;
    for (;;) {
        while (isspace((unsigned char)*from))
            from++;
        if (!*from)
            break;
        if (n == WORDS_MAX)
            return -1;
        words[n++] = to;
        from = take_word(from, &to);
        if (!from)
            return -1;
        bool more = *from;
        *to++ = '\0'; /* at most where the space was */
        from += more;
    }
    words[n] = NULL;
    return n;
}

/* Completion. */

static int add(struct completion *completion, const char *text)
{
    char **grown =
        realloc(completion->matches, (completion->n + 1) * sizeof *completion->matches);
    if (!grown)
        return -1;
    completion->matches = grown;
    grown[completion->n] = strdup(text);
    return grown[completion->n] ? (completion->n++, 0) : -1;
}

static int add_if(struct completion *completion, const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0 ? add(completion, text) : 0;
}

static int add_choices(struct completion *completion, const char *choices,
                       const char *prefix)
{
    char word[CHOICE_TEXT];
    int bad = 0;
    for (int i = 0; choice_at(choices, i, word) && !bad; i++)
        bad = add_if(completion, word, prefix);
    return bad;
}

static int add_options(struct completion *completion, const struct option_spec *specs,
                       const char *prefix)
{
    char text[64];
    int bad = 0;
    for (; specs->name && !bad; specs++) {
        snprintf(text, sizeof text, "--%s", specs->name);
        bad = add_if(completion, text, prefix);
    }
    return bad;
}

static int add_names(struct completion *completion, const struct word_list *names,
                     const char *prefix)
{
    int bad = 0;
    for (size_t i = 0; i < names->n && !bad; i++)
        bad = add_if(completion, names->list[i], prefix);
    return bad;
}

static const struct option_spec *find_spec(const struct option_spec *specs,
                                           const char *word)
{
    if (!word || strncmp(word, "--", 2) != 0)
        return NULL;
    for (; specs->name; specs++)
        if (strcmp(specs->name, word + 2) == 0)
            return specs->argument ? specs : NULL;
    return NULL;
}

static int add_arguments(const struct grammar *grammar, struct completion *completion,
                         const struct option_spec *spec, const char *prefix)
{
    for (size_t i = 0; i < sizeof grammar->named / sizeof *grammar->named; i++)
        if (grammar->named[i].option && strcmp(grammar->named[i].option, spec->name) == 0)
            return add_names(completion, &grammar->named[i].names, prefix);
    return add_choices(completion, spec->argument, prefix);
}

/* Where the last word before the cursor begins; a quote is part of it. */
static size_t word_start(const char *line, size_t cursor)
{
    size_t start = 0;
    char quote = 0;
    for (size_t i = 0; i < cursor; i++) {
        if (quote ? line[i] == quote : line[i] == '\'' || line[i] == '"')
            quote = quote ? 0 : line[i];
        else if (line[i] == '\\' && quote != '\'')
            i++;
        else if (!quote && isspace((unsigned char)line[i]))
            start = i + 1;
    }
    return start;
}

static size_t common(const struct completion *completion)
{
    size_t length = strlen(completion->matches[0]);
    for (size_t i = 1; i < completion->n; i++) {
        size_t same = 0;
        while (same < length &&
               completion->matches[i][same] == completion->matches[0][same])
            same++;
        length = same;
    }
    return length;
}

/* What replaces the word: with one match all of it, in quotes where a space or the like is
 * in it; with several what they have in common, with a quote that stays open. */
static int replace(struct completion *completion)
{
    if (!completion->n)
        return 0;
    size_t length = common(completion);
    char *part = strndup(completion->matches[0], length);
    if (!part)
        return -1;
    bool whole = completion->n == 1, quoted = strpbrk(part, " \t'\"\\") != NULL;
    char quote = strchr(part, '\'') ? '"' : '\'';
    int n = quoted ? asprintf(&completion->replacement, "%c%s%.*s%s", quote, part,
                              whole ? 1 : 0, &quote, whole ? " " : "")
                   : asprintf(&completion->replacement, "%s%s", part, whole ? " " : "");
    free(part);
    if (n < 0)
        completion->replacement = NULL;
    return n < 0 ? -1 : 0;
}

/* The words before the one that is completed: the last of them, and whether any is no
 * option and no argument of one. */
static void look_back(const struct grammar *grammar, char *const *words, int n,
                      const char **before, bool *operand)
{
    *before = n ? words[n - 1] : NULL;
    *operand = false;
    for (int i = 0; i < n; i++)
        if (words[i][0] != '-' && !(i && find_spec(grammar->specs, words[i - 1])))
            *operand = true;
}

static int add_matches(const struct grammar *grammar, char *head, const char *prefix,
                       struct completion *completion)
{
    char *words[WORDS_MAX + 1];
    const char *before;
    bool operand;
    int n = words_split(head, words);
    if (n < 0)
        return 0;
    look_back(grammar, words, n, &before, &operand);
    const struct option_spec *spec = find_spec(grammar->specs, before);
    if (spec)
        return add_arguments(grammar, completion, spec, prefix);
    if (prefix[0] == '-')
        return add_options(completion, grammar->specs, prefix);
    return operand ? 0 : add_choices(completion, grammar->operands, prefix);
}

int words_complete(const struct grammar *grammar, const char *line, size_t cursor,
                   struct completion *completion)
{
    *completion = (struct completion){.start = word_start(line, cursor)};
    size_t start = completion->start;
    char *head = strndup(line, start), *word = strndup(line + start, cursor - start);
    char *prefix = word, *end = word;
    int bad = !head || !word;
    if (!bad) {
        take_word(word, &end); /* an open quote is all right here */
        *end = '\0';
        bad = add_matches(grammar, head, prefix, completion) || replace(completion);
    }
    free(head);
    free(word);
    if (bad)
        completion_release(completion);
    return bad ? -1 : 0;
}

void completion_release(struct completion *completion)
{
    for (size_t i = 0; i < completion->n; i++)
        free(completion->matches[i]);
    free(completion->matches);
    free(completion->replacement);
    *completion = (struct completion){0};
}
