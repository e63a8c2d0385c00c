/* SPDX-License-Identifier: BSD-3-Clause
 *
 * In the manner of compress: a large text is packed by an adaptive dictionary, and unpacked
 * again. Buffers are passed through from one end to the other; the tables are visited at
 * random. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 24 << 20, CODES = 1 << 16, SLOTS = 1 << 17, ROUNDS = 2 };

static unsigned char orig_text_buffer[TEXT], new_text_buffer[TEXT];
static uint16_t comp_text_buffer[TEXT];
static uint32_t htab[SLOTS];
static uint16_t codetab[SLOTS];
static uint16_t prefix[CODES];
static unsigned char suffix[CODES];

static void make_text(uint32_t seed)
{
    for (int i = 0; i < TEXT; i++) {
        seed = seed * 1664525u + 1013904223u;
        orig_text_buffer[i] =
            (unsigned char)("etaonrishd"[(seed >> 28) % 10] + (seed >> 27 & 1));
    }
}

static int find(uint32_t key, uint32_t *slot)
{
    uint32_t at = key * 2654435761u >> 15;
    while (htab[at] && htab[at] != key)
        at = (at + 1) % SLOTS;
    *slot = at;
    return htab[at] != 0;
}

static int pack(void)
{
    int codes = 256, n = 0, code = orig_text_buffer[0];
    memset(htab, 0, sizeof htab);
    for (int i = 1; i < TEXT; i++) {
        uint32_t slot, key = (uint32_t)(code << 8 | orig_text_buffer[i]) + 1;
        if (find(key, &slot)) {
            code = codetab[slot];
            continue;
        }
        comp_text_buffer[n++] = (uint16_t)code;
        if (codes < CODES) {
            htab[slot] = key;
            prefix[codes] = (uint16_t)code;
            suffix[codes] = orig_text_buffer[i];
            codetab[slot] = (uint16_t)codes++;
        }
        code = orig_text_buffer[i];
    }
    comp_text_buffer[n++] = (uint16_t)code;
    return n;
}

static int unpack(int n)
{
    int at = 0;
    for (int i = 0; i < n; i++) {
        unsigned char stack[4096];
        int depth = 0, code = comp_text_buffer[i];
        for (; code >= 256; code = prefix[code])
            stack[depth++] = suffix[code];
        new_text_buffer[at++] = (unsigned char)code;
        while (depth > 0)
            new_text_buffer[at++] = stack[--depth];
    }
    return at;
}

int main(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        make_text((uint32_t)round + 1);
        int n = pack(), size = unpack(n);
        printf("%d codes, %s\n", n,
               size == TEXT && !memcmp(orig_text_buffer, new_text_buffer, TEXT)
                   ? "same"
                   : "NOT THE SAME");
    }
    return 0;
}
