/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text for terminals: 80 columns, colour only where it is wanted. */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include <stdbool.h>
#include <stdio.h>

enum { TERM_COLUMNS = 80 };

enum term_colour { TERM_PLAIN, TERM_BOLD, TERM_GREEN, TERM_YELLOW, TERM_RED };

/* Whether the file is a terminal that can move its cursor (TERM is set and not dumb). */
bool term_is_terminal(int fd);

/* The same, and NO_COLOR is not set to anything. */
bool term_has_colour(FILE *file);

/* The sequence that starts a colour, TERM_PLAIN that which ends it; "" unless `on`. */
const char *term_colour(bool on, enum term_colour colour);

/* Prints text broken at spaces to TERM_COLUMNS, from the second line on indented by
 * `indent`, where `column` columns of the first line are taken; ends with a newline.
 * A word too long for a line stands alone on it, whole. */
void term_wrap(FILE *file, int column, int indent, const char *text);

#endif
