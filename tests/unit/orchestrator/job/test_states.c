/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "orchestrator/job/states.h"

static void test_states__every_cell_is_as_documented(void **state)
{
    static const struct {
        enum job_state from;
        enum job_event event;
        int to; /* -1: cannot happen */
    } cells[] = {
        {JOB_WAITING, EVENT_DUE, JOB_READY},
        {JOB_WAITING, EVENT_STARTED, -1},
        {JOB_WAITING, EVENT_SUCCEEDED, -1},
        {JOB_WAITING, EVENT_CANCELLED, JOB_CANCELLED},
        {JOB_READY, EVENT_STARTED, JOB_RUNNING},
        {JOB_READY, EVENT_SUCCEEDED, -1},
        {JOB_READY, EVENT_REUSED, JOB_SUCCEEDED},
        {JOB_RUNNING, EVENT_REUSED, -1},
        {JOB_READY, EVENT_FAILED, JOB_FAILED},
        {JOB_READY, EVENT_RETRY, JOB_WAITING},
        {JOB_READY, EVENT_INTERRUPTED, JOB_READY},
        {JOB_READY, EVENT_DISPLACED, JOB_READY},
        {JOB_RUNNING, EVENT_DISPLACED, JOB_READY},
        {JOB_RUNNING, EVENT_STARTED, -1},
        {JOB_RUNNING, EVENT_SUCCEEDED, JOB_SUCCEEDED},
        {JOB_RUNNING, EVENT_FAILED, JOB_FAILED},
        {JOB_RUNNING, EVENT_RETRY, JOB_WAITING},
        {JOB_RUNNING, EVENT_INTERRUPTED, JOB_READY},
        {JOB_RUNNING, EVENT_LINKED, JOB_READY},
        {JOB_READY, EVENT_LINKED, -1},
        {JOB_RUNNING, EVENT_STOPPED, JOB_STOPPED},
        {JOB_RUNNING, EVENT_DUE, -1},
        {JOB_RUNNING, EVENT_PAUSED, JOB_PAUSED},
        {JOB_RUNNING, EVENT_PROMOTED, -1},
        {JOB_READY, EVENT_PAUSED, -1},
        {JOB_PAUSED, EVENT_PROMOTED, JOB_READY},
        {JOB_PAUSED, EVENT_STOPPED, JOB_STOPPED},
        {JOB_PAUSED, EVENT_STARTED, -1},
        {JOB_RUNNING, EVENT_REOPENED, -1},
        {JOB_FAILED, EVENT_REOPENED, JOB_READY},
        {JOB_STOPPED, EVENT_REOPENED, JOB_READY},
        {JOB_CANCELLED, EVENT_REOPENED, JOB_READY},
        {JOB_SUCCEEDED, EVENT_REOPENED, JOB_READY},
        {JOB_SKIPPED, EVENT_REOPENED, -1},
        {JOB_READY, EVENT_SKIPPED, JOB_SKIPPED},
        {JOB_WAITING, EVENT_SKIPPED, JOB_SKIPPED},
        {JOB_RUNNING, EVENT_SKIPPED, -1},
        {JOB_SKIPPED, EVENT_STARTED, -1},
        {JOB_READY, EVENT_CREATED, -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
        enum job_state next = JOB_SKIPPED;
        bool can = job_next(cells[i].from, cells[i].event, &next);

        assert_int_equal(can, cells[i].to >= 0);
        if (can)
            assert_int_equal(next, cells[i].to);
    }
}

static void test_states__only_the_user_goes_on_from_a_final_state(void **state)
{
    static const enum job_state finals[] = {
        JOB_SUCCEEDED, JOB_FAILED, JOB_STOPPED, JOB_SKIPPED, JOB_CANCELLED};

    (void)state;
    for (size_t i = 0; i < sizeof(finals) / sizeof(finals[0]); i++) {
        assert_true(job_is_final(finals[i]));
        for (int event = 0; event < EVENT_REOPENED; event++) {
            enum job_state next;

            assert_false(job_next(finals[i], (enum job_event)event, &next));
        }
    }
    assert_false(job_is_final(JOB_WAITING));
    assert_false(job_is_final(JOB_READY));
    assert_false(job_is_final(JOB_RUNNING));
    assert_false(job_is_final(JOB_PAUSED));
}

static void test_states__words_are_found_again(void **state)
{
    (void)state;
    for (int i = 0; i < JOB_STATE_COUNT; i++)
        assert_int_equal(job_state_find(job_state_names[i]), i);
    assert_null(job_state_names[JOB_STATE_COUNT]);
    assert_int_equal(job_state_find("runing"), -1);
}

static void test_states__steps_go_from_state_to_state(void **state)
{
    static const struct {
        enum flow_state from;
        enum step_event event;
        enum flow_state to;
        bool can;
    } cells[] = {
        {FLOW_WAITING, STEP_BEGAN, FLOW_ACTIVE, true},
        {FLOW_WAITING, STEP_BEGAN, FLOW_SUCCEEDED, false},
        {FLOW_ACTIVE, STEP_BEGAN, FLOW_ACTIVE, false},
        {FLOW_WAITING, STEP_SKIPPED, FLOW_SKIPPED, true},
        {FLOW_ACTIVE, STEP_SKIPPED, FLOW_SKIPPED, false},
        {FLOW_ACTIVE, STEP_ENDED, FLOW_SUCCEEDED, true},
        {FLOW_ACTIVE, STEP_ENDED, FLOW_FAILED, true},
        {FLOW_ACTIVE, STEP_ENDED, FLOW_SKIPPED, false},
        {FLOW_WAITING, STEP_ENDED, FLOW_FAILED, false},
        {FLOW_FAILED, STEP_REOPENED, FLOW_ACTIVE, true},
        {FLOW_SKIPPED, STEP_REOPENED, FLOW_WAITING, true},
        {FLOW_ACTIVE, STEP_REOPENED, FLOW_WAITING, true},
        {FLOW_WAITING, STEP_REOPENED, FLOW_WAITING, false},
        {FLOW_SUCCEEDED, STEP_REOPENED, FLOW_FAILED, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
        assert_int_equal(step_may(cells[i].from, cells[i].event, cells[i].to),
                         cells[i].can);
    for (int i = 0; step_state_names[i] != NULL; i++)
        assert_int_equal(step_state_find(step_state_names[i]), i);
    assert_int_equal(step_state_find("ready"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states__every_cell_is_as_documented),
        cmocka_unit_test(test_states__only_the_user_goes_on_from_a_final_state),
        cmocka_unit_test(test_states__words_are_found_again),
        cmocka_unit_test(test_states__steps_go_from_state_to_state),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
