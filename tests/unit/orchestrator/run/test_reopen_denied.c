/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrap: sqlite3_prepare_v2 sqlite3_step */
/* Putting back where the record denies the n-th of what it is asked for: then
 * nothing is put back, and the next try does all of it. */
#include "orchestrator/run/reopen.h"

#include "tests/unit/orchestrator/run/reopen_test.h"
#include "tests/unit/store/sqlite_denied.h"

/* ---- trials ---- */

static int append_state(void *user, const struct trial_row *row)
{
    buf_printf(user, "%s ", row->state);
    return 0;
}

static void must_be(struct store *store, const char *expected)
{
    const struct trial_query query = {.run = 1, .order = ORDER_NUMBER};
    struct buf states = BUF_INIT;
    struct err err = {0};

    must(store_each_trial(store, &query, append_state, &states, &err));
    assert_string_equal(buf_text(&states), expected);
    buf_clear(&states);
}

static void test_reopen__is_all_or_nothing(void **state)
{
    static const int64_t first[] = {1};
    const struct reopen_request request = {.numbers = first,
                                           .count = 1,
                                           .all_failed = true,
                                           .even_succeeded = true};
    struct store *store = must_open(*state, STORE_CREATE);
    struct err err = {0};
    int64_t run, job;
    size_t count;
    int n = 0;

    must(store_begin(store, &err));
    must(fill_run(store, "r", "minimize", &run, &err));
    for (int64_t number = 1; number <= 3; number++) {
        must(fill_job(store, run, number, &job, &err));
        must_end(store, job, number == 1 ? "succeeded" : "failed", number);
    }
    must(store_set_run_engine(store, run, 77, "boot", 6, &err));
    must(store_set_run_state(store, run, "failed", "", 9, &err));
    must(store_commit(store, &err));
    do {
        must_be(store, "succeeded failed failed ");
        err.text[0] = '\0';
        denied_in = ++n;
    } while (reopen_trials(store, 1, NULL, &request, &count, &err) != 0 &&
             denied_in == 0 && err.text[0] != '\0');
    assert_int_equal(denied_in, 1); /* more than there were */
    denied_in = 0;
    assert_true(n > 20);
    must_be(store, "ready ready ready ");
    store_close(store);
}

/* ---- a workflow's steps ---- */

/* b needs a; c is done at the end. */
static const char text[] = "version: 1\n"
                           "steps:\n"
                           "  a: {matrix: {p: [0, 1]}, command: x}\n"
                           "  b: {needs: a, command: x}\n"
                           "always:\n"
                           "  c: {command: x}\n";

/* Copy 0 of a failed, before it had to begin anew and since; its copy 1 was
 * left out; and c failed, too. */
static struct store *some_steps(const char *folder)
{
    static const char *const names[] = {"a", "b", "c"};
    struct store *store = must_open(folder, STORE_CREATE);
    struct err err = {0};

    must(store_begin(store, &err));
    must_add_workflow(store, text, names, ARRAY_LEN(names));
    must_step(store, 0, "active", "step_began", 1);
    must_job(store, 0, 1, 0, "failed");
    must_step(store, 0, "waiting", "step_reopened", 0);
    must_step(store, 0, "active", "step_began", 2);
    must_job(store, 0, 2, 0, "failed");
    must_job(store, 0, 3, 1, "skipped");
    must_step(store, 0, "failed", "step_ended", 0);
    must_step(store, 1, "skipped", "step_skipped", 0);
    must_step(store, 2, "active", "step_began", 4);
    must_job(store, 2, 4, 0, "failed");
    must_step(store, 2, "failed", "step_ended", 0);
    must(store_commit(store, &err));
    return store;
}

/* Of what has failed, the job of an earlier time is not meant; what is done at
 * the end waits again. */
static void test_reopen_steps__is_all_or_nothing(void **state)
{
    const struct reopen_request failed = {.all_failed = true};
    struct store *store = some_steps(*state);
    struct workflow *workflow = must_parse(text);
    struct err err = {0};
    size_t count;
    int n = 0;

    do {
        must_be(store, "failed failed skipped failed ");
        must_be_steps(store, "failed skipped failed ");
        denied_in = ++n;
    } while (reopen_trials(store, 1, workflow, &failed, &count, &err) != 0 &&
             denied_in == 0);
    assert_int_equal(denied_in, 1);
    denied_in = 0;
    assert_true(n > 20);
    assert_int_equal(count, 1);
    must_be(store, "failed ready skipped failed ");
    must_be_steps(store, "active waiting waiting ");
    store_close(store);
    workflow_destroy(workflow);
}

static void test_reopen_steps__leaves_out_what_was_left_out(void **state)
{
    static const int64_t third[] = {3}, old[] = {1};
    const struct reopen_request skipped = {.numbers = third, .count = 1};
    const struct reopen_request earlier = {.numbers = old, .count = 1};
    struct store *store = some_steps(*state);
    struct workflow *workflow = must_parse(text);
    struct err err;
    size_t count;

    assert_int_equal(reopen_trials(store, 1, workflow, &skipped, &count, &err),
                     -1);
    assert_int_equal(err.kind, ERR_USAGE);
    assert_string_equal(err.text, "job 3 was skipped: its `if` is false");
    assert_int_equal(reopen_trials(store, 1, workflow, &earlier, &count, &err),
                     -1);
    assert_int_equal(err.kind, ERR_USAGE);
    store_close(store);
    workflow_destroy(workflow);
}

/* ---- what was superseded ---- */

static int count_or_stop(void *user, const struct superseded_row *row)
{
    int *calls = user;

    (void)row;
    return ++*calls == 2 ? -1 : 0;
}

static void test_superseded__is_read_whole_or_not(void **state)
{
    struct store *store = must_open(*state, STORE_CREATE);
    struct superseded_sum sum;
    struct err err = {0};
    int64_t run, job;
    int calls = 0;

    must(store_begin(store, &err));
    must(fill_run(store, "r", "minimize", &run, &err));
    must(fill_job(store, run, 1, &job, &err));
    for (int64_t told = 1; told <= 3; told++) {
        must_end(store, job, "succeeded", told);
        must(store_reopen_job(store, job, "ready", "reopened", 7, &err));
    }
    must(store_commit(store, &err));
    assert_int_equal(
        store_each_superseded(store, run, count_or_stop, &calls, &err), -1);
    assert_int_equal(calls, 2);
    denied_in = 1;
    assert_int_equal(
        store_each_superseded(store, run, count_or_stop, &calls, &err), -1);
    for (int n = 1; n <= 2; n++) {
        denied_in = n;
        assert_int_equal(store_sum_superseded(store, run, 1, &sum, &err), -1);
    }
    must(store_sum_superseded(store, run, 1, &sum, &err));
    assert_int_equal(sum.count, 3);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_reopen__is_all_or_nothing),
        STORE_TEST(test_reopen_steps__is_all_or_nothing),
        STORE_TEST(test_reopen_steps__leaves_out_what_was_left_out),
        STORE_TEST(test_superseded__is_read_whole_or_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
