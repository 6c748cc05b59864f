/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/workflows/flow_test.h"

static void test_flow__goes_along_what_is_needed(void **state)
{
    const struct flow_step steps[] = {
        {NEEDS(1)}, {0}, {NEEDS(1)}, {NEEDS(0, 2)}};
    struct flow *flow = FLOW(steps, 1);

    (void)state;
    pass(flow, 1, true);
    begin(flow, 0, 1);
    begin(flow, 2, 1);
    start(flow, 0, 0);
    start(flow, 2, 0);
    expect(flow, FLOW_NOTHING, 0);
    flow_ended(flow, 2, 0, true);
    end(flow, 2, FLOW_SUCCEEDED);
    expect(flow, FLOW_NOTHING, 0);
    assert_int_equal(flow_state(flow, 3), FLOW_WAITING);
    flow_ended(flow, 0, 0, true);
    end(flow, 0, FLOW_SUCCEEDED);
    pass(flow, 3, true);
    assert_false(flow_has_failed(flow));
    finish(flow);
}

static void test_flow__without_steps_is_over(void **state)
{
    (void)state;
    finish(make_flow(NULL, 0, NULL, 0));
}

static void test_flow__circles_are_an_error(void **state)
{
    const struct flow_step steps[] = {{0}, {NEEDS(0, 2)}, {NEEDS(1)}};
    struct err err = {0};

    (void)state;
    assert_null(flow_create(steps, 3, NULL, 0, &err));
    assert_int_equal(err.kind, ERR_FILE);
}

static void test_flow__zero_copies_are_over_at_once(void **state)
{
    const struct flow_step steps[] = {{.success_fraction = 0.5},
                                      {.success_count = 1}};
    struct flow *flow = FLOW(steps, 1);

    (void)state;
    begin(flow, 0, 0);
    end(flow, 0, FLOW_SUCCEEDED);
    begin(flow, 1, 0);
    end(flow, 1, FLOW_FAILED);
    assert_true(flow_has_failed(flow));
    finish(flow);
}

static void test_flow__one_that_cannot_begin_has_failed(void **state)
{
    const struct flow_step steps[] = {{.when = FLOW_ALWAYS}, {NEEDS(0)}};
    struct flow *flow = FLOW(steps, 1);

    (void)state;
    expect(flow, FLOW_BEGIN, 0);
    flow_fail(flow, 0);
    leave_out(flow, 1, 0);
    assert_true(flow_has_failed(flow));
    finish(flow);
}

/* Each rule over needs that succeeded, failed, were skipped by their own
 * condition, and because another failed. */
static void test_flow__rules(void **state)
{
    enum { GOOD, BAD, LEFT, BEHIND, NEED_COUNT };
    static const struct {
        size_t needs[NEED_COUNT], need_count;
        enum flow_when when;
        bool begins;
        size_t because;
    } cases[] = {
        {{GOOD}, 1, FLOW_ALL_SUCCESS, true, 0},
        {{GOOD, BAD}, 2, FLOW_ALL_SUCCESS, false, BAD},
        {{GOOD, LEFT}, 2, FLOW_ALL_SUCCESS, false, LEFT},
        {{LEFT, BEHIND, BAD}, 3, FLOW_ALL_SUCCESS, false, BAD},
        {{GOOD, BAD}, 2, FLOW_ALL_DONE, true, 0},
        {{GOOD, LEFT, BAD}, 3, FLOW_ALL_DONE, false, LEFT},
        {{LEFT, BEHIND}, 2, FLOW_ALL_DONE, false, BEHIND},
        {{GOOD, LEFT}, 2, FLOW_ANY_FAILED, false, FLOW_NO_STEP},
        {{GOOD, BAD}, 2, FLOW_ANY_FAILED, true, 0},
        {{GOOD, BEHIND}, 2, FLOW_ANY_FAILED, true, 0},
        {{GOOD, BAD, LEFT, BEHIND}, 4, FLOW_ALWAYS, true, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct flow_step steps[] = {{.priority = 3},
                                          {.priority = 2},
                                          {.priority = 1},
                                          {NEEDS(BAD)},
                                          {.needs = cases[i].needs,
                                           .need_count = cases[i].need_count,
                                           .when = cases[i].when}};
        struct flow *flow = FLOW(steps, 1);

        flow_begin(flow, GOOD, 0);
        expect(flow, FLOW_END, GOOD);
        flow_end(flow, GOOD);
        flow_fail(flow, BAD);
        flow_skip(flow, LEFT);
        leave_out(flow, BEHIND, BAD);
        if (cases[i].begins)
            begin(flow, NEED_COUNT, 0);
        else
            leave_out(flow, NEED_COUNT, cases[i].because);
        flow_destroy(flow);
    }
}

static void test_flow__failures_reach_through_skipped_steps(void **state)
{
    const struct flow_step steps[] = {{0},
                                      {NEEDS(0)},
                                      {NEEDS(1), .when = FLOW_ALL_DONE},
                                      {NEEDS(2), .when = FLOW_ANY_FAILED},
                                      {NEEDS(3), .when = FLOW_ANY_FAILED}};
    struct flow *flow = FLOW(steps, 1);

    (void)state;
    pass(flow, 0, false);
    leave_out(flow, 1, 0);
    leave_out(flow, 2, 1);
    pass(flow, 3, true);
    leave_out(flow, 4, FLOW_NO_STEP);
    finish(flow);
}

static void test_flow__final_steps_come_last(void **state)
{
    const struct flow_step steps[] = {
        {.is_final = true, .when = FLOW_ANY_FAILED},
        {.is_final = true, .when = FLOW_ALWAYS, NEEDS(0)},
        {.is_final = true, .when = FLOW_ALL_SUCCESS, NEEDS(1)},
        {.may_fail = true},
        {NEEDS(3), READS(3), .may_fail = true},
        {NEEDS(4), .when = FLOW_ALWAYS}};
    struct flow *flow;

    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        flow = FLOW(steps, 1);
        pass(flow, 3, false);
        leave_out(flow, 4, 3);
        pass(flow, 5, !fails);
        if (fails)
            pass(flow, 0, false);
        else
            leave_out(flow, 0, FLOW_NO_STEP);
        pass(flow, 1, true);
        if (fails)
            leave_out(flow, 2, 5);
        else
            pass(flow, 2, true);
        assert_int_equal(flow_has_failed(flow), fails);
        finish(flow);
    }
}

static void test_flow__what_follows_a_step_that_may_fail_begins(void **state)
{
    const struct flow_step steps[] = {
        {.may_fail = true},
        {NEEDS(0)},
        {NEEDS(1)},
        {NEEDS(2, 0), .when = FLOW_ANY_FAILED},
    };
    struct flow *flow = FLOW(steps, 1);

    (void)state;
    pass(flow, 0, false);
    pass(flow, 1, true);
    pass(flow, 2, true);
    pass(flow, 3, true);
    assert_false(flow_has_failed(flow));
    finish(flow);
}

static void test_flow__missing_outputs_hold_back_who_reads_them(void **state)
{
    const struct flow_step steps[] = {
        {.may_fail = true},
        {NEEDS(0)},
        {NEEDS(1), READS(0)}, /* from afar */
        {NEEDS(2)},
        {NEEDS(0), READS(0), .when = FLOW_ALWAYS},
        {.is_final = true, .when = FLOW_ANY_FAILED},
    };
    struct flow *flow = FLOW(steps, 1);

    (void)state;
    pass(flow, 0, false);
    begin(flow, 1, 0);
    end(flow, 1, FLOW_SUCCEEDED);
    leave_out(flow, 2, 0);
    assert_true(flow_has_failed(flow));
    leave_out(flow, 3, 2);
    pass(flow, 4, true);
    pass(flow, 5, true);
    assert_true(flow_is_missed(flow, 2));
    assert_true(flow_is_missed(flow, 3));
    assert_false(flow_is_missed(flow, 1));
    flow_reopen(flow, 0, 0);
    assert_false(flow_has_failed(flow));
    flow_destroy(flow);
}

/* Nothing of it runs again, and what needs it waits for the answer. */
static void test_flow__how_a_step_ended_may_be_asked_again(void **state)
{
    const struct flow_step steps[] = {
        {.success_count = 1, .starts_all = true},
        {NEEDS(0)},
    };
    struct flow *flow = FLOW(steps, 1);

    (void)state;
    begin(flow, 0, 2);
    start(flow, 0, 0);
    start(flow, 0, 1);
    flow_ended(flow, 0, 0, false);
    flow_ended(flow, 0, 1, true);
    end(flow, 0, FLOW_SUCCEEDED);
    begin(flow, 1, 1);
    start(flow, 1, 0);
    assert_false(flow_may_reopen(flow, 0));
    flow_ended(flow, 1, 0, true);
    end(flow, 1, FLOW_SUCCEEDED);
    flow_look_again(flow, 0);
    assert_int_equal(flow_state(flow, 0), FLOW_ACTIVE);
    assert_int_equal(flow_state(flow, 1), FLOW_WAITING);
    end(flow, 0, FLOW_SUCCEEDED);
    pass(flow, 1, true);
    finish(flow);
}

static void test_flow__one_copy_that_made_its_outputs_is_enough(void **state)
{
    const struct flow_step steps[] = {
        {.may_fail = true, .starts_all = true},
        {NEEDS(0), READS(0)},
    };
    struct flow *flow = FLOW(steps, 1);

    (void)state;
    begin(flow, 0, 2);
    start(flow, 0, 0);
    start(flow, 0, 1);
    flow_ended(flow, 0, 0, false);
    flow_ended(flow, 0, 1, true);
    end(flow, 0, FLOW_FAILED);
    pass(flow, 1, true);
    assert_false(flow_has_failed(flow));
    finish(flow);
}

static void test_flow__begins_by_priority_then_by_index(void **state)
{
    const struct flow_step steps[] = {
        {.priority = -5}, {0}, {.priority = 7}, {.priority = 7}};
    static const size_t order[] = {2, 3, 1, 0};
    struct flow *flow = FLOW(steps, 1);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        begin(flow, order[i], 2);
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        start(flow, order[i], 0);
        start(flow, order[i], 1);
    }
    flow_destroy(flow);
}

static void test_flow__what_needs_a_reopened_step_waits_again(void **state)
{
    const struct flow_step steps[] = {
        {0}, {NEEDS(0)},         {NEEDS(1)},
        {0}, {.is_final = true}, {.is_final = true, NEEDS(4)}};
    struct flow *flow = FLOW(steps, 1);

    (void)state;
    begin(flow, 0, 2);
    begin(flow, 3, 0);
    end(flow, 3, FLOW_SUCCEEDED);
    start(flow, 0, 0);
    start(flow, 0, 1);
    flow_ended(flow, 0, 0, true);
    flow_ended(flow, 0, 1, false);
    end(flow, 0, FLOW_FAILED);
    leave_out(flow, 1, 0);
    leave_out(flow, 2, 1);
    leave_out(flow, 4, 0);
    leave_out(flow, 5, 0);
    expect(flow, FLOW_OVER, 0);

    flow_reopen(flow, 0, 1);
    assert_false(flow_has_failed(flow));
    assert_int_equal(flow_state(flow, 0), FLOW_ACTIVE);
    assert_int_equal(flow_state(flow, 3), FLOW_SUCCEEDED);
    for (size_t step = 1; step < 6; step++)
        if (step != 3)
            assert_int_equal(flow_state(flow, step), FLOW_WAITING);
    start(flow, 0, 1);
    flow_ended(flow, 0, 1, true);
    end(flow, 0, FLOW_SUCCEEDED);
    pass(flow, 1, true);
    begin(flow, 2, 1);
    start(flow, 2, 0);
    assert_false(flow_may_reopen(flow, 0));
    assert_false(flow_may_reset(flow, 2));
    assert_true(flow_may_reopen(flow, 3));
    flow_ended(flow, 2, 0, true);
    end(flow, 2, FLOW_SUCCEEDED);
    assert_true(flow_may_reset(flow, 3));
    begin(flow, 4, 1);
    start(flow, 4, 0);
    assert_false(flow_may_reopen(flow, 3));
    assert_false(flow_may_reset(flow, 3));
    flow_ended(flow, 4, 0, true);
    end(flow, 4, FLOW_SUCCEEDED);
    begin(flow, 5, 1);
    start(flow, 5, 0);
    assert_false(flow_may_reopen(flow, 4));
    flow_ended(flow, 5, 0, true);
    end(flow, 5, FLOW_SUCCEEDED);

    flow_reset(flow, 1);
    pass(flow, 1, true);
    pass(flow, 2, true);
    pass(flow, 4, true);
    pass(flow, 5, true);
    finish(flow);
}

/* A record may be told from its end. */
static void test_flow__a_record_is_told_in_any_order(void **state)
{
    const struct flow_step steps[] = {{0},
                                      {NEEDS(0)},
                                      {NEEDS(1), .when = FLOW_ANY_FAILED},
                                      {NEEDS(2), .when = FLOW_ANY_FAILED},
                                      {.is_final = true}};
    struct flow *flow = FLOW(steps, 1);

    (void)state;
    flow_begin(flow, 2, 9);
    flow_ended(flow, 2, 8, true);
    flow_started(flow, 2, 7);
    flow_skip(flow, 1);
    flow_fail(flow, 0);
    for (int64_t copy = 0; copy < 7; copy++)
        start(flow, 2, copy);
    expect(flow, FLOW_NOTHING, 0);
    for (int64_t copy = 0; copy < 8; copy++)
        flow_ended(flow, 2, copy, true);
    end(flow, 2, FLOW_SUCCEEDED);
    leave_out(flow, 3, FLOW_NO_STEP);
    leave_out(flow, 4, 0);
    finish(flow);
}

/* Layers of steps, each behind a join, and one step of very many copies: in
 * more than about linear time this would take hours. */
static void test_flow__is_fit_for_large_workflows(void **state)
{
    enum { LAYERS = 1000, WIDTH = 100, ROW = WIDTH + 1, COPIES = 1000000 };
    size_t count = (size_t)LAYERS * ROW, started = 0;
    struct flow_step *steps = calloc(count, sizeof(*steps));
    size_t *needs = calloc(count * 2, sizeof(*needs)), *next = needs;
    struct flow *flow;

    (void)state;
    assert_non_null(steps);
    assert_non_null(needs);
    for (size_t i = 0; i < count; i++) {
        size_t layer = i / ROW;
        bool is_join = i % ROW == WIDTH;

        steps[i].needs = next;
        if (is_join)
            for (size_t k = 0; k < WIDTH; k++)
                *next++ = layer * ROW + k;
        else if (layer > 0)
            *next++ = layer * ROW - 1;
        steps[i].need_count = (size_t)(next - steps[i].needs);
    }
    flow = make_flow(steps, count, NULL, 0);
    free(steps);
    free(needs);
    for (;;) {
        struct flow_next at = flow_next(flow);

        if (at.kind == FLOW_OVER)
            break;
        if (at.kind == FLOW_BEGIN) {
            flow_begin(flow, at.step,
                       at.step == 0             ? COPIES
                       : at.step % ROW == WIDTH ? 0
                                                : 1);
        } else if (at.kind == FLOW_START) {
            flow_started(flow, at.step, at.copy);
            flow_ended(flow, at.step, at.copy, true);
            started++;
        } else {
            assert_int_equal(at.kind, FLOW_END);
            flow_end(flow, at.step);
        }
    }
    assert_int_equal(started, (size_t)LAYERS * WIDTH - 1 + COPIES);
    flow_reset(flow, 0);
    assert_int_equal(flow_state(flow, count - 1), FLOW_WAITING);
    flow_destroy(flow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flow__goes_along_what_is_needed),
        cmocka_unit_test(test_flow__without_steps_is_over),
        cmocka_unit_test(test_flow__circles_are_an_error),
        cmocka_unit_test(test_flow__zero_copies_are_over_at_once),
        cmocka_unit_test(test_flow__one_that_cannot_begin_has_failed),
        cmocka_unit_test(test_flow__rules),
        cmocka_unit_test(test_flow__failures_reach_through_skipped_steps),
        cmocka_unit_test(test_flow__final_steps_come_last),
        cmocka_unit_test(test_flow__what_follows_a_step_that_may_fail_begins),
        cmocka_unit_test(test_flow__missing_outputs_hold_back_who_reads_them),
        cmocka_unit_test(test_flow__one_copy_that_made_its_outputs_is_enough),
        cmocka_unit_test(test_flow__begins_by_priority_then_by_index),
        cmocka_unit_test(test_flow__what_needs_a_reopened_step_waits_again),
        cmocka_unit_test(test_flow__how_a_step_ended_may_be_asked_again),
        cmocka_unit_test(test_flow__a_record_is_told_in_any_order),
        cmocka_unit_test(test_flow__is_fit_for_large_workflows),
    };

    return cmocka_run_group_tests_name("flow", tests, NULL, NULL);
}
