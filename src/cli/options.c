/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The option parser: getopt_long() does the reading, the table does the rest.
 *
 * getopt_long() also takes unambiguous beginnings of long names and lets options
 * follow operands; "--" ends them. */
#include "cli/options.h"

#include "cli/suggest.h"
#include "core/fail.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row's number as getopt_long() returns it: above every character. */
enum { ROW = 256, HELP_ROW = ROW + OPTIONS_MAX };

const char *choice_at(const char *choices, int i, char text[CHOICE_TEXT])
{
    if (!choices || !strchr(choices, '|'))
        return NULL;
    for (; i > 0; i--) {
        choices = strchr(choices, '|');
        if (!choices)
            return NULL;
        choices++;
    }
    size_t length = strcspn(choices, "|");
    assert(length < CHOICE_TEXT);
    memcpy(text, choices, length);
    text[length] = '\0';
    return text;
}

const char *operand_at(const char *operand, int i, char text[OPERAND_TEXT])
{
    for (; operand && i > 0; i--) {
        operand = strchr(operand, ' ');
        operand = operand ? operand + 1 : NULL;
    }
    if (!operand)
        return NULL;
    size_t length = strcspn(operand, " ;");
    assert(length < OPERAND_TEXT);
    memcpy(text, operand, length);
    text[length] = '\0';
    return text;
}

/* `what` names the setting in the message: "--source" or "operand". */
static int check_choice(const char *what, const char *choices, const char *value,
                        struct strata_error *error)
{
    char words[OPTIONS_MAX][CHOICE_TEXT], hint[HINT_TEXT];
    const char *list[OPTIONS_MAX];
    int n = 0;
    while (n < OPTIONS_MAX && choice_at(choices, n, words[n])) {
        if (strcmp(words[n], value) == 0)
            return STRATA_OK;
        list[n] = words[n];
        n++;
    }
    if (n == 0)
        return STRATA_OK;
    return fail(error, STRATA_BAD_INPUT, "%s %s: it must be one of %s%s", what, value,
                choices, hint_nearest(value, list, (size_t)n, "", hint));
}

static int count_specs(const struct option_spec *specs)
{
    int n = 0;
    while (specs[n].name)
        n++;
    assert(n < OPTIONS_MAX - 1);
    return n;
}

/* Turns the table into getopt_long()'s two. letters holds "+:" and two characters each. */
static void make_tables(const struct option_spec *specs, bool program, struct option *longs,
                        char *letters)
{
    int n = count_specs(specs);
    if (program)
        *letters++ = '+'; /* what follows the first operand is not ours */
    *letters++ = ':';     /* so that a missing argument is told from an unknown option */
    for (int i = 0; i < n; i++) {
        longs[i] = (struct option){
            .name = specs[i].name,
            .has_arg = specs[i].argument ? required_argument : no_argument,
            .val = ROW + i,
        };
        if (specs[i].letter)
            *letters++ = specs[i].letter;
        if (specs[i].letter && specs[i].argument)
            *letters++ = ':';
    }
    longs[n] = (struct option){.name = "help", .has_arg = no_argument, .val = HELP_ROW};
    longs[n + 1] = (struct option){0};
    *letters++ = 'h';
    *letters = '\0';
}

static int row_of(const struct option_spec *specs, int returned)
{
    if (returned >= ROW)
        return returned - ROW;
    for (int i = 0; specs[i].name; i++)
        if (specs[i].letter == returned)
            return i;
    return -1;
}

/* An option that is not there, or a flag that was given an argument. */
static int refuse(const struct option_spec *specs, const char *command, const char *given,
                  struct strata_error *error)
{
    int row = row_of(specs, optopt);
    if (optopt >= ROW)
        return fail(error, STRATA_BAD_INPUT, "--%s takes no argument",
                    optopt == HELP_ROW ? "help" : specs[row].name);
    if (optopt)
        return fail(error, STRATA_BAD_INPUT,
                    "no option -%c; 'strata help %s' lists the options", optopt, command);
    const char *names[OPTIONS_MAX];
    char word[64], hint[HINT_TEXT];
    int n = 0;
    for (; specs[n].name; n++)
        names[n] = specs[n].name;
    names[n++] = "help";
    snprintf(word, sizeof word, "%.*s", (int)strcspn(given + 2, "="), given + 2);
    return fail(error, STRATA_BAD_INPUT,
                "no option --%s%s; 'strata help %s' lists the options", word,
                hint_nearest(word, names, (size_t)n, "--", hint), command);
}

static int missing_argument(const struct option_spec *specs, struct strata_error *error)
{
    const struct option_spec *spec = &specs[row_of(specs, optopt)];
    return fail(error, STRATA_BAD_INPUT, "--%s needs an argument: --%s %s", spec->name,
                spec->name, spec->argument);
}

static int take_value(struct options *options, int row, struct strata_error *error)
{
    const struct option_spec *spec = &options->specs[row];
    char what[64];
    options->values[row] = spec->argument ? optarg : "";
    snprintf(what, sizeof what, "--%s", spec->name);
    return spec->argument ? check_choice(what, spec->argument, optarg, error) : STRATA_OK;
}

static bool takes_many(const char *operand)
{
    size_t length = operand ? strlen(operand) : 0;
    return length > 3 && strcmp(operand + length - 3, "...") == 0;
}

/* Whether a value is one of the words that are taken without being offered. */
static bool is_taken(const char *operand, int i, const char *value)
{
    char word[CHOICE_TEXT];
    const char *end = operand;
    for (; end && i > 0; i--)
        end = strchr(end, ' ') ? strchr(end, ' ') + 1 : NULL;
    const char *words = end ? end + strcspn(end, " ;") : "";
    for (int n = 0; *words == ';' && choice_at(words + 1, n, word); n++)
        if (strcmp(word, value) == 0)
            return true;
    return false;
}

static const char *const allowances[] = {"options only", "one operand only",
                                         "two operands only"};

static int take_operands(struct options *options, const char *operand, int argc,
                         char **argv, struct strata_error *error)
{
    options->operands = argv + optind;
    options->noperands = argc - optind;
    if (takes_many(operand))
        return STRATA_OK;
    char one[OPERAND_TEXT];
    int allowed = 0, status = STRATA_OK;
    while (operand_at(operand, allowed, one))
        allowed++;
    if (options->noperands > allowed)
        return fail(error, STRATA_BAD_INPUT, "%s: %s takes %s; 'strata help %s' says more",
                    options->operands[allowed], argv[0], allowances[allowed], argv[0]);
    for (int i = 0; i < options->noperands && !status; i++)
        if (!is_taken(operand, i, options->operands[i]))
            status = check_choice(argv[0], operand_at(operand, i, one),
                                  options->operands[i], error);
    return status;
}

int options_parse(struct options *options, const struct option_spec *specs,
                  const char *operand, int argc, char **argv, struct strata_error *error)
{
    struct option longs[OPTIONS_MAX];
    char letters[2 * OPTIONS_MAX + 4];
    int returned, status = STRATA_OK;
    *options = (struct options){.specs = specs};
    make_tables(specs, operand && strcmp(operand, "PROGRAM...") == 0, longs, letters);
    optind = 0; /* glibc: begin anew */
    opterr = 0;
    while (!status && (returned = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        if (returned == 'h' || returned == HELP_ROW) {
            options->help = true;
            return STRATA_OK;
        }
        if (returned == '?')
            status = refuse(specs, argv[0], argv[optind - 1], error);
        else if (returned == ':')
            status = missing_argument(specs, error);
        else
            status = take_value(options, row_of(specs, returned), error);
    }
    return status ? status : take_operands(options, operand, argc, argv, error);
}

const char *option_text(const struct options *options, const char *name)
{
    for (int i = 0; options->specs[i].name; i++)
        if (strcmp(options->specs[i].name, name) == 0)
            return options->values[i];
    assert(!"an option that the table does not have");
    return NULL;
}

bool option_given(const struct options *options, const char *name)
{
    return option_text(options, name) != NULL;
}

int option_whole(const struct options *options, const char *name, uint64_t low,
                 uint64_t high, uint64_t *value, struct strata_error *error)
{
    const char *text = option_text(options, name);
    if (!text)
        return STRATA_OK;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end || errno || number < low || number > high)
        return fail(error, STRATA_BAD_INPUT,
                    "--%s %s: it must be a whole number from %llu to %llu", name, text,
                    (unsigned long long)low, (unsigned long long)high);
    *value = number;
    return STRATA_OK;
}

int option_decimal(const struct options *options, const char *name, double low, double high,
                   double *value, struct strata_error *error)
{
    const char *text = option_text(options, name);
    if (!text)
        return STRATA_OK;
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end || !isfinite(number) || number < low || number > high)
        return fail(error, STRATA_BAD_INPUT, "--%s %s: it must be a number from %g to %g",
                    name, text, low, high);
    *value = number;
    return STRATA_OK;
}
