/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lines typed at the prompt: how they are split, and how the last word is completed. */
#include "cli/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void splits(const char *text, int n, const char *const *wanted)
{
    char line[256], *words[WORDS_MAX + 1];
    strcpy(line, text);
    assert_int_equal(words_split(line, words), n);
    for (int i = 0; i < n; i++)
        assert_string_equal(words[i], wanted[i]);
    if (n >= 0)
        assert_null(words[n]);
}

static void test_split(void **state)
{
    (void)state;
    char many[2 * WORDS_MAX + 8] = "";
    splits("", 0, NULL);
    splits(" \t\n", 0, NULL);
    splits("objects\n", 1, (const char *const[]){"objects"});
    splits(" a  bc\td ", 3, (const char *const[]){"a", "bc", "d"});
    splits("'a b' \"c 'd\" e\\ f", 3, (const char *const[]){"a b", "c 'd", "e f"});
    splits("x'y'z '' \"\\\"\"", 3, (const char *const[]){"xyz", "", "\""});
    splits("a'b'", 1, (const char *const[]){"ab"});
    splits("'open", -1, NULL);
    splits("\"open", -1, NULL);
    for (int i = 0; i <= WORDS_MAX; i++)
        strcat(many, "a ");
    splits(many, -1, NULL);
}

static const struct option_spec specs[] = {
    {"object", 0, "NAME", "an object"},
    {"function", 0, "NAME", "a function"},
    {"sort", 0, "latency|misses|events", "the order"},
    {"json", 0, NULL, "JSON"},
    {0},
};

static const char *const objects[] = {"Exc", "it's", "mem_init-main", "mem_more",
                                      "std::map<int, int>"};
static const char *const functions[] = {"main"};

static const struct grammar grammar = {
    .operands = "totals|objects|functions|lines|help|quit",
    .specs = specs,
    .named = {{"object", {objects, 5}}, {"function", {functions, 1}}},
};

/* The line up to '|' completes to n matches and this replacement of the last word. */
static void completes(const char *line, size_t n, size_t start, const char *replacement)
{
    struct completion completion;
    assert_int_equal(words_complete(&grammar, line, strlen(line), &completion), 0);
    if (completion.n != n)
        fail_msg("\"%s\": %zu matches, not %zu", line, completion.n, n);
    assert_int_equal(completion.start, start);
    if (replacement) {
        assert_non_null(completion.replacement);
        assert_string_equal(completion.replacement, replacement);
    } else {
        assert_null(completion.replacement);
    }
    completion_release(&completion);
}

static void test_complete(void **state)
{
    (void)state;
    completes("", 6, 0, "");
    completes("fu", 1, 0, "functions ");
    completes("x", 0, 0, NULL);
    completes("functions ", 0, 10, NULL);
    completes("functions --o", 1, 10, "--object ");
    completes("functions --", 4, 10, "--");
    completes("functions --object ", 5, 19, "");
    completes("functions --object me", 2, 19, "mem_");
    completes("functions --object mem_i", 1, 19, "mem_init-main ");
    completes("--object Exc obj", 1, 13, "objects ");
    completes("lines --function m", 1, 17, "main ");
    completes("lines --sort m", 1, 13, "misses ");
    completes("lines --json o", 0, 13, NULL);
    /* Names with spaces and quotes are quoted, also where a quote is open already. */
    completes("lines --object st", 1, 15, "'std::map<int, int>' ");
    completes("lines --object 'std::map<int, ", 1, 15, "'std::map<int, int>' ");
    completes("lines --object it", 1, 15, "\"it's\" ");
    completes("lines 'open --object ", 0, 6, NULL);
}

static void test_middle(void **state)
{
    (void)state;
    struct completion completion;
    assert_int_equal(words_complete(&grammar, "fu --object Exc", 2, &completion), 0);
    assert_int_equal(completion.n, 1);
    assert_string_equal(completion.replacement, "functions ");
    completion_release(&completion);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
