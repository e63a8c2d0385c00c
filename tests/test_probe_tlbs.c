/* SPDX-License-Identifier: BSD-3-Clause
 *
 * TLBs that real machines have and the plain model has not: an index that is hashed, huge
 * pages that a host keeps in parts, walks through the caches. Each made a wrong answer sure
 * or told a level that is none. What is not sure is an interval, and that holds the truth:
 * on simulated machines, and on the curves of two that were captured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/probing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ARENA = 256 << 20, HUGE_ARENA = 512 << 20 };

#define MACHINE(more)                                                                      \
    "[machine]\nname = TLBs\npage = 4K\nfrequency = 2000M\n" more                          \
    "[cache L1d]\nlevel = 1\nkind = data\nsize = 32K\nline = 64\nways = 8\nlatency = 5\n"  \
    "[memory]\nlatency = 200\n[noise]\njitter = 0.005\n"
#define L2(size)                                                                           \
    "[cache L2]\nlevel = 2\nkind = unified\nsize = " size                                  \
    "\nline = 64\nways = 8\nlatency = 14\n"                                                \
    "[cache L3]\nlevel = 3\nkind = unified\nsize = 4M\nline = 64\nways = 16\n"             \
    "latency = 60\n"
#define SETS     "[tlb L1d]\nlevel = 1\nkind = data\nentries = 64\nways = 4\n"
#define FULL     "[tlb L1d]\nlevel = 1\nkind = data\nentries = 72\nways = full\n"
#define HUGE_TLB "[tlb L1d2M]\nlevel = 1\nkind = data\nentries = 32\nways = 4\npage = 2M\n"
#define SECOND(entries, ways, index)                                                       \
    "[tlb L2]\nlevel = 2\nkind = unified\nentries = " entries "\nways = " ways             \
    "\nlatency = 7\nindex = " index "\n"

static struct strata_probed probed;

/* Looks for the TLBs of a machine, of which the rest is known. */
static void look(const char *text)
{
    struct strata_machine machine;
    struct strata_error error;
    if (strata_machine_parse("tlbs", text, &machine, &error))
        fail_msg("%s", error.text);
    struct strata_probe_options options = {.machine = &machine};
    struct probing p = {.options = &options,
                        .probed = &probed,
                        .error = &error,
                        .budget = INFINITY,
                        .deadline = INFINITY,
                        .rng = {1}};
    memset(&probed, 0, sizeof probed);
    probed.page = machine.page;
    probed.data = dataset_create();
    assert_non_null(probed.data);
    assert_int_equal(runner_simulated(&p.runner, &machine, 1, ARENA,
                                      machine.huge ? HUGE_ARENA : 0, &error),
                     0);
    assert_int_equal(probe_tlbs(&p, BASE_PAGES), 0);
    assert_int_equal(probe_tlbs(&p, HUGE_PAGES), 0);
    assert_int_equal(judge_entries(&p), 0);
    runner_release(p.runner);
    refs_release(&p.refs);
    strata_probed_release(&(struct strata_probed){.data = probed.data});
}

static void assert_sure(const struct strata_probed_tlb *tlb, double entries, double ways)
{
    assert_true(tlb->entries.known && tlb->entries.confidence >= 0.95);
    assert_true(tlb->entries.value == entries);
    assert_true(tlb->entries.low == entries && tlb->entries.high == entries);
    assert_true(tlb->ways.known && tlb->ways.confidence >= 0.95);
    assert_true(tlb->ways.value == ways);
}

/* An interval that holds the truth and is no wider than an octave and a half. */
static void assert_within(const struct strata_probed_tlb *tlb, double entries)
{
    const struct strata_value *found = &tlb->entries;
    assert_true(found->known && found->confidence < 0.95);
    if (!(found->low <= entries && entries <= found->high))
        fail_msg("%g is not within %g and %g", entries, found->low, found->high);
    assert_true(found->low <= found->value && found->value <= found->high);
    assert_true(found->high / found->low < 3);
    assert_true(!tlb->ways.known && *tlb->ways.why);
}

/* At all strides but one its sets look like twice as many; pages side by side do not. */
static void strides_do_not_override_the_curve(void **state)
{
    (void)state;
    look(MACHINE("huge = 2M\n") L2("512K") SETS HUGE_TLB "index = gray\n"
                                                         "[walk]\nlatency = 7\n");
    assert_int_equal(probed.ntlbs, 2);
    assert_sure(&probed.tlbs[0], 64, 4);
    assert_within(&probed.tlbs[1], 32);
}

static void a_hashed_index_makes_an_interval(void **state)
{
    static const char *const machines[] = {
        MACHINE("") L2("512K") FULL SECOND("384", "12", "mixed") "[walk]\nlatency = 30\n",
        MACHINE("") L2("512K") SETS SECOND("384", "12", "xor") "[walk]\nlatency = 30\n",
    };
    (void)state;
    for (int i = 0; i < 2; i++) {
        look(machines[i]);
        assert_int_equal(probed.ntlbs, 2);
        assert_sure(&probed.tlbs[0], i ? 64 : 72, i ? 4 : 72);
        assert_within(&probed.tlbs[1], 384);
    }
}

/* No sets show at any stride: that is not yet a TLB without sets. */
static void hashed_sets_are_not_taken_for_none(void **state)
{
    (void)state;
    look(MACHINE("") L2("512K") SETS "index = xor\n[walk]\nlatency = 30\n");
    assert_int_equal(probed.ntlbs, 1);
    assert_false(probed.tlbs[0].ways.known);
    assert_true(probed.tlbs[0].entries.low <= 64 && probed.tlbs[0].entries.high >= 64);
}

static void parts_of_huge_pages_are_not_taken_for_them(void **state)
{
    (void)state;
    for (int full = 0; full < 2; full++) {
        look(full ? MACHINE("huge = 2M\nsplintered = yes\n") L2("512K") FULL HUGE_TLB
                 "[walk]\nlatency = 30\n"
                  : MACHINE("huge = 2M\nsplintered = yes\n") L2("512K") SETS HUGE_TLB
                 "[walk]\nlatency = 30\n");
        assert_int_equal(probed.ntlbs, 2);
        assert_sure(&probed.tlbs[0], full ? 72 : 64, full ? 72 : 4);
        assert_false(probed.tlbs[1].entries.known);
        assert_non_null(strstr(probed.tlbs[1].entries.why, "in parts"));
    }
    look(MACHINE("huge = 2M\n") L2("512K") SETS HUGE_TLB "[walk]\nlatency = 30\n");
    assert_int_equal(probed.ntlbs, 2);
    assert_sure(&probed.tlbs[1], 32, 4);
}

/* Tables that no longer fit into the second cache make walks slower, at a number of pages
 * that is the same for any number of lines in each. */
static void slower_walks_are_no_level(void **state)
{
    (void)state;
    look(MACHINE("") L2("64K") SETS SECOND("256", "8", "low") "[walk]\nlatency = 20\n"
                                                              "tables = yes\n");
    assert_int_equal(probed.ntlbs, 2);
    assert_sure(&probed.tlbs[1], 256, 8);
}

enum { POINTS = 64 };

/* A sweep of the captures: what translation costs beside a hit in the first cache. */
static size_t read_capture(const char *name, const char *page, double *x, double *y)
{
    static const char path[] = "tests/data/captured-tlbs.csv";
    char line[256], of[32], pages[8];
    double at, spread, packed;
    size_t n = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s cannot be read", path);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%31[^,],%7[^,],%lf,%lf,%lf", of, pages, &at, &spread, &packed) ==
                5 &&
            strcmp(of, name) == 0 && strcmp(pages, page) == 0 && n < POINTS) {
            x[n] = at;
            y[n++] = 4 + fmax(0, spread - packed);
        }
    fclose(file);
    return n;
}

static void captured_curves_hold_what_is_documented(void **state)
{
    static const struct {
        const char *capture, *page;
        size_t rise;
        double entries;
    } cases[] = {
        {"server-1", "2M", 1, 32},   {"server-2", "2M", 1, 32},
        {"server-1", "4K", 1, 96},   {"server-2", "4K", 1, 96},
        {"server-1", "4K", 2, 2048}, {"server-2", "4K", 2, 2048},
        {"guest-1", "4K", 1, 72},    {"guest-2", "4K", 1, 72},
        {"guest-3", "4K", 1, 72},    {"guest-1", "4K", 0, 3072},
        {"guest-2", "4K", 0, 3072},  {"guest-3", "4K", 0, 3072},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double x[POINTS], y[POINTS];
        struct levels levels;
        size_t n = read_capture(cases[i].capture, cases[i].page, x, y),
               rise = cases[i].rise;
        assert_true(n > 20);
        assert_int_equal(find_levels(x, y, n, &levels, NULL), 0);
        for (size_t j = 1; !cases[i].rise && j < levels.n;
             j++) /* the one above 1024 pages */
            if (x[levels.plateau[j - 1].last] > 1024 && !rise)
                rise = j;
        assert_true(rise >= 1 && rise < levels.n);
        struct reach reach = rise_reach(x, y, &levels, rise);
        print_message("%s %s: %g to %g, about %g; documented %g\n", cases[i].capture,
                      cases[i].page, reach.low, reach.high, reach.value, cases[i].entries);
        assert_true(reach.low <= cases[i].entries && cases[i].entries <= reach.high);
        assert_true(reach.high / reach.low < 6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captured_curves_hold_what_is_documented),
        cmocka_unit_test(parts_of_huge_pages_are_not_taken_for_them),
        cmocka_unit_test(strides_do_not_override_the_curve),
        cmocka_unit_test(a_hashed_index_makes_an_interval),
        cmocka_unit_test(hashed_sets_are_not_taken_for_none),
        cmocka_unit_test(slower_walks_are_no_level),
    };
#ifdef __SANITIZE_ADDRESS__ /* slow, and it looks for other things than right answers */
    const size_t n = 2;
#else
    const size_t n = sizeof tests / sizeof *tests;
#endif
    return _cmocka_run_group_tests("tlbs", tests, n, NULL, NULL);
}
