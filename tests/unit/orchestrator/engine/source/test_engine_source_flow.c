/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is next in a workflow: steps begin, their copies start, and they end. */
#include "orchestrator/engine/source/flow.h"

#include "orchestrator/engine/cancel_jobs.h"
#include "orchestrator/engine/core/take_up.h"
#include "orchestrator/engine/ending.h"
#include "orchestrator/engine/recover.h"
#include "tests/unit/orchestrator/engine/engine_test.h"

#define CHAIN                                                                  \
    "version: 1\n"                                                             \
    "name: w\n"                                                                \
    "parallel: 8\n"                                                            \
    "steps:\n"                                                                 \
    "  first: {command: 'true', resources: {cpus: 0}}\n"                       \
    "  many: {needs: first, copies: 3, parallel: 2, command: 'true',\n"        \
    "         resources: {cpus: 0}}\n"                                         \
    "  last: {needs: many, command: 'true', resources: {cpus: 0}}\n"

#define CONDITION                                                              \
    "version: 1\n"                                                             \
    "name: w\n"                                                                \
    "steps:\n"                                                                 \
    "  never: {if: 1 > 2, command: 'true', resources: {cpus: 0}}\n"            \
    "  then: {needs: never, command: 'true', resources: {cpus: 0}}\n"

#define CACHED                                                                 \
    "version: 1\n"                                                             \
    "name: w\n"                                                                \
    "steps: {only: {command: 'true', cache: true, resources: {cpus: 0}}}\n"

static int append_step(void *user, const struct step_row *row)
{
    buf_printf(user, "%s ", row->state);
    return 0;
}

static void must_be_steps(struct bench *bench, const char *states)
{
    struct buf found = BUF_INIT;
    struct err err = {0};

    must(store_each_step(bench->store, bench->run->id, append_step, &found,
                         &err));
    assert_string_equal(buf_text(&found), states);
    buf_clear(&found);
}

static void test_flow__a_step_begins_when_what_it_needs_ended(void **state)
{
    BENCH(bench, *state, CHAIN);
    struct engine *engine = bench.engine;

    engine->parallel = 8;
    must_start(&bench);
    assert_int_equal(engine->queues.live_count, 1);
    must_commit(&bench);
    must_be_steps(&bench, "active waiting waiting ");
    must_end(&bench, 1, CAUSE_OK, "");
    must_start(&bench);
    must_commit(&bench);
    must_be_steps(&bench, "succeeded active waiting ");
    assert_int_equal(engine->queues.live_count, 2); /* as it may have */
    must_end(&bench, 2, CAUSE_OK, "");
    must_end(&bench, 3, CAUSE_OK, "");
    must_start(&bench);
    assert_int_equal(engine->queues.live_count, 1);
    must_end(&bench, 4, CAUSE_OK, "");
    must_start(&bench);
    must_end(&bench, 5, CAUSE_OK, "");
    must_start(&bench);
    assert_true(engine_is_over(engine));
    must_commit(&bench);
    must_be_steps(&bench, "succeeded succeeded succeeded ");
    engine->source->conclude(engine);
    assert_int_equal(bench.result.state, RUN_SUCCEEDED);
    assert_string_equal(bench.result.reason, "all steps have finished");
    end_bench(&bench);
}

static void test_flow__what_needs_one_that_failed_is_skipped(void **state)
{
    BENCH(bench, *state, CHAIN);
    struct engine *engine = bench.engine;

    must_start(&bench);
    must_end(&bench, 1, CAUSE_SIGNAL, "");
    must_start(&bench);
    assert_true(engine_is_over(engine));
    must_commit(&bench);
    must_be_steps(&bench, "failed skipped skipped ");
    must_be_recorded(&bench, "failed ");
    engine->source->conclude(engine);
    assert_int_equal(bench.result.state, RUN_FAILED);
    assert_string_equal(
        bench.result.reason,
        "step 'first' failed; 2 steps were skipped because of a failure");
    end_bench(&bench);
}

static void test_flow__a_condition_that_is_not_true(void **state)
{
    BENCH(bench, *state, CONDITION);

    must_start(&bench);
    must_commit(&bench);
    must_be_steps(&bench, "skipped skipped ");
    assert_true(engine_is_over(bench.engine));
    end_bench(&bench);
}

/* The run's end leaves no step open. */
static void test_flow__the_runs_end_closes_what_is_open(void **state)
{
    BENCH(bench, *state, CHAIN);
    struct engine *engine = bench.engine;

    must_start(&bench);
    engine_use_up_budget(engine, BUDGET_TIME);
    must_end(&bench, 1, CAUSE_CANCELLED, "");
    assert_true(engine_commit_now(engine));
    assert_true(engine_is_over(engine));
    assert_false(engine_close_rest(engine));
    must_commit(&bench);
    must_be_recorded(&bench, "stopped ");
    must_be_steps(&bench, "failed skipped skipped ");
    engine->source->conclude(engine);
    assert_int_equal(bench.result.state, RUN_FAILED);
    assert_string_equal(bench.result.reason, budget_verdict_text(BUDGET_TIME));
    end_bench(&bench);
}

/* An engine that resumes the run knows which copies are over. */
static void test_flow__goes_on_after_a_crash(void **state)
{
    BENCH(bench, *state, CHAIN);
    struct err err = {0};

    must_start(&bench);
    must_end(&bench, 1, CAUSE_OK, "");
    must_start(&bench);
    must_end(&bench, 3, CAUSE_OK, "");
    must_commit(&bench);
    end_engine(&bench);
    begin_engine(&bench);
    bench.engine->parallel = 8;
    must(engine_recover(bench.engine, &err));
    assert_int_equal(bench.engine->queues.live_count, 1);
    assert_int_equal(live_trial(&bench, 2)->copy, 0);
    must_start(&bench);
    assert_int_equal(bench.engine->queues.live_count, 2);
    assert_int_equal(live_trial(&bench, 4)->copy, 2);
    end_bench(&bench);
}

/* The engine crashes before the record has that the attempt began. */
static void test_flow__keeps_the_key_of_a_job_that_was_handed_over(void **state)
{
    BENCH(bench, *state, CACHED);
    struct engine *engine = bench.engine;
    char key[DIGEST_HEX_SIZE];
    struct err err = {0};

    dispatch_all(engine);
    assert_int_equal(engine->queues.asked_count, 1);
    while (engine->queues.asked_count > 0)
        uv_run(&engine->loop, UV_RUN_ONCE);
    dispatch_all(engine);
    engine_commit_now(engine);
    must_hold(&bench);
    snprintf(key, sizeof(key), "%s", live_trial(&bench, 1)->cache_key);
    must_be_recorded(&bench, "ready ");
    end_engine(&bench);
    begin_engine(&bench);
    must(engine_recover(bench.engine, &err));
    assert_non_null(live_trial(&bench, 1)->cache_key);
    assert_string_equal(live_trial(&bench, 1)->cache_key, key);
    end_bench(&bench);
}

/* The cache answers that there is a result whose temporary output is missing.
 */
static struct job *hold(struct bench *bench, struct job *job)
{
    struct engine *engine = bench->engine;
    json_t *outputs = json_pack("{s:{}, s:[s]}", CACHE_HASHES, CACHE_MISSING, //
                                "made");
    const struct cache_answer answer = {
        .key = job->cache_key,
        .text = "",
        .job = 9,
        .source = "job 9 of run 'w'",
        .outputs = outputs,
        .lacks_temps = true,
    };

    job->was_asked = true;
    engine_set_aside(engine, job);
    engine_hold(engine, job, &answer);
    json_decref(outputs);
    while (engine->foresight.forecast != NULL)
        uv_run(&engine->loop, UV_RUN_ONCE);
    return TAILQ_FIRST(&engine->queues.ready);
}

static struct job *ask_about_the_only(struct bench *bench)
{
    struct engine *engine = bench->engine;

    dispatch_all(engine);
    while (engine->queues.asked_count > 0)
        uv_run(&engine->loop, UV_RUN_ONCE);
    return TAILQ_FIRST(&engine->queues.ready);
}

/* A forecast and the cache may differ, as files come and go: that is asked for
 * once more, and then the job runs. */
static void test_flow__what_no_forecast_has_runs(void **state)
{
    BENCH(bench, *state, CACHED);
    struct engine *engine = bench.engine;
    struct job *job = ask_about_the_only(&bench);

    assert_ptr_equal(hold(&bench, job), job);
    assert_false(job->was_asked);
    engine->foresight.not_before_ms = 0;
    assert_ptr_equal(hold(&bench, job), job);
    assert_true(job->was_asked);
    assert_string_equal(job->cache_note,
                        "cache miss: the temporary output of job 9 of run 'w' "
                        "is missing, and a later step may need it");
    assert_int_equal(engine->steps->now[0].held, 0);
    must_start(&bench);
    assert_int_equal(engine->queues.live_count, 1);
    end_bench(&bench);
}

static void test_flow__takes_a_result_that_lacks_what_nothing_needs(
    void **state)
{
    BENCH(bench, *state, CACHED);
    struct engine *engine = bench.engine;
    struct job *job = ask_about_the_only(&bench);

    job->takes_lacking = true;
    assert_null(hold(&bench, job));
    assert_ptr_equal(TAILQ_FIRST(&engine->queues.settled), job);
    assert_int_equal(job->state, JOB_SUCCEEDED);
    assert_int_equal(job->cached_from, 9);
    must_commit(&bench);
    must_be_recorded(&bench, "succeeded ");
    end_bench(&bench);
}

static void test_flow__held_jobs_can_be_given_up(void **state)
{
    BENCH(bench, *state, CACHED);
    struct engine *engine = bench.engine;
    struct job *job = ask_about_the_only(&bench);

    engine->foresight.not_before_ms = INT64_MAX; /* no forecast begins */
    assert_null(hold(&bench, job));
    assert_ptr_equal(TAILQ_FIRST(&engine->queues.held), job);
    assert_false(engine_is_over(engine));
    engine->source->recall(engine);
    assert_true(TAILQ_EMPTY(&engine->queues.held));
    assert_ptr_equal(TAILQ_FIRST(&engine->queues.ready), job);
    assert_null(hold(&bench, job));
    engine_cancel_job(engine, 1);
    engine_end_cancelled(engine);
    assert_true(TAILQ_EMPTY(&engine->queues.held));
    assert_int_equal(engine->queues.cancel_count, 0);
    must_commit(&bench);
    must_be_recorded(&bench, "cancelled ");
    end_bench(&bench);
}

/* Only if nothing else goes on, a forecast begins before its time. */
static void test_flow__a_forecast_is_made_at_once_where_all_waits(void **state)
{
    BENCH(bench, *state, CACHED);
    struct engine *engine = bench.engine;
    struct job *job = ask_about_the_only(&bench);

    engine->foresight.not_before_ms = INT64_MAX;
    assert_null(hold(&bench, job));
    engine_foresee(engine);
    assert_null(engine->foresight.forecast);
    assert_false(engine_run_held(engine));
    assert_non_null(engine->foresight.forecast);
    end_bench(&bench);
}

/* Put back while its step has no room: it waits in line, and is called when a
 * job of the step is over. */
static void test_flow__a_job_that_is_put_back_waits_for_room(void **state)
{
    BENCH(bench, *state, CHAIN);
    struct engine *engine = bench.engine;
    struct reopening found = {.number = 2, .step = 1, .copy = 0};
    enum step_fate fates[3] = {0};
    struct reopen_steps steps = {
        .found = &found, .found_count = 1, .fates = fates};
    struct err err = {0};
    struct job *job;

    engine->parallel = 8;
    must_start(&bench);
    must_end(&bench, 1, CAUSE_OK, "");
    must_start(&bench);
    must_end(&bench, 2, CAUSE_OK, "");
    must_start(&bench); /* the third copy has its place */
    assert_int_equal(engine->queues.live_count, 2);
    assert_true(engine_begin(engine));
    must(reopen_job(bench.store, 2, &err));
    job = engine_take_up(engine, 2, JOB_READY, &err);
    assert_non_null(job);
    assert_true(job->is_reopened);
    engine->source->reopened(engine, &steps);
    must_hold(&bench);
    assert_ptr_equal(TAILQ_FIRST(&engine->queues.requeued), job);
    assert_true(TAILQ_EMPTY(&engine->queues.ready));
    must_end(&bench, 3, CAUSE_OK, "");
    assert_ptr_equal(TAILQ_FIRST(&engine->queues.ready), job);
    engine->source->recall(engine);
    assert_true(TAILQ_EMPTY(&engine->queues.requeued));
    end_bench(&bench);
}

static void test_flow__says_what_it_is(void **state)
{
    BENCH(bench, *state, CHAIN);
    struct engine_status status = {0};
    struct buf why = BUF_INIT;
    int64_t about = 0;
    struct err err;

    must_start(&bench);
    bench.engine->source->describe(bench.engine, &status);
    assert_string_equal(status.method, "");
    assert_int_equal(status.steps->total, 3);
    assert_int_equal(status.steps->active, 1);
    assert_string_equal(status.steps->names, "first");
    assert_int_equal(bench.engine->source->may_enqueue(bench.engine, &err), -1);
    assert_string_equal(err.text, "a workflow has no search");
    assert_true(bench.engine->source->is_idle(bench.engine, &about, &why));
    assert_non_null(
        strstr(buf_text(&why), "step 'many' needs 'first' (active)"));
    buf_clear(&why);
    end_bench(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_flow__a_step_begins_when_what_it_needs_ended),
        STORE_TEST(test_flow__what_needs_one_that_failed_is_skipped),
        STORE_TEST(test_flow__a_condition_that_is_not_true),
        STORE_TEST(test_flow__the_runs_end_closes_what_is_open),
        STORE_TEST(test_flow__goes_on_after_a_crash),
        STORE_TEST(test_flow__keeps_the_key_of_a_job_that_was_handed_over),
        STORE_TEST(test_flow__what_no_forecast_has_runs),
        STORE_TEST(test_flow__takes_a_result_that_lacks_what_nothing_needs),
        STORE_TEST(test_flow__held_jobs_can_be_given_up),
        STORE_TEST(test_flow__a_forecast_is_made_at_once_where_all_waits),
        STORE_TEST(test_flow__a_job_that_is_put_back_waits_for_room),
        STORE_TEST(test_flow__says_what_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
