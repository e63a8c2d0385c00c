/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata record: runs a program on a simulated machine and writes a profile of it.
 *
 *     $ strata record -- ./equake < input
 *     strata: no counters here; simulating this.machine under valgrind
 *     ...the program's own output...
 *     strata: 412 M accesses, 31 M L1 misses, 9 objects above 1%: equake.strata (1.1M)
 *
 * All that can be wrong is found before the program is started. Once it runs, its input,
 * output, exit status and end by a signal are its own: strata ends as it did, after the
 * profile is written. What strata has to say goes to standard error. */
#include "cli/commands.h"
#include "cli/ending.h"
#include "cli/output.h"
#include "cli/record_progress.h"
#include "cli/record_words.h"
#include "collect/collect.h"
#include "collect/places.h"
#include "core/fail.h"
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* All that a recording goes by. */
struct recording {
    struct collect_options collect;
    struct program program;
    char machine[PATH_MAX]; /* path of its file */
    char output[PATH_MAX];
};

/* Options. */

static int refuse_source(const struct options *options, struct strata_error *error)
{
    const char *source = option_text(options, "source");
    if (!source || strcmp(source, "perf") != 0)
        return STRATA_OK;
    return fail(error, STRATA_UNABLE,
                "--source perf: recording by hardware counters is not built in; leave "
                "--source out, and the program runs on a simulated machine");
}

static int read_sampling(const struct options *options, struct raw_header *config,
                         struct strata_error *error)
{
    uint64_t level = config->event_level;
    bool sampled = option_given(options, "period");
    int status = option_whole(options, "period", 1, UINT32_MAX, &config->period, error);
    if (!status)
        status = option_whole(options, "event-level", 1, STRATA_MAX_CACHES, &level, error);
    if (!status)
        status = option_whole(options, "interrupt-cycles", 0, UINT32_MAX,
                              &config->interrupt_cycles, error);
    if (status)
        return status;
    config->event_level = (uint32_t)level;
    if (sampled)
        config->collect = RAW_SAMPLED | (option_given(options, "exact") ? RAW_EXACT : 0);
    const char *stray = option_given(options, "event-level")        ? "event-level"
                        : option_given(options, "interrupt-cycles") ? "interrupt-cycles"
                                                                    : NULL;
    if (stray && !sampled)
        return fail(error, STRATA_BAD_INPUT,
                    "--%s is for sampling; give --period N too, or leave it out", stray);
    return STRATA_OK;
}

static int read_config(const struct options *options, struct collect_options *collect,
                       struct strata_error *error)
{
    struct raw_header *config = &collect->config;
    config->fetches = option_given(options, "fetches");
    config->branches = option_given(options, "branches");
    config->stack_frames = option_given(options, "stack-frames");
    config->paused = option_given(options, "paused");
    collect->follow = !option_given(options, "no-children");
    collect->keep = option_text(options, "keep-raw");
    int status = option_whole(options, "seed", 1, UINT64_MAX, &config->seed, error);
    if (!status)
        status = option_decimal(options, "duration", 0.001, 1e7, &collect->duration, error);
    return status ? status : read_sampling(options, config, error);
}

static int read_machine(const struct options *options, struct recording *recording,
                        struct strata_error *error)
{
    struct raw_header *config = &recording->collect.config;
    const char *given = option_text(options, "machine");
    int status = place_of_machine(given, recording->machine, error);
    if (!status)
        status = strata_machine_read(recording->machine, &config->machine, error);
    if (status)
        return status;
    uint32_t levels = raw_cache_levels(&config->machine);
    if (config->event_level > levels)
        return fail(error, STRATA_BAD_INPUT,
                    "--event-level %u: %s has %u cache levels; name one of them",
                    config->event_level, recording->machine, levels);
    return STRATA_OK;
}

/* The profile's place: a regular file that is there, or one that can be made. */
static int read_output(const struct options *options, struct recording *recording,
                       struct strata_error *error)
{
    const char *given = option_text(options, "output");
    const char *program = recording->collect.argv[0], *slash = strrchr(program, '/');
    int length = given ? snprintf(recording->output, PATH_MAX, "%s", given)
                       : snprintf(recording->output, PATH_MAX, "%s.strata",
                                  slash ? slash + 1 : program);
    if (length >= PATH_MAX)
        return fail(error, STRATA_BAD_INPUT, "--output: the name is too long");
    struct stat there;
    if (stat(recording->output, &there) == 0 && !S_ISREG(there.st_mode) &&
        !S_ISDIR(there.st_mode))
        return fail(error, STRATA_BAD_INPUT,
                    "--output %s: a profile is a database and must be a regular file",
                    recording->output);
    return output_check("output", recording->output, error);
}

static int read_options(const struct options *options, struct recording *recording,
                        struct strata_error *error)
{
    collect_defaults(&recording->collect);
    recording->collect.argv = options->operands;
    int status = refuse_source(options, error);
    if (!status && !options->noperands)
        status = fail(error, STRATA_BAD_INPUT,
                      "which program? strata record [OPTION]... -- PROGRAM [ARGUMENT]...");
    if (!status)
        status = read_config(options, &recording->collect, error);
    if (!status)
        status = program_find(options->operands[0], &recording->program, error);
    if (!status)
        status = read_machine(options, recording, error);
    return status ? status : read_output(options, recording, error);
}

/* What is said before the program starts. */

static void announce(const struct options *options, const struct recording *recording)
{
    const char *source = option_text(options, "source");
    const struct record_start start = {.given = option_text(options, "machine"),
                                       .machine = recording->machine,
                                       .automatic = !source || strcmp(source, "auto") == 0,
                                       .fetches = option_given(options, "fetches")};
    record_say_start(&start);
    if (recording->program.is_opaque)
        record_say("%s is linked statically and stripped: its heap blocks have no names",
                   recording->program.path);
}

/* Provenance. */

/* Adds a word as a shell would have to be given it. */
static void print_word(FILE *file, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789%+,-./:=@_";
    if (*word && word[strspn(word, plain)] == '\0') {
        fputs(word, file);
        return;
    }
    putc('\'', file);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", file);
        else
            putc(*word, file);
    putc('\'', file);
}

static void print_program(FILE *file, const struct options *options)
{
    for (int i = 0; i < options->noperands; i++) {
        if (i)
            putc(' ', file);
        print_word(file, options->operands[i]);
    }
}

static void print_command(FILE *file, const struct options *options)
{
    fputs("strata record", file);
    for (int i = 0; options->specs[i].name; i++) {
        if (!options->values[i])
            continue;
        fprintf(file, " --%s", options->specs[i].name);
        if (options->specs[i].argument) {
            putc(' ', file);
            print_word(file, options->values[i]);
        }
    }
    fputs(" -- ", file);
    print_program(file, options);
}

static void print_host(FILE *file, const struct options *options)
{
    struct utsname name;
    char line[256], model[256] = "";
    (void)options;
    if (uname(&name) == 0)
        fprintf(file, "%s, %s %s %s", name.nodename, name.sysname, name.release,
                name.machine);
    FILE *info = fopen("/proc/cpuinfo", "re");
    while (info && !*model && fgets(line, sizeof line, info))
        sscanf(line, "model name : %255[^\n]", model);
    if (info)
        fclose(info);
    if (*model)
        fprintf(file, ", %s", model);
}

/* What a printer prints, as a text that the caller frees; NULL without memory. */
static char *text_of(void (*print)(FILE *, const struct options *),
                     const struct options *options)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return NULL;
    print(file, options);
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}

static int write_profile(const struct options *options, const struct recording *recording,
                         const struct collected *collected, struct profile_summary *summary,
                         struct strata_error *error)
{
    char *command = text_of(print_command, options);
    char *program = text_of(print_program, options);
    char *host = text_of(print_host, options);
    const struct profile_provenance provenance = {
        .command = command,
        .program = program,
        .source = "sim",
        .machine_file = recording->machine,
        .host = host,
        .start = collected->end.start,
        .seconds = collected->end.seconds,
        .end = collected->end.end,
        .status = collected->end.status,
    };
    int status =
        profile_write(recording->output, &provenance, (const char *const *)collected->raws,
                      collected->n, summary, error);
    free(command);
    free(program);
    free(host);
    return status;
}

/* What is said at the end. */

/* Valgrind ends a program whose instructions it does not know, and itself where it finds
 * a mistake of its own; a program that crashes has its own message. */
static void explain_end(const struct collected *collected)
{
    static const struct {
        const char *mark, *meaning;
    } ends[] = {
        {"nrecognised instruction",
         "valgrind does not know an instruction of the program (AVX-512?)"},
        {"'impossible' happened", "valgrind or the collector itself failed"},
    };
    char log[240];
    run_folder_log(&collected->folder, log, sizeof log);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (strstr(log, ends[i].mark)) {
            record_say("%s: %s", ends[i].meaning, log);
            return;
        }
}

/* A disk that is full explains what is missing. */
static void explain_space(const struct collected *collected)
{
    if (run_folder_free(&collected->folder) < RAW_LEAST)
        record_say("the disk of %s is full; set TMPDIR to a folder on another",
                   collected->folder.path);
}

/* No process got as far as leaving a file that can be used. */
static int explain_nothing(const struct collected *collected, const char *why,
                           struct strata_error *error)
{
    char log[240], reason[200];
    snprintf(reason, sizeof reason, "%s", why);
    run_folder_log(&collected->folder, log, sizeof log);
    run_folder_remove(&collected->folder);
    return fail(error, STRATA_FAILED, "nothing was recorded: %s (it ended with %s %d)%s%s",
                reason, collected->end.end == RAW_SIGNALLED ? "signal" : "exit status",
                collected->end.status, *log ? "; valgrind says: " : "", log);
}

/* Ends strata as the program ended. Returns only if that was a success. */
static void end_like_it(const struct child_end *end)
{
    /* The program was told to stop by --duration, and did: that is no failure. */
    if (!end->stopped || end->end != RAW_SIGNALLED)
        end_like(end->end == RAW_SIGNALLED, end->status);
}

static int finish(const struct options *options, const struct recording *recording,
                  const struct collected *collected, struct strata_error *error)
{
    struct profile_summary summary;
    if (!collected->n)
        return explain_nothing(collected, "valgrind could not start the program", error);
    int status = write_profile(options, recording, collected, &summary, error);
    if (status == STRATA_BAD_INPUT)
        return explain_nothing(collected, error->text, error);
    if (status)
        return status;
    explain_end(collected);
    record_say_summary(&summary, recording->output);
    if (summary.skipped || summary.incomplete)
        explain_space(collected);
    record_say_hints(recording->output);
    run_folder_remove(&collected->folder);
    return STRATA_OK;
}

/* Runs the program, with the progress beside it where there is a terminal. */
static int run_shown(const struct options *options, struct recording *recording,
                     struct collected *collected, struct strata_error *error)
{
    struct record_progress progress;
    struct collect_options *collect = &recording->collect;
    record_progress_start(&progress, collect->config.machine.frequency,
                          !option_given(options, "no-progress"));
    collect->interval = progress.shown ? RECORD_PROGRESS_SECONDS : 0;
    collect->tick = record_progress_tick;
    collect->context = &progress;
    int status = collect_run(collect, collected, error);
    record_progress_end(&progress);
    return status;
}

int cmd_record(const struct options *options, struct strata_error *error)
{
    struct recording recording;
    struct collected collected;
    int status = read_options(options, &recording, error);
    if (!status)
        status = collect_prepare(&recording.collect, &collected, error);
    if (status)
        return status;
    announce(options, &recording);
    status = run_shown(options, &recording, &collected, error);
    if (status)
        run_folder_remove(&collected.folder);
    else
        status = finish(options, &recording, &collected, error);
    struct child_end end = collected.end;
    collect_release(&collected);
    if (!status)
        end_like_it(&end);
    return status;
}
