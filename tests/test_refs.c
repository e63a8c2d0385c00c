/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reference strings: what each of them visits, in which order, and how it uses the
 * sets of a cache. That they provoke what they promise is shown in test_runner.c. */
#include "refs/refs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PAGE = 4096, LINE = 64, LINES = PAGE / LINE };

static const struct ground roomy = {.page = PAGE, .bytes = 64 << 20, .line = LINE};

/* Every generator once, with the number of visits, of different places, and the pages that
 * it needs. */
static int gap(struct refs *r, const struct ground *g, struct rng *rng)
{
    return refs_gap(r, g, rng, 9, PAGE, LINE);
}

static int gap_control(struct refs *r, const struct ground *g, struct rng *rng)
{
    return refs_gap_control(r, g, rng, 9, PAGE);
}

static int gap_pressed(struct refs *r, const struct ground *g, struct rng *rng)
{
    return refs_gap_pressed(r, g, rng, 5, 4 * PAGE, LINE, 8, PAGE, 4 * PAGE);
}

static int cache(struct refs *r, const struct ground *g, struct rng *rng)
{
    return refs_cache(r, g, rng, 5 * PAGE + PAGE / 2, 2);
}

static int sparse(struct refs *r, const struct ground *g, struct rng *rng)
{
    return refs_sparse(r, g, rng, 3 * PAGE, 4, 2);
}

static int sparse_pressed(struct refs *r, const struct ground *g, struct rng *rng)
{
    return refs_sparse_pressed(r, g, rng, 3 * PAGE, 4, 2, 3);
}

static int tlb(struct refs *r, const struct ground *g, struct rng *rng)
{
    return refs_tlb(r, g, rng, 3, 10);
}

static int folded(struct refs *r, const struct ground *g, struct rng *rng)
{
    return refs_folded(r, g, rng, 21, 11);
}

static int tlb_gap(struct refs *r, const struct ground *g, struct rng *rng)
{
    return refs_tlb_gap(r, g, rng, 5, 8, 2);
}

static int line(struct refs *r, const struct ground *g, struct rng *rng)
{
    struct stripes stripes = {.s = 256, .visits = 1};
    return refs_line(r, g, rng, 2 * PAGE + 100, &stripes, 2);
}

static int pair(struct refs *r, const struct ground *g, struct rng *rng)
{
    return refs_pair(r, g, rng, 40, 256, true);
}

static int single(struct refs *r, const struct ground *g, struct rng *rng)
{
    return refs_pair(r, g, rng, 40, 256, false);
}

static const struct generator {
    const char *name;
    int (*build)(struct refs *refs, const struct ground *ground, struct rng *rng);
    size_t visits, places;
    uint64_t pages;
    bool ramp;
} generators[] = {
    {"gap", gap, 9, 9, 10, false},
    {"gap control", gap_control, 9, 9, 10, false},
    {"gap under pressure", gap_pressed, 45, 21, 33, false},
    {"cache", cache, 352, 352, 6, false},
    {"sparse", sparse, 192, 192, 12, false},
    {"sparse under pressure", sparse_pressed, 480, 480, 12, false},
    {"tlb", tlb, 30, 30, 10, false},
    {"folded", folded, 21, 21, 11, false},
    {"tlb gap", tlb_gap, 10, 10, 34, false},
    {"line", line, 48, 48, 6, true},
    {"pair", pair, 80, 80, 5, false},
    {"first of a pair", single, 40, 40, 5, false},
};
enum { GENERATORS = sizeof generators / sizeof *generators };

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The offsets in ascending order, each once. Caller frees. */
static uint64_t *places(const struct refs *refs, size_t *n)
{
    uint64_t *sorted = malloc(refs->n * sizeof *sorted);
    assert_non_null(sorted);
    memcpy(sorted, refs->at, refs->n * sizeof *sorted);
    qsort(sorted, refs->n, sizeof *sorted, by_value);
    *n = 0;
    for (size_t i = 0; i < refs->n; i++)
        if (i == 0 || sorted[i] != sorted[*n - 1])
            sorted[(*n)++] = sorted[i];
    return sorted;
}

static uint64_t start_of(const struct refs *refs)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < refs->n; i++)
        least = refs->at[i] < least ? refs->at[i] : least;
    return least;
}

/* The string must visit so many different places. */
static void assert_places(const struct refs *refs, size_t wanted)
{
    size_t n;
    free(places(refs, &n));
    assert_int_equal(n, wanted);
}

static void counts_and_places(void **state)
{
    (void)state;
    for (size_t i = 0; i < GENERATORS; i++) {
        const struct generator *g = &generators[i];
        struct refs refs = {0};
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct rng rng = {seed};
            assert_int_equal(g->build(&refs, &roomy, &rng), 0);
            assert_int_equal(refs.n, g->visits);
            assert_places(&refs, g->places);
            assert_int_equal(refs.ramp, g->ramp);
            assert_int_equal(start_of(&refs) % PAGE, 0);
            for (size_t j = 0; j < refs.n; j++) {
                assert_int_equal(refs.at[j] % sizeof(void *), 0);
                assert_true(refs.at[j] < roomy.bytes);
            }
        }
        refs_release(&refs);
        assert_null(refs.at);
    }
}

static void fits_exactly_or_not_at_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < GENERATORS; i++) {
        const struct generator *g = &generators[i];
        struct ground ground = {.page = PAGE, .bytes = g->pages * PAGE, .line = LINE};
        struct refs refs = {0};
        struct rng rng = {1};
        assert_int_equal(g->build(&refs, &ground, &rng), 0);
        assert_int_equal(start_of(&refs), 0);
        for (size_t j = 0; j < refs.n; j++)
            assert_true(refs.at[j] + sizeof(void *) <= ground.bytes);
        ground.bytes -= PAGE;
        assert_int_equal(g->build(&refs, &ground, &rng), -1);
        ground.bytes = 0;
        assert_int_equal(g->build(&refs, &ground, &rng), -1);
        refs_release(&refs);
    }
}

static bool same(const struct refs *a, const struct refs *b)
{
    return a->n == b->n && memcmp(a->at, b->at, a->n * sizeof *a->at) == 0;
}

static void a_seed_names_a_string(void **state)
{
    (void)state;
    for (size_t i = 0; i < GENERATORS; i++) {
        struct refs one = {0}, other = {0};
        struct rng first = {7}, again = {7};
        assert_int_equal(generators[i].build(&one, &roomy, &first), 0);
        assert_int_equal(generators[i].build(&other, &roomy, &again), 0);
        assert_true(same(&one, &other));
        /* The next one lies elsewhere. */
        assert_int_equal(generators[i].build(&other, &roomy, &again), 0);
        assert_int_not_equal(start_of(&other), start_of(&one));
        refs_release(&one);
        refs_release(&other);
    }
}

/* Offsets from the start, so that strings at different places can be compared. */
static void from_start(struct refs *refs)
{
    uint64_t start = start_of(refs);
    for (size_t i = 0; i < refs->n; i++)
        refs->at[i] -= start;
}

static void the_order_differs_from_string_to_string(void **state)
{
    (void)state;
    for (size_t i = 0; i < GENERATORS; i++) {
        struct refs one = {0}, other = {0};
        struct rng rng = {7};
        assert_int_equal(generators[i].build(&one, &roomy, &rng), 0);
        assert_int_equal(generators[i].build(&other, &roomy, &rng), 0);
        from_start(&one);
        from_start(&other);
        assert_false(same(&one, &other));
        refs_release(&one);
        refs_release(&other);
    }
}

static void shuffles_evenly(void **state)
{
    (void)state;
    enum { N = 5, ROUNDS = 5000 };
    int count[N][N] = {{0}};
    struct rng rng = {3};
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t p[N] = {0, 1, 2, 3, 4};
        refs_shuffle(p, N, &rng);
        for (int i = 0; i < N; i++)
            count[i][p[i]]++;
    }
    /* 1000 each, with a standard deviation of 28. */
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            assert_in_range(count[i][j], 860, 1140);
    refs_shuffle(NULL, 0, &rng);
}

static void gap_is_even_but_for_the_last(void **state)
{
    (void)state;
    struct refs refs = {0};
    struct rng rng = {1};
    static const uint64_t gaps[] = {256, 3072, PAGE, 5 * PAGE}, offsets[] = {0, 8, LINE};
    for (size_t k = 0; k < 4; k++)
        for (size_t o = 0; o < 3; o++) {
            size_t n;
            assert_int_equal(refs_gap(&refs, &roomy, &rng, 12, gaps[k], offsets[o]), 0);
            uint64_t *at = places(&refs, &n);
            assert_int_equal(n, 12);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(at[i] - at[0],
                                 i * gaps[k] + (i == n - 1 ? offsets[o] : 0));
            free(at);
        }
    refs_release(&refs);
}

/* Same pages as the gap string, but no two visits that share a set, as long as there are
 * columns of 128 bytes. */
static void gap_control_has_the_same_pages_and_other_sets(void **state)
{
    (void)state;
    enum { COLUMNS = PAGE / 128 };
    static const uint64_t gaps[] = {256, 3072, PAGE, 6 * PAGE};
    struct refs refs = {0};
    struct rng rng = {1};
    for (size_t k = 0; k < 4; k++) {
        size_t n, used[COLUMNS] = {0};
        assert_int_equal(refs_gap_control(&refs, &roomy, &rng, COLUMNS, gaps[k]), 0);
        uint64_t start = start_of(&refs), pages[COLUMNS];
        for (size_t i = 0; i < refs.n; i++) {
            used[(refs.at[i] - start) % PAGE / 128]++;
            pages[i] = (refs.at[i] - start) / PAGE;
        }
        qsort(pages, refs.n, sizeof *pages, by_value);
        for (size_t i = 0; i < COLUMNS; i++) {
            assert_int_equal(used[i], 1);
            assert_int_equal(pages[i], i * gaps[k] / PAGE);
        }
        free(places(&refs, &n));
        assert_int_equal(n, COLUMNS);
    }
    refs_release(&refs);
}

/* The pressure lines share the set of the ring in the smaller cache and not in the larger
 * one; they follow every visit of the ring. */
static void pressure_is_on_the_inner_set_only(void **state)
{
    (void)state;
    enum { N = 9, M = 16 };
    const uint64_t way = 32 << 10, inner = 4 << 10;
    struct refs refs = {0};
    struct rng rng = {1};
    for (uint64_t times = 1; times <= 3; times++) {
        uint64_t k = times * way;
        assert_int_equal(refs_gap_pressed(&refs, &roomy, &rng, N, k, 0, M, inner, way), 0);
        uint64_t start = start_of(&refs);
        for (size_t i = 0; i < refs.n; i++) {
            uint64_t at = refs.at[i] - start;
            bool ring = i % (M + 1) == 0;
            assert_int_equal(at % inner, 0);
            assert_int_equal(at % way == 0, ring);
            assert_true(!ring || (at % k == 0 && at < N * k));
        }
        assert_places(&refs, N + M);
    }
    refs_release(&refs);
}

static void pressure_moves_the_last_and_needs_a_divisor(void **state)
{
    (void)state;
    struct refs refs = {0};
    struct rng rng = {1};
    size_t moved = 0, others = 0;
    assert_int_equal(
        refs_gap_pressed(&refs, &roomy, &rng, 9, 64 << 10, 192, 8, PAGE, 64 << 10), 0);
    uint64_t start = start_of(&refs);
    for (size_t i = 0; i < refs.n; i++) {
        moved += i % 9 == 0 && (refs.at[i] - start) % (64 << 10) == 192;
        others += i % 9 && (refs.at[i] - start) % PAGE == 192;
    }
    assert_int_equal(moved, 1);
    assert_int_equal(others, 8); /* those that follow it */
    static const struct {
        uint64_t k, way;
    } impossible[] = {{6 << 10, 6 << 10}, {PAGE, PAGE}, {12 << 10, 8 << 10}};
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++)
        assert_int_equal(refs_gap_pressed(&refs, &roomy, &rng, 9, impossible[i].k, 0, 8,
                                          PAGE, impossible[i].way),
                         -1);
    refs_release(&refs);
}

/* All lines of k bytes, block by block, at random within a block. */
static void assert_cache_string(const struct ground *ground, uint64_t k, size_t block)
{
    struct refs refs = {0};
    struct rng rng = {5};
    size_t n, changes = 0, falls = 0;
    uint64_t bytes = block * ground->page;
    assert_int_equal(refs_cache(&refs, ground, &rng, k, block), 0);
    assert_int_equal(refs.n, k / ground->line);
    uint64_t *at = places(&refs, &n);
    assert_int_equal(n, refs.n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(at[i] - at[0], i * ground->line);
    for (size_t i = 1; i < n; i++) {
        changes += (refs.at[i] - at[0]) / bytes != (refs.at[i - 1] - at[0]) / bytes;
        falls += refs.at[i] < refs.at[i - 1];
    }
    assert_int_equal(changes, (k + bytes - 1) / bytes - 1);
    assert_in_range(falls, n / 4, 3 * n / 4);
    free(at);
    refs_release(&refs);
}

static void cache_string_visits_every_line_once(void **state)
{
    (void)state;
    const struct ground large = {.page = 64 << 10, .bytes = 64 << 20, .line = 128};
    assert_cache_string(&roomy, PAGE, 1);
    assert_cache_string(&roomy, 1024, 8);
    assert_cache_string(&roomy, 40 * PAGE, 8);
    assert_cache_string(&roomy, 41 * PAGE + 512, 8);
    assert_cache_string(&large, 2 << 20, 8);
    assert_cache_string(&large, (2 << 20) + 4096, 3);
    struct refs refs = {0};
    struct rng rng = {1};
    assert_int_equal(refs_cache(&refs, &roomy, &rng, LINE - 1, 8), -1);
    refs_release(&refs);
}

/* How often each of `sets` sets is visited: all equally often. */
static void assert_even(const struct refs *refs, size_t sets)
{
    size_t *visits = calloc(sets, sizeof *visits);
    assert_non_null(visits);
    for (size_t i = 0; i < refs->n; i++)
        visits[refs->at[i] / LINE % sets]++;
    for (size_t i = 0; i < sets; i++)
        assert_int_equal(visits[i], refs->n / sets);
    free(visits);
}

/* A cache may take some low bits of the page number into its index: none, one, … */
static void sparse_string_fills_sets_evenly(void **state)
{
    (void)state;
    struct refs refs = {0};
    struct rng rng = {1};
    for (size_t skip = 2; skip <= 8; skip *= 2)
        for (size_t bits = 0; bits <= 4; bits++) {
            /* all digits above those of the fixed bits, once */
            uint64_t rows = skip;
            for (uint64_t least = 1; least < UINT64_C(1) << bits; least *= skip)
                rows *= skip;
            uint64_t k = rows * LINES / skip * LINE;
            assert_int_equal(refs_sparse(&refs, &roomy, &rng, k, skip, 8), 0);
            assert_int_equal(refs.n, rows * LINES / skip);
            assert_even(&refs, (size_t)LINES << bits);
        }
    refs_release(&refs);
}

/* However many pages a way has: of those that count and the rest, each line once. */
static void pressed_string_fills_all_sets_evenly(void **state)
{
    (void)state;
    static const size_t pages[] = {1, 2, 3, 4, 5, 8, 9, 11, 12, 13, 16};
    struct refs refs = {0};
    struct rng rng = {1};
    for (size_t skip = 1; skip <= 8; skip *= 2)
        for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
            uint64_t rows = 2 * skip * pages[i], k = rows * LINES / skip * LINE;
            assert_int_equal(refs_sparse_pressed(&refs, &roomy, &rng, k, skip, 8, 1), 0);
            assert_int_equal(refs.n, rows * LINES / skip);
            assert_even(&refs, LINES * pages[i]);
        }
    refs_release(&refs);
}

static void sparse_string_never_wants_a_neighbour(void **state)
{
    (void)state;
    struct refs refs = {0};
    struct rng rng = {1};
    size_t n;
    assert_int_equal(refs_sparse(&refs, &roomy, &rng, 64 * PAGE, 4, 8), 0);
    uint64_t *at = places(&refs, &n);
    assert_int_equal(n, 64 * LINES);
    for (size_t i = 1; i < n; i++)
        assert_true(at[i] / PAGE != at[i - 1] / PAGE || at[i] - at[i - 1] == 4 * LINE);
    free(at);
    refs_release(&refs);
}

/* What counts comes once, the rest in the same order again, at other words of its lines. */
static void pressure_comes_back_to_the_same_lines(void **state)
{
    (void)state;
    enum { VISITS = 192, TIMED = VISITS / 4, REST = VISITS - TIMED, LAPS = 3 };
    struct refs refs = {0};
    struct rng rng = {1};
    assert_int_equal(sparse_pressed(&refs, &roomy, &rng), 0);
    assert_int_equal(refs.timed, TIMED);
    assert_int_equal(refs.again, (LAPS - 1) * REST);
    assert_int_equal(refs.n, TIMED + LAPS * REST);
    for (size_t i = TIMED; i + REST < refs.n; i++) {
        assert_int_equal(refs.at[i] / LINE, refs.at[i + REST] / LINE);
        assert_true(refs.at[i] != refs.at[i + REST]);
    }
    for (size_t i = 0; i < refs.n; i++)
        refs.at[i] -= refs.at[i] % LINE;
    assert_places(&refs, VISITS);
    assert_int_equal(refs_sparse_pressed(&refs, &roomy, &rng, 768 * PAGE, 1, 8, 1), 0);
    assert_int_equal(refs.timed, 8192);
    assert_int_equal(refs.n, 768 * LINES);
    assert_int_equal(sparse(&refs, &roomy, &rng), 0);
    assert_int_equal(refs.timed, 0);
    assert_int_equal(refs.again, 0);
    refs_release(&refs);
}

/* First what counts; then twice the set, moved, and the pressure: every line of them once
 * in a pass, at a word of its own. */
static void eviction_string_visits_all_lines_of_blocks(void **state)
{
    (void)state;
    enum { APART = 4 * LINE, IN_BLOCK = 16, SHIFT = 2 * LINE };
    const uint64_t timed[] = {5 * PAGE}, set[] = {PAGE, 9 * PAGE, 2 * PAGE},
                   press[] = {0, 7 * PAGE};
    struct eviction e = {
        .timed = {timed, 1}, .set = {set, 3}, .press = {press, 2}, .lines = IN_BLOCK};
    e.passes = 2;
    struct refs refs = {0};
    struct rng rng = {1};
    e.apart = APART;
    e.shift = SHIFT;
    assert_int_equal(refs_eviction(&refs, &roomy, &rng, &e), 0);
    assert_int_equal(refs.timed, IN_BLOCK);
    assert_int_equal(refs.n, 11 * IN_BLOCK);
    assert_true(refs.brief);
    for (size_t i = 0; i < refs.n; i++) {
        bool first = i < IN_BLOCK;
        size_t j = first ? 0 : (i - IN_BLOCK) % (5 * IN_BLOCK);
        bool moved = !first && j < 3 * IN_BLOCK, pressed = !first && !moved;
        uint64_t page = refs.at[i] - refs.at[i] % PAGE;
        assert_int_equal(refs.at[i] % APART,
                         (moved ? SHIFT : 0) + (i >= 6 * IN_BLOCK ? sizeof(void *) : 0));
        assert_true(!first || page == 5 * PAGE);
        assert_true(!pressed || page == 0 || page == 7 * PAGE);
    }
    assert_places(&refs, 11 * IN_BLOCK);
    e.set.n = e.press.n = 0;
    assert_int_equal(refs_eviction(&refs, &roomy, &rng, &e), 0);
    assert_int_equal(refs.n, IN_BLOCK);
    const uint64_t outside[] = {roomy.bytes - PAGE / 2};
    e.set = (struct blocks){outside, 1};
    assert_int_equal(refs_eviction(&refs, &roomy, &rng, &e), -1);
    e.set.n = 0;
    e.shift = APART;
    assert_int_equal(refs_eviction(&refs, &roomy, &rng, &e), -1);
    assert_int_equal(sparse(&refs, &roomy, &rng), 0);
    assert_false(refs.brief);
    refs_release(&refs);
}

static void tlb_string_has_n_lines_in_every_page(void **state)
{
    (void)state;
    struct refs refs = {0};
    struct rng rng = {1};
    for (size_t lines = 1; lines <= 4; lines++) {
        size_t n;
        assert_int_equal(refs_tlb(&refs, &roomy, &rng, lines, 100), 0);
        uint64_t *at = places(&refs, &n);
        assert_int_equal(n, 100 * lines);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal((at[i] - at[0]) / PAGE, i / lines);
            assert_true(i % lines == 0 || at[i] - at[i - 1] >= LINES / lines * LINE);
        }
        free(at);
    }
    assert_int_equal(refs_tlb(&refs, &roomy, &rng, LINES, 3), 0);
    assert_places(&refs, 3 * LINES);
    assert_int_equal(refs_tlb(&refs, &roomy, &rng, LINES + 1, 3), -1);
    refs_release(&refs);
}

/* A level is full before any of its sets overflows. */
static void tlb_string_fills_sets_evenly(void **state)
{
    (void)state;
    struct refs refs = {0};
    struct rng rng = {1};
    for (size_t bits = 0; bits <= 4; bits++) {
        size_t sets = (size_t)LINES << bits;
        for (size_t ways = 1; ways <= 4; ways++) {
            assert_int_equal(refs_tlb(&refs, &roomy, &rng, 1, ways * sets), 0);
            assert_even(&refs, sets);
        }
        assert_int_equal(refs_tlb(&refs, &roomy, &rng, 2, sets), 0);
        assert_even(&refs, sets);
    }
    refs_release(&refs);
}

/* The least number of visits from one to a page to the next one to it, around the ring. */
static size_t soonest(const struct refs *refs)
{
    size_t least = refs->n;
    for (size_t i = 0; i < refs->n; i++)
        for (size_t d = 1; d < least; d++)
            if (refs->at[i] / PAGE == refs->at[(i + d) % refs->n] / PAGE)
                least = d;
    return least;
}

static void folded_string_visits_no_page_soon_again(void **state)
{
    (void)state;
    struct refs refs = {0};
    struct rng rng = {1};
    for (size_t pages = 1; pages <= 70; pages++)
        for (size_t rounds = 1; rounds <= 3; rounds++) {
            assert_int_equal(refs_folded(&refs, &roomy, &rng, rounds * pages, pages), 0);
            assert_int_equal(soonest(&refs), pages);
        }
    for (size_t pages = 2; pages <= 70; pages++) {
        assert_int_equal(refs_folded(&refs, &roomy, &rng, 2 * pages - 1, pages), 0);
        assert_true(soonest(&refs) >= pages - 1);
    }
    refs_release(&refs);
}

/* The control must take as much room in the caches as what it is compared with. */
static void folded_string_has_as_many_lines_as_visits(void **state)
{
    (void)state;
    struct refs refs = {0};
    struct rng rng = {1};
    for (size_t n = 2; n <= 8194; n += n < 1100 ? 1 : 59) {
        assert_int_equal(refs_folded(&refs, &roomy, &rng, n, (n + 1) / 2), 0);
        assert_places(&refs, n);
        assert_int_equal(refs.n, n);
    }
    assert_int_equal(refs_folded(&refs, &roomy, &rng, 8192, 4096), 0);
    assert_places(&refs, 8192);
    refs_release(&refs);
}

static void folded_string_fills_sets_evenly(void **state)
{
    (void)state;
    struct refs refs = {0};
    struct rng rng = {1};
    for (size_t bits = 0; bits <= 4; bits++) {
        size_t sets = (size_t)LINES << bits;
        for (size_t ways = 1; ways <= 4; ways++) {
            size_t n = ways * sets;
            assert_int_equal(refs_folded(&refs, &roomy, &rng, n, n / 2), 0);
            assert_even(&refs, sets);
        }
    }
    refs_release(&refs);
}

static void tlb_gap_has_rows_of_pages(void **state)
{
    (void)state;
    enum { N = 5, STRIDE = 16, GROUPS = 3 };
    struct refs refs = {0};
    struct rng rng = {1};
    size_t n, used[LINES] = {0};
    assert_int_equal(refs_tlb_gap(&refs, &roomy, &rng, N, STRIDE, GROUPS), 0);
    uint64_t *at = places(&refs, &n);
    assert_int_equal(n, N * GROUPS);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal((at[i] - at[0]) / PAGE, i / GROUPS * STRIDE + i % GROUPS);
        assert_int_equal(used[at[i] % PAGE / LINE]++, 0);
    }
    free(at);
    refs_release(&refs);
}

/* One page in each part of the ground, in any place of it, but as those side by side among
 * their neighbours; and no line twice. */
static void scattered_pages_are_anywhere(void **state)
{
    (void)state;
    enum { N = 8, KEEP = 2, CHOICES = 16, TIMES = 200 };
    const struct ground small = {
        .page = PAGE, .bytes = (uint64_t)N * KEEP * CHOICES * PAGE, .line = LINE};
    struct refs refs = {0};
    struct rng rng = {1};
    size_t n, seen[CHOICES] = {0};
    for (int time = 0; time < TIMES; time++) {
        size_t used[LINES] = {0};
        assert_int_equal(refs_scattered(&refs, &small, &rng, N, KEEP), 0);
        uint64_t *at = places(&refs, &n);
        assert_int_equal(n, N);
        for (size_t i = 0; i < n; i++) {
            uint64_t page = at[i] / PAGE;
            assert_int_equal(page / KEEP / CHOICES, i);
            assert_int_equal(page % KEEP, i % KEEP);
            assert_int_equal(used[at[i] % PAGE / LINE]++, 0);
            seen[page / KEEP % CHOICES]++;
        }
        free(at);
    }
    for (int i = 0; i < CHOICES; i++)
        assert_true(seen[i] > N * TIMES / CHOICES / 2);
    assert_int_equal(refs_scattered(&refs, &small, &rng, N * CHOICES, KEEP), -1);
    refs_release(&refs);
}

/* Pattern A, all of it, then pattern B; together they touch every line of both runs while
 * the stripe is below the line, and half of the lines of each from then on. */
static void line_string_has_two_patterns(void **state)
{
    (void)state;
    enum { HALF = 5 };
    struct refs refs = {0};
    struct rng rng = {1};
    for (uint64_t s = 8; s <= PAGE / 2; s *= 2) {
        struct stripes stripes = {.s = s, .visits = 1};
        assert_int_equal(refs_line(&refs, &roomy, &rng, HALF * PAGE, &stripes, 2), 0);
        uint64_t start = start_of(&refs);
        assert_int_equal(refs.n, HALF * PAGE / s);
        assert_places(&refs, refs.n);
        for (size_t i = 0; i < refs.n; i++) {
            uint64_t at = refs.at[i] - start;
            bool second = at >= HALF * PAGE;
            assert_int_equal(second, i >= refs.n / 2);
            assert_int_equal(at % s, 0);
            assert_int_equal(at / s % 2, second);
        }
        for (size_t i = 0; i < refs.n; i++)
            refs.at[i] = refs.at[i] / LINE * LINE;
        assert_places(&refs, 2 * HALF * (s < LINE ? LINES : PAGE / s / 2));
    }
    struct stripes wide = {.s = PAGE, .visits = 1};
    assert_int_equal(refs_line(&refs, &roomy, &rng, HALF * PAGE, &wide, 2), -1);
    refs_release(&refs);
}

/* From the line size on, what A takes of a page's sets is what B leaves. */
static void line_patterns_fit_into_each_other(void **state)
{
    (void)state;
    struct refs refs = {0};
    struct rng rng = {1};
    for (uint64_t s = LINE; s <= PAGE / 2; s *= 2) {
        bool taken[2][LINES] = {{false}};
        struct stripes stripes = {.s = s, .visits = 1};
        assert_int_equal(refs_line(&refs, &roomy, &rng, 3 * PAGE, &stripes, 2), 0);
        for (size_t i = 0; i < refs.n; i++)
            taken[i >= refs.n / 2][refs.at[i] % PAGE / LINE] = true;
        for (size_t i = 0; i < LINES; i++)
            assert_false(taken[0][i] && taken[1][i]);
    }
    refs_release(&refs);
}

/* Three visits a stripe, 3/4 of a line apart, in a shape that does not divide the page. */
static void stripes_may_be_moved_or_laid_together(void **state)
{
    (void)state;
    enum { S = 192, WIDTH = 3 * S, USED = PAGE / WIDTH / 2 * 2 * WIDTH };
    struct refs refs = {0};
    struct rng rng = {1};
    for (uint64_t shift = 0; shift <= WIDTH; shift += LINE / 2)
        for (int together = 0; together <= 1; together++) {
            struct stripes stripes = {S, shift, 3, together};
            assert_int_equal(refs_line(&refs, &roomy, &rng, 2 * PAGE, &stripes, 2), 0);
            uint64_t start = start_of(&refs) / PAGE * PAGE;
            assert_int_equal(refs.n, 4 * 3 * (USED / WIDTH / 2));
            assert_places(&refs, refs.n);
            for (size_t i = 0; i < refs.n; i++) {
                uint64_t at = refs.at[i] - start, in_page = at % PAGE;
                assert_int_equal(at >= 2 * PAGE, i >= refs.n / 2);
                assert_true(in_page < USED);
                uint64_t unmoved = (in_page + USED - shift) % USED;
                assert_int_equal(unmoved % S, 0);
                assert_int_equal(unmoved / WIDTH % 2, !together && at >= 2 * PAGE);
            }
        }
    struct stripes wide = {.s = PAGE / 4, .visits = 3};
    assert_int_equal(refs_line(&refs, &roomy, &rng, 2 * PAGE, &wide, 2), -1);
    refs_release(&refs);
}

static void pairs_are_adjacent_in_time_and_place(void **state)
{
    (void)state;
    enum { CHUNKS = 100 };
    struct refs refs = {0};
    struct rng rng = {1};
    for (uint64_t d = 32; d <= PAGE; d *= 2) {
        assert_int_equal(refs_pair(&refs, &roomy, &rng, CHUNKS, d, true), 0);
        uint64_t start = start_of(&refs);
        for (size_t i = 0; i < refs.n; i += 2) {
            assert_int_equal((refs.at[i] - start) % (2 * d), 0);
            assert_int_equal(refs.at[i + 1], refs.at[i] + d);
        }
        assert_int_equal(refs_pair(&refs, &roomy, &rng, CHUNKS, d, false), 0);
        start = start_of(&refs);
        for (size_t i = 0; i < refs.n; i++)
            assert_int_equal((refs.at[i] - start) % (2 * d), 0);
    }
    assert_int_equal(refs_pair(&refs, &roomy, &rng, 0, 64, true), -1);
    refs_release(&refs);
}

/* One that was long, then a short one: nothing of the first is left. */
static void strings_can_be_built_again(void **state)
{
    (void)state;
    struct refs refs = {0}, fresh = {0};
    struct rng rng = {1}, one = {9}, other = {9};
    struct stripes stripes = {.s = 64, .visits = 1};
    assert_int_equal(refs_line(&refs, &roomy, &rng, 1 << 20, &stripes, 8), 0);
    assert_true(refs.ramp);
    assert_int_equal(refs_gap(&refs, &roomy, &one, 4, PAGE, 0), 0);
    assert_int_equal(refs_gap(&fresh, &roomy, &other, 4, PAGE, 0), 0);
    assert_true(same(&refs, &fresh));
    assert_false(refs.ramp);
    refs_release(&refs);
    refs_release(&fresh);
    refs_release(&fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_places),
        cmocka_unit_test(fits_exactly_or_not_at_all),
        cmocka_unit_test(a_seed_names_a_string),
        cmocka_unit_test(the_order_differs_from_string_to_string),
        cmocka_unit_test(shuffles_evenly),
        cmocka_unit_test(gap_is_even_but_for_the_last),
        cmocka_unit_test(gap_control_has_the_same_pages_and_other_sets),
        cmocka_unit_test(pressure_is_on_the_inner_set_only),
        cmocka_unit_test(pressure_moves_the_last_and_needs_a_divisor),
        cmocka_unit_test(cache_string_visits_every_line_once),
        cmocka_unit_test(sparse_string_fills_sets_evenly),
        cmocka_unit_test(pressed_string_fills_all_sets_evenly),
        cmocka_unit_test(sparse_string_never_wants_a_neighbour),
        cmocka_unit_test(pressure_comes_back_to_the_same_lines),
        cmocka_unit_test(eviction_string_visits_all_lines_of_blocks),
        cmocka_unit_test(tlb_string_has_n_lines_in_every_page),
        cmocka_unit_test(tlb_string_fills_sets_evenly),
        cmocka_unit_test(folded_string_visits_no_page_soon_again),
        cmocka_unit_test(folded_string_has_as_many_lines_as_visits),
        cmocka_unit_test(folded_string_fills_sets_evenly),
        cmocka_unit_test(tlb_gap_has_rows_of_pages),
        cmocka_unit_test(scattered_pages_are_anywhere),
        cmocka_unit_test(line_string_has_two_patterns),
        cmocka_unit_test(line_patterns_fit_into_each_other),
        cmocka_unit_test(stripes_may_be_moved_or_laid_together),
        cmocka_unit_test(pairs_are_adjacent_in_time_and_place),
        cmocka_unit_test(strings_can_be_built_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
