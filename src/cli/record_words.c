/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The words of strata record; record_words.h has the contract. */
#include "cli/record_words.h"

#include "cli/record_progress.h"
#include "cli/term.h"
#include "core/units.h"
#include "host/facts.h"
#include "host/state.h"
#include "views/lacks.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Less than this of the latency without line numbers is nobody's trouble. */
static const double MUCH = 0.1;

static const char prefix[] = "strata: ";
static const char no_probe[] = " (no probe)";

void record_say(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    term_say(stderr, prefix, text);
    free(text);
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Why a machine that was not asked for was taken; this.machine says so itself. */
static const char *why_machine(const struct record_start *start)
{
    if (start->given || !strchr(start->machine, '/'))
        return "";
    bool last = strcmp(file_name(start->machine), STATE_LAST_MACHINE) == 0;
    return last ? " (last probe)" : no_probe;
}

static const char *why_simulated(void)
{
    struct fact counters = {.name = "hardware_counters"};
    fact_hardware_counters("", &counters);
    return counters.state == FACT_MISSING ? "no counters here; "
                                          : "counters are not built in; ";
}

void record_say_start(const struct record_start *start)
{
    const char *why = why_machine(start);
    record_say("%ssimulating %s%s under valgrind", start->automatic ? why_simulated() : "",
               start->given ? start->given : file_name(start->machine), why);
    if (!term_is_terminal(STDERR_FILENO))
        return;
    if (why == no_probe)
        record_say("'strata probe --save this.machine' makes a model of this computer");
    if (start->fetches)
        record_say("--fetches looks up every instruction too: three to four times slower");
}

/* The size of the profile is told where there is room for it. */
void record_say_summary(const struct profile_summary *summary, const char *output)
{
    char accesses[COUNT_TEXT], misses[COUNT_TEXT], size[SIZE_TEXT], line[PATH_MAX + 128];
    int used = snprintf(
        line, sizeof line, "%s accesses, %s L1 misses, %zu object%s above 1%%: %s",
        format_count(summary->accesses, accesses), format_count(summary->misses, misses),
        summary->above, summary->above == 1 ? "" : "s", output);
    format_size_short((double)summary->bytes, size);
    bool room =
        (int)strlen(prefix) + used + 3 + (int)strlen(size) <= term_text_columns(stderr);
    record_say("%s%s%s%s", line, room ? " (" : "", room ? size : "", room ? ")" : "");
    if (summary->skipped || summary->incomplete)
        record_say("of %zu processes, %zu left nothing and %zu not all: %s",
                   summary->processes + summary->skipped, summary->skipped,
                   summary->incomplete, summary->why);
}

/* What a distribution packs is stripped, and its debug information is elsewhere. */
static bool is_packaged(const char *path)
{
    return strncmp(path, "/usr/", 5) == 0 && strncmp(path, "/usr/local/", 11) != 0;
}

static void say_blind(const struct lacks *lacks)
{
    record_say("%.0f%% of the waiting is in %s, which has no line numbers: %s",
               100 * lacks->blind, lacks->module,
               is_packaged(lacks->module)
                   ? "install its -dbgsym (or -dbg) package, or debuginfod with "
                     "DEBUGINFOD_URLS set"
                   : "compile it with -g, and do not strip it");
}

/* A wait policy or a spin count that is set was chosen by somebody. */
static bool may_spin(void)
{
    const char *threads = getenv("OMP_NUM_THREADS");
    return !getenv("OMP_WAIT_POLICY") && !getenv("GOMP_SPINCOUNT") &&
           !getenv("KMP_BLOCKTIME") && !(threads && strcmp(threads, "1") == 0);
}

void record_say_hints(const char *output)
{
    struct profile *profile;
    struct lacks lacks;
    struct strata_error ignored;
    if (!term_is_terminal(STDERR_FILENO) ||
        profile_open(output, &profile, &ignored) != STRATA_OK)
        return;
    int status = lacks_find(profile, &lacks, &ignored);
    profile_close(profile);
    if (status)
        return;
    if (lacks.blind >= MUCH)
        say_blind(&lacks);
    if (lacks.openmp && may_spin())
        record_say("threads of OpenMP that wait may spin, and that is simulated too: "
                   "OMP_WAIT_POLICY=passive makes them sleep");
}
