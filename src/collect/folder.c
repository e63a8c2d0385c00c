/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The folder of a run: made, read and removed. */
#include "collect/folder.h"

#include "core/fail.h"
#include "core/file.h"
#include "core/units.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static int make_temporary(struct run_folder *folder, struct strata_error *error)
{
    const char *place = getenv("TMPDIR");
    char real[PATH_MAX];
    place = place && *place ? place : "/tmp";
    if (!realpath(place, real))
        return fail(error, STRATA_FAILED,
                    "the folder %s for temporary files: %s; set TMPDIR", place,
                    strerror(errno));
    int length = snprintf(folder->path, sizeof folder->path, "%s/strata-XXXXXX", real);
    if (length >= (int)sizeof folder->path || !mkdtemp(folder->path))
        return fail(error, STRATA_FAILED, "cannot make a folder in %s: %s; set TMPDIR",
                    place,
                    length >= (int)sizeof folder->path ? "name too long" : strerror(errno));
    return STRATA_OK;
}

/* Whether there is nothing in a folder; -1: it cannot be read. */
static int is_empty(const char *path)
{
    DIR *dir = opendir(path);
    int n = 0;
    if (!dir)
        return -1;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n <= 2; /* "." and ".." */
}

static int make_named(struct run_folder *folder, const char *name,
                      struct strata_error *error)
{
    bool made = mkdir(name, 0700) == 0;
    if (!made && errno != EEXIST)
        return fail(error, STRATA_BAD_INPUT, "--keep-raw %s: cannot make this folder: %s",
                    name, strerror(errno));
    int empty = is_empty(name);
    if (empty < 0 || !realpath(name, folder->path) || access(name, W_OK | X_OK) != 0)
        return fail(error, STRATA_BAD_INPUT, "--keep-raw %s: %s", name, strerror(errno));
    if (!empty)
        return fail(error, STRATA_BAD_INPUT,
                    "--keep-raw %s: there are files in this folder; name an empty or a new "
                    "one",
                    name);
    return STRATA_OK;
}

int run_folder_make(struct run_folder *folder, const char *name, struct strata_error *error)
{
    *folder = (struct run_folder){.stays = name != NULL};
    int status = name ? make_named(folder, name, error) : make_temporary(folder, error);
    if (status || run_folder_free(folder) >= RAW_LEAST)
        return status;
    char left[SIZE_TEXT];
    status =
        fail(error, STRATA_FAILED, "%s: the disk has only %s left; %s", folder->path,
             format_size_short((double)run_folder_free(folder), left),
             name ? "name a folder on another one" : "set TMPDIR to a folder on another");
    run_folder_remove(folder);
    return status;
}

uint64_t run_folder_free(const struct run_folder *folder)
{
    struct statvfs disk;
    if (statvfs(folder->path, &disk) != 0)
        return UINT64_MAX; /* not known; writing will tell */
    return (uint64_t)disk.f_bavail * disk.f_frsize;
}

static int path_in(const struct run_folder *folder, const char *name, char path[PATH_MAX])
{
    int length = snprintf(path, PATH_MAX, "%s/%s", folder->path, name);
    return length < PATH_MAX ? 0 : -1;
}

int run_folder_configure(const struct run_folder *folder, const struct raw_header *config,
                         struct strata_error *error)
{
    char path[PATH_MAX];
    if (path_in(folder, "config", path) != 0)
        return fail(error, STRATA_FAILED, "%s: the name is too long", folder->path);
    return write_file(path, (const char *)config, sizeof *config, error);
}

int run_folder_command(const struct run_folder *folder, char command)
{
    char path[PATH_MAX];
    if (path_in(folder, "command", path) != 0)
        return -1;
    return write_file(path, &command, 1, NULL) == STRATA_OK ? 0 : -1;
}

/* PID-N.raw */
struct raw_name {
    long pid, n;
};

static bool read_name(const char *text, struct raw_name *name)
{
    int end = 0;
    return sscanf(text, "%ld-%ld.raw%n", &name->pid, &name->n, &end) == 2 && end &&
           !text[end];
}

static int by_name(const void *a, const void *b, void *context)
{
    const struct raw_name *x = a, *y = b;
    long first = *(const pid_t *)context;
    if (x->pid != y->pid && (x->pid == first || y->pid == first))
        return x->pid == first ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->n > y->n) - (x->n < y->n);
}

/* All names of raw files; -1: errno says why. */
static int list_names(const char *path, struct raw_name **names, size_t *n)
{
    DIR *dir = opendir(path);
    size_t room = 0;
    *names = NULL;
    *n = 0;
    if (!dir)
        return -1;
    for (struct dirent *entry; (entry = readdir(dir));) {
        struct raw_name name;
        if (!read_name(entry->d_name, &name))
            continue;
        if (*n == room) {
            room = room ? 2 * room : 64;
            struct raw_name *grown = reallocarray(*names, room, sizeof **names);
            if (!grown) {
                closedir(dir);
                return -1;
            }
            *names = grown;
        }
        (*names)[(*n)++] = name;
    }
    closedir(dir);
    return 0;
}

int run_folder_raws(const struct run_folder *folder, pid_t first, char ***raws, size_t *n,
                    struct strata_error *error)
{
    struct raw_name *names;
    enum { TAIL = 48 }; /* "/PID-N.raw" */
    size_t width = strlen(folder->path) + TAIL;
    *raws = NULL;
    if (list_names(folder->path, &names, n) != 0)
        goto failed;
    if (*n)
        qsort_r(names, *n, sizeof *names, by_name, &first);
    *raws = malloc((*n + 1) * (sizeof **raws + width));
    if (!*raws)
        goto failed;
    char *text = (char *)(*raws + *n + 1);
    for (size_t i = 0; i < *n; i++, text += width) {
        snprintf(text, width, "%s/%ld-%ld.raw", folder->path, names[i].pid, names[i].n);
        (*raws)[i] = text;
    }
    (*raws)[*n] = NULL;
    free(names);
    return STRATA_OK;
failed:
    free(names);
    return fail(error, STRATA_FAILED, "%s: %s", folder->path, strerror(errno));
}

/* Adds the lines of a log, without "==123== " and without what only the authors of
 * valgrind can read, to a text of one line. */
static void add_lines(FILE *log, char *text, size_t size)
{
    char line[512];
    size_t used = strlen(text);
    while (used + 1 < size && fgets(line, sizeof line, log)) {
        char *at = line;
        if (strncmp(at, "==", 2) == 0) {
            at += 2 + strspn(at + 2, "0123456789");
            at += strspn(at, "= ");
        }
        at[strcspn(at, "\n")] = '\0';
        if (*at && strncmp(at, "vex ", 4) != 0)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "", at);
    }
}

void run_folder_log(const struct run_folder *folder, char *text, size_t size)
{
    DIR *dir = opendir(folder->path);
    text[0] = '\0';
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[PATH_MAX];
        const char *ending = strrchr(entry->d_name, '.');
        if (!ending || strcmp(ending, ".log") != 0 ||
            path_in(folder, entry->d_name, path) != 0)
            continue;
        FILE *log = fopen(path, "re");
        if (!log)
            continue;
        add_lines(log, text, size);
        fclose(log);
    }
    if (dir)
        closedir(dir);
}

static void empty_folder(const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        (void)!unlinkat(dirfd(dir), entry->d_name, 0); /* ".", "..": refused */
    if (dir)
        closedir(dir);
}

/* Processes that outlive the program may still write. */
void run_folder_remove(const struct run_folder *folder)
{
    enum { TRIES = 20 };
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    if (folder->stays || !*folder->path)
        return;
    for (int i = 0; i < TRIES; i++) {
        empty_folder(folder->path);
        if (rmdir(folder->path) == 0 || errno != ENOTEMPTY)
            return;
        nanosleep(&pause, NULL);
    }
}
