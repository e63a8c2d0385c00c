/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata completion: scripts that complete commands, options and their arguments in
 * a shell, made from the table of commands.
 *
 * `table` is that table as text, one row a line: command, option, letter, argument,
 * help, separated by tabs. A row without an option is the command itself, with its
 * operand and summary. scripts/man-drift reads it. */
#include "cli/commands.h"
#include "core/fail.h"

#include <string.h>

static const struct option_spec help_option = {"help", 'h', NULL, "print help"};

/* Rows of a command's table and then --help; NULL past it. */
static const struct option_spec *option_at(const struct command *command, int i)
{
    int n = 0;
    while (command->options[n].name)
        n++;
    if (i < n)
        return &command->options[i];
    return i == n ? &help_option : NULL;
}

static void print_words(const char *choices)
{
    char word[CHOICE_TEXT];
    for (int i = 0; choice_at(choices, i, word); i++)
        printf("%s%s", i ? " " : "", word);
}

static void print_commands(void)
{
    for (const struct command *c = commands; c->name; c++)
        printf("%s%s", c == commands ? "" : " ", c->name);
}

/* Text within single quotes of a shell; `special` gets a backslash before it. */
static void print_quoted(const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\'", stdout);
        else if (strchr(special, *text))
            putchar('\\');
        putchar(*text);
    }
}

/* Words that an argument may be, for the shells that take a list. */
static bool has_words(const char *argument)
{
    return argument && (strchr(argument, '|') || strcmp(argument, "COMMAND") == 0);
}

static void print_argument_words(const char *argument)
{
    if (strcmp(argument, "COMMAND") == 0)
        print_commands();
    else
        print_words(argument);
}

static bool is_path(const char *argument)
{
    return argument &&
           (strcmp(argument, "FILE") == 0 || strcmp(argument, "PROGRAM...") == 0);
}

static void bash_arguments(const struct command *command)
{
    const struct option_spec *spec;
    for (int i = 0; (spec = option_at(command, i)); i++) {
        if (!spec->argument)
            continue;
        printf("    %s:--%s", command->name, spec->name);
        if (spec->letter)
            printf("|%s:-%c", command->name, spec->letter);
        fputs(") ", stdout);
        if (is_path(spec->argument))
            fputs("COMPREPLY=($(compgen -f -- \"$cur\")); ", stdout);
        if (has_words(spec->argument)) {
            fputs("COMPREPLY=($(compgen -W \"", stdout);
            print_argument_words(spec->argument);
            fputs("\" -- \"$cur\")); ", stdout);
        }
        puts("return ;;");
    }
}

static void bash_options(const struct command *command)
{
    const struct option_spec *spec;
    printf("    %s) words=\"", command->name);
    for (int i = 0; (spec = option_at(command, i)); i++)
        printf("%s--%s", i ? " " : "", spec->name);
    char operand[OPERAND_TEXT];
    bool files = false;
    for (int i = 0; operand_at(command->operand, i, operand); i++) {
        files |= is_path(operand);
        if (has_words(operand)) {
            putchar(' ');
            print_argument_words(operand);
        }
    }
    printf("\"%s ;;\n", files ? " files=yes" : "");
}

static void print_bash(void)
{
    puts("# bash completion for strata\n"
         "_strata() {\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
         "    local cmd=${COMP_WORDS[1]} words= files=\n"
         "    if [ \"$COMP_CWORD\" -eq 1 ]; then cmd=; fi\n"
         "    case $cmd:$prev in");
    for (const struct command *c = commands; c->name; c++)
        bash_arguments(c);
    fputs("    esac\n    case $cmd in\n    '') words=\"", stdout);
    print_commands();
    puts(" --help --version\" ;;");
    for (const struct command *c = commands; c->name; c++)
        bash_options(c);
    puts("    esac\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")\n"
         "        ${files:+$(compgen -f -- \"$cur\")})\n"
         "}\n"
         "complete -o filenames -F _strata strata");
}

static void zsh_argument(const char *argument)
{
    if (!argument)
        return;
    fputs(":", stdout);
    print_quoted(is_path(argument) || !has_words(argument) ? argument : "word", ":");
    fputs(":", stdout);
    if (is_path(argument))
        fputs("_files", stdout);
    if (has_words(argument)) {
        putchar('(');
        print_argument_words(argument);
        putchar(')');
    }
}

static void zsh_command(const struct command *command)
{
    const struct option_spec *spec;
    printf("    %s) _arguments", command->name);
    for (int i = 0; (spec = option_at(command, i)); i++) {
        printf(" \\\n        '--%s%s[", spec->name, spec->argument ? "=" : "");
        print_quoted(spec->help, "[]:\\");
        putchar(']');
        zsh_argument(spec->argument);
        putchar('\'');
    }
    char operand[OPERAND_TEXT];
    for (int i = 0; operand_at(command->operand, i, operand); i++) {
        printf(" \\\n        '%d", i + 1);
        zsh_argument(operand);
        putchar('\'');
    }
    puts(" ;;");
}

static void print_zsh(void)
{
    puts("#compdef strata\n"
         "_strata() {\n"
         "    local -a names\n"
         "    names=(");
    for (const struct command *c = commands; c->name; c++) {
        printf("        '%s:", c->name);
        print_quoted(c->summary, ":\\");
        puts("'");
    }
    puts("    )\n"
         "    if (( CURRENT == 2 )); then\n"
         "        _describe command names\n"
         "        return\n"
         "    fi\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "    case $words[1] in");
    for (const struct command *c = commands; c->name; c++)
        zsh_command(c);
    puts("    esac\n}\n_strata \"$@\"");
}

static void fish_option(const char *command, const struct option_spec *spec)
{
    printf("complete -c strata -n '__fish_seen_subcommand_from %s' -l %s", command,
           spec->name);
    if (spec->letter)
        printf(" -s %c", spec->letter);
    if (is_path(spec->argument))
        fputs(" -r -F", stdout);
    else if (spec->argument)
        fputs(" -x", stdout);
    if (has_words(spec->argument)) {
        fputs(" -a '", stdout);
        print_argument_words(spec->argument);
        putchar('\'');
    }
    fputs(" -d '", stdout);
    for (const char *c = spec->help; *c; c++) /* fish: \' within quotes */
        printf("%s%c", *c == '\'' || *c == '\\' ? "\\" : "", *c);
    puts("'");
}

static void fish_operand(const char *command, const char *operand)
{
    if (!has_words(operand) && !is_path(operand))
        return;
    printf("complete -c strata -n '__fish_seen_subcommand_from %s' ", command);
    if (is_path(operand)) {
        puts("-F");
        return;
    }
    fputs("-a '", stdout);
    print_argument_words(operand);
    puts("'");
}

static void print_fish(void)
{
    const struct option_spec *spec;
    puts("# fish completion for strata\ncomplete -c strata -f");
    for (const struct command *c = commands; c->name; c++) {
        printf("complete -c strata -n __fish_use_subcommand -a %s -d '", c->name);
        for (const char *s = c->summary; *s; s++)
            printf("%s%c", *s == '\'' || *s == '\\' ? "\\" : "", *s);
        puts("'");
        for (int i = 0; (spec = option_at(c, i)); i++)
            fish_option(c->name, spec);
        char operand[OPERAND_TEXT];
        for (int i = 0; operand_at(c->operand, i, operand); i++)
            fish_operand(c->name, operand);
    }
}

static void print_table(void)
{
    const struct option_spec *spec;
    for (const struct command *c = commands; c->name; c++) {
        printf("%s\t\t\t%.*s\t%s\n", c->name,
               (int)strcspn(c->operand ? c->operand : "", ";"),
               c->operand ? c->operand : "", c->summary);
        for (int i = 0; (spec = option_at(c, i)); i++) {
            char letter[2] = {spec->letter, '\0'};
            printf("%s\t%s\t%s\t%s\t%s\n", c->name, spec->name, letter,
                   spec->argument ? spec->argument : "", spec->help);
        }
    }
}

int cmd_completion(const struct options *options, struct strata_error *error)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", print_bash},
                  {"zsh", print_zsh},
                  {"fish", print_fish},
                  {"table", print_table}};
    if (!options->noperands)
        return fail(error, STRATA_BAD_INPUT,
                    "completion needs a shell: strata completion bash|zsh|fish");
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++)
        if (strcmp(options->operands[0], shells[i].name) == 0)
            shells[i].print();
    return STRATA_OK;
}
