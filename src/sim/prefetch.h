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
 * - streamer: `degree` lines ahead the way that the last step in the page went, however
 *   far, in each of the `pages` in which a line missed last. It learns from misses alone.
 * Stride and stream want to know the last steps in 64 pages; a page shares its place with
 * those that are a multiple of 64 pages away, and the later one has it. A visit of the same
 * line again is no step. So the last two lines that were visited in the place of a page
 * are all they need, and all prefetchers of a cache share them: its trails (quick.h). */
#ifndef SIM_PREFETCH_H
#define SIM_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>
#include <strata/machine.h>

#include "quick.h"

enum { PREFETCH_PAGES = 64 }; /* that one can follow */

/* A page that is followed, and the line in it that missed last. */
struct followed {
    uint64_t page, line;
};

struct prefetcher {
    uint32_t kind; /* enum strata_prefetch */
    uint32_t degree;
    bool trains;                              /* has to see hits too */
    uint32_t nfollowed, most;                 /* pages, now and at most */
    struct followed followed[PREFETCH_PAGES]; /* the last one that missed is the first */
};

/* The last steps up to a line that is visited now. Where the page has its place from
 * another one, they are longer than a page, and lead nowhere. */
struct prefetch_steps {
    int64_t last, before;
};

void prefetcher_init(struct prefetcher *prefetcher, const struct strata_prefetcher *from);

/* It follows no page any more. */
void prefetcher_forget(struct prefetcher *prefetcher);

/* Notes that a line missed; returns which way its page goes on, 0: not known. */
int64_t prefetcher_follow(struct prefetcher *prefetcher, uint64_t line, uint32_t in_page);

/* What a visit of a line, of which a page has 2^in_page, makes of its trail; notes it. */
static inline struct prefetch_steps prefetch_visit(struct sim_trail *trails, uint64_t line,
                                                   uint32_t in_page)
{
    struct sim_trail was = trails[(line >> in_page) % SIM_QUICK_TRAILS];
    sim_trail_visit(trails, line >> in_page, line);
    return (struct prefetch_steps){.last = (int64_t)(line - was.line),
                                   .before = (int64_t)(was.line - was.before)};
}

/* In which steps to go on from a line that missed, 0: not at all. */
static inline int64_t prefetcher_step(struct prefetcher *prefetcher, uint64_t line,
                                      uint32_t in_page, struct prefetch_steps steps)
{
    switch (prefetcher->kind) {
    case STRATA_PREFETCH_NEXT_LINE:
        return 1;
    case STRATA_PREFETCH_ADJACENT:
        return line & 1 ? -1 : 1;
    case STRATA_PREFETCH_STRIDE:
        return steps.last == steps.before ? steps.last : 0;
    case STRATA_PREFETCH_STREAMER:
        return prefetcher_follow(prefetcher, line, in_page);
    default:
        return steps.last == 1 || steps.last == -1 ? steps.last : 0;
    }
}

#endif
