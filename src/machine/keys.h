/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a machine file may say: its sections and their keys, as tables.
 *
 * Reading, checking, writing and comparing machines all walk over these tables; a new
 * key is a new row. A key names a field of a record by its offset; a record is the
 * part of strata_machine that one section describes. */
#ifndef MACHINE_KEYS_H
#define MACHINE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <strata/machine.h>

enum key_type {
    KEY_TEXT,   /* a name for people */
    KEY_SIZE,   /* bytes: 32K; `none` is 0 where the row allows it */
    KEY_COUNT,  /* with decimal suffixes: 2400M */
    KEY_NUMBER, /* a plain whole number */
    KEY_WAYS,   /* a whole number, or `full` */
    KEY_REAL,   /* 0.02 */
    KEY_CHOICE, /* one of words */
    KEY_SET     /* one or more of words */
};

struct key {
    const char *name;
    enum key_type type;
    uint32_t offset, width; /* of the field in its record, in bytes */
    bool required;
    const char *standard;     /* what a missing key stands for; NULL: it depends */
    const char *example;      /* for the message about a missing key */
    uint64_t low, high;       /* bounds of whole numbers and reals */
    const char *const *words; /* KEY_CHOICE, KEY_SET: NULL behind the last */
    uint64_t nwords;
};

enum section {
    SECTION_MACHINE,
    SECTION_CACHE,
    SECTION_TLB,
    SECTION_WALK,
    SECTION_MEMORY,
    SECTION_PREFETCH,
    SECTION_BRANCH,
    SECTION_NOISE,
    SECTIONS
};

struct section_type {
    const char *name;
    bool named;    /* [cache L1d]: many, each with a name of its own */
    bool required; /* at least one */
    const struct key *keys;
    uint32_t nkeys;
    uint32_t first, stride; /* where the records are in strata_machine */
    uint32_t count, most;   /* offset of their number, and its limit */
};

enum {
    MAX_RECORDS = STRATA_MAX_TLBS, /* of one type of section */
    MAX_KEYS = 14,
    RECORD_NAME_SIZE = 16,
    VALUE_TEXT = 80
};

#define WAYS_FULL UINT32_MAX /* until the number of lines is known */

extern const struct section_type section_types[SECTIONS];

void *record_at(struct strata_machine *machine, enum section section, uint32_t i);
const void *record_of(const struct strata_machine *machine, enum section section,
                      uint32_t i);
uint32_t record_count(const struct strata_machine *machine, enum section section);

/* The index of a key in its section's table, or -1. */
int key_find(enum section section, const char *name);

/* Whole-number fields of 4 or 8 bytes, and reals. */
uint64_t key_get(const struct key *key, const void *record);
void key_set(const struct key *key, void *record, uint64_t value);
double key_get_real(const struct key *key, const void *record);

/* Reads a value into its field. Returns NULL, or what was wanted instead, in `why`.
 * Bounds are not looked at: that is check.h's part. Wants the C locale. */
const char *key_parse(const struct key *key, const char *text, void *record,
                      char why[VALUE_TEXT * 2]);

/* Writes the text that key_parse() reads back to the same field. Wants the C locale. */
const char *key_format(const struct key *key, const void *record, char text[VALUE_TEXT]);

#endif
