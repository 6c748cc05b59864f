/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "executors/slurm/talk/state.h"

static void assert_ended(const char *word, enum attempt_cause cause,
                         enum slurm_action action)
{
    const struct slurm_state *state = slurm_state_find(word);

    assert_int_equal(state->phase, SLURM_ENDED);
    assert_int_equal(state->cause, cause);
    assert_int_equal(state->action, action);
}

static void test_slurm_state__what_ends_an_attempt_has_its_cause(void **state)
{
    (void)state;
    assert_ended("FAILED", CAUSE_EXIT, SLURM_TAKE);
    assert_ended("CANCELLED", CAUSE_CANCELLED, SLURM_TAKE);
    assert_ended("TIMEOUT", CAUSE_TIMEOUT, SLURM_OVERRIDE);
    assert_ended("DEADLINE", CAUSE_TIMEOUT, SLURM_OVERRIDE);
    assert_ended("PREEMPTED", CAUSE_PREEMPTED, SLURM_OVERRIDE);
    assert_ended("OUT_OF_MEMORY", CAUSE_OOM, SLURM_OVERRIDE);
    assert_ended("NODE_FAIL", CAUSE_NODE_FAIL, SLURM_EXCLUDE);
    assert_ended("BOOT_FAIL", CAUSE_NODE_FAIL, SLURM_EXCLUDE);
    assert_ended("LAUNCH_FAILED", CAUSE_NODE_FAIL, SLURM_EXCLUDE);
}

static void test_slurm_state__a_job_that_is_well_says_nothing(void **state)
{
    (void)state;
    assert_ended("COMPLETED", CAUSE_LOST, SLURM_TAKE);
}

static void test_slurm_state__words_may_have_more_behind(void **state)
{
    (void)state;
    assert_ended("CANCELLED by 1000", CAUSE_CANCELLED, SLURM_TAKE);
    assert_ended("CANCELLED+", CAUSE_CANCELLED, SLURM_TAKE);
    assert_string_equal(slurm_state_find("OUT_OF_MEMORY")->brief, "OOM");
}

static void test_slurm_state__what_lives_is_waited_for(void **state)
{
    static const struct {
        const char *word;
        enum slurm_phase phase;
    } lives[] = {
        {"PENDING", SLURM_PENDING},     {"REQUEUED", SLURM_PENDING},
        {"REQUEUE_HOLD", SLURM_HELD},   {"SPECIAL_EXIT", SLURM_HELD},
        {"RUNNING", SLURM_RUNNING},     {"COMPLETING", SLURM_RUNNING},
        {"CONFIGURING", SLURM_RUNNING}, {"SUSPENDED", SLURM_RUNNING},
        {"STAGE_OUT", SLURM_RUNNING},   {"RESIZING", SLURM_RUNNING},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lives); i++)
        assert_int_equal(slurm_state_find(lives[i].word)->phase,
                         lives[i].phase);
}

static void test_slurm_state__an_unknown_word_survives(void **state)
{
    (void)state;
    assert_int_equal(slurm_state_find("TELEPORTED")->phase, SLURM_UNKNOWN);
    assert_int_equal(slurm_state_find("")->phase, SLURM_UNKNOWN);
    assert_int_equal(slurm_state_find("COMPLETE")->phase, SLURM_UNKNOWN);
    assert_int_equal(slurm_state_find("RUNNING2")->phase, SLURM_UNKNOWN);
}

static void test_slurm_state__reasons_that_stay(void **state)
{
    static const char *const final[] = {
        "PartitionTimeLimit",
        "PartitionNodeLimit",
        "BadConstraints",
        "DependencyNeverSatisfied",
        "JobHeldAdmin",
        "launch failed requeued held",
        "launch_failed_requeued_held",
        "QOSMaxWallDurationPerJobLimit",
        "AssocMaxCpuPerJobLimit",
    };
    static const char *const passing[] = {
        "",
        "None",
        "Priority",
        "Resources",
        "Dependency",
        "BeginTime",
        "JobHeldUser",
        "JobArrayTaskLimit",
        "QOSMaxJobsPerUserLimit",
        "AssocGrpCpuLimit",
        "PartitionConfig",
        "ReqNodeNotAvail, UnavailableNodes:n1",
        "launch failed, requeued held",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(final); i++)
        assert_true(slurm_reason_is_final(final[i]));
    for (size_t i = 0; i < ARRAY_LEN(passing); i++)
        assert_false(slurm_reason_is_final(passing[i]));
}

static void test_slurm_state__reasons_that_a_person_should_know(void **state)
{
    (void)state;
    assert_true(slurm_reason_is_worrying("PartitionConfig"));
    assert_true(slurm_reason_is_worrying("ReqNodeNotAvail, UnavailableNodes:"));
    assert_false(slurm_reason_is_worrying("Resources"));
    assert_false(slurm_reason_is_worrying("Priority"));
    assert_false(slurm_reason_is_worrying("None"));
    assert_false(slurm_reason_is_worrying(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slurm_state__what_ends_an_attempt_has_its_cause),
        cmocka_unit_test(test_slurm_state__a_job_that_is_well_says_nothing),
        cmocka_unit_test(test_slurm_state__words_may_have_more_behind),
        cmocka_unit_test(test_slurm_state__what_lives_is_waited_for),
        cmocka_unit_test(test_slurm_state__an_unknown_word_survives),
        cmocka_unit_test(test_slurm_state__reasons_that_stay),
        cmocka_unit_test(test_slurm_state__reasons_that_a_person_should_know),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
