/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hash table that intern.h promises. */
#include "profile/intern.h"

#include "core/rng.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256, FIRST_BYTES = 4096 };

/* FNV-1a, mixed once more because slots are chosen by its low bits. */
static uint64_t hash_of(const void *key, size_t size)
{
    const unsigned char *bytes = key;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return mix64(hash);
}

/* The slot that has the key, or the free one where it belongs. */
static size_t find(const struct intern *intern, const void *key, size_t size, uint64_t hash)
{
    size_t slot = hash & (intern->nslots - 1);
    for (; intern->slots[slot]; slot = (slot + 1) & (intern->nslots - 1)) {
        const struct intern_key *there = &intern->keys[intern->slots[slot] - 1];
        if (there->hash == hash && there->size == size &&
            (!size || memcmp(intern->bytes + there->at, key, size) == 0))
            break;
    }
    return slot;
}

/* Twice as many slots; at most half of them are taken. */
static int grow_slots(struct intern *intern)
{
    size_t n = intern->nslots ? 2 * intern->nslots : FIRST_SLOTS;
    uint32_t *slots = calloc(n, sizeof *slots);
    struct intern_key *keys = realloc(intern->keys, n / 2 * sizeof *keys);
    if (keys)
        intern->keys = keys;
    if (!slots || !keys) {
        free(slots);
        return -1;
    }
    for (uint32_t id = 0; id < intern->n; id++) {
        size_t slot = keys[id].hash & (n - 1);
        while (slots[slot])
            slot = (slot + 1) & (n - 1);
        slots[slot] = id + 1;
    }
    free(intern->slots);
    intern->slots = slots;
    intern->nslots = n;
    intern->room = (uint32_t)(n / 2);
    return 0;
}

static int grow_bytes(struct intern *intern, size_t size)
{
    size_t capacity = intern->capacity ? intern->capacity : FIRST_BYTES;
    while (capacity - intern->used < size)
        capacity *= 2;
    if (capacity == intern->capacity)
        return 0;
    char *bytes = realloc(intern->bytes, capacity);
    if (!bytes)
        return -1;
    intern->bytes = bytes;
    intern->capacity = capacity;
    return 0;
}

int intern_add(struct intern *intern, const void *key, size_t size, uint32_t *id,
               bool *fresh)
{
    uint64_t hash = hash_of(key, size);
    if (intern->n == intern->room && grow_slots(intern))
        return -1;
    size_t slot = find(intern, key, size, hash);
    *fresh = !intern->slots[slot];
    if (!*fresh) {
        *id = intern->slots[slot] - 1;
        return 0;
    }
    if (grow_bytes(intern, size))
        return -1;
    if (size)
        memcpy(intern->bytes + intern->used, key, size);
    intern->keys[intern->n] =
        (struct intern_key){.at = intern->used, .size = size, .hash = hash};
    intern->used += size;
    *id = intern->n++;
    intern->slots[slot] = intern->n;
    return 0;
}

const void *intern_key(const struct intern *intern, uint32_t id, size_t *size)
{
    *size = intern->keys[id].size;
    return intern->bytes + intern->keys[id].at;
}

void intern_release(struct intern *intern)
{
    free(intern->slots);
    free(intern->keys);
    free(intern->bytes);
    *intern = (struct intern){0};
}
