/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/rng.h"

/* Known answers published with Philox4x32-10 (Random123, kat_vectors). */
static const struct {
    uint32_t counter[4], key[2], answer[4];
} known[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{~0u, ~0u, ~0u, ~0u},
     {~0u, ~0u},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

static void test_rng__gives_the_known_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        struct rng rng = {.used = 4};

        memcpy(rng.counter, known[i].counter, sizeof(rng.counter));
        memcpy(rng.key, known[i].key, sizeof(rng.key));
        for (int word = 0; word < 4; word++)
            assert_int_equal(rng_u32(&rng), known[i].answer[word]);
    }
}

static void test_rng__seed_and_trial_fill_key_and_counter(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 0x0123456789abcdef, 0x1122334455667788, 77);
    assert_int_equal(rng.key[0], 0x89abcdef);
    assert_int_equal(rng.key[1], 0x01234567);
    assert_int_equal(rng.counter[1], 77);
    assert_int_equal(rng.counter[2], 0x55667788);
    assert_int_equal(rng.counter[3], 0x11223344);
    rng_init(&rng, 0, 0, 0);
    assert_int_equal(rng_u64(&rng), 0xe169c58d6627e8d5);
}

static void test_rng__skips_as_if_it_had_drawn(void **state)
{
    (void)state;
    for (uint64_t before = 0; before < 6; before++) {
        for (uint64_t words = 0; words < 11; words++) {
            struct rng drawn, skipped;

            rng_init(&drawn, 1, 2, 3);
            for (uint64_t i = 0; i < before; i++)
                rng_u32(&drawn);
            skipped = drawn;
            for (uint64_t i = 0; i < words; i++)
                rng_u32(&drawn);
            rng_skip(&skipped, words);
            assert_int_equal(rng_u32(&skipped), rng_u32(&drawn));
            assert_int_equal(rng_u64(&skipped), rng_u64(&drawn));
        }
    }
}

static void test_rng__a_copy_goes_on_alike(void **state)
{
    struct rng rng, copy;

    (void)state;
    rng_init(&rng, 1, 2, 3);
    for (int i = 0; i < 7; i++)
        rng_u32(&rng);
    copy = rng;
    for (int i = 0; i < 100; i++)
        assert_int_equal(rng_u64(&rng), rng_u64(&copy));
}

static void test_rng__keys_give_different_streams(void **state)
{
    static const uint64_t keys[][3] = {
        {1, 1, 0}, {2, 1, 0}, {1, 2, 0}, {1, 1, 1}, {1ull << 32, 1, 0},
    };
    uint64_t first[ARRAY_LEN(keys)];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct rng rng;

        rng_init(&rng, keys[i][0], keys[i][1], (uint32_t)keys[i][2]);
        first[i] = rng_u64(&rng);
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(first[i], first[j]);
    }
}

static void test_rng__uniform_fills_the_unit_interval_evenly(void **state)
{
    enum { BINS = 64, DRAWS = 64 * 2000 };
    int count[BINS] = {0};
    double chi2 = 0;
    struct rng rng;

    (void)state;
    rng_init(&rng, 42, 0, 0);
    for (int i = 0; i < DRAWS; i++) {
        double u = rng_uniform(&rng);

        assert_true(u >= 0.0 && u < 1.0);
        count[(int)(u * BINS)]++;
    }
    for (int i = 0; i < BINS; i++) {
        double d = count[i] - (double)DRAWS / BINS;

        chi2 += d * d / ((double)DRAWS / BINS);
    }
    /* 63 degrees of freedom: the 0.1 % and 99.9 % points */
    assert_true(chi2 > 34.6 && chi2 < 103.4);
}

static void test_rng__below_is_even_and_in_range(void **state)
{
    static const uint64_t bounds[] = {1, 2, 3, 7, 1000};
    struct rng rng;

    (void)state;
    rng_init(&rng, 7, 0, 0);
    for (size_t b = 0; b < ARRAY_LEN(bounds); b++) {
        uint64_t sum = 0;

        for (int i = 0; i < 10000; i++) {
            uint64_t value = rng_below(&rng, bounds[b]);

            assert_true(value < bounds[b]);
            sum += value;
        }
        /* the mean of 10,000 within 5 standard errors */
        assert_true((double)sum / 10000 - (double)(bounds[b] - 1) / 2 <=
                    0.05 * (double)bounds[b] * 0.29);
        assert_true((double)(bounds[b] - 1) / 2 - (double)sum / 10000 <=
                    0.05 * (double)bounds[b] * 0.29);
    }
}

/* With this bound a quarter of all words must be drawn again: taking them
 * modulo the bound would give the lowest third half of all draws. */
static void test_rng__below_draws_again_what_would_be_unfair(void **state)
{
    const uint64_t bound = 3ull << 62;
    struct rng rng;
    int low = 0;

    (void)state;
    rng_init(&rng, 9, 0, 0);
    for (int i = 0; i < 9000; i++)
        low += rng_below(&rng, bound) < bound / 3;
    assert_in_range(low, 2700, 3300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rng__gives_the_known_answers),
        cmocka_unit_test(test_rng__seed_and_trial_fill_key_and_counter),
        cmocka_unit_test(test_rng__skips_as_if_it_had_drawn),
        cmocka_unit_test(test_rng__a_copy_goes_on_alike),
        cmocka_unit_test(test_rng__keys_give_different_streams),
        cmocka_unit_test(test_rng__uniform_fills_the_unit_interval_evenly),
        cmocka_unit_test(test_rng__below_is_even_and_in_range),
        cmocka_unit_test(test_rng__below_draws_again_what_would_be_unfair),
    };

    return cmocka_run_group_tests_name("rng", tests, NULL, NULL);
}
