/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What reading counters costs, beside `perf stat`:
 *
 *     build/bench/read_cost [-r ROUNDS]
 *
 * First the cost of a read within this process: through src/pmu, by the bare system call,
 * by one call for a group, and without a call where the kernel allows that. Then that of
 * the two commands, which take turns with the same events; the least CPU time of each
 * counts, since neighbours only ever add to it. An interval's cost is what 10 ms intervals
 * add to the same command without any, for each of them. Last, that of `strata top`.
 *
 * Target: `strata stat -I 100 -a` takes less than 1% of a core. */
#include "pmu/launch.h"
#include "pmu/pmu.h"
#include "runs.h"

#include <math.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#define EVENTS "cpu-clock,page-faults,context-switches,cpu-migrations"
#define TARGET 1.0 /* percent of a core */

enum { READS = 50, BATCHES = 100, EVENTS_N = 4, REPEATS = 100 };

/* Reads within this process. */

struct reader {
    struct pmu *pmu;
    struct pmu_count *counts;
    int fd; /* a bare descriptor, or -1 */
};

static void read_layer(struct reader *reader)
{
    pmu_read(reader->pmu, reader->counts);
}

static void read_bare(struct reader *reader)
{
    uint64_t words[3 + 2 * EVENTS_N];
    (void)!read(reader->fd, words, sizeof words);
}

static void read_user(struct reader *reader)
{
    uint64_t count;
    (void)pmu_read_user(reader->pmu, 0, &count);
}

/* Nanoseconds. Batches are so short that most are not interrupted; the least counts. */
static double cost_of(void (*read_once)(struct reader *), struct reader *reader, int rounds)
{
    double least = INFINITY;
    for (int batch = 0; batch < rounds * BATCHES; batch++) {
        double start = launch_now();
        for (int i = 0; i < READS; i++)
            read_once(reader);
        least = fmin(least, (launch_now() - start) / READS);
    }
    return 1e9 * least;
}

static const struct pmu_want wants[EVENTS_N] = {
    {.name = "task-clock", .kind = {.pmu = "", .device = ""}},
    {.name = "page-faults", .kind = {.pmu = "", .device = ""}},
    {.name = "context-switches", .kind = {.pmu = "", .device = ""}},
    {.name = "cpu-migrations", .kind = {.pmu = "", .device = ""}},
};

static void print_layer(const char *what, enum pmu_target_kind kind, size_t n, int rounds)
{
    const struct pmu_target target = {.kind = kind};
    struct pmu_count counts[EVENTS_N];
    struct reader reader = {.counts = counts};
    struct strata_error error;
    if (pmu_open(&pmu_system_here, &target, wants, n, &reader.pmu, &error) != STRATA_OK)
        die("%s", error.text);
    pmu_enable(reader.pmu);
    pmu_read(reader.pmu, counts);
    if (pmu_opened(reader.pmu, n - 1))
        printf("  %-42s %8.0f ns\n", what, cost_of(read_layer, &reader, rounds));
    else
        printf("  %-42s        - not counted: %s\n", what, counts[n - 1].why);
    pmu_close(reader.pmu);
}

/* The bare system call: n software events of this thread, behind one leader. */
static void print_bare(const char *what, int n, int rounds)
{
    static const uint64_t configs[EVENTS_N] = {
        PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_CONTEXT_SWITCHES,
        PERF_COUNT_SW_CPU_MIGRATIONS};
    int fds[EVENTS_N] = {-1, -1, -1, -1};
    struct reader reader = {.fd = -1};
    for (int i = 0; i < n; i++) {
        struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                       .size = sizeof attr,
                                       .config = configs[i],
                                       .exclude_kernel = geteuid() != 0,
                                       .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                      PERF_FORMAT_TOTAL_TIME_RUNNING |
                                                      (n > 1 ? PERF_FORMAT_GROUP : 0)};
        fds[i] = pmu_system_open(&attr, 0, -1, fds[0], 0);
    }
    reader.fd = fds[0];
    if (fds[n - 1] >= 0)
        printf("  %-42s %8.0f ns\n", what, cost_of(read_bare, &reader, rounds));
    else
        printf("  %-42s        - not counted: %s\n", what, strerror(errno));
    for (int i = n - 1; i >= 0; i--)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* Hardware events alone can be read so. */
static void print_user(const char *what, int rounds)
{
    static const struct pmu_want want = {.name = "instructions",
                                         .kind = {.pmu = "", .device = ""}};
    const struct pmu_target target = {.kind = PMU_SELF};
    struct pmu_count count;
    struct reader reader = {.counts = &count};
    struct strata_error error;
    uint64_t value;
    if (pmu_open(&pmu_system_here, &target, &want, 1, &reader.pmu, &error) != STRATA_OK)
        die("%s", error.text);
    pmu_enable(reader.pmu);
    pmu_read(reader.pmu, &count);
    if (pmu_read_user(reader.pmu, 0, &value))
        printf("  %-42s %8.0f ns\n", what, cost_of(read_user, &reader, rounds));
    else
        printf("  %-42s        - not possible: %.60s\n", what,
               pmu_opened(reader.pmu, 0) ? "the kernel does not allow it" : count.why);
    pmu_close(reader.pmu);
}

static void print_reads(int rounds)
{
    printf("a read within a process, software events\n");
    print_bare("the bare system call, one event", 1, rounds);
    print_bare("the bare system call, a group of 4", EVENTS_N, rounds);
    print_layer("src/pmu, one event of this thread", PMU_SELF, 1, rounds);
    print_layer("src/pmu, 4 events of this thread", PMU_SELF, EVENTS_N, rounds);
    print_layer("src/pmu, 4 events of all processors", PMU_ALL, EVENTS_N, rounds);
    print_user("src/pmu, without a system call", rounds);
}

/* The commands. */

enum { STRATA, PERF, TOOLS };

struct tools {
    const struct bench *bench;
    char strata[PATH_MAX];
    bool perf; /* it is installed */
    int rounds;
};

/* CPU seconds of `TOOL stat OPTIONS... -e EVENTS -o FILE -- PROGRAM`, the least of the
 * rounds in which the tools take turns; NAN without perf. */
static void measure(const struct tools *tools, const char *const *options,
                    const char *const *program, double seconds[TOOLS])
{
    const char *const names[TOOLS] = {tools->strata, "/usr/bin/perf"};
    seconds[STRATA] = INFINITY;
    seconds[PERF] = tools->perf ? INFINITY : NAN;
    for (int round = 0; round < tools->rounds; round++)
        for (int tool = 0; tool < TOOLS; tool++) {
            const char *const first[] = {names[tool], "stat",   "-e", EVENTS,
                                         "-o",        "counts", NULL};
            const char *words[RUN_WORDS], *all[RUN_WORDS];
            if (tool == PERF && !tools->perf)
                continue;
            run_words(words, first, options);
            struct usage used =
                run(tools->bench, run_words(all, words, program), NULL, "output");
            seconds[tool] = fmin(seconds[tool], used.seconds + used.kernel);
        }
}

static void print_row(const char *what, const double values[TOOLS], const char *unit)
{
    printf("  %-42s", what);
    for (int tool = 0; tool < TOOLS; tool++)
        if (isnan(values[tool]))
            printf(" %10s %-2s", "-", "");
        else
            printf(" %10.4g %-2s", values[tool], unit);
    putchar('\n');
}

/* What `seconds` of intervals cost beyond the same without them. */
static void print_interval(const struct tools *tools)
{
    static const char *const every[] = {"-a", "-I", "10", NULL}, *const none[] = {"-a",
                                                                                  NULL};
    static const char *const two_seconds[] = {"--", "/bin/sleep", "2", NULL};
    double with[TOOLS], without[TOOLS], interval[TOOLS], one[TOOLS];
    double reads = (double)(EVENTS_N * sysconf(_SC_NPROCESSORS_ONLN));
    measure(tools, every, two_seconds, with);
    measure(tools, none, two_seconds, without);
    for (int i = 0; i < TOOLS; i++) {
        interval[i] = 1e6 * (with[i] - without[i]) / (2 / 0.01);
        one[i] = interval[i] / reads;
    }
    print_row("-I 10 -a: an interval, printed", interval, "us");
    print_row("-I 10 -a: for each counter in it", one, "us");
}

static void print_run(const struct tools *tools)
{
    static const char *const once[] = {NULL};
    static const char *const program[] = {"--", "/bin/true", NULL};
    char repeats[16];
    const char *const many[] = {"-r", format_to(repeats, sizeof repeats, "%d", REPEATS),
                                NULL};
    double first[TOOLS], all[TOOLS];
    measure(tools, many, program, all);
    measure(tools, once, program, first);
    for (int i = 0; i < TOOLS; i++) {
        all[i] = 1e6 * all[i] / REPEATS;
        first[i] *= 1e3;
    }
    print_row("-r 100 true: a run, with the program", all, "us");
    print_row("true: the whole command", first, "ms");
}

/* Percent of a core; whether the target is met. */
static bool print_share(const struct tools *tools)
{
    static const char *const every[] = {"-a", "-I", "100", NULL};
    static const char *const five_seconds[] = {"--", "/bin/sleep", "5", NULL};
    double share[TOOLS];
    measure(tools, every, five_seconds, share);
    for (int i = 0; i < TOOLS; i++)
        share[i] *= 100 / 5.0;
    print_row("-I 100 -a: share of a core", share, "%");
    return share[STRATA] < TARGET;
}

/* The live view of all processes, which perf has no like of. */
static void print_top(const struct tools *tools)
{
    const char *const top[] = {tools->strata, "top", "--csv", "-d",   "1",
                               "-n",          "5",   "-e",    EVENTS, NULL};
    double share[TOOLS] = {INFINITY, NAN};
    for (int round = 0; round < tools->rounds; round++) {
        struct usage used = run(tools->bench, top, NULL, "output");
        share[STRATA] = fmin(share[STRATA], 100 / 5.0 * (used.seconds + used.kernel));
    }
    print_row("strata top -d 1, all processes: share", share, "%");
}

int main(int argc, char **argv)
{
    struct bench bench;
    struct tools tools = {.bench = &bench, .rounds = 3};
    if (argc == 3 && strcmp(argv[1], "-r") == 0 && atoi(argv[2]) > 0)
        tools.rounds = atoi(argv[2]);
    else if (argc != 1)
        die("usage: read_cost [-r ROUNDS]");
    bench_begin(&bench);
    format_to(tools.strata, sizeof tools.strata, "%s/strata", bench.build);
    tools.perf = access("/usr/bin/perf", X_OK) == 0;
    print_reads(tools.rounds);
    printf("the commands, CPU time, %d events, %ld processors\n  %-42s %13s %13s\n",
           EVENTS_N, sysconf(_SC_NPROCESSORS_ONLN), "", "strata stat ",
           tools.perf ? "perf stat " : "no perf here");
    print_interval(&tools);
    print_run(&tools);
    bool met = print_share(&tools);
    print_top(&tools);
    printf("target: below %g%% of a core: %s\n", TARGET, met ? "met" : "MISSED");
    bench_end(&bench);
    return !met;
}
