/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory: huge pages and limits. */
#include "core/units.h"
#include "host/facts.h"
#include "host/limits.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* "always [madvise] never" -> "madvise" */
static int read_choice(const char *root, const char *path, char *word, size_t size)
{
    char line[256];
    if (facts_read_line(root, path, line, sizeof line))
        return -1;
    char *open = strchr(line, '['), *close = open ? strchr(open, ']') : NULL;
    if (!close || (size_t)(close - open) > size)
        return -1;
    *close = '\0';
    snprintf(word, size, "%s", open + 1);
    return 0;
}

/* Bytes of huge pages under the mapping that holds address, by this process's smaps;
 * -1: cannot be told. */
static int64_t huge_bytes_at(uintptr_t address)
{
    char line[512];
    int64_t kilobytes = -1;
    int inside = 0;
    FILE *file = fopen("/proc/self/smaps", "re");
    if (!file)
        return -1;
    while (fgets(line, sizeof line, file)) {
        uintptr_t low, high;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &low, &high) == 2)
            inside = low <= address && address < high;
        else if (inside && sscanf(line, "AnonHugePages: %" SCNd64 " kB", &kilobytes) == 1)
            break;
    }
    fclose(file);
    return kilobytes < 0 ? -1 : kilobytes * 1024;
}

/* Asks for n huge pages and touches them: how many bytes of them were really huge;
 * -1: cannot be told. */
static int64_t try_huge(size_t huge, size_t n)
{
    size_t size = huge * (n + 1); /* one more, to find an aligned start */
    char *block =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return -1;
    uintptr_t start = ((uintptr_t)block + huge - 1) / huge * huge;
    int64_t got = 0;
    if (madvise((void *)start, huge * n, MADV_HUGEPAGE) == 0) {
        for (size_t i = 0; i < n; i++)
            *(volatile char *)(start + i * huge) = 1;
        got = huge_bytes_at(start);
    }
    munmap(block, size);
    return got;
}

void fact_transparent_huge_pages(const char *root, struct fact *fact)
{
    static const char folder[] = "/sys/kernel/mm/transparent_hugepage";
    char path[96], mode[32], text[SIZE_TEXT];
    int64_t huge = 0;
    snprintf(path, sizeof path, "%s/enabled", folder);
    if (read_choice(root, path, mode, sizeof mode)) {
        fact_set(fact, FACT_MISSING, "none: the kernel does not have them");
        fact_advise(fact, "huge-page TLBs cannot be measured without them");
        return;
    }
    snprintf(path, sizeof path, "%s/hpage_pmd_size", folder);
    if (facts_read_number(root, path, &huge) || huge <= 0 || huge > 1 << 30)
        huge = 2 << 20;
    int64_t got = strcmp(mode, "never") == 0 ? 0 : try_huge((size_t)huge, 4);
    format_size((uint64_t)huge, text);
    if (got >= 4 * huge)
        fact_set(fact, FACT_GOOD, "%s, mode %s: asked for 4, got 4", text, mode);
    else if (got > 0)
        fact_set(fact, FACT_LIMITED, "%s, mode %s: asked for 4, got %" PRId64, text, mode,
                 got / huge);
    else if (got == 0)
        fact_set(fact, FACT_MISSING, "%s, mode %s: asked for 4, got none", text, mode);
    else
        fact_set(fact, FACT_UNKNOWN, "%s, mode %s: smaps does not say what we got", text,
                 mode);
    if (strcmp(mode, "never") == 0)
        fact_advise(fact, "run 'echo madvise | sudo tee %s/enabled'", folder);
    else if (got >= 0 && got < 4 * huge)
        fact_advise(fact, "memory may be fragmented: 'echo 1 | sudo tee "
                          "/proc/sys/vm/compact_memory'");
}

static const char pool_folder[] = "/sys/kernel/mm/hugepages";

/* "hugepages-2048kB" -> 2048; 0: not such a name */
static uint64_t pool_kilobytes(const char *name)
{
    uint64_t kilobytes = 0;
    return sscanf(name, "hugepages-%" SCNu64 "kB", &kilobytes) == 1 ? kilobytes : 0;
}

static int is_pool(const struct dirent *entry)
{
    return pool_kilobytes(entry->d_name) != 0;
}

static int by_size(const struct dirent **a, const struct dirent **b)
{
    uint64_t x = pool_kilobytes((*a)->d_name), y = pool_kilobytes((*b)->d_name);
    return (x > y) - (x < y);
}

/* Adds "2M: 3 free of 4" to the list; returns how many pages the pool has. */
static int64_t describe_pool(const char *root, const char *name, char *list, size_t size)
{
    char path[512], text[SIZE_TEXT];
    int64_t pages = 0, unused = 0;
    size_t used = strlen(list);
    snprintf(path, sizeof path, "%s/%s/nr_hugepages", pool_folder, name);
    facts_read_number(root, path, &pages);
    snprintf(path, sizeof path, "%s/%s/free_hugepages", pool_folder, name);
    facts_read_number(root, path, &unused);
    snprintf(list + used, size - used, "%s%s: %" PRId64 " free of %" PRId64,
             used ? ", " : "", format_size(pool_kilobytes(name) * 1024, text), unused,
             pages);
    return pages;
}

void fact_huge_page_pool(const char *root, struct fact *fact)
{
    char path[4096], list[120] = "";
    struct dirent **pools;
    int64_t all = 0;
    snprintf(path, sizeof path, "%s%s", root, pool_folder);
    int n = scandir(path, &pools, is_pool, by_size);
    if (n < 0) {
        fact_set(fact, FACT_MISSING, "none: the kernel has no hugetlb pages");
        return;
    }
    for (int i = 0; i < n; i++) {
        all += describe_pool(root, pools[i]->d_name, list, sizeof list);
        free(pools[i]);
    }
    free(pools);
    fact_set(fact, all ? FACT_GOOD : FACT_MISSING, "%s", *list ? list : "no sizes");
    if (!all)
        fact_advise(fact, "only needed where transparent huge pages are missing: 'sudo "
                          "sysctl vm.nr_hugepages=64'");
}

void fact_memory_limit(const char *root, struct fact *fact)
{
    enum { ENOUGH = 1 << 30 }; /* several times the largest cache of today */
    char limit_text[SIZE_TEXT], unused_text[SIZE_TEXT];
    struct rlimit space = {.rlim_cur = RLIM_INFINITY};
    uint64_t limit = limits_group(root).bytes, unused = limits_unused(root);
    const char *whose = "the cgroup";
    getrlimit(RLIMIT_AS, &space);
    if (space.rlim_cur != RLIM_INFINITY && space.rlim_cur < limit) {
        limit = space.rlim_cur;
        whose = "'ulimit -v'";
    }
    if (unused == UINT64_MAX)
        snprintf(unused_text, sizeof unused_text, "not known");
    else
        format_size_short((double)unused, unused_text);
    uint64_t least = limit < unused ? limit : unused;
    enum fact_state state = least < ENOUGH ? FACT_LIMITED : FACT_GOOD;
    if (limit == UINT64_MAX)
        fact_set(fact, state, "no limit; available: %s", unused_text);
    else
        fact_set(fact, state, "%s, by %s; available: %s",
                 format_size_short((double)limit, limit_text), whose, unused_text);
    if (state == FACT_LIMITED)
        fact_advise(fact, "large caches need more: 1G is enough");
}
