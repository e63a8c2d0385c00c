/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The probe of this machine beside others: programs that spin, and programs that walk
 * memory. What has an answer in how many runs, how many of the answers given at 0.95 or
 * more are wrong, and how long it took.
 *
 *     build/bench/busy [RUNS [TRUTH [CASE...]]]
 *
 * The truth is what quiet runs agree on: a number that most of them tell, or the range of
 * what they tell of a time or a capacity. It is measured once, which needs a quiet machine,
 * and kept in the file TRUTH (build/busy.truth). A number is wrong if it is another one, an
 * interval if it holds nothing of that range. */
#include "core/sort.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <strata/error.h>
#include <strata/probe.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { QUIET_RUNS = 5, LEVELS = 4, MOST_ANSWERS = 32, MOST_NEIGHBOURS = 8 };

/* The neighbours. */

static void spin(void)
{
    for (volatile unsigned i = 0;; i++)
        ;
}

/* Reads and writes more than any cache holds for itself, line by line. */
static void walk(void)
{
    size_t n = 32 << 20;
    volatile char *memory = malloc(n);
    for (size_t i = 0; memory; i = (i + 64) % n)
        memory[i]++;
}

static const struct {
    const char *name, *what;
    void (*run)(void);
    int each, alone; /* programs on each processor; on the last one alone */
    int free;        /* that may run anywhere */
} cases[] = {
    {"quiet", "the machine as it is", NULL, 0, 0, 0},
    {"spin", "five programs that spin", spin, 2, 0, 1},
    {"walk", "a program that walks memory on each processor", walk, 1, 0, 0},
    {"other", "a program that walks memory on one processor", walk, 0, 1, 0},
};
enum { CASES = sizeof cases / sizeof *cases };

/* Runs until it is killed. cpu < 0: anywhere. */
static pid_t start(void (*run)(void), int cpu)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* it must not outlive the benchmark */
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu < 0 ? 0 : cpu, &set);
    if (cpu >= 0)
        sched_setaffinity(0, sizeof set, &set);
    run();
    _exit(0);
}

static int start_case(int c, pid_t *pids)
{
    int n = 0, cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
    for (int cpu = 0; cpu < cpus; cpu++)
        for (int i = 0; i < cases[c].each && n < MOST_NEIGHBOURS; i++)
            pids[n++] = start(cases[c].run, cpu);
    for (int i = 0; i < cases[c].alone && n < MOST_NEIGHBOURS; i++)
        pids[n++] = start(cases[c].run, cpus - 1);
    for (int i = 0; i < cases[c].free && n < MOST_NEIGHBOURS; i++)
        pids[n++] = start(cases[c].run, -1);
    return n;
}

static void end_case(const pid_t *pids, int n)
{
    for (int i = 0; i < n; i++)
        if (pids[i] > 0) {
            kill(pids[i], SIGKILL);
            waitpid(pids[i], NULL, 0);
        }
}

/* The answers. */

struct answer {
    char name[32];
    struct strata_value value;
    bool count, wanted; /* a number, not a range; must have an answer in every run */
};

static void add(struct answer *answers, int *n, const char *name, int level,
                struct strata_value value, bool count, bool wanted)
{
    struct answer *a = &answers[(*n)++];
    *a = (struct answer){.value = value, .count = count, .wanted = wanted};
    snprintf(a->name, sizeof a->name, level ? "L%d %s" : "%.0d%s", level, name);
}

/* Always the same ones in the same order: a level that was not found has no answers. */
static int answers_of(const struct strata_probed *p, struct answer *answers)
{
    const struct strata_value none = {.known = false};
    int n = 0;
    add(answers, &n, "levels", 0, p->levels, true, true);
    for (int i = 0; i < LEVELS; i++) {
        const struct strata_probed_cache *cache = &p->caches[i];
        bool found = i < p->ncaches;
        add(answers, &n, "usable", i + 1, found ? cache->effective : none, false, true);
        add(answers, &n, "latency", i + 1, found ? cache->latency_cycles : none, false,
            true);
        add(answers, &n, "size", i + 1, found ? cache->size : none, true, false);
        add(answers, &n, "line", i + 1, found ? cache->line : none, true, false);
        add(answers, &n, "ways", i + 1, found ? cache->ways : none, true, false);
    }
    add(answers, &n, "memory", 0, p->memory_cycles, false, true);
    add(answers, &n, "TLB entries", 1, p->ntlbs ? p->tlbs[0].entries : none, true, true);
    add(answers, &n, "TLB ways", 1, p->ntlbs ? p->tlbs[0].ways : none, true, false);
    add(answers, &n, "TLB penalty", 1, p->ntlbs ? p->tlbs[0].penalty_cycles : none, false,
        false);
    return n;
}

static int probe(uint64_t seed, struct answer *answers, struct strata_probed *probed)
{
    struct strata_probe_options options = {.cpu = -1, .seed = seed};
    struct strata_error error;
    if (strata_probe(&options, probed, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return -1;
    }
    return answers_of(probed, answers);
}

/* The truth. */

struct truth {
    double low, high; /* NAN: not known */
};

/* What most of the values are, or their range without the outermost two. */
static struct truth truth_of(const struct answer runs[][MOST_ANSWERS], int n, int at)
{
    double sorted[QUIET_RUNS];
    int known = 0, most = 0, best = 0;
    for (int i = 0; i < n; i++)
        if (runs[i][at].value.known)
            sorted[known++] = runs[i][at].value.value;
    if (2 * known <= n)
        return (struct truth){NAN, NAN};
    sort_ascending(sorted, (size_t)known);
    if (!runs[0][at].count)
        return (struct truth){sorted[known > 3], sorted[known - 1 - (known > 3)]};
    for (int i = 0; i < known; i++) {
        int same = 0;
        for (int j = 0; j < known; j++)
            same += sorted[i] == sorted[j];
        best = same > most ? i : best;
        most = same > most ? same : most;
    }
    return (struct truth){sorted[best], sorted[best]};
}

static int measure_truth(const char *path, struct truth *truth)
{
    static struct answer runs[QUIET_RUNS][MOST_ANSWERS];
    int n = 0;
    for (int i = 0; i < QUIET_RUNS; i++) {
        struct strata_probed probed;
        n = probe((uint64_t)i + 101, runs[i], &probed);
        if (n < 0)
            return -1;
        strata_probed_release(&probed);
    }
    FILE *file = fopen(path, "w");
    if (!file)
        return -1;
    for (int i = 0; i < n; i++) {
        truth[i] = truth_of(runs, QUIET_RUNS, i);
        fprintf(file, "%.17g %.17g  %s\n", truth[i].low, truth[i].high, runs[0][i].name);
    }
    return fclose(file);
}

static int read_truth(const char *path, struct truth *truth)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return measure_truth(path, truth);
    for (int i = 0; i < MOST_ANSWERS; i++)
        if (fscanf(file, "%lf %lf %*[^\n]", &truth[i].low, &truth[i].high) != 2)
            break;
    return fclose(file);
}

/* The tally. */

static bool is_wrong(const struct answer *a, const struct truth *truth)
{
    if (!a->value.known || isnan(truth->low))
        return false;
    return a->count ? a->value.value != truth->low
                    : a->value.high < truth->low || a->value.low > truth->high;
}

struct tally {
    int told, wrong, sure, sure_wrong;
    double low, high;
};

static void count_answer(const struct answer *a, const struct truth *truth, struct tally *t)
{
    bool sure = a->value.known && a->value.confidence >= 0.95, wrong = is_wrong(a, truth);
    t->told += a->value.known;
    t->wrong += wrong;
    t->sure += sure;
    t->sure_wrong += sure && wrong;
    if (!a->value.known)
        return;
    t->low = t->low ? fmin(t->low, a->value.value) : a->value.value;
    t->high = fmax(t->high, a->value.value);
    if (wrong)
        printf("      %s: %g (%g-%g) at %.3f, but %g-%g when quiet\n", a->name,
               a->value.value, a->value.low, a->value.high, a->value.confidence, truth->low,
               truth->high);
}

/* Whether all that is wanted has an answer, of a machine with so many levels. */
static bool is_complete(const struct answer *answers, int n, const struct truth *truth)
{
    for (int i = 0; i < n; i++)
        if (answers[i].wanted && !isnan(truth[i].low) && !answers[i].value.known) {
            printf("      %s: %s\n", answers[i].name, answers[i].value.why);
            return false;
        }
    return true;
}

static int run_case(int c, int runs, const struct truth *truth)
{
    static struct tally tally[MOST_ANSWERS];
    static struct answer answers[MOST_ANSWERS];
    int complete = 0, n = 0, sure_wrong = 0;
    double longest = 0;
    memset(tally, 0, sizeof tally);
    printf("\n%s\n%5s %5s %4s %6s %5s\n", cases[c].what, "run", "s", "busy", "levels",
           "at");
    for (int run = 0; run < runs; run++) {
        struct strata_probed probed;
        n = probe((uint64_t)run + 1, answers, &probed);
        if (n < 0)
            return 1;
        printf("%5d %5.1f %4.2f %6d %5.3f\n", run + 1, probed.seconds, probed.busy,
               probed.ncaches, probed.levels.confidence);
        complete += is_complete(answers, n, truth);
        for (int i = 0; i < n; i++)
            count_answer(&answers[i], &truth[i], &tally[i]);
        longest = fmax(longest, probed.seconds);
        strata_probed_release(&probed);
        fflush(stdout);
    }
    printf("  %-16s %6s %6s %6s %6s  %s\n", "", "told", "wrong", "sure", "wrong",
           "least and most told; when quiet");
    for (int i = 0; i < n; i++) {
        const struct tally *t = &tally[i];
        sure_wrong += t->sure_wrong;
        if (t->told)
            printf("  %-16s %6d %6d %6d %6d  %g-%g; %g-%g\n", answers[i].name, t->told,
                   t->wrong, t->sure, t->sure_wrong, t->low, t->high, truth[i].low,
                   truth[i].high);
    }
    printf("%s: all that is wanted in %d of %d runs, %d wrong at 0.95 or more, %.1f s at "
           "the longest\n",
           cases[c].name, complete, runs, sure_wrong, longest);
    return 0;
}

static bool is_asked_for(const char *name, int argc, char **argv)
{
    for (int i = 3; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc <= 3;
}

int main(int argc, char **argv)
{
    static struct truth truth[MOST_ANSWERS];
    int runs = argc > 1 ? atoi(argv[1]) : 20, status = 0;
    for (int i = 0; i < MOST_ANSWERS; i++)
        truth[i] = (struct truth){NAN, NAN};
    if (read_truth(argc > 2 ? argv[2] : "build/busy.truth", truth)) {
        fprintf(stderr, "the truth cannot be measured or kept: %s\n", strerror(errno));
        return 1;
    }
    for (int c = 0; c < CASES && !status; c++) {
        if (!is_asked_for(cases[c].name, argc, argv))
            continue;
        pid_t pids[MOST_NEIGHBOURS];
        int n = start_case(c, pids);
        status = run_case(c, runs, truth);
        end_case(pids, n);
    }
    return status;
}
