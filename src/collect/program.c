/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Looking at a program before it is run: what is wrong with it is better said by strata
 * than by valgrind, which is about to hide behind it. */
#include "collect/program.h"

#include "core/fail.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#if defined(__aarch64__)
enum { OUR_MACHINE = EM_AARCH64 };
#else
enum { OUR_MACHINE = EM_X86_64 };
#endif

/* 0: a file that may be executed; else why not. */
static int try_path(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return errno;
    if (S_ISDIR(status.st_mode))
        return EISDIR;
    /* access() lets root execute anything with one x bit, as the kernel does. */
    return !S_ISREG(status.st_mode) || access(path, X_OK) != 0 ? EACCES : 0;
}

int path_search(const char *name, char path[PATH_MAX])
{
    const char *folders = getenv("PATH");
    int cause = ENOENT;
    if (strchr(name, '/')) {
        if (strlen(name) >= PATH_MAX)
            return ENAMETOOLONG;
        strcpy(path, name);
        return try_path(path);
    }
    for (const char *at = folders ? folders : "/usr/local/bin:/usr/bin:/bin"; *name;) {
        int length = (int)strcspn(at, ":");
        /* an empty folder is the current one */
        int used =
            snprintf(path, PATH_MAX, "%.*s%s%s", length, at, length ? "/" : "./", name);
        int tried = used < PATH_MAX ? try_path(path) : ENAMETOOLONG;
        if (tried == 0)
            return 0;
        if (tried == EACCES)
            cause = EACCES;
        if (!at[length])
            break;
        at += length + 1;
    }
    return cause;
}

static int refuse_missing(const char *name, int cause, struct strata_error *error)
{
    if (cause == ENOENT && !strchr(name, '/'))
        return fail(error, STRATA_BAD_INPUT, "%s: no such program in PATH%s", name,
                    access(name, X_OK) == 0 ? "; did you mean the one here, with ./?" : "");
    if (cause == EISDIR)
        return fail(error, STRATA_BAD_INPUT, "%s: a folder, not a program", name);
    if (cause == EACCES)
        return fail(error, STRATA_BAD_INPUT,
                    "%s: it may not be executed; is it a program? chmod +x makes it one",
                    name);
    return fail(error, STRATA_BAD_INPUT, "%s: %s", name, strerror(cause));
}

/* Valgrind would run it without the rights that it needs, so it refuses. */
static int refuse_privileged(const char *path, struct strata_error *error)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return fail(error, STRATA_BAD_INPUT, "%s: %s", path, strerror(errno));
    const char *what = status.st_mode & S_ISUID ? "setuid" : "setgid";
    if (!(status.st_mode & (S_ISUID | S_ISGID))) {
        if (getxattr(path, "security.capability", NULL, 0) <= 0)
            return STRATA_OK;
        what = "given capabilities";
    }
    return fail(
        error, STRATA_UNABLE,
        "%s: a program that is %s cannot be recorded; a copy of it can, as the user "
        "that may do what it does: cp %s .",
        path, what, path);
}

/* Whether a table of the file has an entry of a type, which is a word at `at` of each. */
static bool has_type(int fd, uint64_t table, unsigned n, unsigned size, size_t at,
                     uint32_t type)
{
    for (unsigned i = 0; i < n; i++) {
        uint32_t word;
        off_t place = (off_t)(table + (uint64_t)i * size + at);
        if (pread(fd, &word, sizeof word, place) != sizeof word)
            return true; /* broken: the kernel will say so */
        if (word == type)
            return true;
    }
    return false;
}

/* No dynamic linker, whose allocator has a known name, and no symbols. */
static bool is_opaque(int fd, const Elf64_Ehdr *header)
{
    return !has_type(fd, header->e_phoff, header->e_phnum, header->e_phentsize,
                     offsetof(Elf64_Phdr, p_type), PT_INTERP) &&
           !has_type(fd, header->e_shoff, header->e_shnum, header->e_shentsize,
                     offsetof(Elf64_Shdr, sh_type), SHT_SYMTAB);
}

/* A script whose interpreter is not there fails like a program that is not there. */
static int check_interpreter(const char *path, const char *line, struct strata_error *error)
{
    char interpreter[256];
    if (sscanf(line, "#! %255s", interpreter) != 1)
        return STRATA_OK; /* the shell takes it */
    int cause = try_path(interpreter);
    return cause ? fail(error, STRATA_BAD_INPUT,
                        "%s: a script for %s, which cannot be run: %s", path, interpreter,
                        strerror(cause))
                 : STRATA_OK;
}

/* Looks at an ELF file; anything else is a script. */
static int look_inside(struct program *program, struct strata_error *error)
{
    Elf64_Ehdr header;
    char line[257] = "";
    int fd = open(program->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(error, STRATA_UNABLE,
                    "%s: it may be executed but not read (%s), and valgrind must read it",
                    program->path, strerror(errno));
    int status = STRATA_OK;
    bool elf = pread(fd, &header, sizeof header, 0) == sizeof header &&
               memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
    if (elf && (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != OUR_MACHINE))
        status =
            fail(error, STRATA_UNABLE,
                 "%s: a program for another processor (or a 32-bit one); the collector "
                 "runs 64-bit programs of this one",
                 program->path);
    else if (elf)
        program->is_opaque = is_opaque(fd, &header);
    else if (pread(fd, line, sizeof line - 1, 0) > 0)
        status = check_interpreter(program->path, line, error);
    close(fd);
    return status;
}

int program_find(const char *name, struct program *program, struct strata_error *error)
{
    *program = (struct program){.is_opaque = false};
    if (!*name)
        return fail(error, STRATA_BAD_INPUT, "the name of the program is empty");
    int cause = path_search(name, program->path);
    if (cause)
        return refuse_missing(name, cause, error);
    int status = refuse_privileged(program->path, error);
    return status ? status : look_inside(program, error);
}
