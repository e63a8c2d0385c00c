/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prefetchers, a table: which lines to fetch because of the one that was asked for.
 *
 * A prefetcher sees every demand access that reaches its cache, and names lines only
 * when that missed, and only within the base page (hardware does not know how large a
 * page is). Lines are numbered within the page.
 * - next-line: the `degree` lines after the missing one.
 * - adjacent: the other line of an aligned pair.
 * - stride: once two steps within a page are equal and not zero, `degree` steps ahead.
 * - stream: once a step is to a neighbouring line, `degree` lines ahead that way.
 * The last two remember the 16 pages used last. */
#ifndef SIM_PREFETCH_H
#define SIM_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>
#include <strata/machine.h>

enum { PREFETCH_PAGES = 16, PREFETCH_LINES = 64, PREFETCHERS = 5 };

struct prefetch_page {
    uint64_t page; /* UINT64_MAX: none */
    uint64_t used; /* when; the least goes first */
    int64_t line, step;
};

struct prefetcher {
    uint32_t kind; /* enum strata_prefetch */
    uint32_t degree;
    uint64_t clock;
    struct prefetch_page pages[PREFETCH_PAGES];
};

/* A demand access, as a prefetcher sees it. */
struct prefetch_access {
    uint64_t page;
    int64_t line;  /* within the page */
    int64_t lines; /* of a page */
    bool missed;
};

void prefetcher_init(struct prefetcher *prefetcher, uint32_t kind, uint32_t degree);

/* Forgets all pages. */
void prefetcher_clear(struct prefetcher *prefetcher);

/* Notes an access; fills in the lines to fetch and returns how many there are. */
uint32_t prefetcher_observe(struct prefetcher *prefetcher,
                            const struct prefetch_access *access,
                            int64_t lines[PREFETCH_LINES]);

#endif
