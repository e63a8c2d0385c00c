/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prefetchers: making them. What an access does is inlined from prefetch.h. */
#include "prefetch.h"

enum { MOST_LINES = 64 /* at a time */ };

void prefetcher_init(struct prefetcher *prefetcher, const struct strata_prefetcher *from)
{
    uint32_t most = from->kind == STRATA_PREFETCH_ADJACENT ? 1 : MOST_LINES;
    prefetcher->kind = from->kind;
    prefetcher->degree = from->degree < most ? from->degree : most;
    prefetcher->trains =
        from->kind == STRATA_PREFETCH_STRIDE || from->kind == STRATA_PREFETCH_STREAM;
}
