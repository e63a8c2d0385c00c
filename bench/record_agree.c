/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `strata record` and cachegrind on the same programs, with the same caches: misses of the
 * first data cache and of the last cache, in all and by function, must be the same within
 * a thousandth.
 *
 *     build/bench/record_agree [-v] [PROGRAM]...     -v: every function that was compared
 *
 *               D1 misses                            LL misses
 *               cachegrind        strata   differ    cachegrind        strata   differ
 *     sqlite3    1,234,567     1,234,570  +0.0002%       12,345        12,345   0.0000%
 *
 * Addresses decide about conflicts, so both runs get the same environment, to the byte:
 * the folders of both tools have names of the same length, and each run has both names in
 * its environment. A function is compared if it has more than 0.5% of the misses. */
#include "query.h"
#include "workloads.h"

#include <dirent.h>
#include <math.h>

#define TARGET 0.1   /* percent, in all and by function */
#define SHARE  0.005 /* of the misses: what a function must have to be compared */

enum { KINDS = 2 };
static const char *const kinds[KINDS] = {"d1", "ll"};

struct agreement {
    double counts[KINDS][2]; /* cachegrind's and strata's, in all */
    int functions[KINDS];
    double worst[KINDS]; /* percent, of a function */
    char name[KINDS][64];
    bool same_output;
};

/* A folder of links to the files of another: valgrind looks for a tool by its name. */
static void link_folder(const struct bench *bench, const char *name, const char *from)
{
    char folder[PATH_MAX], to[2 * PATH_MAX], file[2 * PATH_MAX];
    if (mkdir(format_to(folder, sizeof folder, "%s/%s", bench->work, name), 0777))
        die("%s: %s", folder, strerror(errno));
    DIR *dir = opendir(from);
    if (!dir)
        die("%s: %s", from, strerror(errno));
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        format_to(file, sizeof file, "%s/%s", from, entry->d_name);
        if (symlink(file, format_to(to, sizeof to, "%s/%s", folder, entry->d_name)))
            die("%s: %s", to, strerror(errno));
    }
    closedir(dir);
}

/* That of both runs; strata replaces VALGRIND_LIB by a text of the same length. */
static const char *const *make_environment(const struct bench *bench,
                                           const char *words[RUN_WORDS])
{
    static char own[PATH_MAX], library[PATH_MAX];
    format_to(own, sizeof own, "STRATA_VALGRIND=%s/st", bench->work);
    format_to(library, sizeof library, "VALGRIND_LIB=%s/cg", bench->work);
    const char *const more[] = {own, library, NULL};
    return run_words(words, run_environment(bench), more);
}

/* The database in which the two are compared. */

static void insert(sqlite3_stmt *stmt, const char *function, long d1, long ll)
{
    sqlite3_bind_text(stmt, 1, function, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(stmt, 2, d1);
    sqlite3_bind_int64(stmt, 3, ll);
    query_next(stmt);
    sqlite3_reset(stmt);
}

/* A line of counts: its number, then Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw. */
static bool read_counts(const char *line, long *d1, long *ll)
{
    long n[10];
    if (sscanf(line, "%ld %ld %ld %ld %ld %ld %ld %ld %ld %ld", &n[0], &n[1], &n[2], &n[3],
               &n[4], &n[5], &n[6], &n[7], &n[8], &n[9]) != 10)
        return false;
    *d1 = n[5] + n[8];
    *ll = n[3] + n[6] + n[9];
    return true;
}

static void load_cachegrind(const struct bench *bench, sqlite3 *db)
{
    char path[PATH_MAX], *line = NULL, *function = NULL;
    size_t room = 0;
    long d1, ll, lines = 0;
    sqlite3_stmt *stmt = query_prepare(db, "INSERT INTO cachegrind VALUES(?, ?, ?)");
    FILE *file = fopen(format_to(path, sizeof path, "%s/cachegrind.out", bench->work), "r");
    if (!file)
        die("%s: %s", path, strerror(errno));
    query_run(db, "BEGIN");
    while (getline(&line, &room, file) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "fn=", 3) == 0) {
            free(function);
            /* without the version of a symbol, as strata has it */
            function = strndup(line + 3, strcspn(line + 3, "@"));
        } else if (function && read_counts(line, &d1, &ll)) {
            insert(stmt, function, d1, ll);
            lines++;
        }
    }
    query_run(db, "COMMIT");
    if (!lines)
        die("%s holds no counts", path);
    sqlite3_finalize(stmt);
    fclose(file);
    free(function);
    free(line);
}

static sqlite3 *load(const struct bench *bench)
{
    sqlite3 *db;
    char text[2 * PATH_MAX];
    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        die("%s", sqlite3_errmsg(db));
    query_run(db, "CREATE TABLE cachegrind(function, d1, ll)");
    load_cachegrind(bench, db);
    format_to(text, sizeof text, "ATTACH '%s/profile.strata' AS profile", bench->work);
    query_run(db, text);
    query_run(db, "CREATE TABLE d1 AS SELECT function, sum(a) AS a, sum(b) AS b FROM ("
                  "  SELECT function, d1 AS a, 0 AS b FROM cachegrind UNION ALL"
                  "  SELECT ifnull(function, '\?\?\?'), 0, l1_misses FROM profile.cells"
                  "    WHERE kind <> 'code') GROUP BY function;"
                  "CREATE TABLE ll AS SELECT function, sum(a) AS a, sum(b) AS b FROM ("
                  "  SELECT function, ll AS a, 0 AS b FROM cachegrind UNION ALL"
                  "  SELECT ifnull(function, '\?\?\?'), 0, l2_misses FROM profile.cells)"
                  "  GROUP BY function");
    return db;
}

static double percent(double theirs, double ours)
{
    return theirs > 0 ? 100 * (ours / theirs - 1) : ours > 0 ? INFINITY : 0;
}

static void read_total(sqlite3 *db, int kind, struct agreement *agreement)
{
    char text[RUN_TEXT];
    sqlite3_stmt *stmt = query_prepare(
        db, format_to(text, sizeof text, "SELECT sum(a), sum(b) FROM %s", kinds[kind]));
    query_next(stmt);
    for (int i = 0; i < 2; i++)
        agreement->counts[kind][i] = sqlite3_column_double(stmt, i);
    sqlite3_finalize(stmt);
}

static void print_function(const char *kind, const char *name, const double counts[2],
                           double total)
{
    printf("    %s  %5.1f%%  %12.0f  %12.0f  %+9.4f%%  %.40s\n", kind,
           100 * counts[0] / total, counts[0], counts[1], percent(counts[0], counts[1]),
           name);
}

static void read_functions(sqlite3 *db, int kind, bool verbose, struct agreement *agreement)
{
    char text[RUN_TEXT];
    double total = agreement->counts[kind][0];
    sqlite3_stmt *stmt = query_prepare(
        db,
        format_to(text, sizeof text,
                  "SELECT function, a, b FROM %s WHERE max(a, b) > %.1f ORDER BY a DESC",
                  kinds[kind], SHARE * total));
    while (query_next(stmt)) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        const double counts[2] = {sqlite3_column_double(stmt, 1),
                                  sqlite3_column_double(stmt, 2)};
        double differ = percent(counts[0], counts[1]);
        if (verbose)
            print_function(kinds[kind], name, counts, total);
        if (fabs(differ) >= fabs(agreement->worst[kind])) {
            agreement->worst[kind] = differ;
            snprintf(agreement->name[kind], sizeof agreement->name[kind], "%s", name);
        }
        agreement->functions[kind]++;
    }
    sqlite3_finalize(stmt);
}

/* The program runs alone first: files that it writes are there in both runs that follow,
 * and its output is what theirs must be. */
static void run_all(const struct bench *bench, const struct workload *workload)
{
    static const char *const options[] = {"--exact", "--fetches", "--", NULL};
    const char *argv[RUN_WORDS], *before[RUN_WORDS], *words[RUN_WORDS],
        *variables[RUN_WORDS];
    const char *const *program = workload_argv(bench, workload, argv);
    const char *const *environment = make_environment(bench, variables);
    run(bench, program, environment, "output");
    run(bench, run_words(words, cachegrind_words(), program), environment, "output-cg");
    run(bench, run_words(words, strata_words(bench, before, options), program), environment,
        "output-st");
}

static struct agreement compare(const struct bench *bench, const struct workload *workload,
                                bool verbose)
{
    struct agreement agreement = {.same_output = false};
    run_all(bench, workload);
    agreement.same_output = same_files(bench, "output", "output-st");
    sqlite3 *db = load(bench);
    for (int kind = 0; kind < KINDS; kind++) {
        read_total(db, kind, &agreement);
        read_functions(db, kind, verbose, &agreement);
    }
    sqlite3_close(db);
    return agreement;
}

/* Prints a row for each kind of miss; returns how many targets it misses. */
static int print_agreement(const char *name, const struct agreement *agreement)
{
    int missed = !agreement->same_output;
    for (int kind = 0; kind < KINDS; kind++) {
        const double *counts = agreement->counts[kind];
        double differ = percent(counts[0], counts[1]);
        bool bad = fabs(differ) > TARGET || fabs(agreement->worst[kind]) > TARGET;
        printf("%-8s %s %12.0f %12.0f %+8.4f%% %5d %+8.4f%%  %.22s%s\n", kind ? "" : name,
               kinds[kind], counts[0], counts[1], differ, agreement->functions[kind],
               agreement->worst[kind], agreement->name[kind], bad ? "  MISSED" : "");
        missed += bad;
    }
    if (!agreement->same_output)
        printf("%-8s the program's output differs  MISSED\n", "");
    return missed;
}

int main(int argc, char **argv)
{
    struct bench bench;
    char tool[PATH_MAX];
    bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    int missed = 0, done = 0, chosen = argc - 1 - verbose;
    bench_begin(&bench);
    link_folder(&bench, "cg", "/usr/libexec/valgrind");
    link_folder(&bench, "st", format_to(tool, sizeof tool, "%s/valgrind", bench.build));
    workloads_prepare(&bench);
    puts(
        "I1, D1 32K 8-way, LL 8M 16-way, 64-byte lines, LRU; functions: those with > 0.5%");
    printf("%-8s    %12s %12s %9s %5s %9s\n", "misses", "cachegrind", "strata", "differ",
           "func.", "worst");
    for (int i = 0; i < REAL_PROGRAMS; i++) {
        const struct workload *workload = &real_programs[i];
        if (!is_chosen(workload->name, argv + 1 + verbose, chosen) ||
            !workload_there(&bench, workload))
            continue;
        struct agreement agreement = compare(&bench, workload, verbose);
        missed += print_agreement(workload->name, &agreement);
        done++;
    }
    printf("%d programs; target: within %.1f%% in all and by function: %s\n", done, TARGET,
           missed ? "MISSED" : "met");
    bench_end(&bench);
    return missed || (!chosen && done < REAL_PROGRAMS);
}
