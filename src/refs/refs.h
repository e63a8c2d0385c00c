/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reference strings: access patterns, each of which elicits one behaviour of a memory
 * hierarchy (Cooper and Sandoval 2011, section IV).
 *
 * A string is a ring of byte offsets into an arena, in the order of the visits. It
 * knows nothing of clocks, pointers or counters: a runner lays it out in memory and
 * walks it, or feeds it to a simulated machine.
 *
 * Every generator is seeded by the caller's random numbers, visits in a random order
 * (a prefetcher must not guess the next one), starts at a page boundary and needs
 * O(n) time. They all return 0, or -1 when out of memory or outside the arena. */
#ifndef REFS_REFS_H
#define REFS_REFS_H

#include "core/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct refs {
    size_t n, capacity;
    uint64_t *at;   /* n offsets */
    bool ramp;      /* to be warmed up by walks of growing length, each from the start */
    size_t timed;   /* visits at the start of each lap that count; 0: all do */
    size_t again;   /* visits at the end of a lap to lines that were visited before in it */
    bool brief;     /* of those that are timed, few are enough: much is to be told apart */
    bool no_memory; /* why it could not be built: else there is no room or no such string */
};

/* Where strings may lie. `line` is the spacing of references that are meant to touch
 * different lines: the L1 line, or a guess. */
struct ground {
    uint64_t page, bytes, line;
};

void refs_release(struct refs *refs);

/* Gap string G(n, k, o): n locations k bytes apart, the last one o bytes further. When k
 * is a cache's way size, all fall into one set, and n > ways misses; when o reaches the
 * line size, the last one moves to the next set and the misses end. */
int refs_gap(struct refs *refs, const struct ground *ground, struct rng *rng, size_t n,
             uint64_t k, uint64_t o);

/* The gap string's control: the same pages visited as often, but at lines that fall into
 * different sets. What G costs more than this is due to the sets of a cache, not to a TLB.
 */
int refs_gap_control(struct refs *refs, const struct ground *ground, struct rng *rng,
                     size_t n, uint64_t k);

/* Gap string under pressure: after each of the n locations of G(n, k, o), m others that
 * share its set in a smaller cache whose way size is `inner`, but not in one whose way size
 * is `way`, a multiple of that and a divisor of k. So what was visited is driven out of the
 * smaller cache at once, the last one too: its others are moved by o with it. */
int refs_gap_pressed(struct refs *refs, const struct ground *ground, struct rng *rng,
                     size_t n, uint64_t k, uint64_t o, size_t m, uint64_t inner,
                     uint64_t way);

/* Cache-only string C(k): one location in each line of k contiguous bytes, `block` pages
 * at a time (block * page is rounded up to cover a partial end). Misses in a TLB are
 * spread over all the lines of a block; a larger block hides the order within a page
 * from prefetchers, but must fit the TLB. */
int refs_cache(struct refs *refs, const struct ground *ground, struct rng *rng, uint64_t k,
               size_t block);

/* Sparse string S(k): like C(k), but only every `skip`th line, at an offset that differs
 * from page to page so that all sets are used: a prefetched neighbour is never wanted.
 * k counts the lines touched times the line size. */
int refs_sparse(struct refs *refs, const struct ground *ground, struct rng *rng, uint64_t k,
                size_t skip, size_t block);

/* Sparse string under pressure: the first quarter of S(k) counts, or the first 8192 visits:
 * a clock needs no more, and nothing should come between. The rest is visited `laps` times
 * after it, at another word of its lines each time. So what counts is driven out of every
 * level that is smaller than the rest, also where chance decides what to replace. `laps` is
 * at most 4, because a line may have no more words than that. */
int refs_sparse_pressed(struct refs *refs, const struct ground *ground, struct rng *rng,
                        uint64_t k, size_t skip, size_t block, size_t laps);

/* TLB string T(n, pages): n lines in each of `pages` contiguous pages, spread evenly over
 * the lines of a page, in random order of all references. */
int refs_tlb(struct refs *refs, const struct ground *ground, struct rng *rng, size_t n,
             size_t pages);

/* The TLB string's control: n lines, as T(1, n) has, folded into fewer pages that are
 * visited in the same order again and again, so that none is visited soon after itself.
 * What T costs more than this is due to its pages. */
int refs_folded(struct refs *refs, const struct ground *ground, struct rng *rng, size_t n,
                size_t pages);

/* TLB gap string: `n` pages that are `stride` pages apart, in each of `groups` neighbouring
 * such rows, one line each: n > ways misses in a TLB whose sets divide `stride`. */
int refs_tlb_gap(struct refs *refs, const struct ground *ground, struct rng *rng, size_t n,
                 size_t stride, size_t groups);

/* Scattered TLB string: a line in each of `n` pages, which are chosen by chance: the ground
 * is cut into n even parts, and each has one. So they fill the sets of a TLB unevenly,
 * whatever its index is, and a TLB without sets as pages side by side do. In their place
 * among `keep` neighbours they are as these. At least two choices a page, or it fails. */
int refs_scattered(struct refs *refs, const struct ground *ground, struct rng *rng,
                   size_t n, size_t keep);

/* Line size string L(n, s): pattern A is the first word of every even stripe of s bytes in
 * one run of pages of n bytes, pattern B that of every odd stripe in a second such run; all
 * of A is visited, then all of B. While s is below the line size, they need every line of
 * 2n bytes; from then on each leaves holes into which the other fits, and n bytes do.
 * A stripe may have several visits, s bytes apart each, and is then that much wider. All
 * of it may be moved by `shift` bytes, so that stripes begin in the middle of lines: then
 * both patterns need these. With `together`, B has the even stripes, too: then both need
 * the same sets throughout. Visits are random within `block` pages, as those of C(k). It is
 * warmed up in growing parts, so that what fits drives out what was only prefetched. */
struct stripes {
    uint64_t s, shift;
    size_t visits; /* in a stripe */
    bool together;
};
int refs_line(struct refs *refs, const struct ground *ground, struct rng *rng, uint64_t n,
              const struct stripes *stripes, size_t block);

/* Pair string P(chunks, d): chunks of 2d bytes in random order, each visited at its start
 * and, if `both`, at once again d bytes further. That second visit is cheap while d is
 * within what the first one brought in. */
int refs_pair(struct refs *refs, const struct ground *ground, struct rng *rng,
              size_t chunks, uint64_t d, bool both);

/* Eviction string: lines of blocks of memory, in each the same ones, `lines` of them and
 * `apart` bytes from each other. First those of the blocks `timed`, which count; then those
 * of `set`, moved by `shift` bytes; then those of `press`. No block may be in two of them,
 * or twice in one. */
struct blocks {
    const uint64_t *at;
    size_t n;
};
struct eviction {
    struct blocks timed, set, press;
    size_t lines;
    uint64_t apart, shift;
};
int refs_eviction(struct refs *refs, const struct ground *ground, struct rng *rng,
                  const struct eviction *eviction);

/* Shuffles p[0..n). */
void refs_shuffle(uint64_t *p, size_t n, struct rng *rng);

#endif
