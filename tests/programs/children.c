/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that starts others in every way: fork, vfork, posix_spawn, system, popen. It
 * and three forked children read one array each, 1024 lines of it, on empty caches. For
 * record-programs.sh. */
#define _GNU_SOURCE
#include <strata/strata.h>

#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))

enum { SIZE = 64 * 1024, CHILDREN = 3 };

__attribute__((aligned(4096))) char work[SIZE];
extern char **environ;

static APART long scan(const volatile char *from)
{
    long sum = 0;
    vpmu_flush();
    for (int i = 0; i < SIZE; i += 64)
        sum += from[i];
    return sum;
}

static APART char *make_block(void)
{
    char *block = malloc(SIZE);
    if (!block)
        exit(1);
    return block;
}

static int result(pid_t pid)
{
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static APART void fork_some(void)
{
    char *before = make_block();
    scan(before);
    scan(work);
    for (int i = 0; i < CHILDREN; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            scan(work);
            scan(make_block());
            _exit(10 + i);
        }
        printf("fork: %d\n", result(pid));
    }
    free(before);
}

static void start_programs(void)
{
    char *const arguments[] = {"sh", "-c", "echo spawned; exit 5", NULL};
    pid_t pid;
    char line[80] = "";
    if (posix_spawnp(&pid, "sh", NULL, NULL, arguments, environ) == 0)
        printf("posix_spawn: %d\n", result(pid));
    fflush(stdout);
    pid = vfork();
    if (pid == 0) {
        execlp("echo", "echo", "vforked", (char *)NULL);
        _exit(127);
    }
    printf("vfork: %d\n", result(pid));
    fflush(stdout);
    printf("system: %d\n", WEXITSTATUS(system("echo in a shell; exit 6")));
    FILE *pipe = popen("echo through a pipe", "r");
    if (!pipe || !fgets(line, sizeof line, pipe))
        exit(1);
    printf("popen: %s%d\n", line, pclose(pipe));
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    fork_some();
    start_programs();
    pid_t pid = fork();
    if (pid == 0)
        return *(volatile int *)8; /* a child that dies */
    printf("fault: %d\n", result(pid));
    return 3;
}
