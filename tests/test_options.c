/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Options by a table, numbers in ranges, and the nearest word. */
#include "cli/options.h"
#include "cli/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct option_spec specs[] = {
    {"json", 0, NULL, "a flag"},
    {"machine", 'm', "FILE", "a path"},
    {"mode", 0, "fast|slow", "a choice"},
    {"count", 'c', "N", "a number"},
    {0},
};

enum { ARGUMENTS = 8 };

struct parsed {
    char text[256];
    char *argv[ARGUMENTS + 1];
    struct options options;
    struct strata_error error;
    int status;
};

/* Parses a command line that is split at spaces; the first word is the command. */
static struct parsed *parse(const char *line, const char *operand)
{
    static struct parsed parsed;
    int argc = 0;
    parsed = (struct parsed){0};
    snprintf(parsed.text, sizeof parsed.text, "%s", line);
    for (char *word = strtok(parsed.text, " "); word && argc < ARGUMENTS;
         word = strtok(NULL, " "))
        parsed.argv[argc++] = word;
    parsed.status =
        options_parse(&parsed.options, specs, operand, argc, parsed.argv, &parsed.error);
    return &parsed;
}

static void refused(const char *line, const char *operand, const char *message)
{
    struct parsed *parsed = parse(line, operand);
    assert_string_equal(parsed->error.text, message);
    assert_int_equal(parsed->status, STRATA_BAD_INPUT);
    assert_int_equal(parsed->error.status, STRATA_BAD_INPUT);
}

static void test_values(void **state)
{
    (void)state;
    struct options *o = &parse("probe --json -m a.machine --mode=slow", NULL)->options;
    assert_true(option_given(o, "json"));
    assert_string_equal(option_text(o, "machine"), "a.machine");
    assert_string_equal(option_text(o, "mode"), "slow");
    assert_false(option_given(o, "count"));
    assert_int_equal(o->noperands, 0);
}

static void test_last_counts(void **state)
{
    (void)state;
    struct options *o = &parse("probe --machine a --machine b", NULL)->options;
    assert_string_equal(option_text(o, "machine"), "b");
}

static void test_beginnings(void **state)
{
    (void)state;
    assert_true(option_given(&parse("probe --js", NULL)->options, "json"));
    refused("probe --m a", NULL,
            "no option --m (did you mean --machine?); 'strata help probe' lists the "
            "options");
}

static void test_help_checks_nothing_else(void **state)
{
    (void)state;
    assert_true(parse("probe --help --nonsense", NULL)->options.help);
    assert_true(parse("probe -h", NULL)->options.help);
    assert_false(parse("probe --json", NULL)->options.help);
}

static void test_refused(void **state)
{
    (void)state;
    refused("probe --jsno", NULL,
            "no option --jsno (did you mean --json?); 'strata help probe' lists the "
            "options");
    refused("probe --quark=3", NULL,
            "no option --quark; 'strata help probe' lists the options");
    refused("probe -x", NULL, "no option -x; 'strata help probe' lists the options");
    refused("probe --json=yes", NULL, "--json takes no argument");
    refused("probe --help=yes", NULL, "--help takes no argument");
    refused("probe --machine", NULL, "--machine needs an argument: --machine FILE");
    refused("probe -m", NULL, "--machine needs an argument: --machine FILE");
    refused("probe --mode fats", NULL,
            "--mode fats: it must be one of fast|slow (did you mean fast?)");
    refused("probe --mode 7", NULL, "--mode 7: it must be one of fast|slow");
}

static void test_operands(void **state)
{
    (void)state;
    refused("probe stray", NULL,
            "stray: probe takes options only; 'strata help probe' says more");
    refused("probe one two", "FILE",
            "two: probe takes one operand only; 'strata help probe' says more");
    refused("probe bahs", "bash|zsh",
            "probe bahs: it must be one of bash|zsh (did you mean bash?)");
    struct parsed *parsed = parse("probe one --json", "FILE");
    assert_int_equal(parsed->status, STRATA_OK);
    assert_int_equal(parsed->options.noperands, 1);
    assert_string_equal(parsed->options.operands[0], "one");
    assert_true(option_given(&parsed->options, "json"));
    parsed = parse("probe -- --json", "FILE");
    assert_string_equal(parsed->options.operands[0], "--json");
    assert_false(option_given(&parsed->options, "json"));
}

static void test_many_operands(void **state)
{
    (void)state;
    struct parsed *parsed = parse("probe one --json two", "FILE...");
    assert_int_equal(parsed->status, STRATA_OK);
    assert_int_equal(parsed->options.noperands, 2);
    assert_true(option_given(&parsed->options, "json"));
    /* a program's own options are not ours */
    parsed = parse("probe -m a prog --json -m b", "PROGRAM...");
    assert_int_equal(parsed->status, STRATA_OK);
    assert_int_equal(parsed->options.noperands, 4);
    assert_string_equal(parsed->options.operands[1], "--json");
    assert_string_equal(option_text(&parsed->options, "machine"), "a");
    assert_false(option_given(&parsed->options, "json"));
    parsed = parse("probe --json -- prog -- x", "PROGRAM...");
    assert_int_equal(parsed->options.noperands, 3);
    assert_string_equal(parsed->options.operands[1], "--");
    refused(
        "probe --jsn prog", "PROGRAM...",
        "no option --jsn (did you mean --json?); 'strata help probe' lists the options");
}

static void test_whole(void **state)
{
    (void)state;
    struct strata_error error;
    uint64_t value = 7;
    struct options *o = &parse("probe", NULL)->options;
    assert_int_equal(option_whole(o, "count", 1, 9, &value, &error), STRATA_OK);
    assert_int_equal(value, 7); /* not given: left alone */
    o = &parse("probe -c 9", NULL)->options;
    assert_int_equal(option_whole(o, "count", 1, 9, &value, &error), STRATA_OK);
    assert_int_equal(value, 9);
    static const char *const wrong[] = {"10", "0",   "-1", "+1",
                                        "1x", "1.5", "x",  "99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char line[64], message[128];
        snprintf(line, sizeof line, "probe --count=%s", wrong[i]);
        snprintf(message, sizeof message,
                 "--count %s: it must be a whole number from 1 to 9", wrong[i]);
        o = &parse(line, NULL)->options;
        assert_int_equal(option_whole(o, "count", 1, 9, &value, &error), STRATA_BAD_INPUT);
        assert_string_equal(error.text, message);
        assert_int_equal(value, 9);
    }
}

static void test_decimal(void **state)
{
    (void)state;
    struct strata_error error;
    double value = 0;
    struct options *o = &parse("probe --count 2.5", NULL)->options;
    assert_int_equal(option_decimal(o, "count", 0.5, 4, &value, &error), STRATA_OK);
    assert_true(value == 2.5);
    static const char *const wrong[] = {"4.5", "0", "nan", "inf", "-1", "2s", "1e999"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char line[64];
        snprintf(line, sizeof line, "probe --count=%s", wrong[i]);
        o = &parse(line, NULL)->options;
        assert_int_equal(option_decimal(o, "count", 0.5, 4, &value, &error),
                         STRATA_BAD_INPUT);
        assert_non_null(strstr(error.text, "it must be a number from 0.5 to 4"));
        assert_true(value == 2.5);
    }
}

static void test_choices(void **state)
{
    (void)state;
    char text[CHOICE_TEXT];
    assert_string_equal(choice_at("a|bc|d", 0, text), "a");
    assert_string_equal(choice_at("a|bc|d", 1, text), "bc");
    assert_string_equal(choice_at("a|bc|d", 2, text), "d");
    assert_null(choice_at("a|bc|d", 3, text));
    assert_null(choice_at("FILE", 0, text));
    assert_null(choice_at(NULL, 0, text));
}

static void test_nearest(void **state)
{
    (void)state;
    static const char *const words[] = {"probe", "doctor", "completion", "version", "help"};
    const size_t n = sizeof words / sizeof words[0];
    assert_string_equal(nearest("prboe", words, n), "probe");  /* two swapped */
    assert_string_equal(nearest("prob", words, n), "probe");   /* it begins it */
    assert_string_equal(nearest("probee", words, n), "probe"); /* one too many */
    assert_null(nearest("dcotr", words, n)); /* two changes in five letters */
    assert_string_equal(nearest("c", words, n), "completion");
    assert_null(nearest("xyz", words, n));
    assert_null(nearest("", words, n));
    assert_null(nearest("telephone", words, n));
    char longest[200];
    memset(longest, 'p', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_null(nearest(longest, words, n));
    assert_null(nearest("probe", words, 0));
}

static void test_hint(void **state)
{
    (void)state;
    static const char *const words[] = {"json"};
    char text[HINT_TEXT];
    assert_string_equal(hint_nearest("jsn", words, 1, "--", text),
                        " (did you mean --json?)");
    assert_string_equal(hint_nearest("plot", words, 1, "--", text), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_last_counts),
        cmocka_unit_test(test_beginnings),
        cmocka_unit_test(test_help_checks_nothing_else),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_many_operands),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_decimal),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_hint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
