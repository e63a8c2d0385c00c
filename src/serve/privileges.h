/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Giving up what a process no longer needs once its counters and its socket are open. */
#ifndef SERVE_PRIVILEGES_H
#define SERVE_PRIVILEGES_H

#include <strata/error.h>
#include <sys/types.h>

struct privileges {
    char user[64]; /* whose name the process has now */
    uid_t uid;
    gid_t gid;
};

/* Becomes `user` (a name or a number; NULL: nobody, or the same as before if that was not
 * root), and gives up groups, all capabilities and the way back to them, in all threads
 * that there are: to be called before others are started. Then looks whether it is so.
 *
 * STRATA_BAD_INPUT: there is no such user, or it is root. STRATA_FAILED: something was
 * kept; the process must not go on. */
int privileges_drop(const char *user, struct privileges *left, struct strata_error *error);

#endif
