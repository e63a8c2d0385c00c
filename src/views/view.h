/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The views of a profile: what a person can ask of it, as tables.
 *
 * totals     each cache and TLB, and the run as a whole
 * objects    data structures, by what they cost; of one function if asked
 * functions  where in the code; for one object if asked
 * lines      the same by source line
 * sizes      how many blocks an object has, and how large they are
 * Others have their names already, and are refused: nothing that is collected fills them.
 *
 * Percentages are shares of what was selected: of one object's latency, in the functions
 * of that object. */
#ifndef VIEWS_VIEW_H
#define VIEWS_VIEW_H

#include "profile/profile.h"
#include "views/figures.h"
#include "views/table.h"

#define VIEW_WORDS "totals|objects|functions|lines|sizes"
#define VIEW_LATER "evictions|fields|callers|matrix|kinds|sharing|threads|ranks"

struct view_query {
    const char *view;     /* one of VIEW_WORDS or VIEW_LATER */
    const char *object;   /* only in objects of exactly this name; NULL: all */
    const char *function; /* only in functions of exactly this name; NULL: all */
    int64_t pid;          /* only of this process; below 0: all */
    size_t top;           /* rows at most, and one for the rest; 0: all rows */
    double least;         /* percent: rows with less of what they are sorted by are in the
                             rest, too */
    bool sources;         /* lines: a last column with their text, where it is found */
    enum figure_order order;
};

enum { VIEW_NOTES = 8, VIEW_TEXT = 512 };

struct view {
    const char *name;
    char title[VIEW_TEXT]; /* "functions of Exc, by latency" */
    struct table rows;
    size_t rest; /* so many rows were left out; the last row is their sum. 0: none */
    const char *leading;     /* the key of the share that rows are sorted by; NULL: none */
    struct table totals;     /* one row: the sum of all rows, which is 100% */
    struct table run;        /* one row: what the processes did as a whole */
    struct table processes;  /* only of totals: how each began and ended */
    struct table provenance; /* one row */
    char notes[VIEW_NOTES][VIEW_TEXT];
    size_t nnotes;
};

/* Makes a view. Fails with STRATA_BAD_INPUT: no such view, object, function or process,
 * or nothing of that kind in this profile. On failure *view needs no release. */
int view_make(const struct profile *profile, const struct view_query *query,
              struct view *view, struct strata_error *error);
void view_release(struct view *view);

#endif
