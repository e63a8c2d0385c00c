/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The profile file: that raw files become one with every count in its place, that it is
 * written whole or not at all, and that what is no profile is refused.
 *
 *     test_profile --write KIND FILE    writes the sample profile for the shell tests:
 *                                       exact (with a child process), sampled or both */
#include "core/fail.h"
#include "core/version.h"
#include "profile/intern.h"
#include "profile/profile.h"
#include "profile/schema.h"
#include "profile/sql.h"
#include "test_raw_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/strata-test-profile-XXXXXX";

static const struct profile_provenance provenance = {
    .command = "strata record --exact -- ./equake",
    .program = "./equake",
    .source = "sim",
    .machine_file = "tiny.machine",
    .host = "here Linux x86_64",
    .start = 1700000000,
    .seconds = 1.5,
    .end = RAW_EXITED,
    .status = 0,
};

static const char *in_folder(const char *name)
{
    static char paths[8][128];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* Writes the sample's raw files and the profile of them. */
static int write_sample(const char *path, uint32_t collect, bool child,
                        struct profile_summary *summary, struct strata_error *error)
{
    struct raw_builder builder;
    const char *raws[] = {in_folder("1.raw"), in_folder("2.raw")};
    sample_parent(&builder, collect);
    raw_save(&builder, raws[0]);
    raw_discard(&builder);
    sample_child(&builder);
    raw_save(&builder, raws[1]);
    raw_discard(&builder);
    return profile_write(path, &provenance, raws, child ? 2 : 1, summary, error);
}

static struct profile *open_sample(uint32_t collect, bool child)
{
    struct profile_summary summary;
    struct strata_error error = {0};
    struct profile *profile;
    const char *path = in_folder("sample.strata");
    if (write_sample(path, collect, child, &summary, &error) ||
        profile_open(path, &profile, &error))
        fail_msg("%s", error.text);
    return profile;
}

static int64_t ask(const struct profile *profile, const char *text)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(profile->db, text, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", text, sqlite3_errmsg(profile->db));
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t answer = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return answer;
}

static void test_intern(void **state)
{
    (void)state;
    struct intern intern = {0};
    uint32_t id;
    bool fresh;
    size_t size;
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 20000; i++) {
            assert_int_equal(intern_add(&intern, &i, sizeof i, &id, &fresh), 0);
            assert_int_equal(id, i);
            assert_int_equal(fresh, round == 0);
        }
    assert_int_equal(intern_add(&intern, "", 0, &id, &fresh), 0);
    assert_true(fresh && id == 20000);
    assert_int_equal(intern_add(&intern, NULL, 0, &id, &fresh), 0);
    assert_true(!fresh && id == 20000);
    assert_int_equal(*(const uint32_t *)intern_key(&intern, 4711, &size), 4711);
    assert_int_equal(size, sizeof(uint32_t));
    intern_release(&intern);
}

static void test_counts(void **state)
{
    (void)state;
    struct profile *profile = open_sample(RAW_EXACT, false);
    assert_int_equal(ask(profile, "SELECT COUNT(*) FROM cell"), SAMPLE_CELLS);
    assert_int_equal(ask(profile, "SELECT COUNT(*) FROM object"), SAMPLE_BUCKETS);
    assert_int_equal(ask(profile, "SELECT COUNT(*) FROM site"), SAMPLE_SITES);
    assert_int_equal(ask(profile, "SELECT COUNT(*) FROM function"), 3);
    assert_int_equal(ask(profile, "SELECT COUNT(*) FROM module"), 3);
    assert_int_equal(ask(profile, "SELECT COUNT(*) FROM file"), 1);
    assert_int_equal(ask(profile, "SELECT SUM(latency) FROM cell"), 50000000);
    for (size_t i = 0; i < SAMPLE_CELLS; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "SELECT COUNT(*) FROM cells WHERE object = '%s' AND ifnull(line, 0) = %u "
                 "AND ifnull(function, '') = '%s' AND collected = 'exact' AND pid = 4000 "
                 "AND address = %" PRIu64 " AND events = %" PRIu64 " AND stores = %" PRIu64
                 " AND latency = %" PRIu64 " AND l1_misses = %" PRIu64
                 " AND l2_misses = %" PRIu64 " AND tlb1_misses = %" PRIu64,
                 sample_buckets[sample_cells[i].bucket].name,
                 sample_sites[sample_cells[i].site].line,
                 sample_sites[sample_cells[i].site].function
                     ? sample_sites[sample_cells[i].site].function
                     : "",
                 sample_sites[sample_cells[i].site].offset, sample_cells[i].events,
                 sample_cells[i].events / 4, sample_cells[i].latency,
                 sample_cells[i].events, sample_cells[i].memory, sample_cells[i].walks);
        assert_int_equal(ask(profile, text), 1);
    }
    profile_close(profile);
}

static void test_levels(void **state)
{
    (void)state;
    struct profile *profile = open_sample(RAW_EXACT, false);
    assert_int_equal(ask(profile, "SELECT accesses FROM level WHERE kind = 'cache' AND "
                                  "name = 'L1d' AND level = 1 AND holds = 'data'"),
                     15000000);
    assert_int_equal(ask(profile, "SELECT misses FROM level WHERE name = 'L2' AND "
                                  "kind = 'cache' AND prefetches = 1234"),
                     363000);
    assert_int_equal(ask(profile, "SELECT COUNT(*) FROM level WHERE kind = 'tlb' AND "
                                  "prefetches IS NULL AND misses = 7500"),
                     2);
    assert_int_equal(ask(profile, "SELECT count FROM counter WHERE event = 'loads'"),
                     12000000);
    /* What was not counted has no row. */
    assert_int_equal(ask(profile, "SELECT COUNT(*) FROM counter WHERE event = 'fetches' "
                                  "OR event LIKE 'branches%'"),
                     0);
    profile_close(profile);
}

static void test_allocations(void **state)
{
    (void)state;
    struct profile *profile = open_sample(RAW_EXACT, false);
    assert_int_equal(ask(profile,
                         "SELECT objects FROM allocation JOIN object ON id = object "
                         "WHERE name = 'mem_init-main' AND kind = 'heap' AND "
                         "place = 'quake.c:412' AND bytes = 1335667 * 24 AND "
                         "smallest = 24 AND largest = 24 AND live = 667833"),
                     1335667);
    assert_int_equal(ask(profile, "SELECT COUNT(*) FROM allocation"), 3);
    profile_close(profile);
}

/* The child's records have other ids; its counts are apart, its names the same rows. */
static void test_processes(void **state)
{
    (void)state;
    struct profile *profile = open_sample(RAW_EXACT, true);
    assert_int_equal(ask(profile, "SELECT COUNT(*) FROM process"), 2);
    assert_int_equal(ask(profile, "SELECT COUNT(*) FROM object"), SAMPLE_BUCKETS);
    assert_int_equal(ask(profile, "SELECT COUNT(*) FROM site"), SAMPLE_SITES);
    assert_int_equal(ask(profile, "SELECT COUNT(*) FROM function"), 3);
    assert_int_equal(ask(profile, "SELECT status FROM process WHERE pid = 4001 AND "
                                  "parent = 4000 AND end = 'signalled' AND whole = 1"),
                     9);
    assert_int_equal(ask(profile, "SELECT status IS NULL + parent IS NULL FROM process "
                                  "WHERE pid = 4000 AND end = 'exited'"),
                     0);
    assert_int_equal(ask(profile, "SELECT events FROM cells WHERE pid = 4001"), 5000);
    assert_int_equal(ask(profile, "SELECT events FROM objects WHERE object = 'Exc'"),
                     125000);
    assert_int_equal(ask(profile, "SELECT events FROM functions WHERE function = 'smvp'"),
                     625000);
    assert_int_equal(ask(profile, "SELECT events FROM lines WHERE line = 1201"), 205000);
    profile_close(profile);
}

/* Views of SQL scale samples; the table has them as they were taken. */
static void test_samples(void **state)
{
    (void)state;
    struct profile *profile = open_sample(RAW_EXACT | RAW_SAMPLED, false);
    assert_int_equal(profile->period, 1000);
    assert_int_equal(profile->event_level, 1);
    assert_int_equal(profile->collect, RAW_EXACT | RAW_SAMPLED);
    assert_int_equal(ask(profile, "SELECT SUM(events) FROM cell WHERE sampled"), 1000);
    assert_int_equal(ask(profile, "SELECT events FROM objects WHERE collected = 'sampled' "
                                  "AND object = 'mem_init-main'"),
                     651000);
    assert_int_equal(ask(profile, "SELECT events FROM objects WHERE collected = 'exact' "
                                  "AND object = 'mem_init-main'"),
                     650000);
    profile_close(profile);
}

static void test_provenance(void **state)
{
    (void)state;
    static const char *const wanted[][2] = {
        {"schema", PROFILE_SCHEMA},
        {"version", build_version},
        {"command", "strata record --exact -- ./equake"},
        {"program", "./equake"},
        {"source", "sim"},
        {"start", "2023-11-14T22:13:20Z"},
        {"seconds", "1.5"},
        {"end", "exited"},
        {"status", "0"},
        {"machine_name", "Tiny"},
        {"collect", "exact"},
        {"seed", "7"},
    };
    struct profile *profile = open_sample(RAW_EXACT, false);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char *text = profile_meta(profile, wanted[i][0]);
        assert_non_null(text);
        assert_string_equal(text, wanted[i][1]);
        free(text);
    }
    assert_null(profile_meta(profile, "period"));
    assert_null(profile_meta(profile, "nonsense"));
    assert_string_equal(profile->machine.name, "Tiny");
    assert_int_equal(profile->cache_levels, RAW_TEST_CACHES);
    profile_close(profile);
}

static void test_summary(void **state)
{
    (void)state;
    struct profile_summary summary;
    struct strata_error error;
    struct stat made;
    const char *path = in_folder("summary.strata");
    assert_int_equal(write_sample(path, RAW_EXACT, true, &summary, &error), STRATA_OK);
    assert_int_equal(stat(path, &made), 0);
    assert_int_equal(summary.bytes, made.st_size);
    assert_int_equal(summary.processes, 2);
    assert_int_equal(summary.skipped + summary.incomplete, 0);
    assert_string_equal(summary.why, "");
    assert_int_equal(summary.objects, SAMPLE_BUCKETS);
    assert_int_equal(summary.above, 4); /* all but the stack's 0.6% */
    assert_int_equal(summary.cells, SAMPLE_CELLS + 1);
    assert_int_equal(summary.accesses, 15050000);
    assert_int_equal(summary.misses, 1005000);
    assert_int_equal(summary.instructions, 40100000);
}

/* Names may be any bytes; a profile has UTF-8, so that every tool can read it. */
static void test_names(void **state)
{
    (void)state;
    struct raw_builder builder;
    struct profile_summary summary;
    struct strata_error error;
    struct profile *profile;
    const char *raw = in_folder("names.raw"), *path = in_folder("names.strata");
    raw_begin(&builder, RAW_EXACT);
    uint32_t site = raw_put_site(&builder, NULL, 16, "f\xff", "a\nb.c", 3);
    uint32_t bucket =
        raw_put_bucket(&builder, RAW_GLOBAL, "b'\xc3\xa4; DROP", NULL, NULL, 1, 8);
    raw_put_cell(&builder, bucket, site, RAW_EXACT, 1, 2, 0, 0);
    raw_put_cell(&builder, bucket, site, RAW_EXACT, 10, 20, 0, 0); /* the same again */
    raw_save(&builder, raw);
    raw_discard(&builder);
    assert_int_equal(profile_write(path, &provenance, &raw, 1, &summary, &error), 0);
    assert_int_equal(profile_open(path, &profile, &error), 0);
    assert_int_equal(ask(profile, "SELECT events FROM cells WHERE function = 'f?' AND "
                                  "file = 'a b.c' AND object = 'b''\xc3\xa4; DROP' AND "
                                  "module IS NULL AND address = 4194320"),
                     11);
    profile_close(profile);
}

/* What cannot be read is left out and said; what is left still makes a profile. */
static void test_bad_raws(void **state)
{
    (void)state;
    struct raw_builder builder;
    struct profile_summary summary;
    struct strata_error error;
    struct profile *profile;
    const char *path = in_folder("bad.strata");
    const char *raws[] = {in_folder("missing.raw"), in_folder("1.raw"),
                          in_folder("cut.raw"), in_folder("other.raw")};
    sample_parent(&builder, RAW_EXACT);
    raw_save(&builder, raws[1]);
    raw_save(&builder, raws[2]);
    raw_header_of(&builder)->machine.memory_latency++;
    raw_save(&builder, raws[3]);
    assert_int_equal(truncate(raws[2], (off_t)builder.size - 8), 0);
    raw_discard(&builder);
    assert_int_equal(profile_write(path, &provenance, raws, 4, &summary, &error), 0);
    assert_int_equal(summary.processes, 2);
    assert_int_equal(summary.skipped, 2);
    assert_int_equal(summary.incomplete, 1);
    assert_non_null(strstr(summary.why, "missing.raw: cannot open"));
    assert_int_equal(profile_open(path, &profile, &error), 0);
    assert_int_equal(ask(profile, "SELECT COUNT(*) FROM note"), 3);
    assert_int_equal(ask(profile, "SELECT SUM(whole) FROM process"), 1);
    profile_close(profile);
    unlink(path);
    assert_int_equal(profile_write(path, &provenance, raws, 1, &summary, &error),
                     STRATA_BAD_INPUT);
    assert_non_null(strstr(error.text, "no raw file could be read"));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(profile_write(path, &provenance, NULL, 0, &summary, &error),
                     STRATA_BAD_INPUT);
}

static int count_temporary(void)
{
    int n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        n += strncmp(entry->d_name, ".strata-", 8) == 0;
    closedir(dir);
    return n;
}

/* The disk is full: files may grow to 8K only, which stands in for it. */
static int write_limited(const char *path)
{
    struct profile_summary summary;
    struct strata_error error = {0};
    const struct rlimit limit = {8192, 8192};
    const char *raw = in_folder("1.raw");
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit))
        return 1;
    if (profile_write(path, &provenance, &raw, 1, &summary, &error) != STRATA_FAILED)
        return 2;
    if (!strstr(error.text, "full.strata: cannot write the profile: ") ||
        !strstr(error.text, "what was collected is still in /tmp/strata-test-profile-"))
        return 3;
    return 0;
}

static void test_full_disk(void **state)
{
    (void)state;
    struct profile_summary summary;
    struct strata_error error;
    struct profile *profile;
    const char *path = in_folder("full.strata");
    assert_int_equal(write_sample(path, RAW_EXACT, false, &summary, &error), STRATA_OK);
    pid_t child = fork();
    if (child == 0)
        _exit(write_limited(path));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(count_temporary(), 0);
    /* The profile that was there is as it was, and so are the raw files. */
    assert_int_equal(profile_open(path, &profile, &error), STRATA_OK);
    profile_close(profile);
    assert_int_equal(access(in_folder("1.raw"), R_OK), 0);
}

static void test_places(void **state)
{
    (void)state;
    struct profile_summary summary;
    struct strata_error error;
    assert_int_equal(write_sample(folder, RAW_EXACT, false, &summary, &error),
                     STRATA_BAD_INPUT);
    assert_int_equal(write_sample("/dev/null", RAW_EXACT, false, &summary, &error),
                     STRATA_BAD_INPUT);
    assert_int_equal(write_sample("/nonsense/x.strata", RAW_EXACT, false, &summary, &error),
                     STRATA_FAILED);
    assert_non_null(strstr(error.text, "/nonsense/x.strata: cannot write"));
    /* A link stays one. */
    const char *target = in_folder("target.strata"), *link = in_folder("link.strata");
    struct stat there;
    assert_int_equal(write_sample(target, RAW_EXACT, false, &summary, &error), STRATA_OK);
    assert_int_equal(symlink(target, link), 0);
    assert_int_equal(write_sample(link, RAW_EXACT, true, &summary, &error), STRATA_OK);
    assert_int_equal(lstat(link, &there), 0);
    assert_true(S_ISLNK(there.st_mode));
    assert_int_equal(count_temporary(), 0);
}

/* Files that are no profile. */

static void refused(const char *path, const char *text)
{
    struct profile *profile;
    struct strata_error error = {0};
    int status = profile_open(path, &profile, &error);
    if (status != STRATA_BAD_INPUT || !strstr(error.text, text))
        fail_msg("%s: status %d, \"%s\" instead of \"%s\"", path, status, error.text, text);
    assert_null(profile);
    assert_memory_equal(error.text, path, strlen(path));
}

static void write_text(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void change(const char *path, const char *text)
{
    sqlite3 *db;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", text, message);
    sqlite3_close(db);
}

static void test_refused(void **state)
{
    (void)state;
    struct profile_summary summary;
    struct strata_error error;
    const char *path = in_folder("refused.strata");
    refused(path, "cannot open: No such file");
    refused(folder, "is a folder");
    refused("/dev/zero", "no regular file");
    write_text(path, "", 0);
    refused(path, "is empty");
    write_text(path, "S", 1);
    refused(path, "is no profile");
    write_text(path, "[machine]\nname = x\npage = 4K\n", 28);
    refused(path, "is no profile");
    write_text(path, RAW_MAGIC "more and more", 20);
    refused(path, "raw file of a run");
    unlink(path);
    change(path, "CREATE TABLE t(x)");
    refused(path, "is an SQLite database, but no profile");
    assert_int_equal(write_sample(path, RAW_EXACT, false, &summary, &error), STRATA_OK);
    change(path, "PRAGMA user_version = 99");
    refused(path, "version 99, but this strata reads version 1; use a newer");
    change(path, "PRAGMA user_version = 1; UPDATE meta SET value = '[x]' WHERE "
                 "key = 'machine'");
    refused(path, "damaged");
    change(path, "DELETE FROM meta WHERE key = 'machine'");
    refused(path, "it has no machine");
    change(path, "DROP TABLE meta");
    refused(path, "damaged");
}

/* Cut off anywhere, or with any page overwritten: refused, never a crash. */
static void test_damaged(void **state)
{
    (void)state;
    struct profile_summary summary;
    struct strata_error error;
    struct profile *profile;
    const char *path = in_folder("damaged.strata");
    assert_int_equal(write_sample(path, RAW_EXACT, true, &summary, &error), STRATA_OK);
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(summary.bytes);
    assert_non_null(file);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, summary.bytes, file), summary.bytes);
    fclose(file);
    for (size_t size = 0; size < summary.bytes; size += 512) {
        write_text(path, bytes, size);
        assert_int_equal(profile_open(path, &profile, &error), STRATA_BAD_INPUT);
        assert_memory_equal(error.text, path, strlen(path));
    }
    for (size_t at = 0; at < summary.bytes; at += 4096) {
        char saved[64];
        memcpy(saved, bytes + at, sizeof saved);
        memset(bytes + at, 0xa5, sizeof saved);
        write_text(path, bytes, summary.bytes);
        memcpy(bytes + at, saved, sizeof saved);
        assert_int_equal(profile_open(path, &profile, &error), STRATA_BAD_INPUT);
    }
    free(bytes);
}

/* For the shell tests. */
static int write_for_shell(const char *kind, const char *path)
{
    static const struct {
        const char *name;
        uint32_t collect;
        bool child;
    } kinds[] = {{"exact", RAW_EXACT, true},
                 {"sampled", RAW_SAMPLED, false},
                 {"both", RAW_EXACT | RAW_SAMPLED, false}};
    struct profile_summary summary;
    struct strata_error error = {0};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, kind) == 0 &&
            write_sample(path, kinds[i].collect, kinds[i].child, &summary, &error) == 0)
            return 0;
    fprintf(stderr, "%s: %s\n", path, error.text);
    return 1;
}

static void remove_folder(void)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2)
            unlink(in_folder(entry->d_name));
    if (dir)
        closedir(dir);
    rmdir(folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intern),     cmocka_unit_test(test_counts),
        cmocka_unit_test(test_levels),     cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_processes),  cmocka_unit_test(test_samples),
        cmocka_unit_test(test_provenance), cmocka_unit_test(test_summary),
        cmocka_unit_test(test_names),      cmocka_unit_test(test_bad_raws),
        cmocka_unit_test(test_full_disk),  cmocka_unit_test(test_places),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_damaged),
    };
    if (!mkdtemp(folder))
        return 1;
    int failed = argc == 4 && strcmp(argv[1], "--write") == 0
                     ? write_for_shell(argv[2], argv[3])
                     : cmocka_run_group_tests(tests, NULL, NULL);
    remove_folder();
    return failed;
}
