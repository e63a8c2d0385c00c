/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Options described as tables, and read by them.
 *
 * The same table makes the parser, --help, the completions and the check of the man
 * pages, so that they cannot drift apart. Every command has --help (-h) without
 * saying so. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <strata/error.h>

/* What an argument is follows from its name: "FILE" is a path, "COMMAND" the name of
 * a command, "a|b|c" one of those words (checked when parsing), anything else free. */
struct option_spec {
    const char *name;     /* the long one, without dashes; NULL ends a table */
    char letter;          /* the short one, or 0 */
    const char *argument; /* NULL: a flag */
    const char *help;     /* lower case, no full stop */
};

enum { OPTIONS_MAX = 32 };

struct options {
    const struct option_spec *specs;
    const char *values[OPTIONS_MAX]; /* by row of specs; NULL: not given; "": a flag */
    bool help;                       /* --help was given; nothing else was checked */
    int noperands;
    char **operands; /* points into argv */
};

/* Reads argv[1..] by the table; argv[0] is the command's name. `operand` names what
 * may follow the options, at most once, as for an argument above; NULL: nothing may.
 * Two are separated by a space: "FILE a|b|c".
 * One that ends in "..." may be given many times; "PROGRAM..." is a command line of its
 * own, so that the first operand ends the options.
 * Given twice, the last one counts. Fails with STRATA_BAD_INPUT, naming the option
 * and the nearest one that there is. Uses getopt_long(), so it is not reentrant. */
int options_parse(struct options *options, const struct option_spec *specs,
                  const char *operand, int argc, char **argv, struct strata_error *error);

/* `name` must be in the table. The text of an option's argument; NULL: not given. */
const char *option_text(const struct options *options, const char *name);
bool option_given(const struct options *options, const char *name);

/* The argument as a number in [low, high]; *value is left alone if it is not given. */
int option_whole(const struct options *options, const char *name, uint64_t low,
                 uint64_t high, uint64_t *value, struct strata_error *error);
int option_decimal(const struct options *options, const char *name, double low, double high,
                   double *value, struct strata_error *error);

/* Splits "a|b|c"; returns the word at index i in text, or NULL past the last one.
 * A text without '|' has no words. */
enum { CHOICE_TEXT = 32 };
const char *choice_at(const char *choices, int i, char text[CHOICE_TEXT]);

/* The operand at index i of those that `operand` names, in text; NULL past the last. Words
 * behind a ';', as in "a|b;c|d", are taken from the user and offered nowhere. */
enum { OPERAND_TEXT = 80 };
const char *operand_at(const char *operand, int i, char text[OPERAND_TEXT]);

#endif
