/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "orchestrator/spec/experiment/experiment.h"

/* An experiment file with more parameters and keys, and what is behind the
 * command. */
static struct experiment *parse(const char *params, const char *keys,
                                const char *command)
{
    char *text = mem_printf("version: 1\n"
                            "objective: [{metric: acc, goal: maximize}, loss]\n"
                            "parameters:\n"
                            "  lr: {type: float, min: 0.1, max: 1}\n"
                            "%s%strial:\n"
                            "  command: ./train ${{ lr }} %s\n",
                            params, keys, command);
    struct diags *diags = diags_create("");
    struct buf out = BUF_INIT;
    struct err err = {0};
    struct experiment_source source = {
        .text = text, .length = strlen(text), .path = ""};
    struct experiment *experiment = experiment_parse(&source, diags, &err);

    diags_render(diags, false, &out);
    if (experiment == NULL)
        fail_msg("%s%s", buf_text(&out), err.text);
    buf_clear(&out);
    diags_destroy(diags);
    free(text);
    return experiment;
}

static void test_experiment_schedule__none_is_none(void **state)
{
    struct experiment *e = parse("", "", "");

    (void)state;
    assert_false(e->schedule.is_on);
    assert_null(e->schedule.resource);
    assert_false(e->task.has_checkpoints);
    assert_true(e->budget.improvement == 0.01);
    assert_false(e->budget.convergence);
    assert_int_equal(e->budget.resource, 0);
    experiment_destroy(e);
    e = parse("", "schedule: {method: none, max: 9}\nearly_stopping: off\n",
              "${{ epochs }}");
    assert_false(e->schedule.is_on);
    assert_string_equal(e->schedule.resource, "epochs");
    assert_int_equal(e->schedule.options.max, 9);
    experiment_destroy(e);
    e = parse("  epochs: 9\n", "schedule: none\n", "${{ epochs }}");
    assert_null(e->schedule.resource);
    experiment_destroy(e);
}

static void test_experiment_schedule__asha(void **state)
{
    struct experiment *e =
        parse("",
              "search: {method: random, seed: 5}\n"
              "schedule: {method: asha, resource: steps, min: 2, max: 54, "
              "eta: 4, brackets: 2, metric: loss}\n"
              "budget: {resource: 400}\n",
              "${{ steps }}");
    const struct schedule_options *options = &e->schedule.options;

    (void)state;
    assert_true(e->schedule.is_on);
    assert_string_equal(options->method, "asha");
    assert_string_equal(e->schedule.resource, "steps");
    assert_true(e->schedule.is_read);
    assert_int_equal(e->schedule.objective, 1);
    assert_int_equal(options->seed, 5);
    assert_int_equal(options->min, 2);
    assert_int_equal(options->max, 54);
    assert_int_equal(options->eta, 4);
    assert_int_equal(options->brackets, 2);
    assert_int_equal(options->type, SCHEDULE_STOPPING);
    assert_int_equal(e->budget.resource, 400);
    assert_int_equal(e->budget.trials, 0);
    experiment_destroy(e);
}

static enum schedule_type type_of(const char *keys, const char *command)
{
    struct experiment *e = parse("", keys, command);
    enum schedule_type type = e->schedule.options.type;

    experiment_destroy(e);
    return type;
}

static void test_experiment_schedule__type_follows_checkpoints(void **state)
{
    static const char asha[] = "schedule: {method: asha, max: 9}\n";
    struct experiment *e = parse("", "", "${{ checkpoint_dir }}");

    (void)state;
    assert_true(e->task.has_checkpoints);
    experiment_destroy(e);
    assert_int_equal(type_of(asha, ""), SCHEDULE_STOPPING);
    assert_int_equal(type_of(asha, "${{ checkpoint_dir }}"),
                     SCHEDULE_PROMOTION);
    assert_int_equal(type_of(asha, "\n  env: {C: '${{ checkpoint_dir }}/c'}"),
                     SCHEDULE_PROMOTION);
    assert_int_equal(type_of(asha, "\n  env: {A: /d/smtrain}"),
                     SCHEDULE_STOPPING);
    assert_int_equal(type_of(asha, "./smtrainer smtrain/x"), SCHEDULE_STOPPING);
    assert_int_equal(type_of(asha, "bin/smtrain mlp"), SCHEDULE_PROMOTION);
    assert_int_equal(type_of(asha, "$SMTUNE_CHECKPOINT_DIR/x"),
                     SCHEDULE_PROMOTION);
    assert_int_equal(type_of(asha, "\n  checkpoints: true"),
                     SCHEDULE_PROMOTION);
    assert_int_equal(
        type_of(asha, "${{ checkpoint_dir }}\n  checkpoints: false"),
        SCHEDULE_STOPPING);
    assert_int_equal(
        type_of("schedule: {method: asha, max: 9, type: stopping}\n",
                "\n  checkpoints: true"),
        SCHEDULE_STOPPING);
    assert_int_equal(
        type_of("schedule: {method: asha, max: 9, type: promotion}\n", ""),
        SCHEDULE_PROMOTION);
}

static void test_experiment_schedule__a_constant_is_the_max(void **state)
{
    struct experiment *e =
        parse("  num_epochs: 27\n", "schedule: asha\n", "${{ num_epochs }}");
    size_t count = space_count(e->space);
    struct value values[2 + EXTRA_COUNT] = {{0}};
    struct err err;
    char **words;

    (void)state;
    assert_int_equal(count, 2);
    assert_string_equal(e->schedule.resource, "num_epochs");
    assert_int_equal(e->schedule.options.min, 1);
    assert_int_equal(e->schedule.options.max, 27);
    assert_int_equal(e->schedule.options.eta, 3);
    assert_true(e->schedule.is_read);
    values[0] = value_real(0.5);
    values[1] = value_int(27);
    values[count + EXTRA_RESOURCE] = value_int(3);
    words = template_expand_words(e->task.command, values, &err);
    assert_non_null(words);
    assert_string_equal(words[2], "3");
    words_free(words);
    experiment_destroy(e);
}

static void test_experiment_schedule__early_stopping(void **state)
{
    struct experiment *e = parse("", "early_stopping: auto\n", "");

    (void)state;
    assert_true(e->schedule.is_on);
    assert_string_equal(e->schedule.options.method, "median");
    assert_string_equal(e->schedule.options.rule, "sagemaker");
    assert_string_equal(e->schedule.resource, "epochs");
    assert_true(e->schedule.options.max == SCHEDULE_NO_MAX);
    assert_false(e->schedule.is_read);
    experiment_destroy(e);
}

static void test_experiment_schedule__bounds_in_told_terms(void **state)
{
    struct experiment *e =
        parse("", "schedule: {method: threshold, lower: 0.25, upper: 4}\n", "");

    (void)state;
    assert_true(e->schedule.options.lower == -4);
    assert_true(e->schedule.options.upper == -0.25);
    experiment_destroy(e);
    e = parse("", "schedule: {method: threshold, lower: 0.25}\n", "");
    assert_true(isnan(e->schedule.options.lower));
    assert_true(e->schedule.options.upper == -0.25);
    experiment_destroy(e);
    e = parse("", "schedule: {method: threshold, lower: 0.25, metric: loss}\n",
              "");
    assert_true(e->schedule.options.lower == 0.25);
    assert_true(isnan(e->schedule.options.upper));
    experiment_destroy(e);
}

static void test_experiment_schedule__search_stands_for_both(void **state)
{
    struct experiment *e =
        parse("  epochs: 27\n", "search: {method: hyperband, seed: 2}\n", "");

    (void)state;
    assert_string_equal(e->search.method, "random");
    assert_true(e->search.random_fraction == 0);
    assert_string_equal(e->schedule.options.method, "hyperband");
    assert_int_equal(e->schedule.options.max, 27);
    assert_int_equal(e->schedule.options.seed, 2);
    experiment_destroy(e);
    e = parse("", "search: bohb\nschedule: {max: 81, eta: 4}\n", "");
    assert_string_equal(e->search.method, "tpe");
    assert_true(e->search.random_fraction == 1.0 / 3);
    assert_string_equal(e->schedule.options.method, "hyperband");
    assert_int_equal(e->schedule.options.max, 81);
    assert_int_equal(e->schedule.options.eta, 4);
    experiment_destroy(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_experiment_schedule__none_is_none),
        cmocka_unit_test(test_experiment_schedule__asha),
        cmocka_unit_test(test_experiment_schedule__type_follows_checkpoints),
        cmocka_unit_test(test_experiment_schedule__a_constant_is_the_max),
        cmocka_unit_test(test_experiment_schedule__early_stopping),
        cmocka_unit_test(test_experiment_schedule__bounds_in_told_terms),
        cmocka_unit_test(test_experiment_schedule__search_stands_for_both),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
