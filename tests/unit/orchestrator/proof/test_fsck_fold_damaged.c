/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events as damage may leave them. */
#include "orchestrator/proof/fsck_fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "tests/unit/orchestrator/proof/fsck_fold_test.h"

/* What is said of the last line; "": nothing. */
struct damage {
    struct line lines[4];
    const char *text;
};

static void must_say(const struct line *begin, size_t begin_count,
                     const struct damage *damages, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct line *line = damages[i].lines;
        struct said said = {0};
        struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);

        add(fold, begin, begin_count);
        assert_int_equal(said.count, 0);
        for (; line < damages[i].lines + 4 && line->event != NULL; line++) {
            said.last[0] = '\0';
            add(fold, line, 1);
        }
        assert_string_equal(said.last, damages[i].text);
        fsck_fold_destroy(fold);
    }
}

static void test_fsck_fold__of_a_damaged_experiment(void **state)
{
    static const struct line begin[] = {
        {0, 0, "run_created",
         "{\"state\":\"running\",\"name\":\"r\",\"params\":[],"
         "\"outcomes\":[\"size\"]}"},
        {4, 0, "suggested",
         "{\"state\":\"ready\",\"number\":1,\"seen\":0,\"resource\":1}"},
    };
    static const struct damage damages[] = {
        {{{5, 0, "suggested", "{\"state\":\"odd\",\"number\":2,\"seen\":0}"},
          {5, 0, "failed", "{\"state\":\"failed\"}"}},
         "2/0 'failed' is not possible while the trial is odd"},
        {{{5, 9, "attempt_starting", "{\"number\":1}"},
          {5, 9, "attempt_ended", "{\"cause\":\"ok\"}"}},
         ""},
        {{{5, 0, "suggested", "{\"state\":\"ready\",\"number\":2,\"seen\":0}"},
          {5, 9, "observed", "{\"told\":1,\"resource\":1}"}},
         "2/0 the trial has no schedule"},
        {{{4, 9, "observed", "{\"told\":1,\"resource\":1}"},
          {4, 9, "observed", "{\"told\":1,\"resource\":1}"}},
         "1/0 the result has place 1, but the one before has place 1"},
        {{{4, 9, "observed", "{\"told\":1,\"resource\":1,\"decision\":3}"},
          {4, 0, "paused", "{\"state\":\"paused\"}"}},
         "1/0 'paused' is not possible while the trial is ready"},
        {{{4, 9, "observed",
           "{\"told\":1,\"resource\":1,\"decision\":\"continue\"}"},
          {4, 0, "paused", "{\"state\":\"paused\"}"}},
         "1/0 'paused' is not possible while the trial is ready"},
    };

    (void)state;
    must_say(begin, ARRAY_LEN(begin), damages, ARRAY_LEN(damages));
}

static void test_fsck_fold__of_a_damaged_workflow(void **state)
{
    static const struct line begin[] = {
        {0, 0, "run_created",
         "{\"state\":\"running\",\"name\":\"w\",\"steps\":[\"a\",7],"
         "\"params\":[],\"outcomes\":[]}"},
        {0, 0, "step_began", "{\"step\":0,\"state\":\"active\",\"copies\":1}"},
    };
    static const struct damage damages[] = {
        {{{0, 0, "run_created",
           "{\"state\":\"running\",\"name\":\"w\",\"steps\":[\"c\"]}"},
          {0, 0, "step_ended", "{\"step\":0,\"state\":\"waiting\"}"}},
         "0/0 'step_ended' cannot change step 'a' from active to "
         "waiting"},
        {{{0, 0, "step_ended", "{\"step\":1,\"state\":\"failed\"}"}},
         "0/0 'step_ended' cannot change step '' from waiting to "
         "failed"},
        {{{0, 0, "step_ended",
           "{\"step\":0,\"state\":\"succeeded\",\"name\":8}"},
          {0, 0, "step_began", "{\"step\":0,\"state\":\"active\"}"}},
         "0/0 'step_began' cannot change step '' from succeeded to "
         "active"},
        {{{4, 0, "created", "{\"state\":\"ready\",\"number\":1,\"step\":0}"}},
         "1/0 step 'a' has no such copy"},
        {{{4, 0, "created",
           "{\"state\":\"ready\",\"number\":1,\"step\":0,\"copy\":-1}"}},
         "1/0 step 'a' has no such copy"},
    };

    (void)state;
    must_say(begin, ARRAY_LEN(begin), damages, ARRAY_LEN(damages));
}

static void test_fsck_fold__an_attempt_without_a_trial_is_of_none(void **state)
{
    static const struct line lines[] = {
        {0, 0, "run_created", "{\"state\":\"running\",\"name\":\"r\"}"},
        {5, 9, "attempt_starting", "{\"number\":1}"},
    };
    struct said said = {0};
    struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);

    (void)state;
    add(fold, lines, ARRAY_LEN(lines));
    assert_string_equal(said.last,
                        "0/1 an attempt of a trial that was never suggested");
    assert_int_equal(fsck_fold_trial(fold, IMAGE_ATTEMPT,
                                     fsck_fold_find(fold, IMAGE_ATTEMPT, 9)),
                     0);
    fsck_fold_destroy(fold);
}

/* Lists where a cell is none are kept as they are, and a list of numbers is one
 * wherever it stands. */
static void test_fsck_fold__lists_are_kept(void **state)
{
    static const struct line lines[] = {
        {0, 0, "run_created", "{\"state\":\"running\",\"name\":\"r\"}"},
        {0, 0, "engine_started", "{\"pid\":7,\"boot_id\":\"b\"}"},
        {0, 0, "engine_ended", "{\"pid\":0}"},
        {4, 0, "suggested",
         "{\"state\":\"ready\",\"number\":1,\"seen\":0,\"resource\":1}"},
        {4, 9, "observed",
         "{\"told\":1,\"resource\":1,\"reason\":[\"a\"],\"outcomes\":[1.5]}"},
        {4, 0, "failed",
         "{\"state\":\"failed\",\"told\":2,\"outcomes\":[2.5,\"nan\"]}"},
    };
    struct said said = {0};
    struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);
    struct fsck_fold_row *row;

    (void)state;
    add(fold, lines, ARRAY_LEN(lines));
    assert_string_equal(said.last, "");
    must_be(fsck_fold_find(fold, IMAGE_RUN, 1), RUN_CELL_BOOT_ID, "b");
    row = fsck_fold_find(fold, IMAGE_OBSERVATION, 1);
    must_be(row, OBSERVATION_CELL_REASON, "[\"a\"]");
    must_be(row, OBSERVATION_CELL_OUTCOMES, "[1.5]");
    must_be(fsck_fold_find(fold, IMAGE_JOB, 4), JOB_CELL_OUTCOMES,
            "[2.5,\"nan\"]");
    fsck_fold_destroy(fold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fsck_fold__of_a_damaged_experiment),
        cmocka_unit_test(test_fsck_fold__of_a_damaged_workflow),
        cmocka_unit_test(test_fsck_fold__an_attempt_without_a_trial_is_of_none),
        cmocka_unit_test(test_fsck_fold__lists_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
