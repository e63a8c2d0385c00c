/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prefetchers, a table: which lines to fetch because of the one that was asked for.
 *
 * A prefetcher sees every demand access that reaches its cache, and names lines only
 * when that missed, and only within the base page (hardware does not know how large a
 * page is). Lines are numbered within the page.
 * - next-line: the `degree` lines after the missing one.
 * - adjacent: the other line of an aligned pair.
 * - stride: once two steps within a page are equal, `degree` steps ahead.
 * - stream: once a step is to a neighbouring line, `degree` lines ahead that way.
 * The last two remember the last steps in 64 pages; a page shares its place with those
 * that are a multiple of 64 pages away, and the later one has it. A visit of the same
 * line again is no step. */
#ifndef SIM_PREFETCH_H
#define SIM_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>
#include <strata/machine.h>

enum { PREFETCH_PAGES = 64, PREFETCH_LINES = 64, PREFETCHERS = 5 };

struct prefetch_page {
    uint64_t page; /* UINT64_MAX: none */
    int32_t line;  /* the last one visited */
    int32_t step, before; /* the last steps, 0: none yet */
};

struct prefetcher {
    uint32_t kind; /* enum strata_prefetch */
    uint32_t degree;
    bool trains; /* has to see hits too */
    struct prefetch_page pages[PREFETCH_PAGES];
};

void prefetcher_init(struct prefetcher *prefetcher, uint32_t kind, uint32_t degree);

/* Forgets all pages. */
void prefetcher_clear(struct prefetcher *prefetcher);

/* Notes an access, of a prefetcher that trains. Returns what is now known of its page,
 * or NULL if that did not change. */
static inline const struct prefetch_page *prefetcher_train(struct prefetcher *prefetcher,
                                                           uint64_t page, int32_t line)
{
    struct prefetch_page *known = &prefetcher->pages[page % PREFETCH_PAGES];
    if (known->page != page)
        *known = (struct prefetch_page){.page = page, .line = line};
    if (known->line == line)
        return 0;
    known->before = known->step;
    known->step = line - known->line;
    known->line = line;
    return known;
}

/* Notes an access that missed; fills in the lines to fetch and returns how many there
 * are. A page has `in_page` lines. */
uint32_t prefetcher_miss(struct prefetcher *prefetcher, uint64_t page, int32_t line,
                         int32_t in_page, int32_t lines[PREFETCH_LINES]);

#endif
