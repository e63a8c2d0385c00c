/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that reads an array, 1024 lines of it, and then ends, or does something else
 * that is not easy to follow, as its argument says. For record-programs.sh. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define APART __attribute__((noinline))

enum { SIZE = 64 * 1024 };

__attribute__((aligned(4096))) char work[SIZE];

static APART long scan(const volatile char *from)
{
    long sum = 0;
    for (int i = 0; i < SIZE; i += 64)
        sum += from[i];
    return sum;
}

static APART char *make_block(void)
{
    char *block = calloc(SIZE, 1);
    if (!block)
        exit(99);
    return block;
}

static void say(const char *text)
{
    puts(text);
    fflush(stdout);
}

static int to_exit(void)
{
    return 7;
}

static int to_exit_at_once(void)
{
    _exit(8);
}

static int to_abort(void)
{
    abort();
}

static int to_kill(void)
{
    return kill(getpid(), SIGKILL);
}

static int to_terminate(void)
{
    return raise(SIGTERM);
}

static int to_fault(void)
{
    *(volatile int *)8 = 1;
    return 0;
}

static int to_execute(void)
{
    execlp("echo", "echo", "executed", (char *)NULL);
    return 1;
}

static int to_fail_to_execute(void)
{
    execl("/no/such/program", "program", (char *)NULL);
    say("not executed");
    return 6;
}

static void *quietly(void *nothing)
{
    say("the last thread");
    return nothing;
}

/* The first thread ends, another goes on. */
static int to_leave_a_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, quietly, NULL);
    pthread_exit(NULL);
}

static jmp_buf back;

static APART void jump(int depth)
{
    char room[256];
    memset(room, depth, sizeof room);
    if (depth == 0)
        longjmp(back, room[0] + 5);
    jump(depth - 1);
    __asm__ volatile("" ::: "memory");
}

static int to_jump(void)
{
    volatile int jumps = 0;
    int n = setjmp(back);
    if (++jumps < 100)
        jump(50);
    scan(make_block());
    return n;
}

static volatile sig_atomic_t caught;
static sigjmp_buf out;

static void on_signal(int signal)
{
    char local[4096];
    memset(local, signal, sizeof local);
    caught += local[100] == signal;
}

static void on_fault(int signal)
{
    (void)signal;
    siglongjmp(out, 1);
}

/* A handler on the stack, one on a stack of its own, and one that is left by a jump. */
static int to_handle(void)
{
    static char other[65536];
    const stack_t stack = {.ss_sp = other, .ss_size = sizeof other};
    sigaltstack(&stack, NULL);
    struct sigaction plain = {.sa_handler = on_signal};
    struct sigaction apart = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    struct sigaction fault = {.sa_handler = on_fault};
    sigaction(SIGUSR1, &plain, NULL);
    sigaction(SIGUSR2, &apart, NULL);
    sigaction(SIGSEGV, &fault, NULL);
    for (int i = 0; i < 10; i++) {
        raise(SIGUSR1);
        raise(SIGUSR2);
    }
    if (sigsetjmp(out, 1) == 0)
        *(volatile int *)8 = 1;
    scan(make_block());
    return caught;
}

/* As a daemon does it. */
static int to_close_all(void)
{
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    close_range(3, ~0u, 0);
    scan(make_block());
    return 4;
}

static APART long deeper(long depth)
{
    volatile char frame[1000];
    frame[0] = 1;
    return depth ? deeper(depth - 1) + frame[0] : 0;
}

static void *recurse(void *depth)
{
    return (void *)deeper((long)depth);
}

/* A stack of more than 100 megabytes, which a thread can have without a limit's leave. */
static int to_recurse(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    void *result = NULL;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 160 << 20);
    if (pthread_create(&thread, &attributes, recurse, (void *)100000))
        return 1;
    pthread_join(thread, &result);
    printf("%ld deep\n", (long)result);
    return 0;
}

/* Writes code, runs it, writes other code to the same place, and runs that. */
static int to_write_code(void)
{
#ifdef __x86_64__
    /* mov $n, %eax; mov (%rdi), %dl; ret */
    unsigned char code[] = {0xb8, 0, 0, 0, 0, 0x8a, 0x17, 0xc3};
    unsigned char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return 1;
    int sum = 0;
    for (int i = 1; i <= 20; i++) {
        code[1] = (unsigned char)i;
        memcpy(at, code, sizeof code);
        sum += ((int (*)(char *))at)(work);
    }
    return sum - 200; /* 10 */
#else
    return 10;
#endif
}

static const struct {
    const char *name;
    int (*act)(void);
} actions[] = {
    {"exit", to_exit},
    {"exit-at-once", to_exit_at_once},
    {"abort", to_abort},
    {"kill", to_kill},
    {"terminate", to_terminate},
    {"fault", to_fault},
    {"execute", to_execute},
    {"fail-to-execute", to_fail_to_execute},
    {"leave-a-thread", to_leave_a_thread},
    {"jump", to_jump},
    {"handle", to_handle},
    {"close-all", to_close_all},
    {"recurse", to_recurse},
    {"write-code", to_write_code},
};

int main(int n, char **arguments)
{
    say("begin");
    scan(work);
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (n == 2 && strcmp(arguments[1], actions[i].name) == 0)
            return actions[i].act();
    return 98;
}
