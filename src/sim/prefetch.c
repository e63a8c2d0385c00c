/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prefetchers: next-line, adjacent, stride, stream. Each says in which steps to go on
 * from a line that missed; 0: not at all. */
#include "prefetch.h"

static int32_t next_line(struct prefetcher *prefetcher, uint64_t line)
{
    (void)prefetcher, (void)line;
    return 1;
}

static int32_t adjacent(struct prefetcher *prefetcher, uint64_t line)
{
    (void)prefetcher;
    return line & 1 ? -1 : 1;
}

static int32_t stride(struct prefetcher *prefetcher, uint64_t line)
{
    const struct prefetch_page *known = prefetcher_train(prefetcher, line);
    return known && known->step == known->before ? known->step : 0;
}

static int32_t stream(struct prefetcher *prefetcher, uint64_t line)
{
    const struct prefetch_page *known = prefetcher_train(prefetcher, line);
    return known && (known->step == 1 || known->step == -1) ? known->step : 0;
}

static const struct {
    int32_t (*step)(struct prefetcher *prefetcher, uint64_t line);
    bool trains;
    uint32_t most; /* lines at a time */
} kinds[PREFETCHERS] = {
    [STRATA_PREFETCH_NEXT_LINE] = {next_line, false, PREFETCH_LINES},
    [STRATA_PREFETCH_ADJACENT] = {adjacent, false, 1},
    [STRATA_PREFETCH_STRIDE] = {stride, true, PREFETCH_LINES},
    [STRATA_PREFETCH_STREAM] = {stream, true, PREFETCH_LINES},
};

void prefetcher_init(struct prefetcher *prefetcher, const struct strata_prefetcher *from,
                     uint32_t in_page)
{
    uint32_t most = kinds[from->kind].most;
    prefetcher->kind = from->kind;
    prefetcher->degree = from->degree < most ? from->degree : most;
    prefetcher->trains = kinds[from->kind].trains;
    prefetcher->in_page = in_page;
    prefetcher_clear(prefetcher);
}

void prefetcher_clear(struct prefetcher *prefetcher)
{
    for (int i = 0; i < PREFETCH_PAGES; i++)
        prefetcher->pages[i] = (struct prefetch_page){.line = UINT64_MAX};
}

uint32_t prefetcher_miss(struct prefetcher *prefetcher, uint64_t line,
                         uint64_t lines[PREFETCH_LINES])
{
    uint64_t page = line >> prefetcher->in_page;
    int32_t step = kinds[prefetcher->kind].step(prefetcher, line);
    uint32_t n = 0;
    if (step == 0)
        return 0;
    while (n < prefetcher->degree) {
        line += (uint64_t)(int64_t)step;
        if (line >> prefetcher->in_page != page)
            break;
        lines[n++] = line;
    }
    return n;
}
