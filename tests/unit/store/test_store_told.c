/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include "tests/unit/store/store_test.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_store__keeps_what_a_suggestion_was_based_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
