/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening a profile: from what any file may be to one that can be relied on, with the
 * reason where it cannot. */
#include "profile/profile.h"

#include "core/fail.h"
#include "profile/schema.h"
#include "profile/sql.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(const char *path, const char *what, struct strata_error *error)
{
    return fail(error, STRATA_BAD_INPUT, "%s: %s", path, what);
}

static int damaged(const struct profile *profile, const char *what,
                   struct strata_error *error)
{
    return fail(error, STRATA_BAD_INPUT,
                "%s: the profile is damaged: %s; record the program again", profile->path,
                what);
}

/* What a file is by its first bytes: SQLite would take an empty file for an empty
 * database and a short one for a damaged one. */
static int check_magic(const char *path, int fd, struct strata_error *error)
{
    static const char sqlite[16] = "SQLite format 3";
    char head[16] = "";
    struct stat there;
    if (fstat(fd, &there) != 0)
        return fail(error, STRATA_FAILED, "%s: cannot read: %s", path, strerror(errno));
    if (S_ISDIR(there.st_mode))
        return refuse(path, "is a folder, not a profile", error);
    if (!S_ISREG(there.st_mode))
        return refuse(path, "is no regular file, so it cannot be a profile", error);
    if (there.st_size == 0)
        return refuse(path, "is empty, not a profile", error);
    if (pread(fd, head, sizeof head, 0) < 0)
        return fail(error, STRATA_FAILED, "%s: cannot read: %s", path, strerror(errno));
    if (memcmp(head, RAW_MAGIC, strlen(RAW_MAGIC)) == 0)
        return refuse(path, "is the raw file of a run, not yet a profile", error);
    if (memcmp(head, sqlite, sizeof sqlite) != 0)
        return refuse(path, "is no profile; 'strata record' makes one", error);
    return STRATA_OK;
}

static int check_file(const char *path, struct strata_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail(error, STRATA_BAD_INPUT, "%s: cannot open: %s", path, strerror(errno));
    int status = check_magic(path, fd, error);
    close(fd);
    return status;
}

/* The number that a statement's only row has. */
static int ask_number(const struct profile *profile, const char *text, int64_t *number,
                      struct strata_error *error)
{
    sqlite3_stmt *statement;
    int status = sql_prepare(profile->db, profile->path, text, &statement, error);
    if (status)
        return status;
    if (sqlite3_step(statement) == SQLITE_ROW)
        *number = sqlite3_column_int64(statement, 0);
    else
        status = damaged(profile, sqlite3_errmsg(profile->db), error);
    sqlite3_finalize(statement);
    return status;
}

static int check_version(const struct profile *profile, struct strata_error *error)
{
    int64_t application = 0, version = 0;
    int status = ask_number(profile, "PRAGMA application_id", &application, error);
    if (!status)
        status = ask_number(profile, "PRAGMA user_version", &version, error);
    if (status)
        return status;
    if (application != PROFILE_APPLICATION)
        return refuse(profile->path, "is an SQLite database, but no profile of strata",
                      error);
    if (version != PROFILE_VERSION)
        return fail(error, STRATA_BAD_INPUT,
                    "%s: a profile of version %" PRId64 ", but this strata reads version "
                    "%d; use %s strata",
                    profile->path, version, PROFILE_VERSION,
                    version > PROFILE_VERSION ? "a newer" : "an older");
    return STRATA_OK;
}

static int check_pages(const struct profile *profile, struct strata_error *error)
{
    sqlite3_stmt *statement;
    int status =
        sql_prepare(profile->db, profile->path, "PRAGMA quick_check(1)", &statement, error);
    if (status)
        return status;
    const char *answer = sqlite3_step(statement) == SQLITE_ROW
                             ? (const char *)sqlite3_column_text(statement, 0)
                             : sqlite3_errmsg(profile->db);
    if (!answer || strcmp(answer, "ok") != 0)
        status = damaged(profile, answer ? answer : "it cannot be read", error);
    sqlite3_finalize(statement);
    return status;
}

char *profile_meta(const struct profile *profile, const char *key)
{
    sqlite3_stmt *statement;
    char *copy = NULL;
    if (sqlite3_prepare_v2(profile->db, "SELECT value FROM meta WHERE key = ?", -1,
                           &statement, NULL) != SQLITE_OK)
        return NULL;
    sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
    if (sqlite3_step(statement) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        copy = text ? strdup(text) : NULL;
    }
    sqlite3_finalize(statement);
    return copy;
}

static uint64_t meta_number(const struct profile *profile, const char *key)
{
    char *text = profile_meta(profile, key);
    uint64_t number = text ? strtoull(text, NULL, 10) : 0;
    free(text);
    return number;
}

static int read_machine(struct profile *profile, struct strata_error *error)
{
    struct strata_error inner;
    char *text = profile_meta(profile, "machine");
    if (!text)
        return damaged(profile, "it has no machine", error);
    int status = strata_machine_parse("machine", text, &profile->machine, &inner);
    free(text);
    if (status)
        return damaged(profile, inner.text, error);
    profile->cache_levels = raw_cache_levels(&profile->machine);
    profile->tlb_levels = raw_tlb_levels(&profile->machine);
    return STRATA_OK;
}

static int read_settings(struct profile *profile, struct strata_error *error)
{
    char *collect = profile_meta(profile, "collect");
    if (collect && strstr(collect, "exact"))
        profile->collect |= RAW_EXACT;
    if (collect && strstr(collect, "sampled"))
        profile->collect |= RAW_SAMPLED;
    free(collect);
    profile->period = 1;
    if (profile->collect & RAW_SAMPLED) {
        profile->period = meta_number(profile, "period");
        profile->event_level = (uint32_t)meta_number(profile, "event_level");
    }
    if (!profile->collect || !profile->period ||
        profile->event_level > profile->cache_levels ||
        (profile->collect & RAW_SAMPLED && !profile->event_level))
        return damaged(profile, "it does not say how it was collected", error);
    return STRATA_OK;
}

static int check_profile(struct profile *profile, struct strata_error *error)
{
    /* The file may be from anywhere: its views and defaults are to do nothing but read. */
    sqlite3_db_config(profile->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(profile->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    int (*const steps[])(const struct profile *, struct strata_error *) = {check_version,
                                                                           check_pages};
    int status = STRATA_OK;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !status; i++)
        status = steps[i](profile, error);
    if (!status)
        status = read_machine(profile, error);
    return status ? status : read_settings(profile, error);
}

int profile_open(const char *path, struct profile **profile, struct strata_error *error)
{
    *profile = NULL;
    int status = check_file(path, error);
    if (status)
        return status;
    struct profile *made = calloc(1, sizeof *made);
    if (made)
        made->path = strdup(path);
    if (!made || !made->path) {
        free(made);
        return fail(error, STRATA_FAILED, "%s: out of memory", path);
    }
    int code = sqlite3_open_v2(path, &made->db, SQLITE_OPEN_READONLY, NULL);
    if (code != SQLITE_OK)
        status = fail(error, STRATA_BAD_INPUT, "%s: cannot open: %s", path,
                      sql_reason(made->db, code));
    else
        status = check_profile(made, error);
    if (status)
        profile_close(made);
    else
        *profile = made;
    return status;
}

void profile_close(struct profile *profile)
{
    if (!profile)
        return;
    sqlite3_close(profile->db);
    free(profile->path);
    free(profile);
}
