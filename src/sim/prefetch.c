/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prefetchers: next-line, adjacent, stride, stream. Each says in which steps to go on
 * from a line that missed; 0: not at all. */
#include "prefetch.h"

static int32_t next_line(struct prefetcher *prefetcher, uint64_t page, int32_t line)
{
    (void)prefetcher, (void)page, (void)line;
    return 1;
}

static int32_t adjacent(struct prefetcher *prefetcher, uint64_t page, int32_t line)
{
    (void)prefetcher, (void)page;
    return (line ^ 1) - line;
}

static int32_t stride(struct prefetcher *prefetcher, uint64_t page, int32_t line)
{
    const struct prefetch_page *known = prefetcher_train(prefetcher, page, line);
    return known && known->step == known->before ? known->step : 0;
}

static int32_t stream(struct prefetcher *prefetcher, uint64_t page, int32_t line)
{
    const struct prefetch_page *known = prefetcher_train(prefetcher, page, line);
    return known && (known->step == 1 || known->step == -1) ? known->step : 0;
}

static const struct {
    const char *name;
    int32_t (*step)(struct prefetcher *prefetcher, uint64_t page, int32_t line);
    bool trains;
    uint32_t most; /* lines at a time */
} kinds[PREFETCHERS] = {
    [STRATA_PREFETCH_NONE] = {"none", 0, false, 0},
    [STRATA_PREFETCH_NEXT_LINE] = {"next-line", next_line, false, PREFETCH_LINES},
    [STRATA_PREFETCH_ADJACENT] = {"adjacent", adjacent, false, 1},
    [STRATA_PREFETCH_STRIDE] = {"stride", stride, true, PREFETCH_LINES},
    [STRATA_PREFETCH_STREAM] = {"stream", stream, true, PREFETCH_LINES},
};

void prefetcher_init(struct prefetcher *prefetcher, uint32_t kind, uint32_t degree)
{
    prefetcher->kind = kind;
    prefetcher->degree = degree < kinds[kind].most ? degree : kinds[kind].most;
    prefetcher->trains = kinds[kind].trains;
    prefetcher_clear(prefetcher);
}

void prefetcher_clear(struct prefetcher *prefetcher)
{
    for (int i = 0; i < PREFETCH_PAGES; i++)
        prefetcher->pages[i] = (struct prefetch_page){.page = UINT64_MAX};
}

uint32_t prefetcher_miss(struct prefetcher *prefetcher, uint64_t page, int32_t line,
                         int32_t in_page, int32_t lines[PREFETCH_LINES])
{
    uint32_t n = 0;
    int32_t step = kinds[prefetcher->kind].step(prefetcher, page, line);
    if (step == 0)
        return 0;
    for (line += step; n < prefetcher->degree && line >= 0 && line < in_page; line += step)
        lines[n++] = line;
    return n;
}
