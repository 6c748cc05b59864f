/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <math.h>

#include "tests/unit/store/store_test.h"

static const struct outcome_bounds bounds[] = {
    {"latency_ms", -(double)INFINITY, 20.0},
    {"recall", 0.5, 0.9},
};

enum { BOUNDS = sizeof(bounds) / sizeof(bounds[0]) };

static int64_t add_run(struct store *store, const char *goal)
{
    struct err err = {0};
    int64_t run;

    must(store_add_run(store,
                       &(struct run_new){
                           .name = goal,
                           .kind = "experiment",
                           .spec = "",
                           .overrides = "[]",
                           .spec_path = "",
                           .work_directory = "/tmp",
                           .metrics = (const char *const[]){"loss"},
                           .goals = (const char *const[]){goal},
                           .objective_count = 1,
                           .outcomes = bounds,
                           .outcome_count = BOUNDS,
                           .time_ms = 1,
                       },
                       &run, &err));
    return run;
}

static void add_trial(struct store *store, int64_t run, int64_t number,
                      double value, double violation)
{
    struct err err = {0};
    const double outcomes[BOUNDS] = {20.0 + violation, (double)NAN};
    struct job_change change = {.run = run,
                                .state = "succeeded",
                                .cause = "ok",
                                .event = "succeeded",
                                .time_ms = 2,
                                .ended_ms = 2,
                                .values = &value,
                                .value_count = 1,
                                .outcomes = outcomes,
                                .outcome_count = BOUNDS,
                                .violation = violation};

    must(store_add_job(store,
                       &(struct job_new){.run = run,
                                         .number = number,
                                         .state = "running",
                                         .step = -1,
                                         .time_ms = 1},
                       &change.job, &err));
    must(store_change_job(store, &change, &err));
}

static struct store *fill(const char *folder, const char *goal)
{
    struct err err = {0};
    struct store *store = must_open(folder, STORE_CREATE);
    int64_t run;

    must(store_begin(store, &err));
    run = add_run(store, goal);
    add_trial(store, run, 1, 1.0, 3.0);
    add_trial(store, run, 2, 5.0, 0.0);
    add_trial(store, run, 3, 4.0, 0.0);
    add_trial(store, run, 4, 9.0, 0.5);
    add_trial(store, run, 5, (double)NAN, 0.0);
    add_trial(store, run, 6, 2.0, (double)INFINITY);
    must(store_commit(store, &err));
    return store;
}

static int check_bounds(void *user, const struct outcome_bounds *outcome)
{
    size_t *count = user;

    assert_string_equal(outcome->metric, bounds[*count].metric);
    assert_true(outcome->min == bounds[*count].min);
    assert_true(outcome->max == bounds[*count].max);
    ++*count;
    return 0;
}

static void test_store__keeps_the_bounds_of_outcomes(void **state)
{
    struct err err = {0};
    struct store *store = fill(*state, "minimize");
    size_t count = 0;

    must(store_each_outcome(store, 1, check_bounds, &count, &err));
    assert_int_equal(count, BOUNDS);
    must(store_each_outcome(store, 2, check_bounds, &count, &err));
    store_close(store);
}

struct numbers {
    int64_t items[8];
    size_t count;
};

static int keep_number(void *user, const struct trial_row *trial)
{
    struct numbers *numbers = user;

    assert_int_equal(trial->outcome_count, BOUNDS);
    assert_true(trial->outcomes[0] == 20.0 + trial->violation);
    assert_true(isnan(trial->outcomes[1]));
    numbers->items[numbers->count++] = trial->number;
    return 0;
}

static int keep_best(void *user, const struct run_row *run)
{
    *(int64_t *)user = run->best_trial;
    return 0;
}

static void check_order(const char *folder, const char *goal,
                        const int64_t *expected)
{
    struct err err = {0};
    struct store *store = fill(folder, goal);
    struct trial_query query = {.run = 1, .order = ORDER_BEST};
    struct numbers numbers = {.count = 0};
    int64_t best;

    must(store_each_trial(store, &query, keep_number, &numbers, &err));
    assert_int_equal(numbers.count, 6);
    assert_memory_equal(numbers.items, expected, 6 * sizeof(*expected));
    must(store_get_run(store, 1, keep_best, &best, &err));
    assert_int_equal(best, expected[0]);
    store_close(store);
}

static void test_store__gives_feasible_trials_first(void **state)
{
    check_order(*state, "minimize", (const int64_t[]){3, 2, 4, 1, 6, 5});
}

static void test_store__gives_feasible_trials_first_of_the_largest(void **state)
{
    check_order(*state, "maximize", (const int64_t[]){2, 3, 4, 1, 6, 5});
}

static void test_store__views_know_what_is_feasible(void **state)
{
    char *answer;

    store_close(fill(*state, "minimize"));
    answer = ask_sqlite(*state, "SELECT number FROM best_trial");
    assert_string_equal(answer, "3");
    free(answer);
    answer = ask_sqlite(*state, "SELECT feasible, outcomes FROM trial"
                                " WHERE number IN (3, 4, 6) ORDER BY number");
    assert_string_equal(answer, "1|{\"latency_ms\":20.0,\"recall\":null}\n"
                                "0|{\"latency_ms\":20.5,\"recall\":null}\n"
                                "0|{\"latency_ms\":null,\"recall\":null}");
    free(answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_store__keeps_the_bounds_of_outcomes),
        STORE_TEST(test_store__gives_feasible_trials_first),
        STORE_TEST(test_store__gives_feasible_trials_first_of_the_largest),
        STORE_TEST(test_store__views_know_what_is_feasible),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
