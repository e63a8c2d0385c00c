/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ending as a program did; ending.h has the contract. */
#include "cli/ending.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

void end_like(bool signalled, int status)
{
    sigset_t all;
    if (!signalled && status)
        exit(status);
    if (!signalled)
        return;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* the program left one, if any */
    signal(status, SIG_DFL);
    sigfillset(&all);
    raise(status);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    exit(128 + status);
}
