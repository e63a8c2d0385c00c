/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The commands and their options. A new command is a row here and a cmd_*.c beside
 * this file; help, completions and the check of the man pages follow by themselves. */
#include "cli/commands.h"

#include "cli/suggest.h"
#include "core/fail.h"
#include "views/view.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const struct option_spec probe_options[] = {
    {"source", 0, "auto|timing|perf|sim",
     "where the numbers come from; auto (the default) is sim with --machine and timing "
     "without"},
    {"machine", 'm', "FILE",
     "probe a simulated machine: a file, or the name of one that comes with strata"},
    {"method", 0, "timing|counters|both",
     "what is measured: time (the default), counts of misses, or both side by side"},
    {"type", 0, "int|double", "what is loaded when misses are counted; the default is int"},
    {"json", 0, NULL, "print JSON: plain numbers, bytes and cycles"},
    {"why", 0, NULL, "say in full why values are not known or uncertain"},
    {"header", 0, "FILE", "write a C header with what was found"},
    {"save", 0, "FILE", "write a machine file of what was found"},
    {"plot", 0, "FILE", "draw the measured curves, as SVG or PNG by the ending"},
    {"data", 0, "FILE", "write the measured series, as JSON or CSV by the ending"},
    {"log", 0, "FILE", "write them with every trial, as JSON"},
    {"replay", 0, "FILE", "measure nothing: run on what --log wrote"},
    {"compare", 0, NULL, "show beside it what the operating system claims"},
    {"quick", 0, NULL, "take 4 seconds at most, for wider intervals"},
    {"budget", 0, "S", "take S seconds at most; the default is 15"},
    {"cpu", 0, "N", "run on processor N; the default is the quietest"},
    {"seed", 0, "N", "the seed of every random choice"},
    {"no-progress", 0, NULL, "show no progress bar"},
    {0},
};

static const struct option_spec record_options[] = {
    {"source", 0, "auto|sim|perf",
     "where events come from; auto (the default) is what this machine offers"},
    {"machine", 'm', "FILE",
     "the simulated machine: a file, or the name of one that comes with strata; the "
     "default "
     "is this.machine, or else a generic one"},
    {"output", 'o', "FILE", "the profile; the default is PROGRAM.strata"},
    {"exact", 0, NULL, "count every event; the default"},
    {"period", 0, "N", "sample one event in N; with --exact, do both"},
    {"event-level", 0, "N", "sample misses of cache level N; the default is 1"},
    {"interrupt-cycles", 0, "N", "what taking a sample costs; the default is 8800"},
    {"fetches", 0, NULL,
     "instructions are read through the caches too: three to four times slower"},
    {"branches", 0, NULL, "count branches by kind"},
    {"stack-frames", 0, NULL, "split the stack by function"},
    {"paused", 0, NULL, "collect nothing until the program or SIGUSR1 says so"},
    {"duration", 0, "S", "end the program after S seconds"},
    {"no-children", 0, NULL, "do not record programs that it starts"},
    {"seed", 0, "N", "the seed of every random choice"},
    {"keep-raw", 0, "FOLDER", "keep what the collector wrote, in a new folder"},
    {"no-progress", 0, NULL, "show no progress"},
    {0},
};

static const struct option_spec stat_options[] = {
    {"source", 0, "auto|perf|sim",
     "where counts come from; auto (the default) is what this machine offers"},
    {"machine", 'm', "FILE",
     "the simulated machine: a file, or the name of one that comes with strata"},
    {"events", 'e', "EVENTS", "count these, separated by commas; {} makes a group"},
    {"pid", 'p', "PID", "count this process and what it starts"},
    {"all", 'a', NULL, "count all that runs on all processors"},
    {"cgroup", 0, "PATH", "count all that runs in this control group"},
    {"interval", 'I', "MS", "print counts every MS milliseconds"},
    {"repeat", 'r', "N", "run the program N times; print mean and deviation"},
    {"duration", 0, "S", "end after S seconds"},
    {"user", 'u', NULL, "leave the kernel out"},
    {"pinned", 0, NULL, "take turns with nobody: an event has a counter, or none"},
    {"json", 0, NULL, "print JSON: plain numbers, null where nothing was counted"},
    {"csv", 0, NULL, "print CSV: the same"},
    {"output", 'o', "FILE", "write to FILE; the default is standard error"},
    {0},
};

static const struct option_spec serve_options[] = {
    {"source", 0, "auto|perf|sim",
     "where counts come from: the kernel's counters; a simulated machine has nothing to "
     "serve"},
    {"events", 'e', "EVENTS", "count these, separated by commas; {} makes a group"},
    {"pid", 'p', "PID", "count this process and what it starts"},
    {"all", 'a', NULL, "count all that runs on all processors; the default"},
    {"cgroup", 0, "PATH", "count all that runs in this control group"},
    {"interval", 'I', "MS", "read the counters every MS milliseconds; the default is 1000"},
    {"listen", 'l', "ADDRESS:PORT",
     "where to listen; the default is 127.0.0.1:9775, and port 0 is any that is free"},
    {"connections", 0, "N",
     "so many at a time, half of them from one address; the default is 64"},
    {"timeout", 0, "S",
     "close a connection S seconds after its last answer; 20 by default"},
    {"user", 0, "USER", "run as USER once the counters are open; root becomes nobody"},
    {0},
};

static const struct option_spec top_options[] = {
    {"by", 0, "process|cpu", "a row for each process (the default), or processor"},
    {"events", 'e', "EVENTS", "count these, separated by commas"},
    {"pid", 'p', "PIDS", "only these processes, separated by commas"},
    {"delay", 'd', "S", "look every S seconds; the default is 2"},
    {"sort", 0, "COLUMN", "cpu (the default), pid, command, an event or a metric"},
    {"filter", 0, "TEXT", "only names or numbers that contain TEXT"},
    {"batch", 'b', NULL, "print frame after frame; without a terminal, the default"},
    {"frames", 'n', "N", "end after N of them"},
    {"rows", 0, "N", "print so many rows; 0: all; the default is 20, for JSON and CSV all"},
    {"json", 0, NULL, "print a line of JSON for each frame: plain numbers"},
    {"csv", 0, NULL, "print CSV: a line for each row"},
    {0},
};

static const struct option_spec events_options[] = {
    {"pmu", 0, "NAME", "of this PMU: libpfm4's name, a table's, sim or kernel"},
    {"pmus", 0, NULL, "list the PMUs that are known"},
    {"json", 0, NULL, "print JSON"},
    {"csv", 0, NULL, "print CSV"},
    {0},
};

static const struct option_spec inspect_options[] = {
    {"source", 0, "auto|perf|sim",
     "where counts come from; auto (the default) is what this machine offers"},
    {"machine", 'm', "FILE",
     "the simulated machine: a file, or the name of one that comes with strata"},
    {"events", 'e', "EVENTS", "inspect these, separated by commas; the default is all"},
    {"kernels", 0, "branch|cache|system|all", "what is run; the default is all"},
    {"compose", 0, "CATEGORY", "which events together count what this category does"},
    {"verify", 0, NULL, "check that the events of the tables count what they claim"},
    {"plan", 0, NULL, "say what would be run and how long it takes, and end"},
    {"json", 0, NULL, "print JSON: slopes, goodness and signatures of every event"},
    {"csv", 0, NULL, "print CSV: a line for each event"},
    {"plot", 0, "FILE", "draw the curves, as SVG or PNG by the ending"},
    {"noise", 0, "SHARE", "make simulated counts dirty by this share, to test"},
    {"drift", 0, "N", "add a background of N and more to simulated counts, to test"},
    {"seed", 0, "N", "the seed of every random choice"},
    {"no-progress", 0, NULL, "show no progress bar"},
    {0},
};

static const struct option_spec view_options[] = {
    {"object", 0, "NAME", "only this object: its name, the beginning of it, or a pattern"},
    {"function", 0, "NAME", "only this function, named in the same way"},
    {"process", 0, "PID", "only this process"},
    {"sort", 0, "latency|misses|events", "what comes first; the default is latency"},
    {"top", 0, "N", "so many rows, and one for the rest; 0: all; the default is 20"},
    {"json", 0, NULL, "print JSON: plain numbers, whole names, all rows"},
    {"csv", 0, NULL, "print CSV: the same"},
    {0},
};

static const struct option_spec export_options[] = {
    {"format", 0, "FORMAT", "callgrind, the only one and the default: for KCachegrind"},
    {"output", 'o', "FILE", "write to FILE; the default is standard output"},
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
    {"machines", "list the machines that come with strata",
     "Lists the names that --machine takes besides files, with the processor that each "
     "describes and its caches.",
     json_options, NULL, cmd_machines},
    {"record", "record which data a program misses in the caches",
     "Runs a program on a simulated machine and writes a profile: misses and latency by "
     "object, function and line. The program's input, output and exit status are its own.",
     record_options, "PROGRAM...", cmd_record},
    {"stat", "count how often a program or this machine misses",
     "Runs a program, or looks at what is running, and counts misses of caches and TLBs: "
     "by "
     "hardware counters where they are there, else on a simulated machine. What could not "
     "be "
     "counted is said, with the reason. The program's input, output and exit status are "
     "its "
     "own.",
     stat_options, "PROGRAM...", cmd_stat},
    {"serve", "serve counts to Prometheus, and a live page of them",
     "Counts without end, and answers at /metrics in the form that Prometheus reads and at "
     "/ with charts of the last minutes. It listens on this machine alone unless told "
     "otherwise, and gives up its privileges once the counters are open.",
     serve_options, NULL, cmd_serve},
    {"top", "show live what each process or processor misses",
     "Shows rates of events by process or by processor, on a terminal as a live view: h "
     "shows its keys. What cannot be counted is said, with the reason. Into a pipe, or "
     "with "
     "--batch, it prints one frame after the other.",
     top_options, NULL, cmd_top},
    {"events", "list and search the events that can be counted",
     "Shows events with what they count and how they are encoded, for this processor and "
     "for "
     "any other. PATTERN is looked for in names and descriptions; with * or ? it is for "
     "the "
     "whole name.",
     events_options, "PATTERN", cmd_events},
    {"inspect", "say what hardware events really count",
     "Runs kernels whose behaviour is known under every event, and says which category "
     "each "
     "event is in: which branches, which level of cache or TLB, hits or misses, loads or "
     "stores. With EVENT, explains that one in words.",
     inspect_options, "EVENT", cmd_inspect},
    {"view", "show what a profile has to say",
     "Shows data structures, functions and lines by their misses and latency. Without the "
     "name of a view, a terminal gets a prompt with the same words, and a pipe gets totals "
     "and objects.",
     view_options, "FILE " VIEW_WORDS ";" VIEW_LATER, cmd_view},
    {"export", "write a profile in the format of another tool", NULL, export_options,
     "FILE", cmd_export},
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

/* What strata asks of itself and a person need not know. */

static const struct option_spec symbols_options[] = {
    {"cache", 0, "FOLDER", "keep the answers in FOLDER, and take them from there"},
    {0},
};

static const struct command hidden_commands[] = {
    {"symbols", "print the variables of programs and libraries", NULL, symbols_options,
     "FILE...", cmd_symbols},
    {"kernels", "run the kernels of inspect on a simulated machine", NULL, no_options,
     "FILE", cmd_kernels},
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
    for (const struct command *hidden = hidden_commands; hidden->name; hidden++)
        if (strcmp(hidden->name, name) == 0)
            return hidden;
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
