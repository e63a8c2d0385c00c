/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Raw files into the tables of a profile, one after the other.
 *
 * What is the same in several processes becomes one row: a module or file by its path, a
 * function by its name and module, an instruction by its address in its module, an object
 * by its kind, name and module. Texts become UTF-8 on one line on the way. */
#ifndef PROFILE_MERGE_H
#define PROFILE_MERGE_H

#include "profile/intern.h"
#include "profile/raw_read.h"
#include "profile/sql.h"

enum merge_statement {
    PUT_PROCESS,
    PUT_COUNTER,
    PUT_LEVEL,
    PUT_MODULE,
    PUT_FILE,
    PUT_FUNCTION,
    PUT_SITE,
    PUT_OBJECT,
    PUT_ALLOCATION,
    PUT_CELL,
    MERGE_STATEMENTS
};

struct merge {
    sqlite3_stmt *statements[MERGE_STATEMENTS];
    uint32_t levels;  /* of caches and TLBs together */
    uint32_t collect; /* RAW_EXACT or RAW_SAMPLED: whose latency is summed up below */
    struct intern texts, modules, files, functions, sites, objects;
    uint64_t *latency; /* of each object */
    size_t nlatency;
    char *scratch;
    size_t room;
    uint32_t processes;
    size_t cells;
};

/* All of these return SQLITE_OK or an error of SQLite. merge_release() is needed after
 * merge_begin() whatever it returned. */
int merge_begin(struct merge *merge, sqlite3 *db, const struct raw_header *header);
int merge_raw(struct merge *merge, const struct raw_file *raw);
void merge_release(struct merge *merge);

#endif
