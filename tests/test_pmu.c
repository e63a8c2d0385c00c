/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The counters, for real where any machine can: page faults, breakpoints, tracepoints and
 * context switches through the same code as hardware events, with counts that are known.
 * What needs another machine is put in its place: a kernel that refuses, settings, PMUs in
 * sysfs, and descriptors that say what a busy PMU would. */
#include "pmu/launch.h"
#include "pmu/pmu.h"

#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "test_tree.h"

enum { MOST = 4 };

/* A set of events that are named directly. */
struct set {
    struct pmu_want wants[MOST];
    struct pmu_count counts[MOST];
    size_t n;
    struct pmu *pmu;
};

static void open_set(struct set *set, const struct pmu_system *system,
                     const struct pmu_target *target, const char *names, int group)
{
    static char copies[8][200];
    static int copy;
    char *next = copies[copy++ % 8], *name;
    struct strata_error error;
    snprintf(next, sizeof copies[0], "%s", names);
    set->n = 0;
    while ((name = strsep(&next, " ")))
        set->wants[set->n++] = (struct pmu_want){
            .name = name, .kind = {.pmu = "", .device = ""}, .group = group};
    if (pmu_open(system, target, set->wants, set->n, &set->pmu, &error) != STRATA_OK)
        fail_msg("%s", error.text);
}

static const struct pmu_target self = {.kind = PMU_SELF};

/* Skips the test where this machine does not allow what it is about. */
static void need(struct set *set)
{
    pmu_read(set->pmu, set->counts);
    for (size_t i = 0; i < set->n; i++)
        if (!pmu_opened(set->pmu, i)) {
            printf("skip: %s: %s\n", set->wants[i].name, set->counts[i].why);
            pmu_close(set->pmu);
            skip();
        }
}

/* A folder that stands for the root of another machine. */

static char root[64];

static void put(const char *path, const char *text)
{
    tree_put(root, path, text);
}

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/strata-pmu-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    (void)state;
    return tree_remove(root);
}

/* Page faults. */

/* Touches n new pages; shadow memory of a sanitizer would fault too. */
__attribute__((noinline, no_sanitize("address"))) static void touch(size_t n)
{
    size_t size = (n ? n : 1) * 4096;
    volatile char *pages =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return;
    madvise((void *)pages, size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < n; i++)
        pages[4096 * i] = 1;
    munmap((void *)pages, size);
}

static uint64_t faults_of(struct set *set, size_t i, size_t n)
{
    pmu_read(set->pmu, set->counts);
    uint64_t before = set->counts[i].value;
    pmu_enable(set->pmu);
    touch(n);
    pmu_disable(set->pmu);
    pmu_read(set->pmu, set->counts);
    assert_int_equal(set->counts[i].state, PMU_COUNTED);
    return set->counts[i].value - before;
}

static void page_faults(void **state)
{
    static const size_t pages[] = {0, 1, 10, 500, 1000, 4000};
    struct set set;
    (void)state;
    if (sysconf(_SC_PAGESIZE) != 4096) {
        printf("skip: pages of this machine are not 4096 bytes\n");
        skip();
    }
    open_set(&set, &pmu_system_here, &self, "page-faults minor-faults", 0);
    need(&set);
    faults_of(&set, 0, 1); /* whatever is touched for the first time */
    for (size_t event = 0; event < 2; event++)
        for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++)
            assert_int_equal(faults_of(&set, event, pages[i]), pages[i]);
    pmu_close(set.pmu);
}

/* Breakpoints. */

static volatile long watched, other;

__attribute__((noinline, no_sanitize("address", "undefined"))) static void access_it(long n)
{
    for (long i = 0; i < n; i++) {
        watched = i;
        other = i;
    }
}

static void breakpoints(void **state)
{
    struct set set;
    char name[64];
    (void)state;
    snprintf(name, sizeof name, "mem:%#lx/8:w", (unsigned long)&watched);
    open_set(&set, &pmu_system_here, &self, name, 0);
    need(&set);
    for (long n = 0; n <= 3000; n += 1000) {
        pmu_read(set.pmu, set.counts);
        uint64_t before = set.counts[0].value;
        pmu_enable(set.pmu);
        access_it(n);
        pmu_disable(set.pmu);
        pmu_read(set.pmu, set.counts);
        assert_int_equal(set.counts[0].value - before, n);
    }
    assert_true(pmu_is_software(set.pmu, 0));
    pmu_close(set.pmu);
}

/* Tracepoints: a system call that nobody else makes in this thread. Where tracefs is not
 * mounted, root mounts it for this process alone. */
static bool mount_tracing(const char *folder)
{
    char path[128];
    snprintf(path, sizeof path, "%s/sys/kernel/tracing", folder);
    return unshare(CLONE_NEWNS) == 0 &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", path, "tracefs", 0, NULL) == 0;
}

static void tracepoints(void **state)
{
    struct pmu_system system = pmu_system_here;
    struct set set;
    char path[128];
    (void)state;
    put("/sys/kernel/tracing/x", "");
    snprintf(path, sizeof path, "%s/sys/kernel/tracing/x", root);
    assert_int_equal(remove(path), 0);
    bool mounted = access("/sys/kernel/tracing/events", F_OK) != 0 && mount_tracing(root);
    if (mounted)
        system.root = root;
    open_set(&set, &system, &self, "syscalls:sys_enter_getppid", 0);
    if (mounted) {
        *strrchr(path, '/') = '\0';
        assert_int_equal(umount2(path, MNT_DETACH), 0);
    }
    need(&set);
    pmu_enable(set.pmu);
    for (int i = 0; i < 1234; i++)
        syscall(SYS_getppid);
    pmu_disable(set.pmu);
    pmu_read(set.pmu, set.counts);
    assert_int_equal(set.counts[0].value, 1234);
    pmu_close(set.pmu);
}

/* A thread that sleeps loses its processor; others may take it away as well. It must not be
 * time to go on before the kernel comes to look for another thread. */
static void context_switches(void **state)
{
    enum { SLEEPS = 20 };
    const struct timespec moment = {.tv_nsec = 5000000};
    struct set set;
    (void)state;
    open_set(&set, &pmu_system_here, &self, "context-switches task-clock", 7);
    need(&set);
    pmu_enable(set.pmu);
    for (int i = 0; i < SLEEPS; i++)
        nanosleep(&moment, NULL);
    pmu_disable(set.pmu);
    pmu_read(set.pmu, set.counts);
    assert_true(set.counts[0].value >= SLEEPS);
    assert_true(set.counts[1].value > 0);
    /* they are in one group, and so were counted at the same times */
    assert_int_equal(set.counts[0].enabled_ns, set.counts[1].enabled_ns);
    assert_int_equal(set.counts[0].running_ns, set.counts[0].enabled_ns);
    pmu_close(set.pmu);
}

/* Targets. */

static void process(void **state)
{
    struct set set;
    int go[2];
    char byte;
    (void)state;
    assert_int_equal(pipe(go), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(go[1]);
        if (read(go[0], &byte, 1) == 1)
            touch(2000);
        _exit(0);
    }
    close(go[0]);
    const struct pmu_target target = {.kind = PMU_PROCESS, .pid = pid, .inherit = true};
    open_set(&set, &pmu_system_here, &target, "page-faults", 0);
    bool opened = pmu_opened(set.pmu, 0);
    pmu_enable(set.pmu);
    assert_int_equal(write(go[1], "g", 1), 1);
    close(go[1]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    pmu_read(set.pmu, set.counts);
    if (opened) /* the child's own first touches come on top */
        assert_in_range(set.counts[0].value, 2000, 2100);
    pmu_close(set.pmu);
}

static void no_process(void **state)
{
    const struct pmu_target target = {.kind = PMU_PROCESS, .pid = 0x3fffffff};
    const struct pmu_want want = {.name = "page-faults", .kind = {.pmu = "", .device = ""}};
    struct pmu *pmu;
    struct strata_error error;
    (void)state;
    assert_int_equal(pmu_open(&pmu_system_here, &target, &want, 1, &pmu, &error),
                     STRATA_BAD_INPUT);
    assert_string_equal(error.text, "process 1073741823: there is none");
    assert_null(pmu);
    const struct pmu_target group = {.kind = PMU_CGROUP, .cgroup = "no/such/group"};
    assert_int_equal(pmu_open(&pmu_system_here, &group, &want, 1, &pmu, &error),
                     STRATA_BAD_INPUT);
    assert_non_null(strstr(error.text, "the control group no/such/group: "));
}

/* A program is counted from its exec on, and not before. */
static void child(void **state)
{
    struct launch launch;
    struct set set;
    struct strata_error error;
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"exit 7", NULL};
    (void)state;
    launch_signals(&launch);
    assert_int_equal(launch_prepare(&launch, "/bin/sh", argv, &error), STRATA_OK);
    const struct pmu_target target = {
        .kind = PMU_CHILD, .pid = launch.pid, .inherit = true};
    open_set(&set, &pmu_system_here, &target, "page-faults task-clock", 0);
    pmu_read(set.pmu, set.counts);
    if (pmu_opened(set.pmu, 0)) {
        assert_int_equal(set.counts[0].state, PMU_NEVER_SCHEDULED);
        assert_int_equal(set.counts[0].raw, 0);
    }
    assert_int_equal(launch_start(&launch, "/bin/sh", &error), STRATA_OK);
    assert_int_equal(launch_wait(&launch, INFINITY), LAUNCH_ENDED);
    assert_false(launch.signalled);
    assert_int_equal(launch.status, 7);
    pmu_read(set.pmu, set.counts);
    if (pmu_opened(set.pmu, 0))
        assert_true(set.counts[0].value > 10);
    pmu_close(set.pmu);
    assert_int_equal(launch_prepare(&launch, "/no/such", argv, &error), STRATA_OK);
    assert_int_equal(launch_start(&launch, "/no/such", &error), STRATA_BAD_INPUT);
    assert_string_equal(error.text, "/no/such: No such file or directory");
    sigprocmask(SIG_SETMASK, &launch.before, NULL);
}

static void all_processors(void **state)
{
    const struct pmu_target target = {.kind = PMU_ALL};
    struct set set;
    (void)state;
    open_set(&set, &pmu_system_here, &target, "page-faults cpu-clock", 0);
    need(&set);
    pmu_enable(set.pmu);
    touch(1000);
    pmu_disable(set.pmu);
    pmu_read(set.pmu, set.counts);
    assert_true(set.counts[0].value >= 1000);
    assert_true(set.counts[1].value > 0);
    pmu_close(set.pmu);
}

static void control_group(void **state)
{
    const struct pmu_target target = {.kind = PMU_CGROUP, .cgroup = "."};
    const struct pmu_want want = {.name = "page-faults", .kind = {.pmu = "", .device = ""}};
    struct pmu *pmu;
    struct pmu_count count;
    struct strata_error error;
    (void)state;
    if (pmu_open(&pmu_system_here, &target, &want, 1, &pmu, &error) != STRATA_OK) {
        printf("skip: %s\n", error.text);
        skip();
    }
    pmu_enable(pmu);
    touch(1000);
    pmu_read(pmu, &count);
    if (!pmu_opened(pmu, 0)) {
        printf("skip: %s\n", count.why);
        pmu_close(pmu);
        skip();
    }
    assert_true(count.state == PMU_COUNTED || count.state == PMU_NEVER_SCHEDULED);
    pmu_close(pmu);
}

/* Falling back. */

static void falls_back(void **state)
{
    const struct event_row row = {
        .name = "x",
        .ways = {"NO_SUCH_EVENT", "nopmu/event=1/", "page-faults"},
        .nways = 3,
        .about = ""};
    const struct event_row none = {.name = "y", .about = "there is no such thing here"};
    const struct event_row unknown = {
        .name = "z", .ways = {"NO_SUCH_EVENT", "nopmu/event=1/"}, .nways = 2, .about = ""};
    const struct pmu_kind kind = {.pmu = "", .device = ""};
    const struct pmu_want wants[] = {{.name = "x", .row = &row, .kind = kind},
                                     {.name = "y", .row = &none, .kind = kind},
                                     {.name = "z", .row = &unknown, .kind = kind}};
    struct pmu_count counts[3];
    struct pmu *pmu;
    struct strata_error error;
    (void)state;
    assert_int_equal(pmu_open(&pmu_system_here, &self, wants, 3, &pmu, &error), STRATA_OK);
    pmu_read(pmu, counts);
    if (pmu_opened(pmu, 0))
        assert_string_equal(pmu_way(pmu, 0), "page-faults");
    assert_int_equal(counts[1].state, PMU_UNKNOWN);
    assert_string_equal(counts[1].why, "there is no such thing here");
    assert_int_equal(counts[2].state, PMU_UNKNOWN);
    assert_non_null(strstr(counts[2].why, "unknown here: NO_SUCH_EVENT: libpfm4 says"));
    pmu_close(pmu);
}

/* A kernel that refuses. */

static int refusal;
static int opens;

static int refuse(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
                  unsigned long flags)
{
    (void)attr, (void)pid, (void)cpu, (void)group, (void)flags;
    opens++;
    errno = refusal;
    return -1;
}

static bool no_right(void)
{
    return false;
}

static bool has_right(void)
{
    return true;
}

static void refusals(void **state)
{
    static const struct {
        int error, paranoid;
        bool right;
        enum pmu_target_kind target;
        enum pmu_state state;
        const char *why;
    } cases[] = {
        {EACCES, 2, false, PMU_SELF, PMU_DENIED,
         "denied (EACCES), though perf_event_paranoid is 2: it belongs to another user, or "
         "a container's seccomp filter forbids perf_event_open; give strata CAP_PERFMON "
         "and "
         "CAP_SYS_PTRACE"},
        {EACCES, 2, false, PMU_CPU, PMU_DENIED,
         "denied (EACCES): perf_event_paranoid is 2, so users may count only their own "
         "programs, without the kernel; run 'sudo sysctl kernel.perf_event_paranoid=0', or "
         "give strata CAP_PERFMON"},
        {EACCES, 1, false, PMU_CPU, PMU_DENIED,
         "denied (EACCES): perf_event_paranoid is 1, so users may count only their own "
         "programs; run 'sudo sysctl kernel.perf_event_paranoid=0', or give strata "
         "CAP_PERFMON"},
        {EACCES, 3, false, PMU_SELF, PMU_DENIED,
         "denied (EACCES): perf_event_paranoid is 3, so only root may count; run 'sudo "
         "sysctl kernel.perf_event_paranoid=2', or give strata CAP_PERFMON"},
        {EPERM, 4, false, PMU_SELF, PMU_DENIED,
         "denied (EPERM): perf_event_paranoid is 4, so only root may count; run 'sudo "
         "sysctl kernel.perf_event_paranoid=2', or give strata CAP_PERFMON"},
        {EPERM, 4, true, PMU_SELF, PMU_DENIED,
         "denied (EPERM) in spite of CAP_PERFMON: a container's seccomp filter or the "
         "kernel's lockdown forbids perf_event_open"},
        {ENOENT, 2, true, PMU_SELF, PMU_REFUSED,
         "refused by the kernel: there is no PMU, or the hypervisor hides it (ENOENT); "
         "nothing to change inside a guest; the host must offer a virtual PMU"},
        {EINVAL, 2, true, PMU_SELF, PMU_REFUSED,
         "refused by the kernel (EINVAL): this PMU does not know the code, or the group is "
         "larger than its counters"},
        {ENODEV, 2, true, PMU_SELF, PMU_REFUSED,
         "refused by the kernel: the processor has no such counter (ENODEV)"},
        {EMFILE, 2, true, PMU_SELF, PMU_REFUSED,
         "refused by the kernel: too many open files (EMFILE); raise 'ulimit -n'"},
        {ENOSYS, 2, true, PMU_SELF, PMU_REFUSED,
         "refused by the kernel: the kernel or its seccomp filter has no perf events "
         "(ENOSYS); use a kernel with CONFIG_PERF_EVENTS; in a container, allow "
         "perf_event_open"},
        {EBUSY, 2, true, PMU_SELF, PMU_REFUSED,
         "refused by the kernel: another program holds the counters (EBUSY); end it; the "
         "NMI watchdog holds one too: 'sudo sysctl kernel.nmi_watchdog=0'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char level[16];
        struct set set;
        const struct pmu_system system = {.open = refuse,
                                          .root = root,
                                          .may_count =
                                              cases[i].right ? has_right : no_right};
        const struct pmu_target target = {.kind = cases[i].target};
        snprintf(level, sizeof level, "%d\n", cases[i].paranoid);
        put("/proc/sys/kernel/perf_event_paranoid", level);
        refusal = cases[i].error;
        open_set(&set, &system, &target, "cycles", 0);
        pmu_enable(set.pmu);
        pmu_read(set.pmu, set.counts);
        assert_int_equal(set.counts[0].state, cases[i].state);
        assert_string_equal(set.counts[0].why, cases[i].why);
        assert_int_equal(set.counts[0].value, 0);
        assert_null(pmu_way(set.pmu, 0));
        pmu_close(set.pmu);
    }
}

/* What happens in the kernel alone is not asked for without it: that would count 0. */
static void kernel_only(void **state)
{
    const struct pmu_system system = {.open = refuse, .root = root, .may_count = no_right};
    struct set set;
    (void)state;
    put("/proc/sys/kernel/perf_event_paranoid", "2\n");
    refusal = EACCES;
    opens = 0;
    open_set(&set, &system, &self, "page-faults", 0);
    assert_int_equal(opens, 2);
    pmu_close(set.pmu);
    opens = 0;
    open_set(&set, &system, &self, "context-switches", 0);
    assert_int_equal(opens, 1);
    pmu_read(set.pmu, set.counts);
    assert_int_equal(set.counts[0].state, PMU_DENIED);
    assert_non_null(strstr(set.counts[0].why, "perf_event_paranoid is 2"));
    assert_non_null(strstr(set.counts[0].why, "kernel.perf_event_paranoid=1'"));
    pmu_close(set.pmu);
}

/* Descriptors that say what a busy PMU would: value, enabled, running. */

static uint64_t says[3];
static bool only_user;

static int answer(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
                  unsigned long flags)
{
    (void)pid, (void)cpu, (void)group, (void)flags;
    if (only_user && !attr->exclude_kernel) {
        errno = EACCES;
        return -1;
    }
    const uint64_t one[] = {1, says[1], says[2], says[0]}; /* a group of one */
    bool groups = attr->read_format & PERF_FORMAT_GROUP;
    ssize_t size = groups ? sizeof one : sizeof says;
    int fd = memfd_create("counter", MFD_CLOEXEC);
    if (fd < 0 || write(fd, groups ? one : says, (size_t)size) != size ||
        lseek(fd, 0, SEEK_SET) != 0)
        return -1;
    return fd;
}

static void read_answer(const char *event, uint64_t value, uint64_t enabled,
                        uint64_t running, struct pmu_count *count)
{
    const struct pmu_system system = {.open = answer, .root = root, .may_count = no_right};
    struct set set;
    says[0] = value;
    says[1] = enabled;
    says[2] = running;
    open_set(&set, &system, &self, event, 0);
    pmu_read(set.pmu, set.counts);
    *count = set.counts[0];
    pmu_close(set.pmu);
}

/* Software events are read at once, whatever stands between them. */
static void software_at_once(void **state)
{
    struct set set;
    (void)state;
    open_set(&set, &pmu_system_here, &self,
             "page-faults nopmu/event=1/ minor-faults task-clock", 0);
    pmu_read(set.pmu, set.counts);
    if (!pmu_opened(set.pmu, 0)) {
        printf("skip: %s\n", set.counts[0].why);
        pmu_close(set.pmu);
        skip();
    }
    assert_int_equal(faults_of(&set, 0, 0), faults_of(&set, 0, 0)); /* warm */
    assert_int_equal(faults_of(&set, 0, 50), 50);
    assert_int_equal(set.counts[2].state, PMU_COUNTED);
    assert_int_equal(set.counts[2].value, set.counts[0].value);
    assert_int_equal(set.counts[2].enabled_ns, set.counts[0].enabled_ns);
    assert_int_equal(set.counts[3].enabled_ns, set.counts[0].enabled_ns);
    assert_true(set.counts[3].value > 0);
    assert_int_equal(set.counts[1].state, PMU_UNKNOWN);
    assert_int_equal(set.counts[1].value, 0);
    pmu_close(set.pmu);
}

static void scaling(void **state)
{
    struct pmu_count count;
    (void)state;
    read_answer("cycles", 1000, 2000000, 1000000, &count);
    assert_int_equal(count.state, PMU_COUNTED);
    assert_int_equal(count.value, 2000);
    assert_int_equal(count.raw, 1000);
    assert_int_equal(count.enabled_ns, 2000000);
    assert_int_equal(count.running_ns, 1000000);
    read_answer("cycles", UINT64_C(1) << 60, 3000, 1000, &count); /* no overflow */
    assert_int_equal(count.value, 3 * (UINT64_C(1) << 60));
    read_answer("cycles", 77, 1000, 1000, &count);
    assert_int_equal(count.value, 77);
    read_answer("cycles", 0, 5000000, 0, &count);
    assert_int_equal(count.state, PMU_NEVER_SCHEDULED);
    assert_string_equal(count.why,
                        "opened but never scheduled: other events hold the counters");
    read_answer("cycles", 0, 0, 0, &count);
    assert_int_equal(count.state, PMU_NEVER_SCHEDULED);
    read_answer("cycles", 0, 5000000, 5000000, &count);
    assert_int_equal(count.state, PMU_NEVER_MOVED);
    assert_string_equal(count.why, "opened but never moved: at 0 for 5 ms, which a PMU "
                                   "that does not implement it also shows");
    read_answer("page-faults", 0, 5000000, 5000000, &count); /* 0 is a count of these */
    assert_int_equal(count.state, PMU_COUNTED);
    only_user = true;
    read_answer("cycles", 5, 10, 10, &count);
    only_user = false;
    assert_true(count.user_only);
    assert_int_equal(count.value, 5);
}

/* Codes. */

static void encodes(const struct pmu_system *system, const char *device, const char *text,
                    uint32_t type, uint64_t config)
{
    const struct pmu_kind kind = {.pmu = "", .device = device, .absent = true};
    struct pmu_code code;
    char why[PMU_WHY];
    if (pmu_encode(system, &kind, text, &code, why) != 0)
        fail_msg("%s: %s", text, why);
    assert_int_equal(code.attr.type, type);
    assert_int_equal(code.attr.config, config);
}

static void refuses(const struct pmu_system *system, const char *text, const char *wanted)
{
    const struct pmu_kind kind = {.pmu = "", .device = ""};
    struct pmu_code code;
    char why[PMU_WHY];
    assert_int_equal(pmu_encode(system, &kind, text, &code, why), -1);
    assert_string_equal(why, wanted);
}

#define DEVICES "/sys/bus/event_source/devices/"

static void codes(void **state)
{
    const struct pmu_system system = {.root = root};
    struct pmu_code code;
    char why[PMU_WHY];
    (void)state;
    put(DEVICES "cpu/type", "4\n");
    put(DEVICES "cpu/format/event", "config:0-7,32-35\n");
    put(DEVICES "cpu/format/umask", "config:8-15\n");
    put(DEVICES "cpu/format/ldlat", "config1:0-15\n");
    put(DEVICES "cpu/events/cache-misses", "event=0x2e,umask=0x41\n");
    put(DEVICES "cpu_atom/type", "10\n");
    put(DEVICES "cpu_atom/format/event", "config:0-7\n");
    put(DEVICES "bad/type", "11\n");
    put(DEVICES "bad/format/event", "nonsense\n");
    put("/sys/kernel/tracing/events/sched/sched_switch/id", "316\n");
    encodes(&system, "", "r1a8", PERF_TYPE_RAW, 0x1a8);
    encodes(&system, "", "event=0xd1,umask=0x08", PERF_TYPE_RAW, 0x8d1);
    encodes(&system, "", "cpu/event=0xd1,umask=0x08/", PERF_TYPE_RAW, 0x8d1);
    encodes(&system, "", "cpu/event=0x1c7/", PERF_TYPE_RAW, 0x1000000c7);
    encodes(&system, "", "cpu/cache-misses/", PERF_TYPE_RAW, 0x412e);
    encodes(&system, "cpu_atom", "event=0x2e", 10, 0x2e);
    encodes(&system, "cpu_atom", "r2e", 10, 0x2e);
    encodes(&system, "", "cpu_atom/event=0x2e/", 10, 0x2e);
    encodes(&system, "", "cpu/config=0x123456789abcdef0/", PERF_TYPE_RAW,
            0x123456789abcdef0);
    encodes(&system, "", "sched:sched_switch", PERF_TYPE_TRACEPOINT, 316);
    encodes(&system, "", "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
    encodes(&system, "", "LLC-load-misses", PERF_TYPE_HW_CACHE, 0x10002);
    encodes(&system, "", "Instructions:u", PERF_TYPE_HARDWARE, 1);
    const struct pmu_kind kind = {.pmu = "", .device = ""};
    assert_int_equal(pmu_encode(&system, &kind, "cpu/event=1,ldlat=30/:u", &code, why), 0);
    assert_true(code.attr.exclude_kernel);
    assert_int_equal(pmu_encode(&system, &kind, "cpu/event=1/k", &code, why), 0);
    assert_true(code.attr.exclude_user && !code.attr.exclude_kernel);
    assert_int_equal(pmu_encode(&system, &kind, "cpu/event=1,ldlat=30/", &code, why), 0);
    assert_int_equal(code.attr.config1, 30);
    assert_int_equal(pmu_encode(&system, &kind, "sched:sched_switch:k", &code, why), 0);
    assert_true(code.attr.exclude_user && code.kernel_only && code.software);
    assert_int_equal(pmu_encode(&system, &kind, "mem:0x1000/4:rw:u", &code, why), 0);
    assert_true(code.attr.exclude_kernel && code.attr.bp_addr == 0x1000);
    assert_int_equal(code.attr.bp_len, 4);
    assert_int_equal(code.attr.bp_type, 3);
    refuses(&system, "event=0xd1,nosuch=1", "the PMU has no field nosuch");
    refuses(&system, "event=0xfffff", "the value of event is too large");
    refuses(&system, "event=x", "the value of event is no number");
    refuses(&system, "event=1,,", "a field is missing");
    refuses(&system, "nopmu/event=1/",
            "there is no PMU nopmu in /sys/bus/event_source/devices");
    refuses(&system, "bad/event=1/", "the value of event is too large");
    refuses(&system, "cpu/event=1",
            "cpu/event=1: wanted is PMU/terms/, as cpu/event=0xc0/");
    refuses(&system, "mem:x", "mem:x: wanted is mem:ADDRESS[/LENGTH][:rwx]");
    refuses(&system, "mem:1:q", "mem:1:q: wanted is mem:ADDRESS[/LENGTH][:rwx]");
    refuses(&system, "r11112222333344445", "r11112222333344445: more than 64 bits");
    refuses(&system, "sched:nosuch", "there is no tracepoint sched:nosuch");
    refuses(&system, "nosuch", "no such event");
    refuses(&system, "", "no such event");
}

/* Names of libpfm4 mean nothing on another processor than theirs. */
static void other_processor(void **state)
{
    const struct pmu_kind kind = {.pmu = "", .device = ""};
    const struct pmu_kind absent = {.pmu = "", .device = "", .absent = true};
    struct pmu_code code;
    char why[PMU_WHY];
    (void)state;
    /* no machine has both */
    int a =
        pmu_encode(&pmu_system_here, &kind, "skl::BR_INST_RETIRED:CONDITIONAL", &code, why);
    int b = pmu_encode(&pmu_system_here, &kind, "amd64_fam19h_zen4::RETIRED_INSTRUCTIONS",
                       &code, why);
    assert_true(a != 0 || b != 0);
    if (b)
        assert_string_equal(why, "it is an event of AMD64 Fam19h Zen4, and this is another "
                                 "processor");
    assert_int_equal(pmu_encode(&pmu_system_here, &absent,
                                "skl::BR_INST_RETIRED:CONDITIONAL", &code, why),
                     0);
    assert_int_equal(code.attr.config, 0x1c4);
    assert_int_equal(pmu_encode(&pmu_system_here, &kind, "nosuch::X", &code, why), -1);
    assert_string_equal(why, "no PMU nosuch is known; 'strata events --pmus' lists them");
}

/* Reading without a system call: allowed or not, never wrong. */
static void user_reads(void **state)
{
    struct set set;
    uint64_t count;
    (void)state;
    open_set(&set, &pmu_system_here, &self, "page-faults instructions", 0);
    pmu_enable(set.pmu);
    assert_false(pmu_read_user(set.pmu, 0, &count)); /* no hardware counts faults */
    if (pmu_opened(set.pmu, 1) && pmu_read_user(set.pmu, 1, &count)) {
        pmu_read(set.pmu, set.counts);
        assert_true(set.counts[1].raw >= count);
    }
    pmu_close(set.pmu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_faults),
        cmocka_unit_test(breakpoints),
        cmocka_unit_test(tracepoints),
        cmocka_unit_test(context_switches),
        cmocka_unit_test(process),
        cmocka_unit_test(no_process),
        cmocka_unit_test(child),
        cmocka_unit_test(all_processors),
        cmocka_unit_test(control_group),
        cmocka_unit_test(falls_back),
        cmocka_unit_test(refusals),
        cmocka_unit_test(kernel_only),
        cmocka_unit_test(software_at_once),
        cmocka_unit_test(scaling),
        cmocka_unit_test(codes),
        cmocka_unit_test(other_processor),
        cmocka_unit_test(user_reads),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
