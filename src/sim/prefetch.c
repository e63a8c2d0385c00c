/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prefetchers: making and emptying them. What an access does is inlined from prefetch.h. */
#include "prefetch.h"

enum { MOST_LINES = 64 /* at a time */ };

void prefetcher_init(struct prefetcher *prefetcher, const struct strata_prefetcher *from,
                     uint32_t in_page)
{
    uint32_t most = from->kind == STRATA_PREFETCH_ADJACENT ? 1 : MOST_LINES;
    prefetcher->kind = from->kind;
    prefetcher->degree = from->degree < most ? from->degree : most;
    prefetcher->trains =
        from->kind == STRATA_PREFETCH_STRIDE || from->kind == STRATA_PREFETCH_STREAM;
    prefetcher->in_page = in_page;
    prefetcher_clear(prefetcher);
}

void prefetcher_clear(struct prefetcher *prefetcher)
{
    for (int i = 0; i < PREFETCH_PAGES; i++)
        prefetcher->pages[i] = (struct prefetch_page){.line = UINT64_MAX};
}
