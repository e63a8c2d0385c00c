/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first process of an emulated ARM machine, whose PMU counts instructions and cycles
 * exactly: src/pmu, as it is, counts loops that are known. It prints `ok - ...` and `not ok
 * - ...` lines and turns the machine off. tests/vm/run.sh builds and starts it.
 *
 * As `guest loop N` it is the program that is counted. */
#include "counting/hardware.h"
#include "inspect/findings.h"
#include "inspect/groups.h"
#include "pmu/launch.h"
#include "pmu/model.h"
#include "pmu/tally.h"
#include "pmu/watch.h"
#include "probe/counted.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 16 };

static const struct pmu_system here = {
    .open = pmu_system_open, .root = "", .may_count = pmu_system_may_count};

static struct pmu_model model;

/* n turns of two instructions, and not one more. */
__attribute__((noinline)) static void loop(uint64_t n)
{
    __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
}

__attribute__((format(printf, 2, 3))) static void check(bool good, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("%s - vm: ", good ? "ok" : "not ok");
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
}

/* A set of events on a target. */
struct set {
    struct pmu_list list;
    struct pmu *pmu;
    struct pmu_count counts[MOST];
};

static bool open_set(struct set *set, const char *events, const struct pmu_target *target)
{
    struct strata_error error = {0};
    if (pmu_list_split(events, &set->list, &error) == STRATA_OK &&
        pmu_list_bind(&set->list, &model, &here, &error) == STRATA_OK &&
        pmu_open(&here, target, set->list.wants, set->list.nwants, &set->pmu, &error) ==
            STRATA_OK)
        return true;
    check(false, "opening %s: %s", events, error.text);
    return false;
}

static void close_set(struct set *set)
{
    pmu_close(set->pmu);
    pmu_list_release(&set->list);
}

static const struct pmu_target self = {.kind = PMU_SELF, .user_only = true};

/* What an event counts over a loop. */
static uint64_t count_loop(struct set *set, uint64_t n)
{
    pmu_read(set->pmu, set->counts);
    uint64_t before = set->counts[0].value;
    pmu_enable(set->pmu);
    loop(n);
    pmu_disable(set->pmu);
    pmu_read(set->pmu, set->counts);
    return set->counts[0].value - before;
}

static void exact(const char *event)
{
    struct set set;
    if (!open_set(&set, event, &self))
        return;
    count_loop(&set, 1000);
    uint64_t none = count_loop(&set, 1000), last = none;
    bool good = true;
    for (uint64_t n = 1000000; n <= 5000000; n += 1000000) {
        last = count_loop(&set, 1000 + n);
        good = good && last - none == 2 * n;
    }
    check(good, "%s of a loop: slope 2 exactly (10,000,000 instructions: %" PRIu64 ")",
          event, last - none);
    close_set(&set);
}

static void never_moved(void)
{
    struct set set;
    if (!open_set(&set, "l1d_misses,instructions", &self))
        return;
    pmu_enable(set.pmu);
    loop(1000000);
    pmu_read(set.pmu, set.counts);
    check(set.counts[0].state == PMU_NEVER_MOVED, "l1d_misses: %s", set.counts[0].why);
    check(set.counts[1].state == PMU_COUNTED, "instructions are counted beside it");
    close_set(&set);
}

/* Counts a loop with a group of so many events; how many were opened. */
static size_t count_group(struct set *set, const char *events)
{
    size_t n = 0;
    if (!open_set(set, events, &self))
        return 0;
    pmu_enable(set->pmu);
    loop(1000000);
    pmu_disable(set->pmu);
    pmu_read(set->pmu, set->counts);
    while (n < set->list.nwants && pmu_opened(set->pmu, n))
        n++;
    return n;
}

static void groups(void)
{
    struct set set;
    size_t n = count_group(&set, "{r8,r11,r8,r8}");
    check(n == 4 && set.counts[0].state == PMU_COUNTED &&
              set.counts[0].enabled_ns == set.counts[3].enabled_ns &&
              set.counts[0].running_ns == set.counts[0].enabled_ns,
          "a group of %zu is counted at the same times", n);
    check(set.counts[0].value == set.counts[3].value, "and counts the same: %" PRIu64,
          set.counts[0].value);
    close_set(&set);
    n = count_group(&set, "{r8,r8,r8,r8,r8,r8,r8,r8,r8}");
    check(n >= 2 && n < set.list.nwants && set.counts[n].state == PMU_REFUSED,
          "a group that is too large: %s", set.counts[n].why);
    check(set.counts[0].state == PMU_COUNTED || set.counts[0].state == PMU_NEVER_SCHEDULED,
          "its first event: %s", pmu_state_name(set.counts[0].state));
    close_set(&set);
}

/* Twelve events on seven counters take turns; scaled, each is right. */
static void multiplexed(void)
{
    const uint64_t n = 300000000;
    struct set set;
    double worst = 0, share = 0;
    if (!open_set(&set, "r8,r8,r8,r8,r8,r8,r8,r8,r8,r8,r8,r8", &self))
        return;
    pmu_enable(set.pmu);
    loop(n);
    pmu_disable(set.pmu);
    pmu_read(set.pmu, set.counts);
    size_t scaled = 0;
    for (size_t i = 0; i < set.list.nwants; i++) {
        const struct pmu_count *count = &set.counts[i];
        worst = fmax(worst, fabs((double)count->value / (2.0 * (double)n) - 1));
        share += (double)count->running_ns / (double)count->enabled_ns / 12;
        scaled += count->running_ns < count->enabled_ns;
    }
    check(scaled >= 6 && worst < 0.005,
          "12 events multiplexed at %.2f: within %.3f%% of %" PRIu64 " instructions", share,
          100 * worst, 2 * n);
    close_set(&set);
}

/* A process, and the child that it starts while it is counted, or without it. */
static void attached(bool threads_only)
{
    const uint64_t n = 5000000;
    int go[2];
    char byte;
    struct set set;
    if (pipe(go) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        (void)!read(go[0], &byte, 1);
        pid_t child = fork();
        loop(n);
        if (child)
            waitpid(child, NULL, 0);
        _exit(0);
    }
    const struct pmu_target target = {.kind = PMU_PROCESS,
                                      .pid = pid,
                                      .inherit = true,
                                      .threads_only = threads_only,
                                      .user_only = true};
    if (open_set(&set, "instructions", &target)) {
        pmu_enable(set.pmu);
        (void)!write(go[1], "g", 1);
        waitpid(pid, NULL, 0);
        pmu_read(set.pmu, set.counts);
        double wanted = (threads_only ? 2.0 : 4.0) * (double)n;
        double error = (double)set.counts[0].value / wanted - 1;
        check(error >= 0 && error < 0.001,
              "attached to a process and its %s: %" PRIu64 " instructions",
              threads_only ? "threads alone" : "child", set.counts[0].value);
        close_set(&set);
    }
    close(go[0]);
    close(go[1]);
}

/* A program, from its exec on. */
static void launched(void)
{
    char *argv[] = {(char *)"/init", (char *)"loop", (char *)"10000000", NULL};
    struct launch launch;
    struct strata_error error = {0};
    struct set set;
    launch_signals(&launch);
    if (launch_prepare(&launch, argv[0], argv, &error) != STRATA_OK) {
        check(false, "%s", error.text);
        return;
    }
    const struct pmu_target target = {
        .kind = PMU_CHILD, .pid = launch.pid, .inherit = true, .user_only = true};
    if (open_set(&set, "instructions,cycles", &target)) {
        launch_start(&launch, argv[0], &error);
        launch_wait(&launch, INFINITY);
        pmu_read(set.pmu, set.counts);
        double error_of = (double)set.counts[0].value / 2e7 - 1;
        check(launch.ended && launch.status == 7 && error_of >= 0 && error_of < 0.01,
              "a program: %" PRIu64 " instructions, exit status %d", set.counts[0].value,
              launch.status);
        close_set(&set);
    }
    sigprocmask(SIG_SETMASK, &launch.before, NULL);
}

/* Rates of a process that runs, as `strata top` has them. */
static void watch_process(const struct watch_settings *settings)
{
    struct watch *watch;
    struct strata_error error = {0};
    if (watch_open(settings, &watch, &error) != STRATA_OK) {
        check(false, "watching: %s", error.text);
        return;
    }
    usleep(200000);
    if (watch_look(watch, &error) == STRATA_OK && watch->nrows == 1) {
        const struct watch_row *row = watch->rows[0];
        check(row->state == WATCH_COUNTED && row->values[0] > 0 && row->busy > 0,
              "watched: %.3g instructions a second", row->values[0]);
        check(fabs(row->values[0] / row->values[1] - 1) < 0.01, "watched: one a cycle");
        check(isnan(row->values[2]) && strstr(watch->columns[2].why, "never moved"),
              "watched: l1d_misses: %s", watch->columns[2].why);
    } else
        check(false, "watched: %zu rows: %s", watch->nrows, error.text);
    watch_close(watch);
}

static void watched(void)
{
    struct pmu_list list;
    struct strata_error error = {0};
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            loop(1000000);
    const struct watch_settings settings = {.system = &here,
                                            .model = &model,
                                            .list = &list,
                                            .pids = &pid,
                                            .npids = 1,
                                            .descriptors = 100};
    if (pmu_list_split("instructions,cycles,l1d_misses", &list, &error) == STRATA_OK &&
        pmu_list_bind(&list, &model, &here, &error) == STRATA_OK)
        watch_process(&settings);
    else
        check(false, "%s", error.text);
    pmu_list_release(&list);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void metrics(void)
{
    struct set set;
    struct tally tally;
    if (!open_set(&set, "instructions,cycles,l1d_misses", &self))
        return;
    pmu_enable(set.pmu);
    loop(1000000);
    pmu_disable(set.pmu);
    pmu_read(set.pmu, set.counts);
    if (tally_init(&tally, 3, &model.metrics) == 0) {
        for (size_t i = 0; i < 3; i++)
            snprintf(tally.rows[i].event, sizeof tally.rows[i].event, "%s",
                     set.list.names[i]);
        tally_run(&tally, set.counts);
        for (size_t i = 0; i < tally.nmetrics; i++) {
            const struct tally_metric *metric = &tally.metrics[i];
            if (strcmp(metric->metric->name, "ipc") == 0)
                check(metric->value.n == 1 && fabs(metric->value.mean - 1) < 0.01,
                      "one instruction a cycle: %.4f", metric->value.mean);
            if (strcmp(metric->metric->name, "l1d_mpki") == 0)
                check(metric->value.n == 0, "l1d_mpki has no value: %s", metric->why);
        }
        tally_release(&tally);
    }
    close_set(&set);
}

/* No event for misses moves on this PMU: the probe by counts names them and gives up. */
static void probe_by_counts(void)
{
    struct strata_error error = {0};
    struct strata_probed probed;
    struct strata_probe_options options = {.cpu = -1};
    struct counting *counting;
    if (counting_hardware(&counting, &model, &here, -1, 16 << 20, 0, &error) != STRATA_OK) {
        check(false, "a counting runner: %s", error.text);
        return;
    }
    for (int event = 0; event < COUNTED_EVENTS; event++)
        if (*counting->events[event].name)
            check(!counting->events[event].present && *counting->events[event].why,
                  "missing: %s: %s", counting->events[event].name,
                  counting->events[event].why);
    int status = probe_counted(&options, counting, &probed, &error);
    check(status == STRATA_UNABLE && strstr(error.text, "l1d_misses"), "status %d: %s",
          status, error.text);
    counting_release(counting);
}

/* What the events really count: by the kernels of `strata inspect`. */
static void inspected(void)
{
    static const struct {
        const char *event, *category;
        bool moves;
    } known[] = {{"instructions", "instructions", true},
                 {"cycles", "cycles", true},
                 {"r8", "instructions", true},
                 {"l1d_misses", "", false},
                 {"branches", "", false},
                 {"branch_misses", "", false},
                 {"page-faults", "page-faults", true},
                 {"context-switches", "switches", true}};
    enum { N = sizeof known / sizeof *known };
    static struct matrices matrices;
    const struct plan_options options = {.sets = PLAN_BRANCH | PLAN_SYSTEM | PLAN_IDLE,
                                         .page = 4096,
                                         .unit = 64,
                                         .bytes = 1 << 20,
                                         .seed = 1};
    struct strata_error error = {0};
    struct pmu_list list;
    struct groups groups;
    struct plan plan;
    struct findings findings;
    const char *names[N], *why[N];
    if (matrices_read("/metrics", &matrices, &error) != STRATA_OK ||
        pmu_list_split("instructions,cycles,r8,l1d_misses,branches,branch_misses,"
                       "page-faults,context-switches",
                       &list, &error) != STRATA_OK ||
        pmu_list_bind(&list, &model, &here, &error) != STRATA_OK ||
        groups_open(&groups, &here, list.wants, list.nwants, &error) != STRATA_OK ||
        plan_make(&options, &matrices, &plan) != 0 ||
        groups_measure(&groups, &plan, &matrices, NULL, NULL, NULL, &error) != STRATA_OK) {
        check(false, "inspecting: %s", error.text);
        return;
    }
    for (size_t i = 0; i < N; i++) {
        names[i] = known[i].event;
        why[i] = groups.why[i];
    }
    const struct counts_table table = {
        &plan, &matrices, N, names, why, groups.counts, groups_flat_memory(&groups)};
    if (findings_make(&table, &findings) == 0)
        for (size_t i = 0; i < N; i++) {
            const struct finding *f = &findings.events[i];
            check(strcmp(f->category, known[i].category) == 0 && f->moved == known[i].moves,
                  "inspect: %s: %s%s", f->name,
                  f->moved     ? f->category
                  : f->counted ? "does not count here"
                               : f->why,
                  f->moved && !*f->category ? f->best.name : "");
        }
    findings_release(&findings);
    groups_close(&groups);
    plan_release(&plan);
    pmu_list_release(&list);
}

static void run_all(void)
{
    struct strata_error error = {0};
    char name[200];
    if (pmu_model_read(&model, "/metrics", "", &error) != STRATA_OK) {
        check(false, "the tables: %s", error.text);
        return;
    }
    pmu_model_name(&model, name, sizeof name);
    check(strcmp(name, "Arm Neoverse N1") == 0, "the processor is %s", name);
    exact("instructions");
    exact("cycles");
    never_moved();
    metrics();
    probe_by_counts();
    groups();
    attached(false);
    attached(true);
    watched();
    launched();
    multiplexed();
    inspected();
}

int main(int argc, char **argv)
{
    if (argc == 3) {
        loop(strtoull(argv[2], NULL, 10));
        return 7;
    }
    mkdir("/proc", 0755);
    mkdir("/sys", 0755);
    mount("none", "/proc", "proc", 0, NULL);
    mount("none", "/sys", "sysfs", 0, NULL);
    setvbuf(stdout, NULL, _IOLBF, 0);
    run_all();
    puts("vm: done");
    fflush(stdout);
    sync();
    reboot(RB_POWER_OFF);
    return 0;
}
