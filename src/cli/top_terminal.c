/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The terminal of `strata top`; top_terminal.h has the contract.
 *
 * A crash may happen anywhere, so that its handler may not call curses: what takes a
 * terminal back is written as text that was looked up before. */
#include "cli/top_terminal.h"

#include "core/fail.h"

#include <curses.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

static struct {
    SCREEN *screen;
    struct termios before;
    char leave[128]; /* what makes the terminal as it was */
    size_t length;
    sigset_t mask;
    int signals; /* descriptor */
} terminal;

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};
static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static void give_back(int number)
{
    (void)!write(STDOUT_FILENO, terminal.leave, terminal.length);
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
    raise(number); /* the handler is gone by now: SA_RESETHAND */
}

static void add_capability(const char *name)
{
    const char *text = tigetstr(name);
    if (!text || text == (char *)-1)
        return;
    size_t length = strlen(text);
    if (terminal.length + length > sizeof terminal.leave)
        return;
    memcpy(terminal.leave + terminal.length, text, length);
    terminal.length += length;
}

static void catch_crashes(void)
{
    static const char *const capabilities[] = {"sgr0", "rmkx", "cnorm", "rmcup"};
    struct sigaction action = {.sa_handler = give_back,
                               .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    terminal.length = 0;
    for (size_t i = 0; i < sizeof capabilities / sizeof capabilities[0]; i++)
        add_capability(capabilities[i]);
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
        sigaction(crashes[i], &action, NULL);
}

static int catch_endings(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        sigaddset(&set, endings[i]);
    sigprocmask(SIG_BLOCK, &set, &terminal.mask);
    terminal.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return terminal.signals;
}

static void set_modes(void)
{
    cbreak();
    noecho();
    nodelay(stdscr, TRUE);
    keypad(stdscr, TRUE);
    set_escdelay(25); /* Esc is a key here, and terminals are near */
    curs_set(0);
    if (has_colors() && !(getenv("NO_COLOR") && *getenv("NO_COLOR"))) {
        start_color();
        use_default_colors();
        init_pair(1, COLOR_YELLOW, -1);
    }
}

int terminal_enter(struct strata_error *error)
{
    const char *name = getenv("TERM");
    tcgetattr(STDIN_FILENO, &terminal.before);
    if (catch_endings() < 0)
        return fail(error, STRATA_FAILED, "cannot wait for signals: %s", strerror(errno));
    terminal.screen = newterm(NULL, stdout, stdin);
    if (!terminal.screen) {
        close(terminal.signals);
        return fail(error, STRATA_UNABLE,
                    "nothing is known of a terminal %s; set TERM, or use --batch",
                    name ? name : "without TERM");
    }
    set_term(terminal.screen);
    catch_crashes();
    set_modes();
    return STRATA_OK;
}

void terminal_leave(void)
{
    if (!terminal.screen)
        return;
    endwin();
    delscreen(terminal.screen);
    terminal.screen = NULL;
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
        signal(crashes[i], SIG_DFL);
    close(terminal.signals);
}

enum terminal_event terminal_wait(double seconds)
{
    struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                           {.fd = terminal.signals, .events = POLLIN}};
    int ms = (int)fmin(fmax(0, ceil(1000 * seconds)), 1e6);
    int got = poll(fds, 2, ms);
    if (got < 0) /* SIGWINCH */
        return errno == EINTR ? TERMINAL_KEY : TERMINAL_END;
    if (fds[1].revents || (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)))
        return TERMINAL_END;
    return got ? TERMINAL_KEY : TERMINAL_TIME;
}
