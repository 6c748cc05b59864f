/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which copies of a step start, and when they are enough. */
#include "tests/unit/workflows/flow_test.h"

static void test_flow_copies__runs_no_more_copies_than_parallel(void **state)
{
    const struct flow_step steps[] = {{.parallel = 2}, {0}};
    struct flow *flow = FLOW(steps, 1);
    struct flow_counts counts;

    (void)state;
    begin(flow, 0, 20);
    begin(flow, 1, 1);
    start(flow, 0, 0);
    start(flow, 0, 1);
    start(flow, 1, 0);
    expect(flow, FLOW_NOTHING, 0);
    for (int64_t copy = 2; copy < 20; copy++) {
        flow_ended(flow, 0, copy - 1, true);
        start(flow, 0, copy);
        expect(flow, FLOW_NOTHING, 0);
    }
    flow_count(flow, 0, &counts);
    assert_int_equal(counts.copies, 20);
    assert_int_equal(counts.started, 2);
    assert_int_equal(counts.succeeded, 18);
    flow_destroy(flow);
}

static void test_flow_copies__success_count_and_fraction(void **state)
{
    static const struct {
        int64_t count;
        double fraction;
        int64_t copies, succeed, refused;
        bool succeeds;
    } cases[] = {
        {0, 0, 3, 3, 0, true},       {0, 0, 3, 2, 0, false},
        {0, 0, 3, 2, 1, true},       {0, 0, 3, 0, 3, true},
        {2, 0, 3, 2, 0, true},       {2, 0, 3, 1, 2, false},
        {4, 0, 3, 3, 0, false},      {1, 0, 3, 0, 3, false},
        {0, 0.5, 4, 2, 0, true},     {0, 0.5, 5, 2, 0, false},
        {0, 0.5, 5, 2, 1, true},     {0, 0.07, 100, 7, 0, true},
        {0, 0.07, 100, 6, 0, false}, {0, 0.0001, 5, 1, 0, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct flow_step step = {.success_count = cases[i].count,
                                       .success_fraction = cases[i].fraction};
        struct flow *flow = make_flow(&step, 1, NULL, 0);

        begin(flow, 0, cases[i].copies);
        for (int64_t k = 0; k < cases[i].copies; k++)
            flow_started(flow, 0, k);
        for (int64_t k = 0; k < cases[i].copies; k++)
            if (k < cases[i].refused)
                flow_refuse(flow, 0, k);
            else
                flow_ended(flow, 0, k, k - cases[i].refused < cases[i].succeed);
        end(flow, 0, cases[i].succeeds ? FLOW_SUCCEEDED : FLOW_FAILED);
        finish(flow);
    }
}

static void test_flow_copies__starts_none_once_success_is_out_of_reach(
    void **state)
{
    const struct flow_step steps[] = {{.success_count = 3}, {0}};
    struct flow *flow = FLOW(steps, 1);
    struct flow_counts counts;

    (void)state;
    begin(flow, 0, 5);
    flow_skip(flow, 1);
    for (int64_t copy = 0; copy < 3; copy++)
        start(flow, 0, copy);
    flow_ended(flow, 0, 0, false);
    flow_ended(flow, 0, 1, false);
    start(flow, 0, 3);
    flow_ended(flow, 0, 2, false);
    expect(flow, FLOW_NOTHING, 0);
    flow_ended(flow, 0, 3, true);
    end(flow, 0, FLOW_FAILED);
    flow_count(flow, 0, &counts);
    assert_int_equal(counts.succeeded, 1);
    assert_int_equal(counts.failed, 3);
    assert_int_equal(counts.refused, 1);

    /* A copy put back starts all the same, and gives the rest another try. */
    flow_reopen(flow, 0, 1);
    start(flow, 0, 1);
    start(flow, 0, 4);
    flow_ended(flow, 0, 4, true);
    flow_ended(flow, 0, 1, false);
    end(flow, 0, FLOW_FAILED);
    flow_reopen(flow, 0, 2);
    start(flow, 0, 2);
    flow_ended(flow, 0, 2, true);
    end(flow, 0, FLOW_SUCCEEDED);
    finish(flow);
}

static void test_flow_copies__full_pools_stop_only_who_wants_them(void **state)
{
    const struct flow_step steps[] = {
        {CLAIMS({0, 1})}, {CLAIMS({1, 1})}, {0}, {CLAIMS({0, 1}, {1, 1})}};
    struct flow *flow = FLOW(steps, 1, 2);

    (void)state;
    begin(flow, 0, 2);
    begin(flow, 1, 2);
    begin(flow, 2, 1);
    begin(flow, 3, 1);
    start(flow, 0, 0);
    start(flow, 1, 0);
    start(flow, 1, 1);
    start(flow, 2, 0);
    expect(flow, FLOW_NOTHING, 0);
    flow_ended(flow, 1, 0, true);
    expect(flow, FLOW_NOTHING, 0);
    flow_ended(flow, 0, 0, true);
    start(flow, 0, 1);
    flow_ended(flow, 0, 1, true);
    end(flow, 0, FLOW_SUCCEEDED);
    start(flow, 3, 0);
    flow_destroy(flow);
}

static void test_flow_copies__large_claims_get_their_turn(void **state)
{
    const struct flow_step steps[] = {{CLAIMS({0, 1})},
                                      {CLAIMS({0, 4}, {1, 1}), .priority = 1},
                                      {CLAIMS({1, 1})}};
    struct flow *flow = FLOW(steps, 4, 2);

    (void)state;
    flow_skip(flow, 2);
    flow_destroy(flow);
    flow = FLOW(steps, 4, 2);
    flow_begin(flow, 0, 100);
    flow_started(flow, 0, 0);
    flow_started(flow, 0, 1);
    begin(flow, 1, 1);
    begin(flow, 2, 2);
    /* Of pool 0 it waits for all, of pool 1 one is left for others. */
    start(flow, 2, 0);
    expect(flow, FLOW_NOTHING, 0);
    flow_ended(flow, 0, 0, true);
    expect(flow, FLOW_NOTHING, 0);
    flow_ended(flow, 0, 1, true);
    start(flow, 1, 0);
    expect(flow, FLOW_NOTHING, 0);
    flow_ended(flow, 1, 0, true);
    end(flow, 1, FLOW_SUCCEEDED);
    start(flow, 0, 2);
    flow_destroy(flow);
}

static void test_flow_copies__refused_copies_count_for_nothing(void **state)
{
    const struct flow_step steps[] = {{CLAIMS({0, 1})}};
    struct flow *flow = FLOW(steps, 1);
    struct flow_counts counts;

    (void)state;
    begin(flow, 0, 3);
    expect(flow, FLOW_START, 0);
    flow_refuse(flow, 0, 0);
    start(flow, 0, 1);
    expect(flow, FLOW_NOTHING, 0);
    flow_ended(flow, 0, 1, true);
    expect(flow, FLOW_START, 0);
    flow_refuse(flow, 0, 2);
    end(flow, 0, FLOW_SUCCEEDED);
    flow_count(flow, 0, &counts);
    assert_int_equal(counts.refused, 2);
    assert_int_equal(counts.succeeded, 1);
    finish(flow);
}

/* As an engine that finds no job of theirs in the record has it. */
static void test_flow_copies__given_up_start_once_one_is_put_back(void **state)
{
    const struct flow_step steps[] = {{.starts_all = true}};
    struct flow *flow = FLOW(steps, 1);
    struct flow_counts counts;

    (void)state;
    begin(flow, 0, 12);
    start(flow, 0, 0);
    flow_ended(flow, 0, 0, false);
    start(flow, 0, 1);
    flow_ended(flow, 0, 1, true);
    for (int64_t copy = 2; copy < 12; copy++) {
        assert_int_equal(expect(flow, FLOW_START, 0).copy, copy);
        flow_give_up(flow, 0, copy);
    }
    flow_count(flow, 0, &counts);
    assert_int_equal(counts.failed, 11);
    end(flow, 0, FLOW_FAILED);
    flow_reopen(flow, 0, 0);
    flow_count(flow, 0, &counts);
    assert_int_equal(counts.failed, 0);
    for (int64_t copy = 0; copy < 12; copy++) {
        if (copy == 1)
            continue;
        start(flow, 0, copy);
        flow_ended(flow, 0, copy, true);
    }
    end(flow, 0, FLOW_SUCCEEDED);
    flow_destroy(flow);
}

/* For its step a cancelled copy is one that failed; it is counted apart. */
static void test_flow_copies__cancelled_ones_do_not_succeed(void **state)
{
    const struct flow_step steps[] = {{.starts_all = true}};
    struct flow *flow = FLOW(steps, 1);
    struct flow_counts counts;

    (void)state;
    begin(flow, 0, 3);
    for (int64_t copy = 0; copy < 3; copy++)
        start(flow, 0, copy);
    flow_ended(flow, 0, 0, false);
    flow_cancelled(flow, 0, 1);
    assert_true(flow_is_lost(flow, 0));
    flow_ended(flow, 0, 2, true);
    flow_count(flow, 0, &counts);
    assert_int_equal(counts.failed, 2);
    assert_int_equal(counts.cancelled, 1);
    end(flow, 0, FLOW_FAILED);
    flow_reopen(flow, 0, 1);
    flow_count(flow, 0, &counts);
    assert_int_equal(counts.cancelled, 0);
    flow_destroy(flow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flow_copies__runs_no_more_copies_than_parallel),
        cmocka_unit_test(test_flow_copies__success_count_and_fraction),
        cmocka_unit_test(
            test_flow_copies__starts_none_once_success_is_out_of_reach),
        cmocka_unit_test(test_flow_copies__full_pools_stop_only_who_wants_them),
        cmocka_unit_test(test_flow_copies__large_claims_get_their_turn),
        cmocka_unit_test(test_flow_copies__refused_copies_count_for_nothing),
        cmocka_unit_test(test_flow_copies__given_up_start_once_one_is_put_back),
        cmocka_unit_test(test_flow_copies__cancelled_ones_do_not_succeed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
