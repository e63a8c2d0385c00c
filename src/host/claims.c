/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Claims from sysfs (one small file per figure) and from hwloc. */
#include "host/claims.h"

#include "core/fail.h"
#include "core/units.h"

#include <dirent.h>
#include <hwloc.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct claim *claims_find(const struct claim_list *list, int level)
{
    for (int i = 0; i < list->n; i++)
        if (list->caches[i].level == level)
            return &list->caches[i];
    return NULL;
}

const struct claim_tlb *claims_find_tlb(const struct claims *claims, int level,
                                        uint64_t page)
{
    for (int i = 0; i < claims->ntlbs; i++)
        if (claims->tlbs[i].level == level && claims->tlbs[i].page == page)
            return &claims->tlbs[i];
    return NULL;
}

/* Keeps the list sorted, with the first claim of each level. */
static void keep(struct claim_list *list, const struct claim *claim)
{
    if (claim->level < 1 || list->n == STRATA_MAX_CACHES || claims_find(list, claim->level))
        return;
    int at = list->n++;
    for (; at > 0 && list->caches[at - 1].level > claim->level; at--)
        list->caches[at] = list->caches[at - 1];
    list->caches[at] = *claim;
}

/* Reads a one-line file into text[size] without its newline; -1 if it is not there. */
static int read_line(const char *folder, const char *name, char *text, size_t size)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return -1;
    FILE *in = fopen(path, "re");
    free(path);
    if (!in)
        return -1;
    int bad = !fgets(text, (int)size, in);
    fclose(in);
    if (!bad)
        text[strcspn(text, "\n")] = '\0';
    return bad ? -1 : 0;
}

/* A size such as 32K or a plain number; 0 if it is not there or not one. */
static uint64_t read_figure(const char *folder, const char *name)
{
    char text[64];
    uint64_t figure = 0;
    if (read_line(folder, name, text, sizeof text) || parse_size(text, &figure))
        return 0;
    return figure;
}

static uint32_t narrow(uint64_t figure)
{
    return figure <= UINT32_MAX ? (uint32_t)figure : 0;
}

/* One .../cpuN/cache/indexM; false if there is none. */
static bool read_index(const char *cpu, int index, struct claim_list *list)
{
    char *folder = NULL, type[32];
    if (asprintf(&folder, "%s/cache/index%d", cpu, index) < 0)
        return false;
    bool there = read_line(folder, "type", type, sizeof type) == 0;
    if (there && strcmp(type, "Instruction") != 0) {
        uint64_t level = read_figure(folder, "level");
        struct claim claim = {
            .level = level <= 16 ? (int)level : 0,
            .size = read_figure(folder, "size"),
            .line = narrow(read_figure(folder, "coherency_line_size")),
            .ways = narrow(read_figure(folder, "ways_of_associativity")),
        };
        /* sysfs says 0 ways for a fully associative cache, and nothing for unknown */
        char ways[32];
        if (!claim.ways && claim.line &&
            !read_line(folder, "ways_of_associativity", ways, sizeof ways) &&
            !strcmp(ways, "0"))
            claim.ways = narrow(claim.size / claim.line);
        keep(list, &claim);
    }
    free(folder);
    return there;
}

static int read_sysfs(const char *root, int cpu, struct claim_list *list)
{
    char *folder = NULL;
    if (asprintf(&folder, "%s/sys/devices/system/cpu/cpu%d", root, cpu) < 0)
        return -1;
    for (int index = 0; index < 32 && read_index(folder, index, list); index++)
        ;
    if (!list->n)
        snprintf(list->why, sizeof list->why, "%.100s/cache names no cache", folder);
    free(folder);
    return 0;
}

/* Adds a page size in its place, once. */
static void keep_page(struct claims *claims, uint64_t page)
{
    int at = 0;
    while (at < claims->npages && claims->pages[at] < page)
        at++;
    if (!page || claims->npages == CLAIMS_MAX_PAGES ||
        (at < claims->npages && claims->pages[at] == page))
        return;
    memmove(&claims->pages[at + 1], &claims->pages[at],
            (size_t)(claims->npages - at) * sizeof claims->pages[0]);
    claims->pages[at] = page;
    claims->npages++;
}

/* The kernel states its base page only with a mapping: the first one will do. */
static int read_base_page(const char *root, struct claims *claims)
{
    char *path = NULL, line[256];
    if (asprintf(&path, "%s/proc/self/smaps", root) < 0)
        return -1;
    FILE *in = fopen(path, "re");
    free(path);
    uint64_t kilobytes = 0;
    while (in && !kilobytes && fgets(line, sizeof line, in))
        (void)!sscanf(line, "KernelPageSize: %" SCNu64 " kB", &kilobytes);
    if (in)
        fclose(in);
    if (kilobytes < UINT64_MAX / 1024)
        keep_page(claims, kilobytes * 1024);
    return 0;
}

static int read_huge_pages(const char *root, struct claims *claims)
{
    char *path = NULL;
    if (asprintf(&path, "%s/sys/kernel/mm/hugepages", root) < 0)
        return -1;
    DIR *folder = opendir(path);
    free(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        uint64_t kilobytes;
        if (sscanf(entry->d_name, "hugepages-%" SCNu64 "kB", &kilobytes) == 1 &&
            kilobytes < UINT64_MAX / 1024)
            keep_page(claims, kilobytes * 1024);
    }
    if (folder)
        closedir(folder);
    return 0;
}

/* hwloc gives -1 ways for fully associative and 0 for unknown. */
static void keep_hwloc(struct claim_list *list, hwloc_obj_t object)
{
    const struct hwloc_cache_attr_s *cache = &object->attr->cache;
    struct claim claim = {
        .level = (int)cache->depth,
        .size = cache->size,
        .line = cache->linesize,
        .ways = cache->associativity > 0 ? (uint32_t)cache->associativity : 0,
    };
    if (cache->associativity == -1 && claim.line)
        claim.ways = narrow(claim.size / claim.line);
    keep(list, &claim);
}

/* Prepares a topology of this machine, or of the one that was recorded. */
static int load_topology(const char *root, bool live, hwloc_topology_t *topology, char *why,
                         size_t size)
{
    if (hwloc_topology_init(topology))
        return -1;
    char *xml = NULL;
    int bad = 0;
    if (!live) {
        if (asprintf(&xml, "%s/hwloc.xml", root) < 0) {
            hwloc_topology_destroy(*topology);
            return -1;
        }
        bad = hwloc_topology_set_xml(*topology, xml);
    }
    if (!bad)
        bad = hwloc_topology_load(*topology);
    if (bad && live)
        snprintf(why, size, "hwloc cannot read this machine's topology");
    else if (bad)
        snprintf(why, size, "hwloc cannot read %.120s", xml);
    free(xml);
    if (bad)
        hwloc_topology_destroy(*topology);
    return bad ? 1 : 0;
}

/* 0, or -1: out of memory. */
static int read_hwloc(const char *root, bool live, int cpu, struct claim_list *list)
{
    hwloc_topology_t topology;
    int bad = load_topology(root, live, &topology, list->why, sizeof list->why);
    if (bad)
        return bad < 0 ? -1 : 0;
    hwloc_obj_t object = hwloc_get_pu_obj_by_os_index(topology, (unsigned)cpu);
    for (; object; object = object->parent)
        if (hwloc_obj_type_is_dcache(object->type))
            keep_hwloc(list, object);
    if (!list->n)
        snprintf(list->why, sizeof list->why, "hwloc names no cache of cpu %d", cpu);
    hwloc_topology_destroy(topology);
    return 0;
}

int claims_read(const char *root, int cpu, struct claims *claims,
                struct strata_error *error)
{
    bool live = !strcmp(root, "/") || !*root;
    const char *prefix = live ? "" : root;
    if (cpu < 0)
        cpu = 0;
    *claims = (struct claims){.by = {{.who = "OS"}, {.who = "hwloc"}}};
    if (read_sysfs(prefix, cpu, &claims->by[0]) || read_base_page(prefix, claims) ||
        read_huge_pages(prefix, claims) || read_hwloc(prefix, live, cpu, &claims->by[1]))
        return fail(error, STRATA_FAILED, "out of memory while reading what the OS claims");
    return STRATA_OK;
}

/* The probe loads integers: a cache that they bypass is not there for it. */
static void keep_cache(struct claims *claims, const struct strata_cache *cache)
{
    struct claim claim = {(int)cache->level, cache->size, cache->line, cache->ways};
    if (cache->kind != STRATA_INSTRUCTION && cache->types & STRATA_INT)
        keep(&claims->by[0], &claim);
}

static void keep_tlb(struct claims *claims, const struct strata_tlb *tlb)
{
    struct claim_tlb claim = {(int)tlb->level, tlb->page, tlb->entries, tlb->ways};
    if (tlb->kind != STRATA_INSTRUCTION && claims->ntlbs < STRATA_MAX_TLBS)
        claims->tlbs[claims->ntlbs++] = claim;
}

void claims_of_machine(const struct strata_machine *machine, struct claims *claims)
{
    *claims = (struct claims){.by = {{.who = "file"}}};
    for (uint32_t i = 0; i < machine->ncaches; i++)
        keep_cache(claims, &machine->caches[i]);
    if (!claims->by[0].n)
        snprintf(claims->by[0].why, sizeof claims->by[0].why,
                 "it describes no cache that integers use");
    for (uint32_t i = 0; i < machine->ntlbs; i++)
        keep_tlb(claims, &machine->tlbs[i]);
    keep_page(claims, machine->page);
    keep_page(claims, machine->huge);
}
