/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The nearest word by the optimal string alignment distance. Words are short: nothing
 * is near to one of more than WORD letters. */
#include "cli/suggest.h"

#include <stdio.h>
#include <string.h>

enum { WORD = 40 };

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

static size_t distance(const char *a, const char *b)
{
    size_t table[WORD + 1][WORD + 1];
    size_t n = strnlen(a, WORD), m = strnlen(b, WORD);
    for (size_t i = 0; i <= n; i++)
        table[i][0] = i;
    for (size_t j = 0; j <= m; j++)
        table[0][j] = j;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            size_t other = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            size_t d = least(table[i - 1][j] + 1, table[i][j - 1] + 1, other);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d = least(d, d, table[i - 2][j - 2] + 1);
            table[i][j] = d;
        }
    return table[n][m];
}

const char *nearest(const char *word, const char *const *words, size_t n)
{
    const char *best = NULL;
    size_t length = strlen(word), limit = length / 3 > 1 ? length / 3 : 1;
    if (length == 0 || length > WORD)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (strncmp(words[i], word, length) == 0)
            return words[i];
        size_t d = distance(word, words[i]);
        if (d <= limit) {
            best = words[i];
            limit = d - (d > 0);
        }
    }
    return best;
}

const char *hint_nearest(const char *word, const char *const *words, size_t n,
                         const char *dashes, char text[HINT_TEXT])
{
    const char *near = nearest(word, words, n);
    text[0] = '\0';
    if (near)
        snprintf(text, HINT_TEXT, " (did you mean %s%s?)", dashes, near);
    return text;
}
