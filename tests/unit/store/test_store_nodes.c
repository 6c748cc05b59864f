/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the record holds of clusters: where attempts are, nodes to avoid. */
#include "store/store.h"

#include <inttypes.h>

#include "base/buf.h"
#include "tests/unit/store/store_fill.h"
#include "tests/unit/store/store_repair.h"

static int print_node(void *user, const struct node_row *node)
{
    buf_printf(user, "%s %s %s:%" PRId64 "/%" PRId64 " x%" PRId64, node->name,
               node->trouble != NULL ? node->trouble : "-",
               node->run != NULL ? node->run : "-", node->trial, node->attempt,
               node->count);
    if (node->is_avoided)
        buf_printf(user, " until %" PRId64, node->until_ms);
    buf_printf(user, " by %s: %s\n", node->by,
               node->text != NULL ? node->text : "-");
    return 0;
}

static void must_know(struct store *store, int64_t now_ms, const char *expected)
{
    struct buf said = BUF_INIT;
    struct err err = {0};

    must(store_each_node(store, now_ms, print_node, &said, &err));
    assert_string_equal(buf_text(&said), expected);
    buf_clear(&said);
}

static void report(struct store *store, int64_t run, int64_t attempt,
                   const char *trouble, int64_t until_ms)
{
    struct err err = {0};

    must(store_report_node(store,
                           &(struct node_new){.run = run,
                                              .attempt = attempt,
                                              .name = "n2",
                                              .trouble = trouble,
                                              .text = "no \"GPU\"",
                                              .time_ms = until_ms - 100,
                                              .until_ms = until_ms},
                           &err));
}

static void test_store_nodes__a_node_is_avoided_for_a_while(void **state)
{
    struct store *store = must_open(*state, STORE_CREATE);
    struct err err = {0};
    int64_t run;

    must(store_begin(store, &err));
    must(fill_run(store, "r", "minimize", &run, &err));
    must(fill_trial(store, run, 1, 0.5, &err));
    report(store, run, 1, "died", 1000);
    must_know(store, 0, "n2 died r:1/1 x1 until 1000 by engine: no \"GPU\"\n");
    must_know(store, 999,
              "n2 died r:1/1 x1 until 1000 by engine: no \"GPU\"\n");
    must_know(store, 1000, "");
    report(store, run, 0, "unhealthy", 5000);
    report(store, run, 1, "refused", 2000); /* for longer already */
    must_know(store, 0,
              "n2 refused r:1/1 x3 until 5000 by engine: no \"GPU\"\n");
    must(store_delete_run(store, run, &err));
    must_know(store, 0,
              "n2 refused -:0/0 x3 until 5000 by engine: no \"GPU\"\n");
    must(store_commit(store, &err));
    store_close(store);
}

static void test_store_nodes__a_person_has_the_last_word(void **state)
{
    struct store *store = must_open(*state, STORE_CREATE);
    struct err err = {0};
    int64_t run;

    must(store_begin(store, &err));
    must(fill_run(store, "r", "minimize", &run, &err));
    assert_int_equal(store_clear_node(store, "n2", &err), -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_string_equal(err.text, "unknown node 'n2' (list: smtune nodes)");
    must(store_avoid_node(store, "n2", "hums", 0, &err));
    must_know(store, INT64_MAX, "n2 - -:0/0 x0 until 0 by user: hums\n");
    report(store, run, 0, "died", 1000); /* does not make it shorter */
    must_know(store, INT64_MAX,
              "n2 died r:0/0 x1 until 0 by user: no \"GPU\"\n");
    must(store_clear_node(store, "n2", &err));
    must_know(store, 1, "");
    must_know(store, 0, "n2 died r:0/0 x1 by user: no \"GPU\"\n");
    report(store, run, 0, "died", 2000);
    must_know(store, 1, "n2 died r:0/0 x2 until 2000 by engine: no \"GPU\"\n");
    must(store_avoid_node(store, "n2", NULL, 70, &err));
    must_know(store, 1, "n2 died r:0/0 x2 until 70 by user: no \"GPU\"\n");
    must(store_commit(store, &err));
    store_close(store);
}

/* An attempt that waits as job 41, then 42, and ends on another node than it
 * was thought to be on. */
static int64_t fill_place(struct store *store)
{
    struct err err = {0};
    struct attempt_new attempt = {
        .number = 1, .directory = "runs/r/1/1", .time_ms = 3};
    struct attempt_change change = {.pid = -1, .handle = "41", .time_ms = 4};
    struct job_change started = {
        .state = "running", .event = "started", .time_ms = 6};
    struct job_change retry = {
        .state = "waiting", .cause = "lost", .event = "retry", .time_ms = 7};
    struct attempt_end end = {.cause = "lost",
                              .exit_code = -1,
                              .ended_ms = 7,
                              .rule = -1,
                              .node = "n3",
                              .is_displaced = true};

    must(store_begin(store, &err));
    must(fill_run(store, "r", "minimize", &attempt.run, &err));
    must(fill_job(store, attempt.run, 1, &attempt.job, &err));
    must(store_add_attempt(store, &attempt, &change.attempt, &err));
    change.run = started.run = retry.run = end.run = attempt.run;
    change.job = started.job = retry.job = end.job = attempt.job;
    end.attempt = change.attempt;
    must(store_set_attempt_queued(store, &change, &err));
    change.handle = "42";
    change.time_ms = 5;
    must(store_set_attempt_queued(store, &change, &err));
    change = (struct attempt_change){.run = attempt.run,
                                     .job = attempt.job,
                                     .attempt = end.attempt,
                                     .node = "n1",
                                     .time_ms = 6};
    must(store_set_attempt_running(store, &change, &err));
    must(store_change_job(store, &started, &err));
    must(store_end_attempt(store, &end, &err));
    must(store_change_job(store, &retry, &err));
    must(store_add_note(store, attempt.run, "by job", 8, &err));
    report(store, attempt.run, end.attempt, "died", 200);
    must(store_commit(store, &err));
    return attempt.job;
}

static int check_place(void *user, const struct attempt_row *attempt)
{
    ++*(int *)user;
    assert_string_equal(attempt->node, "n3");
    assert_string_equal(attempt->handle, "42");
    assert_int_equal(attempt->queued_ms, 4);
    assert_true(attempt->is_displaced);
    return 0;
}

static void test_store_nodes__an_attempt_has_a_place(void **state)
{
    struct store *store = must_open(*state, STORE_CREATE);
    int64_t job = fill_place(store);
    struct err err = {0};
    int count = 0;

    must(store_each_attempt(store, 1, job, check_place, &count, &err));
    assert_int_equal(count, 1);
    store_close(store);
}

static void test_store_nodes__what_is_damaged_is_found_and_mended(void **state)
{
    static const char *const damages[] = {
        "UPDATE attempt SET node = 'n1'",
        "UPDATE attempt SET handle = '41'",
        "UPDATE attempt SET queued_ms = 5",
        "UPDATE attempt SET displaced = NULL",
        "DELETE FROM attempt",
    };

    struct store *store = must_open(*state, STORE_CREATE);

    fill_place(store);
    store_close(store);
    for (size_t i = 0; i < ARRAY_LEN(damages); i++)
        assert_mended(*state, damages[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_store_nodes__a_node_is_avoided_for_a_while),
        STORE_TEST(test_store_nodes__a_person_has_the_last_word),
        STORE_TEST(test_store_nodes__an_attempt_has_a_place),
        STORE_TEST(test_store_nodes__what_is_damaged_is_found_and_mended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
