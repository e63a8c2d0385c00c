/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text from outside made fit for reports: whatever comes in, what goes out is well-formed
 * UTF-8 on one line, and what was well-formed stays as it is. */
#include "core/rng.h"
#include "core/utf8.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *text, const char *wanted)
{
    char out[64];
    assert_ptr_equal(utf8_clean(text, out, sizeof out), out);
    assert_string_equal(out, wanted);
}

static void well_formed_text_is_kept(void **state)
{
    (void)state;
    expect("", "");
    expect(NULL, "");
    expect("Zen 4, 64 B", "Zen 4, 64 B");
    expect("µs – 漢字 🙂", "µs – 漢字 🙂");
    expect("\xf4\x8f\xbf\xbd", "\xf4\x8f\xbf\xbd"); /* U+10FFFD, nearly the last one */
    expect("\xef\xbf\xbd", "\xef\xbf\xbd");         /* U+FFFD */
}

static void control_characters_become_spaces(void **state)
{
    (void)state;
    expect("a\tb\nc\rd", "a b c d");
    expect("\x1b[31mred\x7f", " [31mred ");
    expect("a\xc2\x9b"
           "b",
           "a b"); /* U+009B is an escape sequence by itself */
    expect("a\xc2\xa0"
           "b",
           "a\xc2\xa0"
           "b"); /* a no-break space is text */
}

static void malformed_bytes_become_question_marks(void **state)
{
    (void)state;
    expect("\x80", "?"); /* a continuation of nothing */
    expect("a\xff"
           "b",
           "a?b");                      /* no such byte */
    expect("\xc3", "?");                /* cut off */
    expect("\xe2\x82", "??");           /* cut off later */
    expect("\xc0\xaf", "??");           /* an overlong '/' */
    expect("\xe0\x80\xaf", "???");      /* and a longer one */
    expect("\xed\xa0\x80", "???");      /* a surrogate */
    expect("\xf4\x90\x80\x80", "????"); /* beyond Unicode */
    expect("\xf8\x88\x80\x80\x80", "?????");
    expect("\xef\xbf\xbf", "???"); /* U+FFFF: XML forbids it */
}

static void long_text_is_cut_between_characters(void **state)
{
    (void)state;
    char out[6];
    assert_string_equal(utf8_clean("abcdefgh", out, sizeof out), "abcde");
    assert_string_equal(utf8_clean("abc漢字", out, sizeof out), "abc");
    assert_string_equal(utf8_clean("ab漢字", out, sizeof out), "ab漢");
    assert_string_equal(utf8_clean("anything", out, 1), "");
}

static void length_counts_characters(void **state)
{
    (void)state;
    assert_int_equal(utf8_length(""), 0);
    assert_int_equal(utf8_length("32K .. 1M"), 9);
    assert_int_equal(utf8_length("–µ漢"), 3);
}

/* jansson refuses strings that are not UTF-8, so it judges what comes out. */
static void any_bytes_come_out_well_formed(void **state)
{
    (void)state;
    struct rng rng = {11};
    for (int round = 0; round < 20000; round++) {
        char text[24], out[16], again[16];
        size_t n = rng_below(&rng, sizeof text);
        for (size_t i = 0; i < n; i++) /* mostly what occurs in UTF-8 beyond ASCII */
            text[i] = (char)(rng_below(&rng, 4) ? 0x80 + rng_below(&rng, 0x80)
                                                : 1 + rng_below(&rng, 0x7f));
        text[n] = '\0';
        utf8_clean(text, out, 1 + rng_below(&rng, sizeof out));
        json_t *json = json_string(out);
        assert_non_null(json);
        json_decref(json);
        for (const char *c = out; *c; c++)
            assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
        assert_string_equal(utf8_clean(out, again, sizeof again), out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_text_is_kept),
        cmocka_unit_test(control_characters_become_spaces),
        cmocka_unit_test(malformed_bytes_become_question_marks),
        cmocka_unit_test(long_text_is_cut_between_characters),
        cmocka_unit_test(length_counts_characters),
        cmocka_unit_test(any_bytes_come_out_well_formed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
