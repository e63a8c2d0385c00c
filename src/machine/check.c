/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether a machine is possible.
 *
 * First the counts and names, so that the rest may use them; then every key against
 * the bounds of its table; then what no single key can tell: divisibility, the order
 * of levels along the way of a load and of an instruction fetch, the price of each
 * step. The first fault ends the check. */
#include "machine/check.h"

#include "core/fail.h"
#include "core/units.h"
#include "core/utf8.h"
#include "machine/locale.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PLRU_WAYS = 64 }; /* the simulator keeps a set's tree in one 64-bit word */

struct check {
    const struct strata_machine *machine;
    const struct origin *origin;
    struct strata_error *error;
};

/* "x.machine:14: " or "[cache L1d] "; a key that is not in the file is its section's. */
static void place(const struct check *check, enum section section, uint32_t i, int key,
                  char *text, size_t size)
{
    const struct section_type *type = &section_types[section];
    const struct origin *origin = check->origin;
    if (!origin) {
        const char *name = type->named ? record_of(check->machine, section, i) : "";
        snprintf(text, size, "[%s%s%.*s] ", type->name, type->named ? " " : "",
                 RECORD_NAME_SIZE - 1, name);
        return;
    }
    const uint32_t *lines = origin->line[section][i];
    uint32_t line = lines[1 + key] ? lines[1 + key] : lines[0];
    if (line)
        snprintf(text, size, "%s:%" PRIu32 ": ", origin->file, line);
    else
        snprintf(text, size, "%s: ", origin->file);
}

/* "PLACE key = value: reason"; without a key (NULL) "PLACE reason". */
static int bad(const struct check *check, enum section section, uint32_t i,
               const char *name, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static int bad(const struct check *check, enum section section, uint32_t i,
               const char *name, const char *format, ...)
{
    char where[320], value[VALUE_TEXT] = "", clean[VALUE_TEXT], reason[256];
    int key = name ? key_find(section, name) : -1;
    place(check, section, i, key, where, sizeof where);
    if (key >= 0)
        key_format(&section_types[section].keys[key], record_of(check->machine, section, i),
                   value);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    if (key < 0)
        return fail(check->error, STRATA_BAD_INPUT, "%s%s", where, reason);
    return fail(check->error, STRATA_BAD_INPUT, "%s%s = %s: %s", where, name,
                utf8_clean(value, clean, sizeof clean), reason);
}

static bool power_of_two(uint64_t n)
{
    return n && (n & (n - 1)) == 0;
}

/* Well-formed UTF-8 without control characters. */
static bool printable(const char *name)
{
    char clean[STRATA_NAME_SIZE];
    return strcmp(utf8_clean(name, clean, sizeof clean), name) == 0;
}

static int check_counts(const struct check *check)
{
    for (int s = 0; s < SECTIONS; s++) {
        const struct section_type *type = &section_types[s];
        uint32_t n = record_count(check->machine, s);
        if (type->named && n > type->most)
            return fail(check->error, STRATA_BAD_INPUT,
                        "%" PRIu32 " [%s] sections are more than the %" PRIu32 " possible",
                        n, type->name, type->most);
        if (type->named && type->required && n == 0)
            return fail(check->error, STRATA_BAD_INPUT,
                        "%s%sa machine needs a [%s NAME] section",
                        check->origin ? check->origin->file : "", check->origin ? ": " : "",
                        type->name);
    }
    return STRATA_OK;
}

static int check_machine_name(const struct check *check)
{
    const char *name = check->machine->name;
    if (!memchr(name, 0, STRATA_NAME_SIZE))
        return bad(check, SECTION_MACHINE, 0, "name", "the name has no end");
    if (!*name)
        return bad(check, SECTION_MACHINE, 0, "name", "the machine needs a name");
    if (strpbrk(name, "#;") || name[0] == ' ' || name[strlen(name) - 1] == ' ')
        return bad(check, SECTION_MACHINE, 0, "name",
                   "a name has no '#' or ';' in it and no space around it");
    if (!printable(name))
        return bad(check, SECTION_MACHINE, 0, "name",
                   "holds bytes that are not printable UTF-8");
    return STRATA_OK;
}

static int check_record_name(const struct check *check, enum section section, uint32_t i)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        "._-";
    const char *name = record_of(check->machine, section, i);
    if (!memchr(name, 0, RECORD_NAME_SIZE) || !*name || name[strspn(name, allowed)])
        return bad(
            check, section, i, NULL,
            "a name such as L1d or L2-2M is wanted: 1 to 15 letters, digits, '-', '_' "
            "or '.'");
    for (uint32_t j = 0; j < i; j++)
        if (strcmp(name, record_of(check->machine, section, j)) == 0)
            return bad(check, section, i, NULL, "there are two [%s %s] sections",
                       section_types[section].name, name);
    return STRATA_OK;
}

static int check_names(const struct check *check)
{
    int status = check_machine_name(check);
    for (int s = 0; s < SECTIONS && !status; s++)
        if (section_types[s].named)
            for (uint32_t i = 0; i < record_count(check->machine, s) && !status; i++)
                status = check_record_name(check, s, i);
    return status;
}

static int check_key(const struct check *check, enum section section, uint32_t i,
                     const struct key *key)
{
    const void *record = record_of(check->machine, section, i);
    char low[VALUE_TEXT], high[VALUE_TEXT];
    if (key->type == KEY_TEXT)
        return STRATA_OK;
    if (key->type == KEY_REAL) {
        double x = key_get_real(key, record);
        if (signbit(x) || !(x <= (double)key->high))
            return bad(check, section, i, key->name, "must be from 0 to %" PRIu64,
                       key->high);
        return STRATA_OK;
    }
    uint64_t value = key_get(key, record);
    if (key->type == KEY_CHOICE || key->type == KEY_SET) {
        uint64_t last = key->type == KEY_SET ? (1u << key->nwords) - 1 : key->nwords - 1;
        if (value > last || (key->type == KEY_SET && value == 0))
            return bad(check, section, i, key->name, "there is no such %s", key->name);
        return STRATA_OK;
    }
    if (value >= key->low && value <= key->high)
        return STRATA_OK;
    /* the bounds in the key's own notation: 512 to 1G */
    char record_like[sizeof(struct strata_machine)];
    key_set(key, record_like, key->low);
    key_format(key, record_like, low);
    key_set(key, record_like, key->high);
    key_format(key, record_like, high);
    return bad(check, section, i, key->name, "must be from %s to %s", low, high);
}

static int check_keys(const struct check *check)
{
    for (int s = 0; s < SECTIONS; s++) {
        const struct section_type *type = &section_types[s];
        uint32_t n =
            type->named || s == SECTION_BRANCH ? record_count(check->machine, s) : 1;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < type->nkeys; k++) {
                int status = check_key(check, s, i, &type->keys[k]);
                if (status)
                    return status;
            }
    }
    return STRATA_OK;
}

static int check_pages(const struct check *check)
{
    const struct strata_machine *m = check->machine;
    char page[SIZE_TEXT];
    if (!power_of_two(m->page))
        return bad(check, SECTION_MACHINE, 0, "page", "must be a power of two, as 4K");
    if (m->huge && (m->huge <= m->page || m->huge % m->page || !power_of_two(m->huge)))
        return bad(check, SECTION_MACHINE, 0, "huge",
                   "must be a power of two above the page of %s, as 2M, or none",
                   format_size(m->page, page));
    return STRATA_OK;
}

static int check_cache(const struct check *check, uint32_t i)
{
    const struct strata_cache *cache = &check->machine->caches[i];
    char size[SIZE_TEXT];
    uint64_t lines = cache->size / cache->line;
    if (!power_of_two(cache->line))
        return bad(check, SECTION_CACHE, i, "line", "must be a power of two");
    if (cache->line > check->machine->page)
        return bad(check, SECTION_CACHE, i, "line", "longer than a page of %s",
                   format_size(check->machine->page, size));
    if (cache->size % cache->line)
        return bad(check, SECTION_CACHE, i, "size",
                   "not a multiple of its %" PRIu32 "-byte line", cache->line);
    if (lines % cache->ways)
        return bad(check, SECTION_CACHE, i, "ways",
                   "a %s cache with %" PRIu32 "-byte lines has %" PRIu64
                   " lines, not a multiple of %" PRIu32,
                   format_size(cache->size, size), cache->line, lines, cache->ways);
    if (cache->policy == STRATA_PLRU && cache->ways > PLRU_WAYS)
        return bad(check, SECTION_CACHE, i, "policy",
                   "can have %d ways at most, not %" PRIu32 "; use lru or random",
                   PLRU_WAYS, cache->ways);
    if (!cache->banks != !cache->interleave || cache->banks == 1 ||
        (cache->banks && !power_of_two(cache->interleave)))
        return bad(check, SECTION_CACHE, i, "banks",
                   "needs 2 or more, and as interleave a power of two, as 16");
    if (!(cache->occupied < 1))
        return bad(check, SECTION_CACHE, i, "occupied",
                   "must be below 1: something has to be left");
    return STRATA_OK;
}

static int check_caches(const struct check *check)
{
    int status = STRATA_OK;
    for (uint32_t i = 0; i < check->machine->ncaches && !status; i++)
        status = check_cache(check, i);
    return status;
}

/* First TLBs may map a part of a page with each entry, as those of the Itanium 2; all of
 * them do, or none. */
static int check_tlb_page(const struct check *check, uint32_t i)
{
    const struct strata_machine *m = check->machine;
    const struct strata_tlb *tlb = &m->tlbs[i];
    char page[SIZE_TEXT];
    bool part = tlb->page < m->page && tlb->level == 1 && !(tlb->page & (tlb->page - 1));
    if (tlb->page != m->page && tlb->page != m->huge && !part)
        return bad(check, SECTION_TLB, i, "page",
                   "must be the machine's page of %s, or what [machine] has as huge",
                   format_size(m->page, page));
    for (uint32_t j = 0; j < m->ntlbs; j++) {
        const struct strata_tlb *other = &m->tlbs[j];
        if (tlb->level == 1 && other->level == 1 && other->page > tlb->page &&
            other->page <= m->page)
            return bad(check, SECTION_TLB, i, "page",
                       "all TLBs of level 1 map the same part of a page, or all of it");
    }
    for (uint32_t j = 0; j < m->ncaches; j++)
        if (m->caches[j].line > tlb->page)
            return bad(check, SECTION_TLB, i, "page", "is shorter than the line of %s",
                       m->caches[j].name);
    return STRATA_OK;
}

/* Where huge pages have a walk of their own, those TLBs are behind it. */
static int check_walk_of(const struct check *check, const struct strata_tlb *tlb)
{
    const struct strata_machine *m = check->machine;
    bool huge = m->walk_huge_latency && m->huge && tlb->page == m->huge;
    if ((huge ? m->walk_huge_latency : m->walk_latency) >= tlb->latency)
        return STRATA_OK;
    return bad(check, SECTION_WALK, 0, huge ? "huge_latency" : "latency",
               "a walk cannot cost less than a hit in [tlb %s], %" PRIu32, tlb->name,
               tlb->latency);
}

static int check_walk(const struct check *check)
{
    const struct strata_machine *m = check->machine;
    if (m->walk_huge_latency && !m->huge)
        return bad(check, SECTION_WALK, 0, "huge_latency",
                   "[machine] has no huge pages; add `huge = 2M` there, or leave it out");
    return STRATA_OK;
}

static int check_tlb(const struct check *check, uint32_t i)
{
    const struct strata_tlb *tlb = &check->machine->tlbs[i];
    int status = check_tlb_page(check, i);
    if (status)
        return status;
    if (tlb->entries % tlb->ways)
        return bad(check, SECTION_TLB, i, "ways",
                   "%" PRIu32 " entries are not a multiple of %" PRIu32, tlb->entries,
                   tlb->ways);
    if (tlb->policy == STRATA_PLRU && tlb->ways > PLRU_WAYS)
        return bad(check, SECTION_TLB, i, "policy",
                   "can have %d ways at most, not %" PRIu32 "; use lru or random",
                   PLRU_WAYS, tlb->ways);
    return check_walk_of(check, tlb);
}

static int check_tlbs(const struct check *check)
{
    int status = check_walk(check);
    for (uint32_t i = 0; i < check->machine->ntlbs && !status; i++)
        status = check_tlb(check, i);
    return status;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* The cache that a prefetcher fills: its place in machine->caches, or ncaches. */
static uint32_t filled_by(const struct strata_machine *machine, uint32_t prefetcher)
{
    uint32_t c = 0;
    while (c < machine->ncaches &&
           strcmp(machine->caches[c].name, machine->prefetchers[prefetcher].name) != 0)
        c++;
    return c;
}

int record_order(const struct strata_machine *machine, enum section section, uint32_t i,
                 uint32_t j)
{
    if (section == SECTION_CACHE) {
        const struct strata_cache *a = &machine->caches[i], *b = &machine->caches[j];
        return a->level != b->level ? compare(a->level, b->level)
                                    : compare(a->kind, b->kind);
    }
    if (section == SECTION_TLB) {
        const struct strata_tlb *a = &machine->tlbs[i], *b = &machine->tlbs[j];
        if (a->page != b->page)
            return compare(a->page, b->page);
        return a->level != b->level ? compare(a->level, b->level)
                                    : compare(a->kind, b->kind);
    }
    return compare(filled_by(machine, i), filled_by(machine, j));
}

static int check_order(const struct check *check)
{
    static const char *const orders[SECTIONS] = {
        [SECTION_CACHE] = "level, data before instruction before unified",
        [SECTION_TLB] = "page size, then level",
        [SECTION_PREFETCH] = "the cache they fill",
    };
    for (int s = 0; s < SECTIONS; s++)
        for (uint32_t i = 1; orders[s] && i < record_count(check->machine, s); i++)
            if (record_order(check->machine, s, i - 1, i) > 0)
                return bad(check, s, i, NULL, "[%s] records must be sorted by %s",
                           section_types[s].name, orders[s]);
    return STRATA_OK;
}

/* A kind of access and the word for it in messages. */
static const struct path {
    uint32_t kind;
    const char *word;
} paths[] = {{STRATA_DATA, "data"}, {STRATA_INSTRUCTION, "instruction"}};

static bool serves(uint32_t kind, const struct path *path)
{
    return kind == path->kind || kind == STRATA_UNIFIED;
}

/* Levels along a path: none twice, none left out. Instruction caches may be missing
 * altogether (a machine for data only), so unified ones need none before them. */
static int check_level(const struct check *check, enum section section, uint32_t i,
                       const struct path *path, uint32_t kind, uint32_t level,
                       uint32_t last)
{
    const char *word = section_types[section].name;
    if (level == last)
        return bad(check, section, i, "level",
                   "another %s serves %s accesses at this level", word, path->word);
    if (level != last + 1 && (kind == path->kind || path->kind == STRATA_DATA))
        return bad(check, section, i, "level",
                   "there is no %s or unified %s of level %" PRIu32, path->word, word,
                   level - 1);
    return STRATA_OK;
}

/* What lies behind `near` on a path must be slower, and hold more in lines as long. */
static int check_beyond(const struct check *check, uint32_t i,
                        const struct strata_cache *near)
{
    const struct strata_cache *cache = &check->machine->caches[i];
    char size[SIZE_TEXT];
    if (cache->latency <= near->latency)
        return bad(check, SECTION_CACHE, i, "latency",
                   "must be above the %" PRIu32 " cycles of %s", near->latency, near->name);
    if (cache->line < near->line)
        return bad(check, SECTION_CACHE, i, "line",
                   "must not be below the %" PRIu32 " bytes of %s", near->line, near->name);
    if (cache->inclusion == STRATA_EXCLUSIVE && cache->line != near->line)
        return bad(check, SECTION_CACHE, i, "inclusion",
                   "takes lines that %s gives up, so line must be %" PRIu32 " here too",
                   near->name, near->line);
    if (cache->inclusion != STRATA_EXCLUSIVE && cache->size <= near->size)
        return bad(check, SECTION_CACHE, i, "size",
                   "must be above the %s of %s, unless with inclusion = exclusive",
                   format_size(near->size, size), near->name);
    return STRATA_OK;
}

static int check_cache_path(const struct check *check, const struct path *path)
{
    const struct strata_machine *m = check->machine;
    const struct strata_cache *near = NULL;
    int status = STRATA_OK;
    for (uint32_t i = 0; i < m->ncaches && !status; i++) {
        const struct strata_cache *cache = &m->caches[i];
        if (!serves(cache->kind, path))
            continue;
        status = check_level(check, SECTION_CACHE, i, path, cache->kind, cache->level,
                             near ? near->level : 0);
        if (!status && near)
            status = check_beyond(check, i, near);
        if (!status && cache->level == 1 && cache->inclusion == STRATA_EXCLUSIVE)
            status = bad(check, SECTION_CACHE, i, "inclusion",
                         "there is no nearer level whose lines it could take");
        if (!status && m->memory_latency <= cache->latency)
            status = bad(check, SECTION_MEMORY, 0, "latency",
                         "must be above the %" PRIu32 " cycles of %s", cache->latency,
                         cache->name);
        near = cache;
    }
    if (!status && !near && path->kind == STRATA_DATA)
        status =
            bad(check, SECTION_CACHE, 0, "kind", "no cache of this machine holds data");
    return status;
}

static int check_tlb_path(const struct check *check, const struct path *path)
{
    const struct strata_machine *m = check->machine;
    const struct strata_tlb *near = NULL;
    int status = STRATA_OK;
    for (uint32_t i = 0; i < m->ntlbs && !status; i++) {
        const struct strata_tlb *tlb = &m->tlbs[i];
        if (near && (near->page <= m->page) != (tlb->page <= m->page))
            near = NULL; /* those of huge pages begin anew */
        if (!serves(tlb->kind, path))
            continue;
        status = check_level(check, SECTION_TLB, i, path, tlb->kind, tlb->level,
                             near ? near->level : 0);
        if (!status && near && tlb->latency < near->latency)
            status = bad(check, SECTION_TLB, i, "latency",
                         "must not be below the %" PRIu32 " cycles of %s", near->latency,
                         near->name);
        near = tlb;
    }
    return status;
}

static int check_paths(const struct check *check)
{
    int status = STRATA_OK;
    for (size_t p = 0; p < sizeof paths / sizeof *paths && !status; p++) {
        status = check_cache_path(check, &paths[p]);
        if (!status)
            status = check_tlb_path(check, &paths[p]);
    }
    return status;
}

static int check_prefetchers(const struct check *check)
{
    const struct strata_machine *m = check->machine;
    for (uint32_t i = 0; i < m->nprefetchers; i++) {
        uint32_t c = filled_by(m, i);
        if (c == m->ncaches)
            return bad(check, SECTION_PREFETCH, i, NULL,
                       "[prefetch %s]: there is no [cache %s]", m->prefetchers[i].name,
                       m->prefetchers[i].name);
        if (m->caches[c].kind == STRATA_INSTRUCTION)
            return bad(check, SECTION_PREFETCH, i, NULL,
                       "[prefetch %s]: an instruction cache has no prefetcher here",
                       m->prefetchers[i].name);
        if (m->prefetchers[i].level != m->caches[c].level)
            return bad(check, SECTION_PREFETCH, i, NULL,
                       "the prefetcher's level is %" PRIu32 ", but its cache's is %" PRIu32,
                       m->prefetchers[i].level, m->caches[c].level);
        if ((m->prefetchers[i].kind == STRATA_PREFETCH_STREAMER) !=
            !!m->prefetchers[i].pages)
            return bad(check, SECTION_PREFETCH, i, "pages",
                       "a streamer follows at least one page, and no other kind any");
    }
    return STRATA_OK;
}

static int check_branch(const struct check *check)
{
    static const struct strata_branch absent;
    const struct strata_branch *branch = &check->machine->branch;
    if (!branch->present)
        return memcmp(branch, &absent, sizeof absent) == 0
                   ? STRATA_OK
                   : bad(check, SECTION_BRANCH, 0, NULL, "has values, but is not present");
    if (branch->present != 1)
        return bad(check, SECTION_BRANCH, 0, NULL, "present must be 0 or 1");
    if (!power_of_two(branch->entries))
        return bad(check, SECTION_BRANCH, 0, "entries", "must be a power of two");
    return STRATA_OK;
}

int machine_check(const struct strata_machine *machine, const struct origin *origin,
                  struct strata_error *error)
{
    static int (*const steps[])(const struct check *) = {
        check_counts, check_names, check_keys,  check_pages,       check_caches,
        check_tlbs,   check_order, check_paths, check_prefetchers, check_branch,
    };
    const struct check check = {machine, origin, error};
    int status = STRATA_OK;
    for (size_t s = 0; s < sizeof steps / sizeof *steps && !status; s++)
        status = steps[s](&check);
    return status;
}

int strata_machine_check(const struct strata_machine *machine, struct strata_error *error)
{
    struct c_locale locale;
    int status = c_locale_enter(&locale, error);
    if (status)
        return status;
    status = machine_check(machine, NULL, error);
    c_locale_leave(&locale);
    return status;
}
