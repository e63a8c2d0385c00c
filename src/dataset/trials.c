/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The containers of a log of trials. Strings are found by hashing: a probe looks one up
 * between any two walks. */
#include "dataset/trials.h"

#include <stdlib.h>
#include <string.h>

struct trials *trials_create(void)
{
    return calloc(1, sizeof(struct trials));
}

void trials_release(struct trials *trials)
{
    if (!trials)
        return;
    free(trials->strings);
    free(trials->walks);
    free(trials->leaves);
    free(trials->table);
    free(trials);
}

/* Room for one more element; 0, or -1: out of memory, nothing changed. */
static int reserve(void **elements, size_t n, size_t *capacity, size_t size)
{
    if (n < *capacity)
        return 0;
    size_t larger = *capacity ? *capacity * 2 : 64;
    void *moved = realloc(*elements, larger * size);
    if (!moved)
        return -1;
    *elements = moved;
    *capacity = larger;
    return 0;
}

/* FNV-1a. */
static uint64_t hash(const struct trial_string *string)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325) ^ string->arena;
    for (const char *c = string->name; *c; c++)
        sum = (sum ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    for (uint32_t i = 0; i < string->n; i++)
        sum = (sum ^ string->given[i]) * UINT64_C(0x100000001b3);
    return sum ^ sum >> 32;
}

static bool same(const struct trial_string *a, const struct trial_string *b)
{
    return a->arena == b->arena && a->n == b->n && strcmp(a->name, b->name) == 0 &&
           memcmp(a->given, b->given, a->n * sizeof *a->given) == 0;
}

/* The place of a string in the table, or that where it would be. */
static uint32_t *slot(const struct trials *trials, const struct trial_string *string)
{
    size_t at = hash(string) & (trials->table_size - 1);
    while (trials->table[at] && !same(&trials->strings[trials->table[at] - 1], string))
        at = (at + 1) & (trials->table_size - 1);
    return &trials->table[at];
}

/* Keeps the table less than half full. */
static int grow_table(struct trials *trials)
{
    if (2 * (trials->nstrings + 1) < trials->table_size)
        return 0;
    size_t larger = trials->table_size ? 2 * trials->table_size : 256;
    uint32_t *table = calloc(larger, sizeof *table);
    if (!table)
        return -1;
    free(trials->table);
    trials->table = table;
    trials->table_size = larger;
    for (size_t i = 0; i < trials->nstrings; i++)
        *slot(trials, &trials->strings[i]) = (uint32_t)i + 1;
    return 0;
}

long trials_find(const struct trials *trials, const struct trial_string *string)
{
    return trials->table ? (long)*slot(trials, string) - 1 : -1;
}

long trials_string(struct trials *trials, const struct trial_string *string)
{
    void *all = trials->strings;
    long found = trials_find(trials, string);
    if (found >= 0)
        return found;
    if (grow_table(trials) ||
        reserve(&all, trials->nstrings, &trials->string_capacity, sizeof *string))
        return -1;
    trials->strings = all;
    uint32_t *place = slot(trials, string);
    trials->strings[trials->nstrings++] = *string;
    *place = (uint32_t)trials->nstrings;
    return (long)trials->nstrings - 1;
}

int trials_add(struct trials *trials, const struct trial_walk *walk)
{
    void *all = trials->walks;
    if (reserve(&all, trials->nwalks, &trials->walk_capacity, sizeof *walk))
        return -1;
    trials->walks = all;
    trials->walks[trials->nwalks++] = *walk;
    return 0;
}

int trials_leave(struct trials *trials, bool left)
{
    void *all = trials->leaves;
    if (reserve(&all, trials->nleaves, &trials->leave_capacity, sizeof *trials->leaves))
        return -1;
    trials->leaves = all;
    trials->leaves[trials->nleaves++] = left;
    return 0;
}
