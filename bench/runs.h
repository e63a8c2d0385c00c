/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For benchmarks that run programs: a folder to work in, and one run of a program there,
 * with an environment that is always the same, its output in files, and what it used.
 *
 * A benchmark that cannot go on says why and ends with status 1; what it left in the work
 * folder stays for a look at it. */
#ifndef BENCH_RUNS_H
#define BENCH_RUNS_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUN_WORDS = 40, RUN_TEXT = 512 };

struct bench {
    char work[PATH_MAX - 256];  /* where programs run */
    char build[PATH_MAX - 256]; /* the build folder: strata, valgrind/, bench/programs/ */
    char root[PATH_MAX - 256];  /* the source */
};

struct usage {
    double seconds;   /* CPU time of the program itself and of what it started */
    double megabytes; /* the most that one of them had */
    double kernel;    /* CPU seconds in the kernel, which are not in `seconds` */
};

__attribute__((format(printf, 1, 2), noreturn)) static inline void die(const char *format,
                                                                       ...)
{
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

__attribute__((format(printf, 3, 4))) static inline char *format_to(char *text, size_t size,
                                                                    const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if ((size_t)vsnprintf(text, size, format, arguments) >= size)
        die("a path is too long: %s", text);
    va_end(arguments);
    return text;
}

/* Finds the folders; the benchmark itself is BUILD/bench/NAME and starts in the source. */
static inline void bench_begin(struct bench *bench)
{
    char path[PATH_MAX];
    const char *place = getenv("TMPDIR");
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        die("/proc/self/exe: %s", strerror(errno));
    path[length] = '\0';
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(path, '/');
        if (!slash)
            die("%s is not in a build folder", path);
        *slash = '\0';
    }
    format_to(bench->build, sizeof bench->build, "%s", path);
    if (!getcwd(bench->root, sizeof bench->root))
        die("the current folder: %s", strerror(errno));
    format_to(bench->work, sizeof bench->work, "%s/strata-bench-XXXXXX",
              place && *place ? place : "/tmp");
    if (!mkdtemp(bench->work))
        die("%s: %s", bench->work, strerror(errno));
}

static inline const char *const *run_environment(const struct bench *bench)
{
    static char home[PATH_MAX];
    static const char *const environment[] = {
        "PATH=/usr/bin:/bin", "LC_ALL=C", "PYTHONHASHSEED=0",
        "PERL_HASH_SEED=0",   home,       NULL};
    format_to(home, sizeof home, "HOME=%s", bench->work);
    return environment;
}

static inline void run_redirect(const char *path, int to, int flags)
{
    int fd = open(path, flags, 0666);
    if (fd < 0 || dup2(fd, to) < 0)
        _exit(126);
}

/* In the child: never returns. */
static inline void run_start(const struct bench *bench, const char *const *argv,
                             const char *const *environment, const char *output)
{
    if (chdir(bench->work))
        _exit(126);
    run_redirect("/dev/null", STDIN_FILENO, O_RDONLY);
    run_redirect(output, STDOUT_FILENO, O_WRONLY | O_CREAT | O_TRUNC);
    run_redirect("errors", STDERR_FILENO, O_WRONLY | O_CREAT | O_TRUNC);
    execve(argv[0], (char *const *)argv, (char *const *)environment);
    _exit(127);
}

/* Runs a program to its end, its output in a file of the work folder; ends the benchmark
 * if that fails. */
static inline struct usage run(const struct bench *bench, const char *const *argv,
                               const char *const *environment, const char *output)
{
    struct rusage used;
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        run_start(bench, argv, environment ? environment : run_environment(bench), output);
    if (pid < 0 || wait4(pid, &status, 0, &used) != pid)
        die("%s: %s", argv[0], strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        die("%s failed (status %#x); see %s/errors", argv[0], (unsigned)status,
            bench->work);
    return (struct usage){
        (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec,
        (double)used.ru_maxrss / 1024,
        (double)used.ru_stime.tv_sec + 1e-6 * (double)used.ru_stime.tv_usec};
}

/* Words of a command line: those of `first` and then those of `second`. */
static inline const char *const *
run_words(const char *words[RUN_WORDS], const char *const *first, const char *const *second)
{
    int n = 0;
    for (; *first && n < RUN_WORDS - 1; first++)
        words[n++] = *first;
    for (; *second && n < RUN_WORDS - 1; second++)
        words[n++] = *second;
    words[n] = NULL;
    return words;
}

/* Whether two files of the work folder hold the same. */
static inline bool same_files(const struct bench *bench, const char *a, const char *b)
{
    const char *const argv[] = {"/usr/bin/cmp", "-s", a, b, NULL};
    int status = 1;
    pid_t pid = fork();
    if (pid == 0)
        run_start(bench, argv, run_environment(bench), "compared");
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* Whether a name is among those asked for; none asked for: all are. */
static inline bool is_chosen(const char *name, char **names, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return n == 0;
}

static inline void bench_end(const struct bench *bench)
{
    const char *const argv[] = {"/bin/rm", "-rf", bench->work, NULL};
    run(bench, argv, NULL, "/dev/null");
}

#endif
