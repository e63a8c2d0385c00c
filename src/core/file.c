/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whole files; core/file.h has the contract. */
#include "core/file.h"

#include "core/fail.h"
#include "core/units.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads up to size bytes, fewer only at the end of the file; -1 on an error. */
static ssize_t read_fully(int fd, char *buffer, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = read(fd, buffer + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

/* Doubles a buffer until the file's end or the limit; *size is limit + 1 if the file
 * is larger. Returns 0, or an errno. */
static int read_growing(int fd, size_t limit, char **text, size_t *size)
{
    size_t capacity = 4096;
    *size = 0;
    for (;;) {
        if (capacity > limit + 1)
            capacity = limit + 1;
        char *grown = realloc(*text, capacity + 1);
        if (!grown)
            return ENOMEM;
        *text = grown;
        ssize_t n = read_fully(fd, grown + *size, capacity - *size);
        if (n < 0)
            return errno;
        *size += (size_t)n;
        if (*size < capacity || capacity == limit + 1)
            break;
        capacity *= 2;
    }
    (*text)[*size] = '\0';
    return 0;
}

int read_file(const char *path, size_t limit, char **text, size_t *size,
              struct strata_error *error)
{
    char *buffer = NULL;
    size_t length = 0;
    int status = STRATA_OK;
    if (limit == 0 || limit > FILE_LIMIT)
        limit = FILE_LIMIT;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(error, STRATA_BAD_INPUT, "%s: cannot open: %s", path, strerror(errno));
    int cause = read_growing(fd, limit, &buffer, &length);
    if (cause == EISDIR) {
        status = fail(error, STRATA_BAD_INPUT, "%s: is a directory, not a file", path);
        goto out;
    }
    if (cause) {
        status = fail(error, STRATA_FAILED, "%s: cannot read: %s", path, strerror(cause));
        goto out;
    }
    if (length > limit) {
        char most[SIZE_TEXT];
        status = fail(error, STRATA_BAD_INPUT, "%s: larger than %s; is it the right file?",
                      path, format_size(limit, most));
        goto out;
    }
    *text = buffer;
    *size = length;
    buffer = NULL;
out:
    free(buffer);
    close(fd);
    return status;
}

/* Returns 0, or an errno. */
static int write_fully(int fd, const char *text, size_t size)
{
    while (size) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        text += n;
        size -= (size_t)n;
    }
    return 0;
}

/* Writes and closes; some file systems tell of a full disk only on closing. */
static int write_and_close(int fd, const char *text, size_t size)
{
    int cause = write_fully(fd, text, size);
    if (close(fd) != 0 && !cause)
        cause = errno;
    return cause;
}

/* The name is short, so that it fits where target does. The kernel applies the umask,
 * which mkstemp() would not. */
int open_beside(const char *target, char **name)
{
    const char *slash = strrchr(target, '/');
    int folder = slash ? (int)(slash - target) + 1 : 0;
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        free(*name);
        *name = NULL;
        if (asprintf(name, "%.*s.strata-%ld-%u.tmp", folder, target, (long)getpid(),
                     attempt) < 0) {
            *name = NULL;
            errno = ENOMEM;
            return -1;
        }
        int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static int replace(const char *path, const char *target, const struct stat *old,
                   const char *text, size_t size, struct strata_error *error)
{
    char *name = NULL;
    int status = STRATA_OK;
    int fd = open_beside(target, &name);
    if (fd < 0) {
        status = fail(error, STRATA_FAILED, "%s: cannot create: %s", path, strerror(errno));
        goto out;
    }
    if (old)
        (void)!fchmod(fd, old->st_mode & 0777); /* best effort: the content matters more */
    int cause = write_and_close(fd, text, size);
    if (!cause && rename(name, target) != 0)
        cause = errno;
    if (cause) {
        unlink(name);
        status = fail(error, STRATA_FAILED, "%s: cannot write: %s", path, strerror(cause));
    }
out:
    free(name);
    return status;
}

int write_file(const char *path, const char *text, size_t size, struct strata_error *error)
{
    struct stat old;
    bool exists = stat(path, &old) == 0;
    if (exists && S_ISDIR(old.st_mode))
        return fail(error, STRATA_FAILED, "%s: is a directory; name a file in it", path);
    if (exists && !S_ISREG(old.st_mode)) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        int cause = fd < 0 ? errno : write_and_close(fd, text, size);
        return cause ? fail(error, STRATA_FAILED, "%s: cannot write: %s", path,
                            strerror(cause))
                     : STRATA_OK;
    }
    char *target = exists ? realpath(path, NULL) : NULL;
    int status =
        replace(path, target ? target : path, exists ? &old : NULL, text, size, error);
    free(target);
    return status;
}
