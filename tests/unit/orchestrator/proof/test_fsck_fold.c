/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What events come to, and which cannot be. */
#include "orchestrator/proof/fsck_fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "tests/unit/orchestrator/proof/fsck_fold_test.h"

static const struct line begin[] = {
    {0, 0, "run_created",
     "{\"state\":\"running\",\"name\":\"r\",\"seed\":-1,"
     "\"params\":[\"x\"],\"outcomes\":[\"size\",null,3.0]}"},
    {0, 0, "engine_started", "{\"pid\":7,\"boot_id\":\"b\"}"},
    {4, 0, "suggested",
     "{\"state\":\"ready\",\"number\":1,\"seen\":0,\"cursor\":5,"
     "\"params\":[1e-05,3,\"a\",true,null]}"},
    {4, 9, "attempt_starting", "{\"number\":1,\"directory\":\"d\"}"},
};

static const struct line finish[] = {
    {4, 9, "attempt_running", "{\"pid\":70}"},
    {4, 0, "started", "{\"state\":\"running\",\"started_ms\":50}"},
    {4, 9, "attempt_ended", "{\"cause\":\"ok\",\"exit_code\":0,\"cpu_ms\":3}"},
    {4, 0, "succeeded",
     "{\"state\":\"succeeded\",\"cause\":\"ok\",\"ended_ms\":60,\"told\":1,"
     "\"values\":[3,\"-inf\"],\"violation\":[\"inf\"]}"},
};

static void test_fsck_fold__a_run_comes_to_its_rows(void **state)
{
    struct said said = {0};
    struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);
    struct fsck_fold_row *row;
    size_t count;

    (void)state;
    add(fold, begin, ARRAY_LEN(begin));
    add(fold, finish, ARRAY_LEN(finish));
    assert_int_equal(said.count, 0);
    row = fsck_fold_find(fold, IMAGE_RUN, 1);
    must_be(row, RUN_CELL_STATE, "running");
    must_be(row, RUN_CELL_CREATED_MS, "100");
    must_be(row, RUN_CELL_STARTED_MS, "101");
    must_be(row, RUN_CELL_ENGINE_PID, "7");
    must_be(row, RUN_CELL_OUTCOMES, "[\"size\",null,3.0]");
    row = fsck_fold_rows(fold, IMAGE_JOB, &count);
    assert_int_equal(count, 1);
    assert_int_equal(fsck_fold_trial(fold, IMAGE_JOB, row), 1);
    must_be(row, JOB_CELL_ID, "4");
    must_be(row, JOB_CELL_STATE, "succeeded");
    must_be(row, JOB_CELL_PARAMS, "[1e-05,3,\"a\",true,null]");
    must_be(row, JOB_CELL_VALUES, "[3,\"-inf\"]");
    must_be(row, JOB_CELL_OUTCOMES, "NULL");
    must_be(row, JOB_CELL_VIOLATION, "inf");
    must_be(row, JOB_CELL_STARTED_MS, "50");
    must_be(row, JOB_CELL_ENDED_MS, "60");
    row = fsck_fold_find(fold, IMAGE_ATTEMPT, 9);
    assert_int_equal(fsck_fold_trial(fold, IMAGE_ATTEMPT, row), 1);
    must_be(row, ATTEMPT_CELL_STATE, "ended");
    must_be(row, ATTEMPT_CELL_PID, "70");
    must_be(row, ATTEMPT_CELL_SIGNAL, "NULL");
    must_be(row, ATTEMPT_CELL_ENDED_MS, "102");
    assert_null(fsck_fold_find(fold, IMAGE_ATTEMPT, 8));
    fsck_fold_destroy(fold);
}

/* One more event, and what is said of it. */
static const struct {
    bool has_finished;
    struct line line;
    const char *text;
} impossible[] = {
    {false, {0, 0, "run_created", "{}"}, "0/0 the run was already created"},
    {false,
     {4, 0, "suggested", "{\"state\":\"ready\",\"number\":1}"},
     "1/0 it was already suggested"},
    {false,
     {5, 0, "suggested", "{\"state\":\"ready\",\"number\":3,\"seen\":0}"},
     "3/0 wrong number: expected 2 for this 'suggested'"},
    {true,
     {5, 0, "suggested", "{\"state\":\"ready\",\"number\":2,\"seen\":0}"},
     "2/0 suggested after 0 results, but the events before have "
     "1"},
    {false,
     {5, 0, "failed", "{\"state\":\"failed\"}"},
     "0/0 the trial was never suggested"},
    {false,
     {4, 0, "started", "{\"state\":\"running\"}"},
     "1/0 started without a running attempt"},
    {false,
     {4, 0, "cancelled", "{\"state\":\"cancelled\"}"},
     "1/0 'cancelled' while an attempt is still active"},
    {true,
     {4, 0, "retry", "{\"state\":\"waiting\"}"},
     "1/0 'retry' is not possible while the trial is succeeded"},
    {false,
     {4, 10, "attempt_starting", "{\"number\":2}"},
     "1/2 a second attempt while the first is still active"},
    {true,
     {4, 10, "attempt_starting", "{\"number\":3}"},
     "1/3 wrong number: it is attempt 2 of the trial"},
    {false,
     {4, 9, "attempt_starting", "{\"number\":1}"},
     "1/1 the attempt was already created"},
    {false,
     {5, 10, "attempt_starting", "{\"number\":1}"},
     "0/1 an attempt of a trial that was never suggested"},
    {false, {4, 8, "attempt_running", ""}, "1/0 the attempt was never created"},
    {false,
     {5, 9, "attempt_running", ""},
     "0/1 the attempt belongs to another trial"},
    {true,
     {4, 9, "attempt_running", ""},
     "1/1 the attempt started to run while it was ended"},
    {true, {4, 9, "attempt_ended", ""}, "1/1 the attempt ended a second time"},
    {true,
     {4, 9, "attempt_queued", ""},
     "1/1 the attempt was queued while it was ended"},
    {false, {4, 8, "attempt_queued", ""}, "1/0 the attempt was never created"},
    {false, {4, 8, "attempt_ended", ""}, "1/0 the attempt was never created"},
    {false, {5, 0, "commented", ""}, "0/0 no such trial"},
    {false, {5, 0, "tagged", ""}, "0/0 no such trial"},
    {false,
     {0, 0, "cancel_asked", "{\"cancel_asked\":1}"},
     "0/0 no such trial"},
    {false,
     {0, 0, "enqueued", "{\"idx\":2}"},
     "0/0 wrong number: setting 2, expected 1"},
    {true,
     {5, 0, "suggested",
      "{\"state\":\"ready\",\"number\":2,\"seen\":1,\"enqueued\":1}"},
     "2/0 setting 1 was never enqueued"},
    {false,
     {0, 0, "budget_changed", "{\"budget_trials\":0}"},
     "0/0 out of range: budget_trials is 0, below the trials "
     "already started (1)"},
    {false, {0, 0, "budget_changed", ""}, "0/0 the event changes nothing"},
    {false,
     {0, 0, "budget_changed", "{\"budget_time_ms\":0}"},
     "0/0 out of range: budget_time_ms is 0"},
    {false, {0, 0, "edited", "{}"}, "0/0 the event has no file"},
    {false,
     {0, 0, "edited", "{\"edited_spec\":\"v\",\"retry_base\":0}"},
     "0/0 out of range: retry_base is 0"},
    {false, {4, 0, "danced", ""}, "1/0 unknown event 'danced'"},
    {false, {4, 0, "due", "{"}, "1/0 the detail is not a JSON object"},
    {false, {4, 0, "due", "[]"}, "1/0 the detail is not a JSON object"},
};

static void test_fsck_fold__what_cannot_be_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(impossible); i++) {
        struct said said = {0};
        struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);

        add(fold, begin, ARRAY_LEN(begin));
        if (impossible[i].has_finished)
            add(fold, finish, ARRAY_LEN(finish));
        assert_int_equal(said.count, 0);
        add(fold, &impossible[i].line, 1);
        assert_true(said.count > 0);
        assert_string_equal(said.last, impossible[i].text);
        fsck_fold_destroy(fold);
    }
}

static void test_fsck_fold__a_state_that_does_not_follow_is_said(void **state)
{
    static const struct line wrong = {4, 0, "succeeded",
                                      "{\"state\":\"failed\",\"told\":1}"};
    static const struct line gap = {4, 0, "succeeded",
                                    "{\"state\":\"succeeded\",\"told\":3}"};
    struct said said = {0};
    struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);

    (void)state;
    add(fold, begin, ARRAY_LEN(begin));
    add(fold, finish, ARRAY_LEN(finish) - 1);
    add(fold, &wrong, 1);
    assert_string_equal(said.last,
                        "1/0 'succeeded' changes a trial from running to "
                        "succeeded, not to failed");
    fsck_fold_destroy(fold);
    fold = fsck_fold_create(1, on_wrong, &said);
    add(fold, begin, ARRAY_LEN(begin));
    add(fold, finish, ARRAY_LEN(finish) - 1);
    add(fold, &gap, 1);
    assert_string_equal(
        said.last,
        "1/0 the result has place 3, but the one before has place 0");
    fsck_fold_destroy(fold);
}

static void test_fsck_fold__a_trial_that_is_put_back_starts_anew(void **state)
{
    static const struct line back = {4, 0, "reopened",
                                     "{\"state\":\"ready\",\"superseded\":1}"};
    static const struct line other = {4, 0, "reopened",
                                      "{\"state\":\"ready\",\"superseded\":2}"};
    struct said said = {0};
    struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);
    struct fsck_fold_row *row;

    (void)state;
    add(fold, begin, ARRAY_LEN(begin));
    add(fold, finish, ARRAY_LEN(finish));
    add(fold, &back, 1);
    assert_int_equal(said.count, 0);
    row = fsck_fold_find(fold, IMAGE_JOB, 4);
    must_be(row, JOB_CELL_STATE, "ready");
    must_be(row, JOB_CELL_CAUSE, "NULL");
    must_be(row, JOB_CELL_STARTED_MS, "NULL");
    must_be(row, JOB_CELL_ENDED_MS, "NULL");
    must_be(row, JOB_CELL_TOLD, "NULL");
    must_be(row, JOB_CELL_VALUES, "NULL");
    must_be(row, JOB_CELL_VIOLATION, "0");
    row = fsck_fold_find(fold, IMAGE_SUPERSEDED, 1);
    assert_int_equal(fsck_fold_trial(fold, IMAGE_SUPERSEDED, row), 1);
    must_be(row, SUPERSEDED_CELL_STATE, "succeeded");
    must_be(row, SUPERSEDED_CELL_VALUES, "[3,\"-inf\"]");
    must_be(row, SUPERSEDED_CELL_OUTCOMES, "[]");
    must_be(row, SUPERSEDED_CELL_ATTEMPTS, "1");
    add(fold, &other, 1);
    assert_true(said.count > 0);
    fsck_fold_destroy(fold);
}

static const struct line scheduled[] = {
    {4, 0, "suggested",
     "{\"state\":\"ready\",\"number\":1,\"seen\":0,\"bracket\":1,"
     "\"rung\":0,\"resource\":1,\"parent\":3}"},
    {4, 9, "attempt_starting",
     "{\"number\":1,\"directory\":\"d\",\"resource\":1}"},
    {4, 9, "attempt_running", "{\"pid\":70}"},
    {4, 0, "started", "{\"state\":\"running\"}"},
    {4, 9, "attempt_ended", "{\"cause\":\"ok\",\"resource_used\":1}"},
    {4, 9, "observed",
     "{\"told\":1,\"resource\":1,\"rung\":0,\"values\":[3,\"nan\"],"
     "\"outcomes\":[],\"best\":[\"-inf\"],\"decision\":\"pause\","
     "\"reason\":\"why\"}"},
    {4, 0, "paused", "{\"state\":\"paused\",\"cause\":\"ok\"}"},
    {4, 0, "promoted",
     "{\"state\":\"ready\",\"told\":2,\"resource\":3,\"rung\":1,"
     "\"reason\":\"best\"}"},
};

static void test_fsck_fold__a_trial_pauses_and_goes_on(void **state)
{
    struct said said = {0};
    struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);
    struct fsck_fold_row *row;

    (void)state;
    add(fold, begin, 1);
    add(fold, scheduled, ARRAY_LEN(scheduled));
    assert_int_equal(said.count, 0);
    must_be(fsck_fold_find(fold, IMAGE_RUN, 1), RUN_CELL_RUNGS, "[]");
    row = fsck_fold_find(fold, IMAGE_JOB, 4);
    must_be(row, JOB_CELL_STATE, "ready");
    must_be(row, JOB_CELL_BRACKET, "1");
    must_be(row, JOB_CELL_RUNG, "0");
    must_be(row, JOB_CELL_FIRST_RESOURCE, "1");
    must_be(row, JOB_CELL_RESOURCE, "3");
    must_be(row, JOB_CELL_PARENT, "3");
    must_be(row, JOB_CELL_TOLD, "NULL");
    must_be(row, JOB_CELL_REASON, "NULL");
    must_be(row, JOB_CELL_CAUSE, "NULL");
    row = fsck_fold_find(fold, IMAGE_OBSERVATION, 1);
    assert_int_equal(fsck_fold_trial(fold, IMAGE_OBSERVATION, row), 1);
    must_be(row, OBSERVATION_CELL_ATTEMPT_ID, "9");
    must_be(row, OBSERVATION_CELL_VALUES, "[3,\"nan\"]");
    must_be(row, OBSERVATION_CELL_OUTCOMES, "[]");
    must_be(row, OBSERVATION_CELL_LAST, "NULL");
    must_be(row, OBSERVATION_CELL_BEST, "-inf");
    must_be(row, OBSERVATION_CELL_REASON, "why");
    must_be(row, OBSERVATION_CELL_PROMOTED, "2");
    must_be(row, OBSERVATION_CELL_PROMOTED_TO, "3");
    row = fsck_fold_find(fold, IMAGE_ATTEMPT, 9);
    must_be(row, ATTEMPT_CELL_RESOURCE, "1");
    must_be(row, ATTEMPT_CELL_RESOURCE_USED, "1");
    fsck_fold_destroy(fold);
}

/* After the first so many of the lines above. */
static const struct {
    size_t lines;
    struct line line;
    const char *text;
} impossible_here[] = {
    {0,
     {4, 0, "observed", "{\"told\":1}"},
     "0/0 the trial was never suggested"},
    {5,
     {4, 9, "observed", "{\"told\":3,\"resource\":1}"},
     "1/1 the result has place 3, but the one before has place 0"},
    {5,
     {4, 0, "paused", "{\"state\":\"paused\"}"},
     "1/0 'paused' without an observation that paused the trial"},
    {7,
     {4, 9, "observed", "{\"told\":2,\"resource\":0}"},
     "1/1 the observation before has more resource"},
    {7,
     {4, 0, "promoted", "{\"state\":\"ready\",\"told\":2,\"resource\":1}"},
     "1/0 promoted to 1, but it had already used as much"},
    {7,
     {4, 0, "promoted", "{\"state\":\"paused\",\"told\":2,\"resource\":3}"},
     "1/0 'promoted' changes a trial from paused to ready, not "
     "to paused"},
    {8,
     {4, 0, "promoted", "{\"state\":\"ready\",\"told\":3,\"resource\":9}"},
     "1/0 'promoted' is not possible while the trial is ready"},
};

static void test_fsck_fold__a_schedule_gives_what_it_can(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(impossible_here); i++) {
        struct said said = {0};
        struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);

        add(fold, begin, 1);
        add(fold, scheduled, impossible_here[i].lines);
        assert_int_equal(said.count, 0);
        add(fold, &impossible_here[i].line, 1);
        assert_true(said.count > 0);
        assert_string_equal(said.last, impossible_here[i].text);
        fsck_fold_destroy(fold);
    }
}

static void test_fsck_fold__a_run_is_paused_and_goes_on(void **state)
{
    static const struct line jumped = {0, 0, "clock_jumped", "{\"by_ms\":-9}"};
    static const struct line paused = {0, 0, "run_paused", ""};
    static const struct line resumed = {0, 0, "run_resumed", ""};
    struct said said = {0};
    struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);

    (void)state;
    add(fold, begin, ARRAY_LEN(begin));
    add(fold, &jumped, 1);
    add(fold, &paused, 1);
    must_be(fsck_fold_find(fold, IMAGE_RUN, 1), RUN_CELL_PAUSED_MS, "100");
    add(fold, &resumed, 1);
    must_be(fsck_fold_find(fold, IMAGE_RUN, 1), RUN_CELL_PAUSED_MS, "NULL");
    assert_int_equal(said.count, 0);
    fsck_fold_destroy(fold);
}

static void test_fsck_fold__an_attempt_waits_in_a_queue(void **state)
{
    static const struct line queued = {4, 9, "attempt_queued",
                                       "{\"handle\":\"31\"}"};
    static const struct line again = {4, 9, "attempt_queued",
                                      "{\"handle\":\"32\"}"};
    struct said said = {0};
    struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);
    struct fsck_fold_row *row;

    (void)state;
    add(fold, begin, ARRAY_LEN(begin));
    add(fold, &queued, 1);
    add(fold, &again, 1);
    row = fsck_fold_find(fold, IMAGE_ATTEMPT, 9);
    must_be(row, ATTEMPT_CELL_HANDLE, "32");
    must_be(row, ATTEMPT_CELL_QUEUED_MS, "100");
    add(fold, finish, ARRAY_LEN(finish));
    assert_int_equal(said.count, 0);
    fsck_fold_destroy(fold);
}

static void test_fsck_fold__people_add_to_a_run(void **state)
{
    static const struct line added[] = {
        {0, 0, "commented", "{\"comment\":\"of the run\"}"},
        {4, 0, "tagged", "{\"tags\":[\"a\"]}"},
        {4, 0, "commented", "{\"comment\":\"of the trial\"}"},
        {4, 0, "commented", ""},
        {0, 0, "enqueued", "{\"idx\":1,\"params\":{\"x\":2}}"},
        {0, 0, "answered", "{\"ok\":true,\"enqueued\":1,\"id\":\"a\"}"},
    };
    static const struct line tries = {
        5, 0, "suggested",
        "{\"state\":\"ready\",\"number\":2,\"seen\":1,\"enqueued\":1}"};
    static const struct line tries_again = {
        6, 0, "suggested",
        "{\"state\":\"ready\",\"number\":3,\"seen\":1,\"enqueued\":1}"};
    struct said said = {0};
    struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);
    struct fsck_fold_row *row;

    (void)state;
    add(fold, begin, ARRAY_LEN(begin));
    add(fold, finish, ARRAY_LEN(finish));
    add(fold, added, ARRAY_LEN(added));
    assert_int_equal(said.count, 0);
    must_be(fsck_fold_find(fold, IMAGE_RUN, 1), RUN_CELL_COMMENT, "of the run");
    row = fsck_fold_find(fold, IMAGE_JOB, 4);
    must_be(row, JOB_CELL_TAGS, "[\"a\"]");
    must_be(row, JOB_CELL_COMMENT, "NULL");
    row = fsck_fold_find(fold, IMAGE_ENQUEUED, 1);
    must_be(row, ENQUEUED_CELL_CREATED_MS, "104");
    must_be(row, ENQUEUED_CELL_TRIAL, "NULL");
    add(fold, &tries, 1);
    assert_int_equal(said.count, 0);
    must_be(row, ENQUEUED_CELL_TRIAL, "2");
    add(fold, &tries_again, 1);
    assert_string_equal(said.last, "3/0 setting 1 was already tried");
    fsck_fold_destroy(fold);
}

static void test_fsck_fold__a_budget_has_a_trial(void **state)
{
    static const struct line lines[] = {
        {0, 0, "run_created", "{\"state\":\"running\",\"name\":\"r\"}"},
        {0, 0, "budget_changed", "{\"budget_trials\":1}"},
        {0, 0, "budget_changed", "{\"budget_trials\":0}"},
    };
    struct said said = {0};
    struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);

    (void)state;
    add(fold, lines, 2);
    assert_string_equal(said.last, "");
    add(fold, lines + 2, 1);
    assert_string_equal(said.last, "0/0 out of range: budget_trials is 0");
    fsck_fold_destroy(fold);
}

static void test_fsck_fold__a_budget_changes(void **state)
{
    static const struct line changes[] = {
        {0, 0, "budget_changed", "{\"budget_trials\":9}"},
        {0, 0, "budget_changed", "{\"budget_trials\":1}"},
        {0, 0, "budget_changed", "{\"budget_time_ms\":700}"},
    };
    struct said said = {0};
    struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);

    (void)state;
    add(fold, begin, ARRAY_LEN(begin));
    must_be(fsck_fold_find(fold, IMAGE_RUN, 1), RUN_CELL_BUDGET_TRIALS, "NULL");
    add(fold, changes, 1);
    must_be(fsck_fold_find(fold, IMAGE_RUN, 1), RUN_CELL_BUDGET_TRIALS, "9");
    add(fold, changes + 1, 1);
    must_be(fsck_fold_find(fold, IMAGE_RUN, 1), RUN_CELL_BUDGET_TRIALS, "1");
    must_be(fsck_fold_find(fold, IMAGE_RUN, 1), RUN_CELL_BUDGET_TIME_MS,
            "NULL");
    add(fold, changes + 2, 1);
    must_be(fsck_fold_find(fold, IMAGE_RUN, 1), RUN_CELL_BUDGET_TRIALS, "1");
    must_be(fsck_fold_find(fold, IMAGE_RUN, 1), RUN_CELL_BUDGET_TIME_MS, "700");
    assert_int_equal(said.count, 0);
    fsck_fold_destroy(fold);
}

static void test_fsck_fold__its_code_changes(void **state)
{
    static const struct line changes[] = {
        {0, 0, "revision_changed", "{\"revision\":\"1f3a\"}"},
        {0, 0, "revision_changed", "{\"revision\":\"77e0-dirty\"}"},
        {0, 0, "origin", "{\"host\":\"n1\"}"},
    };
    struct said said = {0};
    struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);

    (void)state;
    add(fold, begin, ARRAY_LEN(begin));
    must_be(fsck_fold_find(fold, IMAGE_RUN, 1), RUN_CELL_REVISION, "NULL");
    add(fold, changes, ARRAY_LEN(changes));
    must_be(fsck_fold_find(fold, IMAGE_RUN, 1), RUN_CELL_REVISION,
            "77e0-dirty");
    assert_int_equal(said.count, 0);
    fsck_fold_destroy(fold);
}

static void test_fsck_fold__the_first_event_makes_the_run(void **state)
{
    struct said said = {0};
    struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);

    (void)state;
    add(fold, &begin[1], 1);
    assert_int_equal(said.count, 1);
    assert_string_equal(
        said.last, "0/0 the first event of the run is 'engine_started', not "
                   "'run_created'");
    fsck_fold_destroy(fold);
    fsck_fold_destroy(NULL);
}

static void test_fsck_fold__what_ends_without_a_beginning_has_none(void **state)
{
    static const struct line lines[] = {
        {4, 9, "attempt_running", "{\"pid\":70}"},
        {4, 0, "started", "{\"state\":\"running\",\"started_ms\":1}"},
        {4, 9, "attempt_ended", "{\"cause\":\"cancelled\"}"},
    };
    struct said said = {0};
    struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);
    struct fsck_fold_row *row;

    (void)state;
    add(fold, begin, ARRAY_LEN(begin));
    add(fold, lines, 2);
    row = fsck_fold_find(fold, IMAGE_ATTEMPT, 9);
    assert_int_equal(row->cells[ATTEMPT_CELL_STARTED_MS].type, VALUE_INT);
    add(fold, lines + 2, 1);
    must_be(row, ATTEMPT_CELL_STARTED_MS, "NULL");
    fsck_fold_destroy(fold);
}

/* Ids need not rise, and many rows fit. */
static void test_fsck_fold__rows_are_found_by_id(void **state)
{
    struct said said = {0};
    struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);
    size_t count;

    (void)state;
    add(fold, begin, 1);
    for (int64_t i = 0; i < 2000; i++) {
        char detail[64];
        struct line line = {1 + i * 7 % 2000, 0, "suggested", detail};

        snprintf(detail, sizeof(detail),
                 "{\"state\":\"ready\",\"number\":%d,\"seen\":0}", (int)i + 1);
        add(fold, &line, 1);
    }
    assert_int_equal(said.count, 0);
    fsck_fold_rows(fold, IMAGE_JOB, &count);
    assert_int_equal(count, 2000);
    for (int64_t i = 0; i < 2000; i++)
        assert_int_equal(
            fsck_fold_trial(fold, IMAGE_JOB,
                            fsck_fold_find(fold, IMAGE_JOB, 1 + i * 7 % 2000)),
            i + 1);
    fsck_fold_destroy(fold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fsck_fold__a_run_comes_to_its_rows),
        cmocka_unit_test(test_fsck_fold__what_cannot_be_is_said),
        cmocka_unit_test(test_fsck_fold__a_state_that_does_not_follow_is_said),
        cmocka_unit_test(test_fsck_fold__a_trial_that_is_put_back_starts_anew),
        cmocka_unit_test(test_fsck_fold__a_trial_pauses_and_goes_on),
        cmocka_unit_test(test_fsck_fold__a_schedule_gives_what_it_can),
        cmocka_unit_test(test_fsck_fold__a_run_is_paused_and_goes_on),
        cmocka_unit_test(test_fsck_fold__an_attempt_waits_in_a_queue),
        cmocka_unit_test(test_fsck_fold__people_add_to_a_run),
        cmocka_unit_test(test_fsck_fold__a_budget_has_a_trial),
        cmocka_unit_test(test_fsck_fold__a_budget_changes),
        cmocka_unit_test(test_fsck_fold__its_code_changes),
        cmocka_unit_test(test_fsck_fold__the_first_event_makes_the_run),
        cmocka_unit_test(
            test_fsck_fold__what_ends_without_a_beginning_has_none),
        cmocka_unit_test(test_fsck_fold__rows_are_found_by_id),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
