/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata view: what a profile has to say.
 *
 *     $ strata view equake.strata objects
 *     equake.strata: ./equake on Tiny, exact
 *     objects, by latency: 50,000,000 cycles of latency, 1,000,000 misses, 50.0 an event
 *       object             latency  %latency             misses  %misses  cyc/event
 *       mem_init-main   41,000,000      82.0 ████████   650,000     65.0       63.1
 *       …
 *
 * Without a view a person at a terminal gets a prompt with the same words; a pipe gets
 * totals and objects. */
#include "cli/commands.h"
#include "cli/term.h"
#include "cli/viewing.h"
#include "core/fail.h"

#include <locale.h>
#include <unistd.h>

/* No view was named. */
static int show_default(const struct profile *profile, const struct options *options,
                        struct strata_error *error)
{
    bool text = !option_given(options, "json") && !option_given(options, "csv");
    if (text && term_is_terminal(STDIN_FILENO) && term_is_terminal(STDOUT_FILENO))
        return prompt_run(profile, options, error);
    bool whole = !option_given(options, "object") && !option_given(options, "function");
    int status = STRATA_OK;
    if (text && whole)
        status = viewing_show(profile, "totals", options, true, error);
    if (!status && text && whole)
        putchar('\n');
    return status ? status
                  : viewing_show(profile, "objects", options, text && !whole, error);
}

int cmd_view(const struct options *options, struct strata_error *error)
{
    struct profile *profile;
    if (!options->noperands)
        return fail(error, STRATA_BAD_INPUT,
                    "view needs a profile: strata view FILE; 'strata record' makes one");
    setlocale(LC_CTYPE, ""); /* whether the terminal takes UTF-8 */
    int status = profile_open(options->operands[0], &profile, error);
    if (status)
        return status;
    if (options->noperands > 1)
        status = viewing_show(profile, options->operands[1], options, true, error);
    else
        status = show_default(profile, options, error);
    profile_close(profile);
    return status;
}
