/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The progress of a recording, as record_progress.h promises it:
 *
 *     strata: 14 s, 412 M accesses, 67x slower than the simulated machine */
#include "cli/record_progress.h"

#include "cli/term.h"
#include "host/processes.h"
#include "profile/raw_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_LINE = 5, LINE = 160 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char *format_count(uint64_t count, char text[COUNT_TEXT])
{
    static const char *const units[] = {"", " K", " M", " G", " T"};
    double value = (double)count;
    size_t unit = 0;
    while (value >= 9999.5 && unit + 1 < sizeof units / sizeof units[0]) {
        value /= 1000;
        unit++;
    }
    snprintf(text, COUNT_TEXT, "%.*f%s", unit && value < 99.95 ? 1 : 0, value, units[unit]);
    return text;
}

double record_progress_next(bool over_itself, double now)
{
    /* every tick; a tick is not to be missed for being early by a little */
    double next = over_itself ? now + RECORD_PROGRESS_SECONDS / 2.0 : FIRST_LINE;
    while (next <= now)
        next *= 2;
    return next;
}

void record_progress_start(struct record_progress *progress, uint64_t frequency,
                           bool wanted)
{
    *progress = (struct record_progress){
        .shown = wanted && term_is_terminal(STDERR_FILENO),
        .over_itself = !isatty(STDOUT_FILENO),
        .columns = term_columns(STDERR_FILENO),
        .frequency = (double)frequency,
        .start = seconds(),
    };
    progress->next = record_progress_next(progress->over_itself, 0);
}

static void format_time(char *text, size_t size, double elapsed)
{
    int whole = (int)elapsed;
    if (whole < 100)
        snprintf(text, size, "%d s", whole);
    else
        snprintf(text, size, "%d min %d s", whole / 60, whole % 60);
}

void record_progress_line(char *line, size_t size, int columns,
                          const struct record_pace *pace)
{
    static const char *const forms[] = {", %.*fx slower than the simulated machine",
                                        ", %.*fx slower"};
    char accesses[COUNT_TEXT], time[32], head[96], tail[64] = "";
    format_time(time, sizeof time, pace->elapsed);
    int used = snprintf(head, sizeof head, "strata: %s, %s accesses", time,
                        format_count(pace->accesses, accesses));
    for (size_t i = 0; i < 2 && pace->slowdown > 0; i++) {
        int more = snprintf(tail, sizeof tail, forms[i], pace->slowdown < 9.95 ? 1 : 0,
                            pace->slowdown);
        if (used + more < columns)
            break;
        tail[0] = '\0'; /* the next form, or none, fits */
    }
    snprintf(line, size, "%.*s%s", columns - 1, head, tail);
}

/* Adds up what the processes have counted. The slow-down is of those that still run: the
 * kernel has no account of the others, one by one. Files of one process, which has become
 * another program by exec, are side by side. */
static void sum_up(char *const *raws, size_t n, double frequency, struct record_pace *pace)
{
    double cycles = 0, ticks = 0;
    int32_t last = 0;
    for (size_t i = 0; i < n; i++) {
        struct raw_header header;
        struct strata_error ignored;
        struct process process;
        if (raw_read_header(raws[i], &header, &ignored) != STRATA_OK)
            continue;
        const uint64_t *accesses = header.counts.accesses;
        pace->accesses += accesses[SIM_LOAD] + accesses[SIM_STORE] +
                          (header.fetches ? accesses[SIM_FETCH] : 0);
        if (process_read("", header.pid, &process) != 0)
            continue;
        cycles += (double)header.cycles;
        ticks += header.pid == last ? 0 : (double)process.ticks;
        last = header.pid;
    }
    if (cycles > 0 && frequency > 0)
        pace->slowdown = ticks / (double)sysconf(_SC_CLK_TCK) / (cycles / frequency);
}

/* Best effort: a terminal that is gone is no reason to stop the program. */
static void put(const char *before, const char *line, const char *after)
{
    char text[LINE + 16];
    int length = snprintf(text, sizeof text, "%s%s%s", before, line, after);
    ssize_t ignored = write(STDERR_FILENO, text, (size_t)length);
    (void)ignored;
}

void record_progress_tick(const struct run_folder *folder, void *context)
{
    struct record_progress *progress = context;
    struct record_pace pace = {.elapsed = seconds() - progress->start};
    struct strata_error ignored;
    char **raws = NULL, line[LINE];
    size_t n = 0;
    if (!progress->shown || pace.elapsed < progress->next ||
        run_folder_raws(folder, 0, &raws, &n, &ignored) != STRATA_OK)
        return;
    sum_up(raws, n, progress->frequency, &pace);
    free(raws);
    /* A file that is being made, or is gone, is no reason to count backwards. */
    progress->accesses =
        pace.accesses > progress->accesses ? pace.accesses : progress->accesses;
    pace.accesses = progress->accesses;
    record_progress_line(line, sizeof line, progress->columns, &pace);
    if (progress->over_itself)
        put("\r\033[K", line, "");
    else
        put("", line, "\n");
    progress->drawn = progress->over_itself;
    progress->next = record_progress_next(progress->over_itself, pace.elapsed);
}

void record_progress_end(struct record_progress *progress)
{
    if (progress->drawn)
        put("\r\033[K", "", "");
    progress->drawn = false;
}
