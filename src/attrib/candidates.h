/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What may be a variable, from symbols and from debug information, before one name is
 * chosen for every byte. */
#ifndef ATTRIB_CANDIDATES_H
#define ATTRIB_CANDIDATES_H

#include "attrib/symbols.h"

#include <stdbool.h>

/* Where a candidate comes from, the best first. */
enum candidate_rank {
    RANK_DEBUG, /* debug information */
    RANK_GLOBAL,
    RANK_WEAK,
    RANK_LOCAL, /* symbols */
    RANK_MEMBER /* of a common block: joins no symbol, which would be the block's */
};

struct candidate {
    uint64_t address, size; /* size 0: not known */
    const char *name;
    enum candidate_rank rank;
};

/* A Fortran common block: debug information names its symbol but not its address. */
struct common_block {
    const char *linkage; /* the symbol's name */
    const char *name;    /* "/blk/" */
};

struct candidates {
    struct candidate *items;
    size_t n, room;
    struct common_block *blocks;
    size_t nblocks, block_room;
    struct name_block *names;
    bool no_memory; /* something was not added; the rest is in order */
};

/* A copy of the text that lives as long as the names; NULL without memory. */
const char *candidate_name(struct candidates *candidates, const char *text);

/* Copies the name. */
void candidate_add(struct candidates *candidates, struct candidate candidate);
void common_block_add(struct candidates *candidates, struct common_block block);

/* Chooses the names and cuts overlaps; the names move to *symbols. The candidates are
 * empty afterwards. */
int candidates_resolve(struct candidates *candidates, struct symbols *symbols,
                       struct strata_error *error);
void candidates_release(struct candidates *candidates);

#endif
