/* SPDX-License-Identifier: BSD-3-Clause
 *
 * docs/format/machine.md and the program agree: the sample can be read, and the tables
 * have every key with its range and default. */
#include "core/file.h"
#include "core/units.h"
#include "machine/keys.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strata/error.h>
#include <string.h>

#include <cmocka.h>

static char *document;

static int load(void **state)
{
    (void)state;
    size_t size;
    return read_file("docs/format/machine.md", 0, &document, &size, NULL);
}

static int unload(void **state)
{
    (void)state;
    free(document);
    return 0;
}

/* Copies what is between two strings; the caller frees it. */
static char *between(const char *text, const char *from, const char *to)
{
    const char *begin = strstr(text, from);
    if (!begin)
        fail_msg("there is no \"%s\"", from);
    begin += strlen(from);
    const char *end = strstr(begin, to);
    return strndup(begin, end ? (size_t)(end - begin) : strlen(begin));
}

static void test_sample(void **state)
{
    (void)state;
    char *text = between(document, "```ini\n", "```\n");
    struct strata_machine machine;
    struct strata_error error = {0, ""};
    if (strata_machine_parse("sample", text, &machine, &error))
        fail_msg("%s", error.text);
    free(text);
    assert_string_equal(machine.name, "Sample machine");
    assert_int_equal(machine.frequency, 2400000000);
    assert_int_equal(machine.caches[2].size, 1280 << 10);
    assert_int_equal(machine.branch.entries, 4096);
    for (int s = 0; s < SECTIONS; s++) /* it shows every section */
        assert_true(record_count(&machine, s) > 0);
}

static void want(const char *row, const struct key *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void want(const char *row, const struct key *key, const char *format, ...)
{
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!strstr(row, text))
        fail_msg("`%s` is described without \"%s\":%s", key->name, text, row);
}

/* Bounds that depend on other keys are told in words there. */
static void want_range(const char *row, const struct key *key)
{
    char low[SIZE_TEXT], high[SIZE_TEXT];
    if (key->type == KEY_NUMBER)
        want(row, key, "| %" PRIu64 " to %" PRIu64, key->low, key->high);
    if (key->type == KEY_SIZE && key->required)
        want(row, key, "| %s to %s", format_size(key->low, low),
             format_size(key->high, high));
    for (uint64_t w = 0; w < key->nwords; w++)
        want(row, key, "`%s`", key->words[w]);
}

static void want_row(const char *section, const struct key *key)
{
    char head[64];
    snprintf(head, sizeof head, "| `%s` |", key->name);
    char *row = between(section, head, "\n");
    want_range(row, key);
    if (key->required)
        want(row, key, "| required |");
    else if (key->standard && (key->words || key->type == KEY_SIZE))
        want(row, key, "| `%s` |", key->standard);
    else if (key->standard)
        want(row, key, "| %s |", key->standard);
    free(row);
}

static void test_keys(void **state)
{
    (void)state;
    for (int s = 0; s < SECTIONS; s++) {
        const struct section_type *type = &section_types[s];
        char head[64];
        snprintf(head, sizeof head, "\n## [%s%s]\n", type->name,
                 type->named ? " NAME" : "");
        char *section = between(document, head, "\n## ");
        for (uint32_t k = 0; k < type->nkeys; k++)
            want_row(section, &type->keys[k]);
        free(section);
    }
}

/* Rows of the tables in a text that begin with a key. */
static int count_rows(const char *text)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, "\n| `")); p++)
        n++;
    return n;
}

static void test_no_other_keys(void **state)
{
    (void)state;
    int keys = 0;
    for (int s = 0; s < SECTIONS; s++)
        keys += (int)section_types[s].nkeys;
    assert_int_equal(count_rows(document), keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_no_other_keys),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
