/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text for terminals, by the few ANSI sequences that every terminal knows. */
#include "cli/term.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool term_is_terminal(int fd)
{
    const char *term = getenv("TERM");
    return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

bool term_has_colour(FILE *file)
{
    const char *no = getenv("NO_COLOR");
    return !(no && *no) && term_is_terminal(fileno(file));
}

const char *term_colour(bool on, enum term_colour colour)
{
    static const char *const sequences[] = {
        [TERM_PLAIN] = "\033[0m",   [TERM_BOLD] = "\033[1m", [TERM_GREEN] = "\033[32m",
        [TERM_YELLOW] = "\033[33m", [TERM_RED] = "\033[31m",
    };
    return on ? sequences[colour] : "";
}

void term_wrap(FILE *file, int column, int indent, const char *text)
{
    bool fresh = true; /* no word on this line yet */
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (!fresh && column + 1 + length > TERM_COLUMNS) {
            fprintf(file, "\n%*s", indent, "");
            column = indent;
            fresh = true;
        }
        column += fprintf(file, "%s%.*s", fresh ? "" : " ", length, text);
        fresh = false;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', file);
}
