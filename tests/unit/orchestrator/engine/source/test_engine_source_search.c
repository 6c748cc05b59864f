/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is next in a search: suggestions, until the budget or they are used up.
 */
#include "orchestrator/engine/source/search.h"

#include "orchestrator/engine/core/tally.h"
#include "orchestrator/engine/source/suggest.h"
#include "tests/unit/orchestrator/engine/engine_test.h"

#define GRID                                                                   \
    "version: 1\n"                                                             \
    "objective: {metric: loss, goal: minimize}\n"                              \
    "parameters:\n"                                                            \
    "  k: {type: int, min: 1, max: 2}\n"                                       \
    "search: {method: grid}\n"                                                 \
    "budget: {trials: 10, parallel: 2}\n"                                      \
    "trial:\n"                                                                 \
    "  command: train ${{ k }}\n"                                              \
    "  resources: {cpus: 0}\n"

#define LEARNING                                                               \
    "version: 1\n"                                                             \
    "objective: {metric: loss, goal: minimize}\n"                              \
    "parameters: {x: {type: float, min: 0, max: 1}}\n"                         \
    "search: {method: tpe, seed: 1}\n"                                         \
    "budget: {trials: 4}\n"                                                    \
    "trial: {command: 'train ${{ x }}'}\n"

static void test_search__suggests_up_to_the_budget(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;

    for (int64_t n = 1; n <= 4; n++) {
        const struct job *job = must_begin(&bench);

        assert_int_equal(job->number, n);
        assert_int_equal(job->state, JOB_READY);
        assert_true(job->id > 0);
    }
    assert_false(engine_may_suggest(engine));
    assert_false(engine->source->next(engine));
    assert_false(engine->wind_up.is_exhausted);
    must_commit(&bench);
    must_be_recorded(&bench, "ready ready ready ready ");
    end_bench(&bench);
}

static void test_search__a_space_that_is_used_up(void **state)
{
    BENCH(bench, *state, GRID);
    struct engine *engine = bench.engine;

    must_begin(&bench);
    must_begin(&bench);
    assert_false(engine->source->next(engine));
    assert_true(engine->wind_up.is_exhausted);
    engine->source->conclude(engine);
    assert_int_equal(bench.result.verdict, BUDGET_TRIALS);
    assert_int_equal(bench.result.state, RUN_FAILED);
    assert_string_equal(bench.result.reason, BUDGET_IN_VAIN BUDGET_ALL_TRIED);
    end_bench(&bench);
}

/* A method that learns is not asked before it has to be. */
static void test_search__looks_ahead_where_nothing_is_learnt(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);

    assert_true(bench.engine->looks_ahead);
    end_bench(&bench);
}

static void test_search__does_not_where_it_learns(void **state)
{
    BENCH(bench, *state, LEARNING);

    assert_false(bench.engine->looks_ahead);
    end_bench(&bench);
}

/* A result goes to the tally, and to the strategy. */
static void test_search__learns_of_an_end(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;

    must_start(&bench);
    must_end(&bench, 2, CAUSE_OK, "loss=0.75\nloss=0.25\n");
    must_end(&bench, 1, CAUSE_OK, "loss=0.5\n");
    assert_int_equal(engine->tally.succeeded, 2);
    assert_int_equal(engine->tally.best_trial, 2);
    assert_true(engine->tally.best == 0.25);
    assert_int_equal(engine->transaction.told_count, 2);
    must_commit(&bench);
    end_bench(&bench);
}

static void test_search__one_that_nothing_succeeded_in_failed(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine *engine = bench.engine;

    engine->source->conclude(engine);
    assert_int_equal(bench.result.state, RUN_FAILED);
    bench.result = (struct engine_result){
        .state = RUN_SUCCEEDED, .verdict = BUDGET_TARGET, .reason = "reached"};
    engine->tally.succeeded = 1;
    engine->source->conclude(engine);
    assert_int_equal(bench.result.state, RUN_SUCCEEDED);
    assert_int_equal(bench.result.verdict, BUDGET_TARGET);
    assert_string_equal(bench.result.reason, "reached");
    end_bench(&bench);
}

static void test_search__says_what_it_is(void **state)
{
    BENCH(bench, *state, TEST_SEARCH);
    struct engine_status status = {0};
    struct reopen_steps steps = {0};
    struct err err;

    bench.engine->source->describe(bench.engine, &status);
    assert_string_equal(status.method, "random");
    assert_null(status.steps);
    assert_int_equal(bench.engine->source->may_enqueue(bench.engine, &err), 0);
    assert_int_equal(
        bench.engine->source->find_reopened(bench.engine, NULL, &steps, &err),
        -1);
    assert_string_equal(err.text, "nothing has failed");
    end_bench(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_search__suggests_up_to_the_budget),
        STORE_TEST(test_search__a_space_that_is_used_up),
        STORE_TEST(test_search__looks_ahead_where_nothing_is_learnt),
        STORE_TEST(test_search__does_not_where_it_learns),
        STORE_TEST(test_search__learns_of_an_end),
        STORE_TEST(test_search__one_that_nothing_succeeded_in_failed),
        STORE_TEST(test_search__says_what_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
