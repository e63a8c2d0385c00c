/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of this machine to measure on. */
#include "host/memory.h"

#include "host/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* The first number in a file; `otherwise` if there is none (a limit of "max", say). */
static uint64_t number_in(const char *path, uint64_t otherwise)
{
    unsigned long long value;
    FILE *file = fopen(path, "re");
    if (!file)
        return otherwise;
    if (fscanf(file, "%llu", &value) != 1)
        value = otherwise;
    fclose(file);
    return value;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What a limit leaves when `used` of it is used. */
static uint64_t left(uint64_t limit, uint64_t used)
{
    return limit > used ? limit - used : 0;
}

static uint64_t address_space(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    /* statm: the first number is the size of the address space in pages. */
    return left(limit.rlim_cur, number_in("/proc/self/statm", 0) * page_size());
}

uint64_t memory_available(void)
{
    uint64_t unused = limits_unused("");
    if (unused == UINT64_MAX) /* no /proc */
        unused = 64u << 20;
    return least(unused, least(limits_group("").left, address_space()));
}

uint64_t page_size(void)
{
    long size = sysconf(_SC_PAGESIZE);
    return size > 0 ? (uint64_t)size : 4096;
}

uint64_t huge_page_size(void)
{
    return number_in("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", 0);
}

static void touch(char *pages, uint64_t bytes, uint64_t page)
{
    for (uint64_t i = 0; i < bytes; i += page)
        *(volatile char *)(pages + i) = 1;
}

static void *map(uint64_t bytes)
{
    void *pages =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void *map_base_pages(uint64_t bytes)
{
    char *pages = map(bytes);
    if (!pages)
        return NULL;
#ifdef MADV_NOHUGEPAGE
    madvise(pages, bytes, MADV_NOHUGEPAGE); /* refused where there are none: as well */
#endif
    touch(pages, bytes, page_size());
    return pages;
}

/* Whether the kernel really backs the mapping at `pages` with huge pages only. */
static int is_huge(const void *pages, uint64_t bytes)
{
    char line[256];
    unsigned long long from, to, kilobytes, huge = 0;
    int inside = 0;
    FILE *file = fopen("/proc/self/smaps", "re");
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%llx-%llx ", &from, &to) == 2)
            inside = from < (uintptr_t)pages + bytes && to > (uintptr_t)pages;
        else if (inside && sscanf(line, "AnonHugePages: %llu kB", &kilobytes) == 1)
            huge += kilobytes << 10;
    }
    fclose(file);
    return huge >= bytes;
}

void *map_huge_pages(uint64_t bytes)
{
#ifdef MADV_HUGEPAGE
    uint64_t huge = huge_page_size();
    if (!huge || bytes < huge)
        return NULL;
    char *all = map(bytes + huge);
    if (!all)
        return NULL;
    char *pages = (char *)(((uintptr_t)all + huge - 1) & ~(uintptr_t)(huge - 1));
    if (pages > all)
        munmap(all, (size_t)(pages - all));
    if (all + huge > pages)
        munmap(pages + bytes, (size_t)(all + huge - pages));
    if (madvise(pages, bytes, MADV_HUGEPAGE) == 0) {
        touch(pages, bytes, page_size());
        if (is_huge(pages, bytes))
            return pages;
    }
    munmap(pages, bytes);
#else
    (void)bytes;
    (void)is_huge;
#endif
    return NULL;
}

void unmap_pages(void *pages, uint64_t bytes)
{
    if (pages)
        munmap(pages, bytes);
}
