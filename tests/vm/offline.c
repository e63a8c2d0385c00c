/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first process of an emulated ARM machine with two processors: the sampler of strata
 * serve counts them while one goes offline, comes back, and comes back once more when there
 * is no right left to count it. It prints `ok - ...` and `not ok - ...` lines and turns the
 * machine off. tests/vm/run.sh builds and starts it. */
#include "serve/answers.h"
#include "serve/privileges.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct pmu_system here = {
    .open = pmu_system_open, .root = "", .may_count = pmu_system_may_count};

static struct pmu_model model;
static struct pmu_list list;
static struct sampler *sampler;

__attribute__((format(printf, 2, 3))) static void check(bool good, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("%s - vm: ", good ? "ok" : "not ok");
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
}

/* n turns of two instructions on a processor. */
static void loop_on(int cpu, uint64_t n)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        check(false, "running on processor %d", cpu);
    __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
    CPU_SET(0, &set);
    CPU_SET(1, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void sample(void)
{
    static double now = 1;
    sampler_take(sampler, now, (int64_t)(1000 * now));
    now += 1;
}

static uint64_t total(int cpu)
{
    return sampler->units[cpu].totals[0].events;
}

static bool says(const char *text)
{
    char *whole = NULL;
    size_t size;
    FILE *out = open_memstream(&whole, &size);
    if (!out)
        return false;
    metrics_text(sampler, out);
    fclose(out);
    bool there = strstr(whole, text) != NULL;
    free(whole);
    return there;
}

static void turn(bool on)
{
    int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY);
    check(fd >= 0 && write(fd, on ? "1" : "0", 1) == 1, "processor 1 is turned %s",
          on ? "on" : "off");
    close(fd);
}

static bool begin(void)
{
    struct strata_error error = {0};
    const struct sampler_plan plan = {.system = &here,
                                      .model = &model,
                                      .list = &list,
                                      .target = {.kind = PMU_ALL},
                                      .what = "all processors",
                                      .interval = 1};
    bool good =
        pmu_model_read(&model, "/metrics", "", &error) == STRATA_OK &&
        pmu_list_split("instructions,cycles,page-faults", &list, &error) == STRATA_OK &&
        pmu_list_bind(&list, &model, &here, &error) == STRATA_OK &&
        sampler_open(&sampler, &plan, &error) == STRATA_OK;
    check(good && sampler->nunits == 2, "counters on two processors %s", error.text);
    return good;
}

enum { TURNS = 5000000 };

/* What a loop adds on a processor: its 10,000,000 instructions, and what else ran. */
static void counts(int cpu)
{
    sample();
    uint64_t before = total(cpu);
    loop_on(cpu, TURNS);
    sample();
    uint64_t more = total(cpu) - before;
    check(more >= 2 * TURNS && more < 3 * TURNS,
          "10,000,000 instructions on processor %d: %" PRIu64, cpu, more);
}

static void run_all(void)
{
    struct strata_error error = {0};
    struct privileges left;
    if (!begin())
        return;
    counts(0);
    counts(1);
    check(says("strata_metric{metric=\"ipc\",unit=\"per cycle\"} "), "metrics are there");
    turn(false);
    sample();
    check(says("strata_cpu_up{cpu=\"1\",reason=\"processor 1 is offline\"} 0"),
          "it is said that it is offline");
    uint64_t before = total(1);
    counts(0);
    check(total(1) == before, "its counts stay as they were");
    turn(true);
    sample();
    check(says("strata_cpu_up{cpu=\"1\"} 1"), "it has come back");
    counts(1);
    check(total(1) > before, "its counts go on from where they were");
    turn(false);
    sample();
    turn(true);
    int status = privileges_drop("65534", &left, &error);
    check(status == STRATA_OK, "privileges are dropped %s", error.text);
    sample();
    check(says("strata_cpu_up{cpu=\"1\",reason=\"processor 1 has come back, but strata has "
               "given up the right"),
          "it has come back, and may not be counted any more");
    counts(0);
    sampler_close(sampler);
}

int main(void)
{
    mkdir("/proc", 0755);
    mkdir("/sys", 0755);
    mount("none", "/proc", "proc", 0, NULL);
    mount("none", "/sys", "sysfs", 0, NULL);
    setvbuf(stdout, NULL, _IOLBF, 0);
    pid_t pid = fork(); /* the first process keeps its rights, to turn off the machine */
    if (pid == 0) {
        run_all();
        _exit(0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    if (status == 0)
        puts("vm: done");
    fflush(stdout);
    sync();
    reboot(RB_POWER_OFF);
    return 0;
}
