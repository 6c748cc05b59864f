/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What changes the queue: jobs that are submitted or cancelled. */
#include "executors/slurm/talk/transport.h"

#include "base/compiler.h"
#include "tests/unit/executors/slurm/talk/commands_test.h"

/* -- Submissions ----------------------------------------------------------*/

static void test_slurm_commands__submits_as_it_is_told(void **state)
{
    static const char *const extra[] = {"--comment", "a b"};
    static const char *const avoid[] = {"n1", "n2", NULL};
    const struct slurm_ask fallback = {.partition = "batch", .account = "us"};
    const struct slurm_ask own = {.partition = "high",
                                  .qos = "q",
                                  .extra = extra,
                                  .extra_count = ARRAY_LEN(extra)};
    const struct slurm_submission submission = {.name = "smt-1-j7",
                                                .directory = "/tmp/a 'b\" $c",
                                                .log = "/tmp/l %j\\o g",
                                                .script =
                                                    "#!/bin/sh\necho '$x'\n",
                                                .ask = &own,
                                                .fallback = &fallback,
                                                .nodes = 2,
                                                .tasks = 4,
                                                .cpus = 9,
                                                .gpus = 3,
                                                .memory_bytes = (100 << 20) + 1,
                                                .time_ms = 60001,
                                                .array = 5,
                                                .after = 12,
                                                .avoid = avoid,
                                                .without_environment = true};
    struct desk *desk = *state;
    char *words, *script;

    place_program(desk->root, "sbatch",
                  "printf '%s\\n' \"$@\" >$ROOT/words; cat >$ROOT/script\n"
                  "echo '42;cluster'");
    submit(desk, &submission);
    assert_int_equal(desk->reply.answer, SLURM_DONE);
    assert_int_equal(desk->id, 42);
    words = content(desk, "words");
    script = content(desk, "script");
    assert_string_equal(script, submission.script);
    assert_string_equal(words, "--parsable\n--open-mode=append\n--no-requeue\n"
                               "--export=NIL\n--job-name=smt-1-j7\n"
                               "--chdir=/tmp/a 'b\" $c\n"
                               "--output=/tmp/l \\%j\\\\o g\n"
                               "--nodes=2\n--ntasks=4\n--ntasks-per-node=2\n"
                               "--cpus-per-task=3\n"
                               "--gres=gpu:2\n--mem=101M\n--time=2\n"
                               "--array=0-4\n--exclude=n1,n2\n"
                               "--dependency=afternotok:12\n"
                               "--kill-on-invalid-dep=yes\n"
                               "--partition=high\n--account=us\n--qos=q\n"
                               "--comment\na b\n");
    free(words);
    free(script);
}

static void test_slurm_commands__says_nothing_that_was_not_asked(void **state)
{
    struct desk *desk = *state;
    char *words;

    place_program(desk->root, "sbatch",
                  "printf '%s\\n' \"$@\" >$ROOT/words; echo 1");
    submit(desk, &plain);
    assert_int_equal(desk->id, 1);
    words = content(desk, "words");
    assert_string_equal(words, "--parsable\n--open-mode=append\n--no-requeue\n"
                               "--export=ALL\n--job-name=smt-1-j1\n"
                               "--chdir=/tmp\n--output=/tmp/log\n"
                               "--nodes=1\n--ntasks=1\n");
    free(words);
}

static void test_slurm_commands__only_a_clear_word_is_believed(void **state)
{
    static const struct {
        const char *program;
        enum slurm_answer answer;
    } cases[] = {
        {"echo 7", SLURM_DONE},
        {"echo 'sbatch: a greeting' >&2; echo 7", SLURM_DONE},
        {"echo 'Welcome to the 9th!'; echo; echo 7", SLURM_DONE},
        {"exit 0", SLURM_SILENT},
        {"echo 7; echo", SLURM_SILENT},
        {"printf 7", SLURM_SILENT}, /* may have been 77 */
        {"echo 7x", SLURM_SILENT},
        {"echo 'Submitted batch job 7'", SLURM_SILENT},
        {"echo 7; kill -9 $$", SLURM_SILENT},
        {"echo 7; echo 'Batch job submission failed: x' >&2; exit 1",
         SLURM_SILENT},
        {"exit 1", SLURM_SILENT},
        {"echo nonsense >&2; exit 1", SLURM_SILENT},
        {"echo 'sbatch: error: Batch job submission failed: Socket timed out "
         "on send/recv operation' >&2; exit 1",
         SLURM_SILENT},
        {"echo 'sbatch: error: Batch job submission failed: Unable to contact "
         "slurm controller (connect failure)' >&2; exit 1",
         SLURM_SILENT},
        {"echo 'sbatch: error: Batch job submission failed: Unexpected missing "
         "socket error' >&2; exit 1",
         SLURM_SILENT},
        {"echo 'sbatch: error: Slurm temporarily unable to accept job, "
         "sleeping and retrying' >&2; sleep 100; echo 7",
         SLURM_LATER},
        {"echo 'sbatch: error: AssocMaxSubmitJobLimit' >&2\n"
         "echo 'sbatch: error: Batch job submission failed: Job violates "
         "accounting/QOS policy (job submit limit, user'\\''s size and/or time "
         "limits)' >&2; exit 1",
         SLURM_LATER},
        {"echo 'sbatch: error: QOSMaxWallDurationPerJobLimit' >&2\n"
         "echo 'sbatch: error: Batch job submission failed: Job violates "
         "accounting/QOS policy' >&2; exit 1",
         SLURM_REFUSED},
        {"echo 'sbatch: error: Batch job submission failed: Invalid partition "
         "name specified' >&2; exit 1",
         SLURM_REFUSED},
        {"echo 'sbatch: error: Invalid --time specification' >&2; exit 255",
         SLURM_REFUSED},
        {"echo \"sbatch: unrecognized option '--foo'\" >&2; exit 255",
         SLURM_REFUSED},
    };
    struct desk *desk = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        place_program(desk->root, "sbatch", cases[i].program);
        submit(desk, &plain);
        assert_int_equal(desk->reply.answer, cases[i].answer);
        assert_int_equal(desk->id, desk->reply.answer == SLURM_DONE ? 7 : 0);
        assert_int_equal(desk->reply.text[0] != '\0',
                         desk->reply.answer != SLURM_DONE);
        assert_null(strchr(desk->reply.text, '\n'));
        assert_null(strstr(desk->reply.text, "sbatch: error: "));
    }
    place_program(desk->root, "sbatch",
                  "echo 'sbatch: error: invalid partition specified: x' >&2\n"
                  "echo 'sbatch: error: Batch job submission failed: Invalid "
                  "partition name specified' >&2; exit 1");
    submit(desk, &plain);
    assert_string_equal(desk->reply.text,
                        "invalid partition specified: x; Batch job submission "
                        "failed: Invalid partition name specified");
}

/* -- Cancelling -----------------------------------------------------------*/

static void on_done(void *user, const struct slurm_reply *reply)
{
    take(user, reply);
}

static void test_slurm_commands__cancels_in_batches(void **state)
{
    enum { COUNT = 1200 };
    struct slurm_target targets[COUNT];
    struct desk *desk = *state;
    char *words;

    for (int i = 0; i < COUNT; i++)
        targets[i] = (struct slurm_target){i + 1, i == 1 ? 3 : -1};
    place_program(desk->root, "scancel", "echo $# $1 $2 >>$ROOT/words; exit 0");
    desk->transport->type->cancel(desk->transport, targets, COUNT, 0, on_done,
                                  desk);
    answer(desk);
    assert_int_equal(desk->reply.answer, SLURM_DONE);
    words = content(desk, "words");
    assert_string_equal(words, "500 1 2_3\n500 501 502\n200 1001 1002\n");
    free(words);
}

static void test_slurm_commands__what_is_gone_is_cancelled(void **state)
{
    static const struct {
        const char *program;
        enum slurm_answer answer;
    } cases[] = {
        {"echo 'scancel: error: Kill job error on job id 9: Invalid job id "
         "specified' >&2; exit 1",
         SLURM_DONE},
        {"echo 'scancel: error: Kill job error on job id 9: Job/step already "
         "completing or completed' >&2; exit 1",
         SLURM_DONE},
        {"echo 'scancel: error: Kill job error on job id 9: Invalid job id "
         "specified' >&2\n"
         "echo 'scancel: error: Kill job error on job id 8: Access/permission "
         "denied' >&2; exit 1",
         SLURM_REFUSED},
        {"echo 'scancel: error: Kill job error on job id 9: Socket timed out "
         "on send/recv operation' >&2; exit 140",
         SLURM_SILENT},
        {"exit 1", SLURM_SILENT},
    };
    const struct slurm_target target = {9, -1};
    struct desk *desk = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        place_program(desk->root, "scancel", cases[i].program);
        desk->transport->type->cancel(desk->transport, &target, 1, 10, on_done,
                                      desk);
        answer(desk);
        assert_int_equal(desk->reply.answer, cases[i].answer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_slurm_commands__submits_as_it_is_told),
        TEST(test_slurm_commands__says_nothing_that_was_not_asked),
        TEST(test_slurm_commands__only_a_clear_word_is_believed),
        TEST(test_slurm_commands__cancels_in_batches),
        TEST(test_slurm_commands__what_is_gone_is_cancelled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
