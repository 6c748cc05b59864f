/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include "store/schema/schema.h"
#include "tests/unit/store_test.h"

struct kept {
    int64_t told, seen, same_as;
    char reason[64];
};

static int keep_row(void *user, const struct trial_row *row)
{
    struct kept *kept = user;

    kept->told = row->told;
    kept->seen = row->seen;
    kept->same_as = row->same_as;
    snprintf(kept->reason, sizeof(kept->reason), "%s",
             row->reason != NULL ? row->reason : "(none)");
    return 0;
}

static struct kept get_row(struct store *store, int64_t number)
{
    struct err err = {0};
    struct trial_query query = {.run = 1, .number = number};
    struct kept kept = {0};

    must(store_each_trial(store, &query, keep_row, &kept, &err));
    return kept;
}

static void test_store__keeps_what_a_suggestion_was_based_on(void **state)
{
    struct err err = {0};
    struct store *store = must_fill(*state, 1);
    struct job_new job = {.run = 1,
                          .number = 2,
                          .state = "ready",
                          .step = -1,
                          .seen = 1,
                          .reason = "{\"step\":\"log EI\"}",
                          .same_as = 1};
    struct job_change change = {.run = 1, .state = "ready", .event = "due"};
    struct kept kept;

    must(store_begin(store, &err));
    must(store_add_job(store, &job, &change.job, &err));
    must(store_change_job(store, &change, &err));
    kept = get_row(store, 2);
    assert_int_equal(kept.told, 0);
    assert_int_equal(kept.seen, 1);
    assert_int_equal(kept.same_as, 1);
    assert_string_equal(kept.reason, "{\"step\":\"log EI\"}");
    change.told = 7;
    must(store_change_job(store, &change, &err));
    change.told = 0;
    must(store_change_job(store, &change, &err));
    assert_int_equal(get_row(store, 2).told, 7);
    kept = get_row(store, 1);
    assert_int_equal(kept.same_as, 0);
    assert_string_equal(kept.reason, "(none)");
    store_close(store);
}

/* What is over was told in the order of its end. */
static void test_store__gives_old_trials_their_places(void **state)
{
    char *sql = mem_printf(
        "PRAGMA application_id = 1936553070;"
        "PRAGMA user_version = 2; %s %s"
        "INSERT INTO run (name, kind, spec, overrides, spec_path,"
        " work_directory, seed, created_ms) VALUES"
        " ('a', 'experiment', '', '[]', '', '/', 0, 1),"
        " ('b', 'experiment', '', '[]', '', '/', 0, 1);"
        "INSERT INTO job (run_id, number, state, cursor, created_ms, ended_ms)"
        " VALUES (1, 1, 'succeeded', 0, 1, 9), (1, 2, 'running', 0, 1, NULL),"
        " (1, 3, 'failed', 0, 1, 5), (1, 4, 'cancelled', 0, 1, 5),"
        " (2, 1, 'stopped', 0, 1, 1);",
        store_schema, store_schema_2);
    struct store *store;

    free(ask_sqlite(*state, sql));
    free(sql);
    store = must_open(*state, STORE_READ);
    assert_int_equal(get_row(store, 1).told, 3);
    assert_int_equal(get_row(store, 2).told, 0);
    assert_int_equal(get_row(store, 3).told, 1);
    assert_int_equal(get_row(store, 4).told, 2);
    assert_int_equal(get_row(store, 4).seen, 0);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_store__keeps_what_a_suggestion_was_based_on),
        STORE_TEST(test_store__gives_old_trials_their_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
