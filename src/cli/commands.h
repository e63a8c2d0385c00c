/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of commands: all that strata can do, as data. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/options.h"

#include <stdio.h>

struct command {
    const char *name;
    const char *summary;               /* one line, lower case, no full stop */
    const char *about;                 /* a paragraph for --help, or NULL */
    const struct option_spec *options; /* ends with a row without a name */
    const char *operand;               /* what may follow, as in options.h, or NULL */
    /* Prints the answer to stdout; returns an enum strata_status, which is the exit
     * status. Never prints an error: main() does. */
    int (*run)(const struct options *options, struct strata_error *error);
};

extern const struct command commands[]; /* ends with a row without a name */

/* The command of that name; if there is none, NULL and a STRATA_BAD_INPUT error that
 * names the nearest. */
const struct command *command_find(const char *name, struct strata_error *error);

/* Does what the arguments of main() say, except for printing the error. */
int command_dispatch(int argc, char **argv, struct strata_error *error);

/* Prints `strata: …` to `err`, and with `json` the same as an object to `out`. */
void command_report(const struct strata_error *error, bool json, FILE *out, FILE *err);

/* Whether --json is among the arguments, also of a command line that is wrong. */
bool command_wants_json(int argc, char **argv);

int cmd_probe(const struct options *options, struct strata_error *error);
int cmd_machines(const struct options *options, struct strata_error *error);
int cmd_record(const struct options *options, struct strata_error *error);
int cmd_stat(const struct options *options, struct strata_error *error);
int cmd_serve(const struct options *options, struct strata_error *error);
int cmd_top(const struct options *options, struct strata_error *error);
int cmd_events(const struct options *options, struct strata_error *error);
int cmd_inspect(const struct options *options, struct strata_error *error);
int cmd_kernels(const struct options *options, struct strata_error *error);
int cmd_view(const struct options *options, struct strata_error *error);
int cmd_export(const struct options *options, struct strata_error *error);
int cmd_doctor(const struct options *options, struct strata_error *error);
int cmd_symbols(const struct options *options, struct strata_error *error);
int cmd_help(const struct options *options, struct strata_error *error);
int cmd_version(const struct options *options, struct strata_error *error);
int cmd_completion(const struct options *options, struct strata_error *error);

/* The help of one command, or of strata if NULL. */
void help_print(FILE *file, const struct command *command);

#endif
