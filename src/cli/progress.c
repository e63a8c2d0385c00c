/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The progress bar. The time left assumes that the rest goes as fast as what is done:
 *
 *     strata probe: L2 ways             [#############-------]  65%  4 s left */
#include "cli/progress.h"

#include "cli/term.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 20, TAIL = 2 + BAR + 18 };

/* A signal handler has no other place to leave word. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int columns_of(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_col > TERM_COLUMNS)
        return TERM_COLUMNS;
    return size.ws_col;
}

void progress_start(struct progress *progress, const char *title, bool wanted)
{
    /* SA_RESETHAND: the second Ctrl-C ends the program. */
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    *progress = (struct progress){
        .title = title,
        .shown = wanted && term_is_terminal(STDERR_FILENO),
        .fd = STDERR_FILENO,
        .columns = columns_of(STDERR_FILENO),
        .start = seconds(),
    };
    interrupted = 0;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &progress->before);
}

static void time_left(char *text, size_t size, double left)
{
    int whole = left > 59940 ? 59940 : (int)(left + 0.5);
    if (left < 0)
        snprintf(text, size, "          ");
    else if (whole < 100)
        snprintf(text, size, "%3d s left", whole);
    else
        snprintf(text, size, "%3d m left", whole / 60);
}

void progress_line(char *line, size_t size, int columns, const char *title,
                   const char *what, double done, double left)
{
    char bar[BAR + 1], head[TERM_COLUMNS], tail[TAIL + 32], rest[24];
    done = done < 0 ? 0 : done > 1 ? 1 : done;
    int full = (int)(done * BAR), room = columns - 1 - TAIL;
    memset(bar, '-', BAR);
    memset(bar, '#', (size_t)full);
    bar[BAR] = '\0';
    time_left(rest, sizeof rest, left);
    snprintf(head, sizeof head, "%s%s%s", title, what ? ": " : "", what ? what : "");
    snprintf(tail, sizeof tail, " [%s] %3d%% %s", bar, (int)(done * 100), rest);
    if (room < 8) /* a narrow terminal: no room for the name */
        snprintf(line, size, "%.*s", columns - 1, tail + 1);
    else
        snprintf(line, size, "%-*.*s%s", room, room, head, tail);
}

/* Best effort: a terminal that is gone is no reason to stop the work. */
static void put(int fd, const char *text)
{
    ssize_t ignored = write(fd, text, strlen(text));
    (void)ignored;
}

int progress_update(void *context, double done, const char *what)
{
    struct progress *progress = context;
    double now = seconds(), gone = now - progress->start;
    if (progress->shown && gone >= 1 && now - progress->last >= 0.1) {
        char line[TERM_COLUMNS + 8];
        double left = done > 0.01 ? gone * (1 - done) / done : -1;
        progress_line(line, sizeof line, progress->columns, progress->title, what, done,
                      left);
        put(progress->fd, "\r\033[K");
        put(progress->fd, line);
        progress->drawn = true;
        progress->last = now;
    }
    return interrupted;
}

void progress_end(struct progress *progress)
{
    if (progress->drawn)
        put(progress->fd, "\r\033[K");
    progress->drawn = false;
    sigaction(SIGINT, &progress->before, NULL);
}

bool progress_interrupted(void)
{
    return interrupted;
}
