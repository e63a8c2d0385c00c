/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The branch predictor: patterns whose wrong guesses can be counted by hand, and random
 * branches compared with the two-bit counters written down plainly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/rng.h"
#include "sim/predictor.h"

#include <stdlib.h>
#include <string.h>

static void *take(void *context, size_t size)
{
    bool *fails = context;
    if (*fails)
        return NULL;
    void *block = malloc(size);
    assert_non_null(block);
    memset(block, 0xa5, size); /* the contract promises no zeros */
    return block;
}

static void give(void *context, void *block)
{
    (void)context;
    free(block);
}

static bool never = false, always = true;

static struct predictor *make(uint32_t entries, uint32_t history)
{
    const struct allocator allocator = {take, give, &never};
    const struct strata_branch branch = {
        .present = entries > 0, .entries = entries, .history = history};
    struct predictor *predictor = predictor_create(&branch, &allocator);
    assert_non_null(predictor);
    return predictor;
}

/* Wrong guesses of one branch that goes as the pattern says ('T': taken), `laps` times. */
static uint32_t wrong(struct predictor *predictor, const char *pattern, uint32_t laps)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < laps; i++)
        for (const char *at = pattern; *at; at++)
            n += !predictor_conditional(predictor, 0x401000, *at == 'T');
    return n;
}

static uint32_t wrong_of_new(uint32_t entries, uint32_t history, const char *pattern,
                             uint32_t laps)
{
    struct predictor *predictor = make(entries, history);
    uint32_t n = wrong(predictor, pattern, laps);
    predictor_release(predictor);
    return n;
}

/* A counter begins at 1: weakly not taken. */
static void two_bits_without_history(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        uint32_t laps, wrong;
    } cases[] = {
        {"N", 1000, 0},           {"T", 1000, 1}, /* 1 -> 2: right from the second on */
        {"TTTTTTTTTN", 100, 101}, /* a loop of ten: its end, and the first time */
        {"TN", 100, 200},         /* 1 -> 2 -> 1: always the other way */
        {"NT", 100, 100},         /* 1 -> 0 -> 1: never taken is half right */
        {"TTN", 100, 101},        {"NNT", 100, 100},
        {"NNTT", 100, 299}, /* 1 0 0 1 2, then 2 1 0 1 2: three of four, the first time two
                             */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(wrong_of_new(0, 0, cases[i].pattern, cases[i].laps),
                         cases[i].wrong);
}

static void history_learns_patterns(void **state)
{
    (void)state;
    /* Four bits of history tell each place of a pattern of four: wrong only while it is
     * learnt. The address is the same, so the counters are those of the histories. */
    assert_true(wrong_of_new(1024, 4, "TN", 1000) <= 6);
    assert_true(wrong_of_new(1024, 4, "TTNN", 1000) <= 10);
    assert_true(wrong_of_new(1024, 8, "TTTTTTTN", 1000) <= 20);
    /* Two bits do not tell which of NN's successors comes: TNNN. */
    assert_true(wrong_of_new(1024, 2, "TNNN", 1000) >= 1000);
    assert_true(wrong_of_new(1024, 4, "TNNN", 1000) <= 10);
}

static void branches_do_not_disturb_each_other(void **state)
{
    (void)state;
    struct predictor *predictor = make(0, 0);
    uint32_t n = 0;
    for (uint32_t lap = 0; lap < 50; lap++)
        for (uint64_t i = 0; i < 64; i++)
            n += !predictor_conditional(predictor, 0x400000 + i * 4, i % 2);
    /* 32 are taken: each is wrong once, where no two share one of 4096 counters. */
    assert_int_equal(n, 32);
    predictor_release(predictor);
}

/* Counters by plain arithmetic, for branches that share few of them. */
static void random_branches_as_by_plain_counters(void **state)
{
    (void)state;
    for (uint32_t history = 0; history <= 3; history += 3) {
        struct predictor *predictor = make(1, history); /* one counter for all */
        struct rng rng = {history + 1};
        int counter = 1;
        for (uint32_t i = 0; i < 20000; i++) {
            bool taken = rng_below(&rng, 100) < 60;
            bool right = (counter >= 2) == taken;
            counter += taken ? (counter < 3) : -(counter > 0);
            assert_int_equal(predictor_conditional(predictor, rng_next(&rng), taken),
                             right);
        }
        predictor_release(predictor);
    }
}

static void a_jump_goes_where_it_went_last(void **state)
{
    (void)state;
    struct predictor *predictor = make(0, 0);
    assert_false(predictor_indirect(predictor, 0x100, 0x5000));
    assert_true(predictor_indirect(predictor, 0x100, 0x5000));
    assert_false(predictor_indirect(predictor, 0x104, 0x5000));
    assert_false(predictor_indirect(predictor, 0x100, 0x6000));
    assert_true(predictor_indirect(predictor, 0x100, 0x6000));
    assert_true(predictor_indirect(predictor, 0x104, 0x5000));
    predictor_release(predictor);
}

static uint32_t wrong_returns(uint32_t depth, uint32_t laps)
{
    struct predictor *predictor = make(0, 0);
    uint32_t n = 0;
    for (uint32_t lap = 0; lap < laps; lap++) {
        for (uint64_t i = 0; i < depth; i++)
            predictor_call(predictor, 0x1000 + i);
        for (uint64_t i = depth; i-- > 0;)
            n += !predictor_return(predictor, 0x1000 + i);
    }
    predictor_release(predictor);
    return n;
}

static void returns_are_right_sixteen_deep(void **state)
{
    (void)state;
    assert_int_equal(wrong_returns(1, 100), 0);
    assert_int_equal(wrong_returns(16, 100), 0);
    assert_int_equal(wrong_returns(17, 100), 100);
    assert_int_equal(wrong_returns(40, 100), 2400);
    struct predictor *predictor = make(0, 0);
    assert_false(predictor_return(predictor, 0x1000)); /* without a call */
    predictor_call(predictor, 0x2000);
    assert_false(predictor_return(predictor, 0x3000)); /* longjmp: somewhere else */
    predictor_release(predictor);
}

static void without_memory_there_is_none(void **state)
{
    (void)state;
    const struct allocator allocator = {take, give, &always};
    const struct strata_branch branch = {0};
    assert_null(predictor_create(&branch, &allocator));
    predictor_release(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_bits_without_history),
        cmocka_unit_test(history_learns_patterns),
        cmocka_unit_test(branches_do_not_disturb_each_other),
        cmocka_unit_test(random_branches_as_by_plain_counters),
        cmocka_unit_test(a_jump_goes_where_it_went_last),
        cmocka_unit_test(returns_are_right_sixteen_deep),
        cmocka_unit_test(without_memory_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
