/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sections and keys of a machine file; machine/keys.h says how they are used. */
#include "machine/keys.h"

#include "core/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))

static const char *const kinds[] = {"data", "instruction", "unified", NULL};
static const char *const policies[] = {"lru", "plru", "fifo", "random", NULL};
static const char *const indexes[] = {"virtual", "physical", NULL};
static const char *const inclusions[] = {"none", "inclusive", "exclusive", NULL};
static const char *const mappings[] = {"random", "contiguous", "coloured", NULL};
static const char *const prefetches[] = {"none",   "next-line", "adjacent",
                                         "stride", "stream",    NULL};
static const char *const tlb_indexes[] = {"low", "gray", "xor", "mixed", NULL};
static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const types[] = {"int", "float", NULL};

#define FIELD(record, field)                                                               \
    .offset = offsetof(struct record, field), .width = sizeof(((struct record *)0)->field)
#define WORDS(table) .words = table, .nwords = LENGTH(table) - 1

enum { MOST_CYCLES = 1000000 }; /* no access on any machine costs more */

/* One row per key. */
/* clang-format off */
static const struct key machine_keys[] = {
    {"name", KEY_TEXT, FIELD(strata_machine, name), true, NULL, "My Machine"},
    {"page", KEY_SIZE, FIELD(strata_machine, page), true, NULL, "4K", 512, 1 << 30},
    {"huge", KEY_SIZE, FIELD(strata_machine, huge), false, "none", NULL, 0, 1ull << 40},
    {"frequency", KEY_COUNT, FIELD(strata_machine, frequency), true, NULL, "2400M", 1, 1000000000000},
    {"mapping", KEY_CHOICE, FIELD(strata_machine, mapping), false, "random", WORDS(mappings)},
    {"splintered", KEY_CHOICE, FIELD(strata_machine, splintered), false, "no", WORDS(no_yes)},
};

static const struct key cache_keys[] = {
    {"level", KEY_NUMBER, FIELD(strata_cache, level), true, NULL, "1", 1, STRATA_MAX_CACHES},
    {"kind", KEY_CHOICE, FIELD(strata_cache, kind), true, NULL, "data", WORDS(kinds)},
    {"size", KEY_SIZE, FIELD(strata_cache, size), true, NULL, "32K", 4, 8ull << 30},
    {"line", KEY_SIZE, FIELD(strata_cache, line), true, NULL, "64", 4, 4096},
    {"ways", KEY_WAYS, FIELD(strata_cache, ways), true, NULL, "8", 1, UINT32_MAX - 1},
    {"latency", KEY_NUMBER, FIELD(strata_cache, latency), true, NULL, "4", 1, MOST_CYCLES},
    {"policy", KEY_CHOICE, FIELD(strata_cache, policy), false, "lru", WORDS(policies)},
    {"index", KEY_CHOICE, FIELD(strata_cache, index), false, NULL, WORDS(indexes)},
    {"types", KEY_SET, FIELD(strata_cache, types), false, "int float", WORDS(types)},
    {"inclusion", KEY_CHOICE, FIELD(strata_cache, inclusion), false, "none", WORDS(inclusions)},
    {"banks", KEY_NUMBER, FIELD(strata_cache, banks), false, "0", NULL, 0, 4096},
    {"interleave", KEY_NUMBER, FIELD(strata_cache, interleave), false, "0", NULL, 0, 4096},
    {"occupied", KEY_REAL, FIELD(strata_cache, occupied), false, "0", NULL, 0, 1},
};

static const struct key tlb_keys[] = {
    {"level", KEY_NUMBER, FIELD(strata_tlb, level), true, NULL, "1", 1, STRATA_MAX_TLBS},
    {"kind", KEY_CHOICE, FIELD(strata_tlb, kind), true, NULL, "data", WORDS(kinds)},
    {"page", KEY_SIZE, FIELD(strata_tlb, page), false, NULL, NULL, 512, 1ull << 40},
    {"entries", KEY_NUMBER, FIELD(strata_tlb, entries), true, NULL, "64", 1, 1 << 24},
    {"ways", KEY_WAYS, FIELD(strata_tlb, ways), true, NULL, "full", 1, 1 << 24},
    {"latency", KEY_NUMBER, FIELD(strata_tlb, latency), false, NULL, "7", 0, MOST_CYCLES},
    {"policy", KEY_CHOICE, FIELD(strata_tlb, policy), false, "lru", WORDS(policies)},
    {"index", KEY_CHOICE, FIELD(strata_tlb, index), false, "low", WORDS(tlb_indexes)},
};

static const struct key walk_keys[] = {
    {"latency", KEY_NUMBER, FIELD(strata_machine, walk_latency), true, NULL, "30", 0, MOST_CYCLES},
    {"tables", KEY_CHOICE, FIELD(strata_machine, walk_tables), false, "no", WORDS(no_yes)},
};

static const struct key memory_keys[] = {
    {"latency", KEY_NUMBER, FIELD(strata_machine, memory_latency), true, NULL, "200", 1, MOST_CYCLES},
};

static const struct key prefetch_keys[] = {
    {"kind", KEY_CHOICE, FIELD(strata_prefetcher, kind), true, NULL, "adjacent", WORDS(prefetches)},
    {"degree", KEY_NUMBER, FIELD(strata_prefetcher, degree), false, NULL, NULL, 1, 64},
};

static const struct key branch_keys[] = {
    {"entries", KEY_NUMBER, FIELD(strata_branch, entries), false, "4096", NULL, 1, 1 << 24},
    {"history", KEY_NUMBER, FIELD(strata_branch, history), false, "12", NULL, 0, 24},
    {"window", KEY_NUMBER, FIELD(strata_branch, window), false, "32", NULL, 0, 1024},
    {"penalty", KEY_NUMBER, FIELD(strata_branch, penalty), false, "15", NULL, 0, MOST_CYCLES},
};

static const struct key noise_keys[] = {
    {"jitter", KEY_REAL, FIELD(strata_noise, jitter), false, "0", NULL, 0, 1},
    {"spikes", KEY_REAL, FIELD(strata_noise, spikes), false, "0", NULL, 0, 1},
    {"spike_cycles", KEY_NUMBER, FIELD(strata_noise, spike_cycles), false, "0", NULL, 0, 1000000000000},
    {"timer_ns", KEY_NUMBER, FIELD(strata_noise, timer_ns), false, "0", NULL, 0, 1000000000000},
};

#define KEYS(table) table, LENGTH(table)
#define MANY(field, number, limit)                                                         \
    offsetof(struct strata_machine, field),                                                \
        sizeof(((struct strata_machine *)0)->field[0]),                                    \
        offsetof(struct strata_machine, number), limit
#define AT(field) offsetof(struct strata_machine, field), 0, 0, 1
#define WHOLE     0, 0, 0, 1

const struct section_type section_types[SECTIONS] = {
    [SECTION_MACHINE] = {"machine", false, true, KEYS(machine_keys), WHOLE},
    [SECTION_CACHE] = {"cache", true, true, KEYS(cache_keys), MANY(caches, ncaches, STRATA_MAX_CACHES)},
    [SECTION_TLB] = {"tlb", true, false, KEYS(tlb_keys), MANY(tlbs, ntlbs, STRATA_MAX_TLBS)},
    [SECTION_WALK] = {"walk", false, false, KEYS(walk_keys), WHOLE},
    [SECTION_MEMORY] = {"memory", false, true, KEYS(memory_keys), WHOLE},
    [SECTION_PREFETCH] = {"prefetch", true, false, KEYS(prefetch_keys), MANY(prefetchers, nprefetchers, STRATA_MAX_PREFETCHERS)},
    [SECTION_BRANCH] = {"branch", false, false, KEYS(branch_keys), AT(branch)},
    [SECTION_NOISE] = {"noise", false, false, KEYS(noise_keys), AT(noise)},
};
/* clang-format on */

_Static_assert(LENGTH(cache_keys) <= MAX_KEYS,
               "MAX_KEYS is the length of the longest table");
_Static_assert(offsetof(struct strata_cache, name) == 0 &&
                   offsetof(struct strata_tlb, name) == 0 &&
                   offsetof(struct strata_prefetcher, name) == 0,
               "a record that has a name begins with it");

const void *record_of(const struct strata_machine *machine, enum section section,
                      uint32_t i)
{
    const struct section_type *type = &section_types[section];
    return (const char *)machine + type->first + (size_t)i * type->stride;
}

void *record_at(struct strata_machine *machine, enum section section, uint32_t i)
{
    const struct section_type *type = &section_types[section];
    return (char *)machine + type->first + (size_t)i * type->stride;
}

static bool has_noise(const struct strata_noise *noise)
{
    return noise->jitter != 0 || noise->spikes != 0 || noise->spike_cycles ||
           noise->timer_ns;
}

uint32_t record_count(const struct strata_machine *machine, enum section section)
{
    const struct section_type *type = &section_types[section];
    uint32_t n = 1;
    if (type->named)
        memcpy(&n, (const char *)machine + type->count, sizeof n);
    else if (section == SECTION_WALK)
        n = machine->ntlbs || machine->walk_latency;
    else if (section == SECTION_BRANCH)
        n = machine->branch.present != 0;
    else if (section == SECTION_NOISE)
        n = has_noise(&machine->noise);
    return n;
}

int key_find(enum section section, const char *name)
{
    const struct section_type *type = &section_types[section];
    for (uint32_t k = 0; k < type->nkeys; k++)
        if (strcmp(type->keys[k].name, name) == 0)
            return (int)k;
    return -1;
}

uint64_t key_get(const struct key *key, const void *record)
{
    const char *field = (const char *)record + key->offset;
    uint32_t narrow;
    uint64_t wide;
    if (key->width == sizeof narrow) {
        memcpy(&narrow, field, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, field, sizeof wide);
    return wide;
}

void key_set(const struct key *key, void *record, uint64_t value)
{
    char *field = (char *)record + key->offset;
    uint32_t narrow = (uint32_t)value;
    if (key->width == sizeof narrow)
        memcpy(field, &narrow, sizeof narrow);
    else
        memcpy(field, &value, sizeof value);
}

double key_get_real(const struct key *key, const void *record)
{
    double value;
    memcpy(&value, (const char *)record + key->offset, sizeof value);
    return value;
}

/* The readers by type: 0, or -1 where the text is no such value. */

static int read_text(const struct key *key, const char *text, void *record)
{
    char *field = (char *)record + key->offset;
    size_t length = strlen(text);
    if (length >= key->width)
        return -1;
    memset(field, 0, key->width);
    memcpy(field, text, length);
    return 0;
}

static int set_fitting(const struct key *key, void *record, uint64_t value)
{
    if (key->width == sizeof(uint32_t) && value > UINT32_MAX)
        return -1;
    key_set(key, record, value);
    return 0;
}

static int read_size(const struct key *key, const char *text, void *record)
{
    uint64_t value = 0;
    bool none = key->low == 0 && strcmp(text, "none") == 0;
    if (!none && parse_size(text, &value) != 0)
        return -1;
    return set_fitting(key, record, value);
}

static int read_count(const struct key *key, const char *text, void *record)
{
    uint64_t value;
    return parse_count(text, &value) != 0 ? -1 : set_fitting(key, record, value);
}

static int read_number(const struct key *key, const char *text, void *record)
{
    uint64_t value;
    if (text[strspn(text, "0123456789")] || parse_count(text, &value) != 0)
        return -1;
    return set_fitting(key, record, value);
}

static int read_ways(const struct key *key, const char *text, void *record)
{
    if (strcmp(text, "full") != 0)
        return read_number(key, text, record);
    key_set(key, record, WAYS_FULL);
    return 0;
}

static int read_real(const struct key *key, const char *text, void *record)
{
    char *end;
    /* strtod() would also take signs, infinity, nan and hexadecimal */
    if (!(text[0] >= '0' && text[0] <= '9') || text[strspn(text, "0123456789.eE+-")])
        return -1;
    double value = strtod(text, &end);
    if (*end)
        return -1;
    memcpy((char *)record + key->offset, &value, sizeof value);
    return 0;
}

static int find_word(const struct key *key, const char *text, size_t length)
{
    for (int w = 0; key->words[w]; w++)
        if (strlen(key->words[w]) == length && memcmp(key->words[w], text, length) == 0)
            return w;
    return -1;
}

static int read_choice(const struct key *key, const char *text, void *record)
{
    int word = find_word(key, text, strlen(text));
    if (word >= 0)
        key_set(key, record, (uint64_t)word);
    return word >= 0 ? 0 : -1;
}

static int read_set(const struct key *key, const char *text, void *record)
{
    static const char between[] = " \t,";
    uint64_t set = 0;
    while (*text) {
        size_t length = strcspn(text, between);
        int word = find_word(key, text, length);
        if (word < 0 || (set & (1u << word)))
            return -1;
        set |= 1u << word;
        text += length;
        text += strspn(text, between);
    }
    key_set(key, record, set);
    return set ? 0 : -1;
}

/* The writers by type. */

static void write_text(const struct key *key, const void *record, char *text)
{
    snprintf(text, VALUE_TEXT, "%.*s", (int)key->width - 1,
             (const char *)record + key->offset);
}

static void write_size(const struct key *key, const void *record, char *text)
{
    uint64_t value = key_get(key, record);
    if (value == 0 && key->low == 0)
        snprintf(text, VALUE_TEXT, "none");
    else
        format_size(value, text);
}

static void write_count(const struct key *key, const void *record, char *text)
{
    static const char suffixes[] = "KMG";
    uint64_t value = key_get(key, record);
    const char *suffix = suffixes;
    for (; value && value % 1000 == 0 && *suffix; suffix++)
        value /= 1000;
    snprintf(text, VALUE_TEXT, "%" PRIu64 "%.*s", value, suffix > suffixes,
             suffix > suffixes ? suffix - 1 : "");
}

static void write_number(const struct key *key, const void *record, char *text)
{
    snprintf(text, VALUE_TEXT, "%" PRIu64, key_get(key, record));
}

static void write_real(const struct key *key, const void *record, char *text)
{
    double value = key_get_real(key, record);
    for (int digits = 15; digits <= 17; digits++) { /* 17 always read back the same */
        snprintf(text, VALUE_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            return;
    }
}

static void write_choice(const struct key *key, const void *record, char *text)
{
    uint64_t value = key_get(key, record);
    if (value < key->nwords)
        snprintf(text, VALUE_TEXT, "%s", key->words[value]);
    else
        write_number(key, record, text);
}

static void write_set(const struct key *key, const void *record, char *text)
{
    uint64_t set = key_get(key, record);
    size_t used = 0;
    *text = '\0';
    for (unsigned w = 0; key->words[w]; w++)
        if (set & (1u << w))
            used += (size_t)snprintf(text + used, VALUE_TEXT - used, "%s%s",
                                     used ? " " : "", key->words[w]);
}

static const struct {
    int (*read)(const struct key *key, const char *text, void *record);
    void (*write)(const struct key *key, const void *record, char *text);
    const char *wanted;
} values[] = {
    [KEY_TEXT] = {read_text, write_text, "longer than the 63 bytes that a name may have"},
    [KEY_SIZE] = {read_size, write_size,
                  "not a size; write bytes, as 64, or with K, M or G, as 32K"},
    [KEY_COUNT] = {read_count, write_count, "not a frequency; write Hz, as 2400M or 2.4G"},
    [KEY_NUMBER] = {read_number, write_number, "not a whole number, or too large"},
    [KEY_WAYS] = {read_ways, write_number, "not a whole number; write one, or `full`"},
    [KEY_REAL] = {read_real, write_real, "not a number; write one as 0.02"},
    [KEY_CHOICE] = {read_choice, write_choice, NULL},
    [KEY_SET] = {read_set, write_set, NULL},
};

const char *key_parse(const struct key *key, const char *text, void *record,
                      char why[VALUE_TEXT * 2])
{
    const size_t size = VALUE_TEXT * 2;
    if (values[key->type].read(key, text, record) == 0)
        return NULL;
    if (!key->words) {
        snprintf(why, size, "%s", values[key->type].wanted);
        return why;
    }
    size_t used = (size_t)snprintf(why, size, "write %s", key->words[0]);
    for (int w = 1; key->words[w] && used < size; w++)
        used += (size_t)snprintf(why + used, size - used, "%s%s",
                                 key->words[w + 1] ? ", " : " or ", key->words[w]);
    if (key->type == KEY_SET && used < size)
        snprintf(why + used, size - used, ", or `int float`");
    return why;
}

const char *key_format(const struct key *key, const void *record, char text[VALUE_TEXT])
{
    values[key->type].write(key, record, text);
    return text;
}
