/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Machine files: all of machines/ can be read, are written back the same, can be told
 * apart by timing, and hold what the published tables of the twenty processors say. */
#include "../bench/random_machine.h"
#include "core/file.h"
#include "core/units.h"
#include "machine/text.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <strata/error.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST_MACHINES = 64 };

static struct strata_machine machines[MOST_MACHINES];
static char files[MOST_MACHINES][128];
static int nmachines;

static int load_all(void **state)
{
    (void)state;
    struct dirent *entry;
    DIR *folder = opendir("machines");
    assert_non_null(folder);
    while ((entry = readdir(folder))) {
        struct strata_error error = {0, ""};
        if (entry->d_name[0] == '.')
            continue;
        assert_true(nmachines < MOST_MACHINES);
        snprintf(files[nmachines], sizeof files[0], "machines/%.100s", entry->d_name);
        memset(&machines[nmachines], 0xa5, sizeof machines[0]);
        if (strata_machine_read(files[nmachines], &machines[nmachines], &error))
            fail_msg("%s", error.text);
        nmachines++;
    }
    closedir(folder);
    return 0;
}

static const struct strata_machine *find(const char *name)
{
    for (int i = 0; i < nmachines; i++)
        if (strcmp(machines[i].name, name) == 0)
            return &machines[i];
    fail_msg("no machine is called %s", name);
    return NULL;
}

static void test_all_can_be_read(void **state)
{
    (void)state;
    struct strata_error error = {0, ""};
    assert_true(nmachines >= 20 + 8);
    for (int i = 0; i < nmachines; i++) {
        assert_int_equal(strata_machine_check(&machines[i], &error), STRATA_OK);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(machines[i].name, machines[j].name);
    }
}

/* Written and read back, a machine has the same bytes, padding included. */
static void assert_round_trip(const struct strata_machine *machine, const char *comment)
{
    struct strata_error error = {0, ""};
    struct strata_machine back;
    char *text = NULL;
    size_t size = 0;
    memset(&back, 0x5a, sizeof back);
    if (machine_text(machine, comment, &text, &size, &error))
        fail_msg("%s: %s", machine->name, error.text);
    assert_int_equal(strlen(text), size);
    if (strata_machine_parse(machine->name, text, &back, &error))
        fail_msg("%s", error.text);
    free(text);
    assert_memory_equal(machine, &back, sizeof back);
}

static void test_round_trip(void **state)
{
    (void)state;
    for (int i = 0; i < nmachines; i++)
        assert_round_trip(&machines[i], NULL);
}

static void test_round_trip_random(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct strata_machine m;
        random_machine(seed, &m);
        assert_round_trip(&m, "made at random");
    }
}

/* Values at the ends of what is allowed, and reals that need all their digits. */
static void test_round_trip_extremes(void **state)
{
    (void)state;
    struct strata_machine m;
    random_machine(1, &m);
    snprintf(m.name, sizeof m.name, "%s",
             "\xc3\x84 [name] = with : \"signs\", 63 bytes long, of which that is all");
    assert_int_equal(strlen(m.name), sizeof m.name - 1);
    m.frequency = 2399999999;
    m.noise.jitter = 0.1 + 0.2;
    m.noise.spikes = 1e-300;
    m.noise.spike_cycles = 1000000000000;
    m.caches[0].occupied = 1 - 1e-16;
    m.caches[0].types = STRATA_FLOAT;
    assert_round_trip(&m, NULL);
}

/* A comment cannot become a part of the machine, whatever it holds. */
static void test_comments(void **state)
{
    (void)state;
    static const char *const comments[] = {
        "",
        "\n",
        "one line",
        "two\nlines\n",
        "\n[machine]\nname = other",
        "a\rb\t[cache x]",
    };
    for (size_t i = 0; i < sizeof comments / sizeof *comments; i++)
        assert_round_trip(&machines[0], comments[i]);
}

static void test_write_and_read_file(void **state)
{
    (void)state;
    struct strata_error error = {0, ""};
    struct strata_machine back, wrong = machines[0];
    char folder[] = "/tmp/strata-machine-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.machine", folder);
    assert_int_equal(strata_machine_write(path, &machines[0], "a comment", &error), 0);
    memset(&back, 0, sizeof back);
    assert_int_equal(strata_machine_read(path, &back, &error), 0);
    assert_memory_equal(&back, &machines[0], sizeof back);
    /* a machine that is not possible is not written, and the file stays */
    wrong.caches[0].ways = 7;
    assert_int_equal(strata_machine_write(path, &wrong, NULL, &error), STRATA_BAD_INPUT);
    assert_non_null(strstr(error.text, "[cache L1d] ways = 7: "));
    assert_int_equal(strata_machine_read(path, &back, &error), 0);
    assert_memory_equal(&back, &machines[0], sizeof back);
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left in it */
}

/* Each level at least 1.25 times as slow and twice as large as the one before, or no
 * analysis of times could tell them apart. */
static void assert_caches_apart(const struct strata_machine *m, uint32_t kind)
{
    const struct strata_cache *near = NULL;
    for (uint32_t i = 0; i < m->ncaches; i++) {
        const struct strata_cache *cache = &m->caches[i];
        if (cache->kind != kind && cache->kind != STRATA_UNIFIED)
            continue;
        if (near && (cache->size < 2 * near->size || cache->latency < 1.25 * near->latency))
            fail_msg("%s: %s and %s are too close", m->name, near->name, cache->name);
        near = cache;
    }
    assert_non_null(near);
    if (m->memory_latency < 1.25 * near->latency)
        fail_msg("%s: %s and memory are too close", m->name, near->name);
}

static void assert_tlbs_apart(const struct strata_machine *m)
{
    const struct strata_tlb *near = NULL;
    for (uint32_t i = 0; i < m->ntlbs; i++) {
        const struct strata_tlb *tlb = &m->tlbs[i];
        if (tlb->kind == STRATA_INSTRUCTION)
            continue;
        if (near && near->page == tlb->page &&
            (tlb->entries < 2 * near->entries || tlb->latency < near->latency + 1))
            fail_msg("%s: TLBs %s and %s are too close", m->name, near->name, tlb->name);
        uint32_t huge = m->walk_huge_latency ? m->walk_huge_latency : m->walk_latency;
        if ((tlb->page == m->huge ? huge : m->walk_latency) < tlb->latency + 1)
            fail_msg("%s: a miss in TLB %s costs nothing", m->name, tlb->name);
        near = tlb;
    }
}

static void test_levels_are_apart(void **state)
{
    (void)state;
    for (int i = 0; i < nmachines; i++) {
        assert_caches_apart(&machines[i], STRATA_DATA);
        assert_caches_apart(&machines[i], STRATA_INSTRUCTION);
        assert_tlbs_apart(&machines[i]);
    }
}

static void test_sources_are_named(void **state)
{
    (void)state;
    for (int i = 0; i < nmachines; i++) {
        char *text;
        size_t size;
        assert_int_equal(read_file(files[i], 0, &text, &size, NULL), 0);
        if (!strstr(text, "# Sources:\n# - "))
            fail_msg("%s names no source", files[i]);
        free(text);
    }
}

/* The published tables. A value is a number, "?" (not documented) or empty. */

enum { FIELDS = 9 };

struct row {
    char text[256];
    const char *field[FIELDS];
};

static void split_row(struct row *row, const char *line, size_t length)
{
    assert_true(length < sizeof row->text);
    memcpy(row->text, line, length);
    row->text[length] = '\0';
    char *rest = row->text;
    for (int i = 0; i < FIELDS; i++)
        row->field[i] = rest ? strsep(&rest, ",") : "";
    assert_null(rest);
}

/* Calls each() for every row but the heading. Returns their number. */
static int for_rows(const char *path, void (*each)(const struct row *row))
{
    struct strata_error error = {0, ""};
    char *text;
    size_t size;
    int n = 0;
    if (read_file(path, 0, &text, &size, &error))
        fail_msg("%s", error.text);
    for (const char *p = strchr(text, '\n') + 1; *p;) {
        struct row row;
        size_t length = strcspn(p, "\r\n");
        split_row(&row, p, length);
        each(&row);
        n++;
        p += length;
        p += strspn(p, "\r\n");
    }
    free(text);
    return n;
}

static bool is_number(const char *text)
{
    return *text >= '0' && *text <= '9';
}

static unsigned long number(const char *text)
{
    assert_true(is_number(text));
    return strtoul(text, NULL, 10);
}

static const struct strata_cache *data_cache(const struct strata_machine *m, uint32_t level)
{
    for (uint32_t i = 0; i < m->ncaches; i++)
        if (m->caches[i].level == level && m->caches[i].kind != STRATA_INSTRUCTION)
            return &m->caches[i];
    return NULL;
}

static const struct strata_tlb *data_tlb(const struct strata_machine *m, uint32_t level)
{
    for (uint32_t i = 0; i < m->ntlbs; i++)
        if (m->tlbs[i].level == level && m->tlbs[i].page == m->page &&
            m->tlbs[i].kind != STRATA_INSTRUCTION)
            return &m->tlbs[i];
    return NULL;
}

static bool has_adjacent(const struct strata_machine *m, uint32_t level)
{
    for (uint32_t i = 0; i < m->nprefetchers; i++)
        if (m->prefetchers[i].level == level &&
            m->prefetchers[i].kind == STRATA_PREFETCH_ADJACENT)
            return true;
    return false;
}

static void expect(const struct row *row, const char *what, uint64_t is, uint64_t wanted)
{
    if (is != wanted)
        fail_msg("%s, level %s: %s is %llu, the table says %llu", row->field[0],
                 row->field[1], what, (unsigned long long)is, (unsigned long long)wanted);
}

/* processor,level,line_actual,line_measured,ways_actual,ways_measured,kb_actual,
 * kb_measured,latency_cycles_measured. What has no actual size is documented as a part of
 * the level before it (the far part of POWER7's L3): then that size is the whole. */
static void check_cache_row(const struct row *row)
{
    const struct strata_machine *m = find(row->field[0]);
    uint32_t level = (uint32_t)number(row->field[1]);
    const struct strata_cache *cache = data_cache(m, level);
    bool parts = strcmp(row->field[0], "IBM POWER7") == 0 && level >= 3;
    assert_non_null(cache);
    assert_int_equal(cache->inclusion, STRATA_NINE);
    if (!is_number(row->field[6])) {
        assert_true(parts);
        expect(row, "two lines", 2 * cache->line, number(row->field[3]));
        expect(row, "latency", cache->latency, number(row->field[8]));
        return;
    }
    const struct strata_cache *whole = parts ? data_cache(m, level + 1) : cache;
    assert_non_null(whole);
    expect(row, "size in K", whole->size >> 10, number(row->field[6]));
    expect(row, "line", cache->line, number(row->field[2]));
    expect(row, "latency", cache->latency, number(row->field[8]));
    if (is_number(row->field[4]))
        expect(row, "ways", cache->ways, number(row->field[4]));
    else if (is_number(row->field[5]))
        expect(row, "ways", cache->ways, number(row->field[5]));
    /* a line that was measured as two is one with an adjacent-line prefetcher */
    expect(row, "an adjacent-line prefetcher", has_adjacent(m, level),
           number(row->field[3]) == 2 * number(row->field[2]));
}

static void test_cache_table(void **state)
{
    (void)state;
    assert_int_equal(for_rows("tests/data/processors-cache.csv", check_cache_row), 50);
}

/* processor,level,tlb_kb_actual,tlb_kb_measured. What is documented as one TLB, the
 * ARM926's, the paper measured in two parts; other levels that only the paper has are none.
 */
static void check_tlb_row(const struct row *row)
{
    const struct strata_machine *m = find(row->field[0]);
    const struct strata_tlb *tlb = data_tlb(m, (uint32_t)number(row->field[1]));
    bool parts = strcmp(row->field[0], "ARM926EJ-S") == 0;
    const char *size = row->field[parts ? 3 : 2];
    if (!*size) {
        assert_null(tlb);
        return;
    }
    assert_non_null(tlb);
    if (*size == '?')
        size = row->field[3];
    expect(row, "reach in K", tlb->entries * tlb->page >> 10, number(size));
}

static void test_tlb_table(void **state)
{
    (void)state;
    assert_int_equal(for_rows("tests/data/processors-tlb.csv", check_tlb_row), 38);
}

/* What the machines have must also be in the tables: no level too many. */

static struct {
    const char *name;
    int column; /* of the actual size; empty: no such level is documented */
    int rows;
} counted;

static void count_row(const struct row *row)
{
    bool documented = row->field[counted.column][0] != '\0';
    counted.rows += strcmp(row->field[0], counted.name) == 0 && documented;
}

static uint64_t count_rows(const char *path, const char *name, int column)
{
    counted.name = name;
    counted.column = column;
    counted.rows = 0;
    for_rows(path, count_row);
    return (uint64_t)counted.rows;
}

static int twenty;

static void check_counts(const struct row *row)
{
    const struct strata_machine *m = find(row->field[0]);
    int caches = 0, tlbs = 0;
    if (strcmp(row->field[1], "1") != 0)
        return;
    while (data_cache(m, (uint32_t)caches + 1))
        caches++;
    while (data_tlb(m, (uint32_t)tlbs + 1))
        tlbs++;
    bool far = strcmp(m->name, "IBM POWER7") == 0,
         pair = strcmp(m->name, "ARM926EJ-S") == 0;
    expect(row, "the number of caches", (uint64_t)caches,
           count_rows("tests/data/processors-cache.csv", m->name, far ? 7 : 6));
    expect(row, "the number of TLBs", (uint64_t)tlbs,
           count_rows("tests/data/processors-tlb.csv", m->name, pair ? 3 : 2));
    assert_int_equal(m->huge, 0);
    twenty++;
}

static void test_no_level_too_many(void **state)
{
    (void)state;
    for_rows("tests/data/processors-cache.csv", check_counts);
    assert_int_equal(twenty, 20);
}

/* Pages fall evenly on the caches where the whole of one beyond L1 was measured as usable,
 * or more of one with few ways than pages at random would leave; and at random elsewhere.
 */

static bool coloured[MOST_MACHINES], listed[MOST_MACHINES];

static void note_mapping(const struct row *row)
{
    size_t i = (size_t)(find(row->field[0]) - machines);
    listed[i] = true;
    const struct strata_cache *cache = &machines[i].caches[machines[i].ncaches - 1];
    bool all = strcmp(row->field[6], row->field[7]) == 0;
    bool few = cache->ways <= 4 && 2 * number(row->field[7]) >= number(row->field[6]);
    coloured[i] |= number(row->field[1]) > 1 && (all || few);
}

static void test_mapping(void **state)
{
    (void)state;
    for_rows("tests/data/processors-cache.csv", note_mapping);
    for (int i = 0; i < nmachines; i++) {
        uint32_t wanted = coloured[i] ? STRATA_MAP_COLOURED : STRATA_MAP_RANDOM;
        if (listed[i] && machines[i].mapping != wanted)
            fail_msg("%s has the wrong mapping", machines[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_can_be_read),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_round_trip_random),
        cmocka_unit_test(test_round_trip_extremes),
        cmocka_unit_test(test_comments),
        cmocka_unit_test(test_write_and_read_file),
        cmocka_unit_test(test_levels_are_apart),
        cmocka_unit_test(test_sources_are_named),
        cmocka_unit_test(test_cache_table),
        cmocka_unit_test(test_tlb_table),
        cmocka_unit_test(test_no_level_too_many),
        cmocka_unit_test(test_mapping),
    };
    return cmocka_run_group_tests(tests, load_all, NULL);
}
