/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The quick path: an access that hits the first cache and the first TLB and straddles
 * nothing, in a few dozen instructions that can be inlined anywhere, or made by a
 * program that writes code (the last paragraphs say how).
 *
 *     struct sim_quick *quick = sim_quick_for(sim, SIM_LOAD, STRATA_INT);   once
 *     ...
 *     if (sim_quick(quick, address, size))
 *         hits++;                                  the result is *quick->result
 *     else
 *         result = sim_access_otherwise(sim, address, size, SIM_LOAD, STRATA_INT);
 *     ...
 *     sim_add_hits(sim, SIM_LOAD, STRATA_INT, hits);   before sim_counts(); hits = 0
 *
 * The effect is exactly that of sim_access() for each access. sim_quick() counts nothing:
 * who calls it knows how many accesses there were, and takes off those that went to
 * sim_access().
 *
 * Two tables say where something near was last seen. A slot leads to a way of an array,
 * which has its key and the stamp of its last visit:
 * - lines[slot of n]->key == n: line number n (address >> line_shift) is in the first cache
 *   of this path;
 * - pages[slot of n]->key == n: page number n (address >> page_shift) is a base page and in
 *   the first TLB, or there is no TLB.
 * (The slot of n is n + n / 2^(bits / 2) + n / 2^bits, modulo 2^bits: that keeps arrays
 * apart that are a power of two away from each other.)
 * What leaves the array, whatever the reason (eviction, inclusion, a prefetch, a flush,
 * huge pages), has its key there no more, so no table has to be told. A line or page that
 * is there need not be found by the table: sim_access() then finds it and puts it in.
 * Tables and ways stay where they are as long as the simulated machine does.
 *
 * The order in which ways were visited is known by stamps, not by a list: a visit writes
 * the next value of one clock to the way's own stamp, and whatever wants a victim looks
 * for the oldest stamp (LRU) or follows them down the tree (PLRU: a node leads away from
 * the half with the newest). Under FIFO and random, and for pages without a TLB, a visit
 * means nothing, and nobody reads the stamp. So no access needs a branch by policy. The
 * clock goes in steps of 16, which leaves room for the number of a way.
 *
 * Where the first cache has a prefetcher that learns from hits, trails is its memory: by
 * page number % SIM_QUICK_TRAILS, the last line visited and the other line that was
 * visited last before it. Else it is NULL.
 *
 * To write code for it, do the same with constants:
 *
 *     line = address >> line_shift
 *     number = address >> page_shift
 *     way  = load(lines + ((line * 0x104100 & 0xffffffff) >> 20) * 8)
 *     page = load(pages + ((number * 0x421000 & 0xffffffff) >> 22) * 8)
 *     hit  = (load(way) == line) & (load(page) == number)
 *            & ((address + size - 1) >> line_shift == line)
 *     if hit:  now = load(clock) + 16;  store(clock, now)
 *              store(way + 8, now);  store(page + 8, now)
 *     and where trails is not NULL:
 *              trail = trails + (number & 63) * 16
 *              last = load(trail)
 *              if last != line: store(trail + 8, last), store(trail, line)
 *
 * Stores may be left out only together with all that the hit stands for; without a hit,
 * nothing may be stored. The clock must grow from one access to the next and must not be
 * set back. */
#ifndef SIM_QUICK_H
#define SIM_QUICK_H

#include <stdbool.h>

#include "sim.h"

enum {
    SIM_LINE_BITS = 12, /* log2 of the slots of a table */
    SIM_PAGE_BITS = 10,
    SIM_HUGE_BITS = 6,
    SIM_QUICK_LINES = 1 << SIM_LINE_BITS,
    SIM_QUICK_PAGES = 1 << SIM_PAGE_BITS,
    SIM_QUICK_HUGE = 1 << SIM_HUGE_BITS,
    SIM_QUICK_TRAILS = 64,
    SIM_QUICK_TICK = 16
};

#define SIM_QUICK_NONE    UINT64_MAX          /* no key */
#define SIM_QUICK_NOWHERE (UINT64_C(1) << 63) /* far from every line number */

/* A way of an array that is near. */
struct sim_way {
    uint64_t key;   /* SIM_QUICK_NONE: it holds nothing */
    uint64_t stamp; /* of its last visit */
};

struct sim_trail {
    uint64_t line, before; /* SIM_QUICK_NOWHERE: none yet */
};

struct sim_quick {
    struct sim_way *lines[SIM_QUICK_LINES], *pages[SIM_QUICK_PAGES];
    uint64_t *clock;          /* the stamp of the last visit */
    struct sim_trail *trails; /* NULL: nothing learns from hits */
    uint32_t line_shift, page_shift;
    const struct sim_result *result; /* of every such access */
    /* The same for huge pages, by number and with the mark of their keys. sim_access()
     * uses it; sim_quick() does not, because their hits count otherwise. */
    uint32_t huge_shift;
    uint64_t huge_mark;
    struct sim_way *huge[SIM_QUICK_HUGE];
    struct sim_way nothing; /* where slots lead that lead nowhere */
    /* Where there is no TLB, the ways that pages are in. */
    struct sim_way without[SIM_QUICK_PAGES], huge_without[SIM_QUICK_HUGE];
};

/* The tables for accesses of a kind; some kinds share theirs. They live as long as the
 * simulated machine. */
struct sim_quick *sim_quick_for(struct sim *sim, enum sim_op op, enum strata_types type);

/* As sim_access(), for one for which sim_quick() returned false just now. The result is
 * valid until the next access. */
const struct sim_result *sim_access_otherwise(struct sim *sim, uint64_t address,
                                              uint32_t size, enum sim_op op,
                                              enum strata_types type);

/* Counts n accesses for which sim_quick() returned true. */
void sim_add_hits(struct sim *sim, enum sim_op op, enum strata_types type, uint64_t n);

/* Where a key is in a table of 2^bits slots. Neighbours are never in the same one. */
static inline uint64_t sim_slot_of(uint64_t key, uint32_t bits)
{
    uint32_t above = 32 - bits; /* what is above them is lost in the product */
    uint32_t times = UINT32_C(1) << above | UINT32_C(1) << (above - bits / 2) |
                     UINT32_C(1) << (above - bits);
    return (uint32_t)key * times >> above;
}

/* Notes a visit of a line. Without a branch: whether the line is another one than last
 * time is as good as random in many programs. */
static inline void sim_trail_visit(struct sim_trail *trails, uint64_t page, uint64_t line)
{
    struct sim_trail *trail = &trails[page % SIM_QUICK_TRAILS];
    uint64_t last = trail->line, before = trail->before;
    trail->before = last == line ? before : last;
    trail->line = line;
}

/* Notes a visit of both ways. */
static inline void sim_quick_visit(struct sim_quick *quick, struct sim_way *line,
                                   struct sim_way *page)
{
    uint64_t now = *quick->clock + SIM_QUICK_TICK;
    *quick->clock = now;
    line->stamp = now;
    page->stamp = now;
}

/* As sim_quick(), with what it would look up: where these are constants, it is shorter.
 * `learns`: trails need not be NULL. */
static inline __attribute__((always_inline)) bool
sim_quick_with(struct sim_quick *quick, uint64_t address, uint32_t size,
               uint32_t line_shift, uint32_t page_shift, bool learns)
{
    uint64_t first = address >> line_shift, page = address >> page_shift;
    uint64_t last = (address + size - 1) >> line_shift;
    struct sim_way *line_way = quick->lines[sim_slot_of(first, SIM_LINE_BITS)];
    struct sim_way *page_way = quick->pages[sim_slot_of(page, SIM_PAGE_BITS)];
    if (line_way->key != first || page_way->key != page || first != last)
        return false;
    sim_quick_visit(quick, line_way, page_way);
    if (learns && quick->trails)
        sim_trail_visit(quick->trails, page, first);
    return true;
}

/* Does an access of `size` bytes (1..64) if it hits the first cache and the first TLB on a
 * base page and straddles nothing, as far as the tables know; says whether it did. If
 * not, nothing has changed, and the access is one for sim_access(). */
static inline bool sim_quick(struct sim_quick *quick, uint64_t address, uint32_t size)
{
    return sim_quick_with(quick, address, size, quick->line_shift, quick->page_shift, true);
}

#endif
