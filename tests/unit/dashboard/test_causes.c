/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/causes.h"

#include "tests/unit/store/store_test.h"

struct found {
    int64_t sums, attempts, took_ms;
    char last[16];
};

static void add(void *user, const struct cause_sum *sum)
{
    struct found *found = user;

    assert_true(strcmp(found->last, sum->cause) < 0);
    snprintf(found->last, sizeof(found->last), "%s", sum->cause);
    found->sums++;
    found->attempts += sum->attempts;
    found->took_ms += sum->took_ms;
}

static struct found look(struct causes *causes, struct store *store,
                         int64_t run)
{
    struct err err = {0};
    struct found found = {0};

    must(causes_update(causes, store, &err));
    causes_each(causes, run, add, &found);
    return found;
}

static void end_attempt(struct store *store, int64_t run, int64_t job,
                        int64_t attempt, const char *cause)
{
    struct err err = {0};
    struct attempt_end end = {.run = run,
                              .job = job,
                              .attempt = attempt,
                              .cause = cause,
                              .started_ms = fill_start_ms,
                              .ended_ms = fill_start_ms + 500,
                              .rule = -1};

    must(store_end_attempt(store, &end, &err));
}

static void test_causes__attempts_count_once_when_they_have_ended(void **state)
{
    struct err err = {0};
    struct store *store = must_open(*state, STORE_CREATE);
    struct causes *causes = causes_create();
    int64_t first, second, jobs[2], attempts[2];
    struct found found;

    must(store_begin(store, &err));
    must(fill_run(store, "first", "minimize", &first, &err));
    must(fill_run(store, "second", "minimize", &second, &err));
    must(fill_trial(store, first, 1, 0.5, &err));
    for (int i = 0; i < 2; i++) {
        must(fill_job(store, first, 2 + i, &jobs[i], &err));
        must(fill_attempt(store, first, jobs[i], 1, fill_start_ms, &attempts[i],
                          &err));
    }
    must(fill_trial(store, second, 1, 0.5, &err));
    must(store_commit(store, &err));
    assert_int_equal(look(causes, store, first).attempts, 1);
    assert_int_equal(look(causes, store, first).attempts, 1);
    assert_int_equal(look(causes, store, second).attempts, 1);

    /* One that went on ends after others that began later. */
    must(store_begin(store, &err));
    must(fill_trial(store, second, 2, 0.5, &err));
    end_attempt(store, first, jobs[1], attempts[1], "exit");
    must(store_commit(store, &err));
    found = look(causes, store, first);
    assert_int_equal(found.attempts, 2);
    assert_int_equal(found.sums, 2);
    assert_int_equal(found.took_ms, 1500);
    assert_int_equal(look(causes, store, second).attempts, 2);

    must(store_begin(store, &err));
    end_attempt(store, first, jobs[0], attempts[0], "exit");
    must(store_commit(store, &err));
    found = look(causes, store, first);
    assert_int_equal(found.attempts, 3);
    assert_int_equal(found.sums, 2);
    assert_int_equal(found.took_ms, 2000);
    assert_int_equal(look(causes, store, second).attempts, 2);
    assert_int_equal(look(causes, store, 99).sums, 0);
    causes_destroy(causes);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_causes__attempts_count_once_when_they_have_ended),
    };

    return cmocka_run_group_tests_name("causes", tests, NULL, NULL);
}
