/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers for things: equal keys get the same id, counted from 0 in the order of their
 * first appearance. A hash table with open addressing; keys are copied. */
#ifndef PROFILE_INTERN_H
#define PROFILE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern {
    uint32_t *slots; /* id + 1; 0: free */
    size_t nslots;   /* a power of two */
    struct intern_key {
        size_t at, size; /* in `bytes` */
        uint64_t hash;
    } * keys;
    uint32_t n, room;
    char *bytes;
    size_t used, capacity;
};

/* All zeros is an empty one. */
void intern_release(struct intern *intern);

/* Finds or adds a key; *fresh says which. Returns 0, or -1: out of memory. */
int intern_add(struct intern *intern, const void *key, size_t size, uint32_t *id,
               bool *fresh);

/* The bytes of a key, valid until the next intern_add(). */
const void *intern_key(const struct intern *intern, uint32_t id, size_t *size);

#endif
