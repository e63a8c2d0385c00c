/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata completion: scripts that complete commands, options and their arguments in
 * a shell, made from the table of commands. What an argument may be is a kind; each shell
 * has its own words for each. Names of machines and events are asked for when they are
 * completed, of the strata that is being typed.
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

/* What may stand for an argument or operand. */
enum kind { ANYTHING, WORDS, PATHS, MACHINES, EVENTS, PROFILES, KINDS };

/* `spec` is the option whose argument it is; NULL: it is an operand. A file that is an
 * operand is a profile: no public command takes another. */
static enum kind kind_of(const struct option_spec *spec, const char *argument)
{
    if (!argument)
        return ANYTHING;
    if (strchr(argument, '|') || strcmp(argument, "COMMAND") == 0)
        return WORDS;
    if (strcmp(argument, "EVENTS") == 0 || strcmp(argument, "EVENT") == 0)
        return EVENTS;
    if (strcmp(argument, "PROGRAM...") == 0)
        return PATHS;
    if (strcmp(argument, "FILE") != 0)
        return ANYTHING;
    return !spec ? PROFILES : strcmp(spec->name, "machine") == 0 ? MACHINES : PATHS;
}

static void print_argument_words(const char *argument)
{
    if (strcmp(argument, "COMMAND") == 0)
        print_commands();
    else
        print_words(argument);
}

/* bash. */

/* What is asked of strata, as the rest of a command line of a shell: a name a line. */
#define ASK_MACHINES "machines 2>/dev/null | sed -n 's/^  \\([^ ][^ ]*\\).*/\\1/p'"
#define ASK_EVENTS   "events --csv 2>/dev/null | sed 1d | cut -d '\"' -f 4 | sort -u"

static const char *const bash_kinds[KINDS] = {
    [PATHS] = "_strata_paths",
    [MACHINES] = "_strata_machines",
    [EVENTS] = "_strata_events",
    [PROFILES] = "_strata_profiles",
};

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
        enum kind kind = kind_of(spec, spec->argument);
        if (bash_kinds[kind])
            printf("%s; ", bash_kinds[kind]);
        if (kind == WORDS) {
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
    const char *more = NULL;
    for (int i = 0; operand_at(command->operand, i, operand); i++) {
        enum kind kind = kind_of(NULL, operand);
        more = bash_kinds[kind] ? bash_kinds[kind] : more;
        if (kind == WORDS) {
            putchar(' ');
            print_argument_words(operand);
        }
    }
    printf("\"%s%s ;;\n", more ? "; " : "", more ? more : "");
}

static void print_bash(void)
{
    puts(
        "# bash completion for strata\n"
        "_strata_paths() { local IFS=$'\\n'; COMPREPLY=($(compgen -f -- \"$cur\")); }\n"
        "_strata_ending() { # files with this ending, and folders\n"
        "    local IFS=$'\\n'\n"
        "    COMPREPLY+=($(compgen -f -X \"!*$1\" -- \"$cur\") $(compgen -d -- \"$cur\"))\n"
        "}\n"
        "_strata_profiles() { _strata_ending .strata; }\n"
        "_strata_machines() {\n"
        "    COMPREPLY=($(compgen -W \"$(\"$strata\" " ASK_MACHINES ")\" -- \"$cur\"))\n"
        "    _strata_ending .machine\n"
        "}\n"
        "_strata_events() {\n"
        "    local before=\n"
        "    case $cur in *,*) before=${cur%,*}, ;; esac\n"
        "    COMPREPLY=($(compgen -P \"$before\" -W \"$(\"$strata\" " ASK_EVENTS ")\" \\\n"
        "        -- \"${cur##*,}\"))\n"
        "}\n"
        "_strata() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
        "    local cmd=${COMP_WORDS[1]} words= strata=${COMP_WORDS[0]/#\\~/$HOME}\n"
        "    COMPREPLY=()\n"
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
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\") \"${COMPREPLY[@]}\")\n"
         "}\n"
         "complete -o filenames -F _strata strata");
}

/* zsh. */

static void zsh_argument(const struct option_spec *spec, const char *argument)
{
    static const char *const kinds[KINDS] = {
        [PATHS] = "_files",
        [MACHINES] = "_strata_machines",
        [EVENTS] = "_strata_events",
        [PROFILES] = "_files -g \"*.strata\"",
    };
    enum kind kind = kind_of(spec, argument);
    if (!argument)
        return;
    fputs(":", stdout);
    print_quoted(kind == WORDS ? "word" : argument, ":");
    fputs(":", stdout);
    if (kinds[kind])
        fputs(kinds[kind], stdout);
    if (kind == WORDS) {
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
        zsh_argument(spec, spec->argument);
        putchar('\'');
    }
    char operand[OPERAND_TEXT];
    for (int i = 0; operand_at(command->operand, i, operand); i++) {
        printf(" \\\n        '%d", i + 1);
        zsh_argument(NULL, operand);
        putchar('\'');
    }
    puts(" ;;");
}

static void print_zsh(void)
{
    puts("#compdef strata\n"
         "_strata_machines() {\n"
         "    local -a found\n"
         "    found=(${(f)\"$($strata " ASK_MACHINES ")\"})\n"
         "    compadd -a found\n"
         "    _files -g '*.machine'\n"
         "}\n"
         "_strata_events() {\n"
         "    local -a found\n"
         "    found=(${(f)\"$($strata " ASK_EVENTS ")\"})\n"
         "    compset -P '*,'\n"
         "    compadd -a found\n"
         "}\n"
         "_strata() {\n"
         "    local strata=${~words[1]}\n"
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

/* fish. */

static const char *const fish_kinds[KINDS] = {
    [PATHS] = " -F",
    [MACHINES] = " -a '(__strata_machines)'",
    [EVENTS] = " -a '(__strata_events)'",
    [PROFILES] = " -a '(__strata_ending .strata)'",
};

static void fish_option(const char *command, const struct option_spec *spec)
{
    printf("complete -c strata -n '__fish_seen_subcommand_from %s' -l %s", command,
           spec->name);
    if (spec->letter)
        printf(" -s %c", spec->letter);
    enum kind kind = kind_of(spec, spec->argument);
    if (spec->argument)
        fputs(kind == PATHS ? " -r" : " -x", stdout);
    if (fish_kinds[kind])
        fputs(fish_kinds[kind], stdout);
    if (kind == WORDS) {
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
    enum kind kind = kind_of(NULL, operand);
    if (kind != WORDS && !fish_kinds[kind])
        return;
    printf("complete -c strata -n '__fish_seen_subcommand_from %s'", command);
    if (fish_kinds[kind]) {
        puts(fish_kinds[kind]);
        return;
    }
    fputs(" -a '", stdout);
    print_argument_words(operand);
    puts("'");
}

static void print_fish(void)
{
    const struct option_spec *spec;
    puts("# fish completion for strata\n"
         "function __strata_program\n"
         "    set -l words (commandline -opc)\n"
         "    string replace -r '^~' $HOME -- $words[1]\n"
         "end\n"
         "function __strata_ending\n"
         "    set -l found (commandline -ct)*$argv[1] (commandline -ct)*/\n"
         "    string join \\n -- $found\n"
         "end\n"
         "function __strata_machines\n"
         "    set -l strata (__strata_program)\n"
         "    $strata " ASK_MACHINES "\n"
         "    __strata_ending .machine\n"
         "end\n"
         "function __strata_events\n"
         "    set -l strata (__strata_program)\n"
         "    set -l before (string match -r '^.*,' -- (commandline -ct))\n"
         "    string join \\n -- \"$before\"($strata " ASK_EVENTS ")\n"
         "end\n"
         "complete -c strata -f");
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
