/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "orchestrator/retry.h"

static const int exits[] = {3, 9};

static const struct retry_rule rules[] = {
    {.causes = 1u << CAUSE_OOM | 1u << CAUSE_TIMEOUT, .max = 1, .backoff = 1},
    {.exits = exits, .exit_count = 2, .max = 2, .backoff = 1},
    {.causes = 1u << CAUSE_EXIT, .max = 2, .backoff = 1},
};

static struct attempt_exit ended(enum attempt_cause cause, int exit_code)
{
    return (struct attempt_exit){.cause = cause, .exit_code = exit_code};
}

static void test_retry__the_first_rule_that_matches_decides(void **state)
{
    static const struct {
        enum attempt_cause cause;
        int exit_code, rule;
    } cases[] = {
        {CAUSE_OOM, -1, 0},     {CAUSE_TIMEOUT, -1, 0},
        {CAUSE_EXIT, 9, 1},     {CAUSE_EXIT, 1, 2},
        {CAUSE_EXIT, 75, 2},    {CAUSE_OK, 0, -1},
        {CAUSE_SIGNAL, -1, -1}, {CAUSE_CANCELLED, -1, -1},
        {CAUSE_LOST, -1, 3},    {CAUSE_NODE_FAIL, -1, 3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct attempt_exit end = ended(cases[i].cause, cases[i].exit_code);

        assert_int_equal(retry_match(rules, 3, &end), cases[i].rule);
    }
}

static void test_retry__exit_75_asks_for_itself(void **state)
{
    struct attempt_exit again = ended(CAUSE_EXIT, 75);
    struct attempt_exit other = ended(CAUSE_EXIT, 74);

    (void)state;
    assert_int_equal(retry_match(NULL, 0, &again), 0);
    assert_int_equal(retry_match(NULL, 0, &other), -1);
}

static void test_retry__delays_grow_up_to_their_cap(void **state)
{
    static const int64_t expected_ms[] = {5000, 10000, 20000, 30000, 30000};
    struct retry_rule rule = {
        .delay_ms = 5000, .backoff = 2, .max_delay_ms = 30000};

    (void)state;
    for (int64_t nth = 1; nth <= 5; nth++)
        assert_int_equal(retry_delay_ms(&rule, nth, 0.25),
                         expected_ms[nth - 1]);
    rule.jitter = JITTER_FULL;
    assert_int_equal(retry_delay_ms(&rule, 3, 0.25), 5000);
    assert_int_equal(retry_delay_ms(&rule, 3, 0.0), 0);
}

static void test_retry__a_huge_number_of_retries_stays_finite(void **state)
{
    struct retry_rule rule = {.delay_ms = 1000, .backoff = 10};

    (void)state;
    assert_true(retry_delay_ms(&rule, 1000, 0.0) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retry__the_first_rule_that_matches_decides),
        cmocka_unit_test(test_retry__exit_75_asks_for_itself),
        cmocka_unit_test(test_retry__delays_grow_up_to_their_cap),
        cmocka_unit_test(test_retry__a_huge_number_of_retries_stays_finite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
