/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of commands: that its rows are well formed, that wrong command lines are
 * refused with the right words, and errors as text and as JSON. tests/cli runs the
 * program itself. */
#include "cli/commands.h"
#include "cli/term.h"

#include <ctype.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_text(const char *text)
{
    assert_true(islower((unsigned char)text[0]) || isupper((unsigned char)text[0]));
    assert_true(text[strlen(text) - 1] != '.');
    assert_null(strpbrk(text, "\t\n"));
}

static void check_option(const struct option_spec *specs, int i)
{
    assert_int_equal(strspn(specs[i].name, "abcdefghijklmnopqrstuvwxyz-"),
                     strlen(specs[i].name));
    assert_string_not_equal(specs[i].name, "help"); /* every command has it */
    assert_int_not_equal(specs[i].letter, 'h');
    check_text(specs[i].help);
    for (int j = 0; j < i; j++) {
        assert_string_not_equal(specs[i].name, specs[j].name);
        assert_true(!specs[i].letter || specs[i].letter != specs[j].letter);
    }
}

static void test_table(void **state)
{
    (void)state;
    for (const struct command *c = commands; c->name; c++) {
        struct strata_error error;
        assert_ptr_equal(command_find(c->name, &error), c);
        assert_non_null(c->run);
        check_text(c->summary);
        int n = 0;
        for (; c->options[n].name; n++)
            check_option(c->options, n);
        assert_true(n < OPTIONS_MAX - 1);
    }
}

/* Every line of every help fits the terminal. */
static void check_width(const struct command *command)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    help_print(file, command);
    assert_int_equal(fclose(file), 0);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(strlen(line) <= TERM_COLUMNS);
    free(text);
}

static void test_help_width(void **state)
{
    (void)state;
    check_width(NULL);
    for (const struct command *c = commands; c->name; c++)
        check_width(c);
}

static void refused(char **argv, int argc, const char *message)
{
    struct strata_error error = {0};
    assert_int_equal(command_dispatch(argc, argv, &error), STRATA_BAD_INPUT);
    assert_string_equal(error.text, message);
}

static void test_refused(void **state)
{
    (void)state;
    char *typo[] = {"strata", "porbe", NULL};
    refused(typo, 2,
            "no command porbe (did you mean probe?); 'strata help' lists the commands");
    char *other[] = {"strata", "brew", NULL};
    refused(other, 2, "no command brew; 'strata help' lists the commands");
    char *early[] = {"strata", "--json", "probe", NULL};
    refused(early, 3, "no option --json before a command; 'strata help' says more");
    char *shell[] = {"strata", "completion", NULL};
    refused(shell, 2, "completion needs a shell: strata completion bash|zsh|fish");
    char *topic[] = {"strata", "help", "porbe", NULL};
    refused(topic, 3,
            "no command porbe (did you mean probe?); 'strata help' lists the commands");
}

static void test_wants_json(void **state)
{
    (void)state;
    char *yes[] = {"strata", "porbe", "--json", NULL};
    char *no[] = {"strata", "probe", NULL};
    char *operand[] = {"strata", "run", "--", "--json", NULL};
    assert_true(command_wants_json(3, yes));
    assert_false(command_wants_json(2, no));
    assert_false(command_wants_json(4, operand));
}

/* What command_report() prints to the two streams. */
static void report(const struct strata_error *error, bool json, char **out, char **err)
{
    size_t out_size, err_size;
    FILE *out_file = open_memstream(out, &out_size);
    FILE *err_file = open_memstream(err, &err_size);
    assert_non_null(out_file);
    assert_non_null(err_file);
    command_report(error, json, out_file, err_file);
    assert_int_equal(fclose(out_file), 0);
    assert_int_equal(fclose(err_file), 0);
}

static void test_report(void **state)
{
    (void)state;
    struct strata_error error = {STRATA_UNABLE, "x.machine:3: \"odd\""};
    char *out, *err;
    report(&error, false, &out, &err);
    assert_string_equal(out, "");
    assert_string_equal(err, "strata: x.machine:3: \"odd\"\n");
    free(out);
    free(err);
    report(&error, true, &out, &err);
    json_t *object = json_loads(out, 0, NULL);
    const char *message;
    int status;
    assert_non_null(object);
    assert_int_equal(json_unpack(object, "{s:{s:i,s:s}}", "error", "status", &status,
                                 "message", &message),
                     0);
    assert_int_equal(status, STRATA_UNABLE);
    assert_string_equal(message, error.text);
    assert_string_equal(err, "strata: x.machine:3: \"odd\"\n");
    json_decref(object);
    free(out);
    free(err);
}

/* A path may hold any bytes; JSON may not. */
static void test_report_not_utf8(void **state)
{
    (void)state;
    struct strata_error error = {STRATA_BAD_INPUT, "\xff.machine: no such file"};
    char *out, *err;
    report(&error, true, &out, &err);
    json_t *object = json_loads(out, 0, NULL);
    assert_non_null(object);
    json_decref(object);
    assert_string_equal(err, "strata: \xff.machine: no such file\n");
    free(out);
    free(err);
}

static void wrapped(int column, int indent, const char *text, const char *expected)
{
    char *out;
    size_t size;
    FILE *file = open_memstream(&out, &size);
    assert_non_null(file);
    term_wrap(file, column, indent, text);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(out, expected);
    free(out);
}

static void test_wrap(void **state)
{
    (void)state;
    wrapped(0, 4, "one two", "one two\n");
    wrapped(0, 4, "", "\n");
    wrapped(74, 4, "three words here", "three\n    words here\n");
    wrapped(75, 4, "three words", "three\n    words\n"); /* exactly 80 */
    wrapped(0, 2, "a  b", "a b\n");
    char word[101];
    memset(word, 'w', 100);
    word[100] = '\0';
    char text[128], expected[128];
    snprintf(text, sizeof text, "a %s b", word);
    snprintf(expected, sizeof expected, "a\n  %s\n  b\n", word);
    wrapped(0, 2, text, expected);
}

static void test_colour(void **state)
{
    (void)state;
    assert_string_equal(term_colour(false, TERM_RED), "");
    assert_string_equal(term_colour(true, TERM_RED), "\033[31m");
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_false(term_has_colour(file)); /* a file is no terminal */
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),   cmocka_unit_test(test_help_width),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_wants_json),
        cmocka_unit_test(test_report),  cmocka_unit_test(test_report_not_utf8),
        cmocka_unit_test(test_wrap),    cmocka_unit_test(test_colour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
