/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Jobs side by side, each in a process of its own, as many at a time as there are
 * processors. A job fills in a plain struct, which comes back through a pipe. */
#ifndef BENCH_PARALLEL_H
#define BENCH_PARALLEL_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct parallel_job {
    pid_t pid;
    int fd;
};

static inline int parallel_read(int fd, void *result, size_t size)
{
    size_t got = 0;
    while (got < size) {
        ssize_t n = read(fd, (char *)result + got, size - got);
        if (n <= 0)
            return -1;
        got += (size_t)n;
    }
    return 0;
}

static inline void parallel_child(void (*job)(int i, void *result), int i, void *result,
                                  size_t size, int fd)
{
    job(i, result);
    for (size_t sent = 0; sent < size;) {
        ssize_t n = write(fd, (char *)result + sent, size - sent);
        if (n <= 0)
            _exit(1);
        sent += (size_t)n;
    }
    _exit(0);
}

static inline int parallel_start(struct parallel_job *started, void (*job)(int, void *),
                                 int i, void *result, size_t size)
{
    int fds[2];
    if (pipe(fds))
        return -1;
    fflush(stdout);
    started->pid = fork();
    if (started->pid < 0)
        return -1;
    if (started->pid == 0)
        parallel_child(job, i, result, size, fds[1]);
    close(fds[1]);
    started->fd = fds[0];
    return 0;
}

/* Runs job(0..n-1) and calls done(i, result) in that order as they end; `size` is that of
 * a result. Returns how many failed. */
static inline int parallel(int n, size_t size, void (*job)(int i, void *result),
                           void (*done)(int i, const void *result))
{
    int most = (int)sysconf(_SC_NPROCESSORS_ONLN), started = 0, failed = 0;
    struct parallel_job *jobs = calloc((size_t)n, sizeof *jobs);
    void *result = calloc(1, size);
    if (!jobs || !result) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    for (int i = 0; i < n; i++) {
        for (; started < n && started < i + most; started++)
            if (parallel_start(&jobs[started], job, started, result, size)) {
                perror("fork");
                exit(1);
            }
        int bad = parallel_read(jobs[i].fd, result, size);
        close(jobs[i].fd);
        waitpid(jobs[i].pid, NULL, 0);
        if (bad)
            failed++;
        else
            done(i, result);
    }
    free(jobs);
    free(result);
    return failed;
}

#endif
