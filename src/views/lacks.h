/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a profile could have told with more help from outside: debug information of what
 * runs most, and threads that wait without running. */
#ifndef VIEWS_LACKS_H
#define VIEWS_LACKS_H

#include "profile/profile.h"

#include <limits.h>

struct lacks {
    double blind;          /* share of the latency in `module`, which has no line numbers */
    char module[PATH_MAX]; /* of all such ones, that with the most; "": there is none */
    bool openmp;           /* a library of OpenMP was used */
};

int lacks_find(const struct profile *profile, struct lacks *lacks,
               struct strata_error *error);

#endif
