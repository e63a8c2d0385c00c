/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The raw file of this process, mapped shared: what is written here is in the file.
 *
 * A large range of addresses is mapped at once, far beyond the end of the file; the file
 * grows in steps, by writing zeros, because a write says that the disk is full while a
 * store into a hole of the file would end the process. When it is full, nothing more is
 * added, `lost` says so, and the program goes on. */
#include "tool.h"

#include <asm/unistd.h>

/* Parts of Valgrind's core that its tools may not see in the headers but can link. */
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt prot, Int fd,
                                                      Off64T offset);
extern SysRes VG_(do_syscall)(UWord number, RegWord, RegWord, RegWord, RegWord, RegWord,
                              RegWord, RegWord, RegWord);
extern Int VG_(safe_fd)(Int fd);

enum { FIRST_STEP = 1 << 16, STEP = 1 << 20 }; /* many processes are short */
#define RANGE (UINT64_C(16) << 30)

static Int file = -1;
static uint64_t grown;    /* bytes that the file has */
static uint64_t appended; /* end of the last record, published or not */
static uint32_t nstrings, nbuckets, nsites;

/* Texts by hash, and cells by hash. */
struct text {
    struct text *next;
    uint32_t id, length;
    HChar bytes[];
};
enum { TEXTS = 1 << 14 };
static struct text *texts[TEXTS];

static struct raw_cell **cells; /* open addressing */
static uint32_t ncells, cells_mask;
static struct raw_bucket **buckets;
static struct raw_lives *lives; /* by bucket */
static uint32_t buckets_room;
static struct raw_cell *spare_cell;
static struct raw_bucket spare_bucket;
static struct raw_lives spare_lives;

/* Says why this process is not recorded. */
static bool give_up(const HChar *what, const HChar *path)
{
    VG_(umsg)("strata: %s: %s\n", path, what);
    return false;
}

static void die(const HChar *what, const HChar *path)
{
    VG_(umsg)("strata: %s: %s\n", path, what);
    VG_(exit)(1);
}

static void path_in_folder(HChar *path, SizeT size, const HChar *name)
{
    if (VG_(strlen)(tool.folder) + VG_(strlen)(name) + 2 > size)
        die("the name of the folder is too long", tool.folder);
    VG_(sprintf)(path, "%s/%s", tool.folder, name);
}

static Int create_file(void)
{
    HChar path[VKI_PATH_MAX], name[64];
    for (UInt i = 0;; i++) {
        VG_(sprintf)(name, "%d-%u.raw", VG_(getpid)(), i);
        path_in_folder(path, sizeof path, name);
        SysRes opened =
            VG_(open)(path, VKI_O_RDWR | VKI_O_CREAT | VKI_O_EXCL | VKI_O_TRUNC, 0600);
        if (!sr_isError(opened))
            return VG_(safe_fd)((Int)sr_Res(opened));
        if (sr_Err(opened) != VKI_EEXIST)
            return -1;
    }
}

/* Makes the file longer; false: the disk is full. */
static bool grow(uint64_t size)
{
    static const HChar zeros[4096];
    VG_(lseek)(file, (Off64T)grown, VKI_SEEK_SET);
    while (grown < size) {
        Int written = VG_(write)(file, zeros, sizeof zeros);
        if (written <= 0)
            return false;
        grown += (uint64_t)written;
    }
    return true;
}

static bool read_config(struct raw_header *header)
{
    HChar path[VKI_PATH_MAX];
    path_in_folder(path, sizeof path, "config");
    SysRes opened = VG_(open)(path, VKI_O_RDONLY, 0);
    if (sr_isError(opened))
        return give_up("cannot be read", path);
    Int fd = (Int)sr_Res(opened);
    Int got = VG_(read)(fd, header, sizeof *header);
    VG_(close)(fd);
    if (got != sizeof *header || VG_(memcmp)(header->magic, RAW_MAGIC, 8) ||
        header->version != RAW_VERSION || header->size != sizeof *header)
        return give_up("is not the configuration of this version", path);
    return true;
}

static void allocate_tables(void)
{
    cells_mask = (1 << 16) - 1;
    cells = VG_(calloc)("strata.cells", cells_mask + 1, sizeof *cells);
    buckets_room = 1024;
    buckets = VG_(calloc)("strata.buckets", buckets_room, sizeof *buckets);
    lives = VG_(calloc)("strata.buckets", buckets_room, sizeof *lives);
    spare_cell = VG_(calloc)(
        "strata.spare", 1, sizeof *spare_cell + 8 * (tool.cache_levels + tool.tlb_levels));
}

bool raw_open(void)
{
    struct raw_header config;
    if (!read_config(&config))
        return false;
    tool.cache_levels = raw_cache_levels(&config.machine);
    tool.tlb_levels = raw_tlb_levels(&config.machine);
    file = create_file();
    if (file < 0 || !grow(FIRST_STEP))
        return give_up("no space left for the counts", tool.folder);
    SysRes mapped = VG_(am_shared_mmap_file_float_valgrind)(
        RANGE, VKI_PROT_READ | VKI_PROT_WRITE, file, 0);
    if (sr_isError(mapped))
        return give_up("the counts cannot be mapped", tool.folder);
    tool.raw = (struct raw_header *)sr_Res(mapped);
    *tool.raw = config;
    tool.raw->pid = VG_(getpid)();
    tool.raw->parent = VG_(getppid)();
    tool.raw->used = appended = sizeof config;
    allocate_tables();
    HChar name[VKI_PATH_MAX];
    VG_(client_fname)(name, sizeof name, False);
    tool.raw->command = raw_text(name);
    return true;
}

/* Sets all counts of the records to 0; what they name stays. */
static void clear_records(void)
{
    for (uint64_t at = sizeof *tool.raw; at < appended;) {
        struct raw_record *record = (struct raw_record *)((HChar *)tool.raw + at);
        if (record->type == RAW_CELL)
            VG_(memset)
        (&((struct raw_cell *)record)->events, 0,
         record->size - offsetof(struct raw_cell, events));
        at += record->size;
    }
    for (uint32_t i = 0; i < nbuckets; i++) {
        struct raw_bucket *bucket = buckets[i];
        bool allocated = bucket->kind == RAW_HEAP || bucket->kind == RAW_NAMED;
        bucket->live = lives[i].objects;
        bucket->live_bytes = bucket->most_bytes = lives[i].bytes;
        if (allocated) /* by the parent */
            bucket->objects = bucket->bytes = 0;
    }
}

/* Copies the first bytes of the mapping into the new file; false: the disk is full. */
static bool copy_records(uint64_t size)
{
    for (grown = 0; grown < size;) {
        Int part = size - grown > STEP ? STEP : (Int)(size - grown);
        Int written = VG_(write)(file, (HChar *)tool.raw + grown, part);
        if (written <= 0)
            return false;
        grown += (uint64_t)written;
    }
    return grow((size / FIRST_STEP + 1) * FIRST_STEP);
}

/* Replaces the mapping by that of the new file, or by memory that nobody reads. */
static void replace_mapping(bool by_file)
{
    UWord flags =
        VKI_MAP_FIXED | (by_file ? VKI_MAP_SHARED
                                 : VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS | VKI_MAP_NORESERVE);
    SysRes mapped =
        VG_(do_syscall)(__NR_mmap, (RegWord)tool.raw, RANGE, VKI_PROT_READ | VKI_PROT_WRITE,
                        flags, by_file ? (RegWord)file : (RegWord)-1, 0, 0, 0);
    if (sr_isError(mapped))
        die("the counts of a child cannot be mapped", tool.folder);
}

/* The old mapping is the parent's, which goes on: how far it had come at the fork is known
 * from this process's own variables alone. Where there is no space for another file the
 * child runs on, and is not recorded. */
void raw_forked(void)
{
    Int before = file;
    struct raw_header header = *tool.raw;
    file = create_file();
    bool copied = file >= 0 && copy_records(appended);
    replace_mapping(copied);
    VG_(close)(before);
    *tool.raw = header;
    tool.raw->used = appended;
    tool.raw->end = RAW_RUNNING;
    tool.raw->lost = !copied;
    if (copied)
        clear_records();
    tool.raw->parent = header.pid;
    tool.raw->pid = VG_(getpid)();
    tool.raw->sampler_accesses = tool.raw->sampler_misses = tool.raw->sampler_cycles = 0;
}

void *raw_append(uint32_t type, uint32_t size)
{
    size = (size + 7) & ~7u;
    if (tool.raw->lost)
        return NULL;
    uint64_t step = grown < STEP ? grown : STEP; /* a record is smaller than either */
    if (appended + size > grown && (grown + step > RANGE || !grow(grown + step))) {
        tool.raw->lost = 1;
        return NULL;
    }
    struct raw_record *record = (struct raw_record *)((HChar *)tool.raw + appended);
    record->type = type;
    record->size = size;
    appended += size;
    return record;
}

void raw_publish(void)
{
    __atomic_store_n(&tool.raw->used, appended, __ATOMIC_RELEASE);
}

static uint32_t hash_text(const HChar *text, uint32_t length)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (uint32_t i = 0; i < length; i++)
        hash = (hash ^ (UChar)text[i]) * 16777619u;
    return (hash ^ hash >> 15) % TEXTS;
}

uint32_t raw_text(const HChar *text)
{
    uint32_t length = (uint32_t)VG_(strlen)(text), hash = hash_text(text, length);
    for (struct text *found = texts[hash]; found; found = found->next)
        if (found->length == length && !VG_(memcmp)(found->bytes, text, length))
            return found->id;
    struct raw_string *string = raw_append(RAW_STRING, sizeof *string + length);
    if (!string)
        return RAW_NONE;
    string->length = length;
    VG_(memcpy)(string->text, text, length);
    raw_publish();
    struct text *added = VG_(malloc)("strata.text", sizeof *added + length);
    *added = (struct text){.next = texts[hash], .id = nstrings++, .length = length};
    VG_(memcpy)(added->bytes, text, length);
    texts[hash] = added;
    return added->id;
}

static uint32_t hash_cell(uint32_t bucket, uint32_t site, uint32_t collect)
{
    uint64_t key = ((uint64_t)site << 32 | bucket) * 0x9e3779b97f4a7c15u + collect;
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & cells_mask;
}

static void put_cell(struct raw_cell *cell)
{
    uint32_t at = hash_cell(cell->bucket, cell->site, cell->collect);
    while (cells[at])
        at = (at + 1) & cells_mask;
    cells[at] = cell;
}

static void double_cells(void)
{
    struct raw_cell **old = cells;
    uint32_t size = cells_mask + 1;
    cells_mask = size * 2 - 1;
    cells = VG_(calloc)("strata.cells", size * 2, sizeof *cells);
    for (uint32_t i = 0; i < size; i++)
        if (old[i])
            put_cell(old[i]);
    VG_(free)(old);
}

struct raw_cell *raw_cell_of(uint32_t bucket, uint32_t site, uint32_t collect)
{
    uint32_t at = hash_cell(bucket, site, collect);
    for (; cells[at]; at = (at + 1) & cells_mask)
        if (cells[at]->bucket == bucket && cells[at]->site == site &&
            cells[at]->collect == collect)
            return cells[at];
    if (site == RAW_NONE || bucket == RAW_NONE)
        return spare_cell;
    struct raw_cell *cell =
        raw_append(RAW_CELL, sizeof *cell + 8 * (tool.cache_levels + tool.tlb_levels));
    if (!cell)
        return spare_cell;
    cell->bucket = bucket;
    cell->site = site;
    cell->collect = collect;
    raw_publish();
    put_cell(cell);
    if (++ncells > cells_mask / 2)
        double_cells();
    return cell;
}

uint32_t raw_new_bucket(uint32_t kind, const HChar *name, const HChar *module,
                        const HChar *place)
{
    uint32_t name_id = raw_text(name), module_id = module ? raw_text(module) : RAW_NONE;
    uint32_t place_id = place ? raw_text(place) : RAW_NONE;
    struct raw_bucket *bucket =
        name_id == RAW_NONE ? NULL : raw_append(RAW_BUCKET, sizeof *bucket);
    if (!bucket)
        return RAW_NONE;
    bucket->kind = kind;
    bucket->name = name_id;
    bucket->module = module_id;
    bucket->site = place_id;
    bucket->smallest = UINT64_MAX;
    raw_publish();
    if (nbuckets == buckets_room) {
        buckets_room *= 2;
        buckets = VG_(realloc)("strata.buckets", buckets, buckets_room * sizeof *buckets);
        lives = VG_(realloc)("strata.buckets", lives, buckets_room * sizeof *lives);
    }
    buckets[nbuckets] = bucket;
    lives[nbuckets] = (struct raw_lives){0, 0};
    return nbuckets++;
}

struct raw_bucket *raw_bucket_at(uint32_t bucket)
{
    return bucket == RAW_NONE ? &spare_bucket : buckets[bucket];
}

struct raw_lives *raw_lives_at(uint32_t bucket)
{
    return bucket == RAW_NONE ? &spare_lives : &lives[bucket];
}

uint32_t raw_new_site(const struct raw_site *like)
{
    struct raw_site *site = raw_append(RAW_SITE, sizeof *site);
    if (!site)
        return RAW_NONE;
    struct raw_record record = site->record;
    *site = *like;
    site->record = record;
    raw_publish();
    return nsites++;
}
