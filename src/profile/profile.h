/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A profile (*.strata): events, misses and latency by object, function and line, with
 * their provenance, in an SQLite database. docs/format/profile.md has the schema.
 *
 * A profile is written once, from the raw files that the processes of a run left behind,
 * and only read afterwards. Things that are the same in several processes (a function, a
 * global, the heap blocks of one name) are one row; their counts are kept for each
 * process. */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "profile/raw.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <strata/error.h>
#include <strata/machine.h>

struct sqlite3;

/* What the raw files do not know of a run. Texts may be NULL: not known. */
struct profile_provenance {
    const char *command;      /* the whole command line of strata */
    const char *program;      /* the part behind "--": what was run */
    const char *source;       /* "sim", "perf" */
    const char *machine_file; /* where the machine was read from */
    const char *host;         /* name, system and processor of this computer */
    int64_t start;            /* seconds since 1970; 0: not known */
    double seconds;           /* that the run took; below 0: not known */
    enum raw_end end;         /* of the first process, as the one that waited saw it */
    int status;               /* exit status or signal, by `end` */
};

/* What was written, for the line that ends `strata record`. */
struct profile_summary {
    size_t processes;  /* raw files that are part of the profile */
    size_t skipped;    /* raw files that could not be read */
    size_t incomplete; /* that ended early: cut off, or the disk was full */
    char why[256];     /* the first reason for one of these two; "" if none */
    size_t objects;    /* that had events */
    size_t above;      /* of these, with at least 1% of the latency */
    size_t cells;      /* rows of the table of counts */
    uint64_t accesses; /* loads and stores, and fetches where these were collected */
    uint64_t misses;   /* demand misses of all caches of level 1 */
    uint64_t instructions, cycles, samples;
    uint64_t bytes; /* of the file */
};

/* Writes a profile from the raw files of one run. It appears whole or not at all: it is
 * made under a temporary name beside its place, synchronised to the disk and renamed.
 * Raw files are only read: the caller removes them, after a success. One that cannot be
 * read, or that was collected with other settings than the first, is left out; the
 * profile says so too.
 *
 * Fails with STRATA_BAD_INPUT (no usable raw file, a place that is no regular file) or
 * STRATA_FAILED (no space, no memory). A failure to write names the folder of the raw
 * files, which still have everything. */
int profile_write(const char *path, const struct profile_provenance *provenance,
                  const char *const *raw_paths, size_t n, struct profile_summary *summary,
                  struct strata_error *error);

/* An open profile. The texts and the machine live as long as it does. */
struct profile {
    struct sqlite3 *db; /* read only */
    char *path;
    struct strata_machine machine;
    uint32_t cache_levels, tlb_levels;
    uint32_t collect;     /* set of enum raw_collect */
    uint32_t event_level; /* sampled: misses of this cache level are the events */
    uint64_t period;      /* sampled: a sample stands for so many events; else 1 */
};

/* Opens a profile and checks it: that it is one, of a version that is known, and whole.
 * Fails with STRATA_BAD_INPUT, *profile NULL. */
int profile_open(const char *path, struct profile **profile, struct strata_error *error);
void profile_close(struct profile *profile);

/* A text of the table meta; the caller frees it. NULL: not there, or no memory. */
char *profile_meta(const struct profile *profile, const char *key);

#endif
