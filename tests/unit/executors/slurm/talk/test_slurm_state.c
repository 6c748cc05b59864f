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

/* Of so many looks in a row, a second apart. */
static enum slurm_outlook judged(const char *reason, int looks)
{
    struct slurm_doubt doubt = {0};
    enum slurm_outlook outlook = SLURM_WILL_START;

    for (int i = 0; i < looks; i++)
        outlook = slurm_reason_judge(&doubt, reason, 5000 + 1000 * i);
    return outlook;
}

static void test_slurm_state__reasons_that_stay(void **state)
{
    static const char *const final[] = {
        "PartitionTimeLimit",
        "PartitionNodeLimit",
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
        "JobArrayTaskLimit",
        "QOSMaxJobsPerUserLimit",
        "AssocGrpCpuLimit",
        "launch failed, requeued held",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(final); i++) {
        assert_int_equal(judged(final[i], 1), SLURM_LOOK_AGAIN);
        assert_int_equal(judged(final[i], 2), SLURM_LOOK_AGAIN);
        assert_int_equal(judged(final[i], 3), SLURM_NEVER_STARTS);
    }
    for (size_t i = 0; i < ARRAY_LEN(passing); i++)
        assert_int_equal(judged(passing[i], 100), SLURM_WILL_START);
}

/* Slurm 23.11 without accounting: 239 ms after the submission the job is
 * PENDING for this reason, 713 ms after it RUNNING. */
static void test_slurm_state__reasons_that_slurm_tries_again(void **state)
{
    static const char *const reasons[] = {"InvalidAccount", "InvalidQOS",
                                          "BadConstraints"};
    struct slurm_doubt doubt = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        assert_int_equal(judged(reasons[i], 2), SLURM_LOOK_AGAIN);
        assert_int_equal(judged(reasons[i], 60), SLURM_HELD_BACK);
        assert_int_equal(judged(reasons[i], 61), SLURM_NEVER_STARTS);
    }
    slurm_reason_judge(&doubt, reasons[0], 1000);
    slurm_reason_judge(&doubt, "Priority", 2000);
    assert_int_equal(slurm_reason_judge(&doubt, reasons[0], 70000),
                     SLURM_LOOK_AGAIN);
}

static void test_slurm_state__reasons_that_a_person_should_know(void **state)
{
    (void)state;
    assert_int_equal(judged("PartitionConfig", 100), SLURM_HELD_BACK);
    assert_int_equal(judged("ReqNodeNotAvail, UnavailableNodes:", 1),
                     SLURM_HELD_BACK);
    assert_int_equal(judged("JobHeldUser", 1), SLURM_HELD_BACK);
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
        cmocka_unit_test(test_slurm_state__reasons_that_slurm_tries_again),
        cmocka_unit_test(test_slurm_state__reasons_that_a_person_should_know),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
