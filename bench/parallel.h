/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Jobs side by side, each in a process of its own, as many at a time as there are
 * processors. A job fills in a plain struct, which lies in shared memory. */
#ifndef BENCH_PARALLEL_H
#define BENCH_PARALLEL_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct parallel_job {
    pid_t pid;
    enum { PARALLEL_WAITS, PARALLEL_ENDED, PARALLEL_FAILED } state;
};

static inline void parallel_stop(const char *why)
{
    perror(why);
    exit(1);
}

static inline void parallel_start(struct parallel_job *started, void (*job)(int, void *),
                                  int i, void *result)
{
    fflush(stdout);
    started->pid = fork();
    if (started->pid < 0)
        parallel_stop("fork");
    if (started->pid == 0) {
        job(i, result);
        _exit(0);
    }
}

/* Waits for any of the first n jobs. */
static inline void parallel_wait(struct parallel_job *jobs, int n)
{
    int status;
    pid_t pid = wait(&status);
    if (pid < 0)
        parallel_stop("wait");
    for (int i = 0; i < n; i++)
        if (jobs[i].pid == pid)
            jobs[i].state = status ? PARALLEL_FAILED : PARALLEL_ENDED;
}

/* Runs job(0..n-1), and calls done(i, result) in that order of those that did not fail;
 * `size` is that of a result. Returns how many failed. */
static inline int parallel(int n, size_t size, void (*job)(int i, void *result),
                           void (*done)(int i, const void *result))
{
    int most = (int)sysconf(_SC_NPROCESSORS_ONLN), started = 0, ended = 0, failed = 0;
    struct parallel_job *jobs = calloc((size_t)n + 1, sizeof *jobs);
    char *results = mmap(NULL, (size_t)n * size + 1, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!jobs || results == MAP_FAILED)
        parallel_stop("memory for the results");
    for (int shown = 0; shown < n; ended++) {
        for (; started < n && started < ended + most; started++)
            parallel_start(&jobs[started], job, started, results + (size_t)started * size);
        parallel_wait(jobs, started);
        for (; shown < started && jobs[shown].state != PARALLEL_WAITS; shown++)
            if (jobs[shown].state == PARALLEL_ENDED)
                done(shown, results + (size_t)shown * size);
            else
                failed++;
    }
    munmap(results, (size_t)n * size + 1);
    free(jobs);
    return failed;
}

#endif
