/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prefetchers: next-line, adjacent, stride, stream. */
#include "prefetch.h"

/* Up to `degree` lines ahead in steps, as far as the page goes. */
static uint32_t ahead(const struct prefetch_access *access, int64_t step, uint32_t degree,
                      int64_t lines[PREFETCH_LINES])
{
    uint32_t n = 0;
    for (int64_t line = access->line + step;
         n < degree && n < PREFETCH_LINES && line >= 0 && line < access->lines; line += step)
        lines[n++] = line;
    return n;
}

static uint32_t next_line(struct prefetcher *prefetcher, const struct prefetch_access *access,
                          int64_t lines[PREFETCH_LINES])
{
    return access->missed ? ahead(access, 1, prefetcher->degree, lines) : 0;
}

static uint32_t adjacent(struct prefetcher *prefetcher, const struct prefetch_access *access,
                         int64_t lines[PREFETCH_LINES])
{
    (void)prefetcher;
    if (!access->missed || (access->line ^ 1) >= access->lines)
        return 0;
    lines[0] = access->line ^ 1;
    return 1;
}

/* What is known of a page; a page seen for the first time replaces the one that was
 * used longest ago, and has the line of this access as its last. */
static struct prefetch_page *page_of(struct prefetcher *prefetcher,
                                     const struct prefetch_access *access)
{
    struct prefetch_page *found = &prefetcher->pages[0];
    for (int i = 0; i < PREFETCH_PAGES && found->page != access->page; i++) {
        struct prefetch_page *page = &prefetcher->pages[i];
        if (page->page == access->page || page->used < found->used)
            found = page;
    }
    if (found->page != access->page)
        *found = (struct prefetch_page){.page = access->page, .line = access->line};
    found->used = ++prefetcher->clock;
    return found;
}

static uint32_t stride(struct prefetcher *prefetcher, const struct prefetch_access *access,
                       int64_t lines[PREFETCH_LINES])
{
    struct prefetch_page *page = page_of(prefetcher, access);
    int64_t step = access->line - page->line;
    if (step == 0) /* the same line again says nothing */
        return 0;
    bool steady = step == page->step;
    page->step = step;
    page->line = access->line;
    return steady && access->missed ? ahead(access, step, prefetcher->degree, lines) : 0;
}

static uint32_t stream(struct prefetcher *prefetcher, const struct prefetch_access *access,
                       int64_t lines[PREFETCH_LINES])
{
    struct prefetch_page *page = page_of(prefetcher, access);
    int64_t step = access->line - page->line;
    page->line = access->line;
    if ((step != 1 && step != -1) || !access->missed)
        return 0;
    return ahead(access, step, prefetcher->degree, lines);
}

static const struct {
    const char *name;
    uint32_t (*observe)(struct prefetcher *, const struct prefetch_access *,
                        int64_t lines[PREFETCH_LINES]);
} kinds[PREFETCHERS] = {
    [STRATA_PREFETCH_NONE] = {"none", 0},
    [STRATA_PREFETCH_NEXT_LINE] = {"next-line", next_line},
    [STRATA_PREFETCH_ADJACENT] = {"adjacent", adjacent},
    [STRATA_PREFETCH_STRIDE] = {"stride", stride},
    [STRATA_PREFETCH_STREAM] = {"stream", stream},
};

void prefetcher_init(struct prefetcher *prefetcher, uint32_t kind, uint32_t degree)
{
    prefetcher->kind = kind < PREFETCHERS ? kind : STRATA_PREFETCH_NONE;
    prefetcher->degree = degree;
    prefetcher_clear(prefetcher);
}

void prefetcher_clear(struct prefetcher *prefetcher)
{
    prefetcher->clock = 0;
    for (int i = 0; i < PREFETCH_PAGES; i++)
        prefetcher->pages[i] = (struct prefetch_page){.page = UINT64_MAX};
}

uint32_t prefetcher_observe(struct prefetcher *prefetcher,
                            const struct prefetch_access *access,
                            int64_t lines[PREFETCH_LINES])
{
    return kinds[prefetcher->kind].observe
               ? kinds[prefetcher->kind].observe(prefetcher, access, lines)
               : 0;
}
