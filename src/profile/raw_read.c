/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reader of raw files; raw_read.h has the contract.
 *
 * The file is copied into memory before it is looked at: a mapping would change under the
 * checks, and kill this process by SIGBUS if somebody cut the file off. */
#include "profile/raw_read.h"

#include "core/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One file on its way through the checks. */
struct reading {
    const char *name;
    const char *bytes;
    size_t end; /* of the whole records, as far as is known */
    size_t at;  /* the record that is looked at */
    struct raw_file *raw;
    struct strata_error *error;
};

static int bad_record(const struct reading *reading, const char *what)
{
    return fail(reading->error, STRATA_BAD_INPUT,
                "%s: damaged: the record at byte %zu %s; record the program again",
                reading->name, reading->at, what);
}

static bool possible(const uint64_t *counts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (counts[i] > RAW_MOST)
            return false;
    return true;
}

static bool has(const struct reading *reading, enum raw_type type, uint32_t id)
{
    return id < reading->raw->lists[type].n;
}

static bool has_or_none(const struct reading *reading, uint32_t string)
{
    return string == RAW_NONE || has(reading, RAW_STRING, string);
}

/* Checks of one record each, whose size is at least that of its struct. */

static int check_string(const struct reading *reading, const struct raw_record *record)
{
    const struct raw_string *string = (const struct raw_string *)record;
    if (string->length > record->size - offsetof(struct raw_string, text))
        return bad_record(reading, "is a text that is longer than the record");
    if (memchr(string->text, 0, string->length))
        return bad_record(reading, "is a text with a 0 byte in it");
    return STRATA_OK;
}

static int check_site(const struct reading *reading, const struct raw_record *record)
{
    const struct raw_site *site = (const struct raw_site *)record;
    if (!has_or_none(reading, site->module) || !has_or_none(reading, site->function) ||
        !has_or_none(reading, site->file))
        return bad_record(reading, "is an instruction with a name that is not there");
    return STRATA_OK;
}

static int check_bucket(const struct reading *reading, const struct raw_record *record)
{
    const struct raw_bucket *bucket = (const struct raw_bucket *)record;
    if (bucket->kind > RAW_CODE)
        return bad_record(reading, "is an object of an unknown kind");
    if (!has(reading, RAW_STRING, bucket->name) || !has_or_none(reading, bucket->module) ||
        !has_or_none(reading, bucket->site))
        return bad_record(reading, "is an object with a name that is not there");
    const uint64_t counts[] = {bucket->objects,    bucket->bytes,
                               bucket->live,       bucket->live_bytes,
                               bucket->most_bytes, bucket->objects ? bucket->smallest : 0,
                               bucket->largest};
    if (!possible(counts, sizeof counts / sizeof *counts))
        return bad_record(reading, "is an object with an impossible count");
    return STRATA_OK;
}

static int check_cell(const struct reading *reading, const struct raw_record *record)
{
    const struct raw_cell *cell = (const struct raw_cell *)record;
    size_t levels = reading->raw->cache_levels + reading->raw->tlb_levels;
    if (record->size != sizeof *cell + levels * sizeof cell->misses[0])
        return bad_record(reading, "has counts for another number of levels");
    if (!has(reading, RAW_BUCKET, cell->bucket) || !has(reading, RAW_SITE, cell->site))
        return bad_record(reading, "counts for an object or instruction that is not there");
    if (cell->collect != RAW_EXACT && cell->collect != RAW_SAMPLED)
        return bad_record(reading, "has counts that are neither exact nor sampled");
    if (!possible(&cell->events, 3) || !possible(cell->misses, levels))
        return bad_record(reading, "has an impossible count");
    return STRATA_OK;
}

static const struct {
    size_t least; /* bytes */
    int (*check)(const struct reading *reading, const struct raw_record *record);
} types[] = {
    [RAW_STRING] = {offsetof(struct raw_string, text), check_string},
    [RAW_SITE] = {sizeof(struct raw_site), check_site},
    [RAW_BUCKET] = {sizeof(struct raw_bucket), check_bucket},
    [RAW_CELL] = {sizeof(struct raw_cell), check_cell},
};

static int append(const struct reading *reading, const struct raw_record *record)
{
    struct raw_list *list = &reading->raw->lists[record->type];
    if (list->n == list->room) {
        size_t room = list->room ? 2 * list->room : 64;
        void *grown = realloc(list->records, room * sizeof *list->records);
        if (!grown)
            return fail(reading->error, STRATA_FAILED, "%s: out of memory", reading->name);
        list->records = grown;
        list->room = room;
    }
    list->records[list->n++] = record;
    return STRATA_OK;
}

static void cut_off(struct raw_file *raw, const char *why)
{
    raw->incomplete = true;
    snprintf(raw->why, sizeof raw->why, "%s", why);
}

/* Takes the record at reading->at. *more is false behind the last whole one. */
static int take_record(struct reading *reading, bool *more)
{
    const struct raw_record *record = (const void *)(reading->bytes + reading->at);
    size_t left = reading->end - reading->at;
    *more = false;
    if (left < sizeof *record || (!record->type && !record->size) ||
        (record->size > left && reading->raw->incomplete)) {
        /* Zeros are what a file has where a disk never got the pages. */
        cut_off(reading->raw, "the file is cut off");
        return STRATA_OK;
    }
    if (record->type < RAW_STRING || record->type > RAW_CELL)
        return bad_record(reading, "is of an unknown type");
    if (record->size > left || record->size % 8 || record->size < types[record->type].least)
        return bad_record(reading, "has an impossible size");
    int status = types[record->type].check(reading, record);
    if (!status)
        status = append(reading, record);
    reading->at += record->size;
    *more = reading->at < reading->end;
    return status;
}

static int bad_header(const struct reading *reading, const char *what)
{
    return fail(reading->error, STRATA_BAD_INPUT,
                "%s: damaged: %s; record the program again", reading->name, what);
}

static int check_format(const struct reading *reading, const struct raw_header *header,
                        size_t size)
{
    if (size < sizeof header->magic ||
        memcmp(header->magic, RAW_MAGIC, sizeof header->magic) != 0)
        return fail(reading->error, STRATA_BAD_INPUT,
                    size ? "%s: no raw file of a recording" : "%s: the file is empty",
                    reading->name);
    if (size < sizeof *header)
        return bad_header(reading, "the file is cut off within its header");
    if (header->version != RAW_VERSION || header->size != sizeof *header)
        return fail(reading->error, STRATA_BAD_INPUT,
                    "%s: a raw file of version %" PRIu32 " with a header of %" PRIu32
                    " bytes; this strata reads version %d with %zu: record the program "
                    "with the same strata",
                    reading->name, header->version, header->size, RAW_VERSION,
                    sizeof *header);
    return STRATA_OK;
}

static int check_settings(const struct reading *reading, const struct raw_header *header)
{
    struct strata_error inner;
    char text[160];
    if (strata_machine_check(&header->machine, &inner)) {
        snprintf(text, sizeof text, "its machine is impossible: %.120s", inner.text);
        return bad_header(reading, text);
    }
    if (!header->collect || header->collect & ~(uint32_t)(RAW_EXACT | RAW_SAMPLED))
        return bad_header(reading, "it was collected neither exactly nor by samples");
    if (header->collect & RAW_SAMPLED &&
        (header->period == 0 || header->period > RAW_MOST || header->event_level == 0 ||
         header->event_level > raw_cache_levels(&header->machine)))
        return bad_header(reading, "it has an impossible sampling period or event");
    if (header->end > RAW_EXECUTED)
        return bad_header(reading, "its process ended in an unknown way");
    return STRATA_OK;
}

static int check_counts(const struct reading *reading, const struct raw_header *header)
{
    _Static_assert(sizeof header->counts % sizeof(uint64_t) == 0, "counts alone");
    const uint64_t *counts = (const uint64_t *)&header->counts;
    if (!possible(&header->cycles, 1) || !possible(&header->samples, 1) ||
        !possible(&header->sampler_accesses, 1) || !possible(&header->sampler_misses, 1) ||
        !possible(&header->sampler_cycles, 1) || !possible(header->events, RAW_EVENTS) ||
        !possible((const uint64_t *)&header->stores,
                  sizeof header->stores / sizeof(uint64_t)) ||
        !possible(counts, sizeof header->counts / sizeof *counts))
        return bad_header(reading, "its header has an impossible count");
    if (header->used && (header->used < header->size || header->used % 8))
        return bad_header(reading, "the end of its records is impossible");
    return STRATA_OK;
}

static int check_header(const struct reading *reading, const struct raw_header *header,
                        size_t size)
{
    int status = check_format(reading, header, size);
    if (!status)
        status = check_settings(reading, header);
    return status ? status : check_counts(reading, header);
}

static int take_records(struct reading *reading, size_t size)
{
    struct raw_file *raw = reading->raw;
    /* A process that was killed at once may not have got to say where its records end. */
    uint64_t used = raw->header->used ? raw->header->used : raw->header->size;
    int status = STRATA_OK;
    reading->end = used < size ? used : size;
    reading->at = raw->header->size;
    if (used > size)
        cut_off(raw, "the file is cut off");
    for (bool more = reading->at < reading->end; more && !status;)
        status = take_record(reading, &more);
    if (raw->header->lost)
        cut_off(raw, "the disk was full during the run");
    if (!status && raw->header->command != RAW_NONE && !raw->incomplete &&
        !has(reading, RAW_STRING, raw->header->command))
        status = bad_header(reading, "the name of its program is not there");
    return status;
}

int raw_parse(const char *name, const void *bytes, size_t size, struct raw_file *raw,
              struct strata_error *error)
{
    struct reading reading = {.name = name, .bytes = bytes, .raw = raw, .error = error};
    *raw = (struct raw_file){.header = bytes};
    int status = check_header(&reading, bytes, size);
    if (status)
        return status;
    raw->cache_levels = raw_cache_levels(&raw->header->machine);
    raw->tlb_levels = raw_tlb_levels(&raw->header->machine);
    status = take_records(&reading, size);
    if (status)
        raw_release(raw);
    return status;
}

/* Fewer bytes than `size` only at the end of the file; -1 on an error. */
static ssize_t read_all(int fd, char *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = pread(fd, bytes + done, size - done, (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

/* The bytes up to the end of the last record: behind it a file may have room for many
 * more. *bytes is freed by the caller, also after a failure. */
static int load(int fd, const char *path, char **bytes, size_t *size,
                struct strata_error *error)
{
    struct stat there;
    struct raw_header header = {.used = 0};
    if (fstat(fd, &there) != 0)
        return fail(error, STRATA_FAILED, "%s: cannot read: %s", path, strerror(errno));
    if (!S_ISREG(there.st_mode))
        return fail(error, STRATA_BAD_INPUT, "%s: no regular file", path);
    ssize_t n = read_all(fd, (char *)&header, sizeof header);
    size_t most = (uint64_t)there.st_size < SIZE_MAX / 2 ? (size_t)there.st_size : 0;
    if (n == (ssize_t)sizeof header && header.used >= sizeof header && header.used < most)
        most = (size_t)header.used;
    *bytes = n < 0 ? NULL : malloc(most ? most : 1);
    if (n >= 0 && !*bytes)
        return fail(error, STRATA_FAILED, "%s: out of memory", path);
    n = n < 0 ? n : read_all(fd, *bytes, most);
    if (n < 0)
        return fail(error, STRATA_FAILED, "%s: cannot read: %s", path, strerror(errno));
    *size = (size_t)n;
    /* The process may have gone on between the two looks at its header. */
    if (*size >= sizeof header && *size == header.used)
        ((struct raw_header *)*bytes)->used = header.used;
    return STRATA_OK;
}

static int open_raw(const char *path, int *fd, struct strata_error *error)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return *fd >= 0 ? STRATA_OK
                    : fail(error, STRATA_BAD_INPUT, "%s: cannot open: %s", path,
                           strerror(errno));
}

int raw_read_header(const char *path, struct raw_header *header, struct strata_error *error)
{
    const struct reading reading = {.name = path, .error = error};
    int fd, status = open_raw(path, &fd, error);
    if (status)
        return status;
    ssize_t n = read_all(fd, (char *)header, sizeof *header);
    status = n < 0
                 ? fail(error, STRATA_FAILED, "%s: cannot read: %s", path, strerror(errno))
                 : check_header(&reading, header, (size_t)n);
    close(fd);
    return status;
}

int raw_read(const char *path, struct raw_file *raw, struct strata_error *error)
{
    char *bytes = NULL;
    size_t size = 0;
    int fd, opened = open_raw(path, &fd, error);
    if (opened)
        return opened;
    int status = load(fd, path, &bytes, &size, error);
    close(fd);
    if (!status)
        status = raw_parse(path, bytes, size, raw, error);
    if (status)
        free(bytes);
    else
        raw->owned = bytes;
    return status;
}

void raw_release(struct raw_file *raw)
{
    for (size_t i = 0; i < sizeof raw->lists / sizeof *raw->lists; i++)
        free(raw->lists[i].records);
    free(raw->owned);
    *raw = (struct raw_file){0};
}
