/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Real programs to record: Debian's sqlite3, python3, cc1, gzip, xz and perl, each with an
 * input that takes cachegrind some seconds. Inputs are made, not stored: a text of words
 * whose frequency falls with their rank, a source file of strata as the preprocessor
 * leaves it. */
#ifndef BENCH_WORKLOADS_H
#define BENCH_WORKLOADS_H

#include "runs.h"

struct workload {
    const char *name;
    const char *argv[12]; /* in the work folder; a NULL at [0]: cc1, found by gcc */
};

static const struct workload real_programs[] = {
    {"sqlite3", {"/usr/bin/sqlite3", ":memory:", ".read query.sql"}},
    {"python3", {"/usr/bin/python3", "-S", "words.py"}},
    {"perl", {"/usr/bin/perl", "words.pl"}},
    {"cc1",
     {NULL, "-O1", "-quiet", "-frandom-seed=1", "-fpreprocessed", "source.i", "-o",
      "source.s"}},
    {"gzip", {"/usr/bin/gzip", "-c", "text"}},
    {"xz", {"/usr/bin/xz", "-T1", "-1", "-c", "text"}},
};
enum { REAL_PROGRAMS = sizeof real_programs / sizeof *real_programs };

/* The command line of a workload. */
static inline const char *const *workload_argv(const struct bench *bench,
                                               const struct workload *workload,
                                               const char *words[RUN_WORDS])
{
    static char cc1[PATH_MAX];
    const char *const none[] = {NULL};
    char path[PATH_MAX];
    if (workload->argv[0])
        return run_words(words, workload->argv, none);
    if (!*cc1) {
        const char *const ask[] = {"/usr/bin/gcc", "-print-prog-name=cc1", NULL};
        run(bench, ask, NULL, "cc1-path");
        FILE *file = fopen(format_to(path, sizeof path, "%s/cc1-path", bench->work), "r");
        if (!file || fscanf(file, "%4095s", cc1) != 1)
            die("gcc does not say where cc1 is");
        fclose(file);
    }
    const char *const first[] = {cc1, NULL};
    return run_words(words, first, workload->argv + 1);
}

/* Whether it is installed; says so if not. */
static inline bool workload_there(const struct bench *bench,
                                  const struct workload *workload)
{
    const char *words[RUN_WORDS];
    const char *path = workload_argv(bench, workload, words)[0];
    if (access(path, X_OK) == 0)
        return true;
    printf("%-9s left out: %s is not installed\n", workload->name, path);
    return false;
}

enum { VOCABULARY = 4096, WORD = 12, TEXT_BYTES = 3000000, LINE_BYTES = 70 };

static inline uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static inline void make_vocabulary(char words[VOCABULARY][WORD], uint64_t *state)
{
    for (int i = 0; i < VOCABULARY; i++) {
        int length = 2 + i * 7 % 9;
        for (int j = 0; j < length; j++)
            words[i][j] = (char)('a' + next_random(state) % 26);
        words[i][length] = '\0';
    }
}

/* Words of low numbers are frequent: the number is a product of two random ones. */
static inline void make_text(const struct bench *bench)
{
    static char words[VOCABULARY][WORD];
    char path[PATH_MAX];
    uint64_t state = 1;
    int column = 0;
    FILE *file = fopen(format_to(path, sizeof path, "%s/text", bench->work), "w");
    if (!file)
        die("%s: %s", path, strerror(errno));
    make_vocabulary(words, &state);
    for (int bytes = 0; bytes < TEXT_BYTES;) {
        uint32_t a = next_random(&state) % VOCABULARY, b = next_random(&state) % VOCABULARY;
        int length = fprintf(file, "%s", words[a * b / VOCABULARY * b / VOCABULARY]) + 1;
        bytes += length;
        column = column + length > LINE_BYTES ? 0 : column + length;
        fputc(column ? ' ' : '\n', file);
    }
    if (fclose(file))
        die("%s: %s", path, strerror(errno));
}

static inline void make_source(const struct bench *bench)
{
    char file[PATH_MAX], include[PATH_MAX], source[PATH_MAX];
    format_to(file, sizeof file, "%s/src/core/units.c", bench->root);
    format_to(include, sizeof include, "-I%s/include", bench->root);
    format_to(source, sizeof source, "-I%s/src", bench->root);
    const char *const argv[] = {"/usr/bin/gcc", "-E",   "-D_GNU_SOURCE",
                                include,        source, "-o",
                                "source.i",     file,   NULL};
    run(bench, argv, NULL, "log");
}

/* Makes the inputs in the work folder. */
static inline void workloads_prepare(const struct bench *bench)
{
    static const char *const files[] = {"query.sql", "words.py", "words.pl"};
    char from[PATH_MAX], to[PATH_MAX];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        format_to(from, sizeof from, "%s/bench/programs/%s", bench->root, files[i]);
        format_to(to, sizeof to, "%s/%s", bench->work, files[i]);
        if (access(from, R_OK) || symlink(from, to))
            die("%s: %s (start the benchmark in the source folder)", from, strerror(errno));
    }
    make_text(bench);
    make_source(bench);
}

/* Command lines in front of a program's own. */

#define CACHEGRIND_GEOMETRY "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"

static inline const char *const *cachegrind_words(void)
{
    static const char *const words[] = {
        "/usr/bin/valgrind", "--tool=cachegrind", "--cachegrind-out-file=cachegrind.out",
        "--cache-sim=yes",   CACHEGRIND_GEOMETRY, NULL};
    return words;
}

/* strata record with the caches of cachegrind, then these options. */
static inline const char *const *strata_words(const struct bench *bench,
                                              const char *words[RUN_WORDS],
                                              const char *const *options)
{
    static char strata[PATH_MAX], machine[PATH_MAX];
    format_to(strata, sizeof strata, "%s/strata", bench->build);
    format_to(machine, sizeof machine, "%s/machines/cachegrind.machine", bench->root);
    const char *const first[] = {strata,  "record",   "--source",       "sim", "--machine",
                                 machine, "--output", "profile.strata", NULL};
    return run_words(words, first, options);
}

#endif
