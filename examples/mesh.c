/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program to record: an iterative solver on an unstructured mesh, as a simulation code
 * would have it, with the usual sins.
 *
 *     strata record --machine this.machine -- build/examples/mesh
 *     strata view mesh.strata objects
 *
 * Each node is a block of its own on the heap, in an order that has nothing to do with the
 * order in which the solver walks: `nodes` costs most of the time although it is read less
 * often than `weight`, which is read from one end to the other. `strata view mesh.strata
 * sizes` says why: 30,000 blocks of 32 bytes, of which a line holds one and a bit. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 30000, DEGREE = 6, SWEEPS = 6 };

struct node {
    double value, next;
    uint32_t flags, id;
    struct node *follower;
};

static double weight[NODES * DEGREE];
static uint32_t neighbour[NODES * DEGREE];
static struct node *node_of[NODES];

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) * n >> 31);
}

static void *xmalloc(size_t size)
{
    void *block = malloc(size);
    if (!block) {
        fprintf(stderr, "mesh: out of memory\n");
        exit(1);
    }
    return block;
}

/* Nodes are made in a random order, as a mesh generator that refines here and there
 * makes them. */
static __attribute__((noinline)) void make_nodes(void)
{
    for (uint32_t i = 0; i < NODES; i++) {
        uint32_t at = random_below(NODES);
        while (node_of[at])
            at = (at + 1) % NODES;
        struct node *node = node_of[at] = xmalloc(sizeof *node);
        *node = (struct node){.value = at, .id = at};
    }
}

static __attribute__((noinline)) void make_edges(void)
{
    for (uint32_t i = 0; i < NODES * DEGREE; i++) {
        neighbour[i] = random_below(NODES);
        weight[i] = 1.0 / DEGREE;
    }
}

static __attribute__((noinline)) double relax(void)
{
    double change = 0;
    for (uint32_t i = 0; i < NODES; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < DEGREE; j++)
            sum += weight[i * DEGREE + j] * node_of[neighbour[i * DEGREE + j]]->value;
        node_of[i]->next = sum;
    }
    for (uint32_t i = 0; i < NODES; i++) {
        struct node *node = node_of[i];
        double difference = node->next - node->value;
        change += difference * difference;
        node->value = node->next;
    }
    return change;
}

int main(void)
{
    make_nodes();
    make_edges();
    double change = 0;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        change = relax();
    printf("change in the last sweep: %.3g\n", change);
    for (uint32_t i = 0; i < NODES; i++)
        free(node_of[i]);
    return 0;
}
