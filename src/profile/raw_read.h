/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading a raw file (raw.h). Nothing in it is believed: a process may have been killed at
 * any moment, the disk may have been full, the file may be something else. What is handed
 * out has been checked: ids refer to what is there, sizes fit, numbers are possible. */
#ifndef PROFILE_RAW_READ_H
#define PROFILE_RAW_READ_H

#include "profile/raw.h"

#include <stdbool.h>
#include <stddef.h>
#include <strata/error.h>

/* No count gets beyond this (10^10 a second for 83 days), so that sums of them fit. */
#define RAW_MOST ((uint64_t)1 << 56)

/* Records of one type, by id. */
struct raw_list {
    const struct raw_record **records;
    size_t n, room;
};

struct raw_file {
    void *owned; /* the bytes, if raw_read() read them */
    const struct raw_header *header;
    uint32_t cache_levels, tlb_levels;
    struct raw_list lists[RAW_CELL + 1]; /* by enum raw_type; [0] is empty */
    bool incomplete; /* there was more: the file is cut off, or the disk was full */
    char why[128];   /* then: what happened */
};

/* Reads a file as it is at this moment; its process may still be working in it. A file
 * that is cut off gives the records that are whole. Fails with STRATA_BAD_INPUT where it
 * is no raw file or contradicts itself, and STRATA_FAILED where it cannot be read; the
 * message names the file. On failure *raw needs no release. */
int raw_read(const char *path, struct raw_file *raw, struct strata_error *error);

/* Its header alone, checked in the same way: cheap while its process is at work. Its
 * numbers are each as they were at some moment, not all at the same one. */
int raw_read_header(const char *path, struct raw_header *header,
                    struct strata_error *error);

/* raw_read() for bytes in memory, aligned to 8, which must outlive *raw. */
int raw_parse(const char *name, const void *bytes, size_t size, struct raw_file *raw,
              struct strata_error *error);

void raw_release(struct raw_file *raw);

/* Records by id, which must be below lists[type].n. */
static inline const struct raw_string *raw_string_at(const struct raw_file *raw,
                                                     uint32_t id)
{
    return (const struct raw_string *)raw->lists[RAW_STRING].records[id];
}

static inline const struct raw_site *raw_site_at(const struct raw_file *raw, uint32_t id)
{
    return (const struct raw_site *)raw->lists[RAW_SITE].records[id];
}

static inline const struct raw_bucket *raw_bucket_at(const struct raw_file *raw,
                                                     uint32_t id)
{
    return (const struct raw_bucket *)raw->lists[RAW_BUCKET].records[id];
}

static inline const struct raw_cell *raw_cell_at(const struct raw_file *raw, uint32_t id)
{
    return (const struct raw_cell *)raw->lists[RAW_CELL].records[id];
}

#endif
