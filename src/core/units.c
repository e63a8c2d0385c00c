/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sizes as people write them; core/units.h has the contract.
 *
 * Whole-number arithmetic throughout: a size is exact or it is refused, and the
 * decimal point is a point in every locale. */
#include "core/units.h"

#include <inttypes.h>
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
