/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ending strata as the program ended that it ran, so that nobody can tell the difference.
 */
#ifndef CLI_ENDING_H
#define CLI_ENDING_H

#include <stdbool.h>

/* `status` is an exit status or a signal. Does not return, but for an exit with 0, so that
 * main() can still notice what could not be written. */
void end_like(bool signalled, int status);

#endif
