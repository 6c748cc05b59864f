/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "orchestrator/job/job.h"
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

static void test_job__avoids_a_node_once(void **state)
{
    struct job job = {.number = 1};

    (void)state;
    job_avoid(&job, "n2");
    job_avoid(&job, "n1");
    job_avoid(&job, "n2");
    assert_string_equal(job.avoid[0], "n2");
    assert_string_equal(job.avoid[1], "n1");
    assert_null(job.avoid[2]);
    free(job.avoid[0]);
    free(job.avoid[1]);
    free(job.avoid);
}

static void assert_objectives(const struct job *job,
                              const struct experiment *experiment, double loss,
                              double gain)
{
    const double expected[] = {loss, gain};
    double *values = job_objectives(job, experiment);

    for (size_t i = 0; i < 2; i++)
        assert_true(values[i] == expected[i] ||
                    (isnan(values[i]) && isnan(expected[i])));
    free(values);
}

static void test_job__values_follow_their_rules(void **state)
{
    const struct experiment *experiment = *state;
    struct job *job = job_create(experiment, &experiment->task, 1);

    assert_string_equal(job_missing_metric(job, experiment), "loss");
    job_add_metric(job, experiment, "loss", 0.5);
    assert_string_equal(job_missing_metric(job, experiment), "gain");
    job_add_metric(job, experiment, "gain", 2.0);
    job_add_metric(job, experiment, "gain", (double)INFINITY);
    job_add_metric(job, experiment, "gain", 1.0);
    job_add_metric(job, experiment, "loss", 0.75);
    assert_string_equal(job_missing_metric(job, experiment), "size");
    assert_true(isnan(job->outcomes[0]));
    job_add_metric(job, experiment, "size", 2.0);
    job_add_metric(job, experiment, "size", 4.0);
    assert_null(job_missing_metric(job, experiment));
    assert_true(job->outcomes[0] == 4.0);
    assert_objectives(job, experiment, 0.75, 2.0);
    job_destroy(job);
}

static void test_job__nan_counts_as_said(void **state)
{
    const struct experiment *experiment = *state;
    struct job *job = job_create(experiment, &experiment->task, 1);

    job_add_metric(job, experiment, "loss", (double)NAN);
    job_add_metric(job, experiment, "gain", (double)NAN);
    job_add_metric(job, experiment, "size", (double)NAN);
    assert_null(job_missing_metric(job, experiment));
    assert_objectives(job, experiment, (double)NAN, (double)NAN);
    job_destroy(job);
}

/* What is beyond the bound is counted, and no objective or constraint is. */
static void test_job__curves_are_bounded(void **state)
{
    const struct experiment *experiment = *state;
    struct job *job = job_create(experiment, &experiment->task, 1);
    char name[16];
    int kept = 0;

    for (int i = 0; i < JOB_MAX_CURVES + 10; i++) {
        snprintf(name, sizeof(name), "m%d", i);
        kept += job_add_metric(job, experiment, name, 0.0) != NULL;
    }
    assert_int_equal(kept, JOB_MAX_CURVES);
    assert_int_equal(job->points_left_out, 10);
    assert_non_null(job_add_metric(job, experiment, "loss", 3.0));
    assert_non_null(job_add_metric(job, experiment, "gain", 2.0));
    assert_non_null(job_add_metric(job, experiment, "size", 1.0));
    assert_objectives(job, experiment, 3.0, 2.0);
    assert_int_equal(job->points_left_out, 10);
    job_destroy(job);
}

static void test_job__an_end_is_judged_by_what_was_wished(void **state)
{
    static const struct {
        enum attempt_cause cause;
        enum job_wish wish;
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
        {CAUSE_CANCELLED, WISH_CANCEL, EVENT_CANCELLED},
        {CAUSE_EXIT, WISH_CANCEL, EVENT_CANCELLED},
        {CAUSE_OK, WISH_CANCEL, EVENT_SUCCEEDED},
        {CAUSE_EXIT, WISH_NONE, EVENT_FAILED},
        {CAUSE_EXIT, WISH_STOP, EVENT_STOPPED},
        {CAUSE_EXIT, WISH_INTERRUPT, EVENT_INTERRUPTED},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct attempt_exit end = {.cause = ends[i].cause};

        assert_int_equal(job_judge_end(&end, ends[i].wish, FREE_NONE),
                         ends[i].event);
    }
}

static void test_job__what_others_cancelled_is_over(void **state)
{
    struct attempt_exit end = {.cause = CAUSE_CANCELLED, .is_outside = true};

    (void)state;
    assert_int_equal(job_judge_end(&end, WISH_NONE, FREE_NONE),
                     EVENT_CANCELLED);
    assert_int_equal(job_judge_end(&end, WISH_INTERRUPT, FREE_NONE),
                     EVENT_INTERRUPTED);
    assert_int_equal(job_judge_end(&end, WISH_STOP, FREE_NONE), EVENT_STOPPED);
}

static void test_job__a_shortage_is_no_failure_within_its_bound(void **state)
{
    struct attempt_exit end = {.cause = CAUSE_LAUNCH_ERROR,
                               .is_shortage = true};

    (void)state;
    assert_int_equal(job_judge_end(&end, WISH_NONE, FREE_SHORTAGE),
                     EVENT_INTERRUPTED);
    assert_int_equal(job_judge_end(&end, WISH_NONE, FREE_NONE), EVENT_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job__avoids_a_node_once),
        cmocka_unit_test(test_job__values_follow_their_rules),
        cmocka_unit_test(test_job__what_others_cancelled_is_over),
        cmocka_unit_test(test_job__a_shortage_is_no_failure_within_its_bound),
        cmocka_unit_test(test_job__nan_counts_as_said),
        cmocka_unit_test(test_job__curves_are_bounded),
        cmocka_unit_test(test_job__an_end_is_judged_by_what_was_wished),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
