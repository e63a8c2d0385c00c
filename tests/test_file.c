/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whole files: read to the end or refused, written whole or not at all. */
#include "core/file.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* A folder of its own for each test, with a path in it. */
struct place {
    char folder[32], path[64];
};

static int make_place(void **state)
{
    static struct place place;
    snprintf(place.folder, sizeof place.folder, "/tmp/strata-file-XXXXXX");
    assert_non_null(mkdtemp(place.folder));
    snprintf(place.path, sizeof place.path, "%s/file", place.folder);
    *state = &place;
    return 0;
}

static int count_files(const char *folder, bool remove_them)
{
    int n = 0;
    struct dirent *entry;
    DIR *open_folder = opendir(folder);
    assert_non_null(open_folder);
    while ((entry = readdir(open_folder))) {
        bool dots = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
        n += !dots;
        if (!dots && remove_them)
            assert_int_equal(unlinkat(dirfd(open_folder), entry->d_name, 0), 0);
    }
    closedir(open_folder);
    return n;
}

static int remove_place(void **state)
{
    struct place *place = *state;
    count_files(place->folder, true);
    return rmdir(place->folder);
}

static void assert_holds(const char *path, const char *wanted, size_t wanted_size)
{
    struct strata_error error = {0, ""};
    char *text = NULL;
    size_t size = 0;
    if (read_file(path, 0, &text, &size, &error))
        fail_msg("%s", error.text);
    assert_int_equal(size, wanted_size);
    assert_memory_equal(text, wanted, size);
    assert_int_equal(text[size], '\0');
    free(text);
}

static void put(const char *path, const char *text)
{
    struct strata_error error = {0, ""};
    if (write_file(path, text, strlen(text), &error))
        fail_msg("%s", error.text);
}

static void expect_error(const struct strata_error *error, int status, const char *path,
                         const char *fragment)
{
    if (error->status != status || strncmp(error->text, path, strlen(path)) != 0 ||
        !strstr(error->text, fragment))
        fail_msg("wanted %d, \"%s...%s\"; got %d, \"%s\"", status, path, fragment,
                 error->status, error->text);
}

static void expect_no_read(const char *path, size_t limit, int status, const char *fragment)
{
    struct strata_error error = {0, ""};
    char *text = NULL;
    size_t size = 42;
    assert_int_equal(read_file(path, limit, &text, &size, &error), status);
    expect_error(&error, status, path, fragment);
    assert_null(text);
    assert_int_equal(size, 42);
    assert_int_equal(read_file(path, limit, &text, &size, NULL), status);
}

static void expect_no_write(const char *path, const char *text, size_t size,
                            const char *fragment)
{
    struct strata_error error = {0, ""};
    assert_int_equal(write_file(path, text, size, &error), STRATA_FAILED);
    expect_error(&error, STRATA_FAILED, path, fragment);
}

/* Sizes around those at which the reader's buffer grows. */
static void test_all_sizes(void **state)
{
    struct place *place = *state;
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 8191, 8192, 8193, 1 << 20};
    char *text = malloc(1 << 20);
    assert_non_null(text);
    for (size_t i = 0; i < 1 << 20; i++)
        text[i] = (char)(i * 7 + i / 251); /* NULs too */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(write_file(place->path, text, sizes[i], NULL), STRATA_OK);
        assert_holds(place->path, text, sizes[i]);
    }
    free(text);
    assert_int_equal(count_files(place->folder, false), 1);
}

static void test_limit(void **state)
{
    struct place *place = *state;
    char *text = NULL;
    size_t size;
    put(place->path, "12345678");
    assert_int_equal(read_file(place->path, 8, &text, &size, NULL), STRATA_OK);
    assert_int_equal(size, 8);
    free(text);
    expect_no_read(place->path, 7, STRATA_BAD_INPUT,
                   "larger than 7; is it the right file?");
}

static void test_huge_file(void **state)
{
    struct place *place = *state;
    put(place->path, "");
    assert_int_equal(truncate(place->path, (off_t)1 << 30), 0); /* a hole, no disk space */
    expect_no_read(place->path, 0, STRATA_BAD_INPUT, "larger than 16M");
    expect_no_read(place->path, SIZE_MAX, STRATA_BAD_INPUT, "larger than 16M");
    expect_no_read("/dev/zero", 100, STRATA_BAD_INPUT, "larger than 100");
}

static void test_nothing_to_read(void **state)
{
    struct place *place = *state;
    expect_no_read(place->path, 0, STRATA_BAD_INPUT, "cannot open: No such file");
    expect_no_read(place->folder, 0, STRATA_BAD_INPUT, "is a directory, not a file");
    expect_no_read("", 0, STRATA_BAD_INPUT, "cannot open");
    assert_holds("/dev/null", "", 0);
}

/* A file whose reading breaks off: nothing is mapped at address 0. */
static void test_reading_breaks_off(void **state)
{
    (void)state;
    if (access("/proc/self/mem", R_OK) != 0)
        skip();
    expect_no_read("/proc/self/mem", 0, STRATA_FAILED, "cannot read: ");
}

static void test_pipe(void **state)
{
    (void)state;
    int ends[2];
    char path[64], text[10000];
    memset(text, 'x', sizeof text);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, sizeof text), sizeof text);
    close(ends[1]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    if (access(path, R_OK) == 0)
        assert_holds(path, text, sizeof text);
    close(ends[0]);
}

static void test_replaced(void **state)
{
    struct place *place = *state;
    struct stat before, after;
    put(place->path, "old and longer");
    assert_int_equal(chmod(place->path, 0640), 0);
    assert_int_equal(stat(place->path, &before), 0);
    put(place->path, "new");
    assert_int_equal(stat(place->path, &after), 0);
    assert_holds(place->path, "new", 3);
    assert_int_equal(after.st_mode & 07777, 0640);
    assert_int_not_equal(before.st_ino, after.st_ino); /* readers of the old one go on */
    assert_int_equal(count_files(place->folder, false), 1);
}

static void test_umask(void **state)
{
    struct place *place = *state;
    struct stat made;
    mode_t before = umask(027);
    put(place->path, "x");
    umask(before);
    assert_int_equal(stat(place->path, &made), 0);
    assert_int_equal(made.st_mode & 07777, 0640);
}

static void test_link(void **state)
{
    struct place *place = *state;
    struct stat link;
    char name[80];
    snprintf(name, sizeof name, "%s/link", place->folder);
    put(place->path, "old");
    assert_int_equal(symlink("file", name), 0);
    put(name, "new");
    assert_holds(place->path, "new", 3);
    assert_int_equal(lstat(name, &link), 0);
    assert_true(S_ISLNK(link.st_mode));
}

/* A name as long as names may be leaves no room for a suffix. */
static void test_long_name(void **state)
{
    struct place *place = *state;
    char name[320];
    int used = snprintf(name, sizeof name, "%s/", place->folder);
    memset(name + used, 'n', 255);
    name[used + 255] = '\0';
    put(name, "text");
    assert_holds(name, "text", 4);
    memset(name + used, 'n', 256);
    name[used + 256] = '\0';
    expect_no_write(name, "text", 4, "File name too long");
    assert_int_equal(count_files(place->folder, false), 1);
}

/* The disk is full, or so: nothing beyond 4096 bytes can be written. */
static void test_writing_breaks_off(void **state)
{
    struct place *place = *state;
    static char text[100000];
    struct rlimit before, little;
    put(place->path, "old");
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    little = before;
    little.rlim_cur = 4096;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    struct strata_error error = {0, ""};
    int status = write_file(place->path, text, sizeof text, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, STRATA_FAILED);
    expect_error(&error, STRATA_FAILED, place->path, "cannot write: File too large");
    assert_holds(place->path, "old", 3);
    assert_int_equal(count_files(place->folder, false), 1);
}

static void test_nowhere_to_write(void **state)
{
    struct place *place = *state;
    expect_no_write("/nonexistent/file", "x", 1, "cannot create: No such file");
    expect_no_write(place->folder, "x", 1, "is a directory; name a file in it");
    expect_no_write("/proc/file", "x", 1, "cannot create");
    expect_no_write("", "x", 1, "cannot ");
    assert_int_equal(count_files(place->folder, false), 0);
}

static void test_no_permission(void **state)
{
    struct place *place = *state;
    bool root = geteuid() == 0;
    put(place->path, "old");
    assert_int_equal(chmod(place->folder, 0555), 0);
    if (root && seteuid(65534) != 0) /* permissions do not stop root */
        skip();
    expect_no_write(place->path, "x", 1, "cannot create: Permission denied");
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_holds(place->path, "old", 3);
    assert_int_equal(chmod(place->folder, 0755), 0);
}

/* What is no file is written to in place. */
static void test_devices(void **state)
{
    (void)state;
    struct stat null;
    put("/dev/null", "text");
    assert_int_equal(stat("/dev/null", &null), 0);
    assert_true(S_ISCHR(null.st_mode));
    if (access("/dev/full", W_OK) == 0)
        expect_no_write("/dev/full", "text", 4, "cannot write: No space left");
}

/* Another program's temporary file of the same name is left alone. */
static void test_temporary_name_is_taken(void **state)
{
    struct place *place = *state;
    char name[96];
    snprintf(name, sizeof name, "%s/.strata-%ld-0.tmp", place->folder, (long)getpid());
    put(name, "theirs");
    put(place->path, "ours");
    assert_holds(name, "theirs", 6);
    assert_holds(place->path, "ours", 4);
    assert_int_equal(count_files(place->folder, false), 2);
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)
    const struct CMUnitTest tests[] = {
        IN_PLACE(test_all_sizes),
        IN_PLACE(test_limit),
        IN_PLACE(test_huge_file),
        IN_PLACE(test_nothing_to_read),
        cmocka_unit_test(test_reading_breaks_off),
        cmocka_unit_test(test_pipe),
        IN_PLACE(test_replaced),
        IN_PLACE(test_umask),
        IN_PLACE(test_link),
        IN_PLACE(test_long_name),
        IN_PLACE(test_writing_breaks_off),
        IN_PLACE(test_nowhere_to_write),
        IN_PLACE(test_no_permission),
        cmocka_unit_test(test_devices),
        IN_PLACE(test_temporary_name_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
