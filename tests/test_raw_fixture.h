/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Raw files built in memory, as a collector would leave them, and one sample whose every
 * number is known: a small finite-element program with a child process. */
#ifndef TEST_RAW_FIXTURE_H
#define TEST_RAW_FIXTURE_H

#include "profile/raw.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct strata_error;

struct raw_builder {
    char *bytes; /* aligned to 8; begins with the header */
    size_t size, room;
    uint32_t counts[RAW_CELL + 1];
};

/* Two levels of caches and of TLBs: a cell has four counts of misses. */
static const char raw_machine_text[] = "[machine]\nname = Tiny\npage = 4K\n"
                                       "frequency = 1000M\nmapping = contiguous\n"
                                       "[cache L1d]\nlevel = 1\nkind = data\nsize = 1K\n"
                                       "line = 64\nways = 2\nlatency = 2\npolicy = lru\n"
                                       "[cache L2]\nlevel = 2\nkind = unified\nsize = 8K\n"
                                       "line = 64\nways = 4\nlatency = 10\npolicy = lru\n"
                                       "[tlb L1d]\nlevel = 1\nkind = data\nentries = 4\n"
                                       "ways = full\nlatency = 0\n"
                                       "[tlb L2]\nlevel = 2\nkind = unified\nentries = 16\n"
                                       "ways = 4\nlatency = 7\n"
                                       "[walk]\nlatency = 30\n[memory]\nlatency = 100\n";

enum { RAW_TEST_CACHES = 2, RAW_TEST_TLBS = 2 };

static inline void raw_require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "cannot build a raw file: %s\n", what);
    abort();
}

static inline struct raw_header *raw_header_of(struct raw_builder *builder)
{
    return (struct raw_header *)builder->bytes;
}

static inline void raw_extend(struct raw_builder *builder, size_t size)
{
    while (builder->room < builder->size + size) {
        builder->room = builder->room ? 2 * builder->room : 1 << 16;
        builder->bytes = realloc(builder->bytes, builder->room);
        raw_require(builder->bytes, "out of memory");
    }
    memset(builder->bytes + builder->size, 0, size);
    builder->size += size;
}

static inline void raw_begin(struct raw_builder *builder, uint32_t collect)
{
    *builder = (struct raw_builder){0};
    raw_extend(builder, sizeof(struct raw_header));
    struct raw_header *header = raw_header_of(builder);
    memcpy(header->magic, RAW_MAGIC, sizeof header->magic);
    header->version = RAW_VERSION;
    header->size = sizeof *header;
    header->collect = collect;
    header->event_level = 1;
    header->period = collect & RAW_SAMPLED ? 1000 : 0;
    header->seed = 7;
    header->end = RAW_EXITED;
    header->pid = 4000;
    header->command = RAW_NONE;
    raw_require(!strata_machine_parse("fixture", raw_machine_text, &header->machine, NULL),
                "the machine");
    header->used = builder->size;
}

/* Appends a record of `size` bytes (rounded up to 8) and returns it, zeroed; its id is
 * *id. The pointer is valid until the next call. */
static inline void *raw_append(struct raw_builder *builder, enum raw_type type, size_t size,
                               uint32_t *id)
{
    size_t at = builder->size;
    size = (size + 7) & ~(size_t)7;
    raw_extend(builder, size);
    struct raw_record *record = (struct raw_record *)(builder->bytes + at);
    record->type = type;
    record->size = (uint32_t)size;
    *id = builder->counts[type]++;
    raw_header_of(builder)->used = builder->size;
    return record;
}

static inline uint32_t raw_put_string(struct raw_builder *builder, const char *text)
{
    uint32_t id, length = (uint32_t)strlen(text);
    struct raw_string *string =
        raw_append(builder, RAW_STRING, offsetof(struct raw_string, text) + length, &id);
    string->length = length;
    memcpy(string->text, text, length);
    return id;
}

/* Names are NULL for RAW_NONE. */
static inline uint32_t raw_put_name(struct raw_builder *builder, const char *text)
{
    return text ? raw_put_string(builder, text) : RAW_NONE;
}

static inline uint32_t raw_put_site(struct raw_builder *builder, const char *module,
                                    uint64_t offset, const char *function, const char *file,
                                    uint32_t line)
{
    uint32_t id, m = raw_put_name(builder, module), f = raw_put_name(builder, function);
    uint32_t p = raw_put_name(builder, file);
    struct raw_site *site = raw_append(builder, RAW_SITE, sizeof *site, &id);
    site->address = 0x400000 + offset;
    site->offset = offset;
    site->module = m;
    site->function = f;
    site->file = p;
    site->line = line;
    return id;
}

/* n objects of one size; half of them are still there. */
static inline uint32_t raw_put_bucket(struct raw_builder *builder,
                                      enum raw_bucket_kind kind, const char *name,
                                      const char *module, const char *place, uint64_t n,
                                      uint64_t each)
{
    uint32_t id, s = raw_put_string(builder, name), m = raw_put_name(builder, module);
    uint32_t p = raw_put_name(builder, place);
    struct raw_bucket *bucket = raw_append(builder, RAW_BUCKET, sizeof *bucket, &id);
    bucket->kind = kind;
    bucket->name = s;
    bucket->module = m;
    bucket->site = p;
    bucket->objects = n;
    bucket->bytes = n * each;
    bucket->live = n / 2;
    bucket->live_bytes = n / 2 * each;
    bucket->most_bytes = n * each;
    bucket->smallest = bucket->largest = each;
    return id;
}

/* Every event missed the nearest cache; `memory` of them all caches, `walks` all TLBs. */
static inline uint32_t raw_put_cell(struct raw_builder *builder, uint32_t bucket,
                                    uint32_t site, enum raw_collect collect,
                                    uint64_t events, uint64_t latency, uint64_t memory,
                                    uint64_t walks)
{
    uint32_t id, levels = RAW_TEST_CACHES + RAW_TEST_TLBS;
    struct raw_cell *cell =
        raw_append(builder, RAW_CELL, sizeof *cell + levels * sizeof cell->misses[0], &id);
    cell->bucket = bucket;
    cell->site = site;
    cell->collect = collect;
    cell->events = events;
    cell->stores = events / 4;
    cell->latency = latency;
    cell->misses[0] = events;
    cell->misses[1] = memory;
    cell->misses[2] = walks;
    cell->misses[3] = walks;
    return id;
}

static inline void raw_save(const struct raw_builder *builder, const char *path)
{
    FILE *file = fopen(path, "wb");
    raw_require(file != NULL, path);
    raw_require(fwrite(builder->bytes, 1, builder->size, file) == builder->size, path);
    raw_require(fclose(file) == 0, path);
}

static inline void raw_discard(struct raw_builder *builder)
{
    free(builder->bytes);
    *builder = (struct raw_builder){0};
}

/* The sample. Its cells by exact events; a sampled one has a thousandth of them, and where
 * `off` says so one sample more or less. */

enum sample_bucket { MEM_INIT, EXC, STACK, UNKNOWN, TREE, SAMPLE_BUCKETS };
enum sample_site { SMVP_1195, SMVP_1201, PHI0_540, MEMCPY, NO_SYMBOL, SAMPLE_SITES };

static const struct {
    enum raw_bucket_kind kind;
    const char *name, *module, *place;
    uint64_t n, each;
} sample_buckets[] = {
    [MEM_INIT] = {RAW_HEAP, "mem_init-main", NULL, "quake.c:412", 1335667, 24},
    [EXC] = {RAW_GLOBAL, "Exc", "/opt/equake", NULL, 1, 4096},
    [STACK] = {RAW_STACK, "<STACK>", NULL, NULL, 0, 0},
    [UNKNOWN] = {RAW_UNKNOWN, "<UNKNOWN>", NULL, NULL, 0, 0},
    [TREE] = {RAW_HEAP,
              "std::_Rb_tree<std::string, std::pair<std::string const, mesh::element> >"
              "::_M_insert_node-mesh::element_map::add-main",
              NULL, "mesh.cc:77", 3000, 80},
};

static const struct {
    const char *module;
    uint64_t offset;
    const char *function, *file;
    uint32_t line;
} sample_sites[] = {
    [SMVP_1195] = {"/opt/equake", 0x1200, "smvp", "/src/quake.c", 1195},
    [SMVP_1201] = {"/opt/equake", 0x1240, "smvp", "/src/quake.c", 1201},
    [PHI0_540] = {"/opt/equake", 0x0f00, "phi0", "/src/quake.c", 540},
    [MEMCPY] = {"/lib/libc.so.6", 0x8000, "memcpy", NULL, 0},
    [NO_SYMBOL] = {"/lib/libm.so.6", 0x9000, NULL, NULL, 0},
};

static const struct {
    enum sample_bucket bucket;
    enum sample_site site;
    uint64_t events, latency, memory, walks;
    int off;
} sample_cells[] = {
    {MEM_INIT, SMVP_1195, 400000, 30000000, 250000, 1000, 1},
    {MEM_INIT, SMVP_1201, 200000, 10000000, 60000, 0, 0},
    {MEM_INIT, MEMCPY, 50000, 1000000, 5000, 500, 0},
    {EXC, PHI0_540, 100000, 1000000, 0, 0, -1},
    {EXC, SMVP_1195, 20000, 400000, 1000, 0, 0},
    {STACK, PHI0_540, 30000, 300000, 0, 0, 0},
    {UNKNOWN, NO_SYMBOL, 10000, 800000, 7000, 4000, 0},
    {TREE, MEMCPY, 190000, 6500000, 40000, 2000, 0},
};

enum { SAMPLE_CELLS = sizeof sample_cells / sizeof *sample_cells };

static inline void sample_counts(struct raw_header *header)
{
    header->cycles = 90000000;
    header->waits = 50000000;
    header->events[RAW_INSTRUCTIONS] = 40000000;
    header->counts.accesses[SIM_LOAD] = 12000000;
    header->counts.accesses[SIM_STORE] = 3000000;
    header->counts.hits[0] = 14000000;
    header->counts.misses[0] = 1000000;
    header->counts.hits[1] = 637000;
    header->counts.misses[1] = 363000;
    header->counts.prefetches[1] = 1234;
    header->counts.evictions[0] = 999984;
    header->counts.evictions[1] = 362872;
    header->counts.tlb_hits[0] = 14992500;
    header->counts.tlb_misses[0] = 7500;
    header->counts.tlb_misses[1] = 7500;
    header->counts.walks = 7500;
    header->counts.cycles = 50000000;
}

static inline void sample_cell(struct raw_builder *builder, size_t i,
                               enum raw_collect collect, const uint32_t *buckets,
                               const uint32_t *sites)
{
    uint64_t by = collect == RAW_SAMPLED ? 1000 : 1;
    int off = collect == RAW_SAMPLED ? sample_cells[i].off : 0;
    raw_put_cell(builder, buckets[sample_cells[i].bucket], sites[sample_cells[i].site],
                 collect, (uint64_t)((int64_t)(sample_cells[i].events / by) + off),
                 sample_cells[i].latency / by, sample_cells[i].memory / by,
                 sample_cells[i].walks / by);
}

static inline void sample_begin(struct raw_builder *builder, uint32_t collect)
{
    raw_begin(builder, collect);
    uint32_t command = raw_put_string(builder, "/opt/equake");
    raw_header_of(builder)->command = command;
}

static inline uint32_t sample_bucket_put(struct raw_builder *builder, size_t b)
{
    return raw_put_bucket(builder, sample_buckets[b].kind, sample_buckets[b].name,
                          sample_buckets[b].module, sample_buckets[b].place,
                          sample_buckets[b].n, sample_buckets[b].each);
}

static inline uint32_t sample_site_put(struct raw_builder *builder, size_t s)
{
    return raw_put_site(builder, sample_sites[s].module, sample_sites[s].offset,
                        sample_sites[s].function, sample_sites[s].file,
                        sample_sites[s].line);
}

/* The first process: everything above. */
static inline void sample_parent(struct raw_builder *builder, uint32_t collect)
{
    uint32_t buckets[SAMPLE_BUCKETS], sites[SAMPLE_SITES];
    sample_begin(builder, collect);
    sample_counts(raw_header_of(builder));
    for (size_t i = 0; i < SAMPLE_BUCKETS; i++)
        buckets[i] = sample_bucket_put(builder, i);
    for (size_t i = 0; i < SAMPLE_SITES; i++)
        sites[i] = sample_site_put(builder, i);
    for (size_t i = 0; i < SAMPLE_CELLS; i++) {
        if (collect & RAW_EXACT)
            sample_cell(builder, i, RAW_EXACT, buckets, sites);
        if (collect & RAW_SAMPLED)
            sample_cell(builder, i, RAW_SAMPLED, buckets, sites);
    }
    if (collect & RAW_SAMPLED)
        raw_header_of(builder)->samples = 1000;
}

/* A fork of it that was killed: 5,000 events in Exc at smvp:1201, the records in another
 * order, so that ids differ. */
static inline void sample_child(struct raw_builder *builder)
{
    sample_begin(builder, RAW_EXACT);
    struct raw_header *header = raw_header_of(builder);
    header->pid = 4001;
    header->parent = 4000;
    header->end = RAW_SIGNALLED;
    header->status = 9;
    header->counts.accesses[SIM_LOAD] = 50000;
    header->counts.hits[0] = 45000;
    header->counts.misses[0] = header->counts.hits[1] = 5000;
    header->events[RAW_INSTRUCTIONS] = 100000;
    header->cycles = 200000;
    header->waits = 100000;
    uint32_t other = sample_site_put(builder, PHI0_540);
    uint32_t site = sample_site_put(builder, SMVP_1201);
    uint32_t bucket = sample_bucket_put(builder, EXC);
    raw_put_cell(builder, bucket, site, RAW_EXACT, 5000, 50000, 0, 0);
    raw_put_cell(builder, bucket, other, RAW_EXACT, 0, 0, 0, 0);
}

#endif
