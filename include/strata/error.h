/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What went wrong, as a value: the library never prints and never exits.
 *
 * Every call that can fail returns one of the statuses below and, if given an
 * error object, fills in a sentence that names the file and line or the setting
 * and says what to do next. The statuses are also the exit statuses of strata. */
#ifndef STRATA_ERROR_H
#define STRATA_ERROR_H

/* What the library exports: nothing else can collide with a program's own names. */
#define STRATA_API __attribute__((visibility("default")))

enum strata_status {
    STRATA_OK = 0,
    STRATA_FAILED = 1,    /* it failed while running */
    STRATA_BAD_INPUT = 2, /* wrong usage or bad input */
    STRATA_UNABLE = 3     /* this machine cannot do that */
};

struct strata_error {
    int status;     /* enum strata_status; 0 until something fails */
    char text[508]; /* one sentence, no newline at the end */
};

#endif
