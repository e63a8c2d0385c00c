/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The probe of this machine, many times: what is the same every time, what lies within
 * which interval, and whether the time was kept. First with the machine as it is, then with
 * another processor kept busy, then with the first one kept busy. At the end what the
 * operating system claims, and what peers say that are installed (PAPI, hwloc).
 *
 *     build/bench/hardware [RUNS [BUDGET]] */
#include "core/sort.h"
#include "score.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <strata/error.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_RUNS = 100 };

struct run {
    struct strata_probed probed;
};

/* Keeps a processor and its caches busy until it is killed. */
static pid_t keep_busy(int cpu)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* it must not outlive the benchmark */
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
    size_t n = 4 << 20;
    volatile char *memory = malloc(n);
    for (size_t i = 0; memory; i = (i + 64) % n)
        memory[i]++;
    _exit(0);
}

static void print_count(const struct strata_value *value, double unit)
{
    value->known
        ? printf(" %6g%s", value->value / unit, value->confidence < 0.95 ? "?" : " ")
        : printf(" %6s ", "-");
}

static void print_range(const struct strata_value *value, double unit)
{
    value->known ? printf("  %7.4g (%.4g-%.4g)", value->value / unit, value->low / unit,
                          value->high / unit)
                 : printf("  %7s", "-");
}

static void print_run(const struct strata_probed *p)
{
    printf("%5.1f %3d %4.2f %3d |", p->seconds, p->cpu, p->busy, p->ncaches);
    print_count(&p->caches[0].size, 1024), print_count(&p->caches[0].line, 1);
    print_count(&p->caches[0].ways, 1);
    p->ntlbs ? print_count(&p->tlbs[0].entries, 1) : printf(" %6s ", "-");
    printf(" |");
    for (int i = 1; i < p->ncaches; i++) {
        print_range(&p->caches[i].effective, 1024);
        print_count(&p->caches[i].line, 1), print_count(&p->caches[i].ways, 1);
    }
    printf(" |"), print_range(&p->memory_cycles, 1);
    putchar('\n');
    fflush(stdout);
}

/* In how many of the runs the value is known and the same as in most. */
static void agree(const char *what, const double *values, int n)
{
    int most = 0, at = 0;
    for (int i = 0; i < n; i++) {
        int same = 0;
        for (int j = 0; j < n; j++)
            same += values[i] == values[j];
        if (same > most && !isnan(values[i])) {
            most = same;
            at = i;
        }
    }
    printf("  %-28s %g in %d of %d\n", what, n ? values[at] : 0, most, n);
}

static double number(const struct strata_value *value)
{
    return value->known ? value->value : NAN;
}

/* The median of the values, how far they stray from it, and how many intervals hold it. */
static void spread(const char *what, const struct strata_value *values, int n, double unit)
{
    double sorted[MOST_RUNS], stray = 0;
    int known = 0, hold = 0;
    for (int i = 0; i < n; i++)
        if (values[i].known)
            sorted[known++] = values[i].value;
    if (!known)
        return;
    sort_ascending(sorted, (size_t)known);
    double median = sorted[known / 2];
    for (int i = 0; i < n; i++)
        if (values[i].known) {
            stray = fmax(stray, fabs(values[i].value / median - 1));
            hold += values[i].low <= median && median <= values[i].high;
        }
    printf("  %-28s median %.4g, at most %.0f%% off, in %d of %d intervals\n", what,
           median / unit, 100 * stray, hold, known);
}

static void summarise(const struct run *runs, int n)
{
    double values[5][MOST_RUNS], seconds = 0;
    struct strata_value ranges[MOST_RUNS];
    for (int i = 0; i < n; i++) {
        const struct strata_probed *p = &runs[i].probed;
        values[0][i] = p->ncaches;
        values[1][i] = number(&p->caches[0].size);
        values[2][i] = number(&p->caches[0].line);
        values[3][i] = number(&p->caches[0].ways);
        values[4][i] = p->ntlbs ? number(&p->tlbs[0].entries) : NAN;
        seconds = fmax(seconds, p->seconds);
    }
    static const char *const names[] = {"cache levels", "L1 size", "L1 line", "L1 ways",
                                        "L1 TLB entries"};
    for (int v = 0; v < 5; v++)
        agree(names[v], values[v], n);
    for (int level = 1; level < 3; level++) {
        char what[32];
        for (int i = 0; i < n; i++)
            ranges[i] = runs[i].probed.caches[level].effective;
        snprintf(what, sizeof what, "L%d effective, K", level + 1);
        spread(what, ranges, n, 1024);
    }
    for (int i = 0; i < n; i++)
        ranges[i] = runs[i].probed.memory_cycles;
    spread("memory, cycles", ranges, n, 1);
    printf("  %-28s %.1f s\n", "longest run", seconds);
}

static int probe_many(const char *what, int n, double budget)
{
    static struct run runs[MOST_RUNS];
    printf("\n%s\n%5s %3s %4s %3s | %6s  %6s  %6s  %6s  | capacity, K, line, ways of L2 "
           "and L3 | "
           "memory, cycles\n",
           what, "s", "cpu", "busy", "lev", "L1 K", "line", "ways", "TLB");
    for (int i = 0; i < n; i++) {
        struct strata_probe_options options = {
            .cpu = -1, .budget = budget, .seed = (uint64_t)i + 1};
        struct strata_error error;
        if (strata_probe(&options, &runs[i].probed, &error)) {
            fprintf(stderr, "%s\n", error.text);
            return 1;
        }
        print_run(&runs[i].probed);
        for (int j = 0; j < runs[i].probed.nnotes; j++)
            printf("      %s\n", runs[i].probed.notes[j]);
    }
    summarise(runs, n);
    for (int i = 0; i < n; i++)
        strata_probed_release(&runs[i].probed);
    return 0;
}

static int probe_busy(const char *what, int cpu, int n, double budget)
{
    pid_t pid = keep_busy(cpu);
    if (pid < 0)
        return 1;
    int status = probe_many(what, n, budget);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return status;
}

/* Peers that are not installed are said to be so. */
static void peers(void)
{
    static const char *const commands[] = {"getconf -a | grep -i 'cache_[sal]'",
                                           "papi_mem_info", "lstopo-no-graphics --no-io -v",
                                           "lat_mem_rd 64 128", "cache -M 64M"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char command[256];
        printf("\n$ %s\n", commands[i]);
        fflush(stdout);
        snprintf(command, sizeof command, "{ %s; } 2>&1 | head -n 40", commands[i]);
        if (system(command))
            puts("(failed)");
    }
}

int main(int argc, char **argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : 20, cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
    double budget = argc > 2 ? atof(argv[2]) : 0;
    runs = runs < MOST_RUNS ? runs : MOST_RUNS;
    int status = probe_many("the machine as it is", runs, budget);
    if (!status && cpus > 1)
        status =
            probe_busy("with the last processor busy", cpus - 1, (runs + 3) / 4, budget);
    if (!status)
        status = probe_busy("with the first processor busy", 0, (runs + 3) / 4, budget);
    peers();
    return status;
}
