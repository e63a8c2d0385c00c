/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decoding by the table of UTF-8's four forms; core/utf8.h has the contract. */
#include "core/utf8.h"

#include <stdint.h>
#include <string.h>

/* Leading bytes by form: how many bytes follow, and the least value that needs them
 * (a smaller one is an overlong form, which readers must refuse). */
static const struct form {
    unsigned char mask, bits, more;
    uint32_t least;
} forms[] = {
    {0x80, 0x00, 0, 0x0},
    {0xe0, 0xc0, 1, 0x80},
    {0xf0, 0xe0, 2, 0x800},
    {0xf8, 0xf0, 3, 0x10000},
};

/* Unicode's scalar values, less the two that XML forbids. */
static int is_character(uint32_t code)
{
    return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) && code != 0xfffe &&
           code != 0xffff;
}

/* Bytes of the character at text, or 0 if it is malformed. */
static size_t character_size(const unsigned char *text)
{
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        if ((text[0] & forms[f].mask) != forms[f].bits)
            continue;
        uint32_t code = text[0] & (unsigned char)~forms[f].mask;
        for (size_t i = 1; i <= forms[f].more; i++) {
            if ((text[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (text[i] & 0x3f);
        }
        return code >= forms[f].least && is_character(code) ? forms[f].more + 1u : 0;
    }
    return 0;
}

/* C0, DEL and C1: a terminal acts on all of them. */
static int is_control(const unsigned char *text)
{
    return text[0] < 0x20 || text[0] == 0x7f || (text[0] == 0xc2 && text[1] < 0xa0);
}

char *utf8_clean(const char *text, char *out, size_t size)
{
    const unsigned char *from = (const unsigned char *)(text ? text : "");
    size_t used = 0;
    while (*from) {
        size_t n = character_size(from);
        int plain = n > 0 && !is_control(from);
        if (used + (plain ? n : 1) >= size)
            break;
        if (plain)
            memcpy(out + used, from, n);
        else
            out[used] = n ? ' ' : '?';
        used += plain ? n : 1;
        from += n ? n : 1;
    }
    out[used] = '\0';
    return out;
}

size_t utf8_length(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += (*text & 0xc0) != 0x80;
    return n;
}
