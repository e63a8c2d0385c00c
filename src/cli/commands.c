/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The commands and their options. A new command is a row here and a cmd_*.c beside
 * this file; help, completions and the check of the man pages follow by themselves. */
#include "cli/commands.h"

#include "cli/suggest.h"
#include "core/fail.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const struct option_spec probe_options[] = {
    {"source", 0, "auto|timing|perf|sim",
     "where the numbers come from; auto (the default) is sim with --machine and timing "
     "without"},
    {"machine", 'm', "FILE", "probe the simulated machine that FILE describes"},
    {"method", 0, "timing|counters", "what is measured; the default is timing"},
    {"json", 0, NULL, "print JSON: plain numbers, bytes and cycles"},
    {"header", 0, "FILE", "write a C header with what was found"},
    {"save", 0, "FILE", "write a machine file of what was found"},
    {"plot", 0, "FILE", "draw the measured curves, as SVG or PNG by the ending"},
    {"data", 0, "FILE", "write the measured series, as JSON or CSV by the ending"},
    {"compare", 0, NULL, "show beside it what the operating system claims"},
    {"quick", 0, NULL, "take 4 seconds at most, for wider intervals"},
    {"budget", 0, "S", "take S seconds at most; the default is 15"},
    {"cpu", 0, "N", "run on processor N; the default is the quietest"},
    {"seed", 0, "N", "the seed of every random choice"},
    {"no-progress", 0, NULL, "show no progress bar"},
    {0},
};

static const struct option_spec json_options[] = {
    {"json", 0, NULL, "print JSON"},
    {0},
};

static const struct option_spec no_options[] = {{0}};

const struct command commands[] = {
    {"probe", "find the memory hierarchy of this machine by measuring it",
     "Finds caches, TLBs and memory: how many levels, how large, how wide the lines, how "
     "many ways, how slow. Nothing is read from the operating system's or the processor's "
     "own description.",
     probe_options, NULL, cmd_probe},
    {"doctor", "say what this machine offers for measuring, and what to do about it",
     "Tries each thing that a measurement may need, and says what it found and what to "
     "change. It changes nothing itself.",
     json_options, NULL, cmd_doctor},
    {"completion", "print a completion script for a shell",
     "bash, zsh and fish are scripts for these shells; table is the table of commands and "
     "options that they are made from, separated by tabs.",
     no_options, "bash|zsh|fish|table", cmd_completion},
    {"version", "print the version and what was built in", NULL, json_options, NULL,
     cmd_version},
    {"help", "explain a command", NULL, no_options, "COMMAND", cmd_help},
    {0},
};

const struct command *command_find(const char *name, struct strata_error *error)
{
    const char *names[sizeof commands / sizeof commands[0]];
    char hint[HINT_TEXT];
    size_t n = 0;
    for (; commands[n].name; n++) {
        if (strcmp(commands[n].name, name) == 0)
            return &commands[n];
        names[n] = commands[n].name;
    }
    fail(error, STRATA_BAD_INPUT, "no command %s%s; 'strata help' lists the commands", name,
         hint_nearest(name, names, n, "", hint));
    return NULL;
}

static int run_command(int argc, char **argv, struct strata_error *error)
{
    struct options options;
    const struct command *command = command_find(argv[0], error);
    if (!command)
        return STRATA_BAD_INPUT;
    int status =
        options_parse(&options, command->options, command->operand, argc, argv, error);
    if (status)
        return status;
    if (options.help) {
        help_print(stdout, command);
        return STRATA_OK;
    }
    return command->run(&options, error);
}

/* `strata`, `strata --help` and `strata --version` are commands by other names. */
static int run_top(int argc, char **argv, struct strata_error *error)
{
    static const struct {
        const char *given, *command;
    } aliases[] = {
        {"--help", "help"}, {"-h", "help"}, {"--version", "version"}, {"-V", "version"}};
    static char help[] = "help";
    char *none[] = {help, NULL};
    if (argc < 2)
        return run_command(1, none, error);
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (strcmp(argv[1], aliases[i].given) == 0) {
            char name[16];
            strcpy(name, aliases[i].command);
            argv[1] = name;
            return run_command(argc - 1, argv + 1, error);
        }
    if (argv[1][0] == '-')
        return fail(error, STRATA_BAD_INPUT,
                    "no option %s before a command; 'strata help' says more", argv[1]);
    return run_command(argc - 1, argv + 1, error);
}

int command_dispatch(int argc, char **argv, struct strata_error *error)
{
    int status = run_top(argc, argv, error);
    /* A full disk shows only now, and must not look like success. */
    bool lost = fflush(stdout) != 0 || ferror(stdout);
    if (!status && lost)
        return fail(error, STRATA_FAILED, "cannot write to standard output: %m");
    return status;
}

bool command_wants_json(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

void command_report(const struct strata_error *error, bool json, FILE *out, FILE *err)
{
    const char *text = error->text[0] ? error->text : "failed, and did not say why";
    fprintf(err, "strata: %s\n", text);
    if (!json)
        return;
    /* Text that is not UTF-8 (a path, say) makes json_pack() fail. */
    json_t *object =
        json_pack("{s:{s:i,s:s}}", "error", "status", error->status, "message", text);
    if (!object)
        object = json_pack("{s:{s:i,s:s}}", "error", "status", error->status, "message",
                           "see standard error: the message is not UTF-8");
    char *dump = object ? json_dumps(object, JSON_COMPACT) : NULL;
    if (dump)
        fprintf(out, "%s\n", dump);
    free(dump);
    json_decref(object);
}
