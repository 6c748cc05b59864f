/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "orchestrator/job/trial.h"
#include "store/store.h"

static struct objective objectives[] = {
    {.metric = "loss", .value = OBJECTIVE_LAST},
    {.metric = "gain", .maximize = true, .value = OBJECTIVE_BEST},
};

static struct outcome_bounds outcomes[] = {
    {"size", -(double)INFINITY, 3.0},
};

static int setup(void **state)
{
    static struct experiment experiment;
    struct err err;

    experiment = (struct experiment){
        .objectives = objectives,
        .objective_count = 2,
        .outcomes = outcomes,
        .outcome_count = 1,
        .env = expr_env_create(&err),
    };
    experiment.space = space_create(experiment.env);
    *state = &experiment;
    return 0;
}

static int teardown(void **state)
{
    struct experiment *experiment = *state;

    space_destroy(experiment->space);
    expr_env_destroy(experiment->env);
    return 0;
}

static void test_trial__avoids_a_node_once(void **state)
{
    struct trial trial = {.number = 1};

    (void)state;
    trial_avoid(&trial, "n2");
    trial_avoid(&trial, "n1");
    trial_avoid(&trial, "n2");
    assert_string_equal(trial.avoid[0], "n2");
    assert_string_equal(trial.avoid[1], "n1");
    assert_null(trial.avoid[2]);
    free(trial.avoid[0]);
    free(trial.avoid[1]);
    free(trial.avoid);
}

static void assert_objectives(const struct trial *trial,
                              const struct experiment *experiment, double loss,
                              double gain)
{
    const double expected[] = {loss, gain};
    double *values = trial_objectives(trial, experiment);

    for (size_t i = 0; i < 2; i++)
        assert_true(values[i] == expected[i] ||
                    (isnan(values[i]) && isnan(expected[i])));
    free(values);
}

static void test_trial__values_follow_their_rules(void **state)
{
    const struct experiment *experiment = *state;
    struct trial *trial = trial_create(experiment, &experiment->task, 1);

    assert_string_equal(trial_missing_metric(trial, experiment), "loss");
    trial_add_metric(trial, experiment, "loss", 0.5);
    assert_string_equal(trial_missing_metric(trial, experiment), "gain");
    trial_add_metric(trial, experiment, "gain", 2.0);
    trial_add_metric(trial, experiment, "gain", (double)INFINITY);
    trial_add_metric(trial, experiment, "gain", 1.0);
    trial_add_metric(trial, experiment, "loss", 0.75);
    assert_string_equal(trial_missing_metric(trial, experiment), "size");
    assert_true(isnan(trial->outcomes[0]));
    trial_add_metric(trial, experiment, "size", 2.0);
    trial_add_metric(trial, experiment, "size", 4.0);
    assert_null(trial_missing_metric(trial, experiment));
    assert_true(trial->outcomes[0] == 4.0);
    assert_objectives(trial, experiment, 0.75, 2.0);
    trial_destroy(trial);
}

static void test_trial__nan_counts_as_said(void **state)
{
    const struct experiment *experiment = *state;
    struct trial *trial = trial_create(experiment, &experiment->task, 1);

    trial_add_metric(trial, experiment, "loss", (double)NAN);
    trial_add_metric(trial, experiment, "gain", (double)NAN);
    trial_add_metric(trial, experiment, "size", (double)NAN);
    assert_null(trial_missing_metric(trial, experiment));
    assert_objectives(trial, experiment, (double)NAN, (double)NAN);
    trial_destroy(trial);
}

static void test_trial__curves_are_bounded(void **state)
{
    const struct experiment *experiment = *state;
    struct trial *trial = trial_create(experiment, &experiment->task, 1);
    char name[16];
    int kept = 0;

    for (int i = 0; i < TRIAL_MAX_POINTS + 10; i++)
        kept += trial_add_metric(trial, experiment, "loss", i);
    assert_int_equal(kept, TRIAL_MAX_POINTS);
    assert_objectives(trial, experiment, TRIAL_MAX_POINTS + 9, (double)NAN);
    kept = 0;
    for (int i = 0; i < TRIAL_MAX_CURVES + 10; i++) {
        snprintf(name, sizeof(name), "m%d", i);
        kept += trial_add_metric(trial, experiment, name, 0.0);
    }
    assert_int_equal(kept, TRIAL_MAX_CURVES - 1);
    trial_destroy(trial);
}

static void test_trial__an_end_is_judged_by_what_was_wished(void **state)
{
    static const struct {
        enum attempt_cause cause;
        enum trial_wish wish;
        enum job_event event;
    } ends[] = {
        {CAUSE_OK, WISH_NONE, EVENT_SUCCEEDED},
        {CAUSE_OK, WISH_STOP, EVENT_SUCCEEDED},
        {CAUSE_OK, WISH_INTERRUPT, EVENT_SUCCEEDED},
        {CAUSE_OK, WISH_GIVE_UP, EVENT_STOPPED},
        {CAUSE_CANCELLED, WISH_GIVE_UP, EVENT_STOPPED},
        {CAUSE_EXIT, WISH_GIVE_UP, EVENT_STOPPED},
        {CAUSE_LOST, WISH_GIVE_UP, EVENT_STOPPED},
        {CAUSE_CANCELLED, WISH_PAUSE, EVENT_SUCCEEDED},
        {CAUSE_EXIT, WISH_PAUSE, EVENT_SUCCEEDED},
        {CAUSE_LOST, WISH_PAUSE, EVENT_FAILED},
        {CAUSE_NO_METRIC, WISH_PAUSE, EVENT_FAILED},
        {CAUSE_CANCELLED, WISH_STOP, EVENT_STOPPED},
        {CAUSE_CANCELLED, WISH_INTERRUPT, EVENT_INTERRUPTED},
        {CAUSE_CANCELLED, WISH_NONE, EVENT_INTERRUPTED},
        {CAUSE_EXIT, WISH_NONE, EVENT_FAILED},
        {CAUSE_EXIT, WISH_STOP, EVENT_STOPPED},
        {CAUSE_EXIT, WISH_INTERRUPT, EVENT_INTERRUPTED},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct attempt_exit end = {.cause = ends[i].cause};

        assert_int_equal(trial_judge_end(&end, ends[i].wish), ends[i].event);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trial__avoids_a_node_once),
        cmocka_unit_test(test_trial__values_follow_their_rules),
        cmocka_unit_test(test_trial__nan_counts_as_said),
        cmocka_unit_test(test_trial__curves_are_bounded),
        cmocka_unit_test(test_trial__an_end_is_judged_by_what_was_wished),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
