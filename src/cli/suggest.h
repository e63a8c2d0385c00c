/* SPDX-License-Identifier: BSD-3-Clause
 *
 * "Did you mean …": the nearest of a list of words. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include <stddef.h>

/* The word that takes the fewest changes (a letter more, less, other, or two swapped)
 * to become `word`; NULL where none is near: more than a third of the letters, and
 * more than one, would have to change. A word that `word` begins is always near. */
const char *nearest(const char *word, const char *const *words, size_t n);

enum { HINT_TEXT = 80 };

/* " (did you mean --json?)" with `dashes` before the word, or "" where none is near. */
const char *hint_nearest(const char *word, const char *const *words, size_t n,
                         const char *dashes, char text[HINT_TEXT]);

#endif
