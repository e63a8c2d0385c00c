/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Taking a terminal over, and giving it back as it was, whatever happens. */
#ifndef CLI_TOP_TERMINAL_H
#define CLI_TOP_TERMINAL_H

#include <stdbool.h>
#include <strata/error.h>

/* Starts curses. Signals that end a program are blocked from then on, and asked for by
 * terminal_wait(); those of a crash give the terminal back first. STRATA_UNABLE: nothing is
 * known of such a terminal. */
int terminal_enter(struct strata_error *error);
void terminal_leave(void);

enum terminal_event { TERMINAL_TIME, TERMINAL_KEY, TERMINAL_END };

/* Waits for a key (or a new size, which curses shows as one), a signal that asks to end, or
 * the time to come; the end of the terminal is as such a signal. */
enum terminal_event terminal_wait(double seconds);

#endif
