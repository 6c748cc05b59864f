/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is written comes back: rows, orders, odd values, events. */
#include "store/store.h"

#include <float.h>
#include <math.h>

#include "executors/executor.h"
#include "orchestrator/job/states.h"
#include "tests/unit/store/store_test.h"

static const char *const odd_names[] = {"a'b\"c", "x\ny\t;--", "größe 学习率",
                                        "", "%s%n ?1 :a @b $c"};

struct seen_run {
    int count;
    char name[64], state[32], reason[64], metric[64], goal[32], spec[64];
    char boot_id[64];
    struct run_row row;
};

static int see_run(void *user, const struct run_row *run)
{
    struct seen_run *seen = user;

    seen->count++;
    seen->row = *run;
    snprintf(seen->name, sizeof(seen->name), "%s", run->name);
    snprintf(seen->state, sizeof(seen->state), "%s", run->state);
    snprintf(seen->reason, sizeof(seen->reason), "%s", run->reason);
    snprintf(seen->metric, sizeof(seen->metric), "%s", run->metric);
    snprintf(seen->goal, sizeof(seen->goal), "%s", run->goal);
    snprintf(seen->spec, sizeof(seen->spec), "%s", run->spec);
    snprintf(seen->boot_id, sizeof(seen->boot_id), "%s", run->boot_id);
    return 0;
}

static void test_store__run_comes_back(void **state)
{
    struct err err = {0};
    struct seen_run seen = {0};
    struct store *store = must_fill(*state, 3);

    must(store_begin(store, &err));
    must(store_set_run_engine(store, 1, 99, "boot", fill_start_ms + 5, &err));
    must(store_set_run_engine(store, 1, 0, NULL, fill_start_ms + 6, &err));
    must(store_set_run_state(store, 1, "stopped", "it's \"enough\"",
                             fill_start_ms + 7, &err));
    must(store_commit(store, &err));
    must(store_get_run(store, 1, see_run, &seen, &err));
    assert_string_equal(seen.name, "r");
    assert_string_equal(seen.state, "stopped");
    assert_string_equal(seen.reason, "it's \"enough\"");
    assert_string_equal(seen.metric, "loss");
    assert_string_equal(seen.goal, "minimize");
    assert_string_equal(seen.spec, FILL_SPEC);
    assert_string_equal(seen.boot_id, "");
    assert_true(seen.row.seed == UINT64_MAX);
    assert_int_equal(seen.row.pid, 0);
    assert_int_equal(seen.row.created_ms, fill_start_ms);
    assert_int_equal(seen.row.started_ms, fill_start_ms + 5);
    assert_int_equal(seen.row.ended_ms, fill_start_ms + 7);
    assert_int_equal(seen.row.trials, 3);
    assert_int_equal(seen.row.succeeded, 3);
    assert_int_equal(seen.row.other, 0);
    assert_int_equal(seen.row.best_trial, 1);
    assert_true(seen.row.best == 1.0);

    must(store_begin(store, &err));
    must(store_set_run_state(store, 1, "running", NULL, fill_start_ms + 8,
                             &err));
    must(store_commit(store, &err));
    must(store_get_run(store, 1, see_run, &seen, &err));
    assert_int_equal(seen.row.ended_ms, 0);
    store_close(store);
}

static void test_store__runs_are_found(void **state)
{
    struct err err = {0};
    struct store *store = must_open(*state, STORE_CREATE);
    int64_t id, first, second;

    assert_int_equal(store_find_run(store, "last", &id, &err), -1);
    must(store_begin(store, &err));
    must(fill_run(store, "fashion-mlp", "minimize", &first, &err));
    must(fill_run(store, "1", "maximize", &second, &err));
    must(store_commit(store, &err));

    must(store_find_run(store, "fashion-mlp", &id, &err));
    assert_int_equal(id, first);
    must(store_find_run(store, "1", &id, &err)); /* a name before an id */
    assert_int_equal(id, second);
    must(store_find_run(store, "2", &id, &err));
    assert_int_equal(id, second);
    must(store_find_run(store, "last", &id, &err));
    assert_int_equal(id, second);
    assert_int_equal(store_find_run(store, "fashion-mpl", &id, &err), -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "did you mean 'fashion-mlp'?"));
    assert_int_equal(store_find_run(store, "99999999999999999999", &id, &err),
                     -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_int_equal(store_get_run(store, 77, see_run, NULL, &err), -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);

    must(store_begin(store, &err));
    assert_int_equal(fill_run(store, "1", "maximize", &id, &err), -1);
    assert_int_equal(err.kind, ERR_BUSY);
    store_rollback(store);
    store_close(store);
}

static const struct value odd_values[] = {
    {.type = VALUE_REAL, .real = DBL_MAX},
    {.type = VALUE_REAL, .real = -INFINITY},
    {.type = VALUE_REAL, .real = 0.1 + 0.2},
    {.type = VALUE_REAL, .real = 3.0}, /* stays a real */
    {.type = VALUE_INT, .integer = INT64_MIN},
    {.type = VALUE_BOOL, .boolean = true},
    {.type = VALUE_BOOL, .boolean = false},
    {.type = VALUE_INT, .integer = 1},
    {.type = VALUE_NULL},
    {.type = VALUE_TEXT, .text = "a'b\"c\n学"},
    {.type = VALUE_TEXT, .text = ""},
    {.type = VALUE_TEXT, .text = "1.5"}, /* stays a text */
};

static int see_odd(void *user, const struct trial_row *trial)
{
    ++*(int *)user;
    assert_int_equal(trial->param_count, ARRAY_LEN(odd_values));
    for (size_t i = 0; i < ARRAY_LEN(odd_values); i++)
        assert_true(value_equal(&trial->params[i], &odd_values[i]));
    assert_int_equal(trial->value_count, 3);
    assert_true(isnan(trial->values[0]));
    assert_true(isinf(trial->values[1]) && trial->values[1] > 0);
    assert_true(trial->values[2] == 1e308);
    assert_true(trial->cursor == UINT64_MAX);
    assert_string_equal(trial->state, "failed");
    assert_string_equal(trial->cause, "no_metric");
    assert_int_equal(trial->due_ms, 12);
    return 0;
}

static void test_store__odd_names_and_values_survive(void **state)
{
    struct err err = {0};
    struct store *store = must_open(*state, STORE_CREATE);
    const char *params[ARRAY_LEN(odd_values)] = {
        "p0",         "p1",         "p2",         "p3",
        "p4",         "p5",         "p6",         odd_names[0],
        odd_names[1], odd_names[2], odd_names[3], odd_names[4]};
    struct run_new run = {
        .name = odd_names[1],
        .kind = "experiment",
        .spec = odd_names[2],
        .overrides = "[]",
        .spec_path = "",
        .work_directory = odd_names[0],
        .metrics = odd_names,
        .goals = (const char *const[]){"minimize", "maximize", "minimize"},
        .objective_count = 3,
        .params = params,
        .param_count = ARRAY_LEN(params),
    };
    double values[] = {NAN, INFINITY, 1e308};
    struct job_change change = {.run = 1,
                                .state = "failed",
                                .cause = "no_metric",
                                .event = "failed",
                                .values = values,
                                .value_count = 3,
                                .due_ms = 12};
    struct trial_query query = {.run = 1};
    char **names, **goals;
    int64_t id;
    int count = 0;

    must(store_begin(store, &err));
    must(store_add_run(store, &run, &id, &err));
    must(store_add_job(store,
                       &(struct job_new){.run = 1,
                                         .number = 1,
                                         .state = "running",
                                         .step = -1,
                                         .cursor = UINT64_MAX,
                                         .params = odd_values,
                                         .param_count = ARRAY_LEN(odd_values)},
                       &change.job, &err));
    must(store_change_job(store, &change, &err));
    must(store_commit(store, &err));

    must(store_find_run(store, odd_names[1], &id, &err));
    must(store_each_trial(store, &query, see_odd, &count, &err));
    assert_int_equal(count, 1);
    names = store_run_params(store, 1, &err);
    for (size_t i = 0; i < ARRAY_LEN(params); i++)
        assert_string_equal(names[i], params[i]);
    assert_null(names[ARRAY_LEN(params)]);
    store_free_names(names);
    names = store_run_objectives(store, 1, &goals, &err);
    assert_string_equal(names[2], odd_names[2]);
    assert_string_equal(goals[1], "maximize");
    assert_null(goals[3]);
    store_free_names(names);
    store_free_names(goals);
    store_close(store);
}

struct numbers {
    size_t count;
    int64_t items[16];
};

static int see_number(void *user, const struct trial_row *trial)
{
    struct numbers *numbers = user;

    numbers->items[numbers->count++] = trial->number;
    return 0;
}

static void expect_numbers(struct store *store, struct trial_query query,
                           const int64_t *expected, size_t count)
{
    struct err err = {0};
    struct numbers numbers = {0};

    must(store_each_trial(store, &query, see_number, &numbers, &err));
    assert_int_equal(numbers.count, count);
    assert_memory_equal(numbers.items, expected, count * sizeof(*expected));
}

#define expect_order(store, query, ...)                                        \
    expect_numbers(store, query, (const int64_t[]){__VA_ARGS__},               \
                   sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void test_store__trials_come_in_the_order_asked_for(void **state)
{
    static const double values[] = {3, NAN, -INFINITY, 1, INFINITY, 2, 1};
    struct err err = {0};
    struct store *store = must_open(*state, STORE_CREATE);
    struct seen_run seen = {0};
    int64_t low, high, job;

    must(store_begin(store, &err));
    must(fill_run(store, "low", "minimize", &low, &err));
    must(fill_run(store, "high", "maximize", &high, &err));
    for (int64_t n = 1; n <= 7; n++) {
        must(fill_trial(store, low, n, values[n - 1], &err));
        must(fill_trial(store, high, n, values[n - 1], &err));
    }
    must(fill_job(store, low, 8, &job, &err));
    must(store_commit(store, &err));

    expect_order(store, ((struct trial_query){.run = low}), 1, 2, 3, 4, 5, 6, 7,
                 8);
    expect_order(store, ((struct trial_query){.run = low, .order = ORDER_BEST}),
                 4, 7, 6, 1, 2, 3, 5, 8);
    expect_order(store,
                 ((struct trial_query){.run = high, .order = ORDER_BEST}), 1, 6,
                 4, 7, 2, 3, 5);
    expect_order(
        store,
        ((struct trial_query){.run = high, .order = ORDER_BEST, .limit = 2}), 1,
        6);
    expect_order(store, ((struct trial_query){.run = low, .number = 6}), 6);
    expect_order(store, ((struct trial_query){.run = low, .state = "ready"}),
                 8);
    must(store_get_run(store, low, see_run, &seen, &err));
    assert_int_equal(seen.row.best_trial, 4);
    assert_true(seen.row.best == 1.0);
    assert_int_equal(seen.row.pending, 1);
    assert_int_equal(seen.row.other, 0);
    must(store_get_run(store, high, see_run, &seen, &err));
    assert_int_equal(seen.row.best_trial, 1);
    assert_true(seen.row.best == 3.0);
    store_close(store);
}

static void test_store__a_job_is_found_by_its_number(void **state)
{
    struct err err = {0};
    struct store *store = must_fill(*state, 2);
    int64_t run, job, other, number;

    must(store_begin(store, &err));
    must(fill_run(store, "other", "minimize", &run, &err));
    must(fill_job(store, run, 2, &other, &err));
    must(store_commit(store, &err));
    must(store_find_job(store, run, 2, &job, &err));
    assert_int_equal(job, other);
    must(store_find_job_number(store, job, &number, &err));
    assert_int_equal(number, 2);
    must(store_find_job(store, 1, 2, &job, &err));
    assert_true(job != 0 && job != other);
    must(store_find_job(store, run, 1, &job, &err));
    assert_int_equal(job, 0);
    must(store_find_job_number(store, other + 1, &number, &err));
    assert_int_equal(number, 0);
    store_close(store);
}

static void test_store__only_what_succeeded_is_best(void **state)
{
    struct err err = {0};
    struct store *store = must_fill(*state, 2);
    struct seen_run seen = {0};
    double value = 0.5;
    struct job_change change = {.run = 1,
                                .state = "failed",
                                .cause = "exit",
                                .event = "failed",
                                .ended_ms = 1000,
                                .values = &value,
                                .value_count = 1};

    must(store_begin(store, &err));
    must(fill_job(store, 1, 3, &change.job, &err));
    must(store_change_job(store, &change, &err));
    must(store_commit(store, &err));
    must(store_get_run(store, 1, see_run, &seen, &err));
    assert_int_equal(seen.row.best_trial, 1);
    assert_int_equal(seen.row.failed, 1);
    store_close(store);
}

static int stop_at_once(void *user, const struct trial_row *trial)
{
    ++*(int *)user;
    return (int)trial->number + 41;
}

static void test_store__a_reading_can_be_ended(void **state)
{
    struct err err = {0};
    struct store *store = must_fill(*state, 3);
    struct trial_query query = {.run = 1};
    int count = 0;

    assert_int_equal(
        store_each_trial(store, &query, stop_at_once, &count, &err), 42);
    assert_int_equal(count, 1);
    must(store_begin(store, &err)); /* nothing is left open */
    must(store_commit(store, &err));
    store_close(store);
}

/* ---- the tables' own checks ---- */

#define X(symbol, word) word,
static const char *const causes[] = {ATTEMPT_CAUSES(X)};
#undef X

static void test_store__knows_every_word_and_no_other(void **state)
{
    struct err err = {0};
    struct store *store = must_fill(*state, 0);
    struct job_change change = {.run = 1, .event = "x", .state = "ready"};

    must(store_begin(store, &err));
    must(fill_job(store, 1, 1, &change.job, &err));
    for (size_t i = 0; job_state_names[i] != NULL; i++) {
        change.state = job_state_names[i];
        must(store_change_job(store, &change, &err));
    }
    for (size_t i = 0; i < ARRAY_LEN(causes); i++) {
        change.cause = causes[i];
        must(store_change_job(store, &change, &err));
    }
    for (size_t i = 0; run_state_names[i] != NULL; i++)
        must(store_set_run_state(store, 1, run_state_names[i], "", 1, &err));
    change.cause = "bad luck";
    assert_int_equal(store_change_job(store, &change, &err), -1);
    change.cause = NULL;
    change.state = "asleep";
    assert_int_equal(store_change_job(store, &change, &err), -1);
    change.state = "ready";
    change.job = 12345;
    assert_int_equal(store_change_job(store, &change, &err), -1);
    assert_int_equal(store_set_run_state(store, 1, "bored", "", 1, &err), -1);
    store_rollback(store);
    store_close(store);
}

static void test_store__rollback_forgets(void **state)
{
    struct err err = {0};
    struct store *store = must_fill(*state, 1);

    must(store_begin(store, &err));
    must(store_begin(store, &err)); /* once more is no second one */
    must(fill_trial(store, 1, 2, 2, &err));
    assert_true(store_in_transaction(store));
    assert_int_equal(count_trials(store, 1), 2);
    store_rollback(store);
    assert_false(store_in_transaction(store));
    assert_int_equal(count_trials(store, 1), 1);
    assert_int_equal(fill_trial(store, 1, 2, 2, &err), -1);
    must(store_commit(store, &err));
    store_close(store);
}

static void test_store__a_deleted_run_leaves_nothing(void **state)
{
    struct err err = {0};
    struct store *store = must_fill(*state, 3);
    int64_t other;
    char *answer;

    must(store_begin(store, &err));
    must(fill_run(store, "kept", "minimize", &other, &err));
    must(fill_trial(store, other, 1, 1, &err));
    must(store_delete_run(store, 1, &err));
    assert_int_equal(store_delete_run(store, 1, &err), -1);
    must(store_commit(store, &err));
    store_close(store);
    answer = ask_sqlite(
        *state, "SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM job),"
                " (SELECT count(*) FROM param_value),"
                " (SELECT count(*) FROM job_value),"
                " (SELECT count(*) FROM attempt),"
                " (SELECT count(*) FROM metric),"
                " (SELECT count(*) FROM event)");
    assert_string_equal(answer, "1|1|10|1|1|1|7");
    free(answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_store__run_comes_back),
        STORE_TEST(test_store__runs_are_found),
        STORE_TEST(test_store__odd_names_and_values_survive),
        STORE_TEST(test_store__trials_come_in_the_order_asked_for),
        STORE_TEST(test_store__a_job_is_found_by_its_number),
        STORE_TEST(test_store__only_what_succeeded_is_best),
        STORE_TEST(test_store__a_reading_can_be_ended),
        STORE_TEST(test_store__knows_every_word_and_no_other),
        STORE_TEST(test_store__rollback_forgets),
        STORE_TEST(test_store__a_deleted_run_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
