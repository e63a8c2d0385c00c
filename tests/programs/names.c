/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Objects of every kind, for record-names.sh, which knows what each is called and how large
 * it is. Every object is read in touch(), on empty caches. */
#define _GNU_SOURCE
#include <strata/strata.h>

#include <dlfcn.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define APART __attribute__((noinline))
/* What follows a call keeps the compiler from making it a jump, and so the caller on the
 * stack. */
#define STAY __asm__ volatile("" ::: "memory")

enum { KB = 1024 };

int counters[1000];
static char hidden[3000];
const char constant[2000] = "constant";

APART long touch(const void *block, size_t size)
{
    const volatile char *bytes = block;
    long sum = 0;
    for (size_t i = 0; i < size; i += 64)
        sum += bytes[i];
    return sum;
}

static APART void *checked(void *block)
{
    if (!block)
        exit(1);
    STAY;
    return block;
}

/* Reads an object, and only that is collected. */
static APART void visit(const void *block, size_t size)
{
    vpmu_flush();
    strata_start();
    touch(block, size);
    strata_stop();
}

static APART char *with_static(void)
{
    static char table[5000];
    return table;
}

static APART void variables(void)
{
    visit(counters, sizeof counters);
    visit(hidden, sizeof hidden);
    visit(constant, sizeof constant);
    visit(with_static(), 5000);
}

/* Two callers of one function: the callers tell them apart. */
static APART void *make(size_t size)
{
    void *block = malloc(size);
    STAY;
    return checked(block);
}

static APART void *first_caller(void)
{
    void *block = make(1000);
    STAY;
    return block;
}

static APART void *second_caller(void)
{
    void *block = make(2000);
    STAY;
    return block;
}

/* A wrapper: blocks are its callers'. */
APART void *xmalloc(size_t size)
{
    void *block = malloc(size);
    STAY;
    return checked(block);
}

static APART void *one_user(size_t size)
{
    void *block = xmalloc(size);
    STAY;
    return block;
}

static APART void *other_user(size_t size)
{
    void *block = xmalloc(size);
    STAY;
    return block;
}

static APART void callers(void)
{
    void *blocks[6] = {first_caller(), second_caller(), second_caller(),
                       one_user(300),  one_user(500),   other_user(700)};
    static const size_t sizes[] = {1000, 2000, 2000, 300, 500, 700};
    for (int i = 0; i < 6; i++)
        visit(blocks[i], sizes[i]);
    for (int i = 0; i < 6; i++)
        free(blocks[i]);
}

static APART void *by_calloc(void)
{
    return checked(calloc(30, 40));
}

static APART void *by_posix_memalign(void)
{
    void *block = NULL;
    if (posix_memalign(&block, 256, 1500))
        exit(1);
    return checked(block);
}

static APART void *by_aligned_alloc(void)
{
    return checked(aligned_alloc(64, 1600));
}

static APART void *by_memalign(void)
{
    return checked(memalign(512, 1700));
}

static APART void *by_reallocarray(void)
{
    return checked(reallocarray(NULL, 9, 200));
}

static APART void *by_realloc(void)
{
    char *block = checked(malloc(100));
    block = checked(realloc(block, 10000));
    return checked(realloc(block, 300 * KB));
}

static APART void *by_mmap(void)
{
    return checked(
        mmap(NULL, 8 * 4 * KB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static APART void *by_mremap(void)
{
    void *block = checked(
        mmap(NULL, 4 * KB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    return checked(mremap(block, 4 * KB, 48 * KB, MREMAP_MAYMOVE));
}

/* A map that no function of the C library made is nobody's. */
static APART void *by_system_call(void)
{
    long block = syscall(SYS_mmap, NULL, 4 * 4 * KB, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return checked((void *)block);
}

static APART void functions(void)
{
    static const struct {
        void *(*make)(void);
        size_t size;
    } all[] = {
        {by_calloc, 1200},   {by_posix_memalign, 1500}, {by_aligned_alloc, 1600},
        {by_memalign, 1700}, {by_reallocarray, 1800},   {by_realloc, 300 * KB},
        {by_mmap, 32 * KB},  {by_system_call, 16 * KB}, {by_mremap, 48 * KB},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        visit(all[i].make(), all[i].size);
}

static APART void names(void)
{
    char *pool = checked(strata_malloc_named(4 * KB, "node pool"));
    visit(pool, 4 * KB);
    strata_name(hidden, 640, "head of hidden");
    visit(hidden, sizeof hidden); /* the rest keeps its own name */
    strata_forget(hidden);
    visit(hidden, 640);
    free(pool);
    char *again = checked(malloc(4 * KB)); /* most likely in the same place */
    visit(again, 4 * KB);
    strata_name(again + 64, 64, "one line");
    visit(again, 4 * KB);
    free(again);
    again = checked(malloc(4 * KB));
    visit(again, 4 * KB);
    free(again);
}

static APART void deep(void)
{
    char local[6 * KB];
    memset(local, 1, sizeof local);
    visit(local, sizeof local);
}

/* The allocator's own records are read while it works. */
static APART void allocator(void)
{
    enum { N = 200 };
    void *blocks[N];
    for (int i = 0; i < N; i++)
        blocks[i] = checked(malloc(1000));
    vpmu_flush();
    strata_start();
    for (int i = 0; i < N; i++)
        free(blocks[i]);
    strata_stop();
}

static APART void library(const char *path)
{
    void *handle = checked(dlopen(path, RTLD_NOW));
    void *(*buffer)(void) = (void *(*)(void))dlsym(handle, "library_buffer");
    void *(*block)(void) = (void *(*)(void))dlsym(handle, "library_block");
    visit(buffer(), 7000);
    visit(block(), 8000);
    dlclose(handle);
}

int main(int n, char **arguments)
{
    variables();
    callers();
    functions();
    names();
    deep();
    allocator();
    for (int i = 1; i < n; i++)
        library(arguments[i]);
    puts("done");
    return 0;
}
