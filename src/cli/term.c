/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text for terminals, by the few ANSI sequences that every terminal knows. */
#include "cli/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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

int term_columns(int fd)
{
    struct winsize size;
    if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    const char *set = getenv("COLUMNS");
    long columns = set ? strtol(set, NULL, 10) : 0;
    return columns > 0 && columns < 10000 ? (int)columns : TERM_COLUMNS;
}

int term_text_columns(FILE *file)
{
    int columns = term_columns(fileno(file));
    return columns < TERM_NARROW ? TERM_NARROW : columns > TERM_WIDE ? TERM_WIDE : columns;
}

/* The length of the next piece: a word, or of one that is wider than a line as many of its
 * alternatives (a|b|c) as fit. */
static int piece_length(const char *text, int room)
{
    int length = (int)strcspn(text, " "), cut = length;
    while (cut > room) {
        const char *bar = memrchr(text, '|', (size_t)cut - 1);
        if (!bar)
            return length;
        cut = (int)(bar - text) + 1;
    }
    return cut;
}

/* Later lines begin with `prefix` and `indent` spaces. */
static void wrap(FILE *file, int column, const char *prefix, int indent, const char *text)
{
    int columns = term_text_columns(file), start = (int)strlen(prefix) + indent;
    const char *begin = text;
    bool fresh = true; /* no word on this line yet */
    while (*text) {
        int length = piece_length(text, columns - start);
        if (!fresh && column + 1 + length > columns) {
            fprintf(file, "\n%s%*s", prefix, indent, "");
            column = start;
            fresh = true;
        }
        bool apart = !fresh && text > begin && text[-1] == ' ';
        column += fprintf(file, "%s%.*s", apart ? " " : "", length, text);
        fresh = false;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', file);
}

void term_wrap(FILE *file, int column, int indent, const char *text)
{
    wrap(file, column, "", indent, text);
}

void term_say(FILE *file, const char *prefix, const char *text)
{
    fputs(prefix, file);
    wrap(file, (int)strlen(prefix), prefix, 0, text);
}
