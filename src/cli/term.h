/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text for terminals: as wide as they are, colour only where it is wanted. */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include <stdbool.h>
#include <stdio.h>

/* Where the width is not known; the least and the most that text is laid out for. */
enum { TERM_COLUMNS = 80, TERM_NARROW = 40, TERM_WIDE = 120 };

enum term_colour { TERM_PLAIN, TERM_BOLD, TERM_GREEN, TERM_YELLOW, TERM_RED };

/* Whether the file is a terminal that can move its cursor (TERM is set and not dumb). */
bool term_is_terminal(int fd);

/* The same, and NO_COLOR is not set to anything. */
bool term_has_colour(FILE *file);

/* The sequence that starts a colour, TERM_PLAIN that which ends it; "" unless `on`. */
const char *term_colour(bool on, enum term_colour colour);

/* The columns of a terminal; else what COLUMNS says; else TERM_COLUMNS. */
int term_columns(int fd);

/* The same, for running text: from TERM_NARROW to TERM_WIDE. */
int term_text_columns(FILE *file);

/* Prints text broken at spaces to term_text_columns(), from the second line on indented by
 * `indent`, where `column` columns of the first line are taken; ends with a newline.
 * A word too long for a line stands alone on it, whole, or broken after a '|'. */
void term_wrap(FILE *file, int column, int indent, const char *text);

/* The same, with `prefix` before every line. */
void term_say(FILE *file, const char *prefix, const char *text);

#endif
