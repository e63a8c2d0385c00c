/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that ends in the way its argument says, after some work on its data. Its
 * parts, children and threads included, touch arrays of their own. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INTS = 100000, THREADS = 8 };

volatile int own[INTS], childs[INTS], threads[THREADS][INTS / THREADS];

static void touch(volatile int *ints, int n)
{
    for (int i = 0; i < n; i += 16)
        ints[i]++;
}

static void *run(void *ints)
{
    touch(ints, INTS / THREADS);
    return NULL;
}

static int with_threads(void)
{
    pthread_t ids[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&ids[i], NULL, run, (void *)threads[i]) != 0)
            return 1;
    int sum = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(ids[i], NULL);
        sum += threads[i][0];
    }
    printf("%d threads\n", sum);
    return 0;
}

/* A child that works and then kills itself. */
static int with_child(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        touch(childs, INTS);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, &status, 0);
    printf("child: signal %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    return 0;
}

/* Writes its number to a file once it is at work. */
static void say_running(void)
{
    FILE *file = fopen("running", "w");
    if (!file)
        exit(1);
    fprintf(file, "%ld\n", (long)getpid());
    fclose(file);
}

/* Goes on until somebody ends it. */
static void go_on(void)
{
    for (int i = 0;; i++) {
        touch(own, INTS);
        if (i == 100)
            say_running();
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    touch(own, INTS);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "crash") == 0)
        *(volatile int *)argv[argc] = 1;
    if (strcmp(how, "_exit") == 0)
        _exit(9);
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "fork") == 0)
        return with_child();
    if (strcmp(how, "threads") == 0)
        return with_threads();
    if (strcmp(how, "exec") == 0)
        execl("/bin/echo", "echo", "became", "another", (char *)NULL);
    if (strcmp(how, "wait") == 0)
        go_on();
    return 6;
}
