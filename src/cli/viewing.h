/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Showing a view of an open profile as options say; the command line and the prompt both
 * do it by this. */
#ifndef CLI_VIEWING_H
#define CLI_VIEWING_H

#include "cli/options.h"
#include "profile/profile.h"

/* Prints a view to stdout. The options are those of `strata view`. `heading`: begin with
 * what was recorded. */
int viewing_show(const struct profile *profile, const char *view,
                 const struct options *options, bool heading, struct strata_error *error);

/* The prompt, until quit or the end of the input. */
int prompt_run(const struct profile *profile, const struct options *options,
               struct strata_error *error);

#endif
