/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the parts that look at TLBs share: tlbs.c finds levels, tlb_entries.c and tlb_sets.c
 * the size of one, tlb_again.c looks at it at other times. */
#ifndef PROBE_TLBS_H
#define PROBE_TLBS_H

#include "probe/probing.h"

/* A rise of the cost by pages: the edge of a TLB, as the sweep saw it. */
struct rise {
    double from, to;  /* pages: the last point below it and the first one above */
    double height;    /* cycles */
    double seen;      /* pages that the sweep saw fit */
    struct reach can; /* what the curve allows for */
};

/* As many lines as T(1, x), in about half as many pages. x: lines. */
size_t folded_pages(size_t n);
int build_folded(struct probing *p, const struct string *s, double x);

/* As many pages as a string may have. */
double most_pages(const struct probing *p, enum arena arena);

/* A test whether one string is slower than another. */
typedef int decider(struct probing *p, const struct string *a, double xa,
                    const struct string *b, double xb, double amount,
                    struct decision *decision);

/* Whether so many pages side by side miss: `amount` more cycles than as many lines in half
 * as many pages. */
int miss_beside(struct probing *p, decider *decide, enum arena arena, double pages,
                double amount, struct decision *d);

/* The most pages, from low (which is taken to fit) to below high, that cost less than half
 * of `amount` more than as many lines in half as many pages. */
int bisect(struct probing *p, decider *decide, enum arena arena, double low, double high,
           double amount, double *edge, double *confidence);

/* Entries and ways of the level that a rise shows; `inner` are those of the level before.
 */
int find_size(struct probing *p, enum arena arena, const struct rise *rise, double inner,
              struct strata_probed_tlb *tlb);

/* What a miss costs in each of n levels of one kind of page. */
int add_penalties(struct probing *p, enum arena arena, struct strata_probed_tlb *tlbs,
                  int n, double most);

/* The edge of a TLB whose sets are looked for. */
struct tlb_edge {
    enum arena arena;
    double low, high; /* pages: its entries are between them */
    double fit;       /* pages that do fit side by side */
    double height;    /* cycles that a miss costs */
    double inner;     /* the entries of the level before, or 0 */
};

/* The entries of a TLB with sets; unknown if it shows none. */
int tlb_by_sets(struct probing *p, const struct tlb_edge *edge,
                struct strata_value *entries);

/* The ways of a TLB with so many entries, if they show: unknown, where sets are chosen by
 * more than the low bits of a page number. */
int tlb_ways(struct probing *p, const struct tlb_edge *edge,
             const struct strata_value *entries, struct strata_value *ways);

#endif
