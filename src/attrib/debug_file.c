/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two ways that distributions keep debug information apart. libdwfl knows them too,
 * but asks a debug server over the network for every file that it does not find. */
#include "attrib/debug_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct elf_file elf_file_open(const char *path)
{
    struct elf_file file = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.fd < 0)
        return file;
    elf_version(EV_CURRENT);
    file.elf = elf_begin(file.fd, ELF_C_READ_MMAP, NULL);
    if (!file.elf || elf_kind(file.elf) != ELF_K_ELF) {
        elf_file_close(&file);
        errno = ENOEXEC;
    }
    return file;
}

void elf_file_close(struct elf_file *file)
{
    elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
    *file = (struct elf_file){.fd = -1};
}

static bool same_build_id(Elf *elf, Elf *other)
{
    const void *id, *other_id;
    ssize_t size = dwelf_elf_gnu_build_id(elf, &id);
    return size > 0 && size == dwelf_elf_gnu_build_id(other, &other_id) &&
           memcmp(id, other_id, (size_t)size) == 0;
}

/* The checksum of .gnu_debuglink: CRC-32, four bits at a time. */
static uint32_t checksum(const char *bytes, size_t size)
{
    uint32_t table[16], crc = UINT32_MAX;
    for (uint32_t i = 0; i < 16; i++) {
        table[i] = i;
        for (int bit = 0; bit < 4; bit++)
            table[i] = table[i] & 1 ? 0xedb88320u ^ (table[i] >> 1) : table[i] >> 1;
    }
    for (size_t i = 0; i < size; i++) {
        crc ^= (uint8_t)bytes[i];
        crc = table[crc & 15] ^ (crc >> 4);
        crc = table[crc & 15] ^ (crc >> 4);
    }
    return ~crc;
}

static bool same_checksum(Elf *debug, uint32_t wanted)
{
    size_t size = 0;
    const char *bytes = elf_rawfile(debug, &size);
    return bytes && checksum(bytes, size) == wanted;
}

/* A build-id tells more than a checksum does, and at once. */
static bool belongs(Elf *elf, Elf *debug, uint32_t crc)
{
    const void *id;
    return dwelf_elf_gnu_build_id(elf, &id) > 0 ? same_build_id(elf, debug)
                                                : same_checksum(debug, crc);
}

static struct elf_file by_build_id(Elf *elf, const char *folder)
{
    const void *bytes;
    const uint8_t *id;
    char path[PATH_MAX];
    ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);
    if (size < 2 || size > 64)
        return (struct elf_file){.fd = -1};
    id = bytes;
    int used = snprintf(path, sizeof path, "%s/.build-id/%02x/", folder, id[0]);
    if (used < 0 || (size_t)used + 2 * (size_t)size + sizeof ".debug" > sizeof path)
        return (struct elf_file){.fd = -1};
    for (ssize_t i = 1; i < size; i++)
        used += snprintf(path + used, sizeof path - (size_t)used, "%02x", id[i]);
    snprintf(path + used, sizeof path - (size_t)used, ".debug");
    struct elf_file file = elf_file_open(path);
    if (file.elf && !same_build_id(elf, file.elf))
        elf_file_close(&file);
    return file;
}

static struct elf_file by_link(const char *path, Elf *elf, const char *folder)
{
    struct elf_file file = {.fd = -1};
    char real[PATH_MAX], candidate[2 * PATH_MAX];
    GElf_Word crc = 0;
    const char *name = dwelf_elf_gnu_debuglink(elf, &crc);
    if (!name || !*name || strchr(name, '/') || !realpath(path, real))
        return file;
    const char *beside = dirname(real);
    const struct {
        const char *before, *after;
    } places[] = {{"", ""}, {"", "/.debug"}, {folder, ""}};
    for (size_t i = 0; i < sizeof places / sizeof places[0] && !file.elf; i++) {
        int length = snprintf(candidate, sizeof candidate, "%s%s%s/%s", places[i].before,
                              beside, places[i].after, name);
        if (length < 0 || (size_t)length >= sizeof candidate)
            continue;
        file = elf_file_open(candidate);
        if (file.elf && !belongs(elf, file.elf, crc))
            elf_file_close(&file);
    }
    return file;
}

struct elf_file debug_file_open(const char *path, Elf *elf, const char *folder)
{
    struct elf_file file = by_build_id(elf, folder);
    return file.elf ? file : by_link(path, elf, folder);
}
