/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From candidates to variables: one name for every byte.
 *
 * First, candidates at one address become one: the best name, the largest size. (A symbol
 * knows the size of a struct with a flexible array, which its type does not.) Members of
 * common blocks are kept apart, since the first one lies where its block does. Then a
 * sweep over the addresses gives every byte to the candidate that begins last before it;
 * what lies around a member is left to its block. */
#include "attrib/candidates.h"

#include "core/fail.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_BLOCK = 1 << 16 };

struct name_block {
    struct name_block *next;
    size_t used, size;
    char text[];
};

/* A block for at least `size` bytes at the head of the list. */
static struct name_block *name_room(struct name_block **names, size_t size)
{
    struct name_block *block = *names;
    if (block && block->size - block->used >= size)
        return block;
    size_t room = size > NAME_BLOCK ? size : NAME_BLOCK;
    block = malloc(sizeof *block + room);
    if (!block)
        return NULL;
    *block = (struct name_block){.next = *names, .size = room};
    *names = block;
    return block;
}

static void names_release(struct name_block *names)
{
    while (names) {
        struct name_block *next = names->next;
        free(names);
        names = next;
    }
}

const char *candidate_name(struct candidates *candidates, const char *text)
{
    size_t size = strlen(text) + 1;
    struct name_block *block = name_room(&candidates->names, size);
    if (!block) {
        candidates->no_memory = true;
        return NULL;
    }
    char *copy = memcpy(block->text + block->used, text, size);
    block->used += size;
    return copy;
}

/* Room for one more in an array of `width` bytes each; false without memory. */
static bool grow(void **items, size_t n, size_t *room, size_t width)
{
    if (n < *room)
        return true;
    size_t more = *room ? 2 * *room : 256;
    void *grown = reallocarray(*items, more, width);
    if (!grown)
        return false;
    *items = grown;
    *room = more;
    return true;
}

void candidate_add(struct candidates *candidates, struct candidate candidate)
{
    void *items = candidates->items;
    candidate.name = candidate_name(candidates, candidate.name);
    if (!candidate.name ||
        !grow(&items, candidates->n, &candidates->room, sizeof candidate)) {
        candidates->no_memory = true;
        return;
    }
    candidates->items = items;
    candidates->items[candidates->n++] = candidate;
}

void common_block_add(struct candidates *candidates, struct common_block block)
{
    void *blocks = candidates->blocks;
    block.linkage = candidate_name(candidates, block.linkage);
    block.name = candidate_name(candidates, block.name);
    if (!block.linkage || !block.name ||
        !grow(&blocks, candidates->nblocks, &candidates->block_room, sizeof block)) {
        candidates->no_memory = true;
        return;
    }
    candidates->blocks = blocks;
    candidates->blocks[candidates->nblocks++] = block;
}

static int by_linkage(const void *a, const void *b)
{
    const struct common_block *x = a, *y = b;
    return strcmp(x->linkage, y->linkage);
}

/* Gives the symbols of common blocks the names of the blocks. */
static void name_blocks(struct candidates *candidates)
{
    if (!candidates->nblocks)
        return;
    qsort(candidates->blocks, candidates->nblocks, sizeof *candidates->blocks, by_linkage);
    for (size_t i = 0; i < candidates->n; i++) {
        struct candidate *c = &candidates->items[i];
        struct common_block key = {.linkage = c->name};
        if (c->rank != RANK_GLOBAL && c->rank != RANK_WEAK)
            continue;
        const struct common_block *block =
            bsearch(&key, candidates->blocks, candidates->nblocks, sizeof key, by_linkage);
        if (block)
            c->name = block->name;
    }
}

/* By address, members of common blocks last, and then the best first. */
static int by_address(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    size_t length = strlen(x->name), other = strlen(y->name);
    if (length != other)
        return length < other ? -1 : 1;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

static bool joins(const struct candidate *a, const struct candidate *b)
{
    return a->address == b->address && (a->rank == RANK_MEMBER) == (b->rank == RANK_MEMBER);
}

/* Makes one of those that are the same; drops what has no size. */
static void join_same(struct candidates *candidates)
{
    struct candidate *items = candidates->items;
    size_t kept = 0;
    for (size_t i = 0, next; i < candidates->n; i = next) {
        struct candidate best = items[i];
        for (next = i + 1; next < candidates->n && joins(&best, &items[next]); next++)
            if (items[next].size > best.size)
                best.size = items[next].size;
        if (best.size)
            items[kept++] = best;
    }
    candidates->n = kept;
}

/* The sweep: those that began and have not ended, the last one on top. */
struct sweep {
    const struct candidate **open;
    size_t depth;
    uint64_t at; /* everything before has its name */
    struct symbols *symbols;
};

static uint64_t end_of(const struct candidate *candidate)
{
    return candidate->address + candidate->size;
}

static void emit(struct symbols *symbols, uint64_t address, uint64_t end, const char *name)
{
    struct variable *last = symbols->n ? &symbols->variables[symbols->n - 1] : NULL;
    if (last && last->address + last->size == address && last->name == name)
        last->size += end - address;
    else
        symbols->variables[symbols->n++] =
            (struct variable){.address = address, .size = end - address, .name = name};
}

/* Names all bytes before `limit`, as far as something is open there. */
static void sweep_to(struct sweep *sweep, uint64_t limit)
{
    while (sweep->depth && sweep->at < limit) {
        const struct candidate *top = sweep->open[sweep->depth - 1];
        uint64_t end = end_of(top) < limit ? end_of(top) : limit;
        if (end > sweep->at) {
            emit(sweep->symbols, sweep->at, end, top->name);
            sweep->at = end;
        }
        if (end_of(top) <= limit)
            sweep->depth--;
    }
}

static void sweep_all(struct sweep *sweep, const struct candidates *candidates)
{
    for (size_t i = 0; i < candidates->n; i++) {
        const struct candidate *c = &candidates->items[i];
        sweep_to(sweep, c->address);
        sweep->at = c->address;
        sweep->open[sweep->depth++] = c;
    }
    sweep_to(sweep, UINT64_MAX);
}

int candidates_resolve(struct candidates *candidates, struct symbols *symbols,
                       struct strata_error *error)
{
    *symbols = (struct symbols){0};
    if (candidates->no_memory)
        return fail(error, STRATA_FAILED, "out of memory for the names of variables");
    name_blocks(candidates);
    if (candidates->n)
        qsort(candidates->items, candidates->n, sizeof *candidates->items, by_address);
    join_same(candidates);
    /* Each candidate adds at most a piece of its own and one of what it lies within. */
    symbols->variables = calloc(2 * candidates->n + 1, sizeof *symbols->variables);
    struct sweep sweep = {.symbols = symbols};
    sweep.open = calloc(candidates->n + 1, sizeof(struct candidate *));
    if (!symbols->variables || !sweep.open) {
        free(sweep.open);
        symbols_release(symbols);
        return fail(error, STRATA_FAILED, "out of memory for %zu variables", candidates->n);
    }
    sweep_all(&sweep, candidates);
    free(sweep.open);
    symbols->names = candidates->names;
    candidates->names = NULL;
    candidates_release(candidates);
    return STRATA_OK;
}

void candidates_release(struct candidates *candidates)
{
    free(candidates->items);
    free(candidates->blocks);
    names_release(candidates->names);
    *candidates = (struct candidates){0};
}

void symbols_release(struct symbols *symbols)
{
    free(symbols->variables);
    names_release(symbols->names);
    *symbols = (struct symbols){0};
}
