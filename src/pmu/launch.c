/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Holding a program back, and waiting; launch.h has the contract. */
#include "pmu/launch.h"

#include "core/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int waited_for[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                                 SIGUSR1, SIGUSR2, SIGCHLD};

double launch_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void launch_signals(struct launch *launch)
{
    *launch = (struct launch){.go = -1, .outcome = -1, .started = launch_now()};
    sigemptyset(&launch->signals);
    for (size_t i = 0; i < sizeof waited_for / sizeof waited_for[0]; i++)
        sigaddset(&launch->signals, waited_for[i]);
    sigprocmask(SIG_BLOCK, &launch->signals, &launch->before);
    signal(SIGCHLD, SIG_DFL); /* if it were ignored, nobody could be waited for */
}

/* In the new process: waits for a byte, then becomes the program. */
__attribute__((noreturn)) static void become(const struct launch *launch, int wait_fd,
                                             int report_fd, const char *path,
                                             char *const *argv)
{
    char byte;
    if (read(wait_fd, &byte, 1) != 1)
        _exit(127); /* strata gave up, or is gone */
    sigprocmask(SIG_SETMASK, &launch->before, NULL);
    execv(path, argv);
    int cause = errno;
    (void)!write(report_fd, &cause, sizeof cause);
    _exit(127);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

int launch_prepare(struct launch *launch, const char *path, char *const *argv,
                   struct strata_error *error)
{
    int go[2], outcome[2] = {-1, -1};
    if (pipe2(go, O_CLOEXEC) != 0)
        return fail(error, STRATA_FAILED, "cannot make a pipe: %s", strerror(errno));
    pid_t pid = pipe2(outcome, O_CLOEXEC) == 0 ? fork() : -1;
    if (pid == 0) {
        close(go[1]);
        become(launch, go[0], outcome[1], path, argv);
    }
    int cause = errno;
    close(go[0]);
    close_fd(&outcome[1]);
    launch->go = go[1];
    launch->outcome = outcome[0];
    if (pid > 0) {
        launch->pid = pid;
        return STRATA_OK;
    }
    launch_drop(launch);
    return fail(error, STRATA_FAILED, "cannot start a process: %s", strerror(cause));
}

void launch_drop(struct launch *launch)
{
    close_fd(&launch->go); /* the process reads the end of the pipe and ends */
    close_fd(&launch->outcome);
    if (launch->pid > 0)
        waitpid(launch->pid, NULL, 0);
    launch->pid = 0;
}

int launch_start(struct launch *launch, const char *path, struct strata_error *error)
{
    int cause = 0;
    ssize_t got = 0;
    launch->started = launch_now();
    if (write(launch->go, "g", 1) == 1)
        do
            got = read(launch->outcome, &cause, sizeof cause);
        while (got < 0 && errno == EINTR);
    close_fd(&launch->go);
    close_fd(&launch->outcome);
    if (got != (ssize_t)sizeof cause)
        return STRATA_OK; /* closed by the exec */
    launch_drop(launch);
    return fail(error, STRATA_BAD_INPUT, "%s: %s", path, strerror(cause));
}

static bool has_ended(struct launch *launch)
{
    int status;
    if (!launch->pid || waitpid(launch->pid, &status, WNOHANG) != launch->pid)
        return false;
    launch->seconds = launch_now() - launch->started;
    launch->ended = true;
    launch->signalled = WIFSIGNALED(status);
    launch->status = launch->signalled ? WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}

/* A signal, or 0 when the time has come. */
static int next_signal(const struct launch *launch, double until, siginfo_t *info)
{
    double left = fmin(fmax(0, until - launch_now()), 1e6);
    struct timespec time = {.tv_sec = (time_t)left};
    time.tv_nsec = (long)(1e9 * (left - (double)time.tv_sec));
    int got = sigtimedwait(&launch->signals, info, &time);
    return got > 0 ? got : 0;
}

enum launch_event launch_wait(struct launch *launch, double until)
{
    for (;;) {
        siginfo_t info;
        if (has_ended(launch))
            return LAUNCH_ENDED;
        int got = next_signal(launch, until, &info);
        if (got == 0 && launch_now() >= until)
            return LAUNCH_TIME;
        if (got == 0 || got == SIGCHLD)
            continue;
        if (!launch->pid)
            return LAUNCH_INTERRUPTED;
        if (info.si_code != SI_KERNEL) /* Ctrl-C comes from the kernel, to all */
            kill(launch->pid, got);
    }
}

void launch_stop(struct launch *launch)
{
    enum { GRACE_SECONDS = 10 };
    if (!launch->pid || launch->ended)
        return;
    kill(launch->pid, SIGTERM);
    if (launch_wait(launch, launch_now() + GRACE_SECONDS) == LAUNCH_ENDED)
        return;
    kill(launch->pid, SIGKILL);
    launch_wait(launch, INFINITY);
}
