/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From counts to what each event counts. Pure functions of a table of counts: they know
 * nothing of where it came from.
 *
 * An event has signatures: its slopes over the turns of each loop, and what it counts a
 * visit of a walk through memory, on each plateau between the sizes of two levels. A
 * category is a row of expected numbers. Goodness compares the two (fit.h); the best
 * category wins if it is good enough, and better than the next. */
#ifndef INSPECT_FINDINGS_H
#define INSPECT_FINDINGS_H

#include "inspect/plan.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    LEVELS = 6, /* of caches, or of TLBs */
    PLATEAUS = LEVELS + 1,
    CATEGORY_NAME = 48,
    CATEGORY_LABEL = 112,
    WHY = 240
};

/* What an event must reach to be in a category. A near-twin that differs by half a branch
 * in one kernel has exp(-0.5), 0.61. */
#define GOOD_ENOUGH 0.9

struct counts_table {
    const struct plan *plan;
    const struct matrices *matrices;
    size_t nevents;
    const char *const *names;
    const char *const *why; /* of events that could not be counted; NULL or "": they were */
    const double *counts;   /* [run * nevents + event] */
    bool flat_memory;       /* it takes no time here: the processor is emulated */
    const double *ns;       /* by run, how long it took; NULL: not known */
};

enum family { FAMILY_NONE, FAMILY_BRANCH, FAMILY_SYSTEM, FAMILY_WORK, FAMILY_MEMORY };

/* One category's goodness for an event. */
struct score {
    enum family family;
    char name[CATEGORY_NAME];
    double goodness;
};

/* What an event counts a visit, on each plateau. */
struct walk_signature {
    double read[PLATEAUS], write[PLATEAUS]; /* through bytes */
    double ahead[2][PLATEAUS];              /* in ascending order, and in pairs */
    double pages[PLATEAUS], pages_write[PLATEAUS];
};

enum { SCORES = 96 };

struct finding {
    const char *name;
    bool counted; /* else `why` says why not */
    bool moved;   /* some run counted something */
    const char *why;
    enum family family;
    char category[CATEGORY_NAME]; /* "": none */
    char label[CATEGORY_LABEL];
    double goodness;     /* of the category, or of the best if there is none */
    struct score second; /* the next best of the same family */
    struct score best;   /* also where it is not good enough */
    size_t nscores;
    struct score scores[SCORES]; /* of all categories, in the order of the tables */
    double slopes[MATRIX_KERNELS], r2[MATRIX_KERNELS]; /* by kernel of the branch matrix */
    double system_slopes[MATRIX_KERNELS];
    double work_slopes[MATRIX_KERNELS];
    uint32_t unit;       /* lines; the smallest by which walks show its levels */
    bool without_memory; /* it counts where no memory is touched: none of caches or TLBs */
    struct walk_signature walks;
};

/* A level as transitions show it. */
struct found_level {
    double edge;       /* bytes or pages, where counts change */
    double reach;      /* the same, by going back over what was read: NAN where not known */
    const char *event; /* that `reach` was read from */
};

struct findings {
    size_t n;
    struct finding *events;
    size_t ncaches, ntlbs;
    struct found_level caches[LEVELS], tlbs[LEVELS];
};

/* -1: out of memory. */
int findings_make(const struct counts_table *table, struct findings *findings);
void findings_release(struct findings *findings);

/* Stands for an event: how long a run took, in ns. */
#define TIME_EVENT SIZE_MAX

/* The points of an event over the runs of one kind (and kernel), ascending in x, medians
 * over repeats; y is a count a visit where runs have visits. Returns their number, at most
 * `most`. */
size_t event_points(const struct counts_table *table, size_t event, enum run_kind kind,
                    uint32_t kernel, double *x, double *y, size_t most);

/* A sum of events with small whole weights. */
enum { TERMS = 3 };
struct composite {
    size_t n; /* 0: there is none */
    size_t events[TERMS];
    int weights[TERMS];
    double goodness;
};

/* The combination of events that counts what a category of the branch matrix does, by least
 * squares over their slopes; fewer events before more. */
struct composite compose(const struct counts_table *table, const struct findings *findings,
                         const struct matrix_category *wanted);

#endif
