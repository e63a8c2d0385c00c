/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text of a machine file, in memory. */
#ifndef MACHINE_TEXT_H
#define MACHINE_TEXT_H

#include <stddef.h>
#include <strata/error.h>
#include <strata/machine.h>

/* Makes the text that strata_machine_parse() reads back to an equal machine, with
 * `comment` (may be NULL) at its top; the caller frees *text. A machine that
 * strata_machine_check() refuses is refused here. */
int machine_text(const struct strata_machine *machine, const char *comment, char **text,
                 size_t *size, struct strata_error *error);

#endif
