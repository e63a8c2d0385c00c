/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mesh.c with the cure that its profile asks for; the answer is the same to the last digit.
 *
 *     strata record --machine this.machine -- build/examples/mesh_cured
 *     strata view mesh_cured.strata objects
 *
 * The solver reads one double of each node, in an order that has nothing to do with where
 * the nodes are, and finds them through a table of pointers. So that double has an array of
 * its own, in the order of the walk: eight of them share a line where one node had most of
 * a line to itself, and there is no table to go through. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 30000, DEGREE = 6, SWEEPS = 6 };

/* What the solver does not touch. */
struct node {
    uint32_t flags, id;
    struct node *follower;
};

static double weight[NODES * DEGREE];
static uint32_t neighbour[NODES * DEGREE];
static double *value, *next;
static struct node *nodes;

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

/* Nodes are made in a random order, as in mesh.c, but each goes to its place. */
static __attribute__((noinline)) void make_nodes(void)
{
    value = xmalloc(NODES * sizeof *value);
    next = xmalloc(NODES * sizeof *next);
    nodes = xmalloc(NODES * sizeof *nodes);
    for (uint32_t i = 0; i < NODES; i++)
        nodes[i] = (struct node){.id = UINT32_MAX};
    for (uint32_t i = 0; i < NODES; i++) {
        uint32_t at = random_below(NODES);
        while (nodes[at].id != UINT32_MAX)
            at = (at + 1) % NODES;
        nodes[at].id = at;
        value[at] = at;
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
            sum += weight[i * DEGREE + j] * value[neighbour[i * DEGREE + j]];
        next[i] = sum;
    }
    for (uint32_t i = 0; i < NODES; i++) {
        double difference = next[i] - value[i];
        change += difference * difference;
        value[i] = next[i];
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
    free(value);
    free(next);
    free(nodes);
    return 0;
}
