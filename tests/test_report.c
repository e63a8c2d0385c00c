/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reports of a probe as text: the table, the picture, the comparison, JSON, the C
 * header, the comment of a machine file. They are also given what no probe should find:
 * values that are no numbers, names with any bytes in them, nothing at all. */
#include "core/utf8.h"
#include "host/claims.h"
#include "report/probe_levels.h"
#include "report/probe_report.h"
#include "report/terminal.h"
#include "test_report_fixture.h"

#include <ctype.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

/* What a report prints, as a string for the caller to free. */
typedef void printer(FILE *out, const struct strata_probed *probed, int width);

static char *printed(printer *print, const struct strata_probed *probed, int width)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    print(out, probed, width);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void plain_table(FILE *out, const struct strata_probed *probed, int width)
{
    probe_table(out, probed, false, width);
}

static void colour_table(FILE *out, const struct strata_probed *probed, int width)
{
    probe_table(out, probed, true, width);
}

static void plain_picture(FILE *out, const struct strata_probed *probed, int width)
{
    probe_picture(out, probed, false, width, 16);
}

static void plain_comparison(FILE *out, const struct strata_probed *probed, int width)
{
    struct claims claims;
    struct strata_error error = {0};
    assert_int_equal(claims_read("tests/data/sysfs-zen4", 0, &claims, &error), STRATA_OK);
    probe_compare(out, probed, &claims, false, width);
}

/* No line is wider, ends in a space, or has a control character. */
static void assert_tidy(const char *text, size_t width)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        char line[512];
        assert_true(length < sizeof line);
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        if (utf8_length(line) > width)
            fail_msg("wider than %zu: %s", width, line);
        assert_true(!length || line[length - 1] != ' ');
        for (size_t i = 0; i < length; i++)
            assert_false(iscntrl((unsigned char)line[i]));
        text += length + (text[length] == '\n');
    }
}

static void reasons(FILE *out, const struct strata_probed *probed, int width)
{
    probe_why(out, probed, width);
}

static void reasons_line(FILE *out, const struct strata_probed *probed, int width)
{
    probe_why_line(out, probed, width);
}

static void assert_prints(printer *print, const struct strata_probed *probed, int width,
                          const char *wanted)
{
    char *text = printed(print, probed, width);
    assert_string_equal(text, wanted);
    free(text);
}

static void table_is_as_documented(void **state)
{
    (void)state;
    struct strata_probed probed = fixture_probed();
    assert_prints(plain_table, &probed, 80,
                  "AMD EPYC 9R14: timing on cpu 1, 11.2 s, 3% of trials disturbed\n"
                  "           size  usable        line  ways      latency\n"
                  "  L1 data   32K  32K             64     8     4 cycles    1.1 ns\n"
                  "  L2         1M? 768K .. 896K    64     -  14.3 cycles    3.9 ns\n"
                  "  L3          -  8.5M .. 12M      -     -    50 cycles   14   ns\n"
                  "  memory                                    390 cycles  105   ns\n"
                  "           entries  reach  ways  miss costs\n"
                  "  L1 dTLB       72   288K  full    7 cycles  1.9 ns  4K pages\n"
                  "  L2 dTLB     3072    12M     -   32 cycles  8.6 ns  4K pages\n"
                  "  L1 dTLB       72   144M  full    7 cycles  1.9 ns  2M pages\n");
    dataset_release(probed.data);
}

/* One table at 60 columns, too: units are in its heading. */
static void table_is_whole_at_60_columns(void **state)
{
    (void)state;
    struct strata_probed probed = fixture_probed();
    assert_prints(plain_table, &probed, 60,
                  "AMD EPYC 9R14: timing on cpu 1, 11.2 s, 3% of trials\n"
                  "  disturbed\n"
                  "           size  usable        line  ways  cycles   ns\n"
                  "  L1 data   32K  32K             64     8       4  1.1\n"
                  "  L2         1M? 768K .. 896K    64     -    14.3  3.9\n"
                  "  L3          -  8.5M .. 12M      -     -      50   14\n"
                  "  memory                                      390  105\n"
                  "           entries  reach  ways  cycles   ns  page\n"
                  "  L1 dTLB       72   288K  full       7  1.9    4K\n"
                  "  L2 dTLB     3072    12M     -      32  8.6    4K\n"
                  "  L1 dTLB       72   144M  full       7  1.9    2M\n");
    dataset_release(probed.data);
}

static void reasons_are_one_line_or_all(void **state)
{
    (void)state;
    struct strata_probed probed = fixture_probed();
    probed.caches[0].latency_cycles.confidence = 0; /* measured once */
    assert_prints(reasons_line, &probed, 80,
                  "5 values not known (-), 2 uncertain (?), 4 remarks: --why\n");
    assert_prints(
        reasons, &probed, 80,
        "L2 ways: not known: its index is hashed, and 4 tries found no eviction set.\n"
        "L3 size: not known: other guests use a part of it.\n"
        "L3 line: not known: prefetching hides it.\n"
        "L3 ways: not known: its index is hashed, and 4 tries found no eviction set.\n"
        "L2 dTLB ways: not known: pages of one set were not found.\n"
        "? less than 95% sure: L1 data latency (not confirmed), L2 size (81% sure).\n"
        "L2 line: 128 bytes behave as one line (effective line).\n"
        "L3 line: 256 bytes behave as one line (effective line).\n"
        "memory latency: between 350 and 460 cycles.\n"
        "L3: less than usual may be free; other guests seem to use the rest.\n");
    dataset_release(probed.data);
    struct strata_probed sure = {.cpu = -1};
    sure.memory_cycles = sure.memory_ns = fixture_exact(100);
    assert_prints(reasons_line, &sure, 80, "");
    assert_prints(reasons, &sure, 80, "");
}

/* No more digits than a measurement supports, and intervals that hold what they held. */
static void digits_are_true(void **state)
{
    (void)state;
    struct strata_probed probed = fixture_probed();
    probed.caches[1].effective = fixture_known(662630, 575180, 950272, 0.96);
    probed.caches[2].effective = fixture_known(9437184, 8200000, 12100000, 0.96);
    probed.memory_cycles = fixture_known(388.4, 311, 485, 0.96);
    probed.tlbs[1].entries = fixture_known(1459, 1307, 3260, 0.49);
    char *text = printed(plain_table, &probed, 80);
    static const char *const wanted[] = {"560K .. 930K ", " 7.8M .. 12M ", " 390 cycles",
                                         "1300 .. 3300?", "5.1M .. 13M"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(text, wanted[i]))
            fail_msg("%s is not in\n%s", wanted[i], text);
    free(text);
    dataset_release(probed.data);
}

/* The same in the machine that is saved. */
static void frequency_has_four_digits(void **state)
{
    (void)state;
    struct strata_probed probed = fixture_probed();
    struct strata_machine machine;
    struct strata_error error = {0};
    probed.cycle_ns = 1e9 / 2870105982;
    assert_int_equal(strata_probed_machine(&probed, &machine, &error), STRATA_OK);
    assert_int_equal(machine.frequency, 2870000000);
    dataset_release(probed.data);
}

/* What has one reason is said once. */
static void reasons_are_grouped(void **state)
{
    (void)state;
    struct strata_probed probed = fixture_probed();
    probed.caches[1].size = probed.caches[1].ways = probed.caches[1].line =
        fixture_unknown("no time was left");
    probed.memory_cycles = probed.memory_ns = fixture_unknown("");
    char *text = printed(reasons, &probed, 80);
    assert_non_null(strstr(text, "L2 size, line, ways: not known: no time was left.\n"));
    assert_null(strstr(text, "L2 ways: "));
    assert_non_null(strstr(text, "\nmemory latency: not known.\n")); /* in ns as well */
    assert_null(strstr(text, "latency in ns"));
    free(text);
    dataset_release(probed.data);
}

static void table_fits_a_narrow_terminal(void **state)
{
    (void)state;
    struct strata_probed probed = fixture_probed();
    for (int width = 40; width <= 100; width += 3) {
        char *text = printed(plain_table, &probed, width);
        assert_tidy(text, (size_t)width);
        /* in pieces or not, all is there */
        assert_non_null(strstr(text, "768K .. 896K"));
        assert_non_null(strstr(text, width < 72 ? "390" : "390 cycles"));
        assert_non_null(strstr(text, width < 72 ? "2M\n" : "2M pages"));
        free(text);
    }
    dataset_release(probed.data);
}

/* The text without escape sequences. */
static void strip_colour(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from == '\033')
            from += strcspn(from, "m");
        else
            *to++ = *from;
    }
    *to = '\0';
}

static void colour_changes_nothing_else(void **state)
{
    (void)state;
    struct strata_probed probed = fixture_probed();
    char *plain = printed(plain_table, &probed, 80);
    char *coloured = printed(colour_table, &probed, 80);
    assert_null(strchr(plain, '\033'));
    assert_non_null(strstr(coloured, "\033[1m"));
    strip_colour(coloured);
    assert_string_equal(coloured, plain);
    free(plain);
    free(coloured);
    dataset_release(probed.data);
}

/* What no probe should find, but a library is given. */
static struct strata_probed absurd(void)
{
    struct strata_probed probed = fixture_probed();
    snprintf(probed.name, sizeof probed.name, "*/ \"\\ ?\?/ <b>&\xff\033[31m\n");
    probed.source = probed.method = NULL;
    probed.ncaches = probed.ntlbs = probed.nnotes = 1000;
    probed.cycle_ns = probed.seconds = NAN;
    probed.huge = 0;
    probed.caches[0].size = fixture_known(NAN, NAN, NAN, NAN);
    probed.caches[0].effective = fixture_known(INFINITY, 0, INFINITY, 2);
    probed.caches[1].effective = fixture_known(1e300, -1e300, 1e300, -1);
    probed.caches[1].latency_ns = fixture_known(-5, NAN, NAN, 0);
    probed.memory_cycles = fixture_known(1e18, 0, 1e19, 0.5);
    memset(probed.caches[2].ways.why, 'w', sizeof probed.caches[2].ways.why - 1);
    probed.tlbs[0].level = -2147483647;
    probed.tlbs[0].page = 0;
    return probed;
}

static void odd_values_do_no_harm_to_text(void **state)
{
    (void)state;
    static printer *const printers[] = {plain_table, reasons, reasons_line, plain_picture,
                                        plain_comparison};
    struct strata_probed empty = {.cpu = -1}, odd = absurd();
    for (size_t i = 0; i < sizeof printers / sizeof *printers; i++)
        for (int width = 0; width < 260; width += 20) {
            char *text = printed(printers[i], &empty, width);
            assert_tidy(text, 200);
            free(text);
            text = printed(printers[i], &odd, width);
            assert_tidy(text, 220); /* a cell may be as wide as it needs */
            free(text);
        }
    dataset_release(odd.data);
}

static size_t count_lines(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void picture_names_the_levels(void **state)
{
    (void)state;
    struct strata_probed probed = fixture_probed();
    for (int width = 40; width <= 160; width += 40) {
        char *text = printed(plain_picture, &probed, width);
        assert_tidy(text, (size_t)width);
        assert_int_equal(count_lines(text), 16);
        free(text);
    }
    char *text = printed(plain_picture, &probed, 80);
    static const char *const words[] = {"L1 32K", "L2 768K", "L3 9M", "memory",
                                        "cycles", "1K",      "16M"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_non_null(strstr(text, words[i]));
    free(text);
    /* without two points there is nothing to draw */
    probed.data->series[0]->name[0] = 'x';
    text = printed(plain_picture, &probed, 80);
    assert_string_equal(text, "");
    free(text);
    dataset_release(probed.data);
}

/* The levels of both pictures have the latencies and sizes of the table, also where the
 * curve lies elsewhere, because prefetching helped it. */
static void levels_are_where_the_table_says(void **state)
{
    (void)state;
    struct strata_probed probed = fixture_probed();
    struct level levels[PROBE_LEVELS];
    probed.caches[2].latency_cycles = fixture_known(293, 284, 302, 0.98);
    assert_int_equal(list_levels(&probed, levels), 4);
    char *table = printed(plain_table, &probed, 80);
    for (int i = 0; i < 4; i++) {
        const struct strata_value *told =
            i < 3 ? &probed.caches[i].latency_cycles : &probed.memory_cycles;
        assert_true(levels[i].height == told->value);
        assert_true(levels[i].low == told->low && levels[i].high == told->high);
        assert_non_null(strstr(table, levels[i].cost));
    }
    assert_string_equal(levels[2].cost, "293 cycles");
    assert_string_equal(levels[1].extent, "768K");
    free(table);
    /* what is not known is drawn where the curve is, without a figure */
    probed.caches[1].latency_cycles = fixture_unknown("no time was left");
    assert_int_equal(list_levels(&probed, levels), 4);
    assert_true(levels[1].height > 13 && levels[1].height < 16);
    assert_string_equal(levels[1].cost, "");
    dataset_release(probed.data);
}

static void picture_has_a_bar_where_the_curve_is_not(void **state)
{
    (void)state;
    struct strata_probed probed = fixture_probed();
    probed.caches[2].latency_cycles = fixture_known(293, 284, 302, 0.98);
    char *text = printed(plain_picture, &probed, 120), shown[16384];
    snprintf(shown, sizeof shown, "%s", text);
    free(text);
    assert_non_null(strstr(shown, "L3 9M, 293 cycles"));
    char *hundred = strstr(shown, "\n   100 +"); /* the curve is at 50 */
    assert_non_null(hundred);
    *hundred = '\0';
    assert_non_null(strstr(shown, "===================="));
    dataset_release(probed.data);
}

/* In a terminal with UTF-8 the same picture is made of braille and lines. */
static void picture_follows_the_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        skip();
    struct strata_probed probed = fixture_probed();
    char *text = printed(plain_picture, &probed, 80);
    char *table = printed(plain_table, &probed, 80);
    setlocale(LC_CTYPE, "C");
    assert_non_null(strstr(text, "└"));
    assert_non_null(strstr(text, "⠤"));
    assert_non_null(strstr(table, "–"));
    assert_int_equal(count_lines(text), 16);
    char clean[16384];
    for (char *c = text; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    assert_string_equal(utf8_clean(text, clean, sizeof clean), text); /* well-formed */
    free(text);
    free(table);
    dataset_release(probed.data);
}

static void comparison_gives_verdicts(void **state)
{
    (void)state;
    struct strata_probed probed = fixture_probed();
    probed.caches[1].ways = fixture_exact(16);
    probed.ncaches = 2;
    static const char wanted[] =
        "                  measured       OS  hwloc  verdict\n"
        "  L1 data size    32K           32K    32K  same\n"
        "  L1 data usable  32K           32K    32K  same: all of it is usable\n"
        "  L1 data line    64             64     64  same\n"
        "  L1 data ways    8               8      8  same\n"
        "  L2 size         1M?            1M     1M  same\n"
        "  L2 usable       768K .. 896K   1M     1M  smaller: 75 to 88% is usable\n"
        "  L2 line         64             64     64  same\n"
        "  L2 ways         16              8      8  larger\n"
        "  L3              none          32M    32M  not found by measurement\n"
        "Pages: measured with 4K and 2M; the OS names 4K, 2M, 1G.\n";
    char *text = printed(plain_comparison, &probed, 80);
    assert_string_equal(text, wanted);
    free(text);
    dataset_release(probed.data);
}

static void file_comparison(FILE *out, const struct strata_probed *probed, int width)
{
    struct strata_machine machine = {
        .page = 4096,
        .ncaches = 1,
        .caches =
            {{.level = 1, .size = 49152, .line = 64, .ways = 12, .types = STRATA_INT}},
        .ntlbs = 2,
        .tlbs = {{.level = 1, .entries = 72, .ways = 72, .page = 4096},
                 {.level = 3, .entries = 99, .ways = 1, .page = 4096}},
    };
    struct claims claims;
    claims_of_machine(&machine, &claims);
    probe_compare(out, probed, &claims, false, width);
}

static void comparison_with_a_machine_file(void **state)
{
    (void)state;
    struct strata_probed probed = fixture_probed();
    probed.ncaches = 1;
    probed.ntlbs = 1;
    static const char wanted[] =
        "                   measured  file  verdict\n"
        "  L1 data size     32K        48K  smaller\n"
        "  L1 data usable   32K        48K  smaller: 67% is usable\n"
        "  L1 data line     64          64  same\n"
        "  L1 data ways     8           12  smaller\n"
        "  L1 dTLB entries  72          72  same\n"
        "  L1 dTLB ways     72          72  same\n"
        "  L3 dTLB          none        99  not found by measurement\n"
        "Pages: measured with 4K and 2M; the file names 4K.\n";
    char *text = printed(file_comparison, &probed, 80);
    assert_string_equal(text, wanted);
    free(text);
    dataset_release(probed.data);
}

/* JSON. */

static double number(const json_t *json, const char *key)
{
    const json_t *value = json_object_get(json, key);
    if (!json_is_number(value))
        fail_msg("%s is no number", key);
    return json_number_value(value);
}

static const char *text_of(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    assert_non_null(text);
    return text;
}

static void json_keeps_the_contract(void **state)
{
    (void)state;
    struct strata_probed probed = fixture_probed();
    json_t *json = probe_json(&probed);
    assert_string_equal(text_of(json, "schema"), "strata.machine/1");
    assert_string_equal(text_of(json, "name"), "AMD EPYC 9R14");
    assert_string_equal(text_of(json, "source"), "timing");
    assert_string_equal(text_of(json, "method"), "timing");
    assert_true(number(json, "page") == 4096);
    const json_t *caches = json_object_get(json, "caches");
    assert_int_equal(json_array_size(caches), 3);
    const json_t *l2 = json_array_get(caches, 1);
    assert_string_equal(text_of(l2, "kind"), "unified");
    assert_string_equal(text_of(json_array_get(caches, 0), "kind"), "data");
    assert_true(number(l2, "level") == 2 && number(l2, "size") == 1 << 20);
    assert_true(number(l2, "line") == 64 && number(l2, "effective_line") == 128);
    assert_true(number(l2, "effective") == 786432 && number(l2, "latency_cycles") == 14.3);
    const json_t *range = json_object_get(l2, "effective_range");
    assert_true(json_integer_value(json_array_get(range, 0)) == 786432);
    assert_true(json_integer_value(json_array_get(range, 1)) == 917504);
    assert_true(number(l2, "confidence") == 0.81); /* the least of all */
    assert_true(number(json_object_get(l2, "confidence_of"), "line") == 0.99);
    const json_t *tlb = json_array_get(json_object_get(json, "tlbs"), 1);
    assert_true(number(tlb, "entries") == 3072 && number(tlb, "page") == 4096);
    assert_true(number(tlb, "penalty_cycles") == 32);
    assert_true(number(json_object_get(json, "memory"), "latency_cycles") == 390);
    assert_true(number(json_object_get(json, "memory"), "latency_ns") == 105.3);
    json_decref(json);
    dataset_release(probed.data);
}

/* Every null, at any depth, has its reason in the "why" of the object that it is in; a
 * range follows the value that it belongs to. */
static void assert_explained(const json_t *json)
{
    const char *key;
    json_t *value;
    size_t i;
    if (json_is_array(json))
        json_array_foreach(json, i, value) assert_explained(value);
    if (!json_is_object(json))
        return;
    json_object_foreach((json_t *)json, key, value)
    {
        char base[64];
        size_t length = strlen(key), n = strlen("_range");
        bool range = length > n && !strcmp(key + length - n, "_range");
        snprintf(base, sizeof base, "%.*s", (int)(range ? length - n : length), key);
        if (json_is_null(value) && strcmp(key, "confidence"))
            assert_true(*text_of(json_object_get(json, "why"), base));
        assert_explained(value);
    }
}

static void json_explains_what_is_null(void **state)
{
    (void)state;
    struct strata_probed probed = fixture_probed();
    probed.cpu = -1;
    probed.huge = 0;
    probed.data->version[0] = '\0';
    probed.memory_ns = probed.memory_cycles =
        (struct strata_value){0}; /* no reason given */
    json_t *json = probe_json(&probed);
    assert_explained(json);
    const json_t *l3 = json_array_get(json_object_get(json, "caches"), 2);
    assert_true(json_is_null(json_object_get(l3, "line")));
    assert_string_equal(text_of(json_object_get(l3, "why"), "line"),
                        "prefetching hides it");
    assert_null(json_object_get(json_object_get(l3, "why"), "effective"));
    assert_true(json_is_null(json_object_get(json, "huge")));
    assert_true(json_is_null(json_object_get(json, "cpu")));
    json_decref(json);
    dataset_release(probed.data);
}

static void json_survives_odd_values(void **state)
{
    (void)state;
    struct strata_probed empty = {.cpu = -1}, odd = absurd();
    const struct strata_probed *both[] = {&empty, &odd};
    for (size_t i = 0; i < 2; i++) {
        json_t *json = probe_json(both[i]);
        assert_non_null(json);
        char *text = json_dumps(json, PROBE_JSON_FLAGS);
        assert_non_null(text);
        json_t *again = json_loads(text, 0, NULL);
        assert_non_null(again);
        free(text);
        json_decref(again);
        json_decref(json);
    }
    dataset_release(odd.data);
}

static void json_has_claims(void **state)
{
    (void)state;
    struct claims claims;
    struct strata_error error = {0};
    assert_int_equal(claims_read("tests/data/sysfs-zen4", 0, &claims, &error), STRATA_OK);
    json_t *json = claims_json(&claims);
    assert_int_equal(json_array_size(json), 2);
    const json_t *os = json_array_get(json, 0);
    assert_string_equal(text_of(os, "by"), "OS");
    const json_t *l3 = json_array_get(json_object_get(os, "caches"), 2);
    assert_true(number(l3, "size") == 32 << 20 && number(l3, "ways") == 16);
    assert_null(json_object_get(os, "tlbs"));
    json_decref(json);
    memset(&claims, 0, sizeof claims);
    claims.by[0] = (struct claim_list){.who = "file", .why = "nothing"};
    claims.tlbs[claims.ntlbs++] = (struct claim_tlb){1, 4096, 64, 0};
    json = claims_json(&claims);
    assert_int_equal(json_array_size(json), 1);
    const json_t *file = json_array_get(json, 0);
    assert_string_equal(text_of(file, "why"), "nothing");
    const json_t *tlb = json_array_get(json_object_get(file, "tlbs"), 0);
    assert_true(number(tlb, "entries") == 64);
    assert_true(json_is_null(json_object_get(tlb, "ways"))); /* not claimed */
    json_decref(json);
}

static void comment_tells_what_is_assumed(void **state)
{
    (void)state;
    static const char wanted[] =
        "Measured by strata 0.1.0: timing on cpu 1, 11.2 s, 3% of trials disturbed, seed "
        "20110410\n"
        "strata probe --data x.json\n"
        "L1 usable: 32K\n"
        "L2 usable: 768K .. 896K\n"
        "L3 usable: 8.5M .. 12M\n"
        "\n"
        "Not known, and so assumed (docs/design/probe.md says how):\n"
        "L2 ways: its index is hashed, and 4 tries found no eviction set\n"
        "L3 size: other guests use a part of it.\n"
        "L3 line: prefetching hides it\n"
        "L3 ways: its index is hashed, and 4 tries found no eviction set\n"
        "L2 dTLB ways: pages of one set were not found\n"
        "\n"
        "Assumed, not measured: [branch], a usual predictor. What is counted of wrong\n"
        "guesses on this machine rests on it, and not on the processor.\n";
    struct strata_probed probed = fixture_probed(), odd = absurd();
    char *text = probe_comment(&probed);
    assert_string_equal(text, wanted);
    free(text);
    text = probe_comment(&odd);
    assert_tidy(text, 400);
    free(text);
    dataset_release(probed.data);
    dataset_release(odd.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_as_documented),
        cmocka_unit_test(table_is_whole_at_60_columns),
        cmocka_unit_test(reasons_are_one_line_or_all),
        cmocka_unit_test(reasons_are_grouped),
        cmocka_unit_test(digits_are_true),
        cmocka_unit_test(frequency_has_four_digits),
        cmocka_unit_test(levels_are_where_the_table_says),
        cmocka_unit_test(picture_has_a_bar_where_the_curve_is_not),
        cmocka_unit_test(table_fits_a_narrow_terminal),
        cmocka_unit_test(colour_changes_nothing_else),
        cmocka_unit_test(odd_values_do_no_harm_to_text),
        cmocka_unit_test(picture_names_the_levels),
        cmocka_unit_test(picture_follows_the_locale),
        cmocka_unit_test(comparison_gives_verdicts),
        cmocka_unit_test(comparison_with_a_machine_file),
        cmocka_unit_test(json_keeps_the_contract),
        cmocka_unit_test(json_explains_what_is_null),
        cmocka_unit_test(json_survives_odd_values),
        cmocka_unit_test(json_has_claims),
        cmocka_unit_test(comment_tells_what_is_assumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
