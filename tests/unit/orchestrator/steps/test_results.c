/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/results.h"
#include "orchestrator/steps/scope_fill.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"

enum { STATE, COPIES, SUCCEEDED, FAILED, LOSS, NOTE, MIN, MAX, MEAN, SUM };

static const struct result_column columns[] = {
    [STATE] = {"state", RESULT_STATE, NULL},
    [COPIES] = {"copies", RESULT_COUNT, "copies"},
    [SUCCEEDED] = {"succeeded", RESULT_COUNT, "succeeded"},
    [FAILED] = {"failed", RESULT_COUNT, "failed"},
    [LOSS] = {"loss", RESULT_VALUE, "loss"},
    [NOTE] = {"note", RESULT_VALUE, "note"},
    [MIN] = {"min_loss", RESULT_MIN, "loss"},
    [MAX] = {"max_loss", RESULT_MAX, "loss"},
    [MEAN] = {"mean_loss", RESULT_MEAN, "loss"},
    [SUM] = {"sum_loss", RESULT_SUM, "loss"},
};

static const struct matrix_axis axes[] = {{.name = "part"}};

/* One step of one copy, one of a matrix, one of several hosts. */
enum { ONE, MANY, HOSTS, STEP_COUNT };

static struct step steps[STEP_COUNT] = {
    [ONE] = {.name = "one", .copies = 1},
    [MANY] = {.name = "many", .copies = 1, .axes = axes, .axis_count = 1},
    [HOSTS] = {.name = "hosts", .copies = 2},
};

static struct results *create(struct workflow *workflow)
{
    for (size_t i = 0; i < STEP_COUNT; i++) {
        steps[i].results = columns;
        steps[i].result_count = ARRAY_LEN(columns);
    }
    *workflow = (struct workflow){.steps = steps, .step_count = STEP_COUNT};
    return results_create(workflow);
}

static void set(struct results *results, size_t step, int64_t copy,
                const char *text)
{
    json_t *values = json_loads(text, 0, NULL);

    assert_non_null(values);
    results_set(results, step, copy, values);
    json_decref(values);
}

/* The value as it prints, with its type's first letter in front. */
static void expect(struct value value, const char *expected)
{
    static const char letters[] = {[VALUE_NULL] = 'n',
                                   [VALUE_BOOL] = 'b',
                                   [VALUE_INT] = 'i',
                                   [VALUE_REAL] = 'r',
                                   [VALUE_TEXT] = 't'};
    struct buf text = BUF_INIT;

    buf_add_char(&text, letters[value.type]);
    value_print(&value, &text);
    assert_string_equal(buf_text(&text), expected);
    buf_clear(&text);
}

static void test_results__one_copys_value_is_its_own(void **state)
{
    struct workflow workflow;
    struct results *results = create(&workflow);

    (void)state;
    results_begin(results, ONE, 1);
    set(results, ONE, 0, "{\"loss\": 0.5, \"note\": \"a b\", \"other\": 1}");
    expect(results_get(results, ONE, LOSS), "r0.5");
    expect(results_get(results, ONE, NOTE), "ta b");
    expect(results_get(results, ONE, MIN), "r0.5");
    set(results, ONE, 0, "{\"loss\": true}");
    expect(results_get(results, ONE, LOSS), "btrue");
    expect(results_get(results, ONE, NOTE), "n");
    results_set(results, ONE, 0, NULL);
    expect(results_get(results, ONE, LOSS), "n");
    results_destroy(results);
}

static void test_results__many_copies_values_are_a_list(void **state)
{
    struct workflow workflow;
    struct results *results = create(&workflow);

    (void)state;
    results_begin(results, MANY, 4);
    expect(results_get(results, MANY, LOSS), "t[null,null,null,null]");
    expect(results_get(results, MANY, SUM), "n");
    set(results, MANY, 3, "{\"loss\": 4, \"note\": \"x\\\"y\"}");
    set(results, MANY, 0, "{\"loss\": 1}");
    set(results, MANY, 1, "{\"loss\": 2}");
    expect(results_get(results, MANY, LOSS), "t[1,2,null,4]");
    expect(results_get(results, MANY, NOTE), "t[null,null,null,\"x\\\"y\"]");
    expect(results_get(results, MANY, MIN), "i1");
    expect(results_get(results, MANY, MAX), "i4");
    expect(results_get(results, MANY, SUM), "i7");
    expect(results_get(results, MANY, MEAN), "r2.3333333333333335");
    set(results, MANY, 2, "{\"loss\": 0.5}");
    expect(results_get(results, MANY, LOSS), "t[1,2,0.5,4]");
    expect(results_get(results, MANY, MIN), "r0.5");
    expect(results_get(results, MANY, SUM), "r7.5");
    set(results, MANY, 2, "{\"loss\": \"far\"}");
    expect(results_get(results, MANY, LOSS), "t[1,2,\"far\",4]");
    expect(results_get(results, MANY, SUM), "i7");
    results_begin(results, MANY, 1);
    expect(results_get(results, MANY, LOSS), "t[null]");
    results_begin(results, MANY, 0);
    expect(results_get(results, MANY, LOSS), "t[]");
    expect(results_get(results, MANY, MAX), "n");
    results_begin(results, HOSTS, 2);
    set(results, HOSTS, 0, "{\"loss\": 1}");
    expect(results_get(results, HOSTS, LOSS), "t[1,null]");
    results_destroy(results);
}

static void test_results__sum_too_large_is_no_integer(void **state)
{
    struct workflow workflow;
    struct results *results = create(&workflow);

    (void)state;
    results_begin(results, MANY, 2);
    set(results, MANY, 0, "{\"loss\": 9223372036854775807}");
    set(results, MANY, 1, "{\"loss\": 1}");
    expect(results_get(results, MANY, SUM), "r9.223372036854776e+18");
    expect(results_get(results, MANY, MAX), "i9223372036854775807");
    results_destroy(results);
}

static void test_results__state_and_counts_come_with_time(void **state)
{
    struct workflow workflow;
    struct results *results = create(&workflow);

    (void)state;
    expect(results_get(results, MANY, STATE), "n");
    expect(results_get(results, MANY, FAILED), "n");
    expect(results_get(results, MANY, LOSS), "n");
    expect(results_get(results, MANY, MIN), "n");
    results_begin(results, MANY, 3);
    expect(results_get(results, MANY, STATE), "n");
    expect(results_get(results, MANY, COPIES), "i3");
    expect(results_get(results, MANY, FAILED), "i0");
    results_set_state(results, MANY, FLOW_FAILED, 1, 2);
    expect(results_get(results, MANY, STATE), "tfailed");
    expect(results_get(results, MANY, SUCCEEDED), "i1");
    expect(results_get(results, MANY, FAILED), "i2");
    results_set_state(results, ONE, FLOW_SKIPPED, 0, 0);
    expect(results_get(results, ONE, STATE), "tskipped");
    expect(results_get(results, ONE, COPIES), "i0");
    expect(results_get(results, ONE, LOSS), "n");
    results_set_state(results, HOSTS, FLOW_SUCCEEDED, 2, 0);
    expect(results_get(results, HOSTS, STATE), "tsucceeded");
    results_destroy(results);
    results_destroy(NULL);
}

static double cpu_s(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* 100,000 copies, asked again and again: had each answer to be made anew, this
 * would take minutes. */
static void test_results__answers_are_made_once(void **state)
{
    enum { COUNT = 100000 };

    struct workflow workflow;
    struct results *results = create(&workflow);
    json_t *values = json_pack("{s:i, s:s}", "loss", 3, "note", "some text");
    double start_s = cpu_s();

    (void)state;
    results_begin(results, MANY, COUNT);
    for (int64_t i = 0; i < COUNT; i++)
        results_set(results, MANY, i, values);
    for (int64_t i = 0; i < COUNT; i++) {
        assert_int_equal(results_get(results, MANY, SUM).integer, 3 * COUNT);
        assert_non_null(results_get(results, MANY, NOTE).text);
    }
    assert_true(cpu_s() - start_s < 20);
    json_decref(values);
    results_destroy(results);
}

static const struct scope_column scope_columns[] = {
    {COLUMN_PARAM, 1, 0},        {COLUMN_AXIS, 0, 0},
    {COLUMN_ROUND, 0, 0},        {COLUMN_OWN, OWN_RUN, 0},
    {COLUMN_OWN, OWN_STEP, 0},   {COLUMN_OWN, OWN_COPY, 0},
    {COLUMN_OWN, OWN_COPIES, 0}, {COLUMN_OWN, OWN_ROUND, 0},
    {COLUMN_OWN, OWN_DIR, 0},    {COLUMN_OWN, OWN_CHECKPOINT_DIR, 0},
    {COLUMN_RESULT, LOSS, ONE},  {COLUMN_RESULT, LOSS, MANY},
};

enum { SCOPE_COUNT = ARRAY_LEN(scope_columns) };

static void fill(struct results *results, struct workflow *workflow,
                 const struct job_site *site, const char *const *expected)
{
    struct scope_column own[SCOPE_COUNT];
    struct value values[SCOPE_COUNT];

    memcpy(own, scope_columns, sizeof(own));
    for (size_t i = 0; i < STEP_COUNT; i++)
        steps[i].scope = (struct scope){.columns = own, .count = SCOPE_COUNT};
    scope_fill(workflow, results, site, values);
    for (size_t i = 0; i < SCOPE_COUNT; i++)
        expect(values[i], expected[i]);
    for (size_t i = 0; i < STEP_COUNT; i++)
        steps[i].scope = (struct scope){0};
}

static void test_results__fill_a_jobs_scope(void **state)
{
    static const struct value params[] = {{.type = VALUE_NULL},
                                          {.type = VALUE_INT, .integer = 9}};
    static const struct value axis = {.type = VALUE_INT, .integer = 8};
    static const struct value round = {.type = VALUE_REAL, .real = 0.25};
    static const char *const of_hosts[] = {"i9",     "i8",  "r0.25", "tr1",
                                           "thosts", "i1",  "i2",    "i3",
                                           "t/d",    "t/c", "r0.5",  "t[1,2]"};
    static const char *const of_many[] = {"i9", "n",  "n", "n", "tmany", "i1",
                                          "i2", "i1", "n", "n", "r0.5",  "i2"};
    struct job_site site = {
        .step = HOSTS,
        .copy = 1,
        .copies = 2,
        .round = 3,
        .axes = &axis,
        .rounds = &round,
        .run_name = "r1",
        .directory = "/d",
        .checkpoint_directory = "/c",
    };
    struct workflow workflow;
    struct results *results = create(&workflow);

    (void)state;
    workflow.params = params;
    workflow.param_count = ARRAY_LEN(params);
    results_begin(results, ONE, 1);
    results_begin(results, MANY, 2);
    set(results, ONE, 0, "{\"loss\": 0.5}");
    set(results, MANY, 0, "{\"loss\": 1}");
    set(results, MANY, 1, "{\"loss\": 2}");
    fill(results, &workflow, &site, of_hosts);
    site = (struct job_site){.step = MANY, .copy = 1, .copies = 2, .round = 1};
    fill(results, &workflow, &site, of_many);
    results_destroy(results);
}

static void test_results__fill_the_scope_of_a_workflows_outputs(void **state)
{
    static const char *const expected[] = {
        "i9", "n", "n", "tr1", "n", "n", "n", "n", "n", "n", "r0.5", "t[1,2]"};
    static const struct value params[] = {{.type = VALUE_NULL},
                                          {.type = VALUE_INT, .integer = 9}};
    struct scope_column columns_of_outputs[SCOPE_COUNT];
    struct value values[SCOPE_COUNT];
    struct workflow workflow;
    struct results *results = create(&workflow);

    (void)state;
    memcpy(columns_of_outputs, scope_columns, sizeof(columns_of_outputs));
    workflow.params = params;
    workflow.output_scope =
        (struct scope){.columns = columns_of_outputs, .count = SCOPE_COUNT};
    results_begin(results, ONE, 1);
    results_begin(results, MANY, 2);
    set(results, ONE, 0, "{\"loss\": 0.5}");
    set(results, MANY, 0, "{\"loss\": 1}");
    set(results, MANY, 1, "{\"loss\": 2}");
    scope_fill_outputs(&workflow, results, "r1", values);
    for (size_t i = 0; i < SCOPE_COUNT; i++)
        expect(values[i], expected[i]);
    results_destroy(results);
}

static void test_results__own_columns_have_names(void **state)
{
    (void)state;
    assert_string_equal(own_column_names[OWN_RUN], "run");
    assert_string_equal(own_column_names[OWN_CHECKPOINT_DIR], "checkpoint_dir");
    assert_string_equal(own_column_names[OWN_FILE_DIR], "file_dir");
    assert_null(own_column_names[OWN_COLUMN_COUNT]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results__one_copys_value_is_its_own),
        cmocka_unit_test(test_results__many_copies_values_are_a_list),
        cmocka_unit_test(test_results__sum_too_large_is_no_integer),
        cmocka_unit_test(test_results__state_and_counts_come_with_time),
        cmocka_unit_test(test_results__answers_are_made_once),
        cmocka_unit_test(test_results__fill_a_jobs_scope),
        cmocka_unit_test(test_results__fill_the_scope_of_a_workflows_outputs),
        cmocka_unit_test(test_results__own_columns_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
