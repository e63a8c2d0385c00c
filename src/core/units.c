/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sizes as people write them; core/units.h has the contract.
 *
 * Whole-number arithmetic in reading: a size is exact or it is refused, and the decimal
 * point is a point in every locale. */
#include "core/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char suffixes[] = "KMGT";

/* Reads digits up to the first other character; -1 if there are none or too many. */
static int parse_digits(const char **text, uint64_t *number)
{
    const char *p = *text;
    uint64_t n = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
            return -1;
    if (p == *text)
        return -1;
    *text = p;
    *number = n;
    return 0;
}

/* Reads ".25" as part / scale = 25 / 100, with trailing zeros dropped; 18 digits are
 * more than any exact fraction of a size can have to be told from its neighbours. */
static int parse_fraction(const char **text, uint64_t *part, uint64_t *scale)
{
    const char *p = *text + 1;
    const char *last = p + strspn(p, "0123456789");
    *text = last;
    if (last == p)
        return -1;
    while (last > p && last[-1] == '0')
        last--;
    if (last - p > 18)
        return -1;
    *part = 0;
    *scale = 1;
    for (; p < last; p++) {
        *part = *part * 10 + (uint64_t)(*p - '0');
        *scale *= 10;
    }
    return 0;
}

/* The multiplier that the rest of the text names, or 0. */
static uint64_t parse_suffix(const char *text, uint64_t base)
{
    uint64_t unit = 1;
    if (!*text)
        return unit;
    for (const char *s = suffixes; *s; s++) {
        unit *= base;
        if (text[0] == *s && !text[1])
            return unit;
    }
    return 0;
}

static int parse_scaled(const char *text, uint64_t base, uint64_t *number)
{
    uint64_t whole, part = 0, scale = 1;
    if (parse_digits(&text, &whole) ||
        (*text == '.' && parse_fraction(&text, &part, &scale)))
        return -1;
    uint64_t unit = parse_suffix(text, base);
    /* part < 10^18 and unit <= 10^12: the product needs up to 100 bits */
    unsigned __int128 extra = (unsigned __int128)part * unit;
    if (!unit || extra % scale)
        return -1;
    if (__builtin_mul_overflow(whole, unit, &whole) ||
        __builtin_add_overflow(whole, (uint64_t)(extra / scale), &whole))
        return -1;
    *number = whole;
    return 0;
}

int parse_size(const char *text, uint64_t *size)
{
    return parse_scaled(text, 1024, size);
}

int parse_count(const char *text, uint64_t *count)
{
    return parse_scaled(text, 1000, count);
}

const char *format_size(uint64_t size, char text[SIZE_TEXT])
{
    size_t step = 0;
    while (size && size % 1024 == 0 && suffixes[step]) {
        size /= 1024;
        step++;
    }
    snprintf(text, SIZE_TEXT, "%" PRIu64 "%.*s", size, step > 0,
             step ? &suffixes[step - 1] : "");
    return text;
}

const char *format_size_short(double size, char text[SIZE_TEXT])
{
    if (!(size >= 0 && size < 0x1p63)) {
        snprintf(text, SIZE_TEXT, "?");
        return text;
    }
    size_t step = 0;
    /* 1023.95K would print as 1024K: go on to the next unit from there */
    while (suffixes[step] && size >= (step ? 1023.95 : 1023.5)) {
        size /= 1024;
        step++;
    }
    double scaled = step ? size * 10 : size;
    uint64_t n = (uint64_t)scaled;
    double rest = scaled - (double)n;
    n += rest > 0.5 || (rest == 0.5 && n % 2); /* half to even: 1.25M is 1.2M */
    if (!step)
        snprintf(text, SIZE_TEXT, "%" PRIu64, n);
    else if (n % 10)
        snprintf(text, SIZE_TEXT, "%" PRIu64 ".%" PRIu64 "%c", n / 10, n % 10,
                 suffixes[step - 1]);
    else
        snprintf(text, SIZE_TEXT, "%" PRIu64 "%c", n / 10, suffixes[step - 1]);
    return text;
}

static double round_towards(double x, int towards)
{
    return towards < 0 ? floor(x) : towards > 0 ? ceil(x) : round(x);
}

/* The unit in which a size is printed. */
static double unit_of(double size)
{
    double unit = 1;
    for (const char *s = suffixes; *s && size >= 1024 * unit; s++)
        unit *= 1024;
    return unit;
}

/* Two decimal digits. */
static double round_decimal(double size, int towards)
{
    double unit = unit_of(size), in_units = size / unit;
    double steps = in_units >= 100 ? 0.1 : in_units >= 10 || unit == 1 ? 1 : 10;
    return round_towards(in_units * steps, towards) / steps * unit;
}

/* Three binary ones: 768K, 896K, 1M and 1.5M are as round as 800K. */
static double round_binary(double size, int towards)
{
    double step = exp2(floor(log2(size)) - 2);
    return round_towards(size / step, towards) * step;
}

const char *format_size_measured(double size, int towards, char text[SIZE_TEXT])
{
    if (!(size > 0 && size < 0x1p62))
        return format_size_short(size, text);
    double decimal = round_decimal(size, towards), binary = round_binary(size, towards);
    double tenths = binary / unit_of(binary) * 10;
    /* 1.25M would be printed as 1.2M */
    bool exact =
        tenths == floor(tenths) && (unit_of(binary) > 1 || binary == floor(binary));
    bool nearer = fabs(binary - size) <= fabs(decimal - size);
    return format_size_short(exact && nearer ? binary : decimal, text);
}

const char *format_thousands(uint64_t count, char text[THOUSANDS_TEXT])
{
    char digits[SIZE_TEXT];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, count);
    char *to = text;
    for (int i = 0; i < n; i++) {
        *to++ = digits[i];
        if (i + 1 < n && (n - i - 1) % 3 == 0)
            *to++ = ',';
    }
    *to = '\0';
    return text;
}
