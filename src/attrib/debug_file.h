/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finding the separate file with the debug information of a program or library. */
#ifndef ATTRIB_DEBUG_FILE_H
#define ATTRIB_DEBUG_FILE_H

#include <libelf.h>

/* A file that is open for reading. */
struct elf_file {
    int fd; /* -1: none */
    Elf *elf;
};

/* Opens an ELF file; without one, fd is -1, elf NULL and errno says why: ENOEXEC where it
 * is no ELF file. */
struct elf_file elf_file_open(const char *path);
void elf_file_close(struct elf_file *file);

/* The debug file of an ELF file: DIR/.build-id/xx/yyy.debug, where the build-id names it,
 * else what .gnu_debuglink names, beside the file, in .debug beside it, or in DIR under
 * the file's own folder. DIR is `folder`, usually /usr/lib/debug. A file with another
 * build-id, or without one and with another checksum, is not taken. Debug servers are
 * not asked. */
struct elf_file debug_file_open(const char *path, Elf *elf, const char *folder);

#endif
