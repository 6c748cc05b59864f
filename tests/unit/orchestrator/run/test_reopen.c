/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What may be put back, and what comes of it for a workflow's steps. */
#include "orchestrator/run/reopen.h"

#include <sqlite3.h>

#include "orchestrator/run/reopen_steps.h"
#include "tests/unit/orchestrator/run/reopen_test.h"

/* ---- trials ---- */

/* Trials 1 and 2 succeeded, 3 and 4 failed, 5 is ready. */
static struct store *some_trials(const char *folder)
{
    struct store *store = must_fill(folder, 2);
    struct err err = {0};
    int64_t job;

    must(store_begin(store, &err));
    for (int64_t number = 3; number <= 5; number++) {
        must(fill_job(store, 1, number, &job, &err));
        if (number < 5)
            must_end(store, job, "failed", 0);
    }
    must(store_commit(store, &err));
    return store;
}

static void must_not_find(struct store *store,
                          const struct reopen_request *request,
                          enum err_kind kind, const char *text)
{
    struct reopening *found;
    struct err err;
    size_t count;

    assert_int_equal(reopen_find(store, 1, request, &found, &count, &err), -1);
    assert_int_equal(err.kind, kind);
    assert_string_equal(err.text, text);
}

static void test_reopen__refuses_what_is_not_over(void **state)
{
    static const int64_t ready[] = {3, 5}, done[] = {2}, none[] = {1, 6};
    struct store *store = some_trials(*state);

    must_not_find(store, &(struct reopen_request){.numbers = ready, .count = 2},
                  ERR_USAGE, "trial 5 is ready: it has not ended yet");
    must_not_find(store, &(struct reopen_request){.numbers = done, .count = 1},
                  ERR_USAGE, "trial 2 succeeded (--force runs it again)");
    must_not_find(store,
                  &(struct reopen_request){
                      .numbers = none, .count = 2, .even_succeeded = true},
                  ERR_NOT_FOUND, "there is no trial 6");
    store_close(store);
}

/* As damage may leave it: the record itself keeps such words out. */
static void must_damage(const char *folder, const char *change)
{
    char path[512], text[512];
    sqlite3 *db = NULL;

    snprintf(path, sizeof(path), "%s/smtune.db", folder);
    snprintf(text, sizeof(text), "PRAGMA ignore_check_constraints = 1; %s",
             change);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void test_reopen__knows_no_odd_state(void **state)
{
    static const int64_t third[] = {3};
    struct store *store = some_trials(*state);

    must_damage(*state, "UPDATE job SET state = 'odd' WHERE number = 3");
    must_not_find(store, &(struct reopen_request){.numbers = third, .count = 1},
                  ERR_FAILED,
                  "trial 3 has the unknown state 'odd' (a newer smtune may "
                  "have recorded it)");
    store_close(store);
}

static void test_reopen__finds_each_once(void **state)
{
    static const int64_t numbers[] = {4, 1, 4};
    struct store *store = some_trials(*state);
    const struct reopen_request request = {.numbers = numbers,
                                           .count = 3,
                                           .all_failed = true,
                                           .even_succeeded = true};
    struct reopening *found;
    struct err err = {0};
    size_t count;

    must(reopen_find(store, 1, &request, &found, &count, &err));
    assert_int_equal(count, 3);
    assert_int_equal(found[0].number, 1);
    assert_int_equal(found[0].state, JOB_SUCCEEDED);
    assert_int_equal(found[1].number, 3);
    assert_int_equal(found[2].number, 4);
    assert_int_equal(found[2].state, JOB_FAILED);
    free(found);
    store_close(store);
}

/* It had a result that the search was told, and that is none. */
static void test_reopen__knows_what_was_not_feasible(void **state)
{
    static const int64_t numbers[] = {1, 5};
    const struct reopen_request request = {
        .numbers = numbers, .count = 2, .even_succeeded = true};
    struct store *store = some_trials(*state);
    struct reopening *found;
    struct err err = {0};
    size_t count;

    must(store_begin(store, &err));
    must(store_change_job(store,
                          &(struct job_change){.run = 1,
                                               .job = 5,
                                               .state = "succeeded",
                                               .event = "succeeded",
                                               .violation = 0.5,
                                               .ended_ms = 5},
                          &err));
    must(store_commit(store, &err));
    must(reopen_find(store, 1, &request, &found, &count, &err));
    assert_int_equal(count, 2);
    assert_false(found[0].is_infeasible);
    assert_true(found[1].is_infeasible);
    free(found);
    store_close(store);
}

static int keep_run_state(void *user, const struct run_row *row)
{
    snprintf(user, 16, "%s", row->state);
    return 0;
}

static void must_be(struct store *store, int64_t run, const char *state)
{
    struct err err = {0};
    char found[16];

    must(store_get_run_uncounted(store, run, keep_run_state, found, &err));
    assert_string_equal(found, state);
}

static void test_reopen__makes_a_run_go_on(void **state)
{
    const struct reopen_request failed = {.all_failed = true};
    struct store *store = some_trials(*state);
    struct err err = {0};
    size_t count;

    must(store_begin(store, &err));
    must(store_set_run_state(store, 1, "failed", "", 9, &err));
    must(store_commit(store, &err));
    must(reopen_trials(store, 1, NULL, &failed, &count, &err));
    assert_int_equal(count, 2);
    must_be(store, 1, "running");
    assert_int_equal(reopen_trials(store, 1, NULL, &failed, &count, &err), -1);
    assert_string_equal(err.text, "nothing has failed");
    store_close(store);
}

static void test_reopen__needs_a_record_that_can_be_written(void **state)
{
    const struct reopen_request failed = {.all_failed = true};
    struct store *store = some_trials(*state);
    struct err err = {0};
    size_t count;

    store_close(store);
    store = must_open(*state, STORE_READ);
    assert_int_equal(reopen_trials(store, 1, NULL, &failed, &count, &err), -1);
    assert_non_null(strstr(err.text, "open for reading only"));
    store_close(store);
}

/* ---- a workflow's steps ---- */

/* a, then b of two copies, then c; d has nothing to do with them. */
static const char text[] = "version: 1\n"
                           "steps:\n"
                           "  a: {command: x}\n"
                           "  b: {needs: a, matrix: {p: [0, 1]}, command: x}\n"
                           "  c: {needs: b, command: x}\n"
                           "  d: {command: x}\n";

enum { A, B, C, D, STEPS };

struct steps_test {
    struct store *store;
    struct workflow *workflow;
    int64_t jobs;
};

/* state NULL: it goes on. */
static void add_job(struct steps_test *test, int64_t step, int64_t copy,
                    const char *state)
{
    must_job(test->store, step, ++test->jobs, copy, state);
}

static void change_step(const struct steps_test *test, int64_t step,
                        const char *state, const char *event)
{
    must_step(test->store, step, state, event, test->jobs + 1);
}

static void steps_begin(struct steps_test *test, const char *folder)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    struct err err = {0};

    *test = (struct steps_test){.store = must_open(folder, STORE_CREATE),
                                .workflow = must_parse(text)};
    must(store_begin(test->store, &err));
    must_add_workflow(test->store, text, names, STEPS);
    change_step(test, A, "active", "step_began");
    add_job(test, A, 0, "succeeded");
    change_step(test, A, "succeeded", "step_ended");
    change_step(test, B, "active", "step_began");
}

static void steps_end(struct steps_test *test)
{
    store_close(test->store);
    workflow_destroy(test->workflow);
}

static void commit(const struct steps_test *test)
{
    struct err err = {0};

    must(store_commit(test->store, &err));
}

static int reopen(const struct steps_test *test, const int64_t *numbers,
                  size_t count, size_t *found, struct err *err)
{
    const struct reopen_request request = {.numbers = numbers,
                                           .count = count,
                                           .all_failed = count == 0,
                                           .even_succeeded = true};

    return reopen_trials(test->store, 1, test->workflow, &request, found, err);
}

static void test_reopen_steps__of_one_that_goes_on_stays(void **state)
{
    static const int64_t second[] = {2};
    struct steps_test test;
    struct err err = {0};
    size_t count;

    steps_begin(&test, *state);
    add_job(&test, B, 0, "failed");
    add_job(&test, B, 1, NULL);
    commit(&test);
    must(reopen(&test, second, 1, &count, &err));
    assert_int_equal(count, 1);
    must_be_steps(test.store, "succeeded active waiting waiting ");
    steps_end(&test);
}

static void test_reopen_steps__those_that_need_it_wait_again(void **state)
{
    static const int64_t first[] = {1};
    struct steps_test test;
    struct err err = {0};
    size_t count;

    steps_begin(&test, *state);
    add_job(&test, B, 0, "failed");
    add_job(&test, B, 1, "succeeded");
    change_step(&test, B, "failed", "step_ended");
    change_step(&test, C, "skipped", "step_ended");
    change_step(&test, D, "active", "step_began");
    commit(&test);
    must(reopen(&test, NULL, 0, &count, &err)); /* what has failed */
    assert_int_equal(count, 1);
    must_be_steps(test.store, "succeeded active waiting active ");
    assert_int_equal(reopen(&test, first, 1, &count, &err), -1);
    assert_string_equal(
        err.text, "step 'b' is running, and a retry would make it wait again");
    steps_end(&test);
}

static void test_reopen_steps__takes_the_last_job_of_a_place(void **state)
{
    static const int64_t numbers[] = {2}, both[] = {1, 3};
    struct steps_test test;
    struct err err = {0};
    size_t count;

    steps_begin(&test, *state);
    add_job(&test, B, 0, "failed");
    change_step(&test, B, "waiting", "step_reopened");
    change_step(&test, B, "active", "step_began");
    add_job(&test, B, 0, "failed");
    change_step(&test, B, "failed", "step_ended");
    commit(&test);
    assert_int_equal(reopen(&test, numbers, 1, &count, &err), -1);
    assert_string_equal(err.text, "job 3 replaced job 2: retry the newer one");
    /* b waits for a again, so that its own job is none that is put back */
    must(reopen(&test, both, 2, &count, &err));
    assert_int_equal(count, 1);
    must_be_steps(test.store, "active waiting waiting waiting ");
    steps_end(&test);
}

/* Which came after it in the next round, say. */
static void test_reopen_steps__holds_to_that_beside_what_failed(void **state)
{
    static const int64_t second[] = {2};
    const struct reopen_request request = {.numbers = second,
                                           .count = 1,
                                           .all_failed = true,
                                           .even_succeeded = true};
    struct steps_test test;
    struct err err = {0};
    size_t count;

    steps_begin(&test, *state);
    add_job(&test, B, 0, "succeeded");
    add_job(&test, B, 0, "failed");
    change_step(&test, B, "failed", "step_ended");
    commit(&test);
    assert_int_equal(
        reopen_trials(test.store, 1, test.workflow, &request, &count, &err),
        -1);
    assert_string_equal(err.text, "job 3 replaced job 2: retry the newer one");
    must_be_steps(test.store, "succeeded failed waiting waiting ");
    steps_end(&test);
}

/* Its matrix could not be read, say. */
static void test_reopen_steps__without_jobs_begins_anew(void **state)
{
    struct steps_test test;
    struct err err = {0};
    size_t count;

    steps_begin(&test, *state);
    change_step(&test, B, "failed", "step_ended");
    change_step(&test, C, "skipped", "step_ended");
    commit(&test);
    must(reopen(&test, NULL, 0, &count, &err));
    assert_int_equal(count, 0);
    must_be_steps(test.store, "succeeded waiting waiting waiting ");
    assert_int_equal(reopen(&test, NULL, 0, &count, &err), -1);
    assert_string_equal(err.text, "nothing has failed");
    steps_end(&test);
}

/* Those that their user ended only where they are asked for, too. */
static void test_reopen_steps__of_what_was_cancelled(void **state)
{
    const struct reopen_request all = {.all_failed = true,
                                       .all_cancelled = true};
    struct steps_test test;
    struct err err = {0};
    size_t count;

    steps_begin(&test, *state);
    add_job(&test, B, 0, "succeeded");
    add_job(&test, B, 1, "cancelled");
    change_step(&test, B, "failed", "step_ended");
    commit(&test);
    assert_int_equal(reopen(&test, NULL, 0, &count, &err), -1);
    assert_string_equal(err.text, "nothing has failed");
    must(reopen_trials(test.store, 1, test.workflow, &all, &count, &err));
    assert_int_equal(count, 1);
    must_be_steps(test.store, "succeeded active waiting waiting ");
    steps_end(&test);
}

static void test_reopen_steps__knows_no_odd_state(void **state)
{
    struct steps_test test;
    struct err err = {0};
    size_t count;

    steps_begin(&test, *state);
    commit(&test);
    must_damage(*state, "UPDATE run_step SET state = 'odd' WHERE idx = 1");
    assert_int_equal(reopen(&test, NULL, 0, &count, &err), -1);
    assert_int_equal(err.kind, ERR_FAILED);
    assert_string_equal(
        err.text, "step 'b' has the unknown state 'odd' (a newer smtune may "
                  "have recorded it)");
    steps_end(&test);
}

static void test_reopen_steps__of_another_file_are_refused(void **state)
{
    static const int64_t second[] = {2};
    struct steps_test test;
    struct err err = {0};
    size_t count, steps;

    steps_begin(&test, *state);
    add_job(&test, B, 0, "failed");
    commit(&test);
    steps = test.workflow->step_count;
    test.workflow->step_count = D;
    assert_int_equal(reopen(&test, second, 1, &count, &err), -1);
    assert_string_equal(
        err.text, "step 'd' is in the record, but not in the file of the run");
    test.workflow->step_count = steps;
    steps_end(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_reopen__refuses_what_is_not_over),
        STORE_TEST(test_reopen__knows_no_odd_state),
        STORE_TEST(test_reopen__finds_each_once),
        STORE_TEST(test_reopen__knows_what_was_not_feasible),
        STORE_TEST(test_reopen__makes_a_run_go_on),
        STORE_TEST(test_reopen__needs_a_record_that_can_be_written),
        STORE_TEST(test_reopen_steps__of_one_that_goes_on_stays),
        STORE_TEST(test_reopen_steps__those_that_need_it_wait_again),
        STORE_TEST(test_reopen_steps__takes_the_last_job_of_a_place),
        STORE_TEST(test_reopen_steps__holds_to_that_beside_what_failed),
        STORE_TEST(test_reopen_steps__without_jobs_begins_anew),
        STORE_TEST(test_reopen_steps__of_what_was_cancelled),
        STORE_TEST(test_reopen_steps__knows_no_odd_state),
        STORE_TEST(test_reopen_steps__of_another_file_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
