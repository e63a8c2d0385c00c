/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From counts to what events count, on tables that are made by hand: each event is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/rng.h"
#include "inspect/findings.h"
#include "inspect/fit.h"
#include "inspect/kernels.h"
#include "inspect/perform.h"
#include "inspect/walks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct matrices matrices;

static int read_matrices(void **state)
{
    struct strata_error error;
    (void)state;
    return matrices_read("metrics", &matrices, &error);
}

/* Lines and goodness. */

static void lines(void **state)
{
    const double x[] = {1, 2, 3, 4}, y[] = {5, 7, 9, 11}, flat[] = {3, 3, 3, 3},
                 bent[] = {0, 1, 0, 1};
    (void)state;
    struct fit fit = fit_line(x, y, 4);
    assert_float_equal(fit.slope, 2, 1e-12);
    assert_float_equal(fit.start, 3, 1e-12);
    assert_float_equal(fit.r2, 1, 1e-12);
    fit = fit_line(x, flat, 4);
    assert_float_equal(fit.slope, 0, 1e-12);
    fit = fit_line(x, bent, 4);
    assert_float_equal(fit.r2, 0.2, 1e-12);
    fit = fit_line(x, y, 1);
    assert_float_equal(fit.slope, 0, 0);
    fit = fit_line(x, y, 0);
    assert_float_equal(fit.r2, 0, 0);
}

static void good(void **state)
{
    const double measured[] = {2, 2.5, 1}, same[] = {2, 2.5, 1}, near[] = {2, 2, 1},
                 any[] = {NAN, 2.5, 1};
    (void)state;
    assert_float_equal(goodness(measured, same, 3), 1, 1e-12);
    assert_float_equal(goodness(measured, near, 3), exp(-0.5), 1e-12);
    assert_float_equal(goodness(measured, any, 3), 1, 1e-12);
}

/* The matrix. */

/* Table 1 of the source. */
static void table_of_the_source(void **state)
{
    static const struct {
        const char *name;
        double slopes[7];
    } table[] = {{"CE", {2, 2, 2, 2, 2.5, 2, 1}},
                 {"CR", {2, 2, 2, 2, 2, 2, 1}},
                 {"T", {1.5, 1, 2, 1.5, 1.5, 1, 1}},
                 {"D", {0, 0, 0, 0, 0, 1, 0}},
                 {"M", {0, 0, 0, 0.5, 0.5, 0, 0}}};
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        const struct matrix_category *row = matrix_find(&matrices.branches, table[i].name);
        assert_non_null(row);
        assert_memory_equal(row->slopes, table[i].slopes, sizeof table[i].slopes);
    }
    for (size_t k = 0; k < matrices.branches.nkernels; k++)
        assert_non_null(kernel_find(matrices.branches.kernels[k].name));
    assert_null(matrix_find(&matrices.branches, "X"));
}

static void bad_matrices(void **state)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"[kernel a]\n[category X]\nslopes = 1 2\n", "m:3: more slopes than kernels"},
        {"[kernel a]\n[category X]\nslopes =\n", "has 0 slopes, and there are 1 kernels"},
        {"[kernel a]\n[category X]\nslopes = one\n", "m:3: slopes: 'one' is no number"},
        {"[kernel a]\n[category X]\nslopes = -1\n", "'-1' is no number from 0"},
        {"[kernel a]\n[category X]\nslopes = nan\n", "'nan' is no number"},
        {"[kernel a]\n[kernel a]\n", "m:2: kernel a is there twice"},
        {"[kernel a]\n[category X]\nslopes = 1\n[category X]\n",
         "m:4: category X is there"},
        {"[kernel a]\n[category X]\nslopes = 1\n[category Y]\nslopes = 1\n",
         "m:4: category Y has the slopes of X"},
        {"[category X]\n", "m:1: kernels come before"},
        {"[kernel a]\n[category X]\nslopes = 1\n[kernel b]\n", "m:4: kernels come before"},
        {"[kernel]\n", "m:1: [kernel ]: a name of 1 to 15"},
        {"[kernel abcdefghijklmnop]\n", "a name of 1 to 15"},
        {"[thing a]\n", "m:1: [thing]: neither kernel nor category"},
        {"[kernel a]\nslopes = 1\n", "m:2: no key slopes here"},
        {"about = x\n", "m:1: no key about here"},
        {"[kernel a]\nabout =\n", "m:2: about: 1 to 95 characters"},
        {"junk\n", "m:1: junk: neither"},
        {"", "m: no categories in it"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct matrix matrix;
        struct strata_error error = {0, ""};
        assert_int_equal(
            matrix_parse("m", bad[i].text, strlen(bad[i].text), &matrix, &error),
            STRATA_BAD_INPUT);
        if (!strstr(error.text, bad[i].message))
            fail_msg("%s: %s", bad[i].text, error.text);
    }
}

/* Tables by hand. An event is a function of a run. */

enum { MADE = 64 };

struct made {
    const char *name;
    double (*count)(const struct run *run, size_t which);
    size_t which;
    const char *category; /* the truth */
};

struct dirt {
    double noise, drift;
};

static double spread(struct rng *rng)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += rng_unit(rng);
    return sum;
}

/* Findings of made events, to be released with their plan and counts. */
struct fixture {
    struct plan plan;
    double *counts;
    const char *names[MADE];
    const char *why[MADE];
    struct counts_table table;
    struct findings findings;
};

static void make_findings(struct fixture *f, const struct made *made, size_t n,
                          struct dirt dirt)
{
    const struct plan_options options = {.sets = PLAN_BRANCH | PLAN_CACHE | PLAN_SYSTEM |
                                                 PLAN_STUDIES | PLAN_IDLE | PLAN_SIZES |
                                                 PLAN_UNITS,
                                         .page = 4096,
                                         .unit = 64,
                                         .bytes = 4 << 20,
                                         .study = 2 << 20,
                                         .pages = 1024,
                                         .seed = 1};
    struct rng rng = {7};
    assert_int_equal(plan_make(&options, &matrices, &f->plan), 0);
    f->counts = malloc(f->plan.n * n * sizeof *f->counts);
    assert_non_null(f->counts);
    for (size_t run = 0; run < f->plan.n; run++)
        for (size_t i = 0; i < n; i++) {
            double count = made[i].count(&f->plan.runs[run], made[i].which);
            count *= 1 + dirt.noise * spread(&rng);
            count += dirt.drift * (1 + (double)run / 100);
            f->counts[run * n + i] = fmax(0, round(count));
        }
    for (size_t i = 0; i < n; i++) {
        f->names[i] = made[i].name;
        f->why[i] = "";
    }
    f->table = (struct counts_table){&f->plan, &matrices, n,     f->names,
                                     f->why,   f->counts, false, NULL};
    assert_int_equal(findings_make(&f->table, &f->findings), 0);
}

static void release(struct fixture *f)
{
    findings_release(&f->findings);
    plan_release(&f->plan);
    free(f->counts);
}

static void check_made(const struct made *made, size_t n, struct dirt dirt)
{
    struct fixture f;
    make_findings(&f, made, n, dirt);
    for (size_t i = 0; i < n; i++)
        if (strcmp(f.findings.events[i].category, made[i].category) != 0)
            fail_msg("%s: '%s' and not '%s' (best %s %.3f), noise %g, drift %g",
                     made[i].name, f.findings.events[i].category, made[i].category,
                     f.findings.events[i].best.name, f.findings.events[i].best.goodness,
                     dirt.noise, dirt.drift);
    release(&f);
}

static const struct dirt dirts[] = {{0, 0}, {0.02, 0}, {0, 100}, {0.02, 100}};

/* Branches: every category, and what is near it. */

static double of_category(const struct run *run, size_t which)
{
    return run->kind == RUN_BRANCH
               ? matrices.branches.categories[which].slopes[run->kernel] * (double)run->x
               : 0;
}

static double tens(const struct run *run, size_t which)
{
    return run->kind == RUN_BRANCH ? (double)(10 + which + run->kernel) * (double)run->x
                                   : 3.0 * (double)run->x;
}

static double nothing(const struct run *run, size_t which)
{
    (void)run, (void)which;
    return 0;
}

/* Conditional branches and one load a turn: related, but no category. */
static double related(const struct run *run, size_t which)
{
    (void)which;
    return of_category(run, 1) + (run->kind == RUN_BRANCH ? (double)run->x : 0);
}

static double wild(const struct run *run, size_t which)
{
    return (double)(mix64(run->x * 31 + run->kernel * 7 + run->kind + which * 1000) %
                    100000);
}

static void branches(void **state)
{
    struct made made[MADE];
    size_t n = matrices.branches.ncategories;
    (void)state;
    for (size_t i = 0; i < n; i++)
        made[i] = (struct made){matrices.branches.categories[i].name, of_category, i,
                                matrices.branches.categories[i].name};
    made[n++] = (struct made){"tens", tens, 0, ""};
    made[n++] = (struct made){"more tens", tens, 50, ""};
    made[n++] = (struct made){"nothing", nothing, 0, ""};
    made[n++] = (struct made){"related", related, 0, ""};
    made[n++] = (struct made){"wild", wild, 1, ""};
    for (size_t i = 0; i < sizeof dirts / sizeof *dirts; i++)
        check_made(made, n, dirts[i]);
}

/* Walks: an ideal machine of three levels and two TLBs, LRU and no prefetcher. */

enum { KINDS_OF_ACCESS = 3 }; /* loads, stores, both */

static double there(double x, const double *sizes, size_t levels, size_t level, bool hit)
{
    size_t served = 0;
    while (served < levels && x > sizes[served])
        served++;
    return hit ? served == level : served > level;
}

/* which: level * 6 + hit * 3 + kind of access. */
static double of_cache(const struct run *run, size_t which)
{
    static const double sizes[] = {32768, 262144, 1048576};
    size_t level = which / 6;
    bool hit = which / 3 % 2, load = which % 3 != 1, store = which % 3 != 0;
    double rate = there((double)run->x, sizes, 3, level, hit) * (double)run->visits;
    switch (run->kind) {
    case RUN_READ:
    case RUN_ASCEND:
    case RUN_PAIRS:
        return load ? rate : 0;
    case RUN_WRITE:
        return store ? rate : 0;
    case RUN_BACK:
        return hit ? 0
                   : load * 2.0 * run->kernel *
                         ((double)run->visits - sizes[level] / (double)run->unit);
    default:
        return 0;
    }
}

static double of_tlb(const struct run *run, size_t which)
{
    static const double entries[] = {64, 256};
    size_t level = which / 6;
    bool hit = which / 3 % 2, load = which % 3 != 1, store = which % 3 != 0;
    double rate = there((double)run->x, entries, 2, level, hit) * (double)run->visits;
    if (run->kind == RUN_PAGES)
        return load ? rate : 0;
    if (run->kind == RUN_PAGES_WRITE)
        return store ? rate : 0;
    if (run->kind == RUN_PAGES_BACK)
        return hit ? 0 : load * 2.0 * run->kernel * ((double)run->visits - entries[level]);
    return 0;
}

static double everywhere(const struct run *run, size_t which)
{
    return (double)(which * (run->visits ? run->visits : run->x));
}

static void walks(void **state)
{
    static char names[30][CATEGORY_NAME];
    static const char *const ops[] = {".load", ".store", ""};
    struct made made[MADE];
    size_t n = 0;
    (void)state;
    for (size_t i = 0; i < 30; i++) {
        bool tlb = i >= 18;
        size_t which = tlb ? i - 18 : i;
        snprintf(names[i], sizeof names[i], "%s%zu.%s%s", tlb ? "TLB" : "L", which / 6 + 1,
                 which / 3 % 2 ? "hit" : "miss", ops[which % 3]);
        made[n++] = (struct made){names[i], tlb ? of_tlb : of_cache, which, names[i]};
    }
    made[n++] = (struct made){"everywhere", everywhere, 2, ""};
    made[n++] = (struct made){"often", everywhere, 7, ""};
    made[n++] = (struct made){"wild", wild, 2, ""};
    for (size_t i = 0; i < sizeof dirts / sizeof *dirts; i++)
        check_made(made, n, dirts[i]);
}

static void sizes(void **state)
{
    const struct made made[] = {{"L1", of_cache, 0, ""},
                                {"L2", of_cache, 6, ""},
                                {"L3", of_cache, 12, ""},
                                {"T1", of_tlb, 0, ""},
                                {"T2", of_tlb, 6, ""}};
    struct fixture f;
    (void)state;
    make_findings(&f, made, 5, dirts[0]);
    assert_int_equal(f.findings.ncaches, 3);
    assert_int_equal(f.findings.ntlbs, 2);
    assert_float_equal(f.findings.caches[0].reach, 32768, 0);
    assert_float_equal(f.findings.caches[1].reach, 262144, 0);
    assert_float_equal(f.findings.caches[2].reach, 1048576, 0);
    assert_float_equal(f.findings.tlbs[0].reach, 64, 0);
    assert_float_equal(f.findings.tlbs[1].reach, 256, 0);
    assert_string_equal(f.findings.caches[1].event, "L2");
    release(&f);
}

/* Prefetches: half of the lines in ascending order come by themselves. */

static double demand(const struct run *run, size_t which)
{
    return of_cache(run, which) * (run->kind == RUN_ASCEND ? 0.5 : 1);
}

static double fetched(const struct run *run, size_t which)
{
    return run->kind == RUN_ASCEND ? of_cache(run, which) * 0.5 : 0;
}

static void prefetches(void **state)
{
    const struct made all[] = {{"demand", demand, 2, "L1.miss"},
                               {"all", of_cache, 2, "L1.miss.all"},
                               {"prefetch", fetched, 2, "L1.prefetch"}};
    const struct made twins[] = {{"demand", demand, 2, "L1.miss"},
                                 {"all", of_cache, 2, "L1.miss.all"}};
    const struct made one[] = {{"all", of_cache, 2, "L1.miss"}};
    (void)state;
    check_made(all, 3, dirts[0]);
    check_made(all, 3, dirts[1]);
    check_made(twins, 2, dirts[0]);
    check_made(one, 1, dirts[0]); /* whether anything is prefetched is not known */
}

/* A second level that fetches the other line of a pair on every miss. By lines, half of the
 * visits find what was fetched; by larger units none does. */

static double share_beside(const struct run *run)
{
    bool chase = run->kind == RUN_READ || run->kind == RUN_WRITE;
    bool order = run->kind == RUN_ASCEND || run->kind == RUN_PAIRS;
    return order || (chase && run->kernel == 1) ? 0.5 : 1;
}

/* With half a lap between the two of a pair, what holds half of it fetches none. */
static double apart(const struct run *run, size_t which, double times)
{
    struct run as = *run;
    as.kind = RUN_READ;
    as.x = (uint64_t)((double)run->x / times);
    return of_cache(&as, which);
}

static double missed_beside(const struct run *run, size_t which)
{
    return run->kind == RUN_APART ? apart(run, which, 1)
                                  : of_cache(run, which) * share_beside(run);
}

/* Prefetches of that level, and misses behind it. */
static double fetched_beside(const struct run *run, size_t which)
{
    return run->kind == RUN_APART ? apart(run, which, 2) : missed_beside(run, which);
}

static double filled_beside(const struct run *run, size_t which)
{
    return missed_beside(run, which) + fetched_beside(run, which);
}

static void prefetches_beside(void **state)
{
    const struct made made[] = {{"l1 misses", of_cache, 2, "L1.miss"},
                                {"l2 misses", missed_beside, 8, "L2.miss"},
                                {"l2 stores", missed_beside, 7, "L2.miss.store"},
                                {"l2 hits", missed_beside, 11, "L2.hit"},
                                {"l2 prefetches", fetched_beside, 8, "L2.prefetch"},
                                {"l2 fills", filled_beside, 8, "L2.miss.all"},
                                {"l3 misses", fetched_beside, 14, "L3.miss"}};
    struct fixture f;
    (void)state;
    for (size_t i = 0; i < sizeof dirts / sizeof *dirts; i++)
        check_made(made, 7, dirts[i]);
    make_findings(&f, made, 7, dirts[0]);
    assert_int_equal(f.findings.ncaches, 3);
    assert_int_equal(f.findings.ntlbs, 0);
    assert_float_equal(f.findings.caches[1].reach, 262144, 0);
    assert_int_equal(f.findings.events[0].unit, 1);
    assert_int_equal(f.findings.events[1].unit, 2);
    release(&f);
}

/* A streamer fetches by chance too, but only in the pages that it follows. */
static double streamed(const struct run *run, size_t which)
{
    struct run as = *run;
    double rate = run->kind == RUN_BLOCKS ? (run->kernel > 32 ? 0 : 0.6)
                  : run->kind == RUN_READ || run->kind == RUN_WRITE
                      ? (run->kernel == 4 ? 2 : 0.4 * run->kernel)
                      : 0.6;
    as.kind = run->kind == RUN_BLOCKS ? RUN_READ : run->kind;
    return rate * of_cache(&as, which);
}

/* Hits in a TLB of 16 entries: those of blocks of few pages, whatever the caches hold. */
static double few_pages(const struct run *run, size_t which)
{
    bool fits = run->kind == RUN_BLOCKS  ? run->kernel <= which
                : run->kind == RUN_PAGES ? run->x <= which
                                         : run->visits != 0;
    return fits ? (double)run->visits : 0;
}

static void prefetches_in_pages(void **state)
{
    const struct made made[] = {{"l1 misses", of_cache, 2, "L1.miss"},
                                {"l2 lines", of_cache, 8, "L2.miss.all"},
                                {"l2 prefetches", streamed, 8, "L2.prefetch"},
                                {"tlb hits", few_pages, 16, "TLB1.hit.load"}};
    (void)state;
    for (size_t i = 0; i < sizeof dirts / sizeof *dirts; i++)
        check_made(made, 4, dirts[i]);
}

/* Instructions and cycles. */

static double instructions(const struct run *run, size_t which)
{
    bool slow = run->kind == RUN_WORK && run->kernel == 4;
    return run->kind == RUN_WORK     ? (double)run->x * (slow && which ? 50 : 1)
           : run->kind == RUN_BRANCH ? 70.0 * (double)run->x
                                     : 3.0 * (double)run->visits;
}

/* On an emulated processor memory takes no time; cycles go on in a sleep. */
static double emulated(const struct run *run, size_t which)
{
    return run->kind == RUN_HALT ? (double)run->x * (which ? 1e6 : 5000)
                                 : instructions(run, 0);
}

static void emulated_cycles(void **state)
{
    const struct made made[] = {{"r8", emulated, 0, "instructions"},
                                {"r11", emulated, 1, "cycles"}};
    struct fixture f;
    (void)state;
    make_findings(&f, made, 2, dirts[1]);
    assert_string_equal(f.findings.events[1].category, "instructions");
    findings_release(&f.findings);
    f.table.flat_memory = true;
    assert_int_equal(findings_make(&f.table, &f.findings), 0);
    assert_string_equal(f.findings.events[0].category, "instructions");
    assert_string_equal(f.findings.events[1].category, "cycles");
    release(&f);
}

static double of_work(const struct run *run, size_t which)
{
    return run->kind == RUN_WORK
               ? matrices.work.categories[which].slopes[run->kernel] * (double)run->x
               : (double)run->x;
}

static void work(void **state)
{
    const struct made made[] = {{"instructions", instructions, 0, "instructions"},
                                {"cycles", instructions, 1, "cycles"},
                                {"loads", of_work, 1, "loads"},
                                {"stores", of_work, 2, "stores"},
                                {"accesses", of_work, 3, "accesses"}};
    (void)state;
    for (size_t i = 0; i < sizeof dirts / sizeof *dirts; i++)
        check_made(made, 5, dirts[i]);
}

static double of_system(const struct run *run, size_t which)
{
    return run->kind == RUN_SYSTEM
               ? matrices.system.categories[which].slopes[run->kernel] * (double)run->x
               : 0;
}

static void operating_system(void **state)
{
    struct made made[MADE];
    size_t n = matrices.system.ncategories;
    (void)state;
    for (size_t i = 0; i < n; i++)
        made[i] = (struct made){matrices.system.categories[i].name, of_system, i,
                                matrices.system.categories[i].name};
    check_made(made, n, dirts[0]);
}

/* What is not counted, and what never moves. */
static void reasons(void **state)
{
    const struct made made[] = {{"still", nothing, 0, ""}, {"refused", nothing, 0, ""}};
    struct fixture f;
    (void)state;
    make_findings(&f, made, 2, dirts[0]);
    assert_true(f.findings.events[0].counted);
    assert_false(f.findings.events[0].moved);
    findings_release(&f.findings);
    f.why[1] = "denied";
    assert_int_equal(findings_make(&f.table, &f.findings), 0);
    assert_false(f.findings.events[1].counted);
    assert_string_equal(f.findings.events[1].why, "denied");
    release(&f);
}

/* Composites. */

static size_t category_number(const char *name)
{
    return (size_t)(matrix_find(&matrices.branches, name) - matrices.branches.categories);
}

static void composites(void **state)
{
    const struct made made[] = {{"conditional", of_category, category_number("CR"), ""},
                                {"taken", of_category, category_number("T"), ""},
                                {"calls", of_category, category_number("C"), ""},
                                {"tens", tens, 0, ""}};
    struct fixture f;
    (void)state;
    make_findings(&f, made, 4, dirts[1]);
    struct composite found =
        compose(&f.table, &f.findings, matrix_find(&matrices.branches, "NT"));
    assert_int_equal(found.n, 2);
    assert_int_equal(found.events[0], 0);
    assert_int_equal(found.weights[0], 1);
    assert_int_equal(found.events[1], 1);
    assert_int_equal(found.weights[1], -1);
    assert_true(found.goodness > GOOD_ENOUGH);
    found = compose(&f.table, &f.findings, matrix_find(&matrices.branches, "C"));
    assert_int_equal(found.n, 1);
    assert_int_equal(found.events[0], 2);
    found = compose(&f.table, &f.findings, matrix_find(&matrices.branches, "MI"));
    assert_int_equal(found.n, 0);
    release(&f);
}

/* Kernels and chains. */

enum { BYTES = 1 << 18 };

static void check_ring(struct link *first, size_t n)
{
    struct link *at = first;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(at->mark, 0);
        assert_ptr_equal(at->next->before, at);
        at->mark = 1;
        at = at->next;
    }
    assert_ptr_equal(at, first);
    assert_ptr_equal(walk_on(first, n), first);
}

static void chains(void **state)
{
    char *buffer = aligned_alloc(4096, BYTES);
    const struct ground_plan ground = {buffer, 4096, 64};
    struct rng rng = {3};
    (void)state;
    assert_non_null(buffer);
    check_ring(chain_random(&ground, BYTES, 16, &rng), BYTES / 64);
    check_ring(chain_random(&ground, 3 * 4096 / 2, 16, &rng), 96);
    check_ring(chain_pages(&ground, 32, &rng), 32);
    struct link *pairs = chain_pairs(&ground, BYTES, 16, &rng);
    for (size_t i = 0; i < BYTES / 128; i++, pairs = pairs->next->next)
        assert_ptr_equal((char *)pairs + 64, pairs->next);
    check_ring(pairs, BYTES / 64);
    check_ring(chain_blocks(&ground, BYTES, &rng), 64);
    free(buffer);
}

/* No page is visited at neighbours, or by equal steps, one after the other. */
static void quiet_chains(void **state)
{
    char *buffer = aligned_alloc(4096, BYTES);
    const struct ground_plan ground = {buffer, 4096, 64};
    struct rng rng = {3};
    int64_t last[BYTES / 4096], step[BYTES / 4096] = {0};
    (void)state;
    assert_non_null(buffer);
    struct link *at = chain_quiet(&ground, BYTES, 16, &rng);
    memset(last, -1, sizeof last);
    for (size_t i = 0; i < BYTES / 64; i++, at = at->next) {
        int64_t line = ((char *)at - buffer) / 64, page = line / 64;
        int64_t now = last[page] < 0 ? 0 : line - last[page];
        assert_true(now != 1 && now != -1 && (!now || now != step[page]));
        last[page] = line;
        step[page] = now;
    }
    check_ring(at, BYTES / 64);
    free(buffer);
}

/* The pages of a block take turns; and the neighbour comes half a lap later. */
static void chains_by_turns(void **state)
{
    char *buffer = aligned_alloc(4096, BYTES);
    const struct ground_plan ground = {buffer, 4096, 128};
    struct rng rng = {3};
    (void)state;
    assert_non_null(buffer);
    struct link *at = chain_rounds(&ground, BYTES, 16, &rng);
    for (size_t i = 0; i < BYTES / 128; i++, at = at->next)
        assert_int_equal(((char *)at - buffer) / 4096, i / 512 * 16 + i % 16);
    check_ring(at, BYTES / 128);
    at = chain_apart(&ground, BYTES, &rng);
    for (size_t i = 0; i < BYTES / 256; i++, at = at->next->next)
        assert_ptr_equal((char *)at + 128, walk_on(at->next, BYTES / 128 / 2));
    check_ring(at, BYTES / 128);
    free(buffer);
}

/* What is written: each unit once in a lap. */
static void writes(void **state)
{
    uint64_t *buffer = calloc(1, BYTES);
    (void)state;
    assert_non_null(buffer);
    struct writing writing = {.buffer = (char *)buffer,
                              .units = 96,
                              .unit = 64,
                              .block = 32,
                              .at = (char *)buffer};
    walk_writing(&writing, 96);
    for (size_t i = 0; i < 96; i++) {
        assert_int_not_equal(buffer[i * 8], 0);
        buffer[i * 8] = 0;
    }
    assert_ptr_equal(writing.at, buffer);
    walk_writing(&writing, 32);
    for (size_t i = 0; i < 96; i++)
        assert_int_equal(buffer[i * 8] != 0, i < 32);
    free(buffer);
}

static int count_calls(void *context, size_t run, size_t group, void (*run_it)(void *),
                       void *argument, struct strata_error *error)
{
    (void)run, (void)group, (void)error;
    run_it(argument);
    ++*(size_t *)context;
    return STRATA_OK;
}

static void performing(void **state)
{
    const struct plan_options options = {.sets = PLAN_BRANCH | PLAN_CACHE | PLAN_SYSTEM |
                                                 PLAN_STUDIES,
                                         .page = 4096,
                                         .unit = 64,
                                         .bytes = 1 << 17,
                                         .pages = 64};
    struct plan plan;
    struct strata_error error;
    size_t calls = 0;
    const struct counters counting = {.context = &calls, .groups = 2, .count = count_calls};
    (void)state;
    assert_int_equal(plan_make(&options, &matrices, &plan), 0);
    assert_true(plan_seconds(&plan) > 0);
    assert_int_equal(perform(&plan, &matrices, &counting, &error), STRATA_OK);
    assert_int_equal(calls, 2 * plan.n);
    plan_release(&plan);
}

/* A matrix may name what is not there. */
static void unknown_kernel(void **state)
{
    const struct plan_options options = {.sets = PLAN_BRANCH, .bytes = 1 << 17};
    static struct matrices other;
    struct plan plan;
    struct strata_error error;
    size_t calls = 0;
    const struct counters counting = {.context = &calls, .groups = 1, .count = count_calls};
    (void)state;
    other = matrices;
    strcpy(other.branches.kernels[0].name, "zz");
    assert_int_equal(plan_make(&options, &other, &plan), 0);
    assert_int_equal(perform(&plan, &other, &counting, &error), STRATA_BAD_INPUT);
    assert_non_null(strstr(error.text, "zz"));
    plan_release(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),
        cmocka_unit_test(good),
        cmocka_unit_test(table_of_the_source),
        cmocka_unit_test(bad_matrices),
        cmocka_unit_test(branches),
        cmocka_unit_test(walks),
        cmocka_unit_test(sizes),
        cmocka_unit_test(prefetches),
        cmocka_unit_test(prefetches_beside),
        cmocka_unit_test(prefetches_in_pages),
        cmocka_unit_test(work),
        cmocka_unit_test(emulated_cycles),
        cmocka_unit_test(operating_system),
        cmocka_unit_test(reasons),
        cmocka_unit_test(composites),
        cmocka_unit_test(chains),
        cmocka_unit_test(quiet_chains),
        cmocka_unit_test(chains_by_turns),
        cmocka_unit_test(writes),
        cmocka_unit_test(performing),
        cmocka_unit_test(unknown_kernel),
    };
    return cmocka_run_group_tests(tests, read_matrices, NULL);
}
