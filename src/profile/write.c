/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing a profile: a temporary database beside its place that is filled from the raw
 * files in one transaction, synchronised and renamed. It has no journal: if anything
 * fails it is removed, and the raw files still have everything. */
#include "core/fail.h"
#include "core/file.h"
#include "core/utf8.h"
#include "core/version.h"
#include "machine/text.h"
#include "profile/merge.h"
#include "profile/profile.h"
#include "profile/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct writing {
    const char *path; /* as the caller gave it, for messages */
    const struct profile_provenance *provenance;
    const char *const *raw_paths;
    size_t n;
    struct profile_summary *summary;
    struct strata_error *error;
    sqlite3 *db;
    bool begun; /* the tables are there, for `settings` */
    struct raw_header settings;
    struct merge merge;
    char **notes; /* one at most for each raw file */
    size_t nnotes;
};

/* A failure to write: nothing is lost, and where it is. */
static int lost(const struct writing *writing, const char *reason)
{
    char *copy = writing->n ? strdup(writing->raw_paths[0]) : NULL;
    int status = fail(writing->error, STRATA_FAILED,
                      "%s: cannot write the profile: %s; what was collected is still in %s",
                      writing->path, reason, copy ? dirname(copy) : "the raw files");
    free(copy);
    return status;
}

static int check_code(const struct writing *writing, int code)
{
    return code == SQLITE_OK ? STRATA_OK : lost(writing, sql_reason(writing->db, code));
}

/* Something to know about a raw file; the first goes into the summary too. */
static int add_note(struct writing *writing, const char *text)
{
    char clean[sizeof writing->error->text];
    char *copy = strdup(utf8_clean(text, clean, sizeof clean));
    if (!copy)
        return lost(writing, "out of memory");
    writing->notes[writing->nnotes++] = copy;
    if (!*writing->summary->why)
        utf8_clean(copy, writing->summary->why, sizeof writing->summary->why);
    return STRATA_OK;
}

/* The tables. */

static int begin(struct writing *writing, const struct raw_header *header)
{
    static const char settings[] = "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF;"
                                   "PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;"
                                   "PRAGMA locking_mode = EXCLUSIVE; BEGIN";
    char *schema =
        schema_sql(raw_cache_levels(&header->machine), raw_tlb_levels(&header->machine));
    int code = schema ? SQLITE_OK : SQLITE_NOMEM;
    if (code == SQLITE_OK)
        code = sqlite3_exec(writing->db, settings, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(writing->db, schema, NULL, NULL, NULL);
    free(schema);
    writing->settings = *header;
    writing->begun = true;
    if (code == SQLITE_OK)
        code = merge_begin(&writing->merge, writing->db, header);
    return check_code(writing, code);
}

static bool same_settings(const struct raw_header *a, const struct raw_header *b)
{
    return a->collect == b->collect && a->fetches == b->fetches &&
           a->branches == b->branches && a->stack_frames == b->stack_frames &&
           a->event_level == b->event_level && a->period == b->period &&
           memcmp(&a->machine, &b->machine, sizeof a->machine) == 0;
}

static uint64_t level_one_misses(const struct raw_header *header)
{
    uint64_t misses = 0;
    for (uint32_t i = 0; i < header->machine.ncaches; i++)
        if (header->machine.caches[i].level == 1)
            misses += header->counts.misses[i];
    return misses;
}

static void sum_up(struct profile_summary *summary, const struct raw_header *header)
{
    const uint64_t *accesses = header->counts.accesses;
    summary->processes++;
    summary->accesses += accesses[SIM_LOAD] + accesses[SIM_STORE] +
                         (header->fetches ? accesses[SIM_FETCH] : 0);
    summary->misses += level_one_misses(header);
    summary->instructions += header->events[RAW_INSTRUCTIONS];
    summary->cycles += header->cycles;
    summary->samples += header->samples;
}

static int add_raw(struct writing *writing, const char *path, const struct raw_file *raw)
{
    char text[sizeof writing->error->text];
    int status = STRATA_OK;
    if (!writing->begun)
        status = begin(writing, raw->header);
    if (status)
        return status;
    if (!same_settings(&writing->settings, raw->header)) {
        writing->summary->skipped++;
        snprintf(text, sizeof text, "%s: left out: it has other settings than the first",
                 path);
        return add_note(writing, text);
    }
    status = check_code(writing, merge_raw(&writing->merge, raw));
    if (status)
        return status;
    sum_up(writing->summary, raw->header);
    if (!raw->incomplete)
        return STRATA_OK;
    writing->summary->incomplete++;
    snprintf(text, sizeof text, "%s: not complete: %s", path, raw->why);
    return add_note(writing, text);
}

static int add_raws(struct writing *writing)
{
    int status = STRATA_OK;
    for (size_t i = 0; i < writing->n && !status; i++) {
        struct raw_file raw;
        struct strata_error unread;
        if (raw_read(writing->raw_paths[i], &raw, &unread)) {
            writing->summary->skipped++;
            status = add_note(writing, unread.text);
            continue;
        }
        status = add_raw(writing, writing->raw_paths[i], &raw);
        raw_release(&raw);
    }
    if (!status && !writing->begun)
        status = fail(writing->error, STRATA_BAD_INPUT,
                      "%s: nothing to write: no raw file could be read: %s", writing->path,
                      writing->n ? writing->notes[0] : "there is none");
    return status;
}

/* Provenance. */

static struct sql_value start_text(int64_t start, char *text, size_t size)
{
    time_t seconds = (time_t)start;
    struct tm tm;
    if (!start || !gmtime_r(&seconds, &tm) ||
        !strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &tm))
        return sql_text(NULL);
    return sql_text(text);
}

/* SQLite's numbers have a sign: the upper half of them is a text. */
static struct sql_value number_text(uint64_t number, char *text, size_t size)
{
    if (number <= INT64_MAX)
        return sql_int(number);
    snprintf(text, size, "%" PRIu64, number);
    return sql_text(text);
}

/* What is not known has no row. */
static int put_meta(sqlite3_stmt *statement, const char *key, struct sql_value value)
{
    char *clean = NULL;
    if (value.type == SQL_NULL)
        return SQLITE_OK;
    if (value.type == SQL_TEXT && strcmp(key, "machine") != 0) {
        clean = malloc(value.length + 1);
        if (!clean)
            return SQLITE_NOMEM;
        value = sql_text(utf8_clean(value.text, clean, value.length + 1));
    }
    const struct sql_value values[] = {sql_text(key), value};
    int code = sql_run(statement, values, 2);
    free(clean);
    return code;
}

static int put_provenance(const struct writing *writing, const char *machine,
                          sqlite3_stmt *statement)
{
    static const char *const ends[] = {"running", "exited", "signalled", "executed"};
    static const char *const collects[] = {"", "exact", "sampled", "exact and sampled"};
    const struct profile_provenance *from = writing->provenance;
    const struct raw_header *header = &writing->settings;
    bool sampled = header->collect & RAW_SAMPLED;
    bool ended = from->end == RAW_EXITED || from->end == RAW_SIGNALLED;
    struct sql_value none = sql_text(NULL);
    char start[32], seed[24];
    const struct {
        const char *key;
        struct sql_value value;
    } rows[] = {
        {"schema", sql_text(PROFILE_SCHEMA)},
        {"version", sql_text(build_version)},
        {"command", sql_text(from->command)},
        {"program", sql_text(from->program)},
        {"source", sql_text(from->source)},
        {"host", sql_text(from->host)},
        {"start", start_text(from->start, start, sizeof start)},
        {"seconds", from->seconds < 0
                        ? none
                        : (struct sql_value){.type = SQL_REAL, .real = from->seconds}},
        {"end", sql_text(ends[from->end])},
        {"status", ended ? sql_int((uint64_t)from->status) : none},
        {"machine_name", sql_text(header->machine.name)},
        {"machine_file", sql_text(from->machine_file)},
        {"machine", sql_text(machine)},
        {"collect", sql_text(collects[header->collect])},
        {"period", sampled ? sql_int(header->period) : none},
        {"event_level", sampled ? sql_int(header->event_level) : none},
        {"interrupt_cycles", sampled ? sql_int(header->interrupt_cycles) : none},
        {"seed", number_text(header->seed, seed, sizeof seed)},
        {"fetches", sql_int(header->fetches != 0)},
        {"branches", sql_int(header->branches != 0)},
        {"stack_frames", sql_int(header->stack_frames != 0)},
    };
    int code = SQLITE_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && code == SQLITE_OK; i++)
        code = put_meta(statement, rows[i].key, rows[i].value);
    return code;
}

static int add_provenance(struct writing *writing)
{
    sqlite3_stmt *statement = NULL;
    char *machine = NULL;
    size_t size;
    int status =
        machine_text(&writing->settings.machine, NULL, &machine, &size, writing->error);
    if (status)
        return status;
    int code = sqlite3_prepare_v2(writing->db, "INSERT INTO meta VALUES(?,?)", -1,
                                  &statement, NULL);
    if (code == SQLITE_OK)
        code = put_provenance(writing, machine, statement);
    free(machine);
    sqlite3_finalize(statement);
    return check_code(writing, code);
}

static int add_notes(struct writing *writing)
{
    sqlite3_stmt *statement = NULL;
    int code =
        sqlite3_prepare_v2(writing->db, "INSERT INTO note VALUES(?)", -1, &statement, NULL);
    for (size_t i = 0; i < writing->nnotes && code == SQLITE_OK; i++) {
        struct sql_value value = sql_text(writing->notes[i]);
        code = sql_run(statement, &value, 1);
    }
    sqlite3_finalize(statement);
    return check_code(writing, code);
}

static void count_objects(struct profile_summary *summary, const struct merge *merge)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < merge->objects.n; i++)
        all += merge->latency[i];
    for (uint32_t i = 0; i < merge->objects.n; i++) {
        summary->objects += merge->latency[i] > 0;
        summary->above += merge->latency[i] > 0 && merge->latency[i] >= all / 100;
    }
    summary->cells = merge->cells;
}

/* Everything between opening and closing the database. */
static int fill(struct writing *writing)
{
    int status = add_raws(writing);
    if (!status)
        status = add_provenance(writing);
    if (!status)
        status = add_notes(writing);
    if (!status)
        count_objects(writing->summary, &writing->merge);
    merge_release(&writing->merge);
    if (!status)
        status = check_code(writing, sqlite3_exec(writing->db, "COMMIT", NULL, NULL, NULL));
    return status;
}

static int fill_file(struct writing *writing, const char *name)
{
    writing->notes = calloc(writing->n + 1, sizeof *writing->notes);
    if (!writing->notes)
        return lost(writing, "out of memory");
    int code = sqlite3_open_v2(name, &writing->db, SQLITE_OPEN_READWRITE, NULL);
    int status = check_code(writing, code);
    if (!status)
        status = fill(writing);
    code = sqlite3_close(writing->db);
    writing->db = NULL;
    for (size_t i = 0; i < writing->nnotes; i++)
        free(writing->notes[i]);
    free(writing->notes);
    return status ? status : check_code(writing, code);
}

/* Files. */

static int sync_and_close(int fd)
{
    int cause = fsync(fd) == 0 ? 0 : errno;
    if (close(fd) != 0 && !cause)
        cause = errno;
    return cause;
}

/* So that the name, too, survives a power failure; not every file system can do it. */
static void sync_folder(const char *target)
{
    char *copy = strdup(target);
    int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)!fsync(fd);
        close(fd);
    }
    free(copy);
}

static int write_beside(struct writing *writing, const char *target, const struct stat *old)
{
    char *name = NULL;
    struct stat made;
    int fd = open_beside(target, &name);
    int status = fd < 0 ? lost(writing, strerror(errno)) : STRATA_OK;
    if (status)
        goto out;
    if (old)
        (void)!fchmod(fd, old->st_mode & 0777); /* best effort: the content matters more */
    status = fill_file(writing, name);
    if (!status && fstat(fd, &made) == 0)
        writing->summary->bytes = (uint64_t)made.st_size;
    int cause = sync_and_close(fd);
    if (!status && !cause && rename(name, target) != 0)
        cause = errno;
    if (!status && cause)
        status = lost(writing, strerror(cause));
    if (status)
        unlink(name);
    else
        sync_folder(target);
out:
    free(name);
    return status;
}

int profile_write(const char *path, const struct profile_provenance *provenance,
                  const char *const *raw_paths, size_t n, struct profile_summary *summary,
                  struct strata_error *error)
{
    struct writing writing = {
        .path = path,
        .provenance = provenance,
        .raw_paths = raw_paths,
        .n = n,
        .summary = summary,
        .error = error,
    };
    struct stat old;
    bool exists = stat(path, &old) == 0;
    *summary = (struct profile_summary){0};
    if (exists && !S_ISREG(old.st_mode))
        return fail(error, STRATA_BAD_INPUT,
                    "%s: a profile can only be written to a regular file", path);
    char *target = exists ? realpath(path, NULL) : NULL;
    int status = write_beside(&writing, target ? target : path, exists ? &old : NULL);
    free(target);
    return status;
}
