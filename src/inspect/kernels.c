/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernels; kernels.h has the contract, metrics/branches.matrix what they execute.
 *
 * Each is a loop around few statements. LIKELY puts the body of an `if` in line, so that
 * the branch jumps over it where the condition is false; a body elsewhere would turn what
 * is taken into what is not. */
#include "inspect/kernels.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define LIKELY(condition) __builtin_expect(!!(condition), 1)

/* A loop that is unrolled, or whose end is split by the ways that lead to it, has other
 * branches; one that is inlined is not found by its name. */
#if defined(__clang__)
#define KERNEL __attribute__((noinline, aligned(64)))
#define LOOP   _Pragma("clang loop unroll(disable) vectorize(disable)")
#else
#define KERNEL                                                                             \
    __attribute__((noinline, noclone, aligned(64),                                         \
                   optimize("no-unroll-loops", "no-split-paths")))
#define LOOP
#endif

/* Jumps that stay what they are, over an instruction that does nothing. A `goto` each
 * compiler turns round, merges or moves in its own way at each level of optimisation.
 * JUMP_BY goes through a register to one of two places: by 0 to the instruction, by 1 over
 * it. LONE_RETURN is a return that no call belongs to; it moves the stack out of the way of
 * what the compiler may keep below its pointer. */
#if defined(__x86_64__)
#define JUMP __asm__ volatile("jmp 1f; nop; 1:" : : : "memory")
#define JUMP_BY(n)                                                                         \
    __asm__ volatile("leaq 1f(%%rip), %%rax; addq %0, %%rax; jmp *%%rax; 1: nop"           \
                     :                                                                     \
                     : "c"((uint64_t)(n))                                                  \
                     : "rax", "memory", "cc")
#define LONE_RETURN                                                                        \
    __asm__ volatile("leaq -128(%%rsp), %%rsp; leaq 1f(%%rip), %%rax; pushq %%rax; ret;"   \
                     "1: leaq 128(%%rsp), %%rsp"                                           \
                     :                                                                     \
                     :                                                                     \
                     : "rax", "memory")
#elif defined(__aarch64__)
#define JUMP __asm__ volatile("b 1f; nop; 1:" : : : "memory")
#define JUMP_BY(n)                                                                         \
    __asm__ volatile("adr x9, 1f; add x9, x9, %0, lsl #2; br x9; 1: nop"                   \
                     :                                                                     \
                     : "r"((uint64_t)(n))                                                  \
                     : "x9", "memory")
#define LONE_RETURN __asm__ volatile("adr x30, 1f; ret; 1:" : : : "x30", "memory")
#endif

/* A random number without a branch, and so much work that what follows it is far away for a
 * processor that runs ahead: some sixty instructions. */
#define STEP(s) ((s)->random = (s)->random * 0x5851f42d4c957f2d + 0x14057b7ef767814f)
#define RANDOM_NUMBER(s)                                                                   \
    (STEP(s), STEP(s), STEP(s), STEP(s), STEP(s), STEP(s), STEP(s), STEP(s), STEP(s),      \
     STEP(s), STEP(s), STEP(s), STEP(s), STEP(s), (s)->result = (s)->random >> 33)

static inline __attribute__((always_inline)) void begin(struct kernel_state *s,
                                                        uint64_t turns)
{
    s->turn = 0;
    s->turns = turns;
    s->half = turns / 2;
    s->first = s->second = 0;
}

KERNEL void kernel_a(struct kernel_state *s, uint64_t turns);
KERNEL void kernel_a(struct kernel_state *s, uint64_t turns)
{
    begin(s, turns);
    LOOP do
    {
        if (LIKELY(s->turn < s->half))
            s->second += 2;
        RANDOM_NUMBER(s);
        s->turn++;
    }
    while (s->turn < s->turns)
        ;
}

/* The condition always holds. */
KERNEL void kernel_b(struct kernel_state *s, uint64_t turns);
KERNEL void kernel_b(struct kernel_state *s, uint64_t turns)
{
    begin(s, turns);
    LOOP do
    {
        s->second += 2;
        if (LIKELY(s->turn < s->second))
            s->first += 2;
        RANDOM_NUMBER(s);
        s->turn++;
    }
    while (s->turn < s->turns)
        ;
}

/* It never does. */
KERNEL void kernel_c(struct kernel_state *s, uint64_t turns);
KERNEL void kernel_c(struct kernel_state *s, uint64_t turns)
{
    begin(s, turns);
    LOOP do
    {
        s->second += 2;
        if (LIKELY(s->turn > s->second))
            s->first += 2;
        RANDOM_NUMBER(s);
        s->turn++;
    }
    while (s->turn < s->turns)
        ;
}

/* It cannot be guessed, and the branch of the loop is far behind it. */
KERNEL void kernel_d(struct kernel_state *s, uint64_t turns);
KERNEL void kernel_d(struct kernel_state *s, uint64_t turns)
{
    begin(s, turns);
    LOOP do
    {
        RANDOM_NUMBER(s);
        s->second += 2;
        if (LIKELY(s->result % 2 == 0))
            s->first += 2;
        RANDOM_NUMBER(s);
        s->turn++;
    }
    while (s->turn < s->turns)
        ;
}

/* The same with the branch of the loop close behind it: a wrong guess executes it too. */
KERNEL void kernel_e(struct kernel_state *s, uint64_t turns);
KERNEL void kernel_e(struct kernel_state *s, uint64_t turns)
{
    begin(s, turns);
    LOOP do
    {
        RANDOM_NUMBER(s);
        s->second += 2;
        if (LIKELY(s->result % 2 == 0))
            s->first += 2;
        s->turn++;
    }
    while (s->turn < s->turns)
        ;
}

/* A jump, in every turn. */
KERNEL void kernel_f(struct kernel_state *s, uint64_t turns);
KERNEL void kernel_f(struct kernel_state *s, uint64_t turns)
{
    begin(s, turns);
    LOOP do
    {
        s->second += 2;
        if (LIKELY(s->turn < s->second)) {
            s->first += 2;
            JUMP;
        }
        RANDOM_NUMBER(s);
        s->turn++;
    }
    while (s->turn < s->turns)
        ;
}

/* The loop alone. */
KERNEL void kernel_g(struct kernel_state *s, uint64_t turns);
KERNEL void kernel_g(struct kernel_state *s, uint64_t turns)
{
    begin(s, turns);
    LOOP do
    {
        s->second += 2;
        s->turn++;
    }
    while (s->turn < s->turns)
        ;
}

/* A jump through a register, always to the same place. */
KERNEL void kernel_h(struct kernel_state *s, uint64_t turns);
KERNEL void kernel_h(struct kernel_state *s, uint64_t turns)
{
    begin(s, turns);
    LOOP do
    {
        RANDOM_NUMBER(s);
        JUMP_BY(s->turn > s->turns);
        s->turn++;
    }
    while (s->turn < s->turns)
        ;
}

/* To one of two places, by chance. */
KERNEL void kernel_i(struct kernel_state *s, uint64_t turns);
KERNEL void kernel_i(struct kernel_state *s, uint64_t turns)
{
    begin(s, turns);
    LOOP do
    {
        RANDOM_NUMBER(s);
        JUMP_BY(s->result % 2);
        s->turn++;
    }
    while (s->turn < s->turns)
        ;
}

KERNEL void kernel_leaf(struct kernel_state *s);
KERNEL void kernel_leaf(struct kernel_state *s)
{
    s->first += 2;
}

/* A call and its return. */
KERNEL void kernel_j(struct kernel_state *s, uint64_t turns);
KERNEL void kernel_j(struct kernel_state *s, uint64_t turns)
{
    begin(s, turns);
    LOOP do
    {
        RANDOM_NUMBER(s);
        kernel_leaf(s);
        s->turn++;
    }
    while (s->turn < s->turns)
        ;
}

/* A call through a register and its return. */
KERNEL void kernel_k(struct kernel_state *s, uint64_t turns);
KERNEL void kernel_k(struct kernel_state *s, uint64_t turns)
{
    begin(s, turns);
    LOOP do
    {
        RANDOM_NUMBER(s);
        s->leaf(s);
        s->turn++;
    }
    while (s->turn < s->turns)
        ;
}

/* A branch that cannot be guessed, and close behind it a jump in every other turn. */
KERNEL void kernel_l(struct kernel_state *s, uint64_t turns);
KERNEL void kernel_l(struct kernel_state *s, uint64_t turns)
{
    begin(s, turns);
    LOOP do
    {
        RANDOM_NUMBER(s);
        if (LIKELY(s->result % 2 == 0)) {
            JUMP;
            s->first += 2;
        }
        s->turn++;
    }
    while (s->turn < s->turns)
        ;
}

/* A return that no call belongs to, which C does not have. */
KERNEL void kernel_m(struct kernel_state *s, uint64_t turns);
KERNEL void kernel_m(struct kernel_state *s, uint64_t turns)
{
    begin(s, turns);
    LOOP do
    {
        LONE_RETURN;
        RANDOM_NUMBER(s);
        s->turn++;
    }
    while (s->turn < s->turns)
        ;
}

/* The code of Figure 1: every other turn, which is easy to guess. */
KERNEL void kernel_simple(struct kernel_state *s, uint64_t turns);
KERNEL void kernel_simple(struct kernel_state *s, uint64_t turns)
{
    begin(s, turns);
    LOOP do
    {
        s->turn++;
        if (LIKELY(s->turn % 2 == 0))
            s->first += 2;
    }
    while (s->turn < s->turns)
        ;
}

/* The code of Figure 9: one in K by chance. */
KERNEL void kernel_one_in(struct kernel_state *s, uint64_t turns);
KERNEL void kernel_one_in(struct kernel_state *s, uint64_t turns)
{
    begin(s, turns);
    LOOP do
    {
        RANDOM_NUMBER(s);
        if (LIKELY(s->result % s->divisor == 0))
            s->first += 2;
        s->turn++;
    }
    while (s->turn < s->turns)
        ;
}

const struct kernel kernels[] = {
    {"a", kernel_a}, {"b", kernel_b},           {"c", kernel_c},           {"d", kernel_d},
    {"e", kernel_e}, {"f", kernel_f},           {"g", kernel_g},           {"h", kernel_h},
    {"i", kernel_i}, {"j", kernel_j},           {"k", kernel_k},           {"l", kernel_l},
    {"m", kernel_m}, {"simple", kernel_simple}, {"one_in", kernel_one_in}, {0},
};

const struct kernel *kernel_find(const char *name)
{
    const struct kernel *kernel = kernels;
    while (kernel->name && strcmp(kernel->name, name) != 0)
        kernel++;
    return kernel->name ? kernel : NULL;
}

void kernel_prepare(struct kernel_state *state)
{
    memset(state, 0, sizeof *state);
    state->random = 1;
    state->divisor = 2;
    state->leaf = kernel_leaf;
}

/* Walks, and loops of known instructions. They are machine code, so that they access
 * nothing but what they walk through, however strata was compiled. The address of a link
 * comes from the link before, so that no two are read at once. */

#if defined(__x86_64__)
#define CHASE         "1: movq (%0), %0; subq $1, %1; jnz 1b"
#define LOOP_OF(what) "1: .rept 62; " what "; .endr; subq $1, %0; jnz 1b"
#define IDLE          LOOP_OF("nop")
#define STORE         LOOP_OF("movq %1, (%2)")
#define LOAD          LOOP_OF("movq (%2, %1), %1")
#define GUESS                                                                              \
    "1: imulq %2, %1; addq %3, %1; testq %1, %1; jns 2f; nop; 2: subq $1, %0; jnz 1b"
/* %0 place, %1 block, %2 scratch, %3 visits, %4 unit, %5 last place, %6 bytes of a block,
 * %7 end, %8 first block */
#define WRITING                                                                            \
    "1: movq %4, %2; imulq %0, %2; movq %3, (%1, %2);"                                     \
    "imulq $0x2c9277b5, %0, %0; addq $0x2c564b05, %0; andq %5, %0;"                        \
    "leaq (%1, %6), %2; testq %0, %0; cmoveq %2, %1; cmpq %7, %1; cmoveq %8, %1;"          \
    "subq $1, %3; jnz 1b"
#define ASCENDING                                                                          \
    "1: addq (%0), %1; addq %3, %0; cmpq %4, %0; cmovaeq %5, %0; subq $1, %2; jnz 1b"
#define STREWN                                                                             \
    "1: movq %1, (%0); movq %1, 4160(%0); movq %1, 8320(%0); movq %1, 12480(%0);"          \
    "movq %1, 16640(%0); movq %1, 20800(%0); movq %1, 24960(%0); movq %1, 29120(%0);"      \
    "addq %3, %0; cmpq %5, %0; cmovaeq %4, %0; subq $1, %2; jnz 1b"
#define BOTH_WAYS                                                                          \
    "3: movq %3, %0; movq %5, %1; 1: movq (%0), %0; subq $1, %1; jnz 1b;"                  \
    "movq %4, %0; movq %5, %1; 2: movq 8(%0), %0; subq $1, %1; jnz 2b;"                    \
    "subq $1, %2; jnz 3b"
#elif defined(__aarch64__)
#define CHASE         "1: ldr %0, [%0]; subs %1, %1, #1; b.ne 1b"
#define LOOP_OF(what) "1: .rept 62; " what "; .endr; subs %0, %0, #1; b.ne 1b"
#define IDLE          LOOP_OF("nop")
#define STORE         LOOP_OF("str %1, [%2]")
#define LOAD          LOOP_OF("ldr %1, [%2, %1]")
#define GUESS                                                                              \
    "1: mul %1, %1, %2; add %1, %1, %3; cmp %1, #0; b.pl 2f; nop; 2: subs %0, %0, #1;"     \
    "b.ne 1b"
#define WRITING                                                                            \
    "1: mul %2, %0, %4; str %3, [%1, %2];"                                                 \
    "mul %0, %0, %9; add %0, %0, %10; and %0, %0, %5;"                                     \
    "add %2, %1, %6; cmp %0, #0; csel %1, %2, %1, eq; cmp %1, %7; csel %1, %8, %1, eq;"    \
    "subs %3, %3, #1; b.ne 1b"
#define ASCENDING                                                                          \
    "1: ldr x9, [%0]; add %1, %1, x9; add %0, %0, %3; cmp %0, %4; csel %0, %5, %0, hs;"    \
    "subs %2, %2, #1; b.ne 1b"
#define STREWN                                                                             \
    "1: str %1, [%0]; str %1, [%0, #4160]; str %1, [%0, #8320]; str %1, [%0, #12480];"     \
    "str %1, [%0, #16640]; str %1, [%0, #20800]; str %1, [%0, #24960];"                    \
    "str %1, [%0, #29120]; add %0, %0, %3; cmp %0, %5; csel %0, %4, %0, hs;"               \
    "subs %2, %2, #1; b.ne 1b"
#define BOTH_WAYS                                                                          \
    "3: mov %0, %3; mov %1, %5; 1: ldr %0, [%0]; subs %1, %1, #1; b.ne 1b;"                \
    "mov %0, %4; mov %1, %5; 2: ldr %0, [%0, #8]; subs %1, %1, #1; b.ne 2b;"               \
    "subs %2, %2, #1; b.ne 3b"
#endif

struct link *walk_on(struct link *at, uint64_t n)
{
    if (n)
        __asm__ volatile(CHASE : "+r"(at), "+r"(n) : : "memory", "cc");
    return at;
}

struct link *walk_bare(struct link *at, uint64_t n)
{
    return walk_on(at, n / 3);
}

void walk_both_ways(struct link *first, struct link *last, uint64_t n, uint64_t laps)
{
    struct link *at;
    uint64_t left;
    if (n && laps)
        __asm__ volatile(BOTH_WAYS
                         : "=&r"(at), "=&r"(left), "+&r"(laps)
                         : "r"(first), "r"(last), "r"(n)
                         : "memory", "cc");
}

void idle_bare(uint64_t n)
{
    uint64_t turns = n / 64;
    if (turns)
        __asm__ volatile(IDLE : "+r"(turns) : : "cc");
}

void store_bare(uint64_t n, volatile uint64_t *word)
{
    uint64_t turns = n / 64, value = 0;
    if (turns)
        __asm__ volatile(STORE : "+r"(turns), "+r"(value) : "r"(word) : "cc", "memory");
}

void load_bare(uint64_t n, volatile uint64_t *word)
{
    uint64_t turns = n / 64, value = 0;
    if (turns)
        __asm__ volatile(LOAD : "+r"(turns), "+r"(value) : "r"(word) : "cc", "memory");
}

char *strew_bare(uint64_t n, char *at, char *first, char *end)
{
    uint64_t turns = n / 13, step = STREW;
    if (turns)
        __asm__ volatile(STREWN
                         : "+r"(at), "+r"(n), "+r"(turns)
                         : "r"(step), "r"(first), "r"(end)
                         : "memory", "cc");
    return at;
}

uint64_t guess_bare(uint64_t n, uint64_t chance)
{
    uint64_t turns = n / 13 * 2;
    if (turns)
        __asm__ volatile(GUESS
                         : "+r"(turns), "+r"(chance)
                         : "r"(0x5851f42d4c957f2d), "r"(0x14057b7ef767814f)
                         : "cc");
    return chance;
}

const char *walk_ascending(const char *at, const char *first, const char *end,
                           uint64_t unit, uint64_t n)
{
    uint64_t sum = 0; /* what nobody uses is not read by a simulator */
#if defined(__aarch64__)
#define ASCENDING_USES "x9", "memory", "cc"
#else
#define ASCENDING_USES "memory", "cc"
#endif
    if (n)
        __asm__ volatile(ASCENDING
                         : "+r"(at), "+r"(sum), "+r"(n)
                         : "r"(unit), "r"(end), "r"(first)
                         : ASCENDING_USES);
    return at;
}

/* Places in a block follow each other as the random numbers of a generator that comes to
 * each of a power of two (its factor is 1 modulo 4, what it adds is odd) and then again to
 * the first: no table of them has to be read. */
void walk_writing(struct writing *writing, uint64_t n)
{
    struct writing *w = writing;
    uint64_t scratch, most = w->block - 1, bytes = w->block * w->unit;
    char *end = w->buffer + w->units * w->unit;
    if (n)
        __asm__ volatile(WRITING
                         : "+&r"(w->place), "+&r"(w->at), "=&r"(scratch), "+&r"(n)
                         : "r"(w->unit), "r"(most), "r"(bytes), "r"(end), "r"(w->buffer)
#if defined(__aarch64__)
                                                                              ,
                           "r"(0x2c9277b5ul), "r"(0x2c564b05ul)
#endif
                         : "memory", "cc");
}
