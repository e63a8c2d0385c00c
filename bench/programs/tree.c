/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pointers: a search tree with a record behind every node, and a list through all records
 * in the order in which they came. Blocks are small and their order in memory is not that
 * of the visits. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { RECORDS = 250000, LOOKUPS = 1400000, WALKS = 24 };

struct record {
    struct record *next;
    uint64_t key, visits;
};

struct node {
    struct node *child[2];
    uint64_t key;
    struct record *record;
};

static uint64_t state = 1;

static uint64_t random_key(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void *get(size_t size)
{
    void *block = calloc(1, size);
    if (!block) {
        perror("calloc");
        exit(1);
    }
    return block;
}

/* Blocks are named by the functions that ask for them, so each kind has one of its own. */
#define APART __attribute__((noinline))

static APART struct record *new_record(uint64_t key)
{
    struct record *record = get(sizeof *record);
    record->key = key;
    return record;
}

static APART struct node *new_node(uint64_t key)
{
    struct node *node = get(sizeof *node);
    node->key = key;
    node->record = new_record(key);
    return node;
}

static struct node *insert(struct node **root, uint64_t key)
{
    while (*root)
        root = &(*root)->child[key > (*root)->key];
    return *root = new_node(key);
}

/* The node whose key is the nearest that was met on the way down. */
static struct node *look_up(struct node *root, uint64_t key)
{
    struct node *last = root;
    while (root) {
        last = root;
        root = root->child[key > root->key];
    }
    return last;
}

static uint64_t walk(struct record *list)
{
    uint64_t sum = 0;
    for (; list; list = list->next)
        sum += list->visits;
    return sum;
}

int main(void)
{
    struct node *root = NULL;
    struct record *list = NULL;
    uint64_t sum = 0;
    for (int i = 0; i < RECORDS; i++) {
        struct record *record = insert(&root, random_key())->record;
        record->next = list;
        list = record;
    }
    for (int i = 0; i < LOOKUPS; i++)
        look_up(root, random_key())->record->visits++;
    for (int i = 0; i < WALKS; i++)
        sum += walk(list);
    printf("%lu\n", (unsigned long)sum);
    return 0;
}
