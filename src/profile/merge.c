/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Merging, as merge.h promises it. Ids of a raw file are translated to those of the
 * profile by one array for each kind; the cells are then sorted by their new ids, added
 * up where two became one, and inserted in the order of the table. */
#include "profile/merge.h"

#include "core/utf8.h"
#include "profile/schema.h"

#include <stdlib.h>
#include <string.h>

static const char *const statement_texts[] = {
    [PUT_PROCESS] = "INSERT INTO process VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [PUT_COUNTER] = "INSERT INTO counter VALUES(?,?,?)",
    [PUT_LEVEL] = "INSERT INTO level VALUES(?,?,?,?,?,?,?,?,?,?,?)",
    [PUT_MODULE] = "INSERT INTO module VALUES(?,?)",
    [PUT_FILE] = "INSERT INTO file VALUES(?,?)",
    [PUT_FUNCTION] = "INSERT INTO function VALUES(?,?,?)",
    [PUT_SITE] = "INSERT INTO site VALUES(?,?,?,?,?,?)",
    [PUT_OBJECT] = "INSERT INTO object VALUES(?,?,?,?,?)",
    [PUT_ALLOCATION] = "INSERT INTO allocation VALUES(?,?,?,?,?,?,?,?,?) ON CONFLICT DO "
                       "UPDATE SET objects = objects + excluded.objects, "
                       "bytes = bytes + excluded.bytes, live = live + excluded.live, "
                       "live_bytes = live_bytes + excluded.live_bytes, "
                       "most_bytes = most_bytes + excluded.most_bytes, "
                       "smallest = min(smallest, excluded.smallest), "
                       "largest = max(largest, excluded.largest)",
};

#define PUT(merge, which, ...)                                                             \
    sql_run((merge)->statements[which], (const struct sql_value[]){__VA_ARGS__},           \
            sizeof((const struct sql_value[]){__VA_ARGS__}) / sizeof(struct sql_value))

static const char *const end_words[] = {
    [RAW_RUNNING] = "running",
    [RAW_EXITED] = "exited",
    [RAW_SIGNALLED] = "signalled",
    [RAW_EXECUTED] = "executed",
};

static const char *const kind_words[] = {
    [RAW_UNKNOWN] = "unknown", [RAW_GLOBAL] = "global", [RAW_HEAP] = "heap",
    [RAW_NAMED] = "named",     [RAW_STACK] = "stack",   [RAW_CODE] = "code",
};

static const char *const holds_words[] = {
    [STRATA_DATA] = "data",
    [STRATA_INSTRUCTION] = "instruction",
    [STRATA_UNIFIED] = "unified",
};

int merge_begin(struct merge *merge, sqlite3 *db, const struct raw_header *header)
{
    uint32_t caches = raw_cache_levels(&header->machine);
    uint32_t tlbs = raw_tlb_levels(&header->machine);
    *merge = (struct merge){
        .levels = caches + tlbs,
        .collect = header->collect & RAW_EXACT ? RAW_EXACT : RAW_SAMPLED,
    };
    char *cell = schema_insert_cell(caches, tlbs);
    int code = cell ? SQLITE_OK : SQLITE_NOMEM;
    for (int i = 0; i < MERGE_STATEMENTS && code == SQLITE_OK; i++)
        code = sqlite3_prepare_v2(db, i == PUT_CELL ? cell : statement_texts[i], -1,
                                  &merge->statements[i], NULL);
    free(cell);
    return code;
}

void merge_release(struct merge *merge)
{
    for (int i = 0; i < MERGE_STATEMENTS; i++)
        sqlite3_finalize(merge->statements[i]);
    intern_release(&merge->texts);
    intern_release(&merge->modules);
    intern_release(&merge->files);
    intern_release(&merge->functions);
    intern_release(&merge->sites);
    intern_release(&merge->objects);
    free(merge->latency);
    free(merge->scratch);
    *merge = (struct merge){0};
}

/* A raw file on its way: the profile's id for each of its own. */
struct merging {
    struct merge *merge;
    const struct raw_file *raw;
    uint32_t process;
    uint32_t *texts, *sites, *objects;
};

/* Texts. */

static int grow_scratch(struct merge *merge, size_t size)
{
    if (size <= merge->room)
        return SQLITE_OK;
    char *grown = realloc(merge->scratch, size);
    if (!grown)
        return SQLITE_NOMEM;
    merge->scratch = grown;
    merge->room = size;
    return SQLITE_OK;
}

static int add_text(struct merge *merge, const struct raw_string *string, uint32_t *id)
{
    size_t size = (size_t)string->length + 1;
    bool fresh;
    if (grow_scratch(merge, 2 * size))
        return SQLITE_NOMEM;
    memcpy(merge->scratch, string->text, string->length);
    merge->scratch[string->length] = '\0';
    char *clean = utf8_clean(merge->scratch, merge->scratch + size, size);
    return intern_add(&merge->texts, clean, strlen(clean), id, &fresh) ? SQLITE_NOMEM
                                                                       : SQLITE_OK;
}

static uint32_t text_id(const struct merging *merging, uint32_t string)
{
    return string < merging->raw->lists[RAW_STRING].n ? merging->texts[string] : RAW_NONE;
}

static struct sql_value text_value(const struct merge *merge, uint32_t text)
{
    size_t size;
    if (text == RAW_NONE)
        return sql_text(NULL);
    const char *bytes = intern_key(&merge->texts, text, &size);
    return sql_bytes(bytes, size);
}

/* Things with names. Each finds the id of a thing and inserts its row the first time. */

static int add_path(struct merge *merge, struct intern *paths, enum merge_statement put,
                    uint32_t text, uint32_t *id)
{
    bool fresh;
    *id = RAW_NONE;
    if (text == RAW_NONE)
        return SQLITE_OK;
    if (intern_add(paths, &text, sizeof text, id, &fresh))
        return SQLITE_NOMEM;
    return fresh ? PUT(merge, put, sql_id(*id), text_value(merge, text)) : SQLITE_OK;
}

static int add_function(struct merge *merge, uint32_t module, uint32_t text, uint32_t *id)
{
    const uint32_t key[] = {module, text};
    bool fresh;
    *id = RAW_NONE;
    if (text == RAW_NONE)
        return SQLITE_OK;
    if (intern_add(&merge->functions, key, sizeof key, id, &fresh))
        return SQLITE_NOMEM;
    return fresh ? PUT(merge, PUT_FUNCTION, sql_id(*id), sql_id(module),
                       text_value(merge, text))
                 : SQLITE_OK;
}

static int add_site(struct merging *merging, const struct raw_site *site, uint32_t *id)
{
    struct merge *merge = merging->merge;
    uint32_t module, function, file;
    bool fresh;
    int code = add_path(merge, &merge->modules, PUT_MODULE, text_id(merging, site->module),
                        &module);
    if (code == SQLITE_OK)
        code =
            add_path(merge, &merge->files, PUT_FILE, text_id(merging, site->file), &file);
    if (code == SQLITE_OK)
        code = add_function(merge, module, text_id(merging, site->function), &function);
    if (code != SQLITE_OK)
        return code;
    uint64_t address = module == RAW_NONE ? site->address : site->offset;
    const uint64_t key[] = {address, (uint64_t)module << 32 | function,
                            (uint64_t)file << 32 | site->line};
    if (intern_add(&merge->sites, key, sizeof key, id, &fresh))
        return SQLITE_NOMEM;
    if (!fresh)
        return SQLITE_OK;
    struct sql_value line = site->line ? sql_int(site->line) : sql_text(NULL);
    return PUT(merge, PUT_SITE, sql_id(*id), sql_id(module), sql_int(address),
               sql_id(function), sql_id(file), line);
}

/* Sums of latency by object, for the summary. */
static int grow_latency(struct merge *merge)
{
    if (merge->objects.n <= merge->nlatency)
        return SQLITE_OK;
    size_t n = 2 * (size_t)merge->objects.n;
    uint64_t *grown = realloc(merge->latency, n * sizeof *grown);
    if (!grown)
        return SQLITE_NOMEM;
    memset(grown + merge->nlatency, 0, (n - merge->nlatency) * sizeof *grown);
    merge->latency = grown;
    merge->nlatency = n;
    return SQLITE_OK;
}

static int add_object(struct merging *merging, const struct raw_bucket *bucket,
                      uint32_t *id)
{
    struct merge *merge = merging->merge;
    uint32_t module, name = text_id(merging, bucket->name);
    bool fresh;
    int code = add_path(merge, &merge->modules, PUT_MODULE,
                        text_id(merging, bucket->module), &module);
    if (code != SQLITE_OK)
        return code;
    const uint32_t key[] = {bucket->kind, name, module};
    if (intern_add(&merge->objects, key, sizeof key, id, &fresh))
        return SQLITE_NOMEM;
    if (!fresh)
        return SQLITE_OK;
    code = grow_latency(merge);
    if (code != SQLITE_OK)
        return code;
    return PUT(merge, PUT_OBJECT, sql_id(*id), sql_text(kind_words[bucket->kind]),
               text_value(merge, name), sql_id(module),
               text_value(merge, text_id(merging, bucket->site)));
}

static int add_allocation(struct merging *merging, const struct raw_bucket *bucket,
                          uint32_t object)
{
    if (!bucket->objects && !bucket->live)
        return SQLITE_OK;
    /* A fork has blocks that it did not allocate, and does not know their sizes. */
    bool sizes = bucket->objects > 0;
    return PUT(merging->merge, PUT_ALLOCATION, sql_id(object), sql_id(merging->process),
               sql_int(bucket->objects), sql_int(bucket->bytes), sql_int(bucket->live),
               sql_int(bucket->live_bytes), sql_int(bucket->most_bytes),
               sizes ? sql_int(bucket->smallest) : sql_text(NULL),
               sizes ? sql_int(bucket->largest) : sql_text(NULL));
}

/* Cells. */

struct row {
    uint32_t object, site, collect;
    const struct raw_cell *cell;
};

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    return (a->collect > b->collect) - (a->collect < b->collect);
}

/* Inserts the sum of n rows that are the same but for their counts. */
static int put_cell(struct merging *merging, const struct row *rows, size_t n)
{
    enum { KEYS = 4, COUNTS = 3, MOST = STRATA_MAX_CACHES + STRATA_MAX_TLBS };
    struct merge *merge = merging->merge;
    uint64_t sums[COUNTS + MOST] = {0};
    struct sql_value values[KEYS + COUNTS + MOST] = {
        sql_id(rows->object), sql_id(rows->site), sql_id(merging->process),
        sql_int(rows->collect == RAW_SAMPLED)};
    for (size_t i = 0; i < n; i++) {
        sums[0] += rows[i].cell->events;
        sums[1] += rows[i].cell->stores;
        sums[2] += rows[i].cell->latency;
        for (uint32_t level = 0; level < merge->levels; level++)
            sums[COUNTS + level] += rows[i].cell->misses[level];
    }
    for (uint32_t i = 0; i < COUNTS + merge->levels; i++)
        values[KEYS + i] = sql_int(sums[i]);
    if (rows->collect == merge->collect)
        merge->latency[rows->object] += sums[2];
    merge->cells++;
    return sql_run(merge->statements[PUT_CELL], values, KEYS + COUNTS + merge->levels);
}

static int put_rows(struct merging *merging, struct row *rows, size_t n)
{
    int code = SQLITE_OK;
    qsort(rows, n, sizeof *rows, compare_rows);
    for (size_t i = 0, next; i < n && code == SQLITE_OK; i = next) {
        for (next = i + 1; next < n && compare_rows(&rows[i], &rows[next]) == 0; next++)
            continue;
        code = put_cell(merging, &rows[i], next - i);
    }
    return code;
}

static int put_cells(struct merging *merging)
{
    const struct raw_file *raw = merging->raw;
    size_t n = raw->lists[RAW_CELL].n, used = 0;
    struct row *rows = malloc((n ? n : 1) * sizeof *rows);
    if (!rows)
        return SQLITE_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const struct raw_cell *cell = raw_cell_at(raw, i);
        if (cell->events)
            rows[used++] = (struct row){merging->objects[cell->bucket],
                                        merging->sites[cell->site], cell->collect, cell};
    }
    int code = put_rows(merging, rows, used);
    free(rows);
    return code;
}

/* What the header has. */

static int put_process(struct merging *merging)
{
    const struct raw_header *header = merging->raw->header;
    bool ended = header->end == RAW_EXITED || header->end == RAW_SIGNALLED;
    return PUT(merging->merge, PUT_PROCESS, sql_id(merging->process),
               sql_int((uint64_t)header->pid),
               header->parent ? sql_int((uint64_t)header->parent) : sql_text(NULL),
               text_value(merging->merge, text_id(merging, header->command)),
               sql_text(end_words[header->end]),
               ended ? sql_int((uint64_t)header->status) : sql_text(NULL),
               sql_int(!merging->raw->incomplete),
               sql_int(header->events[RAW_INSTRUCTIONS]), sql_int(header->cycles),
               sql_int(header->samples), sql_int(header->sampler_accesses),
               sql_int(header->sampler_misses), sql_int(header->sampler_cycles));
}

/* What was not counted has no row. */
static int put_counters(struct merging *merging)
{
    const struct raw_header *header = merging->raw->header;
    uint64_t wrong = header->events[RAW_MISPREDICTED];
    bool sampled = header->collect & RAW_SAMPLED;
    const struct {
        const char *event;
        uint64_t count;
        bool counted;
    } counters[] = {
        /* the parts of the cycles */
        {"instruction_cycles", header->events[RAW_INSTRUCTIONS], true},
        {"memory_cycles", header->waits, true},
        {"branch_cycles", wrong * header->machine.branch.penalty, header->branches},
        {"sampling_cycles", header->samples * header->interrupt_cycles, sampled},
        {"loads", header->counts.accesses[SIM_LOAD], true},
        {"stores", header->counts.accesses[SIM_STORE], true},
        {"fetches", header->counts.accesses[SIM_FETCH], header->fetches},
        {"walks", header->counts.walks, true},
        {"access_cycles", header->counts.cycles, true},
        {"branches_conditional", header->events[RAW_CONDITIONAL], header->branches},
        {"branches_taken", header->events[RAW_TAKEN], header->branches},
        {"branches_jump", header->events[RAW_JUMPS], header->branches},
        {"branches_indirect", header->events[RAW_INDIRECT], header->branches},
        {"branches_call", header->events[RAW_CALLS], header->branches},
        {"branches_return", header->events[RAW_RETURNS], header->branches},
        {"branches_mispredicted", wrong, header->branches},
    };
    int code = SQLITE_OK;
    for (size_t i = 0; i < sizeof counters / sizeof *counters && code == SQLITE_OK; i++)
        if (counters[i].counted)
            code = PUT(merging->merge, PUT_COUNTER, sql_id(merging->process),
                       sql_text(counters[i].event), sql_int(counters[i].count));
    return code;
}

/* A level that only instructions use, where these were not fetched, was not counted. */
static bool counted(const struct raw_header *header, uint32_t kind)
{
    return header->fetches || kind != STRATA_INSTRUCTION;
}

static int put_cache(struct merging *merging, uint32_t i)
{
    const struct raw_header *header = merging->raw->header;
    const struct strata_cache *cache = &header->machine.caches[i];
    const struct sim_counts *counts = &header->counts;
    return PUT(merging->merge, PUT_LEVEL, sql_id(merging->process), sql_int(i + 1),
               sql_text("cache"), sql_text(cache->name), sql_int(cache->level),
               sql_text(holds_words[cache->kind]),
               sql_int(counts->hits[i] + counts->misses[i]), sql_int(counts->hits[i]),
               sql_int(counts->misses[i]), sql_int(counts->prefetches[i]),
               sql_int(counts->evictions[i]));
}

static int put_tlb(struct merging *merging, uint32_t i)
{
    const struct raw_header *header = merging->raw->header;
    const struct strata_tlb *tlb = &header->machine.tlbs[i];
    const struct sim_counts *counts = &header->counts;
    return PUT(merging->merge, PUT_LEVEL, sql_id(merging->process),
               sql_int(header->machine.ncaches + i + 1), sql_text("tlb"),
               sql_text(tlb->name), sql_int(tlb->level), sql_text(holds_words[tlb->kind]),
               sql_int(counts->tlb_hits[i] + counts->tlb_misses[i]),
               sql_int(counts->tlb_hits[i]), sql_int(counts->tlb_misses[i]), sql_text(NULL),
               sql_text(NULL));
}

static int put_levels(struct merging *merging)
{
    const struct raw_header *header = merging->raw->header;
    const struct strata_machine *machine = &header->machine;
    int code = SQLITE_OK;
    for (uint32_t i = 0; i < machine->ncaches && code == SQLITE_OK; i++)
        if (counted(header, machine->caches[i].kind))
            code = put_cache(merging, i);
    for (uint32_t i = 0; i < machine->ntlbs && code == SQLITE_OK; i++)
        if (counted(header, machine->tlbs[i].kind))
            code = put_tlb(merging, i);
    return code;
}

/* Translates the records that others refer to. */
static int translate(struct merging *merging)
{
    const struct raw_file *raw = merging->raw;
    int code = SQLITE_OK;
    for (uint32_t i = 0; i < raw->lists[RAW_STRING].n && code == SQLITE_OK; i++)
        code = add_text(merging->merge, raw_string_at(raw, i), &merging->texts[i]);
    for (uint32_t i = 0; i < raw->lists[RAW_SITE].n && code == SQLITE_OK; i++)
        code = add_site(merging, raw_site_at(raw, i), &merging->sites[i]);
    for (uint32_t i = 0; i < raw->lists[RAW_BUCKET].n && code == SQLITE_OK; i++) {
        code = add_object(merging, raw_bucket_at(raw, i), &merging->objects[i]);
        if (code == SQLITE_OK)
            code = add_allocation(merging, raw_bucket_at(raw, i), merging->objects[i]);
    }
    return code;
}

static int put_all(struct merging *merging)
{
    int (*const steps[])(struct merging *) = {translate, put_process, put_counters,
                                              put_levels, put_cells};
    int code = SQLITE_OK;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && code == SQLITE_OK; i++)
        code = steps[i](merging);
    return code;
}

int merge_raw(struct merge *merge, const struct raw_file *raw)
{
    size_t strings = raw->lists[RAW_STRING].n, sites = raw->lists[RAW_SITE].n;
    size_t all = strings + sites + raw->lists[RAW_BUCKET].n;
    uint32_t *ids = malloc((all ? all : 1) * sizeof *ids);
    struct merging merging = {.merge = merge, .raw = raw, .process = merge->processes};
    if (!ids)
        return SQLITE_NOMEM;
    merging.texts = ids;
    merging.sites = ids + strings;
    merging.objects = merging.sites + sites;
    int code = put_all(&merging);
    merge->processes += code == SQLITE_OK;
    free(ids);
    return code;
}
