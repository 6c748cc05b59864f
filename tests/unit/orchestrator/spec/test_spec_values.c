/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each key of experiments and workflows is given values of every kind: each is
 * taken, or refused by a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/conf/schema.h"
#include "base/mem.h"
#include "orchestrator/spec/experiment/experiment_impl.h"
#include "orchestrator/spec/spec.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "tests/unit/sample.h"

static const char *const values[] = {
    "~",
    "''",
    "' '",
    "word",
    "two words",
    "a,b",
    "\"\\x01\"",
    "${{",
    "${{ lr }}",
    "exit:75",
    "true",
    "0",
    "1",
    "-1",
    "1e300",
    ".nan",
    "[]",
    "[word, 3, 0.5, true, ~, '', [], {}]",
    "[[word], [~], [[]]]",
    "[{metric: word, a: ~}, {metric: []}]",
    "{}",
    "{a: word, b: 3, c: ~, d: [], e: {}, '': word, A B: ''}",
    "{a: {path: word}, b: {path: []}, c: {value: word}, d: {value: []}}",
};

/* A file that makes use of what depends on other keys. */
struct file {
    const char *text;
    const struct schema_key *schema;
};

static const struct file experiment = {
    "version: 1\n"
    "objective: {metric: loss, goal: maximize, value: best}\n"
    "outcomes: [{metric: size, max: 9}]\n"
    "parameters:\n"
    "  p: {type: int, min: 1, max: 9, step: 2}\n"
    "  lr: {type: float, min: 0.1, max: 1, scale: log}\n"
    "  epochs: 27\n"
    "constraints: [p * lr < 8]\n"
    "search: {method: random, seed: 11, points: 9}\n"
    "schedule: {method: median, resource: epochs, metric: loss}\n"
    "budget: {trials: 6, parallel: 4, time: 2h}\n"
    "enqueue: [{lr: 0.5, p: 1}]\n"
    "notify: {url: 'http://h'}\n"
    "trial:\n"
    "  command: [./train, '${{ lr }}', '${{ epochs }}']\n"
    "  metrics: {loss: 'loss=([0-9.]+)', size: ~}\n"
    "  env: {e: 1}\n"
    "  channels: {c: data}\n"
    "  resources: {cpus: 2, gpus: 2, memory: 1G, time: 10m, nodes: 2}\n"
    "  retry: [{match: oom, scale: {memory: 2}, cap: {memory: 8G}}]\n"
    "executor: {name: slurm, partition: gpu, transport: rest, url: 'unix:/s',\n"
    "           heartbeat: 1s, silence: 5s}\n",
    experiment_schema};

static const struct file workflow = {
    "version: 1\n"
    "params: {p: 1}\n"
    "pools: {p: 4}\n"
    "steps:\n"
    "  first: {command: echo, outputs: {o: {value: f.json, key: a}}}\n"
    "  s: {command: [echo, '${{ first.o }}'], needs: [first],\n"
    "      pools: {p: 2}, matrix: {m: [1, 2]}, outputs: {o: {value: f.json}},\n"
    "      retry: [{match: oom}]}\n",
    workflow_schema};

/* Reads the file with one assignment; whether it is taken. */
static bool read_one(const struct file *file, const char *assignment)
{
    struct diags *diags = diags_create("");
    struct err err = {0};
    struct experiment_source source = {.text = file->text,
                                       .length = strlen(file->text),
                                       .path = "",
                                       .assignments = &assignment,
                                       .assignment_count = 1};
    struct spec spec = {NULL, NULL};
    int rc = spec_parse(&spec, &source, diags, &err);
    bool is_told = diags_count(diags) > 0 || err.kind != ERR_NONE;

    if ((rc != 0) != is_told)
        fail_msg("%s: %d, and %zu messages, and '%s'", assignment, rc,
                 diags_count(diags), err.text);
    for (size_t i = 0; i < diags_count(diags) && i < DIAG_MAX; i++)
        assert_null(strchr(diags_get(diags, i)->text, '\n'));
    spec_clear(&spec);
    diags_destroy(diags);
    return rc == 0;
}

/* As the item of the key, which lies between the two texts; of a sample a
 * fourth of the values, of another key mostly others. A key that is free is the
 * first letter of that of its map. */
static void read_key(const struct file *file, const struct schema_key *key,
                     const char *before, const char *after);

static void read_keys(const struct file *file, const struct schema_key *keys,
                      const char *before, const char *after)
{
    bool is_path = strchr(before, '=') == NULL;

    for (; keys->name != NULL; keys++) {
        char *own =
            mem_printf(is_path ? "%s%s" : "%s{%s: ", before, keys->name);
        char *end = mem_printf(is_path ? "%s" : "}%s", after);

        read_key(file, keys, own, end);
        free(own);
        free(end);
    }
}

static void read_key(const struct file *file, const struct schema_key *key,
                     const char *before, const char *after)
{
    const struct schema_key *element = key->element;
    size_t step = is_sample() ? 4 : 1;
    bool is_path = strchr(before, '=') == NULL;
    char *inner = mem_printf(is_path ? "%s." : "%s", before);
    char *free_key =
        mem_printf(is_path ? "%s.%c" : "%s{%c: ", before, *key->name);
    char *item = mem_printf(is_path ? "%s=[" : "%s[", before);
    char *item_end = mem_printf("]%s", after);
    char *map_end = mem_printf(is_path ? "%s" : "}%s", after);

    for (size_t i = is_sample() ? strlen(before) % step : 0;
         i < ARRAY_LEN(values); i += step) {
        char *assignment = mem_printf(is_path ? "%s=%s%s" : "%s%s%s", before,
                                      values[i], after);

        read_one(file, assignment);
        free(assignment);
    }
    if (key->keys != NULL)
        read_keys(file, key->keys, inner, after);
    if (element != NULL && (key->type & SCHEMA_LIST) != 0)
        read_key(file, element, item, item_end);
    if (element != NULL && (key->type & SCHEMA_MAP) != 0)
        read_key(file, element, free_key, map_end);
    free(inner);
    free(free_key);
    free(item);
    free(item_end);
    free(map_end);
}

static void test_spec__takes_or_refuses_any_value_of_an_experiment(void **state)
{
    (void)state;
    assert_true(read_one(&experiment, "name=sound"));
    read_keys(&experiment, experiment.schema, "", "");
}

static void test_spec__takes_or_refuses_any_value_of_a_workflow(void **state)
{
    (void)state;
    assert_true(read_one(&workflow, "name=sound"));
    read_keys(&workflow, workflow.schema, "", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_spec__takes_or_refuses_any_value_of_an_experiment),
        cmocka_unit_test(test_spec__takes_or_refuses_any_value_of_a_workflow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
