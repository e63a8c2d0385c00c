/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rates by process or processor as lines of a table.
 *
 *         PID USER       CPU%   faults/s  switch/s    migr/s  COMMAND
 *        4711 jane       99.5       1.2K        12         0  solver
 *         812 root        0.5          -         -         -  ended
 */
#include "core/utf8.h"
#include "report/terminal.h"
#include "report/top_report.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { ID = 8, USER = 8, BUSY = 7, CELL = 8, GAP = 2, NAME_LEAST = 8, USERS_FROM = 60 };

/* Short names of what is shown if nothing is asked for, and units that read better. */
static const struct {
    const char *name, *label;
    double scale;
} labels[] = {
    {"page-faults", "faults/s", 1},    {"context-switches", "switch/s", 1},
    {"cpu-migrations", "migr/s", 1},   {"task-clock", "task ms/s", 1e-6},
    {"cpu-clock", "cpu ms/s", 1e-6},   {"instructions", "instr/s", 1},
    {"l1d_misses", "L1miss/s", 1},     {"l2_misses", "L2miss/s", 1},
    {"l3_misses", "L3miss/s", 1},      {"branch_misses", "brmiss/s", 1},
    {"dtlb_walks_pki", "dtlb_pki", 1}, {"itlb_walks_pki", "itlb_pki", 1},
};

static int find_label(const char *name)
{
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
        if (strcmp(labels[i].name, name) == 0)
            return (int)i;
    return -1;
}

const char *top_label(const struct watch_column *column, char text[TOP_LABEL])
{
    int i = find_label(column->name);
    if (i >= 0)
        snprintf(text, TOP_LABEL, "%s", labels[i].label);
    else
        snprintf(text, TOP_LABEL, "%.20s%s", column->name, column->metric ? "" : "/s");
    return text;
}

/* Layout. */

static int width_of(const struct top_frame *frame, size_t i)
{
    char text[TOP_LABEL];
    int length =
        (int)strlen(top_label(&frame->watch->columns[frame->columns[i]], text)) + GAP;
    return length > CELL + GAP ? length : CELL + GAP;
}

/* Where there is little room, counts matter more. */
static bool has_users(const struct top_frame *frame, int width)
{
    return frame->by == WATCH_PROCESSES && width >= USERS_FROM;
}

static int fixed_width(const struct top_frame *frame, int width)
{
    return ID + BUSY + (has_users(frame, width) ? 1 + USER : 0);
}

size_t top_fits(const struct top_frame *frame, size_t first, int width)
{
    int used = fixed_width(frame, width);
    size_t n = 0;
    if (frame->by == WATCH_PROCESSES)
        used += GAP + NAME_LEAST;
    for (size_t i = first; i < frame->ncolumns; i++, n++) {
        used += width_of(frame, i);
        if (used > width && n)
            break;
    }
    return n;
}

/* A line that grows; what is too wide is cut off. */
struct line {
    char *text;
    int used, width;
};

static void begin_line(struct line *line, char text[TOP_LINE], int width)
{
    *line = (struct line){.text = text, .width = bound(width, 0, 700)};
    *text = '\0';
}

/* Right-aligned where `width` is above 0, else left-aligned; so wide on the screen. */
static void put(struct line *line, int width, const char *text)
{
    char clean[128];
    int length = (int)utf8_length(utf8_clean(text, clean, sizeof clean));
    int pad = (width < 0 ? -width : width) - length;
    char *end = line->text + strlen(line->text);
    size_t room = TOP_LINE - strlen(line->text);
    pad = pad > 0 ? pad : 0;
    if (line->used >= line->width)
        return;
    for (int spare = line->width - line->used; length + pad > spare;) {
        if (length == 0 || width > 0) /* a number that is cut off would be another one */
            return;
        if (pad > 0) {
            pad--;
            continue;
        }
        do /* one character less */
            clean[strlen(clean) - 1] = '\0';
        while (utf8_length(clean) == (size_t)length);
        length--;
    }
    if (width > 0)
        snprintf(end, room, "%*s%s", pad, "", clean);
    else
        snprintf(end, room, "%s%*s", clean, pad, "");
    line->used += length + pad;
}

/* Cells. */

/* Three digits that matter, then K, M, G. */
static void format_rate(double rate, char text[32])
{
    static const char suffixes[] = " KMGTPE";
    size_t power = 0;
    while (rate >= 999.5 && suffixes[power + 1]) {
        rate /= 1000;
        power++;
    }
    int digits = rate >= 99.95 || rate == 0 ? 0 : rate >= 9.995 || !power ? 1 : 2;
    if (!power && rate >= 9.95)
        digits = 0;
    snprintf(text, 32, power ? "%.*f%c" : "%.*f", digits, rate, suffixes[power]);
}

static void format_cell(const struct top_frame *frame, const struct watch_row *row,
                        size_t column, char text[32])
{
    const struct watch_column *about = &frame->watch->columns[column];
    double value = row->values[column];
    int i = find_label(about->name);
    if (isnan(value))
        strcpy(text, "-");
    else if (about->metric)
        format_three(value, text);
    else
        format_rate(value * (i >= 0 ? labels[i].scale : 1), text);
}

void top_heading(const struct top_frame *frame, size_t first, int width,
                 char text[TOP_LINE])
{
    struct line line;
    char label[TOP_LABEL];
    size_t n = top_fits(frame, first, width);
    begin_line(&line, text, width);
    put(&line, ID, frame->by == WATCH_CPUS ? "CPU" : "PID");
    if (has_users(frame, width)) {
        put(&line, -1, "");
        put(&line, -USER, "USER");
    }
    put(&line, BUSY, frame->by == WATCH_CPUS ? "busy%" : "CPU%");
    for (size_t i = first; i < first + n; i++)
        put(&line, width_of(frame, i),
            top_label(&frame->watch->columns[frame->columns[i]], label));
    if (frame->by == WATCH_PROCESSES) {
        put(&line, -GAP, "");
        put(&line, -1, "COMMAND");
    }
}

static const char *mark_of(const struct watch_row *row)
{
    return row->state == WATCH_ENDED ? " (ended)" : "";
}

void top_line(const struct top_frame *frame, const struct watch_row *row, size_t first,
              int width, char text[TOP_LINE])
{
    struct line line;
    char cell[80];
    size_t n = top_fits(frame, first, width);
    begin_line(&line, text, width);
    snprintf(cell, sizeof cell, "%d", row->id);
    put(&line, ID, cell);
    if (has_users(frame, width)) {
        char user[USER + 1];
        put(&line, -1, "");
        snprintf(user, sizeof user, "%.8s", user_name(frame->users, row->uid));
        put(&line, -USER, user);
    }
    snprintf(cell, sizeof cell, isnan(row->busy) ? "-" : "%.1f", 100 * row->busy);
    put(&line, BUSY, cell);
    for (size_t i = first; i < first + n; i++) {
        format_cell(frame, row, frame->columns[i], cell);
        put(&line, width_of(frame, i), cell);
    }
    if (frame->by == WATCH_PROCESSES) {
        put(&line, -GAP, "");
        snprintf(cell, sizeof cell, "%.63s%s", row->name, mark_of(row));
        put(&line, -1, cell);
    }
}

int top_sorted_at(const struct top_frame *frame, size_t first, int width, int *begin)
{
    size_t n = top_fits(frame, first, width);
    *begin = 0;
    if (frame->sort == WATCH_BY_ID)
        return ID;
    *begin = fixed_width(frame, width) - BUSY;
    if (frame->sort == WATCH_BY_BUSY)
        return BUSY;
    *begin += BUSY;
    for (size_t i = first; i < first + n; i++) {
        int wide = width_of(frame, i);
        if (frame->sort == (int)frame->columns[i])
            return wide;
        *begin += wide;
    }
    *begin += GAP;
    return frame->sort == WATCH_BY_NAME && frame->by == WATCH_PROCESSES ? NAME_LEAST : 0;
}

/* What was not counted. */

void top_summary(const struct top_frame *frame, char text[TOP_LINE])
{
    const struct watch *watch = frame->watch;
    const char *what = frame->by == WATCH_CPUS ? "processor" : "process";
    size_t used = (size_t)snprintf(text, TOP_LINE, "%zu %s%s", watch->nrows, what,
                                   watch->nrows == 1         ? ""
                                   : frame->by == WATCH_CPUS ? "s"
                                                             : "es");
    if (watch->left_out)
        used += (size_t)snprintf(text + used, TOP_LINE - used, ", %zu of them not watched",
                                 watch->left_out);
    if (frame->nrows < watch->nrows)
        snprintf(text + used, TOP_LINE - used, ", %zu shown", frame->nrows);
}

struct notes {
    char (*list)[TOP_NOTE];
    size_t n;
};

__attribute__((format(printf, 2, 3))) static void note(struct notes *notes,
                                                       const char *format, ...)
{
    va_list arguments;
    if (notes->n == TOP_NOTES)
        return;
    va_start(arguments, format);
    vsnprintf(notes->list[notes->n++], TOP_NOTE, format, arguments);
    va_end(arguments);
}

static bool is_missing(const struct watch *watch, size_t i)
{
    const struct watch_column *column = &watch->columns[i];
    bool now = watch->seconds > 0 && !column->counted && *column->why;
    return !column->metric && (!column->possible || now);
}

/* All events that were not counted for the same reason, in one sentence. */
static void note_missing(const struct watch *watch, size_t first, struct notes *notes)
{
    char names[200] = "";
    size_t used = 0;
    for (size_t i = 0; i < first; i++)
        if (is_missing(watch, i) &&
            strcmp(watch->columns[i].why, watch->columns[first].why) == 0)
            return; /* it is said already */
    for (size_t i = first; i < watch->ncolumns && used < sizeof names; i++)
        if (is_missing(watch, i) &&
            strcmp(watch->columns[i].why, watch->columns[first].why) == 0)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%.60s",
                                     used ? ", " : "", watch->columns[i].name);
    note(notes, "not counted: %s: %s", names, watch->columns[first].why);
}

static void note_user_only(const struct watch *watch, struct notes *notes)
{
    for (size_t i = 0; i < watch->ncolumns; i++)
        if (watch->columns[i].user_only) {
            note(notes, "without the kernel's part, which this user may not count: "
                        "run 'sudo sysctl kernel.perf_event_paranoid=1', or give strata "
                        "CAP_PERFMON");
            return;
        }
}

size_t top_notes(const struct top_frame *frame, char list[TOP_NOTES][TOP_NOTE])
{
    const struct watch *watch = frame->watch;
    struct notes notes = {.list = list};
    if (watch->left_out)
        note(&notes,
             "%zu processes are not watched, for want of descriptors: those that use most "
             "processor time are; raise 'ulimit -n' to watch more",
             watch->left_out);
    if (watch->others)
        note(&notes,
             "your processes only: %zu of other users are not shown; counting them needs "
             "root, or CAP_PERFMON for strata",
             watch->others);
    if (watch->refused)
        note(&notes, "%zu rows were not counted: %s", watch->refused, watch->refusal);
    for (size_t i = 0; i < watch->ncolumns; i++)
        if (is_missing(watch, i))
            note_missing(watch, i, &notes);
    note_user_only(watch, &notes);
    return notes.n;
}

void top_text(FILE *out, const struct top_frame *frame, size_t most, int width)
{
    char line[TOP_LINE], notes[TOP_NOTES][TOP_NOTE], text[TOP_NOTE];
    size_t n = top_notes(frame, notes);
    struct top_frame cut = *frame;
    if (most && most < cut.nrows)
        cut.nrows = most;
    frame = &cut;
    top_summary(frame, line);
    snprintf(text, sizeof text, "%.3f s to %.3f s: %.300s, perf on %.100s", frame->from,
             frame->to, line, frame->processor);
    print_folded(out, text, width, 2);
    for (size_t i = 0; i < n; i++)
        print_folded(out, notes[i], width, 2);
    for (size_t first = 0;;) { /* columns that have no room come below */
        size_t fit = top_fits(frame, first, width);
        top_heading(frame, first, width, line);
        fprintf(out, "%s\n", line);
        for (size_t i = 0; i < frame->nrows; i++) {
            top_line(frame, frame->rows[i], first, width, line);
            fprintf(out, "%s\n", line);
        }
        first += fit;
        if (first >= frame->ncolumns)
            break;
    }
    putc('\n', out);
}
