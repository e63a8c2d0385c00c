/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata help: the table of commands, for people.
 *
 *     Usage: strata doctor [OPTION]...
 *     Say what this machine offers for measuring, and what to do about it.
 *     ...
 *     Options
 *           --json            print JSON
 *       -h, --help            print this */
#include "cli/commands.h"
#include "cli/term.h"

#include <ctype.h>
#include <string.h>

enum { COMMAND_COLUMN = 16, OPTION_COLUMN = 30, OPTION_COLUMN_NARROW = 18, NARROW = 72 };

/* Where the text of options begins: a narrow terminal needs its columns for the text. */
static int option_column(FILE *file)
{
    return term_text_columns(file) < NARROW ? OPTION_COLUMN_NARROW : OPTION_COLUMN;
}

/* Pads to a column; a left side that is too long gets a line of its own. */
static void print_row(FILE *file, const char *left, int column, const char *text)
{
    int length = (int)strlen(left);
    fputs(left, file);
    if (length + 2 > column) {
        fputc('\n', file);
        length = 0;
    }
    fprintf(file, "%*s", column - length, "");
    term_wrap(file, column, column, text);
}

static void print_option(FILE *file, const struct option_spec *spec)
{
    char left[80], letter[5] = "    ";
    if (spec->letter)
        snprintf(letter, sizeof letter, "-%c, ", spec->letter);
    snprintf(left, sizeof left, "  %s--%s%s%s", letter, spec->name,
             spec->argument ? " " : "", spec->argument ? spec->argument : "");
    print_row(file, left, option_column(file), spec->help);
}

static void print_usage(FILE *file, const struct command *command)
{
    char usage[256], operand[OPERAND_TEXT];
    size_t used = (size_t)snprintf(usage, sizeof usage, "Usage: strata %s [OPTION]...",
                                   command->name);
    for (int i = 0; operand_at(command->operand, i, operand) && used < sizeof usage; i++)
        used += (size_t)snprintf(usage + used, sizeof usage - used, " [%s]", operand);
    term_wrap(file, 0, (int)strlen("Usage: "), usage);
}

/* A summary as a sentence. */
static void print_sentence(FILE *file, const char *summary)
{
    char sentence[160];
    snprintf(sentence, sizeof sentence, "%c%s.", toupper((unsigned char)summary[0]),
             summary + 1);
    term_wrap(file, 0, 0, sentence);
}

static void print_command(FILE *file, const struct command *command)
{
    static const struct option_spec help = {"help", 'h', NULL, "print this"};
    print_usage(file, command);
    print_sentence(file, command->summary);
    if (command->about) {
        fputc('\n', file);
        term_wrap(file, 0, 0, command->about);
    }
    fputs("\nOptions\n", file);
    for (const struct option_spec *spec = command->options; spec->name; spec++)
        print_option(file, spec);
    print_option(file, &help);
}

static void print_commands(FILE *file)
{
    fputs("Usage: strata COMMAND [OPTION]...\n"
          "Measures memory hierarchies.\n\nCommands\n",
          file);
    for (const struct command *command = commands; command->name; command++) {
        char left[32];
        snprintf(left, sizeof left, "  %s", command->name);
        print_row(file, left, COMMAND_COLUMN, command->summary);
    }
    fputs("\n'strata help COMMAND' explains one of them.\n", file);
    term_wrap(file, 0, 0,
              "Exit status: 0 done, 1 failed while running, 2 wrong usage or bad input, "
              "3 this machine cannot do that.");
}

void help_print(FILE *file, const struct command *command)
{
    if (command)
        print_command(file, command);
    else
        print_commands(file);
}

int cmd_help(const struct options *options, struct strata_error *error)
{
    const struct command *command = NULL;
    if (options->noperands) {
        command = command_find(options->operands[0], error);
        if (!command)
            return STRATA_BAD_INPUT;
    }
    help_print(stdout, command);
    return STRATA_OK;
}
