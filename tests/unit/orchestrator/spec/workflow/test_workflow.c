/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/workflow/workflow.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "tests/unit/folder.h"
#include "tests/unit/sample.h"

static struct workflow *parse_at(const char *path, const char *text,
                                 const char *assignment)
{
    struct diags *diags = diags_create("w.yaml");
    const struct experiment_source source = {
        .text = text,
        .length = strlen(text),
        .path = path,
        .assignments = &assignment,
        .assignment_count = assignment != NULL,
    };
    struct err err = {0};
    struct workflow *workflow = workflow_parse(&source, diags, &err);
    struct buf out = BUF_INIT;

    diags_render(diags, false, &out);
    if (workflow == NULL)
        fail_msg("%s%s", buf_text(&out), err.text);
    buf_clear(&out);
    diags_destroy(diags);
    return workflow;
}

static const struct step *find(const struct workflow *workflow,
                               const char *name)
{
    int64_t index = workflow_find(workflow, name);

    assert_true(index >= 0);
    return &workflow->steps[index];
}

static const struct flow_step *flow_of(const struct workflow *workflow,
                                       const char *name)
{
    return &workflow->flow_steps[workflow_find(workflow, name)];
}

static void test_workflow__tells_its_files_from_others(void **state)
{
    static const struct {
        const char *text;
        bool is_one;
    } texts[] = {
        {"version: 1\nsteps: {a: {command: x}}\n", true},
        {"{version: 1, steps: []}", true},
        {"\xef\xbb\xbfsteps: {a: {command: x}}\n", true}, /* of an editor */
        {"a: [steps]\nb: {steps: 1}\n", false},
        {"- steps\n", false},
        {"steps\n", false},
        {"a: [\nsteps: 1\n", false},
        {"", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_int_equal(workflow_is(texts[i].text, strlen(texts[i].text)),
                         texts[i].is_one);
}

static const char full[] =
    "version: 1\n"
    "params: {epochs: 10}\n"
    "parallel: 3\n"
    "time: 2h\n"
    "pools: {gpu: 4, disk: 2}\n"
    "executor: {name: fake, cpus: 8}\n"
    "defaults: {resources: {cpus: 2, time: 1h}, env: {A: 1, B: 2},\n"
    "           retry: [{match: oom}], pool: disk}\n"
    "steps:\n"
    "  prepare: {shell: p, outputs: {d: out, n: {value: f.json, key: a.n},\n"
    "            r: ~}, cache: {inputs: [p.py], env: [HOME], expire: 1d}}\n"
    "  score:\n"
    "    needs: prepare\n"
    "    matrix: {k: [a, 2], f: {glob: '*.c'}, j: \"${{ prepare.r }}\",\n"
    "             l: {range: [1, 2, 0.5]}, m: {lines: m.txt}}\n"
    "    parallel: 2\n"
    "    success_if: 0.9\n"
    "    if: k = 'a' and prepare.n > 1\n"
    "    command: score ${{ k }}\n"
    "    metrics: [loss]\n"
    "    env: {B: 3}\n"
    "    timeout: 5m\n"
    "  train:\n"
    "    needs: [score]\n"
    "    when: all_done\n"
    "    if: \"${{ score.min_loss < 1 }}\"\n"
    "    command: [train, \"${{ batch }}\", \"${{ checkpoint_dir }}\"]\n"
    "    pools: {gpu: 2}\n"
    "    priority: 5\n"
    "    may_fail: true\n"
    "    executor: local\n"
    "    continue: {total: 28d, signal: SIGUSR2@2m, max: 60}\n"
    "    metrics: [loss]\n"
    "    repeat: {max: 4, until: train.loss < 0.1, values: {\n"
    "      batch: {first: 32, next: batch * 2},\n"
    "      lr: {first: 0.1, scales_with: batch, by: sqrt}}}\n"
    "  no: {needs: train, fail: \"it was ${{ train.loss }}\"}\n"
    "always: {end: {command: x}}\n"
    "on_failure: {tell: {command: y}}\n"
    "outputs: {loss: train.loss}\n";

static void check_score(const struct workflow *w)
{
    const struct step *score = find(w, "score");

    assert_int_equal(score->axis_count, 5);
    assert_int_equal(score->axes[0].value_count, 2);
    assert_string_equal(score->axes[0].values[0].text, "a");
    assert_int_equal(score->axes[1].kind, AXIS_GLOB);
    assert_string_equal(score->axes[1].pattern, "/w/*.c");
    assert_non_null(score->axes[2].source);
    assert_int_equal(score->axes[3].value_count, 3);
    assert_true(score->axes[3].values[1].real == 1.5);
    assert_int_equal(score->axes[4].kind, AXIS_LINES);
    assert_string_equal(score->axes[4].pattern, "/w/m.txt");
    assert_true(score->condition_is_of_copy);
    assert_int_equal(score->task.resources.cpus, 2);
    assert_int_equal(score->task.resources.time_ms, 300000);
    assert_int_equal(score->task.environment_count, 2);
    assert_int_equal(score->task.retry_count, 1);
    assert_int_equal(score->result_count, 4 + 1 + 4);
    assert_int_equal(score->scope.table_count, 2);
    assert_true(flow_of(w, "score")->success_fraction == 0.9);
    assert_int_equal(flow_of(w, "score")->parallel, 2);
    assert_int_equal(flow_of(w, "score")->claims[0].pool, 1);
}

static void check_train(const struct workflow *w)
{
    const struct step *train = find(w, "train");
    const struct flow_step *flow = flow_of(w, "train");

    assert_false(train->condition_is_of_copy);
    assert_string_equal(train->executor, "local");
    assert_true(train->task.has_checkpoints);
    assert_int_equal(train->link.signal, SIGUSR2);
    assert_int_equal(train->link.before_ms, 120000);
    assert_int_equal(train->link.max, 60);
    assert_int_equal(train->repeat.max, 4);
    assert_non_null(train->repeat.until);
    assert_non_null(train->repeat.values[0].next);
    assert_int_equal(train->repeat.values[1].scales_with, 0);
    assert_true(train->repeat.values[1].by_square_root);
    assert_int_equal(flow->when, FLOW_ALL_DONE);
    assert_int_equal(flow->priority, 5);
    assert_true(flow->may_fail);
    assert_int_equal(flow->claim_count, 1);
    assert_int_equal(flow->claims[0].amount, 2);
}

static void test_workflow__reads_everything(void **state)
{
    struct workflow *w = parse_at("/w/full.yaml", full, "params.epochs=7");
    const struct step *prepare = find(w, "prepare");

    (void)state;
    assert_string_equal(w->name, "full");
    assert_int_equal(w->params[0].integer, 7);
    assert_int_equal(w->common->budget.parallel, 3);
    assert_int_equal(w->common->budget.time_ms, 7200000);
    assert_int_equal(w->step_count, 6);
    assert_int_equal(w->executor_count, 2);
    assert_string_equal(prepare->executor, "fake");
    assert_true(prepare->task.is_shell);
    assert_int_equal(prepare->outputs[0].kind, OUTPUT_FILE);
    assert_string_equal(prepare->outputs[1].key, "a.n");
    assert_int_equal(prepare->outputs[2].kind, OUTPUT_REPORTED);
    assert_true(prepare->cache.is_on);
    assert_int_equal(prepare->cache.input_count, 1);
    assert_string_equal(prepare->cache.variables[0], "HOME");
    check_score(w);
    check_train(w);
    assert_non_null(find(w, "no")->message);
    assert_int_equal(flow_of(w, "end")->when, FLOW_ALWAYS);
    assert_int_equal(flow_of(w, "tell")->when, FLOW_ANY_FAILED);
    assert_true(flow_of(w, "tell")->is_final);
    assert_int_equal(w->output_count, 1);
    workflow_destroy(w);
}

/* Between two groups there is one step that does nothing, and a step with a
 * rule of its own asks the first group itself, as does what comes behind it. */
static void test_workflow__lists_and_groups(void **state)
{
    struct workflow *w =
        parse_at("",
                 "version: 1\nsteps:\n"
                 "  - {name: a, command: x}\n"
                 "  - parallel: [{b: {command: x}}, [{c: {command: x}},\n"
                 "                                   {d: {command: x}}]]\n"
                 "  - parallel: [{e: {command: x}},\n"
                 "               {f: {command: x, when: any_failed}}]\n"
                 "  - g: {command: x}\n",
                 NULL);

    (void)state;
    assert_int_equal(w->step_count, 8);
    assert_int_equal(w->steps[4].kind, STEP_JOIN);
    assert_int_equal(flow_of(w, "d")->needs[0], workflow_find(w, "c"));
    assert_int_equal(flow_of(w, "e")->need_count, 1);
    assert_int_equal(flow_of(w, "e")->needs[0], 4);
    assert_int_equal(flow_of(w, "f")->need_count, 2);
    assert_int_equal(flow_of(w, "g")->need_count, 4);
    workflow_destroy(w);
}

/* What it names comes first, and is by more than its order. */
static void test_workflow__needs_by_name_and_by_order(void **state)
{
    struct workflow *w = parse_at("",
                                  "version: 1\nsteps:\n"
                                  "  - a: {command: x}\n"
                                  "  - b: {command: x}\n"
                                  "  - c: {needs: [a, b, a], command: x}\n"
                                  "  - d: {needs: a, command: x}\n",
                                  NULL);

    (void)state;
    assert_int_equal(flow_of(w, "b")->order_count, 1);
    assert_int_equal(flow_of(w, "c")->need_count, 2);
    assert_int_equal(flow_of(w, "c")->order_count, 0);
    assert_int_equal(flow_of(w, "d")->need_count, 2);
    assert_int_equal(flow_of(w, "d")->order_count, 1);
    assert_int_equal(flow_of(w, "d")->needs[0], workflow_find(w, "a"));
    workflow_destroy(w);
}

static void test_workflow__what_runs_below_gives(void **state)
{
    static const char *const names[] = {
        "state",  "copies",     "succeeded",       "failed",  "run",
        "trials", "best_trial", "best_checkpoint", "best_lr", "best_loss",
    };
    char *path = fs_join(*state, "w.yaml");
    const struct step *tune;
    struct workflow *w;

    put(*state, ".", "tune.yaml",
        "version: 1\nobjective: loss\n"
        "parameters: {lr: {type: float, min: 0.1, max: 1}}\n"
        "trial: {command: ./train}\n");
    w = parse_at(path,
                 "version: 1\nsteps: {tune: {experiment: tune.yaml,\n"
                 "  with: {lr: 0.5, budget.trials: \"${{ 2 + 3 }}\"}}}\n",
                 NULL);
    tune = find(w, "tune");
    assert_int_equal(tune->result_count, sizeof(names) / sizeof(names[0]));
    for (size_t i = 0; i < tune->result_count; i++)
        assert_string_equal(tune->results[i].name, names[i]);
    assert_int_equal(tune->assignment_count, 2);
    assert_string_equal(tune->assignments[0].key, "parameters.lr");
    assert_string_equal(tune->assignments[1].key, "budget.trials");
    workflow_destroy(w);
    free(path);
}

static void test_workflow__parallel_is_the_files_before_an_executors(
    void **state)
{
    struct workflow *w =
        parse_at("w.yaml",
                 "version: 1\nparallel: 3\nexecutor: {name: slurm}\n"
                 "steps: {a: {command: x}}\n",
                 NULL);

    (void)state;
    assert_int_equal(workflow_parallel(w), 3);
    workflow_destroy(w);
}

static void test_workflow__says_where_steps_run(void **state)
{
    char *path = fs_join(*state, "w.yaml");
    struct workflow *w;

    put(*state, ".", "tune.yaml",
        "version: 1\nobjective: loss\n"
        "parameters: {lr: {type: float, min: 0.1, max: 1}}\n"
        "trial: {command: ./train}\n");
    w = parse_at(
        path,
        "version: 1\n"
        "executor: [{name: slurm, partition: p, tasks: 2}, local]\n"
        "steps:\n"
        "  a: {command: x, resources: {mode: job, nodes: 3, tasks: 3}}\n"
        "  b: {command: x, executor: local, resources: {qos: q}}\n"
        "  c: {experiment: tune.yaml, resources: {nodes: 2}}\n"
        "  d: {command: x, executor: fake}\n",
        NULL);
    assert_int_equal(w->executor_count, 3);
    assert_int_equal(workflow_parallel(w), 64);
    assert_string_equal(find(w, "a")->executor, "slurm");
    assert_string_equal(find(w, "a")->task.resources.slurm.mode, "job");
    assert_int_equal(find(w, "a")->task.resources.tasks, 3);
    assert_string_equal(
        workflow_executor(w, find(w, "a"))->slurm->ask.partition, "p");
    assert_string_equal(find(w, "b")->executor, "local");
    assert_int_equal(find(w, "b")->task.resources.tasks, 1);
    /* Beside the engine, and as one process. */
    assert_string_equal(find(w, "c")->executor, "local");
    assert_int_equal(find(w, "c")->task.resources.tasks, 1);
    assert_ptr_equal(workflow_executor(w, find(w, "d")), &w->executors[2]);
    workflow_destroy(w);
    free(path);
}

static void test_workflow__has_a_bound(void **state)
{
    enum { BOUND = 500000 };
    struct experiment_source source = {.path = "w.yaml"};
    struct buf text = BUF_INIT;
    struct err err = {0};
    struct diags *diags;

    (void)state;
    if (is_sample())
        skip(); /* 10 s of a processor */
    diags = diags_create("w.yaml");
    buf_add_string(&text, "version: 1\nsteps:\n");
    for (int i = 0; i < BOUND + 2; i++)
        buf_printf(&text, " a%d: {command: x}\n", i);
    source.text = buf_text(&text);
    source.length = text.length;
    assert_null(workflow_parse(&source, diags, &err));
    assert_int_equal(diags_count(diags), 1);
    assert_string_equal(diags_get(diags, 0)->text,
                        "out of range: the file has more than 500000 steps");
    diags_destroy(diags);
    buf_clear(&text);
}

/* More orders of pools than are told step by step. */
static void test_workflow__circles_of_many_pools_are_found(void **state)
{
    enum { STEPS = 300 };
    char *path = fs_join(*state, "w.yaml");
    struct buf text = BUF_INIT;
    struct diags *diags = diags_create("w.yaml");
    struct experiment_source source = {.path = path};
    struct err err = {0};

    put(*state, ".", "disk.yaml",
        "version: 1\npools: {disk: 1}\n"
        "steps: {c: {command: x, pool: disk}}\n");
    put(*state, ".", "gpu.yaml",
        "version: 1\npools: {gpu: 1}\n"
        "steps: {c: {command: x, pool: gpu}}\n");
    buf_add_string(&text, "version: 1\npools: {gpu: 1, disk: 1}\nsteps:\n");
    for (int i = 0; i < STEPS; i++)
        buf_printf(&text, " a%d: {workflow: disk.yaml, pool: gpu}\n", i);
    buf_printf(&text, " b: {workflow: gpu.yaml, pool: disk}\n");
    source.text = buf_text(&text);
    source.length = text.length;
    assert_null(workflow_parse(&source, diags, &err));
    assert_int_equal(diags_count(diags), 1);
    assert_int_equal(diags_get(diags, 0)->place.line, 4 + STEPS);
    assert_non_null(strstr(diags_get(diags, 0)->text, "possible deadlock"));
    diags_destroy(diags);
    buf_clear(&text);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workflow__tells_its_files_from_others),
        cmocka_unit_test(test_workflow__reads_everything),
        cmocka_unit_test(test_workflow__lists_and_groups),
        cmocka_unit_test(test_workflow__needs_by_name_and_by_order),
        cmocka_unit_test_setup_teardown(test_workflow__what_runs_below_gives,
                                        make_folder, remove_folder),
        cmocka_unit_test(
            test_workflow__parallel_is_the_files_before_an_executors),
        cmocka_unit_test(test_workflow__has_a_bound),
        cmocka_unit_test_setup_teardown(
            test_workflow__circles_of_many_pools_are_found, make_folder,
            remove_folder),
        cmocka_unit_test_setup_teardown(test_workflow__says_where_steps_run,
                                        make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
