/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prefetchers: which lines to fetch because of the one that was asked for.
 *
 * A prefetcher sees every demand access that reaches its cache, and names lines only
 * when that missed, and only within the base page (hardware does not know how large a
 * page is).
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

enum { PREFETCH_PAGES = 64 };

struct prefetch_page {
    uint64_t line;        /* the last one visited; that also says which page it is */
    int32_t step, before; /* the last steps, 0: none yet */
};

struct prefetcher {
    uint32_t kind; /* enum strata_prefetch */
    uint32_t degree;
    uint32_t in_page;        /* log2 of the lines of a page */
    bool trains;             /* has to see hits too */
    struct prefetcher *next; /* of those of the same cache that train */
    struct prefetch_page pages[PREFETCH_PAGES];
};

/* For a cache of whose lines a page has 2^in_page. */
void prefetcher_init(struct prefetcher *prefetcher, const struct strata_prefetcher *from,
                     uint32_t in_page);

/* Forgets all pages. */
void prefetcher_clear(struct prefetcher *prefetcher);

/* Notes an access to a line (a line number), if the prefetcher trains. Returns what is now
 * known of the page, or NULL if that did not change. Whether another page had the place
 * makes no branch, because it is random where it matters. */
static inline const struct prefetch_page *prefetcher_train(struct prefetcher *prefetcher,
                                                           uint64_t line)
{
    uint64_t page = line >> prefetcher->in_page;
    struct prefetch_page *known = &prefetcher->pages[page % PREFETCH_PAGES];
    uint64_t moved = known->line ^ line;
    if (moved == 0)
        return 0;
    int32_t same = -(int32_t)(moved >> prefetcher->in_page == 0); /* all bits, or none */
    known->before = known->step & same;
    known->step = (int32_t)(line - known->line) & same;
    known->line = line;
    return known;
}

/* Notes an access to a line that missed. Returns in which steps to go on from it, 0: not at
 * all. */
static inline int32_t prefetcher_step(struct prefetcher *prefetcher, uint64_t line)
{
    if (prefetcher->kind == STRATA_PREFETCH_NEXT_LINE)
        return 1;
    if (prefetcher->kind == STRATA_PREFETCH_ADJACENT)
        return line & 1 ? -1 : 1;
    const struct prefetch_page *known = prefetcher_train(prefetcher, line);
    if (!known)
        return 0;
    int32_t want = known->step < 0 ? -1 : 1;
    if (prefetcher->kind == STRATA_PREFETCH_STRIDE)
        want = known->before;
    return known->step == want ? want : 0;
}

#endif
