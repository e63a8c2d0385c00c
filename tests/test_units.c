/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sizes and counts: what is read, what is refused, and that what is written is read back.
 */
#include "core/rng.h"
#include "core/units.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define K UINT64_C(1024)

static const struct {
    const char *text;
    uint64_t size, count;
} right[] = {
    {"0", 0, 0},
    {"64", 64, 64},
    {"007", 7, 7},
    {"32K", 32 * K, 32000},
    {"1.25M", 1280 * K, 1250000},
    {"35.75M", 36608 * K, 35750000},
    {"2.4G", 0, 2400000000}, /* 0: no whole number of bytes */
    {"2.5G", 2560 * K *K, 2500000000},
    {"4G", 4 * K *K *K, 4000000000},
    {"1T", K *K *K *K, 1000000000000},
    {"64.0", 64, 64},
    {"64.000000000000000000000000", 64, 64},
    {"0.5K", 512, 500},
    {"0.0009765625K", 1, 0},
    {"18446744073709551615", UINT64_MAX, UINT64_MAX},
    {"16777215T", 16777215 * K *K *K *K, 16777215000000000000u},
};

static void test_right(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        uint64_t size = 0, count = 0;
        bool zero = strcmp(right[i].text, "0") == 0;
        int wanted = right[i].size || zero ? 0 : -1;
        if (parse_size(right[i].text, &size) != wanted || size != right[i].size)
            fail_msg("%s as a size: %" PRIu64, right[i].text, size);
        wanted = right[i].count || zero ? 0 : -1;
        if (parse_count(right[i].text, &count) != wanted || count != right[i].count)
            fail_msg("%s as a count: %" PRIu64, right[i].text, count);
    }
}

static void test_wrong(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        " ",
        "K",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1 K",
        "1KB",
        "1k",
        "1P",
        "1KK",
        "0x10",
        "1e3",
        ".5K",
        "1.K",
        "1..5K",
        "1.5.5K",
        "1,5K",
        "64.5",
        "0.3",
        "1.1T1",
        "nan",
        "inf",
        "0.0000000000000000001T",
        "18446744073709551616",
        "16777216T",
        "99999999999999999999999",
        "18446744073709551615.5K",
        "full",
        "none",
        "\xc2\xa0"
        "1",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint64_t number = 42;
        if (parse_size(wrong[i], &number) != -1 || number != 42)
            fail_msg("\"%s\" is taken for a size", wrong[i]);
    }
    uint64_t number = 42;
    assert_int_equal(parse_count("18446745T", &number), -1);
    assert_int_equal(parse_count("1.2345678901234T", &number), -1);
    assert_int_equal(number, 42);
}

static void assert_written(uint64_t size, const char *wanted)
{
    char text[SIZE_TEXT];
    assert_ptr_equal(format_size(size, text), text);
    assert_string_equal(text, wanted);
}

static void test_written(void **state)
{
    (void)state;
    assert_written(0, "0");
    assert_written(100, "100");
    assert_written(1000, "1000");
    assert_written(32 * K, "32K");
    assert_written(1280 * K, "1280K");
    assert_written(32 * K * K, "32M");
    assert_written(4 * K * K * K, "4G");
    assert_written(K * K * K * K, "1T");
    assert_written(K * K * K * K * K, "1024T");
    assert_written(UINT64_MAX, "18446744073709551615");
}

static void test_read_back(void **state)
{
    (void)state;
    struct rng rng = {1};
    for (int i = 0; i < 20000; i++) {
        uint64_t size = rng_next(&rng) >> rng_below(&rng, 64) << rng_below(&rng, 40), back;
        char text[SIZE_TEXT];
        format_size(size, text);
        assert_true(strlen(text) < SIZE_TEXT - 1);
        if (parse_size(text, &back) != 0 || back != size)
            fail_msg("%" PRIu64 " is written as %s", size, text);
    }
}

static void assert_short(double size, const char *wanted)
{
    char text[SIZE_TEXT];
    assert_ptr_equal(format_size_short(size, text), text);
    assert_string_equal(text, wanted);
}

static void test_short(void **state)
{
    (void)state;
    assert_short(0, "0");
    assert_short(0.4, "0");
    assert_short(100.6, "101");
    assert_short(1000, "1000");
    assert_short(1023.4, "1023");
    assert_short(1023.7, "1K");
    assert_short(1024, "1K");
    assert_short(1536, "1.5K");
    assert_short(1280 * 1024., "1.2M");
    assert_short(1330 * 1024., "1.3M");
    assert_short(1023.94 * 1024, "1023.9K");
    assert_short(1023.96 * 1024, "1M");
    assert_short(0x1p40, "1T");
    assert_short(0x1p52, "4096T");
    assert_short(-1, "?");
    assert_short(NAN, "?");
    assert_short(INFINITY, "?");
    assert_short(0x1p63, "?");
}

static void assert_measured(double size, int towards, const char *wanted)
{
    char text[SIZE_TEXT];
    assert_ptr_equal(format_size_measured(size, towards, text), text);
    assert_string_equal(text, wanted);
}

static void test_measured(void **state)
{
    (void)state;
    assert_measured(647.1 * 1024, 0, "650K");
    assert_measured(561.7 * 1024, 0, "560K");
    assert_measured(572.2 * 1024, -1, "570K");
    assert_measured(572.2 * 1024, 1, "580K");
    assert_measured(1330 * 1024., 0, "1.3M");
    assert_measured(14.6 * 0x1p20, -1, "14M");
    assert_measured(29.2 * 1024, -1, "29K");
    /* round as they are */
    assert_measured(768 * 1024., -1, "768K");
    assert_measured(768 * 1024., 1, "768K");
    assert_measured(896 * 1024., 0, "896K");
    assert_measured(48 * 1024., 0, "48K");
    assert_measured(0x1p20, 0, "1M");
    assert_measured(1021 * 1024., 1, "1M");
    assert_measured(64, 0, "64");
    assert_measured(-1, 0, "?");
    assert_measured(NAN, 0, "?");
    assert_measured(0, 0, "0");
}

/* Never more than two decimal digits or three binary ones, and on the side that was asked
 * for. */
static void test_measured_bounds(void **state)
{
    (void)state;
    struct rng rng = {3};
    for (int i = 0; i < 20000; i++) {
        double size = 2048 * exp2(28 * rng_unit(&rng));
        char low[SIZE_TEXT], high[SIZE_TEXT];
        uint64_t least;
        format_size_measured(size, -1, low);
        format_size_measured(size, 1, high);
        double unit = strchr(low, 'G') ? 0x1p30 : strchr(low, 'M') ? 0x1p20 : 1024;
        double a = strtod(low, NULL) * unit;
        assert_true(a <= size * (1 + 1e-9) && a >= size / 1.11);
        unit = strchr(high, 'G') ? 0x1p30 : strchr(high, 'M') ? 0x1p20 : 1024;
        double b = strtod(high, NULL) * unit;
        assert_true(b >= size * (1 - 1e-9) && b <= size * 1.11);
        size_t digits = strspn(low, "0123456789");
        bool decimal = digits <= 2 || low[digits - 1] == '0';
        bool binary = parse_size(low, &least) == 0 && least >> 60 == 0 &&
                      fmod((double)least, exp2(floor(log2((double)least)) - 2)) == 0;
        assert_true(decimal || binary);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),           cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_written),         cmocka_unit_test(test_read_back),
        cmocka_unit_test(test_short),           cmocka_unit_test(test_measured),
        cmocka_unit_test(test_measured_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
