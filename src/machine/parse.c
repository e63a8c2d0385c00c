/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading a machine file: inih splits it into keys and values, the tables of
 * machine/keys.h say what they mean, machine/check.h whether they are possible.
 *
 * inih hands its handler no line numbers, no sections without keys, and silently splits
 * lines longer than its buffer. So it reads through next_line(), which counts lines,
 * opens sections, cuts comments and indentation off (inih takes an indented line for
 * the continuation of the one before) and refuses what does not fit. The first error
 * ends the reading. */
#include "core/fail.h"
#include "core/file.h"
#include "core/utf8.h"
#include "machine/check.h"
#include "machine/locale.h"

#include <ini.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MACHINE_LIMIT = 1 << 20, /* bytes; a real one has some two thousand */
    STREAMER_PAGES = 32      /* that a usual one follows */
};

struct parser {
    const char *next, *end; /* what is left of the text */
    uint32_t line;          /* the one being read */
    int section;            /* enum section, or -1 before the first */
    uint32_t record;        /* of that section */
    int status;
    struct strata_error *error;
    struct strata_machine machine;
    struct origin origin;
};

static const char white[] = " \t\r\v\f";

static int bad_line(struct parser *parser, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int bad_line(struct parser *parser, uint32_t line, const char *format, ...)
{
    char raw[400], reason[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(raw, sizeof raw, format, arguments);
    va_end(arguments);
    utf8_clean(raw, reason, sizeof reason); /* it may quote binary junk */
    parser->status =
        line ? fail(parser->error, STRATA_BAD_INPUT, "%s:%" PRIu32 ": %s",
                    parser->origin.file, line, reason)
             : fail(parser->error, STRATA_BAD_INPUT, "%s: %s", parser->origin.file, reason);
    return parser->status;
}

static bool is_white(char c)
{
    return c && strchr(white, c);
}

/* The part of [*text, end) before a comment, without white space around it. A comment
 * begins with # or ; at the start of the line or behind white space. */
static size_t trim(const char **text, const char *end)
{
    const char *p = *text;
    while (p < end && is_white(*p))
        p++;
    *text = p;
    for (; p < end; p++)
        if ((*p == '#' || *p == ';') && (p == *text || is_white(p[-1])))
            break;
    while (p > *text && is_white(p[-1]))
        p--;
    return (size_t)(p - *text);
}

static int find_section(const char *word, size_t length)
{
    for (int s = 0; s < SECTIONS; s++)
        if (strlen(section_types[s].name) == length &&
            memcmp(section_types[s].name, word, length) == 0)
            return s;
    return -1;
}

/* A record for the section whose header is in this line. */
static int add_record(struct parser *parser, int section, const char *name, size_t length)
{
    const struct section_type *type = &section_types[section];
    uint32_t i = type->named ? record_count(&parser->machine, section) : 0;
    for (uint32_t j = 0; j <= i && j < type->most; j++) {
        uint32_t line = parser->origin.line[section][j][0];
        const char *other = type->named ? record_of(&parser->machine, section, j) : "";
        if (line && strlen(other) == length && memcmp(other, name, length) == 0)
            return bad_line(parser, parser->line, "[%s%s%.*s] is already in line %" PRIu32,
                            type->name, length ? " " : "", (int)length, name, line);
    }
    if (i == type->most)
        return bad_line(parser, parser->line, "more than %" PRIu32 " [%s] sections",
                        type->most, type->name);
    if (type->named) {
        uint32_t n = i + 1;
        memcpy(record_at(&parser->machine, section, i), name, length);
        memcpy((char *)&parser->machine + type->count, &n, sizeof n);
    }
    if (section == SECTION_BRANCH)
        parser->machine.branch.present = 1;
    parser->section = section;
    parser->record = i;
    parser->origin.line[section][i][0] = parser->line;
    return STRATA_OK;
}

/* Opens the section of a header such as "[cache L1d]". */
static int open_section(struct parser *parser, const char *header, size_t length)
{
    const char *word = header + 1, *end = header + length - 1;
    if (length < 2 || *end != ']')
        return bad_line(parser, parser->line, "%.60s: a section ends with ']'", header);
    size_t inside = trim(&word, end);
    size_t letters = 0;
    while (letters < inside && !is_white(word[letters]))
        letters++;
    const char *name = word + letters;
    size_t rest = trim(&name, word + inside);
    int section = find_section(word, letters);
    if (section < 0)
        return bad_line(
            parser, parser->line,
            "[%.*s]: no such section; there are machine, cache, tlb, walk, memory, "
            "prefetch, branch and noise",
            (int)(inside < 60 ? inside : 60), word);
    const struct section_type *type = &section_types[section];
    if (type->named && (rest == 0 || rest >= RECORD_NAME_SIZE))
        return bad_line(parser, parser->line,
                        "[%s]: a name of 1 to 15 characters is wanted, as [%s L2]",
                        type->name, type->name);
    if (!type->named && rest)
        return bad_line(parser, parser->line, "[%s] has no name; write [%s]", type->name,
                        type->name);
    return add_record(parser, section, name, rest);
}

/* inih's reader: the next line without its comment, or NULL at the end or an error. */
static char *next_line(char *buffer, int size, void *context)
{
    struct parser *parser = context;
    if (parser->status || parser->next == parser->end)
        return NULL;
    const char *text = parser->next;
    const char *end = memchr(text, '\n', (size_t)(parser->end - text));
    parser->next = end ? end + 1 : parser->end;
    parser->line++;
    size_t length = trim(&text, end ? end : parser->end);
    if (length + 2 > (size_t)size) {
        bad_line(parser, parser->line,
                 "%zu characters without the comment; a line may have %d at most", length,
                 size - 2);
        return NULL;
    }
    memcpy(buffer, text, length);
    buffer[length] = '\0';
    if (*buffer == '[' && open_section(parser, buffer, length))
        return NULL;
    buffer[length] = '\n';
    buffer[length + 1] = '\0';
    return buffer;
}

static int unknown_key(struct parser *parser, const char *name)
{
    const struct section_type *type = &section_types[parser->section];
    char known[160] = "";
    size_t used = 0;
    for (uint32_t k = 0; k < type->nkeys && used < sizeof known; k++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", k ? ", " : "",
                                 type->keys[k].name);
    return bad_line(parser, parser->line, "%.60s: no such key in [%s]; it may have %s",
                    name, type->name, known);
}

/* inih's handler: one key and its value. Returns 0 to report an error. */
static int take(void *context, const char *section, const char *name, const char *value)
{
    struct parser *parser = context;
    char why[VALUE_TEXT * 2];
    (void)section; /* known from next_line(), which saw the empty ones too */
    if (parser->status)
        return 0;
    if (parser->section < 0)
        return !bad_line(parser, parser->line,
                         "%.60s stands before any section; begin with "
                         "[machine]",
                         name);
    int k = key_find(parser->section, name);
    if (k < 0)
        return !unknown_key(parser, name);
    uint32_t *line = &parser->origin.line[parser->section][parser->record][1 + k];
    if (*line)
        return !bad_line(parser, parser->line, "%s is already in line %" PRIu32, name,
                         *line);
    *line = parser->line;
    const struct key *key = &section_types[parser->section].keys[k];
    void *record = record_at(&parser->machine, parser->section, parser->record);
    if (key_parse(key, value, record, why))
        return !bad_line(parser, parser->line, "%s = %.80s: %s", name, value, why);
    return 1;
}

static int split(struct parser *parser)
{
    int first = ini_parse_stream(next_line, parser, take, parser);
    /* inih goes on after a line that it cannot read; an error before it comes first */
    if (first > 0 && (!parser->status || (uint32_t)first < parser->line))
        return bad_line(parser, (uint32_t)first, "neither a [section] nor `key = value`");
    if (first < 0 && !parser->status)
        parser->status =
            fail(parser->error, STRATA_FAILED, "%s: out of memory", parser->origin.file);
    return parser->status;
}

/* Sections that must be there; a TLB makes [walk] one of them. */
static int require_sections(struct parser *parser)
{
    for (int s = 0; s < SECTIONS; s++) {
        const struct section_type *type = &section_types[s];
        bool walks = s == SECTION_WALK && parser->machine.ntlbs;
        if ((type->required || walks) && !parser->origin.line[s][0][0])
            return bad_line(parser, 0, "no [%s%s] section%s", type->name,
                            type->named ? " NAME" : "",
                            walks ? "; it says what a miss in the last TLB costs" : "");
    }
    return STRATA_OK;
}

static int fill_missing(struct parser *parser, int section, uint32_t i)
{
    const struct section_type *type = &section_types[section];
    void *record = record_at(&parser->machine, section, i);
    char why[VALUE_TEXT * 2];
    for (uint32_t k = 0; k < type->nkeys; k++) {
        const struct key *key = &type->keys[k];
        if (parser->origin.line[section][i][1 + k])
            continue;
        if (key->required)
            return bad_line(parser, parser->origin.line[section][i][0],
                            "[%s%s%s] has no %s; add a line such as `%s = %s`", type->name,
                            type->named ? " " : "", type->named ? (const char *)record : "",
                            key->name, key->name, key->example);
        if (key->standard)
            key_parse(key, key->standard, record, why);
    }
    return STRATA_OK;
}

static int fill_all_missing(struct parser *parser)
{
    for (int s = 0; s < SECTIONS && !parser->status; s++) {
        uint32_t n = section_types[s].named ? record_count(&parser->machine, s) : 1;
        for (uint32_t i = 0; i < n && !parser->status; i++)
            if (parser->origin.line[s][i][0])
                fill_missing(parser, s, i);
    }
    return parser->status;
}

static bool given(const struct parser *parser, enum section section, uint32_t i,
                  const char *key)
{
    return parser->origin.line[section][i][1 + key_find(section, key)] != 0;
}

/* Defaults that depend on other keys, and `full`. */

static void settle_cache(struct parser *parser, uint32_t i)
{
    struct strata_cache *cache = &parser->machine.caches[i];
    if (!given(parser, SECTION_CACHE, i, "index"))
        cache->index = cache->level == 1 ? STRATA_VIRTUAL : STRATA_PHYSICAL;
    if (cache->ways == WAYS_FULL && cache->line && cache->size / cache->line < WAYS_FULL)
        cache->ways = (uint32_t)(cache->size / cache->line);
}

static int settle_tlb(struct parser *parser, uint32_t i)
{
    struct strata_tlb *tlb = &parser->machine.tlbs[i];
    if (!given(parser, SECTION_TLB, i, "page"))
        tlb->page = parser->machine.page;
    if (tlb->ways == WAYS_FULL)
        tlb->ways = tlb->entries;
    if (tlb->level > 1 && !given(parser, SECTION_TLB, i, "latency"))
        return bad_line(parser, parser->origin.line[SECTION_TLB][i][0],
                        "[tlb %s] has no latency; beyond level 1, add a line such as "
                        "`latency = 7`",
                        tlb->name);
    return STRATA_OK;
}

static void settle_prefetcher(struct parser *parser, uint32_t i)
{
    struct strata_prefetcher *prefetcher = &parser->machine.prefetchers[i];
    bool streamer = prefetcher->kind == STRATA_PREFETCH_STREAMER;
    if (!given(parser, SECTION_PREFETCH, i, "degree"))
        prefetcher->degree = streamer || prefetcher->kind == STRATA_PREFETCH_STREAM ? 2 : 1;
    if (!given(parser, SECTION_PREFETCH, i, "pages"))
        prefetcher->pages = streamer ? STREAMER_PAGES : 0;
    for (uint32_t c = 0; c < parser->machine.ncaches; c++)
        if (strcmp(parser->machine.caches[c].name, prefetcher->name) == 0)
            prefetcher->level = parser->machine.caches[c].level;
}

static int settle(struct parser *parser)
{
    for (uint32_t i = 0; i < parser->machine.ncaches; i++)
        settle_cache(parser, i);
    for (uint32_t i = 0; i < parser->machine.ntlbs; i++)
        if (settle_tlb(parser, i))
            return parser->status;
    for (uint32_t i = 0; i < parser->machine.nprefetchers; i++)
        settle_prefetcher(parser, i);
    return STRATA_OK;
}

static void swap(void *a, void *b, size_t size)
{
    char *x = a, *y = b;
    for (size_t i = 0; i < size; i++) {
        char byte = x[i];
        x[i] = y[i];
        y[i] = byte;
    }
}

/* Insertion sort, which keeps equals in their order; lines move with their records. */
static void sort_records(struct parser *parser, enum section section)
{
    struct strata_machine *m = &parser->machine;
    for (uint32_t i = 1; i < record_count(m, section); i++)
        for (uint32_t j = i; j > 0 && record_order(m, section, j - 1, j) > 0; j--) {
            swap(record_at(m, section, j - 1), record_at(m, section, j),
                 section_types[section].stride);
            swap(parser->origin.line[section][j - 1], parser->origin.line[section][j],
                 sizeof parser->origin.line[section][j]);
        }
}

static int complete(struct parser *parser)
{
    if (require_sections(parser) || fill_all_missing(parser) || settle(parser))
        return parser->status;
    sort_records(parser, SECTION_CACHE);
    sort_records(parser, SECTION_TLB);
    sort_records(parser, SECTION_PREFETCH);
    return machine_check(&parser->machine, &parser->origin, parser->error);
}

/* A NUL would end the text early for everything behind it. */
static int refuse_nul(struct parser *parser)
{
    const char *nul = memchr(parser->next, '\0', (size_t)(parser->end - parser->next));
    uint32_t line = 1;
    if (!nul)
        return STRATA_OK;
    for (const char *p = parser->next; p < nul; p++)
        line += *p == '\n';
    return bad_line(parser, line, "a NUL byte: this is not a text file");
}

static int parse_text(const char *name, const char *text, size_t size,
                      struct strata_machine *machine, struct strata_error *error)
{
    static const char bom[] = "\xef\xbb\xbf";
    struct c_locale locale;
    if (size > MACHINE_LIMIT)
        return fail(error, STRATA_BAD_INPUT, "%s: larger than 1M; is it a machine file?",
                    name);
    struct parser *parser = calloc(1, sizeof *parser);
    if (!parser)
        return fail(error, STRATA_FAILED, "%s: out of memory", name);
    parser->next = text;
    parser->end = text + size;
    parser->section = -1;
    parser->error = error;
    parser->origin.file = name;
    if (size >= 3 && memcmp(text, bom, 3) == 0)
        parser->next += 3;
    int status = c_locale_enter(&locale, error);
    if (status)
        goto out;
    status = refuse_nul(parser);
    if (!status)
        status = split(parser);
    if (!status)
        status = complete(parser);
    c_locale_leave(&locale);
    if (!status)
        memcpy(machine, &parser->machine, sizeof *machine); /* padding too */
out:
    free(parser);
    return status;
}

int strata_machine_parse(const char *name, const char *text, struct strata_machine *machine,
                         struct strata_error *error)
{
    return parse_text(name, text, strlen(text), machine, error);
}

int strata_machine_read(const char *path, struct strata_machine *machine,
                        struct strata_error *error)
{
    char *text = NULL;
    size_t size = 0;
    int status = read_file(path, MACHINE_LIMIT, &text, &size, error);
    if (!status)
        status = parse_text(path, text, size, machine, error);
    free(text);
    return status;
}
