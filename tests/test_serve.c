/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What strata serve counts and says: the text for Prometheus, totals that only grow, rates,
 * metrics and reasons, processors and processes that go away, the ring of samples. The
 * counters are descriptors that say what a busy PMU would. */
#include "serve/address.h"
#include "serve/answers.h"
#include "serve/exposition.h"
#include "serve/privileges.h"

#include <errno.h>
#include <jansson.h>
#include <linux/perf_event.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "test_tree.h"

/* The text. */

/* What `write` writes. The caller frees it. */
static char *text_of(void (*write)(struct exposition *out))
{
    char *text = NULL;
    size_t size;
    struct exposition out = {.file = open_memstream(&text, &size)};
    assert_non_null(out.file);
    write(&out);
    assert_int_equal(fclose(out.file), 0);
    return text;
}

static void is_text(void (*write)(struct exposition *out), const char *wanted)
{
    char *text = text_of(write);
    assert_string_equal(text, wanted);
    free(text);
}

static void write_plain(struct exposition *out)
{
    expose_family(out, "a_total", "counter", "All \"a\", back\\slash\nand line.");
    expose_count(out, UINT64_MAX);
    expose_label(out, "event", "x");
    expose_label(out, "pmu", "");
    expose_label_number(out, "cpu", 12);
    expose_count(out, 0);
    expose_label(out, "pmu", NULL);
    expose_seconds(out, 12000000345);
    expose_family(out, "b", "gauge", "B.");
    expose_number(out, 0.25);
    expose_number(out, 1794787605.636);
    expose_number(out, -1e300);
}

static void plain(void **state)
{
    (void)state;
    is_text(write_plain, "# HELP a_total All \"a\", back\\\\slash and line.\n"
                         "# TYPE a_total counter\n"
                         "a_total 18446744073709551615\n"
                         "a_total{event=\"x\",cpu=\"12\"} 0\n"
                         "a_total 12.000000345\n"
                         "# HELP b B.\n"
                         "# TYPE b gauge\n"
                         "b 0.25\n"
                         "b 1794787605.64\n"
                         "b -1e+300\n");
}

static void write_odd(struct exposition *out)
{
    expose_family(out, "a", "gauge", "A.");
    expose_label(out, "event", "cpu/event=1,umask=\"2\"/");
    expose_label(out, "reason", "a\\b\nc\td\x01");
    expose_label(out, "name", "gr\xc3\xbc\xc3\x9f \xff\xc3");
    expose_count(out, 1);
}

static void odd_labels(void **state)
{
    (void)state;
    is_text(write_odd, "# HELP a A.\n# TYPE a gauge\n"
                       "a{event=\"cpu/event=1,umask=\\\"2\\\"/\",reason=\"a\\\\b c d \","
                       "name=\"gr\xc3\xbc\xc3\x9f ??\"} 1\n");
}

static void names(void **state)
{
    (void)state;
    assert_true(expose_is_name("strata_events_total"));
    assert_true(expose_is_name("_a:9"));
    assert_false(expose_is_name(""));
    assert_false(expose_is_name("9a"));
    assert_false(expose_is_name("a-b"));
    assert_false(expose_is_name("a b"));
    assert_false(expose_is_name("gr\xc3\xbc"));
}

/* Addresses. */

static void reads(const char *text, const char *wanted, bool loopback)
{
    struct address address;
    struct strata_error error;
    char got[ADDRESS_TEXT];
    if (address_parse(text, &address, &error) != STRATA_OK)
        fail_msg("%s", error.text);
    assert_string_equal(address_format(&address, got), wanted);
    assert_int_equal(address.loopback, loopback);
}

static void refuses(const char *text, const char *wanted)
{
    struct address address;
    struct strata_error error;
    assert_int_equal(address_parse(text, &address, &error), STRATA_BAD_INPUT);
    if (!strstr(error.text, wanted))
        fail_msg("%s: %s", text, error.text);
}

static void addresses(void **state)
{
    (void)state;
    reads("127.0.0.1:9775", "127.0.0.1:9775", true);
    reads("127.9.9.9:1", "127.9.9.9:1", true);
    reads("0", "127.0.0.1:0", true);
    reads("65535", "127.0.0.1:65535", true);
    reads("LocalHost:80", "127.0.0.1:80", true);
    reads("[::1]:80", "[::1]:80", true);
    reads("[::]:80", "[::]:80", false);
    reads("0.0.0.0:80", "0.0.0.0:80", false);
    reads("10.1.2.3:80", "10.1.2.3:80", false);
    refuses("", "wanted is ADDRESS:PORT");
    refuses("127.0.0.1", "wanted is ADDRESS:PORT");
    refuses("::1", "wanted is ADDRESS:PORT");
    refuses("[::1]", "wanted is ADDRESS:PORT");
    refuses("[::1]x:80", "wanted is ADDRESS:PORT");
    refuses("[::1:80", "wanted is ADDRESS:PORT");
    refuses("127.0.0.1:", "a number from 0 to 65535");
    refuses("127.0.0.1:65536", "a number from 0 to 65535");
    refuses("127.0.0.1:-1", "a number from 0 to 65535");
    refuses("127.0.0.1:000080", "a number from 0 to 65535");
    refuses(":80", "no address");
    refuses("example.org:80", "no address");
    refuses("300.1.1.1:80", "no address");
}

static void hosts(void **state)
{
    (void)state;
    assert_true(address_is_local_host("localhost"));
    assert_true(address_is_local_host("localhost:9775"));
    assert_true(address_is_local_host("127.0.0.1:9775"));
    assert_true(address_is_local_host("[::1]:9775"));
    assert_true(address_is_local_host("[::1]"));
    assert_false(address_is_local_host("example.org"));
    assert_false(address_is_local_host("localhost.example.org:80"));
    assert_false(address_is_local_host("127.0.0.1.example.org"));
    assert_false(address_is_local_host("localhost:x"));
    assert_false(address_is_local_host("["));
    assert_false(address_is_local_host(""));
}

static void port_in_use(void **state)
{
    struct address address, again;
    struct strata_error error;
    char text[ADDRESS_TEXT];
    int fd, other;
    (void)state;
    assert_int_equal(address_parse("127.0.0.1:0", &address, &error), STRATA_OK);
    assert_int_equal(address_listen(&address, &fd, &error), STRATA_OK);
    address_format(&address, text);
    assert_int_not_equal(strcmp(text, "127.0.0.1:0"), 0);
    assert_int_equal(address_parse(text, &again, &error), STRATA_OK);
    assert_int_equal(address_listen(&again, &other, &error), STRATA_FAILED);
    assert_int_equal(other, -1);
    assert_non_null(strstr(error.text, "choose another port"));
    close(fd);
}

/* The ring. */

static void ring(void **state)
{
    struct timeline timeline;
    int64_t time;
    (void)state;
    assert_int_equal(timeline_init(&timeline, 3, 2), 0);
    assert_int_equal(timeline_first(&timeline, 0), timeline.next);
    for (int i = 1; i <= 5; i++) {
        float *values = timeline_add(&timeline, 100 * i);
        values[0] = (float)i;
        values[1] = (float)-i;
        uint64_t first = timeline_first(&timeline, 0);
        assert_int_equal(first, i <= 3 ? 1 : i - 2);
        for (uint64_t n = first; n < timeline.next; n++) {
            assert_true(timeline_at(&timeline, n, &time)[1] == -(float)n);
            assert_int_equal(time, 100 * n);
        }
    }
    assert_int_equal(timeline_first(&timeline, 1), 3); /* 2 is gone */
    assert_int_equal(timeline_first(&timeline, 4), 5);
    assert_int_equal(timeline_first(&timeline, 5), 6);
    assert_int_equal(timeline_first(&timeline, UINT64_MAX), 6);
    timeline_release(&timeline);
}

/* A machine whose counters say what they are told to. */

enum { CPUS = 4, EVENTS = 4 };
enum { INSTRUCTIONS, CYCLES, FAULTS, MISSES };

static struct {
    char root[64];
    int ends[CPUS][EVENTS]; /* where to write the next reading; -1: not open */
    bool refuse;            /* as a kernel does once the rights are gone */
    unsigned opens;
} fake;

static int event_of(const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_SOFTWARE           ? FAULTS
           : attr->type == PERF_TYPE_HW_CACHE         ? MISSES
           : attr->config == PERF_COUNT_HW_CPU_CYCLES ? CYCLES
                                                      : INSTRUCTIONS;
}

static int fake_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
                     unsigned long flags)
{
    int ends[2], event = event_of(attr);
    (void)pid, (void)group, (void)flags;
    cpu = cpu < 0 ? 0 : cpu;
    fake.opens++;
    if (fake.refuse || event == MISSES) {
        errno = fake.refuse ? EACCES : ENOENT;
        return -1;
    }
    assert_true(cpu < CPUS);
    assert_int_equal(pipe(ends), 0);
    if (fake.ends[cpu][event] >= 0)
        close(fake.ends[cpu][event]);
    fake.ends[cpu][event] = ends[1];
    return ends[0];
}

static bool may_not(void)
{
    return false;
}

static const struct pmu_system fake_system = {
    .open = fake_open, .root = fake.root, .may_count = may_not};

static void says(int cpu, int event, uint64_t raw, uint64_t enabled, uint64_t running)
{
    const uint64_t words[3] = {raw, enabled, running};
    assert_int_equal(write(fake.ends[cpu][event], words, sizeof words), sizeof words);
}

struct machine {
    struct pmu_model model;
    struct pmu_list list;
    struct sampler *sampler;
    double now;
};

static void online(const char *list)
{
    tree_put(fake.root, "sys/devices/system/cpu/online", list);
}

static int set_up(void **state)
{
    struct machine *machine = calloc(1, sizeof *machine);
    memset(&fake, 0, sizeof fake);
    memset(fake.ends, -1, sizeof fake.ends);
    strcpy(fake.root, "/tmp/strata-serve-XXXXXX");
    *state = machine;
    machine->now = 100;
    if (!machine || !mkdtemp(fake.root))
        return -1;
    online("0-1\n");
    tree_put(fake.root, "proc/sys/kernel/perf_event_paranoid", "2\n");
    return pmu_model_read(&machine->model, "metrics", fake.root, NULL);
}

static int tear_down(void **state)
{
    struct machine *machine = *state;
    sampler_close(machine->sampler);
    pmu_list_release(&machine->list);
    pmu_model_release(&machine->model);
    free(machine);
    for (int c = 0; c < CPUS; c++)
        for (int e = 0; e < EVENTS; e++)
            if (fake.ends[c][e] >= 0)
                close(fake.ends[c][e]);
    return tree_remove(fake.root);
}

static int try_start_on(struct machine *machine, const struct pmu_system *system,
                        const char *events, const struct pmu_target *target,
                        struct strata_error *error)
{
    assert_int_equal(pmu_list_split(events, &machine->list, error), STRATA_OK);
    assert_int_equal(pmu_list_bind(&machine->list, &machine->model, system, error),
                     STRATA_OK);
    const struct sampler_plan plan = {.system = system,
                                      .model = &machine->model,
                                      .list = &machine->list,
                                      .target = *target,
                                      .what = "the \"target\"",
                                      .interval = 1,
                                      .all_metrics = false};
    return sampler_open(&machine->sampler, &plan, error);
}

static int try_start(struct machine *machine, const char *events,
                     const struct pmu_target *target, struct strata_error *error)
{
    return try_start_on(machine, &fake_system, events, target, error);
}

static const struct pmu_target all = {.kind = PMU_ALL};

static void start(struct machine *machine, const char *events,
                  const struct pmu_target *target)
{
    struct strata_error error;
    if (try_start(machine, events, target, &error) != STRATA_OK)
        fail_msg("%s", error.text);
}

/* A second later. */
static void sample(struct machine *machine)
{
    sampler_take(machine->sampler, machine->now, (int64_t)(1000 * machine->now));
    machine->now += 1;
}

static char *metrics_of(const struct machine *machine)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(metrics_text(machine->sampler, out), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Whether a line of /metrics is there. */
static bool has_line(const struct machine *machine, const char *line)
{
    char *text = metrics_of(machine), wanted[600];
    snprintf(wanted, sizeof wanted, "\n%s\n", line);
    bool there = strstr(text, wanted) != NULL;
    free(text);
    return there;
}

static void has(const struct machine *machine, const char *line)
{
    if (has_line(machine, line))
        return;
    char *text = metrics_of(machine);
    printf("%s", text);
    free(text);
    fail_msg("not there: %s", line);
}

/* No line of that beginning. */
static void lacks(const struct machine *machine, const char *beginning)
{
    char *text = metrics_of(machine), wanted[200];
    snprintf(wanted, sizeof wanted, "\n%s", beginning);
    if (strstr(text, wanted))
        fail_msg("there: %s", strstr(text, wanted));
    free(text);
}

/* Totals, rates and metrics of two processors. */
static void counts(void **state)
{
    struct machine *m = *state;
    start(m, "instructions,cycles", &all);
    for (int cpu = 0; cpu < 2; cpu++) {
        says(cpu, INSTRUCTIONS, 10, 10, 10);
        says(cpu, CYCLES, 10, 10, 10);
    }
    sample(m);
    lacks(m, "strata_event_rate{"); /* there is no interval yet */
    has(m, "strata_events_total{event=\"instructions\",cpu=\"1\"} 10");
    says(0, INSTRUCTIONS, 1010, 1000000010, 1000000010);
    says(1, INSTRUCTIONS, 510, 1000000010, 1000000010);
    says(0, CYCLES, 2010, 1000000010, 1000000010);
    says(1, CYCLES, 4010, 1000000010, 1000000010);
    sample(m);
    has(m, "strata_events_total{event=\"instructions\",cpu=\"0\"} 1010");
    has(m, "strata_events_total{event=\"instructions\",cpu=\"1\"} 510");
    has(m, "strata_event_enabled_seconds_total{event=\"cycles\",cpu=\"1\"} 1.000000010");
    has(m, "strata_event_rate{event=\"instructions\"} 1500");
    has(m, "strata_event_rate{event=\"cycles\"} 6000");
    has(m, "strata_event_scaling_ratio{event=\"cycles\"} 1");
    has(m, "strata_metric{metric=\"ipc\",unit=\"per cycle\"} 0.25");
    char name[64], line[200];
    snprintf(line, sizeof line,
             "strata_target_info{target=\"the \\\"target\\\"\",kind=\"all\","
             "source=\"perf\",processor=\"%s\"} 1",
             pmu_model_name(&m->model, name, sizeof name));
    has(m, line);
    has(m, "strata_samples_total 2");
    lacks(m, "strata_event_not_counted{");
}

/* Each interval is scaled by its own times, and a total never goes back. */
static void scaling(void **state)
{
    struct machine *m = *state;
    const uint64_t second = 1000000000;
    online("0\n");
    start(m, "instructions", &all);
    says(0, INSTRUCTIONS, 0 + 1, 1, 1);
    sample(m);
    says(0, INSTRUCTIONS, 1001, second + 1, second / 4 + 1); /* a quarter of the time */
    sample(m);
    has(m, "strata_events_total{event=\"instructions\",cpu=\"0\"} 4001");
    has(m, "strata_event_rate{event=\"instructions\"} 4000");
    has(m, "strata_event_scaling_ratio{event=\"instructions\"} 0.25");
    /* all of the time, and little happens: raw * enabled / running would fall */
    says(0, INSTRUCTIONS, 1011, 2 * second + 1, second / 4 + second + 1);
    sample(m);
    has(m, "strata_events_total{event=\"instructions\",cpu=\"0\"} 4011");
    /* no turn at all: nothing is said of this second, and nothing is lost of it */
    says(0, INSTRUCTIONS, 1011, 3 * second + 1, second / 4 + second + 1);
    sample(m);
    has(m, "strata_events_total{event=\"instructions\",cpu=\"0\"} 4011");
    lacks(m, "strata_event_rate{event=\"instructions\"}");
    has(m, "strata_event_not_counted{event=\"instructions\",cpu=\"all\","
           "state=\"never scheduled\",reason=\"not scheduled in this interval: other "
           "events hold the counters\"} 1");
    says(0, INSTRUCTIONS, 1111, 4 * second + 1, second / 4 + 2 * second + 1);
    sample(m);
    has(m, "strata_events_total{event=\"instructions\",cpu=\"0\"} 4211"); /* 100 * 2 / 1 */
    has(m, "strata_event_rate{event=\"instructions\"} 100");
}

/* What cannot be counted has a reason, and no number. */
static void reasons(void **state)
{
    struct machine *m = *state;
    start(m, "page-faults,instructions,l1d_misses", &all);
    for (int i = 0; i < 2; i++) {
        for (int cpu = 0; cpu < 2; cpu++) {
            says(cpu, FAULTS, 0, 10 + (uint64_t)i, 10 + (uint64_t)i);
            says(cpu, INSTRUCTIONS, cpu ? 0 : 5, 1000000, 1000000);
        }
        sample(m);
    }
    has(m, "strata_events_total{event=\"page-faults\",cpu=\"0\"} 0"); /* a count */
    has(m, "strata_event_rate{event=\"page-faults\"} 0");
    lacks(m, "strata_events_total{event=\"l1d_misses\"");
    lacks(m, "strata_event_rate{event=\"l1d_misses\"");
    has(m, "strata_event_not_counted{event=\"l1d_misses\",cpu=\"all\",state=\"refused by "
           "the kernel\",reason=\"refused by the kernel: there is no PMU, or the "
           "hypervisor hides it (ENOENT); nothing to change inside a guest; the host must "
           "offer a virtual PMU\"} 1");
    lacks(m, "strata_events_total{event=\"instructions\",cpu=\"1\"}");
    has(m, "strata_event_not_counted{event=\"instructions\",cpu=\"1\",state=\"never "
           "moved\",reason=\"opened but never moved: at 0 for 1 ms, which a PMU that does "
           "not implement it also shows\"} 1");
    lacks(m, "strata_event_not_counted{event=\"instructions\",cpu=\"0\"");
    has(m, "strata_metric_not_known{metric=\"l1d_mpki\",reason=\"l1d_misses: refused by "
           "the kernel: there is no PMU, or the hypervisor hides it (ENOENT); nothing to "
           "change inside a guest; the host must offer a virtual PMU\"} 1");
    lacks(m, "strata_metric{metric=\"l1d_mpki\"");
}

static void nothing(void **state)
{
    struct machine *m = *state;
    struct strata_error error;
    assert_int_equal(try_start(m, "l1d_misses", &all, &error), STRATA_UNABLE);
    assert_non_null(strstr(error.text, "nothing can be counted: l1d_misses: refused"));
    assert_null(m->sampler);
}

/* A processor goes offline, and comes back when strata has no right to count it any more.
 */
static void processors(void **state)
{
    struct machine *m = *state;
    start(m, "page-faults", &all);
    for (uint64_t i = 1; i <= 2; i++) {
        says(0, FAULTS, 10 * i, i, i);
        says(1, FAULTS, 100 * i, i, i);
        sample(m);
    }
    has(m, "strata_event_rate{event=\"page-faults\"} 110");
    online("0\n");
    says(0, FAULTS, 30, 3, 3);
    says(1, FAULTS, 250, 3, 3); /* the last that it counted */
    sample(m);
    has(m, "strata_cpu_up{cpu=\"0\"} 1");
    has(m, "strata_cpu_up{cpu=\"1\",reason=\"processor 1 is offline\"} 0");
    has(m, "strata_events_total{event=\"page-faults\",cpu=\"1\"} 250");
    says(0, FAULTS, 40, 4, 4);
    sample(m);
    has(m, "strata_events_total{event=\"page-faults\",cpu=\"1\"} 250");
    has(m, "strata_event_rate{event=\"page-faults\"} 10");
    has(m, "strata_event_not_counted{event=\"page-faults\",cpu=\"1\",state=\"never "
           "scheduled\",reason=\"processor 1 is offline\"} 1");
    has(m, "strata_target_up 1");

    fake.refuse = true;
    online("0-1\n");
    unsigned opens = fake.opens;
    for (uint64_t i = 5; i < 8; i++) {
        says(0, FAULTS, 10 * i, i, i);
        sample(m);
    }
    assert_true(fake.opens > opens && fake.opens <= opens + 2); /* not again and again */
    has(m, "strata_cpu_up{cpu=\"1\",reason=\"processor 1 has come back, but strata has "
           "given up the right to open its counters: start strata serve again\"} 0");
}

/* The same with the right to count. What is opened within a sample has its readings at
 * once. */
static int open_and_say(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
                        unsigned long flags)
{
    int fd = fake_open(attr, pid, cpu, group, flags);
    for (uint64_t i = 1; fd >= 0 && i <= 8; i++)
        says(cpu, event_of(attr), 7 * i, i, i);
    return fd;
}

static void processors_come_back(void **state)
{
    struct machine *m = *state;
    struct pmu_system system = fake_system;
    system.open = open_and_say;
    start(m, "page-faults", &all);
    m->sampler->plan.system = &system;
    says(0, FAULTS, 10, 1, 1);
    says(1, FAULTS, 20, 1, 1);
    sample(m);
    online("1\n");
    says(0, FAULTS, 10, 2, 2);
    says(1, FAULTS, 30, 2, 2);
    sample(m);
    online("0-2\n"); /* 0 comes back, 2 is new */
    for (uint64_t i = 3; i < 6; i++) {
        says(1, FAULTS, 10 * i, i, i);
        sample(m);
    }
    has(m, "strata_cpu_up{cpu=\"0\"} 1");
    has(m, "strata_cpu_up{cpu=\"2\"} 1");
    has(m, "strata_events_total{event=\"page-faults\",cpu=\"0\"} 31"); /* 10 + 3 * 7 */
    has(m, "strata_events_total{event=\"page-faults\",cpu=\"2\"} 21");
    has(m, "strata_event_rate{event=\"page-faults\"} 24"); /* 7 + 10 + 7 */
}

/* Two kinds of cores: an event belongs to one, and that the other has none is no news. */
static int open_hybrid(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
                       unsigned long flags)
{
    enum { CORE = 4, ATOM = 10 };
    if (attr->type == (cpu ? CORE : ATOM)) {
        errno = ENOENT;
        return -1;
    }
    return fake_open(attr, pid, cpu, group, flags);
}

static void hybrid(void **state)
{
    struct machine *m = *state;
    struct pmu_system system = fake_system;
    struct strata_error error;
#define ENTRY(n)                                                                           \
    "processor\t: " n "\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 151\n"     \
    "stepping\t: 2\n\n"
    tree_put(fake.root, "proc/cpuinfo", ENTRY("0") ENTRY("1"));
#define DEVICES "sys/bus/event_source/devices/"
    tree_put(fake.root, DEVICES "cpu_core/cpus", "0\n");
    tree_put(fake.root, DEVICES "cpu_core/type", "4\n");
    tree_put(fake.root, DEVICES "cpu_atom/cpus", "1\n");
    tree_put(fake.root, DEVICES "cpu_atom/type", "10\n");
    pmu_model_release(&m->model);
    assert_int_equal(pmu_model_read(&m->model, "metrics", fake.root, &error), STRATA_OK);
    assert_int_equal(m->model.nkinds, 2);
    system.open = open_hybrid;
    if (try_start_on(m, &system, "l1d_misses", &all, &error) != STRATA_OK)
        fail_msg("%s", error.text);
    for (uint64_t i = 1; i <= 2; i++) {
        says(0, INSTRUCTIONS, 100 * i, i, i);
        says(1, INSTRUCTIONS, 10 * i, i, i);
        sample(m);
    }
    has(m, "strata_events_total{event=\"l1d_misses\",pmu=\"cpu_core\",cpu=\"0\"} 200");
    has(m, "strata_events_total{event=\"l1d_misses\",pmu=\"cpu_atom\",cpu=\"1\"} 20");
    has(m, "strata_event_rate{event=\"l1d_misses\",pmu=\"cpu_core\"} 100");
    has(m, "strata_event_rate{event=\"l1d_misses\",pmu=\"cpu_atom\"} 10");
    lacks(m, "strata_event_not_counted{");
}

/* A process that ends: what it did stays, and it is said. */
static void process(void **state)
{
    struct machine *m = *state;
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    char path[64];
    snprintf(path, sizeof path, "proc/%d/task/%d/x", (int)pid, (int)pid);
    tree_put(fake.root, path, "");
    start(m, "page-faults", &(struct pmu_target){.kind = PMU_PROCESS, .pid = pid});
    says(0, FAULTS, 5, 1, 1);
    sample(m);
    has(m, "strata_events_total{event=\"page-faults\"} 5");
    has(m, "strata_target_up 1");
    lacks(m, "strata_cpu_up");
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    says(0, FAULTS, 9, 2, 2);
    sample(m); /* its last moments are counted */
    has(m, "strata_events_total{event=\"page-faults\"} 9");
    has(m, "strata_target_up{reason=\"the \\\"target\\\" has ended\"} 0");
    sample(m);
    sample(m);
    has(m, "strata_events_total{event=\"page-faults\"} 9");
    lacks(m, "strata_event_rate{");
    has(m, "strata_event_not_counted{event=\"page-faults\",state=\"never scheduled\","
           "reason=\"the \\\"target\\\" has ended\"} 1");
}

/* JSON. */

static json_t *data_of(const struct machine *machine, uint64_t after)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(data_json(machine->sampler, after, out), 0);
    assert_int_equal(fclose(out), 0);
    json_t *data = json_loads(text, 0, NULL);
    assert_non_null(data);
    free(text);
    return data;
}

static size_t samples_after(const struct machine *machine, uint64_t after, int *first)
{
    json_t *data = data_of(machine, after), *samples = json_object_get(data, "samples");
    size_t n = json_array_size(samples);
    *first = 0;
    if (n)
        *first =
            (int)json_integer_value(json_object_get(json_array_get(samples, 0), "number"));
    json_decref(data);
    return n;
}

static void data(void **state)
{
    struct machine *m = *state;
    int first;
    start(m, "page-faults,l1d_misses", &all);
    for (uint64_t i = 1; i <= 4; i++) {
        says(0, FAULTS, 10 * i, i, i);
        says(1, FAULTS, 20 * i, i, i);
        sample(m);
    }
    json_t *all_of_it = data_of(m, 0);
    json_t *last = json_array_get(json_object_get(all_of_it, "samples"), 2);
    json_t *rates = json_object_get(last, "rates");
    assert_int_equal(json_integer_value(json_object_get(last, "number")), 3);
    assert_true(json_number_value(json_array_get(rates, 0)) == 30);
    assert_true(json_is_null(json_array_get(rates, 1)));
    json_t *unit = json_array_get(json_object_get(last, "units"), 1);
    assert_true(json_number_value(json_array_get(unit, 0)) == 20);
    json_t *events = json_object_get(all_of_it, "events");
    assert_true(json_is_null(json_object_get(json_array_get(events, 0), "why")));
    assert_true(json_is_string(json_object_get(json_array_get(events, 1), "why")));
    json_decref(all_of_it);
    assert_int_equal(samples_after(m, 0, &first), 3);
    assert_int_equal(samples_after(m, 2, &first), 1);
    assert_int_equal(first, 3);
    assert_int_equal(samples_after(m, 3, &first), 0);
    assert_int_equal(samples_after(m, 1000, &first), 0);
}

/* The timeline has an end, however long strata runs. */
static void bounded(void **state)
{
    struct machine *m = *state;
    int first;
    start(m, "page-faults", &all);
    for (uint64_t i = 1; i <= 400; i++) {
        says(0, FAULTS, i, i, i);
        says(1, FAULTS, i, i, i);
        sample(m);
    }
    assert_int_equal(samples_after(m, 0, &first), 300); /* five minutes */
    assert_int_equal(first, 100);
}

/* Privileges: in a child, which cannot get them back. */

static int in_child(int (*test)(void))
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(test());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Lines of /proc/self/status that tell of a privilege. */
static int count_privileges(void)
{
    char line[256];
    int left = 0;
    unsigned long long set;
    unsigned u[4];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "Cap%*3[InhPrmEfAb]: %llx", &set) == 1 &&
            strncmp(line, "CapBnd", 6) != 0)
            left += set != 0;
        if (sscanf(line, "Uid: %u %u %u %u", &u[0], &u[1], &u[2], &u[3]) == 4)
            left += !u[0] || !u[1] || !u[2] || !u[3];
        if (strncmp(line, "NoNewPrivs:", 11) == 0)
            left += !strchr(line, '1');
    }
    if (!file)
        return -1;
    fclose(file);
    return left;
}

static int drop(void)
{
    struct privileges left;
    struct strata_error error;
    bool root = geteuid() == 0;
    if (privileges_drop(NULL, &left, &error) != STRATA_OK)
        return 2;
    if (left.uid == 0 || left.uid != getuid() || (root && strcmp(left.user, "nobody") != 0))
        return 3;
    return count_privileges() != 0 ? 4 : setuid(0) == 0;
}

static int drop_to_root(void)
{
    struct privileges left;
    struct strata_error error;
    return privileges_drop("root", &left, &error) == STRATA_BAD_INPUT ? 0 : 1;
}

static int drop_to_no_one(void)
{
    struct privileges left;
    struct strata_error error;
    return privileges_drop("no-such-user", &left, &error) == STRATA_BAD_INPUT ? 0 : 1;
}

static int drop_to_number(void)
{
    struct privileges left;
    struct strata_error error;
    if (geteuid() != 0)
        return 0;
    return privileges_drop("54321", &left, &error) == STRATA_OK && getuid() == 54321 &&
                   getgid() == 54321
               ? 0
               : 1;
}

static void privileges(void **state)
{
    (void)state;
    assert_int_equal(in_child(drop), 0);
    assert_int_equal(in_child(drop_to_root), 0);
    assert_int_equal(in_child(drop_to_no_one), 0);
    assert_int_equal(in_child(drop_to_number), 0);
}

#define WITH_MACHINE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),
        cmocka_unit_test(odd_labels),
        cmocka_unit_test(names),
        cmocka_unit_test(addresses),
        cmocka_unit_test(hosts),
        cmocka_unit_test(port_in_use),
        cmocka_unit_test(ring),
        WITH_MACHINE(counts),
        WITH_MACHINE(scaling),
        WITH_MACHINE(reasons),
        WITH_MACHINE(nothing),
        WITH_MACHINE(processors),
        WITH_MACHINE(processors_come_back),
        WITH_MACHINE(hybrid),
        WITH_MACHINE(process),
        WITH_MACHINE(data),
        WITH_MACHINE(bounded),
        cmocka_unit_test(privileges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
