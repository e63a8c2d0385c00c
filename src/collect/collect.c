/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Starting valgrind with strata's tool. Its messages go to files in the run's folder, so
 * that the program's standard error is its own; settings that a user has for other tools
 * of valgrind (VALGRIND_OPTS, .valgrindrc) are not read. */
#include "collect/collect.h"

#include "collect/places.h"
#include "core/fail.h"
#include "host/shipped.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INTERRUPT_CYCLES = 8800 };

void collect_defaults(struct collect_options *options)
{
    *options = (struct collect_options){
        .follow = true,
        .config = {.magic = RAW_MAGIC,
                   .version = RAW_VERSION,
                   .size = sizeof(struct raw_header),
                   .collect = RAW_EXACT,
                   .event_level = 1,
                   .interrupt_cycles = INTERRUPT_CYCLES,
                   .seed = 1,
                   .used = sizeof(struct raw_header),
                   .command = RAW_NONE},
    };
}

/* Text that grows by parts, and one flag for all failures. */
struct line {
    char *words[16];
    size_t n;
    bool no_memory;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format,
                                                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *word = NULL;
    if (vasprintf(&word, format, arguments) < 0)
        line->no_memory = true;
    else
        line->words[line->n++] = word;
    va_end(arguments);
}

static void line_release(struct line *line)
{
    for (size_t i = 0; i < line->n; i++)
        free(line->words[i]);
}

/* valgrind expands % in the name of its log. */
static void add_log(struct line *line, const char *folder)
{
    char escaped[2 * PATH_MAX], *to = escaped;
    for (const char *from = folder; *from && to < escaped + sizeof escaped - 2; from++) {
        if (*from == '%')
            *to++ = '%';
        *to++ = *from;
    }
    *to = '\0';
    add(line, "--log-file=%s/%%p.log", escaped);
}

static void add_options(struct line *line, const struct collect_options *options,
                        const char *folder, const char *strata)
{
    add(line, "valgrind");
    add(line, "--command-line-only=yes");
    add(line, "--tool=strata");
    add(line, "-q");
    add(line, "--sigill-diagnostics=yes");
    add(line, "--vgdb=no"); /* its pipes would be left behind by a SIGKILL */
    add_log(line, folder);
    add(line, "--trace-children=%s", options->follow ? "yes" : "no");
    add(line, "--strata-dir=%s", folder);
    add(line, "--strata-symbols=%s", strata);
    add(line, "--");
}

/* The words of the line and then the program's; NULL without memory. */
static char **join_arguments(const struct line *line, char *const *argv)
{
    size_t n = 0;
    while (argv[n])
        n++;
    char **all = line->no_memory ? NULL : calloc(line->n + n + 1, sizeof *all);
    if (all) {
        memcpy(all, line->words, line->n * sizeof *all);
        memcpy(all + line->n, argv, n * sizeof *all);
    }
    return all;
}

/* A copy of the environment with VALGRIND_LIB in it. */
static char **make_environment(char *variable)
{
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **all = calloc(n + 2, sizeof *all);
    for (size_t i = 0; all && i < n; i++)
        if (strncmp(environ[i], "VALGRIND_LIB=", strlen("VALGRIND_LIB=")) != 0)
            all[kept++] = environ[i];
    if (all)
        all[kept] = variable;
    return all;
}

static void toggle(void *context)
{
    struct collected *run = context;
    run->paused = !run->paused;
    (void)run_folder_command(&run->folder, run->paused ? 'p' : 's');
}

static void tick(void *context)
{
    const struct collected *run = context;
    run->options->tick(&run->folder, run->options->context);
}

static int find_places(struct collected *run, struct strata_error *error)
{
    char folder[PATH_MAX];
    int status = place_of_valgrind(run->valgrind, error);
    if (!status)
        status = place_of_collector(folder, error);
    if (!status)
        status = place_of_program(run->strata, error);
    if (!status)
        snprintf(run->library, sizeof run->library, "VALGRIND_LIB=%s", folder);
    return status;
}

int collect_prepare(const struct collect_options *options, struct collected *collected,
                    struct strata_error *error)
{
    *collected = (struct collected){.paused = options->config.paused};
    int status = find_places(collected, error);
    if (!status)
        status = run_folder_make(&collected->folder, options->keep, error);
    if (status)
        return status;
    status = run_folder_configure(&collected->folder, &options->config, error);
    if (status)
        run_folder_remove(&collected->folder);
    return status;
}

static int start_and_wait(const struct collect_options *options, struct collected *run,
                          struct strata_error *error)
{
    struct line line = {.n = 0};
    run->options = options;
    add_options(&line, options, run->folder.path, run->strata);
    char **argv = join_arguments(&line, options->argv);
    char **environment = make_environment(run->library);
    const struct child_options child = {.file = run->valgrind,
                                        .argv = argv,
                                        .environment = environment,
                                        .duration = options->duration,
                                        .toggle = toggle,
                                        .interval = options->interval,
                                        .tick = tick,
                                        .context = run};
    int status = argv && environment ? child_run(&child, &run->end, error)
                                     : fail(error, STRATA_FAILED, "out of memory");
    free(argv);
    free(environment);
    line_release(&line);
    return status;
}

int collect_run(const struct collect_options *options, struct collected *collected,
                struct strata_error *error)
{
    int status = start_and_wait(options, collected, error);
    return status ? status
                  : run_folder_raws(&collected->folder, collected->end.pid,
                                    &collected->raws, &collected->n, error);
}

void collect_release(struct collected *collected)
{
    free(collected->raws);
    *collected = (struct collected){.n = 0};
}
