/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What two versions of a file differ in, and which of it a run keeps. */
#include "orchestrator/spec/spec_change.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"

#define EXPERIMENT(trial, more)                                                \
    "version: 1\nname: e\nobjective: loss\n"                                   \
    "parameters: {x: {type: float, min: 0, max: 1}, y: {type: int, min: 1, "   \
    "max: 2}}\n"                                                               \
    "trial: {command: ./t, " trial "}\n" more
#define MASKED                "# smtune masked the secrets of this copy\n"
#define WORKFLOW(steps, more) "version: 1\nname: w\nsteps:\n" steps more

static const char *const effects[] = {
    [EFFECT_NEXT] = "",    [EFFECT_IDLE] = "~",  [EFFECT_OUTCOME] = "?",
    [EFFECT_RESULT] = "+", [EFFECT_BEGIN] = "^",
};

static void must_read(const char *text, const char *word, struct spec *spec)
{
    struct diags *diags = diags_create("file");
    const struct experiment_source source = {.text = text,
                                             .length = strlen(text),
                                             .path = "",
                                             .assignments = &word,
                                             .assignment_count = word != NULL};
    struct err err = {0};

    if (spec_parse(spec, &source, diags, &err) != 0) {
        if (diags_count(diags) > 0)
            diags_to_err(diags, &err);
        fail_msg("%s: %d:%d: %s", text, err.line, err.column, err.text);
    }
    diags_destroy(diags);
}

/* "key: before -> after" of each, with an exclamation mark if it is kept, and
 * a sign for its effect on a step. */
static void describe(const struct spec_changes *changes, struct buf *out)
{
    for (size_t i = 0; i < changes->count; i++) {
        const struct spec_change *change = &changes->items[i];

        buf_printf(out, "%s%s%s: ", change->refused != NULL ? "!" : "",
                   effects[change->effect], change->key);
        if (change->before != NULL)
            json_print(change->before, out);
        buf_add_string(out, " -> ");
        if (change->after != NULL)
            json_print(change->after, out);
        buf_add_char(out, '\n');
    }
    for (size_t i = 0; i < changes->overridden_count; i++)
        buf_printf(out, "--set %s\n", changes->overridden[i]);
}

static const struct {
    const char *before, *after, *changes;
    const char *word; /* of --set, on both sides */
} cases[] = {
    {EXPERIMENT("", ""), EXPERIMENT("", "# a comment\n"), "", NULL},
    {EXPERIMENT("env: {A: 1, B: x}", "search: tpe\n"),
     EXPERIMENT("env: {B: \"x\", A: 1}", "search: {method: tpe}\n"), "", NULL},
    {EXPERIMENT("env: {A: 1}", ""), EXPERIMENT("env: {B: 1}", ""),
     "trial.env.B:  -> 1\ntrial.env.A: 1 -> \n", NULL},
    {EXPERIMENT("", ""), EXPERIMENT("resources: {time: 1h}", ""),
     "trial.resources.time:  -> \"1h\"\n", NULL},
    {EXPERIMENT("", ""), EXPERIMENT("checkpoints: true", ""),
     "!trial.checkpoints:  -> true\n", NULL},
    {EXPERIMENT("retry: [{match: [oom]}]", ""), EXPERIMENT("retry: []", ""),
     "trial.retry: [{\"match\":[\"oom\"]}] -> []\n", NULL},
    {EXPERIMENT("", "executor: local\n"),
     EXPERIMENT("", "executor: {name: local, cpus: 2}\n"),
     "executor.cpus:  -> 2\n", NULL},
    {EXPERIMENT("", "budget: {trials: 5}\n"),
     EXPERIMENT("", "budget: {trials: 5.0}\n"), "budget.trials: 5 -> 5.0\n",
     "budget.time=1h"},
    {EXPERIMENT("", "budget: {trials: 5}\n"),
     EXPERIMENT("", "budget: {trials: 6}\n"), "--set budget.trials\n",
     "budget.trials=9"},
    {EXPERIMENT("", "budget: {improvement: 0.1, no_improvement: 3}\n"),
     EXPERIMENT("", "budget: {improvement: 0.2, no_improvement: 4}\n"),
     "budget.improvement: 0.1 -> 0.2\nbudget.no_improvement: 3 -> 4\n", NULL},
    {EXPERIMENT("", ""), EXPERIMENT("", "schedule: {method: asha, max: 9}\n"),
     "!schedule.method:  -> \"asha\"\n!schedule.max:  -> 9\n", NULL},
    {WORKFLOW("  a: {command: ./a}\n  b: {needs: a, command: ./b}\n", ""),
     WORKFLOW("  a: {command: ./c, timeout: 1h}\n"
              "  b: {needs: a, command: ./b}\n",
              "time: 2h\n"),
     "time:  -> \"2h\"\n+steps.a.command: \"./a\" -> \"./c\"\n"
     "steps.a.timeout:  -> \"1h\"\n",
     NULL},
    {WORKFLOW("  - a: {command: ./a}\n  - b: {command: ./b}\n", ""),
     WORKFLOW("  - parallel: [{a: {command: ./a}}, {b: {command: ./b}}]\n", ""),
     "^steps.b.needs: [\"a\"] -> []\n", NULL},
    {WORKFLOW("  a: {command: ./a}\n", ""),
     WORKFLOW("  b: {command: ./a}\n", ""), "!steps: [\"a\"] -> [\"b\"]\n",
     NULL},
    {WORKFLOW("  a: {command: ./a, timeout: 1h, continue: {max: 3}}\n", ""),
     WORKFLOW("  a: {command: ./a, timeout: 2h, continue: {max: 3}}\n", ""),
     "~steps.a.timeout: \"1h\" -> \"2h\"\n", NULL},
    {WORKFLOW("  a: {command: ./a, may_fail: true}\n"
              "  b: {needs: a, command: ./b}\n",
              ""),
     WORKFLOW("  a: {command: ./a, when: always, outputs: {m: m.txt}}\n"
              "  b: {needs: a, command: ./b, parallel: 2, cache: true}\n",
              "outputs: {m: a.m}\n"),
     "outputs.m:  -> \"a.m\"\n^steps.a.when:  -> \"always\"\n"
     "+steps.a.outputs.m:  -> \"m.txt\"\n?steps.a.may_fail: true -> \n"
     "steps.b.parallel:  -> 2\nsteps.b.cache:  -> true\n",
     NULL},
    {WORKFLOW("  a: {command: ./a, matrix: {i: [1, 2], j: [3]}}\n", ""),
     WORKFLOW("  a: {command: ./a, matrix: {j: [3], i: [1, 2]}}\n", ""),
     "^steps.a.matrix: {\"i\":[1,2],\"j\":[3]} -> {\"j\":[3],\"i\":[1,2]}\n",
     NULL},
    /* Secrets that a backup has masked are no change. */
    {EXPERIMENT("env: {A: \"***\", B: \"***\"}", MASKED),
     EXPERIMENT("env: {A: 1, B: x, C: y}", ""), "trial.env.C:  -> \"***\"\n",
     "trial.env.D=z"},
    {WORKFLOW("  a: {command: [./a, --token, \"***\"]}\n", MASKED),
     WORKFLOW("  a: {command: [./a, --token, b], timeout: 1h}\n", ""),
     "steps.a.timeout:  -> \"1h\"\n", NULL},
};

static void test_spec_change__names_each_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct spec_changes changes = {0};
        struct spec before, after;
        struct buf text = BUF_INIT;
        struct err err = {0};

        must_read(cases[i].before, cases[i].word, &before);
        must_read(cases[i].after, cases[i].word, &after);
        if (spec_change_find(&before, &after, &changes, &err) != 0)
            fail_msg("%s", err.text);
        describe(&changes, &text);
        assert_string_equal(buf_text(&text), cases[i].changes);
        buf_clear(&text);
        spec_changes_clear(&changes);
        spec_clear(&before);
        spec_clear(&after);
    }
}

static void test_spec_change__is_of_one_kind_of_file(void **state)
{
    struct spec_changes changes = {0};
    struct spec experiment, workflow;
    struct err err = {0};

    (void)state;
    must_read(EXPERIMENT("", ""), NULL, &experiment);
    must_read(WORKFLOW("  a: {command: ./a}\n", ""), NULL, &workflow);
    assert_int_equal(spec_change_find(&experiment, &workflow, &changes, &err),
                     -1);
    assert_int_equal(err.kind, ERR_USAGE);
    spec_changes_clear(&changes);
    spec_clear(&experiment);
    spec_clear(&workflow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spec_change__names_each_key),
        cmocka_unit_test(test_spec_change__is_of_one_kind_of_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
