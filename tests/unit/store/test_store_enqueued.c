/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings that a person had a run try. */
#include "store/store.h"

#include <inttypes.h>

#include "base/buf.h"
#include "tests/unit/store/store_fill.h"
#include "tests/unit/store/store_repair.h"

static int print_row(void *user, const struct enqueued_row *row)
{
    buf_printf(user, "%" PRId64 " %s by %" PRId64 "\n", row->index, row->params,
               row->trial);
    return 0;
}

static void must_show(struct store *store, const char *expected)
{
    struct buf said = BUF_INIT;
    struct err err = {0};

    must(store_each_enqueued(store, 1, print_row, &said, &err));
    assert_string_equal(buf_text(&said), expected);
    buf_clear(&said);
}

/* The second trial tries the first of two settings. */
static struct store *filled(const char *folder)
{
    struct store *store = must_open(folder, STORE_CREATE);
    struct err err = {0};
    int64_t run, job;

    must(store_begin(store, &err));
    must(fill_run(store, "r", "minimize", &run, &err));
    must(fill_trial(store, run, 1, 0.5, &err));
    must_show(store, "");
    must(store_add_enqueued(store, run, 1, "{\"lr\":0.25}", 5, &err));
    must(store_add_enqueued(store, run, 2, "{\"o\":\"a\\\"b\"}", 6, &err));
    must(fill_job_for(store, run, 2, 1, &job, &err));
    return store;
}

static void test_store_enqueued__a_trial_tries_one(void **state)
{
    struct store *store = filled(*state);
    struct err err = {0};

    must_show(store, "1 {\"lr\":0.25} by 2\n2 {\"o\":\"a\\\"b\"} by 0\n");
    must(store_commit(store, &err));
    store_close(store);
    assert_int_equal(findings(*state), 0);
}

static void test_store_enqueued__each_is_tried_once(void **state)
{
    struct store *store = filled(*state);
    struct err err = {0};
    int64_t job;

    assert_int_equal(fill_job_for(store, 1, 3, 1, &job, &err), -1);
    assert_int_equal(fill_job_for(store, 1, 4, 3, &job, &err), -1);
    assert_int_equal(store_add_enqueued(store, 1, 2, "{}", 7, &err), -1);
    store_close(store);
}

static void test_store_enqueued__what_is_damaged_is_found_and_mended(
    void **state)
{
    static const char *const damages[] = {
        "UPDATE enqueued SET trial = NULL",
        "UPDATE enqueued SET trial = 1 WHERE idx = 2",
        "UPDATE enqueued SET params = '{}'",
        "UPDATE enqueued SET created_ms = 1",
        "DELETE FROM enqueued WHERE idx = 2",
        "INSERT INTO enqueued VALUES (1, 3, '{}', 9, NULL)",
        "INSERT INTO enqueued VALUES (7, 1, '{}', 9, NULL)",
    };
    struct store *store = filled(*state);
    struct err err = {0};

    must(store_commit(store, &err));
    store_close(store);
    for (size_t i = 0; i < ARRAY_LEN(damages); i++)
        assert_mended(*state, damages[i]);
}

/* Events that cannot be: fsck says so of the record itself. */
static void test_store_enqueued__a_setting_cannot_be_tried_twice(void **state)
{
    struct store *store = filled(*state);
    struct err err = {0};

    must(store_commit(store, &err));
    store_close(store);
    free(ask_sqlite(*state, "INSERT INTO event (run_id, time_ms, event, detail)"
                            " VALUES (1, 9, 'enqueued', '{\"idx\":5}')"));
    assert_int_not_equal(findings(*state), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_store_enqueued__a_trial_tries_one),
        STORE_TEST(test_store_enqueued__each_is_tried_once),
        STORE_TEST(test_store_enqueued__what_is_damaged_is_found_and_mended),
        STORE_TEST(test_store_enqueued__a_setting_cannot_be_tried_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
