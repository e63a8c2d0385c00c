/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prefetchers: making them, and the pages that a streamer follows. What else an access does
 * is inlined from prefetch.h. */
#include "prefetch.h"

enum { MOST_LINES = 64 /* at a time */ };

void prefetcher_init(struct prefetcher *prefetcher, const struct strata_prefetcher *from)
{
    uint32_t most = from->kind == STRATA_PREFETCH_ADJACENT ? 1 : MOST_LINES;
    prefetcher->kind = from->kind;
    prefetcher->degree = from->degree < most ? from->degree : most;
    prefetcher->trains =
        from->kind == STRATA_PREFETCH_STRIDE || from->kind == STRATA_PREFETCH_STREAM;
    prefetcher->most = from->pages < PREFETCH_PAGES ? from->pages : PREFETCH_PAGES;
    prefetcher_forget(prefetcher);
}

void prefetcher_forget(struct prefetcher *prefetcher)
{
    prefetcher->nfollowed = 0;
}

/* Where a page is; behind the last one if it is not followed. */
static uint32_t place_of(const struct prefetcher *prefetcher, uint64_t page)
{
    uint32_t at = 0;
    while (at < prefetcher->nfollowed && prefetcher->followed[at].page != page)
        at++;
    return at;
}

int64_t prefetcher_follow(struct prefetcher *prefetcher, uint64_t line, uint32_t in_page)
{
    struct followed *followed = prefetcher->followed;
    uint64_t page = line >> in_page;
    uint32_t at = place_of(prefetcher, page);
    uint64_t last = at < prefetcher->nfollowed ? followed[at].line : line;
    if (at == prefetcher->nfollowed && prefetcher->nfollowed < prefetcher->most)
        prefetcher->nfollowed++;
    if (at == prefetcher->nfollowed)
        at--; /* the one that missed longest ago has to go */
    for (; at > 0; at--)
        followed[at] = followed[at - 1];
    followed[0] = (struct followed){.page = page, .line = line};
    return (line > last) - (line < last);
}
