/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata probe: this machine's memory hierarchy, or a simulated one's.
 *
 *     $ strata probe --save this.machine
 *     this machine: timing on cpu 1, 11.2 s
 *                size  usable        line  ways    latency
 *       L1 data   32K  32K             64     8   4 cycles    1.1 ns
 *       …
 *     saved   this.machine
 *     next    strata record --machine this.machine -- ./your-program
 *
 * All that can be wrong with the options is found before anything is measured, so that
 * no measurement is lost to a folder that is not there. What was found is printed before
 * files are written, for the same reason. Ctrl-C ends the measurement early; what is
 * known by then is printed and written like the rest, and the exit status is 1. */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/term.h"
#include "collect/places.h"
#include "core/fail.h"
#include "core/version.h"
#include "dataset/dataset.h"
#include "host/claims.h"
#include "host/identity.h"
#include "host/state.h"
#include "report/probe_report.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <strata/machine.h>
#include <strata/probe.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { QUICK_SECONDS = 4, PICTURE_ROWS = 18 };

/* Files that may be written, in the order of their writing. */

static int save_machine(const struct strata_probed *probed, const char *path,
                        struct strata_error *error)
{
    struct strata_machine machine;
    int status = strata_probed_machine(probed, &machine, error);
    if (status)
        return status;
    char *comment = probe_comment(probed);
    if (!comment)
        return fail(error, STRATA_FAILED, "%s: out of memory", path);
    status = strata_machine_write(path, &machine, comment, error);
    char last[PATH_MAX];
    /* A convenience for `strata record`: nothing is lost if it cannot be written. */
    if (!status && strcmp(probed->source, "timing") == 0 &&
        state_file(STATE_LAST_MACHINE, true, last))
        (void)strata_machine_write(last, &machine, comment, NULL);
    free(comment);
    return status;
}

static int save_data(const struct strata_probed *probed, const char *path,
                     struct strata_error *error)
{
    struct dataset series = *probed->data;
    series.trials = NULL;
    return dataset_write(&series, path, error);
}

static int save_log(const struct strata_probed *probed, const char *path,
                    struct strata_error *error)
{
    return dataset_write(probed->data, path, error);
}

static const struct output {
    const char *option;
    const char *endings[2]; /* that it must have one of; NULL: any */
    int (*write)(const struct strata_probed *probed, const char *path,
                 struct strata_error *error);
} outputs[] = {
    {"save", {NULL, NULL}, save_machine},   {"header", {NULL, NULL}, probe_header},
    {"plot", {".svg", ".png"}, probe_plot}, {"data", {".json", ".csv"}, save_data},
    {"log", {".json", ".json"}, save_log},
};
enum { OUTPUTS = sizeof outputs / sizeof outputs[0] };

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), n = strlen(ending);
    return length > n && strcmp(path + length - n, ending) == 0;
}

static int check_ending(const struct output *output, const char *path,
                        struct strata_error *error)
{
    const char *const *e = output->endings;
    if (!e[0] || ends_in(path, e[0]) || ends_in(path, e[1]))
        return STRATA_OK;
    bool one = e[0] == e[1];
    return fail(error, STRATA_BAD_INPUT, "--%s %s: the name must end in %s%s%s",
                output->option, path, e[0], one ? "" : " or ", one ? "" : e[1]);
}

/* One regular file under two names. Two that are not there yet are told by name. */
static bool same_file(const char *a, const char *b)
{
    struct stat one, other;
    if (stat(a, &one) != 0 || stat(b, &other) != 0)
        return strcmp(a, b) == 0;
    return S_ISREG(one.st_mode) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* No output may replace another one, or what is read. */
static int check_distinct(const struct options *options, size_t at,
                          struct strata_error *error)
{
    const char *path = option_text(options, outputs[at].option);
    const char *name = option_text(options, "machine");
    char machine[PATH_MAX];
    if (name && !place_of_machine(name, machine, NULL) && same_file(path, machine))
        return fail(error, STRATA_BAD_INPUT,
                    "--%s %s would replace the machine that is probed; name another file",
                    outputs[at].option, path);
    const char *replay = option_text(options, "replay");
    if (replay && same_file(path, replay))
        return fail(error, STRATA_BAD_INPUT,
                    "--%s %s would replace the log that is replayed; name another file",
                    outputs[at].option, path);
    for (size_t i = 0; i < at; i++) {
        const char *other = option_text(options, outputs[i].option);
        if (other && same_file(path, other))
            return fail(error, STRATA_BAD_INPUT, "--%s and --%s are the same file, %s",
                        outputs[i].option, outputs[at].option, path);
    }
    return STRATA_OK;
}

static int check_outputs(const struct options *options, struct strata_error *error)
{
    int status = STRATA_OK;
    for (size_t i = 0; i < OUTPUTS && !status; i++) {
        const char *path = option_text(options, outputs[i].option);
        if (!path)
            continue;
        status = check_ending(&outputs[i], path, error);
        if (!status)
            status = output_check(outputs[i].option, path, error);
        if (!status)
            status = check_distinct(options, i, error);
    }
    return status;
}

/* Options. */

static bool is(const struct options *options, const char *name, const char *value)
{
    const char *text = option_text(options, name);
    return text && strcmp(text, value) == 0;
}

static bool counts_wanted(const struct options *options)
{
    return is(options, "method", "counters") || is(options, "method", "both");
}

/* A log has a machine, a method, a budget and a seed of its own. */
static int refuse_beside_replay(const struct options *options, struct strata_error *error)
{
    static const char *const settled[] = {"source", "machine", "method", "quick",
                                          "budget", "cpu",     "seed",   "compare"};
    for (size_t i = 0; i < sizeof settled / sizeof *settled; i++)
        if (option_given(options, settled[i]) && option_given(options, "replay"))
            return fail(error, STRATA_BAD_INPUT,
                        "--%s: what is replayed was measured before; leave it out, or "
                        "leave out --replay",
                        settled[i]);
    return STRATA_OK;
}

static int refuse_contradictions(const struct options *options, struct strata_error *error)
{
    bool machine = option_given(options, "machine"), counts = counts_wanted(options);
    if (is(options, "source", "perf") && (machine || !counts))
        return fail(error, STRATA_BAD_INPUT,
                    "--source perf counts on this machine: give --method counters, and no "
                    "--machine");
    if (option_given(options, "type") && !counts)
        return fail(error, STRATA_BAD_INPUT,
                    "--type: the clock loads addresses; give --method counters too");
    if (option_given(options, "log") && counts)
        return fail(error, STRATA_BAD_INPUT,
                    "--log: counts are not made of trials; leave out --method");
    if (is(options, "source", "sim") && !machine)
        return fail(error, STRATA_BAD_INPUT,
                    "--source sim: which machine? Give --machine FILE too");
    if (is(options, "source", "timing") && machine)
        return fail(error, STRATA_BAD_INPUT,
                    "--source timing measures this machine, --machine a simulated one; "
                    "leave one of them out");
    if (option_given(options, "cpu") && machine)
        return fail(error, STRATA_BAD_INPUT,
                    "--cpu: a simulated machine has no processors to choose from; leave "
                    "it out");
    if (option_given(options, "quick") && option_given(options, "budget"))
        return fail(error, STRATA_BAD_INPUT,
                    "--quick is --budget %d; leave one of them out", QUICK_SECONDS);
    return refuse_beside_replay(options, error);
}

/* A container or taskset may leave fewer processors than the machine has. */
static int check_cpu(uint64_t cpu, struct strata_error *error)
{
    enum { MOST = 65536 };
    cpu_set_t *allowed = CPU_ALLOC(MOST);
    if (!allowed)
        return fail(error, STRATA_FAILED, "out of memory");
    size_t size = CPU_ALLOC_SIZE(MOST);
    bool known = sched_getaffinity(0, size, allowed) == 0;
    int may = !known || CPU_ISSET_S(cpu, size, allowed);
    CPU_FREE(allowed);
    return may ? STRATA_OK
               : fail(error, STRATA_BAD_INPUT,
                      "--cpu %" PRIu64 ": strata may not run there; `taskset -cp $$` names "
                      "the processors that it may run on",
                      cpu);
}

static int read_numbers(const struct options *options, struct strata_probe_options *probe,
                        struct strata_error *error)
{
    uint64_t cpu = UINT64_MAX;
    if (option_given(options, "quick"))
        probe->budget = QUICK_SECONDS;
    int status = option_decimal(options, "budget", 1, 3600, &probe->budget, error);
    if (!status)
        status = option_whole(options, "cpu", 0, 65535, &cpu, error);
    if (!status)
        status = option_whole(options, "seed", 1, UINT64_MAX, &probe->seed, error);
    if (!status && cpu != UINT64_MAX)
        status = check_cpu(cpu, error);
    probe->cpu = cpu == UINT64_MAX ? -1 : (int)cpu;
    return status;
}

static int read_options(const struct options *options, struct strata_probe_options *probe,
                        struct strata_machine *machine, struct strata_error *error)
{
    *probe = (struct strata_probe_options){.cpu = -1};
    int status = refuse_contradictions(options, error);
    if (!status)
        status = read_numbers(options, probe, error);
    probe->method = counts_wanted(options) ? STRATA_COUNTERS : STRATA_TIMING;
    probe->type = is(options, "type", "double") ? STRATA_FLOAT : STRATA_INT;
    probe->kernels = option_given(options, "plot") || option_given(options, "data");
    probe->log = option_given(options, "log");
    if (!status && option_given(options, "machine")) {
        char path[PATH_MAX];
        status = place_of_machine(option_text(options, "machine"), path, error);
        if (!status)
            status = strata_machine_read(path, machine, error);
        probe->machine = machine;
    }
    return status ? status : check_outputs(options, error);
}

static int read_log(const struct options *options, struct dataset **log,
                    struct strata_error *error)
{
    const char *path = option_text(options, "replay");
    int status = path ? dataset_read(path, log, error) : STRATA_OK;
    if (!status && path && !(*log)->trials)
        return fail(error, STRATA_BAD_INPUT,
                    "--replay %s: it has no trials; `strata probe --log FILE` writes them",
                    path);
    return status;
}

/* Provenance: the command line, as far as it was understood, and what was measured, where
 * and when. This machine's name is for titles; no answer rests on it. */

static void name_machine(struct strata_probed *probed)
{
    struct dataset *data = probed->data;
    char name[sizeof probed->name];
    time_t now = time(NULL);
    struct tm day;
    if (localtime_r(&now, &day))
        strftime(data->date, sizeof data->date, "%Y-%m-%d", &day);
    if (probed->cpu < 0)
        return; /* it is simulated */
    host_name(data->host, sizeof data->host);
    processor_name("", name, sizeof name);
    if (*name) {
        strcpy(probed->name, name);
        snprintf(data->machine, sizeof data->machine, "%s", name);
    }
}

static void name_command(const struct options *options, struct dataset *data)
{
    size_t size = sizeof data->command;
    size_t used = (size_t)snprintf(data->command, size, "strata probe");
    for (int i = 0; options->specs[i].name && used < size; i++) {
        const char *value = options->values[i];
        if (value)
            used += (size_t)snprintf(data->command + used, size - used, " --%s%s%s",
                                     options->specs[i].name, *value ? " " : "", value);
    }
    snprintf(data->version, sizeof data->version, "%s", build_version);
}

/* Printing. */

static int read_claims(const struct strata_probed *probed,
                       const struct strata_machine *machine, struct claims *claims,
                       struct strata_error *error)
{
    if (!machine)
        return claims_read("/", probed->cpu, claims, error);
    claims_of_machine(machine, claims);
    return STRATA_OK;
}

static int print_json(const struct strata_probed *probed, const struct strata_probed *timed,
                      const struct claims *claims, struct strata_error *error)
{
    json_t *json = probe_json(probed);
    int bad = !json;
    if (timed) {
        bad |= json_object_set_new(json, "timing", probe_json(timed));
        bad |= json_object_set_new(json, "verdicts", verdicts_json(probed, timed));
    }
    if (claims)
        bad |= json_object_set_new(json, "claims", claims_json(claims));
    char *text = bad ? NULL : json_dumps(json, PROBE_JSON_FLAGS);
    json_decref(json);
    if (!text)
        return fail(error, STRATA_FAILED, "out of memory while writing JSON");
    puts(text);
    free(text);
    return STRATA_OK;
}

static void print_table(const struct strata_probed *probed, bool why, int columns)
{
    probe_table(stdout, probed, term_has_colour(stdout), columns);
    (why ? probe_why : probe_why_line)(stdout, probed, columns);
}

static void print_text(const struct options *options, const struct strata_probed *probed,
                       const struct strata_probed *timed, const struct claims *claims)
{
    int columns = term_text_columns(stdout);
    bool colour = term_has_colour(stdout), why = option_given(options, "why");
    print_table(probed, why, columns);
    if (timed) {
        putchar('\n');
        print_table(timed, why, columns);
        putchar('\n');
        probe_verdicts(stdout, probed, timed, columns);
    }
    if (claims) {
        putchar('\n');
        probe_compare(stdout, probed, claims, colour, columns);
    }
    if (term_is_terminal(STDOUT_FILENO)) {
        putchar('\n');
        probe_picture(stdout, timed ? timed : probed, colour, columns, PICTURE_ROWS);
    }
}

static int print_findings(const struct options *options, const struct strata_probed *probed,
                          const struct strata_probed *timed,
                          const struct strata_machine *machine, struct strata_error *error)
{
    struct claims claims;
    bool compare = option_given(options, "compare");
    int status = compare ? read_claims(probed, machine, &claims, error) : STRATA_OK;
    if (status)
        return status;
    if (option_given(options, "json"))
        return print_json(probed, timed, compare ? &claims : NULL, error);
    print_text(options, probed, timed, compare ? &claims : NULL);
    return STRATA_OK;
}

/* Writes every file that was asked for, also behind one that failed; the first error
 * counts. Names those that were written, in one line, unless `quiet`. */
static int write_outputs(const struct options *options, const struct strata_probed *probed,
                         bool quiet, struct strata_error *error)
{
    int status = STRATA_OK;
    bool any = false;
    for (size_t i = 0; i < OUTPUTS; i++) {
        const char *path = option_text(options, outputs[i].option);
        if (!path)
            continue;
        int now = outputs[i].write(probed, path, status ? NULL : error);
        status = status ? status : now;
        if (now || quiet)
            continue;
        printf("%s%s", any ? "   " : "saved   ", path);
        any = true;
    }
    if (any)
        putchar('\n');
    return status;
}

/* What a person at a terminal may want to do now, as it can be typed: the program by the
 * name by which it was called. A command that is too wide begins a line of its own. */
__attribute__((format(printf, 1, 2))) static void print_step(const char *format, ...)
{
    char command[PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    size_t width = strlen("next    ") + strlen(program_invocation_name) + strlen(command);
    printf("next%s%s%s\n", width < (size_t)term_text_columns(stdout) ? "    " : "\n  ",
           program_invocation_name, command);
}

static void print_next(const struct options *options)
{
    const char *saved = option_text(options, "save");
    const char *machine = option_text(options, "machine");
    if (saved)
        print_step(" record --machine %s -- ./your-program", saved);
    else if (machine && !option_given(options, "compare"))
        print_step(" probe --machine %s --compare", machine);
    else if (!machine && !option_given(options, "replay"))
        print_step(" probe --save this.machine --plot probe.svg");
}

static int show(const struct options *options, const struct strata_probed *probed,
                const struct strata_probed *timed, const struct strata_machine *machine,
                struct strata_error *error)
{
    bool json = option_given(options, "json");
    int status = print_findings(options, probed, timed, machine, error);
    fflush(stdout); /* a file may be /dev/stdout */
    int written = write_outputs(options, probed, json, status ? NULL : error);
    status = status ? status : written;
    bool person = !json && term_is_terminal(STDOUT_FILENO);
    if (!status && person && !progress_interrupted())
        print_next(options);
    if (!status && progress_interrupted())
        return fail(error, STRATA_FAILED,
                    "interrupted: what is shown is what was known by then; run it again "
                    "for the rest");
    return status;
}

/* Measuring. */

int cmd_probe(const struct options *options, struct strata_error *error)
{
    struct strata_machine machine;
    struct strata_probe_options probe;
    struct strata_probed probed = {0}, timed = {0};
    struct dataset *log = NULL;
    struct progress progress;
    bool both = is(options, "method", "both");
    setlocale(LC_CTYPE, ""); /* whether the terminal takes UTF-8 */
    int status = read_options(options, &probe, &machine, error);
    if (!status)
        status = read_log(options, &log, error);
    probe.replay = log;
    if (status) {
        dataset_release(log);
        return status;
    }
    progress_start(&progress, "strata probe", !option_given(options, "no-progress"));
    probe.progress = progress_update;
    probe.context = &progress;
    status = strata_probe(&probe, &probed, error);
    probe.method = STRATA_TIMING;
    if (!status && both)
        status = strata_probe(&probe, &timed, error);
    progress_end(&progress);
    if (!status) {
        name_command(options, probed.data);
        name_machine(&probed);
        if (both)
            name_machine(&timed);
        status = show(options, &probed, both ? &timed : NULL, probe.machine, error);
    }
    strata_probed_release(&probed);
    strata_probed_release(&timed);
    dataset_release(log);
    return status;
}
