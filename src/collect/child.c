/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Running a program; child.h has the contract. */
#include "collect/child.h"

#include "core/fail.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { GRACE_SECONDS = 10 }; /* between SIGTERM and SIGKILL */

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR2};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void block_signals(sigset_t *set, sigset_t *before)
{
    sigemptyset(set);
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
        sigaddset(set, passed_on[i]);
    sigaddset(set, SIGUSR1);
    sigaddset(set, SIGCHLD);
    sigprocmask(SIG_BLOCK, set, before);
    signal(SIGCHLD, SIG_DFL); /* if it were ignored, nobody could be waited for */
}

/* Starts it with the signal mask that strata was given. Returns an errno. */
static int spawn(const struct child_options *options, const sigset_t *mask, pid_t *pid)
{
    posix_spawnattr_t attributes;
    int cause = posix_spawnattr_init(&attributes);
    if (cause)
        return cause;
    posix_spawnattr_setsigmask(&attributes, mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    cause = posix_spawn(pid, options->file, NULL, &attributes, options->argv,
                        options->environment);
    posix_spawnattr_destroy(&attributes);
    return cause;
}

/* Waits for a signal until a time; 0: the time has come. */
static int next_signal(const sigset_t *set, double until, siginfo_t *info)
{
    double left = fmax(0, until - now());
    struct timespec time = {.tv_sec = (time_t)left};
    time.tv_nsec = (long)(1e9 * (left - (double)time.tv_sec));
    for (;;) {
        int got = isinf(until) ? sigwaitinfo(set, info) : sigtimedwait(set, info, &time);
        if (got > 0)
            return got;
        if (errno != EINTR)
            return 0;
    }
}

/* Ctrl-C and its like come from the kernel, to the whole foreground group. */
static void handle_signal(const struct child_options *options, pid_t pid,
                          const siginfo_t *info)
{
    if (info->si_signo == SIGUSR1 && options->toggle)
        options->toggle(options->context);
    else if (info->si_signo != SIGCHLD && info->si_code != SI_KERNEL)
        kill(pid, info->si_signo);
}

/* Whether a tick is due rather than the end; the next one is an interval later, or as soon
 * as this one is done. */
static bool take_tick(const struct child_options *options, double until, double *tick)
{
    if (now() < *tick || *tick >= until)
        return false;
    options->tick(options->context);
    *tick = fmax(*tick + options->interval, now());
    return true;
}

static int wait_for(const struct child_options *options, const sigset_t *set,
                    struct child_end *end)
{
    double until = options->duration > 0 ? now() + options->duration : INFINITY;
    double tick = options->interval > 0 ? now() + options->interval : INFINITY;
    siginfo_t info;
    int status;
    pid_t ended;
    while ((ended = waitpid(end->pid, &status, WNOHANG)) == 0) {
        int got = next_signal(set, fmin(until, tick), &info);
        if (got) {
            handle_signal(options, end->pid, &info);
            continue;
        }
        if (take_tick(options, until, &tick))
            continue;
        kill(end->pid, end->stopped ? SIGKILL : SIGTERM);
        until = end->stopped ? INFINITY : now() + GRACE_SECONDS;
        end->stopped = true;
    }
    if (ended < 0)
        return errno;
    end->end = WIFSIGNALED(status) ? RAW_SIGNALLED : RAW_EXITED;
    end->status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return 0;
}

int child_run(const struct child_options *options, struct child_end *end,
              struct strata_error *error)
{
    sigset_t set, before;
    double start = now();
    *end = (struct child_end){.start = (int64_t)time(NULL)};
    block_signals(&set, &before);
    int cause = spawn(options, &before, &end->pid);
    if (!cause)
        cause = wait_for(options, &set, end);
    end->seconds = now() - start;
    /* The mask stays: a second Ctrl-C must not cost the profile that is written now. */
    if (cause)
        return fail(error, STRATA_FAILED, "%s: %s", options->file, strerror(cause));
    return STRATA_OK;
}
