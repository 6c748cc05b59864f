/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that end alone, by their user or by their step. */
#include "orchestrator/engine/cancel_jobs.h"

#include "orchestrator/engine/core/cancel_step.h"
#include "orchestrator/run/cancel_jobs.h"
#include "tests/unit/orchestrator/engine/engine_test.h"

/* An end with status 75 is tried again, later than any test lasts. */
#define COPIES                                                                 \
    "version: 1\n"                                                             \
    "name: w\n"                                                                \
    "parallel: 8\n"                                                            \
    "steps:\n"                                                                 \
    "  many: {copies: 3, fail_fast: kill, command: 'true',\n"                  \
    "         resources: {cpus: 0},\n"                                         \
    "         retry: [{match: ['exit:75'], max: 1, delay: 1h}]}\n"

/* The attempt has exited, and its output has not been read to the end. */
static void end_unread(struct bench *bench, int64_t number, int exit_code)
{
    struct job *job = live_trial(bench, number);
    char *directory = workspace_attempt_directory(bench->engine->workspaces,
                                                  number, job->attempt_number);

    put(directory, ".", "log", "the last line");
    job->end = (struct attempt_exit){.attempt = job->attempt,
                                     .cause = CAUSE_EXIT,
                                     .exit_code = exit_code,
                                     .started_ms = clock_wall_ms(),
                                     .ended_ms = clock_wall_ms() + 5};
    job->has_ended = true;
    free(directory);
}

static void read_all(struct bench *bench)
{
    while (engine_read_trials(bench->engine, 10))
        ;
    must_hold(bench);
}

/* The request of a user, who finds the job in the record. */
static void cancel_by_user(struct bench *bench, int64_t number)
{
    struct err err = {0};

    assert_true(engine_begin(bench->engine));
    must(cancel_jobs(bench->store, bench->run->id, &number, 1, &err));
    assert_true(engine_commit_now(bench->engine));
    engine_cancel_job(bench->engine, number);
    must_hold(bench);
}

/* In one turn: the first copy would be tried again, and then the second one
 * fails, by which the step is lost. */
static void test_engine_cancel__a_retry_of_the_same_turn(void **state)
{
    BENCH(bench, *state, COPIES);
    struct engine *engine = bench.engine;

    engine->parallel = 8;
    must_start(&bench);
    must_end(&bench, 1, CAUSE_EXIT, "");
    assert_int_equal(TAILQ_FIRST(&engine->queues.settled)->state, JOB_WAITING);
    must_end(&bench, 2, CAUSE_SIGNAL, "");
    assert_true(engine_commit_now(engine));
    must_cancel(&bench, "3 term, ");
    assert_int_equal(engine->queues.cancel_count, 1);
    must_end(&bench, 3, CAUSE_CANCELLED, "");
    dispatch_all(engine);
    must_commit(&bench);
    must_be_recorded(&bench, "cancelled failed cancelled ");
    assert_int_equal(engine->queues.cancel_count, 0);
    end_bench(&bench);
}

static void test_engine_cancel__of_a_step_while_an_end_is_read(void **state)
{
    BENCH(bench, *state, COPIES);
    struct engine *engine = bench.engine;

    engine->parallel = 8;
    must_start(&bench);
    end_unread(&bench, 1, 75);
    must_end(&bench, 2, CAUSE_SIGNAL, "");
    assert_true(engine_commit_now(engine));
    must_cancel(&bench, "3 term, ");
    read_all(&bench);
    must_end(&bench, 3, CAUSE_SIGNAL, ""); /* as it was told */
    must_commit(&bench);
    must_be_recorded(&bench, "cancelled failed cancelled ");
    end_bench(&bench);
}

/* Nobody has told them to end. */
static void test_engine_cancel__what_fails_in_the_same_turn_has_failed(
    void **state)
{
    BENCH(bench, *state, COPIES);
    struct engine *engine = bench.engine;

    engine->parallel = 8;
    must_start(&bench);
    end_unread(&bench, 1, 1);
    must_end(&bench, 2, CAUSE_SIGNAL, "");
    must_end(&bench, 3, CAUSE_SIGNAL, "");
    assert_true(engine_commit_now(engine));
    read_all(&bench);
    must_commit(&bench);
    must_cancel(&bench, "");
    must_be_recorded(&bench, "failed failed failed ");
    end_bench(&bench);
}

static void test_engine_cancel__of_a_user_while_an_end_is_read(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);

    must_start(&bench);
    end_unread(&bench, 1, 75);
    end_unread(&bench, 2, 1);
    cancel_by_user(&bench, 1);
    cancel_by_user(&bench, 2);
    must_cancel(&bench, ""); /* there is nothing to end */
    read_all(&bench);
    must_commit(&bench);
    must_be_recorded(&bench, "cancelled failed ");
    end_bench(&bench);
}

/* The record and what is reported name who ended it last. */
static void test_engine_cancel__of_a_user_after_that_of_the_step(void **state)
{
    BENCH(bench, *state, COPIES);
    struct engine *engine = bench.engine;

    engine->parallel = 8;
    must_start(&bench);
    must_end(&bench, 1, CAUSE_EXIT, "");
    must_end(&bench, 2, CAUSE_SIGNAL, "");
    assert_true(engine_commit_now(engine));
    assert_true(TAILQ_FIRST(&engine->queues.waiting)->is_ended_by_step);
    cancel_by_user(&bench, 1);
    assert_int_equal(engine->queues.cancel_count, 1);
    dispatch_all(engine);
    assert_string_equal(TAILQ_FIRST(&engine->queues.settled)->end.text,
                        "stopped by its user");
    end_bench(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_engine_cancel__a_retry_of_the_same_turn),
        STORE_TEST(test_engine_cancel__of_a_step_while_an_end_is_read),
        STORE_TEST(test_engine_cancel__what_fails_in_the_same_turn_has_failed),
        STORE_TEST(test_engine_cancel__of_a_user_while_an_end_is_read),
        STORE_TEST(test_engine_cancel__of_a_user_after_that_of_the_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
