/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/expr/template.h"
#include "base/mem.h"
#include "orchestrator/steps/child_run.h"

static void test_child_run__reads_whose_run_it_is(void **state)
{
    static const char *const wrong[] = {"",
                                        "7",
                                        "7:",
                                        ":8",
                                        "0:1",
                                        "1:8 x",
                                        "a:b",
                                        "1:-2",
                                        "1:0",
                                        "7:8:9",
                                        "99999999999999999999"};
    int64_t run, job;
    struct err err;

    (void)state;
    assert_int_equal(child_run_parse("7:8", &run, &job, &err), 0);
    assert_int_equal(run, 7);
    assert_int_equal(job, 8);
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_int_equal(child_run_parse(wrong[i], &run, &job, &err), -1);
}

static struct attempt_exit judged(enum attempt_cause cause, int exit_code)
{
    struct attempt_exit end = {.cause = cause, .exit_code = exit_code};

    child_run_judge(&end);
    return end;
}

static void test_child_run__a_run_that_was_stopped_was_cancelled(void **state)
{
    (void)state;
    assert_int_equal(judged(CAUSE_EXIT, 128 + SIGINT).cause, CAUSE_CANCELLED);
    assert_int_equal(judged(CAUSE_EXIT, 128 + SIGTERM).cause, CAUSE_CANCELLED);
    assert_int_equal(judged(CAUSE_EXIT, 1).cause, CAUSE_EXIT);
    assert_string_equal(judged(CAUSE_EXIT, 1).text, "the child run failed");
    assert_string_equal(
        judged(CAUSE_EXIT, 6).text,
        "the child run ended without its target or a successful "
        "trial");
    assert_int_equal(judged(CAUSE_TIMEOUT, 143).cause, CAUSE_TIMEOUT);
    assert_string_equal(judged(CAUSE_OK, 0).text, "");
}

static void assert_words(char **words, const char *const *wanted)
{
    size_t i;

    assert_non_null(words);
    for (i = 0; wanted[i] != NULL; i++)
        assert_string_equal(words[i + 1], wanted[i]);
    assert_null(words[i + 1]);
    words_free(words);
}

static void test_child_run__the_command_says_all(void **state)
{
    static const char *const columns[] = {"n", "word"};
    const struct expr_table table = {.columns = columns,
                                     .column_count = ARRAY_LEN(columns)};
    const struct value values[] = {value_int(3), value_text("a: [b")};
    struct expr_env *env = expr_env_create(NULL);
    struct step_assignment assignments[] = {
        {"budget.trials",
         template_create(env, "${{ n }}", TEMPLATE_TEXT, &table, 1, NULL)},
        {"params.x",
         template_create(env, "${{ word }}", TEMPLATE_TEXT, &table, 1, NULL)},
    };
    const struct step step = {.name = "tune",
                              .kind = STEP_EXPERIMENT,
                              .file = "/work dir/tune.yaml",
                              .assignments = assignments,
                              .assignment_count = ARRAY_LEN(assignments)};
    struct child_run child = {.step = &step,
                              .store = "/store",
                              .run_name = "nightly",
                              .run = 7,
                              .job = 8,
                              .copy = -1};
    struct err err;

    (void)state;
    assert_words(child_run_words(&child, values, &err),
                 (const char *const[]){
                     "run", "/work dir/tune.yaml", "--resume", "--store=/store",
                     "--below=7:8", "--name", "nightly.tune", "--set",
                     "budget.trials=3", "--set", "params.x=\"a: [b\"", NULL});
    child.step = &(struct step){.name = "tune", .file = "t.yaml"};
    child.copy = 2;
    child.round = 3;
    assert_words(child_run_words(&child, values, &err),
                 (const char *const[]){"run", "t.yaml", "--resume",
                                       "--store=/store", "--below=7:8",
                                       "--name", "nightly.tune.2.r3", NULL});
    template_destroy(assignments[0].value);
    template_destroy(assignments[1].value);
    expr_env_destroy(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_child_run__reads_whose_run_it_is),
        cmocka_unit_test(test_child_run__a_run_that_was_stopped_was_cancelled),
        cmocka_unit_test(test_child_run__the_command_says_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
