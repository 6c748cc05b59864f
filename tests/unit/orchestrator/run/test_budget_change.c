/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run that has begun gets another number of trials, or another time. */
#include "orchestrator/run/budget_change.h"

#include "orchestrator/job/budget.h"
#include "orchestrator/run/run.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "tests/unit/store/store_repair.h"

static const struct budget_change nine = {.trials = 9};

static int keep_row(void *user, const struct run_row *row)
{
    const struct budget_change given = budget_change_of(row);

    snprintf(user, 64, "%s, %d trials, %d ms", row->state, (int)given.trials,
             (int)given.time_ms);
    return 0;
}

static void must_stand(struct store *store, const char *text)
{
    struct err err = {0};
    char found[64];

    must(store_get_run_uncounted(store, 1, keep_row, found, &err));
    assert_string_equal(found, text);
}

/* Of a run with two trials, whose engine was killed after 2 s. */
static const struct {
    const char *state, *reason;
    int64_t trials, time_ms;
    enum err_kind kind;
    const char *text; /* an error's, or how it stands then */
} changes[] = {
    {"running", "", 2, 0, ERR_NONE, "running, 2 trials, 0 ms"},
    {"running", "", 9, 0, ERR_NONE, "running, 9 trials, 0 ms"},
    {"running", "", 1, 0, ERR_USAGE,
     "out of range: the budget must be at least 2 trials, not "
     "1: 2 have already started"},
    {"running", "", BUDGET_COUNT_MAX + 1, 0, ERR_USAGE,
     "out of range: a budget has at most 1000000000000 trials, not "
     "1000000000001"},
    {"running", "", 0, 2001, ERR_NONE, "running, 9 trials, 2001 ms"},
    {"running", "", 0, 2000, ERR_USAGE,
     "out of range: the time budget must be more than the 2.0 s "
     "already used, not 2.0 s"},
    {"running", "", 3, 9000, ERR_NONE, "running, 3 trials, 9000 ms"},
    {"running", "", 3, 1, ERR_USAGE, NULL},
    {"running", "", 1, 9000, ERR_USAGE, NULL},
    {"stopped", "stopped by its user", 2, 0, ERR_NONE,
     "stopped, 2 trials, 9000 ms"},
    {"stopped", "stopped by its user", 0, 5000, ERR_NONE,
     "stopped, 2 trials, 5000 ms"},
    {"succeeded", "trial budget used up (2 of 2)", 3, 0, ERR_NONE,
     "running, 3 trials, 5000 ms"},
    {"succeeded", "trial budget used up (2 of 2)", 2, 0, ERR_USAGE,
     "out of range: the budget must be at least 3 trials, not "
     "2: 2 have already started"},
    {"succeeded", "trial budget used up (2 of 2)", 3, 6000, ERR_NONE,
     "running, 3 trials, 6000 ms"},
    {"succeeded", "trial budget used up (2 of 2)", 0, 9000, ERR_BUSY,
     "more time would change nothing, because the run ended for "
     "another reason: trial budget used up (2 of 2)"},
    {"succeeded", "time budget used up", 0, 7000, ERR_NONE,
     "running, 3 trials, 7000 ms"},
    {"succeeded", "time budget used up", 0, 1000, ERR_USAGE, NULL},
    {"succeeded", "time budget used up", 9, 0, ERR_BUSY,
     "more trials would change nothing, because the run ended "
     "for another reason: time budget used up"},
    {"failed", BUDGET_IN_VAIN "time budget used up", 0, 8000, ERR_NONE,
     "running, 3 trials, 8000 ms"},
    {"failed", BUDGET_IN_VAIN "trial budget used up (2 of 2)", 3, 0, ERR_NONE,
     "running, 3 trials, 8000 ms"},
    {"failed", "no trial can be started: no such file", 3, 0, ERR_NONE,
     "running, 3 trials, 8000 ms"},
    {"failed", "too many failed trials (budget.failures)", 3, 0, ERR_BUSY,
     "more trials would change nothing, because the run ended "
     "for another reason: too many failed trials "
     "(budget.failures)"},
    {"failed", BUDGET_IN_VAIN BUDGET_ALL_TRIED, 3, 0, ERR_BUSY, NULL},
    {"succeeded", BUDGET_ALL_TRIED, 3, 0, ERR_BUSY, NULL},
    {"succeeded", "the target was reached", 3, 9000, ERR_BUSY,
     "more trials or time would change nothing, because the run "
     "ended for another reason: the target was reached"},
    {"succeeded", "resource budget used up", 3, 0, ERR_BUSY, NULL},
};

static void must_change(struct store *store, size_t i)
{
    struct experiment experiment = {.budget = {.trials = 4, .time_ms = 10}};
    struct run run = {.store = store, .experiment = &experiment, .id = 1};
    const struct budget_change change = {.trials = changes[i].trials,
                                         .time_ms = changes[i].time_ms};
    struct err err = {0};

    must(store_begin(store, &err));
    must(store_set_run_state(store, 1, changes[i].state, changes[i].reason,
                             fill_start_ms + 3000, &err));
    must(store_commit(store, &err));
    if (changes[i].kind == ERR_NONE) {
        must(budget_change_make(&run, &change, &err));
        must_stand(store, changes[i].text);
        assert_int_equal(experiment.budget.trials,
                         change.trials > 0 ? change.trials : 4);
        assert_int_equal(experiment.budget.time_ms,
                         change.time_ms > 0 ? change.time_ms : 10);
        return;
    }
    assert_int_equal(budget_change_make(&run, &change, &err), -1);
    assert_int_equal(err.kind, changes[i].kind);
    if (changes[i].text != NULL)
        assert_string_equal(err.text, changes[i].text);
    assert_int_equal(experiment.budget.trials, 4);
    assert_int_equal(experiment.budget.time_ms, 10);
}

/* An engine starts, that never says that it ended. */
static void start_engine(struct store *store, int64_t pid, int64_t time_ms)
{
    struct err err = {0};

    must(store_begin(store, &err));
    must(store_set_run_engine(store, 1, pid, "b", time_ms, &err));
    must(store_commit(store, &err));
}

static void test_budget_change__is_for_a_run_that_can_go_on(void **state)
{
    struct store *store = must_fill(*state, 0);
    struct err err = {0};

    start_engine(store, 7, fill_start_ms + 1000);
    must(store_begin(store, &err));
    must(fill_trial(store, 1, 1, 0.3, &err));
    must(fill_trial(store, 1, 2, 0.3, &err));
    must(store_commit(store, &err));
    for (size_t i = 0; i < ARRAY_LEN(changes); i++)
        must_change(store, i);
    store_close(store);
    assert_int_equal(findings(*state), 0);
}

/* An engine that died had its end when it said something last, not when its
 * run got another budget. */
static void test_budget_change__is_no_work_of_a_dead_engine(void **state)
{
    struct store *store = must_fill(*state, 2);
    struct experiment experiment = {.budget = {.trials = 4}};
    struct run run = {.store = store, .experiment = &experiment, .id = 1};
    struct err err = {0};
    int64_t start_ms = fill_start_ms + 1000, ms;

    start_engine(store, 7, start_ms);
    must(store_begin(store, &err));
    must(fill_trial(store, 1, 3, 0.3, &err));
    must(store_set_comment(store, 1, 1, "late", start_ms + 1000000, &err));
    must(store_commit(store, &err));
    must(budget_change_make(&run, &nine, &err));
    start_engine(store, 8, start_ms + 2000000);
    must(store_earlier_engines_ms(store, 1, &ms, &err));
    assert_int_equal(ms, 3000); /* until the third trial's end */
    store_close(store);
}

static void test_budget_change__is_for_experiments(void **state)
{
    struct store *store = must_fill(*state, 2);
    struct workflow workflow = {.step_count = 0};
    struct run run = {.store = store, .workflow = &workflow, .id = 1};
    struct err err = {0};

    assert_int_equal(budget_change_make(&run, &nine, &err), -1);
    assert_string_equal(err.text, "the budget of a workflow has no trials");
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_budget_change__is_for_a_run_that_can_go_on),
        STORE_TEST(test_budget_change__is_no_work_of_a_dead_engine),
        STORE_TEST(test_budget_change__is_for_experiments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
