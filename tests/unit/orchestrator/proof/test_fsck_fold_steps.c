/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What events of a workflow come to, and which cannot be. */
#include "orchestrator/proof/fsck_fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "tests/unit/orchestrator/proof/fsck_fold_test.h"

/* ---- workflows ---- */

static const struct line steps[] = {
    {0, 0, "run_created",
     "{\"state\":\"running\",\"name\":\"w\",\"steps\":[\"a\",\"b\"],"
     "\"parent_id\":9,\"parent_job\":8,\"params\":[],\"outcomes\":[]}"},
    {0, 0, "step_began",
     "{\"step\":0,\"state\":\"active\",\"copies\":2,\"matrix\":\"{}\"}"},
    {4, 0, "created",
     "{\"state\":\"ready\",\"number\":1,\"step\":0,\"copy\":1,\"round\":1,"
     "\"rounds\":\"{}\",\"params\":[]}"},
    {4, 9, "attempt_starting",
     "{\"number\":1,\"directory\":\"d\",\"cache_key\":\"early\"}"},
    {4, 9, "attempt_running", "{\"pid\":70}"},
    {4, 0, "started", "{\"state\":\"running\",\"started_ms\":50}"},
    {4, 9, "attempt_ended", "{\"cause\":\"ok\",\"checkpoint\":\"c\"}"},
};

static const struct line over[] = {
    {4, 0, "succeeded",
     "{\"state\":\"succeeded\",\"cause\":\"ok\",\"ended_ms\":60,\"told\":1,"
     "\"outputs\":\"{\\\"x\\\":1}\",\"cache_key\":\"k\",\"cached_from\":3}"},
    {5, 0, "created",
     "{\"state\":\"ready\",\"number\":2,\"step\":0,\"copy\":0,\"seen\":1,"
     "\"params\":[]}"},
    {5, 0, "skipped", "{\"state\":\"skipped\",\"ended_ms\":61}"},
    {0, 0, "step_ended",
     "{\"step\":0,\"state\":\"failed\",\"reason\":\"1 failed\"}"},
    {0, 0, "step_skipped",
     "{\"step\":1,\"state\":\"skipped\",\"reason\":\"a failed\"}"},
};

static void test_fsck_fold_steps__a_workflow_comes_to_its_rows(void **state)
{
    static const struct line again[] = {
        {4, 0, "reopened", "{\"state\":\"ready\",\"superseded\":1}"},
        {0, 0, "step_reopened", "{\"step\":0,\"state\":\"active\"}"},
        {0, 0, "step_reopened", "{\"step\":1,\"state\":\"waiting\"}"},
        {0, 0, "step_reopened", "{\"step\":0,\"state\":\"waiting\"}"},
    };
    struct said said = {0};
    struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);
    struct fsck_fold_row *step, *job;
    size_t count;

    (void)state;
    add(fold, steps, ARRAY_LEN(steps));
    must_be(fsck_fold_find(fold, IMAGE_JOB, 4), JOB_CELL_CACHE_KEY, "early");
    add(fold, over, ARRAY_LEN(over));
    assert_string_equal(said.last, "");
    must_be(fsck_fold_find(fold, IMAGE_JOB, 4), JOB_CELL_CACHE_KEY, "k");
    must_be(fsck_fold_find(fold, IMAGE_RUN, 1), RUN_CELL_PARENT_ID, "9");
    must_be(fsck_fold_find(fold, IMAGE_RUN, 1), RUN_CELL_PARENT_JOB, "8");
    step = fsck_fold_rows(fold, IMAGE_STEP, &count);
    assert_int_equal(count, 2);
    must_be(step, STEP_CELL_NAME, "a");
    must_be(step, STEP_CELL_STATE, "failed");
    must_be(step, STEP_CELL_REASON, "1 failed");
    must_be(step, STEP_CELL_COPIES, "2");
    must_be(step, STEP_CELL_MATRIX, "{}");
    must_be(step, STEP_CELL_BEGAN_MS, "101");
    must_be(step, STEP_CELL_ENDED_MS, "103");
    must_be(step + 1, STEP_CELL_STATE, "skipped");
    must_be(step + 1, STEP_CELL_COPIES, "NULL");
    must_be(step + 1, STEP_CELL_ENDED_MS, "104");
    job = fsck_fold_find(fold, IMAGE_JOB, 4);
    must_be(job, JOB_CELL_COPY, "1");
    must_be(job, JOB_CELL_ROUNDS, "{}");
    must_be(job, JOB_CELL_OUTPUTS, "{\"x\":1}");
    must_be(job, JOB_CELL_CACHED_FROM, "3");
    must_be(fsck_fold_find(fold, IMAGE_ATTEMPT, 9), ATTEMPT_CELL_CHECKPOINT,
            "c");
    add(fold, again, ARRAY_LEN(again));
    assert_string_equal(said.last, "");
    must_be(fsck_fold_find(fold, IMAGE_JOB, 4), JOB_CELL_OUTPUTS, "NULL");
    must_be(fsck_fold_find(fold, IMAGE_JOB, 4), JOB_CELL_CACHE_KEY, "NULL");
    must_be(step, STEP_CELL_STATE, "waiting");
    must_be(step, STEP_CELL_COPIES, "NULL");
    must_be(step, STEP_CELL_BEGAN_MS, "NULL");
    must_be(step, STEP_CELL_ENDED_MS, "NULL");
    must_be(step + 1, STEP_CELL_REASON, "NULL");
    fsck_fold_rows(fold, IMAGE_SUPERSEDED, &count);
    assert_int_equal(count, 1);
    fsck_fold_destroy(fold);
}

static const struct {
    bool is_over;
    struct line line;
    const char *text;
} impossible[] = {
    {false,
     {0, 0, "step_began", "{\"step\":0,\"state\":\"active\",\"copies\":2}"},
     "0/0 'step_began' cannot change step 'a' from active to "
     "active"},
    {false,
     {0, 0, "step_skipped", "{\"step\":0,\"state\":\"skipped\"}"},
     "0/0 'step_skipped' cannot change step 'a' from active to "
     "skipped"},
    {false,
     {0, 0, "step_ended", "{\"step\":1,\"state\":\"succeeded\"}"},
     "0/0 'step_ended' cannot change step 'b' from waiting to "
     "succeeded"},
    {false,
     {0, 0, "step_ended", "{\"step\":2,\"state\":\"succeeded\"}"},
     "0/0 unknown step or unknown state"},
    {false,
     {0, 0, "step_ended", "{\"state\":\"succeeded\"}"},
     "0/0 unknown step or unknown state"},
    {false,
     {0, 0, "step_ended", "{\"step\":0,\"state\":\"tired\"}"},
     "0/0 unknown step or unknown state"},
    {false,
     {5, 0, "created",
      "{\"state\":\"ready\",\"number\":2,\"step\":1,\"copy\":0}"},
     "2/0 step 'b' has no such copy"},
    {false,
     {5, 0, "created",
      "{\"state\":\"ready\",\"number\":2,\"step\":0,\"copy\":2}"},
     "2/0 step 'a' has no such copy"},
    {true,
     {6, 0, "created",
      "{\"state\":\"ready\",\"number\":3,\"step\":0,\"copy\":0,"
      "\"seen\":1}"},
     "3/0 step 'a' of the job is failed"},
    {true,
     {5, 0, "reopened", "{\"state\":\"ready\"}"},
     "2/0 'reopened' is not possible while the trial is skipped"},
    {false,
     {5, 0, "created",
      "{\"state\":\"ready\",\"number\":2,\"step\":7,\"copy\":0}"},
     "2/0 the job belongs to an unknown step"},
};

static void test_fsck_fold_steps__what_cannot_be_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(impossible); i++) {
        struct said said = {0};
        struct fsck_fold *fold = fsck_fold_create(1, on_wrong, &said);

        add(fold, steps, ARRAY_LEN(steps));
        if (impossible[i].is_over)
            add(fold, over, ARRAY_LEN(over));
        assert_int_equal(said.count, 0);
        add(fold, &impossible[i].line, 1);
        assert_true(said.count > 0);
        assert_string_equal(said.last, impossible[i].text);
        fsck_fold_destroy(fold);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fsck_fold_steps__a_workflow_comes_to_its_rows),
        cmocka_unit_test(test_fsck_fold_steps__what_cannot_be_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
