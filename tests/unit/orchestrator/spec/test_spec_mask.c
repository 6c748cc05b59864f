/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of a run's file may be seen, by the schemas of the product. */
#include "orchestrator/spec/spec_mask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mask.h"

#define EXPERIMENT(key, place, token, url)                                     \
    "version: 1\nname: e\nobjective: loss\n"                                   \
    "parameters:\n  env: {type: categorical, values: [token=b, c]}\n"          \
    "  api_key: {type: categorical, values: [plain, p]}\n"                     \
    "enqueue: [{env: c}]\n"                                                    \
    "constraints: [\"api_key = 'plain'\"]\n"                                   \
    "budget: {trials: 1}\n"                                                    \
    "trial:\n  command: ./t --api-key " key " ${{ env }}\n"                    \
    "  metrics: {loss: 'token=([0-9.]+)'}\n"                                   \
    "  retry: [{match: 'log:token=.*'}]\n"                                     \
    "  env:\n    PLACE: " place "\n    A_TOKEN: " token "\n"                   \
    "notify: {url: " url "}\n"
#define WORKFLOW(key, all, one, two)                                           \
    "version: 1\nname: w\nparams: {api_key: " key ", n: 3}\n"                  \
    "defaults: {env: {ALL: " all "}}\n"                                        \
    "steps:\n- {name: a, command: 'echo ${{ api_key }}'}\n"                    \
    "- parallel:\n  - {name: b, command: 'true', env: {ONE: " one "}}\n"       \
    "  - c: {command: 'true', if: \"api_key = 'x'\", env: {TWO: " two "}}\n"

static const struct {
    const char *text, *shown;
    size_t count;
} files[] = {
    {EXPERIMENT("one", "two-2", "three", "https://h/four"),
     EXPERIMENT("***", "\"***\"", "\"***\"", "https://***"), 4},
    {WORKFLOW("one", "two-2", "'three'", "4"),
     WORKFLOW("\"***\"", "\"***\"", "'***'", "\"***\""), 4},
    {"version: 1\n", "version: 1\n", 0},
    {"", "", 0},
};

static void must_read(const char *text, struct spec *spec)
{
    struct diags *diags = diags_create("file");
    const struct experiment_source source = {
        .text = text, .length = strlen(text), .path = ""};
    struct err err = {0};

    if (spec_parse(spec, &source, diags, &err) != 0) {
        if (diags_count(diags) > 0)
            diags_to_err(diags, &err);
        fail_msg("%s: %d:%d: %s", text, err.line, err.column, err.text);
    }
    diags_destroy(diags);
}

static void test_spec_mask__files(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct buf shown = BUF_INIT;
        struct spec spec;

        assert_int_equal(spec_mask_text(files[i].text, &shown), files[i].count);
        assert_string_equal(buf_text(&shown), files[i].shown);
        if (files[i].count > 0) { /* what was a file is one */
            must_read(files[i].text, &spec);
            spec_clear(&spec);
            must_read(files[i].shown, &spec);
            spec_clear(&spec);
        }
        buf_clear(&shown);
    }
}

static void test_spec_mask__words(void **state)
{
    static const struct {
        const char *text, *words, *shown;
        size_t count;
    } cases[] = {
        {"trial: {}", "[]", "[]", 0},
        {"trial: {}", "[\"budget.trials=3\"]", "[\"budget.trials=3\"]", 0},
        {"trial: {}", "[\"trial.env.A=b\", \"notify=https://h/x\"]",
         "[\"trial.env.A=\\\"***\\\"\",\"notify=https://***\"]", 2},
        {"steps: {}", "[\"steps.a.env.A=b\"]",
         "[\"steps.a.env.A=\\\"***\\\"\"]", 1},
        {"trial: {}", "no JSON", "no JSON", 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf shown = BUF_INIT;
        json_t *left, *right;

        assert_int_equal(
            spec_mask_overrides(cases[i].text, cases[i].words, &shown),
            cases[i].count);
        left = json_parse(buf_text(&shown), shown.length, NULL);
        right = json_parse(cases[i].shown, strlen(cases[i].shown), NULL);
        if (right != NULL)
            assert_true(json_equal(left, right));
        else
            assert_string_equal(buf_text(&shown), cases[i].shown);
        json_decref(left);
        json_decref(right);
        buf_clear(&shown);
    }
}

/* Each that has a masked value notes it, and still is a word of --set. */
static void test_words_of_copies(void)
{
    static const char *const wanted[] = {"budget.trials=3",
                                         "trial.env.A=\"***\""};
    struct buf once = BUF_INIT, twice = BUF_INIT;
    json_t *list;

    assert_int_equal(
        spec_mask_copy_overrides(
            "trial: {}", "[\"budget.trials=3\", \"trial.env.A=b\"]", &once),
        1);
    list = json_parse(buf_text(&once), once.length, NULL);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        const char *word = json_string_value(json_array_get(list, i));

        assert_ptr_equal(strstr(word, wanted[i]), word);
        assert_int_equal(spec_is_masked(word), i == 1);
    }
    json_decref(list);
    spec_mask_copy_overrides("trial: {}", buf_text(&once), &twice);
    assert_string_equal(buf_text(&once), buf_text(&twice));
    buf_clear(&twice);
    buf_clear(&once);
}

static void test_spec_mask__copies(void **state)
{
    struct buf once = BUF_INIT, twice = BUF_INIT, plain = BUF_INIT;
    struct spec spec;

    (void)state;
    spec_mask_copy(files[0].text, "[]", &once);
    assert_false(spec_is_masked(files[0].text));
    assert_true(spec_is_masked(buf_text(&once)));
    must_read(buf_text(&once), &spec);
    assert_true(spec_is_masked(spec.experiment->source));
    spec_clear(&spec);
    spec_mask_copy(buf_text(&once), "[]", &twice);
    assert_string_equal(buf_text(&once), buf_text(&twice));
    spec_mask_copy("name: a", "[]", &plain);
    assert_string_equal(buf_text(&plain), "name: a");
    buf_truncate(&plain, 0);
    spec_mask_copy("name: a", "[\"trial.env.A=b\"]", &plain);
    assert_true(spec_is_masked(buf_text(&plain)));
    assert_ptr_equal(strstr(buf_text(&plain), "name: a\n"), buf_text(&plain));
    buf_truncate(&plain, 0);
    spec_mask_like_copy("name: a", &plain);
    assert_true(spec_is_masked(buf_text(&plain)));
    test_words_of_copies();
    buf_clear(&plain);
    buf_clear(&twice);
    buf_clear(&once);
}

static void test_spec_mask__details(void **state)
{
    json_t *detail =
        json_pack("{s:s, s:s, s:s, s:i}", "spec", files[0].text, "overrides",
                  "[\"trial.env.A=b\"]", "name", "e", "seed", 3);

    (void)state;
    assert_true(spec_mask_detail(detail, false));
    assert_string_equal(json_string_value(json_object_get(detail, "spec")),
                        files[0].shown);
    assert_non_null(
        strstr(json_string_value(json_object_get(detail, "overrides")),
               "trial.env.A=\\\"***\\\""));
    assert_int_equal(json_object_size(detail), 4);
    assert_true(spec_mask_detail(detail, true));
    assert_false(spec_mask_detail(detail, true));
    assert_true(
        spec_is_masked(json_string_value(json_object_get(detail, "spec"))));
    json_decref(detail);
}

static void check_shown(const struct mask *mask, const char *text,
                        const char *expected)
{
    char *shown = mask_show(mask, text);

    assert_string_equal(shown, expected);
    free(shown);
}

/* In a command, values of env are masked that are secrets by name. */
static void test_spec_mask__commands(void **state)
{
    struct spec spec;
    struct mask *mask;

    (void)state;
    must_read(files[0].text, &spec);
    mask = spec_mask_create(spec.experiment, spec.workflow);
    check_shown(mask, "./t two-2 three https://h/four",
                "./t two-2 <env.A_TOKEN> <notify.url>");
    mask_destroy(mask);
    spec_clear(&spec);
    must_read("version: 1\nname: w\nparams: {api_key: abcd}\n"
              "steps: {a: {command: 'echo ${{ api_key }}'}}\n",
              &spec);
    mask = spec_mask_create(spec.experiment, spec.workflow);
    check_shown(mask, "echo abcd", "echo <api_key>");
    mask_destroy(mask);
    spec_clear(&spec);
    check_shown(NULL, "echo --token a", "echo --token a");
    assert_null(mask_show(NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spec_mask__files),
        cmocka_unit_test(test_spec_mask__words),
        cmocka_unit_test(test_spec_mask__copies),
        cmocka_unit_test(test_spec_mask__details),
        cmocka_unit_test(test_spec_mask__commands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
