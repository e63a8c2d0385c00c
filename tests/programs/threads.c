/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Eight threads, each with a block of its own that it reads once, and one that all add to
 * under a lock. For record-programs.sh. */
#include <strata/strata.h>

#include <pthread.h>
#include <stdio.h>

#define APART __attribute__((noinline))

enum { THREADS = 8, LINES = 1024, STEPS = 2000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static APART long read_all(const volatile char *block)
{
    long sum = 0;
    for (int i = 0; i < LINES; i++)
        sum += block[i * 64];
    return sum;
}

static APART char *make_part(long number)
{
    char name[32];
    snprintf(name, sizeof name, "part %ld", number);
    char *block = aligned_alloc(64, LINES * 64);
    if (!block)
        exit(1);
    for (int i = 0; i < LINES; i++)
        block[i * 64] = (char)number;
    strata_name(block, LINES * 64, name);
    return block;
}

/* What is in a thread's own frame is on a stack, whoever reads it. */
static void *work(void *argument)
{
    long number = (long)argument, sum = 0;
    volatile long local[64] = {0};
    char *part = make_part(number);
    sum = read_all(part);
    for (int i = 0; i < STEPS; i++) {
        local[i % 64] += i;
        pthread_mutex_lock(&lock);
        total += number;
        pthread_mutex_unlock(&lock);
    }
    free(part);
    return (void *)sum;
}

int main(void)
{
    pthread_t threads[THREADS];
    long sums = 0;
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i))
            return 1;
    for (int i = 0; i < THREADS; i++) {
        void *sum;
        pthread_join(threads[i], &sum);
        sums += (long)sum;
    }
    printf("%ld %ld\n", total, sums);
    return 0;
}
