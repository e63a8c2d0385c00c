/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Views of the sample profile, whose every number is known: rows and their order, what is
 * selected, shares, estimates, and how they look as text, CSV and JSON. */
#include "core/rng.h"
#include "profile/profile.h"
#include "profile/sql.h"
#include "report/callgrind.h"
#include "report/view_report.h"
#include "test_raw_fixture.h"
#include "views/names.h"
#include "views/view.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

static struct profile *make_profile(uint32_t collect, bool child)
{
    static const struct profile_provenance provenance = {.program = "./equake",
                                                         .seconds = -1};
    char folder[] = "/tmp/strata-test-views-XXXXXX", paths[3][64];
    struct raw_builder builder;
    struct profile_summary summary;
    struct strata_error error = {0};
    struct profile *profile;
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 3; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%d", folder, i);
    const char *raws[] = {paths[0], paths[1]};
    sample_parent(&builder, collect);
    raw_save(&builder, raws[0]);
    raw_discard(&builder);
    sample_child(&builder);
    raw_save(&builder, raws[1]);
    raw_discard(&builder);
    if (profile_write(paths[2], &provenance, raws, child ? 2 : 1, &summary, &error) ||
        profile_open(paths[2], &profile, &error))
        fail_msg("%s", error.text);
    for (int i = 0; i < 3; i++)
        unlink(paths[i]); /* it stays open */
    rmdir(folder);
    return profile;
}

static struct view make(const struct profile *profile, struct view_query query)
{
    struct view view;
    struct strata_error error = {0};
    query.pid = query.pid ? query.pid : -1;
    if (view_make(profile, &query, &view, &error))
        fail_msg("%s", error.text);
    return view;
}

static const struct value *value_of(const struct table *table, size_t row, const char *key)
{
    size_t column = table_find(table, key);
    if (column == table->ncolumns || row >= table->nrows)
        fail_msg("no column %s or row %zu", key, row);
    return table_at(table, row, column);
}

static void is_text(const struct table *table, size_t row, const char *key,
                    const char *text)
{
    assert_true(value_of(table, row, key)->known);
    assert_string_equal(value_of(table, row, key)->text, text);
}

static void is_count(const struct table *table, size_t row, const char *key, uint64_t count)
{
    assert_true(value_of(table, row, key)->known);
    assert_int_equal(value_of(table, row, key)->count, count);
}

static void is_number(const struct table *table, size_t row, const char *key, double number)
{
    assert_true(value_of(table, row, key)->known);
    if (fabs(value_of(table, row, key)->number - number) > 1e-9)
        fail_msg("%s is %g, not %g", key, value_of(table, row, key)->number, number);
}

static void test_objects(void **state)
{
    struct profile *profile = *state;
    struct view view = make(profile, (struct view_query){.view = "objects"});
    assert_int_equal(view.rows.nrows, SAMPLE_BUCKETS);
    is_text(&view.rows, 0, "object", "mem_init-main");
    is_text(&view.rows, 0, "kind", "heap");
    is_text(&view.rows, 0, "place", "quake.c:412");
    is_count(&view.rows, 0, "latency", 41000000);
    is_number(&view.rows, 0, "latency_pct", 100.0 * 41000000 / 50050000);
    is_count(&view.rows, 0, "misses", 650000);
    is_number(&view.rows, 0, "misses_pct", 100.0 * 650000 / 1005000);
    is_number(&view.rows, 0, "latency_per_event", 41000000.0 / 650000);
    is_count(&view.rows, 0, "l2_misses", 315000);
    is_count(&view.rows, 0, "tlb2_misses", 1500);
    is_text(&view.rows, 2, "object", "Exc");
    is_text(&view.rows, 2, "module", "/opt/equake");
    is_count(&view.rows, 2, "events", 125000);
    is_count(&view.totals, 0, "latency", 50050000);
    is_count(&view.run, 0, "instructions", 40100000);
    assert_false(value_of(&view.run, 0, "fetches")->known);
    assert_false(value_of(&view.run, 0, "samples")->known);
    is_text(&view.provenance, 0, "machine_name", "Tiny");
    assert_int_equal(view.rest, 0);
    view_release(&view);
}

static void test_order(void **state)
{
    struct profile *profile = *state;
    struct view view =
        make(profile, (struct view_query){.view = "objects", .order = BY_EVENTS});
    static const uint64_t events[] = {650000, 190000, 125000, 30000, 10000};
    for (size_t i = 0; i < 5; i++)
        is_count(&view.rows, i, "events", events[i]);
    view_release(&view);
    view = make(profile, (struct view_query){.view = "lines", .order = BY_MISSES});
    is_count(&view.rows, 0, "line", 1195);
    is_text(&view.rows, 1, "function", "memcpy");
    assert_false(value_of(&view.rows, 1, "file")->known);
    assert_false(value_of(&view.rows, 1, "line")->known);
    view_release(&view);
}

/* Functions of one object, objects of one function, one process of two. */
static void test_selection(void **state)
{
    struct profile *profile = *state;
    struct view view =
        make(profile, (struct view_query){.view = "functions", .object = "mem_init-main"});
    assert_int_equal(view.rows.nrows, 2);
    is_text(&view.rows, 0, "function", "smvp");
    is_number(&view.rows, 0, "latency_pct", 100.0 * 40 / 41);
    assert_string_equal(view.title, "functions of mem_init-main, by latency");
    view_release(&view);
    view = make(profile, (struct view_query){.view = "objects", .function = "memcpy"});
    assert_int_equal(view.rows.nrows, 2);
    is_count(&view.rows, 0, "latency", 6500000);
    is_count(&view.rows, 1, "latency", 1000000);
    view_release(&view);
    view = make(profile, (struct view_query){.view = "objects", .pid = 4001});
    assert_int_equal(view.rows.nrows, 1);
    is_text(&view.rows, 0, "object", "Exc");
    is_count(&view.rows, 0, "events", 5000);
    is_count(&view.run, 0, "instructions", 100000);
    view_release(&view);
    view = make(profile,
                (struct view_query){
                    .view = "lines", .object = "Exc", .function = "smvp", .pid = 4000});
    assert_int_equal(view.rows.nrows, 1);
    is_count(&view.rows, 0, "latency", 400000);
    view_release(&view);
    view = make(profile, (struct view_query){
                             .view = "objects", .object = "<STACK>", .function = "memcpy"});
    assert_int_equal(view.rows.nrows, 0);
    view_release(&view);
}

static void test_top(void **state)
{
    struct profile *profile = *state;
    struct view view = make(profile, (struct view_query){.view = "objects", .top = 2});
    assert_int_equal(view.rows.nrows, 3);
    assert_int_equal(view.rest, 3);
    is_text(&view.rows, 2, "object", "(3 others)");
    is_count(&view.rows, 2, "latency", 1450000 + 800000 + 300000);
    is_count(&view.totals, 0, "latency", 50050000);
    view_release(&view);
    view = make(profile, (struct view_query){.view = "objects", .top = 5});
    assert_int_equal(view.rows.nrows, 5);
    assert_int_equal(view.rest, 0);
    view_release(&view);
}

static void test_totals(void **state)
{
    struct profile *profile = *state;
    struct view view = make(profile, (struct view_query){.view = "totals"});
    assert_int_equal(view.rows.nrows, 4);
    is_text(&view.rows, 0, "name", "L1d");
    is_count(&view.rows, 0, "accesses", 15050000);
    is_count(&view.rows, 0, "misses", 1005000);
    is_number(&view.rows, 0, "misses_pct", 100.0 * 1005000 / 15050000);
    is_text(&view.rows, 3, "name", "L2 TLB");
    assert_false(value_of(&view.rows, 3, "evictions")->known);
    is_count(&view.totals, 0, "events", 1005000);
    assert_int_equal(view.processes.nrows, 2);
    assert_false(value_of(&view.processes, 0, "parent")->known);
    is_count(&view.processes, 1, "parent", 4000);
    is_text(&view.processes, 1, "end", "signalled");
    is_count(&view.processes, 1, "status", 9);
    view_release(&view);
}

static void test_sizes(void **state)
{
    struct profile *profile = *state;
    struct view view = make(profile, (struct view_query){.view = "sizes"});
    assert_int_equal(view.rows.nrows, 3);
    is_count(&view.rows, 0, "objects", 1335667);
    is_number(&view.rows, 0, "mean", 24);
    is_count(&view.rows, 0, "per_line", 2);
    assert_false(value_of(&view.rows, 1, "per_line")->known); /* 80 bytes */
    assert_int_equal(view.nnotes, 0);
    view_release(&view);
    view = make(profile, (struct view_query){.view = "sizes", .object = "mem_init-main"});
    assert_int_equal(view.nnotes, 1);
    assert_non_null(strstr(view.notes[0], "1,335,667 blocks of 24 bytes"));
    view_release(&view);
    view = make(profile, (struct view_query){.view = "sizes", .function = "phi0"});
    assert_int_equal(view.rows.nrows, 1);
    is_text(&view.rows, 0, "object", "Exc");
    view_release(&view);
}

/* Samples alone are estimates, and say nothing of TLBs. */
static void test_sampled(void **state)
{
    (void)state;
    struct profile *profile = make_profile(RAW_SAMPLED, false);
    struct view view = make(profile, (struct view_query){.view = "objects"});
    is_count(&view.rows, 0, "misses", 651000);
    is_count(&view.rows, 0, "samples", 651);
    is_count(&view.rows, 0, "latency", 41000000);
    is_count(&view.rows, 0, "l2_misses", 315000);
    assert_false(value_of(&view.rows, 0, "tlb1_misses")->known);
    assert_int_equal(table_find(&view.rows, "true_misses"), view.rows.ncolumns);
    is_count(&view.run, 0, "samples", 1000);
    assert_non_null(strstr(view.notes[0], "one in 1,000 misses"));
    view_release(&view);
    /* Samples of misses of level 2 say nothing of level 1. */
    profile->event_level = 2;
    view = make(profile, (struct view_query){.view = "objects"});
    is_count(&view.rows, 0, "misses", 315000);
    assert_false(value_of(&view.rows, 0, "l1_misses")->known);
    view_release(&view);
    profile_close(profile);
}

static void test_both(void **state)
{
    (void)state;
    struct profile *profile = make_profile(RAW_EXACT | RAW_SAMPLED, false);
    struct view view = make(profile, (struct view_query){.view = "objects"});
    is_count(&view.rows, 0, "misses", 650000);
    is_count(&view.rows, 0, "estimated_misses", 651000);
    is_number(&view.rows, 0, "estimated_misses_pct", 65.1);
    is_count(&view.rows, 0, "true_misses", 650000);
    is_number(&view.rows, 0, "true_misses_pct", 65);
    is_number(&view.rows, 0, "misses_error_pp", 65.1 - 65);
    is_number(&view.rows, 2, "misses_error_pp", 11.9 - 12);
    is_count(&view.rows, 0, "estimated_latency", 41000000);
    view_release(&view);
    profile_close(profile);
}

static void refused(const struct profile *profile, struct view_query query,
                    const char *text)
{
    struct view view;
    struct strata_error error = {0};
    assert_int_equal(view_make(profile, &query, &view, &error), STRATA_BAD_INPUT);
    if (!strstr(error.text, text))
        fail_msg("\"%s\" does not say \"%s\"", error.text, text);
}

static void test_refused(void **state)
{
    struct profile *profile = *state;
    refused(profile, (struct view_query){.view = "nonsense", .pid = -1},
            "no view nonsense");
    refused(profile, (struct view_query){.view = "evictions", .pid = -1},
            "has no evictions");
    refused(profile, (struct view_query){.view = "fields", .pid = -1}, "has no fields");
    refused(profile, (struct view_query){.view = "objects", .object = "x", .pid = -1},
            "no object x");
    refused(profile, (struct view_query){.view = "objects", .function = "x", .pid = -1},
            "no function x");
    refused(profile, (struct view_query){.view = "objects", .pid = 1},
            "no process 1 in this profile, which has 4000, 4001");
    refused(profile, (struct view_query){.view = "totals", .object = "Exc", .pid = -1},
            "leave --object out");
}

static void test_names(void **state)
{
    struct profile *profile = *state;
    struct names names;
    struct strata_error error;
    const char *first;
    assert_int_equal(names_read(profile, NAMES_OBJECTS, &names, &error), 0);
    assert_int_equal(names.n, SAMPLE_BUCKETS);
    assert_int_equal(names_match(&names, "mem", &first), 1);
    assert_string_equal(first, "mem_init-main");
    assert_int_equal(names_match(&names, "<", &first), 2);
    assert_int_equal(names_match(&names, "*main", &first), 2);
    assert_int_equal(names_match(&names, "*_init-*", &first), 1);
    assert_int_equal(names_match(&names, "nonsense", &first), 0);
    assert_int_equal(names_match(&names, "", &first), 0);
    names_release(&names);
    assert_int_equal(names_read(profile, NAMES_FUNCTIONS, &names, &error), 0);
    assert_int_equal(names.n, 3);
    assert_string_equal(names.list[0], "memcpy");
    names_release(&names);
}

/* Reports. */

static char *printed(const struct view *view, void (*print)(FILE *, const struct view *))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    print(out, view);
    assert_int_equal(fclose(out), 0);
    return text;
}

static int text_width;

static void print_text(FILE *out, const struct view *view)
{
    view_text(out, view, false, text_width, NULL);
}

/* A process that was killed before its first miss. */
static void test_empty(void **state)
{
    (void)state;
    static const struct profile_provenance provenance = {.seconds = -1};
    static const char *const views[] = {"totals", "objects", "functions", "lines", "sizes"};
    char raw[] = "/tmp/strata-test-views-XXXXXX", path[64];
    const char *raws[] = {raw};
    struct raw_builder builder;
    struct profile_summary summary;
    struct strata_error error;
    struct profile *profile;
    close(mkstemp(raw));
    snprintf(path, sizeof path, "%s.strata", raw);
    raw_begin(&builder, RAW_EXACT);
    raw_header_of(&builder)->end = RAW_RUNNING;
    raw_save(&builder, raw);
    raw_discard(&builder);
    assert_int_equal(profile_write(path, &provenance, raws, 1, &summary, &error), 0);
    assert_int_equal(summary.objects + summary.cells, 0);
    assert_int_equal(profile_open(path, &profile, &error), 0);
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        struct view view = make(profile, (struct view_query){.view = views[i]});
        is_count(&view.totals, 0, "misses", 0);
        assert_false(value_of(&view.totals, 0, "latency_per_event")->known);
        text_width = 80;
        char *text = printed(&view, print_text);
        assert_non_null(strstr(text, ": no events\n"));
        free(text);
        view_release(&view);
    }
    profile_close(profile);
    unlink(raw);
    unlink(path);
}

static size_t widest(const char *text)
{
    size_t most = 0;
    for (; *text; text += strcspn(text, "\n"), text += *text != 0) {
        size_t n = strcspn(text, "\n");
        most = n > most ? n : most;
    }
    return most;
}

/* Every view fits every width, and no line ends in a space. */
static void test_widths(void **state)
{
    struct profile *profile = *state;
    static const char *const views[] = {"totals", "objects", "functions", "lines", "sizes"};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        struct view view = make(profile, (struct view_query){.view = views[i]});
        for (text_width = 44; text_width < 250; text_width += 7) {
            char *text = printed(&view, print_text);
            if (widest(text) > (size_t)text_width)
                fail_msg("%s at %d:\n%s", views[i], text_width, text);
            assert_null(strstr(text, " \n"));
            assert_non_null(strstr(text, "\n  "));
            free(text);
        }
        view_release(&view);
    }
}

/* Rows below a share are left out, and are in the rest. */
static void test_noise(void **state)
{
    struct profile *profile = *state;
    struct view view = make(profile, (struct view_query){.view = "objects", .least = 2});
    assert_int_equal(view.rows.nrows, 4);
    assert_int_equal(view.rest, 2);
    assert_string_equal(table_at(&view.rows, 3, 0)->text, "(2 others)");
    view_release(&view);
}

/* What nothing is known of and what there is none of are two things. */
static void test_dashes(void **state)
{
    struct profile *profile = *state;
    unsigned told = 0;
    struct view view = make(profile, (struct view_query){.view = "objects", .top = 3});
    size_t place = table_find(&view.rows, "place");
    const struct value *rest = table_at(&view.rows, 3, place);
    assert_true(!rest->known && rest->none);
    view_release(&view);
    view = make(profile, (struct view_query){.view = "totals"});
    size_t column = table_find(&view.rows, "prefetches");
    for (size_t row = 0; row < view.rows.nrows; row++)
        assert_true(table_at(&view.rows, row, column)->known !=
                    table_at(&view.rows, row, column)->none);
    FILE *out = fopen("/dev/null", "w");
    view_text(out, &view, false, 80, &told);
    fclose(out);
    assert_true(told != 0);
    view_release(&view);
}

/* Cycles are the sum of their parts; latencies, which overlap with instructions, are none
 * of them. */
static void test_cycles(void **state)
{
    struct profile *profile = *state;
    struct view view = make(profile, (struct view_query){.view = "totals"});
    const struct table *run = &view.run;
    uint64_t sum = 0;
    for (size_t i = 0; i < run->ncolumns; i++)
        if (strncmp(run->columns[i].heading, "  ", 2) == 0)
            sum += table_at(run, 0, i)->known ? table_at(run, 0, i)->count : 0;
    assert_int_equal(sum, 90200000);
    assert_int_equal(table_at(run, 0, table_find(run, "cycles"))->count, sum);
    text_width = 80;
    char *text = printed(&view, print_text);
    assert_non_null(strstr(text, "\n    waiting for memory          50,100,000\n"));
    assert_null(strstr(text, "cycles of accesses"));
    free(text);
    view_release(&view);
}

static void test_text(void **state)
{
    struct profile *profile = *state;
    struct view view = make(profile, (struct view_query){.view = "objects", .top = 3});
    text_width = 80;
    char *text = printed(&view, print_text);
    assert_string_equal(
        text,
        "objects, by latency: 50,050,000 cycles of latency, 1,005,000 misses, 49.8 an\n"
        "  event\n"
        "  object                     latency  %latency        misses  %misses  "
        "cyc/event\n"
        "  mem_init-main           41,000,000      81.9 ####  650,000     64.7       "
        "63.1\n"
        "  std::_Rb_t...:add-main   6,500,000      13.0 #     190,000     18.9       "
        "34.2\n"
        "  Exc                      1,450,000       2.9       125,000     12.4       "
        "11.6\n"
        "  (2 others)               1,100,000       2.2        40,000      4.0       "
        "27.5\n");
    free(text);
    /* Large numbers are in millions, all in their column. */
    view.rows.values[table_find(&view.rows, "latency")].count = 97184123456;
    text = printed(&view, print_text);
    assert_non_null(strstr(text, " 97,184M "));
    assert_non_null(strstr(text, " 7M "));
    free(text);
    view_release(&view);
}

static void test_csv(void **state)
{
    struct profile *profile = *state;
    struct view view = make(profile, (struct view_query){.view = "objects"});
    char *text = printed(&view, view_csv);
    assert_memory_equal(text, "object,kind,module,place,latency,", 33);
    assert_non_null(strstr(text, "\nmem_init-main,heap,,quake.c:412,41000000,81.91808192,"
                                 "650000,"));
    /* A comma in a name is quoted; the name is whole. */
    assert_non_null(strstr(text, "\n\"std::_Rb_tree<std::string, std::pair<std::string "
                                 "const, mesh::element> >::_M_insert_node-mesh::element_map"
                                 "::add-main\",heap,"));
    free(text);
    view_release(&view);
}

static void test_json(void **state)
{
    struct profile *profile = *state;
    struct view view = make(profile, (struct view_query){.view = "objects", .top = 1});
    json_t *json = view_json(&view);
    assert_non_null(json);
    assert_string_equal(json_string_value(json_object_get(json, "view")), "objects");
    json_t *rows = json_object_get(json, "rows");
    assert_int_equal(json_array_size(rows), 1);
    json_t *row = json_array_get(rows, 0), *rest = json_object_get(json, "rest");
    assert_int_equal(json_integer_value(json_object_get(row, "misses")), 650000);
    json_t *levels = json_object_get(row, "misses_by_level");
    assert_int_equal(json_array_size(levels), 2);
    assert_int_equal(json_integer_value(json_array_get(levels, 1)), 315000);
    assert_int_equal(json_array_size(json_object_get(row, "tlb_misses_by_level")), 2);
    assert_true(json_is_null(json_object_get(row, "module")));
    assert_int_equal(json_integer_value(json_object_get(rest, "rows")), 4);
    assert_null(json_object_get(rest, "object"));
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(json, "totals"), "misses")),
        1005000);
    json_decref(json);
    view_release(&view);
}

/* The costs of code are inclusive, those of objects own; both sums are the total. */
static void test_callgrind(void **state)
{
    struct profile *profile = *state;
    char *text = NULL, *line, *rest;
    size_t size;
    unsigned long long own = 0, called = 0, cost;
    bool call = false;
    struct strata_error error;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(callgrind_export(out, profile, &error), 0);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "\nevents: Latency Events Stores L1m L2m T1m T2m\n"));
    assert_non_null(strstr(text, "\ntotals: 50050000 1005000 251250 1005000 363000 7500 "
                                 "7500\n"));
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (sscanf(line, "%*u %llu", &cost) == 1)
            *(call ? &called : &own) += cost;
        call = strncmp(line, "calls=", 6) == 0;
    }
    assert_int_equal(own, 50050000);
    assert_int_equal(called, 50050000);
    free(text);
}

/* Any bytes changed: refused or shown, never a crash. */

static void look_at_all(const struct profile *profile)
{
    static const char *const views[] = {"totals", "objects", "functions", "lines", "sizes"};
    struct strata_error error = {0};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        struct view_query query = {.view = views[i], .pid = -1, .top = 2};
        struct view view;
        text_width = 80;
        if (view_make(profile, &query, &view, &error))
            continue;
        free(printed(&view, print_text));
        free(printed(&view, view_csv));
        json_decref(view_json(&view));
        view_release(&view);
    }
    FILE *out = fopen("/dev/null", "w");
    assert_non_null(out);
    callgrind_export(out, profile, &error);
    fclose(out);
}

static void test_flipped(void **state)
{
    struct profile *whole = *state, *profile;
    char path[] = "/tmp/strata-test-views-XXXXXX";
    int fd = mkstemp(path), opened = 0;
    struct rng rng = {20};
    sqlite3_int64 size;
    unsigned char *bytes = sqlite3_serialize(whole->db, "main", &size, 0);
    assert_true(fd >= 0 && bytes);
    for (int i = 0; i < 200; i++) {
        size_t at = (size_t)rng_below(&rng, (uint64_t)size);
        unsigned char before = bytes[at];
        struct strata_error error = {0};
        bytes[at] = (unsigned char)rng_next(&rng);
        assert_int_equal(pwrite(fd, bytes, (size_t)size, 0), size);
        bytes[at] = before;
        int status = profile_open(path, &profile, &error);
        assert_true(status == STRATA_OK || status == STRATA_BAD_INPUT);
        if (status)
            continue;
        opened++;
        look_at_all(profile);
        profile_close(profile);
    }
    assert_true(opened > 0 && opened < 200);
    sqlite3_free(bytes);
    close(fd);
    unlink(path);
}

static int set_up(void **state)
{
    *state = make_profile(RAW_EXACT, true);
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    profile_close(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects),   cmocka_unit_test(test_order),
        cmocka_unit_test(test_selection), cmocka_unit_test(test_top),
        cmocka_unit_test(test_totals),    cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_sampled),   cmocka_unit_test(test_both),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_names),
        cmocka_unit_test(test_widths),    cmocka_unit_test(test_text),
        cmocka_unit_test(test_noise),     cmocka_unit_test(test_dashes),
        cmocka_unit_test(test_cycles),    cmocka_unit_test(test_csv),
        cmocka_unit_test(test_json),      cmocka_unit_test(test_empty),
        cmocka_unit_test(test_callgrind), cmocka_unit_test(test_flipped),
    };
    setlocale(LC_ALL, "C");
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
