/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment/experiment.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <glob.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/conf/conf.h"
#include "base/expr/template.h"
#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/spec/spec.h"
#include "store/store.h"

/* A whole file: `head` and, behind it, more lines. */
static const char head[] = "version: 1\n"
                           "objective: loss\n"
                           "parameters:\n"
                           "  lr: {type: float, min: 0.1, max: 1}\n"
                           "trial:\n"
                           "  command: ./train ${{ lr }}\n";

static struct experiment *parse_at(const char *path, const char *text,
                                   const char *assignment)
{
    struct diags *diags = diags_create(path);
    struct buf out = BUF_INIT;
    struct err err = {0};
    struct experiment_source source = {.text = text,
                                       .length = strlen(text),
                                       .path = path,
                                       .assignments = &assignment,
                                       .assignment_count = assignment != NULL};
    struct experiment *experiment = experiment_parse(&source, diags, &err);

    diags_render(diags, false, &out);
    if (experiment == NULL)
        fail_msg("%s%s", buf_text(&out), err.text);
    assert_int_equal(diags_count(diags), 0);
    buf_clear(&out);
    diags_destroy(diags);
    return experiment;
}

static struct experiment *parse(const char *text)
{
    return parse_at("", text, NULL);
}

static struct experiment *parse_with(const char *lines)
{
    char *text = mem_printf("%s%s", head, lines);
    struct experiment *experiment = parse(text);

    free(text);
    return experiment;
}

static void test_experiment__defaults(void **state)
{
    struct experiment *e = parse_at("/d/my exp.yml", head, NULL);

    (void)state;
    assert_string_equal(e->name, "my_exp");
    assert_string_equal(e->path, "/d/my exp.yml");
    assert_string_equal(e->source, head);
    assert_int_equal(e->objective_count, 1);
    assert_string_equal(e->objectives[0].metric, "loss");
    assert_false(e->objectives[0].maximize);
    assert_int_equal(e->objectives[0].value, OBJECTIVE_LAST);
    assert_string_equal(e->search.method, "auto");
    assert_int_equal(e->search.seed, 0);
    assert_int_equal(e->search.grid_points, 5);
    assert_false(e->search.adapts_rates);
    assert_int_equal(e->search.budget_trials, 50);
    assert_int_equal(e->budget.trials, 50);
    assert_int_equal(e->budget.parallel, 0);
    assert_int_equal(e->budget.time_ms, 0);
    assert_false(e->budget.has_target);
    assert_int_equal(e->budget.no_improvement, 0);
    assert_false(e->task.is_shell);
    assert_non_null(e->task.metrics);
    assert_int_equal(e->task.environment_count, 0);
    assert_int_equal(e->task.channel_count, 0);
    assert_int_equal(e->task.resources.cpus, 0);
    assert_int_equal(e->task.resources.gpus, 0);
    assert_int_equal(e->task.resources.memory_bytes, 0);
    assert_int_equal(e->task.resources.time_ms, 0);
    assert_int_equal(e->task.resources.grace_ms, 30000);
    assert_int_equal(e->task.retry_count, 0);
    assert_string_equal(e->executor.name, "local");
    assert_int_equal(e->executor.cpus, -1);
    assert_int_equal(e->executor.gpus, -1);
    assert_null(e->executor.script);
    experiment_destroy(e);
}

static const char full[] =
    "version: 1\n"
    "name: fashion-mlp\n"
    "objective: {metric: val_error, goal: maximize, value: best}\n"
    "parameters:\n"
    "  lr:        {type: float, min: 1e-4, max: 1, scale: log}\n"
    "  width:     {type: int, min: 16, max: 512, step: 8}\n"
    "  optimizer: {type: categorical, values: [sgd, adam, 3, true]}\n"
    "  momentum:  {type: float, min: 0, max: 0.99, scale: reverse_log,\n"
    "              when: \"optimizer = 'sgd'\"}\n"
    "  nesterov:  {type: bool, when: momentum > 0.5}\n"
    "  depth:     {type: ordinal, values: [1, 2, 4]}\n"
    "  batch:     {value: 128}\n"
    "  seed:      7\n"
    "constraints: [\"width * batch <= 32768\", depth < 3 or lr < 0.1]\n"
    "search: {method: random, seed: 11, points: 9}\n"
    "schedule: none\n"
    "budget: {trials: 60, parallel: 4, time: 2h, target: 0.12,\n"
    "         no_improvement: 30}\n"
    "trial:\n"
    "  command: [./train, --lr, \"${{ lr }}\", \"${{ width * 2 }}\", 5,\n"
    "            --momentum, \"${{ momentum }}\"]\n"
    "  metrics: {val_error: 'val_error=([0-9.]+)', loss: ~}\n"
    "  env: {OMP_NUM_THREADS: 1, OUT: \"${{ dir }}/${{ run }}-${{ trial }}\"}\n"
    "  channels: {train: data/train, test: /abs/test}\n"
    "  resources: {cpus: 2, gpus: 1, memory: 1G, time: 10m, grace: 5s}\n"
    "  retry:\n"
    "    - {match: [node_fail, \"exit:75\", \"exit:9-12\"], max: 3, delay: "
    "5s,\n"
    "       backoff: 2, max_delay: 5m, jitter: full}\n"
    "    - {match: oom, scale: {memory: 1.5, cpus: 2}, cap: {memory: 8G}}\n"
    "    - {match: [\"signal:SEGV\", \"signal:sigbus\", \"signal:34\",\n"
    "               \"log:NCCL.*timeout\"]}\n"
    "executor: {name: fake, cpus: 8, gpus: 2, script: s.jsonl}\n";

static void test_experiment__reads_everything(void **state)
{
    struct experiment *e = parse_at("/exp/full.yaml", full, NULL);
    const struct param *width = space_param(e->space, 1);

    (void)state;
    assert_string_equal(e->name, "fashion-mlp");
    assert_true(e->objectives[0].maximize);
    assert_int_equal(e->objectives[0].value, OBJECTIVE_BEST);
    assert_int_equal(space_count(e->space), 8);
    assert_int_equal(space_param(e->space, 0)->scale, SCALE_LOG);
    assert_int_equal(width->kind, PARAM_INT);
    assert_true(width->min == 16 && width->max == 512 && width->step == 8);
    assert_int_equal(space_param(e->space, 2)->value_count, 4);
    assert_int_equal(space_param(e->space, 2)->values[2].type, VALUE_INT);
    assert_int_equal(space_param(e->space, 2)->values[3].type, VALUE_BOOL);
    assert_int_equal(space_param(e->space, 3)->scale, SCALE_REVERSE_LOG);
    assert_true(space_is_conditional(e->space, 3));
    assert_int_equal(space_param(e->space, 4)->kind, PARAM_BOOL);
    assert_int_equal(space_param(e->space, 5)->kind, PARAM_ORDINAL);
    assert_int_equal(space_param(e->space, 6)->kind, PARAM_CONST);
    assert_int_equal(space_param(e->space, 7)->values[0].integer, 7);
    assert_string_equal(e->search.method, "random");
    assert_int_equal(e->search.seed, 11);
    assert_int_equal(e->search.grid_points, 9);
    assert_int_equal(e->budget.trials, 60);
    assert_int_equal(e->search.budget_trials, 60);
    assert_int_equal(e->budget.parallel, 4);
    assert_int_equal(e->budget.time_ms, 7200000);
    assert_true(e->budget.has_target && e->budget.target == 0.12);
    assert_int_equal(e->budget.no_improvement, 30);
    experiment_destroy(e);
}

static void test_experiment__reads_what_a_trial_is(void **state)
{
    struct experiment *e = parse_at("/exp/full.yaml", full, NULL);
    const struct retry_rule *rule = &e->task.retries[0];

    (void)state;
    assert_int_equal(e->task.environment_count, 2);
    assert_string_equal(e->task.environment[1].name, "OUT");
    assert_int_equal(e->task.channel_count, 2);
    assert_string_equal(e->task.channels[0].name, "train");
    assert_string_equal(template_source(e->task.channels[0].path),
                        "data/train");
    assert_string_equal(e->task.channels[0].folder, "/exp");
    assert_string_equal(template_source(e->task.channels[1].path), "/abs/test");
    assert_int_equal(e->task.resources.cpus, 2);
    assert_int_equal(e->task.resources.gpus, 1);
    assert_int_equal(e->task.resources.memory_bytes, 1 << 30);
    assert_int_equal(e->task.resources.time_ms, 600000);
    assert_int_equal(e->task.resources.grace_ms, 5000);
    assert_int_equal(e->task.retry_count, 3);
    assert_int_equal(rule->causes, 1u << CAUSE_NODE_FAIL);
    assert_int_equal(rule->exit_count, 2);
    assert_int_equal(rule->exits[0].first, 75);
    assert_int_equal(rule->exits[0].last, 75);
    assert_int_equal(rule->exits[1].first, 9);
    assert_int_equal(rule->exits[1].last, 12);
    assert_int_equal(rule->max, 3);
    assert_int_equal(rule->delay_ms, 5000);
    assert_true(rule->backoff == 2);
    assert_int_equal(rule->max_delay_ms, 300000);
    assert_int_equal(rule->jitter, JITTER_FULL);
    assert_int_equal(e->task.retries[1].causes, 1u << CAUSE_OOM);
    assert_int_equal(e->task.retries[1].max, 1);
    assert_true(e->task.retries[1].scale.memory == 1.5);
    assert_true(e->task.retries[1].scale.cpus == 2 &&
                e->task.retries[1].scale.time == 0);
    assert_true(e->task.retries[1].cap.memory_bytes == INT64_C(8) << 30);
    assert_int_equal(e->task.retries[1].cap.cpus, 0);
    assert_true(e->task.retries[2].signals ==
                (UINT64_C(1) << 10 | UINT64_C(1) << 6 | UINT64_C(1) << 33));
    assert_int_equal(e->task.retries[2].log_count, 1);
    assert_string_equal(e->executor.name, "fake");
    assert_int_equal(e->executor.cpus, 8);
    assert_int_equal(e->executor.gpus, 2);
    assert_string_equal(e->executor.script, "/exp/s.jsonl");
    experiment_destroy(e);
}

static void test_experiment__templates_see_parameters_and_extras(void **state)
{
    struct experiment *e = parse_at("/exp/full.yaml", full, NULL);
    size_t n = space_count(e->space);
    struct value values[8 + EXTRA_COUNT] = {{0}};
    struct buf out = BUF_INIT;
    struct err err;
    char **words;

    (void)state;
    assert_int_equal(n, 8);
    values[0] = value_real(0.5);
    values[1] = value_int(24);
    values[n + EXTRA_TRIAL] = value_int(3);
    values[n + EXTRA_RUN] = value_text("r");
    values[n + EXTRA_DIR] = value_text("/t");
    words = template_expand_words(e->task.command, values, &err);
    assert_non_null(words);
    assert_string_equal(words[2], "0.5");
    assert_string_equal(words[3], "48");
    assert_string_equal(words[4], "5");
    assert_null(words[5]); /* momentum is not active */
    words_free(words);
    assert_int_equal(
        template_expand(e->task.environment[1].value, values, &out, &err), 0);
    assert_string_equal(buf_text(&out), "/t/r-3");
    buf_clear(&out);
    experiment_destroy(e);
}

static void test_experiment__what_limits_a_run(void **state)
{
    struct experiment *e = parse_with("budget: {time: 90}\n");

    (void)state;
    assert_int_equal(e->budget.trials, 0);
    assert_int_equal(e->budget.time_ms, 90000);
    experiment_destroy(e);
    e = parse_with("search: grid\n");
    assert_int_equal(e->budget.trials, 0);
    assert_string_equal(e->search.method, "grid");
    experiment_destroy(e);
    e = parse_with("budget: {target: 1}\n");
    assert_int_equal(e->budget.trials, 50);
    experiment_destroy(e);
}

static void test_experiment__several_objectives(void **state)
{
    char *text =
        mem_printf("objective: [a, {metric: b, goal: maximize}]\n%s", head);
    char *second = strstr(text, "objective: loss\n");
    struct experiment *e;

    (void)state;
    memmove(second, second + 16, strlen(second + 16) + 1);
    e = parse(text);
    assert_int_equal(e->objective_count, 2);
    assert_string_equal(e->objectives[1].metric, "b");
    assert_true(e->objectives[1].maximize);
    assert_string_equal(e->name, "experiment");
    assert_string_equal(e->path, "");
    experiment_destroy(e);
    free(text);
}

static void test_experiment__constraints_on_outcomes(void **state)
{
    char *text = mem_printf("%soutcomes: [c1, {metric: size, min: 1, max: 9}, "
                            "{metric: recall, min: 0.5}]\n",
                            head);
    struct experiment *e = parse(text);

    (void)state;
    assert_int_equal(e->outcome_count, 3);
    assert_int_equal(e->search.outcome_count, 4);
    assert_string_equal(e->outcomes[0].metric, "c1");
    assert_true(isinf(e->outcomes[0].min) && e->outcomes[0].max == 0.0);
    assert_true(e->outcomes[1].min == 1.0 && e->outcomes[1].max == 9.0);
    assert_true(e->outcomes[2].min == 0.5 && isinf(e->outcomes[2].max));
    experiment_destroy(e);
    free(text);
}

static void test_experiment__assignments(void **state)
{
    struct experiment *e =
        parse_at("", head, "parameters.lr={type: int, min: 1, max: 2}");
    struct diags *diags = diags_create("");
    const char *bad[] = {"version.x=1", "search.method=sobel"};
    struct experiment_source source = {.text = head,
                                       .length = strlen(head),
                                       .path = "",
                                       .assignments = bad,
                                       .assignment_count = 1};
    struct err err = {0};

    (void)state;
    assert_int_equal(space_param(e->space, 0)->kind, PARAM_INT);
    experiment_destroy(e);
    assert_null(experiment_parse(&source, diags, &err));
    assert_int_equal(err.kind, ERR_USAGE);
    assert_int_equal(diags_count(diags), 0);
    source.assignments = bad + 1;
    assert_null(experiment_parse(&source, diags, &err));
    assert_int_equal(diags_count(diags), 1);
    assert_string_equal(diags_get(diags, 0)->text,
                        "'search.method' cannot be 'sobel'");
    diags_destroy(diags);
}

static void test_experiment__assigns_a_key_of_an_executor_that_is_a_word(
    void **state)
{
    char *text = mem_printf("%sexecutor: local\n", head);
    struct experiment *e = parse_at("", text, "executor.cpus=3");

    (void)state;
    assert_string_equal(e->executor.name, "local");
    assert_int_equal(e->executor.cpus, 3);
    experiment_destroy(e);
    e = parse_at("", text, "executor.name=fake");
    assert_string_equal(e->executor.name, "fake");
    experiment_destroy(e);
    e = parse_at("", text, "executor={name: fake}");
    assert_string_equal(e->executor.name, "fake");
    experiment_destroy(e);
    free(text);
}

static void test_experiment__keys_of_slurm_mean_nothing_to_local(void **state)
{
    struct experiment *e = parse_with(
        "  resources: {partition: gpu, account: 17, mode: pilot, "
        "extra: [--exclusive]}\n"
        "executor: {partition: cpu, nodes: 2, tasks: 4, time: 1h}\n");
    const struct resources *resources = &e->task.resources;

    (void)state;
    assert_null(e->executor.slurm);
    assert_int_equal(e->executor.parallel, 0);
    assert_string_equal(resources->slurm.partition, "gpu");
    assert_string_equal(resources->slurm.account, "17");
    assert_string_equal(resources->slurm.mode, "pilot");
    assert_int_equal(resources->slurm.extra_count, 1);
    assert_string_equal(resources->slurm.extra[0], "--exclusive");
    assert_int_equal(resources->tasks, 1);
    assert_int_equal(resources->time_ms, 0);
    experiment_destroy(e);
}

static void test_experiment__slurm_has_defaults(void **state)
{
    struct experiment *e = parse_with("executor: slurm\n");
    const struct slurm_options *slurm = e->executor.slurm;

    (void)state;
    assert_non_null(slurm);
    assert_int_equal(e->executor.cpus, -1);
    assert_int_equal(experiment_parallel(e), 64);
    assert_null(slurm->ask.partition);
    assert_null(slurm->ask.mode);
    assert_int_equal(slurm->ask.extra_count, 0);
    assert_int_equal(slurm->heartbeat_ms, 10000);
    assert_int_equal(slurm->silence_ms, 60000);
    assert_int_equal(slurm->poll_ms, 5000);
    assert_string_equal(slurm->transport, "commands");
    assert_false(slurm->without_environment);
    assert_int_equal(slurm->setup_count, 0);
    assert_int_equal(e->task.resources.nodes, 0);
    assert_int_equal(e->task.resources.tasks, 1);
    experiment_destroy(e);
}

static void test_experiment__slurm_is_as_the_file_says(void **state)
{
    struct experiment *e = parse_with(
        "budget: {parallel: 7}\n"
        "executor: {name: slurm, partition: gpu, account: 17, qos: q, cpus: 3, "
        "constraint: 'a|b', reservation: r, extra: [-Llic, --exclusive], "
        "nodes: 2, gpus: 4, time: 1h, mode: job, setup: [module load x, y], "
        "health: nvidia-smi -L, environment: none, heartbeat: 1s, silence: 5s, "
        "poll: 2s, transport: rest, url: 'unix:/s', "
        "pilot: {cpus: 8, gpus: 1, memory: 1G, time: 2h, max: 3, idle: 5s}}\n");
    const struct slurm_options *slurm = e->executor.slurm;

    (void)state;
    assert_int_equal(experiment_parallel(e), 7);
    assert_int_equal(e->executor.cpus, -1);
    assert_int_equal(e->executor.gpus, -1);
    assert_string_equal(slurm->ask.partition, "gpu");
    assert_string_equal(slurm->ask.account, "17");
    assert_string_equal(slurm->ask.qos, "q");
    assert_string_equal(slurm->ask.constraint, "a|b");
    assert_string_equal(slurm->ask.reservation, "r");
    assert_string_equal(slurm->ask.mode, "job");
    assert_int_equal(slurm->ask.extra_count, 2);
    assert_string_equal(slurm->ask.extra[0], "-Llic");
    assert_int_equal(slurm->setup_count, 2);
    assert_string_equal(slurm->setup[0], "module load x");
    assert_string_equal(slurm->health, "nvidia-smi -L");
    assert_true(slurm->without_environment);
    assert_int_equal(slurm->silence_ms, 5000);
    assert_string_equal(slurm->transport, "rest");
    assert_string_equal(slurm->url, "unix:/s");
    assert_int_equal(slurm->pilot_cpus, 8);
    assert_int_equal(slurm->pilot_gpus, 1);
    assert_int_equal(slurm->pilot_memory_bytes, 1 << 30);
    assert_int_equal(slurm->pilot_time_ms, 7200000);
    assert_int_equal(slurm->pilot_max, 3);
    assert_int_equal(slurm->pilot_idle_ms, 5000);
    /* What a trial does not say, it has from the executor. */
    assert_int_equal(e->task.resources.nodes, 2);
    assert_int_equal(e->task.resources.tasks, 2);
    assert_int_equal(e->task.resources.gpus, 4);
    assert_int_equal(e->task.resources.time_ms, 3600000);
    experiment_destroy(e);
}

static void test_experiment__resources_come_before_the_executor(void **state)
{
    struct experiment *e =
        parse_with("  resources: {nodes: 3, tasks: 6, gpus: 0, time: 1m}\n"
                   "executor: {name: slurm, nodes: 2, tasks: 4, gpus: 4, "
                   "time: 1h, setup: \"a\\nb\"}\n");

    (void)state;
    assert_int_equal(e->task.resources.nodes, 3);
    assert_int_equal(e->task.resources.tasks, 6);
    assert_int_equal(e->task.resources.gpus, 0);
    assert_int_equal(e->task.resources.time_ms, 60000);
    assert_int_equal(e->executor.slurm->setup_count, 1);
    assert_string_equal(e->executor.slurm->setup[0], "a\nb");
    experiment_destroy(e);
}

static void test_experiment__load_reads_a_file(void **state)
{
    char directory[] = "/tmp/smtune-test-experiment-XXXXXX";
    struct experiment_source file = {0};
    struct diags *diags;
    struct spec spec;
    struct err err = {0};
    char *path;

    (void)state;
    assert_non_null(mkdtemp(directory));
    path = fs_join(directory, "a.yaml");
    file.path = path;
    diags = diags_create(path);
    assert_int_equal(spec_load(&spec, &file, diags, &err), -1);
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_int_equal(fs_write_atomic(path, head, strlen(head), 0600, &err), 0);
    assert_int_equal(spec_load(&spec, &file, diags, &err), 0);
    assert_string_equal(spec.experiment->name, "a");
    spec_clear(&spec);
    diags_destroy(diags);
    assert_int_equal(fs_remove_tree(directory, &err), 0);
    free(path);
}

/* Each example of the schema is what its key may be. */
static void check_examples(const struct schema_key *keys)
{
    for (; keys->name != NULL; keys++) {
        struct conf_doc *doc;
        struct diags *diags = diags_create(keys->name);
        struct buf out = BUF_INIT;

        assert_non_null(keys->doc);
        assert_non_null(keys->example);
        doc = conf_parse(keys->example, strlen(keys->example), diags);
        if (doc == NULL ||
            schema_check_item(keys, conf_root(doc), keys->name, diags) != 0) {
            diags_render(diags, false, &out);
            fail_msg("%s", buf_text(&out));
        }
        conf_destroy(doc);
        diags_destroy(diags);
        if (keys->keys != NULL)
            check_examples(keys->keys);
        else if (keys->element != NULL && keys->element->keys != NULL)
            check_examples(keys->element->keys);
    }
}

static void test_experiment__reads_whether_learning_rates_adapt(void **state)
{
    struct experiment *e =
        parse_with("search: {method: cmaes, lr_adapt: true}\n");

    (void)state;
    assert_true(e->search.adapts_rates);
    experiment_destroy(e);
}

static void test_experiment__schema_has_an_example_of_each_key(void **state)
{
    (void)state;
    check_examples(experiment_schema);
}

static char *base_name(const char *path)
{
    return mem_copy_string(strrchr(path, '/') + 1);
}

static void check_golden(const char *path)
{
    char *name = base_name(path);
    char *expected_path =
        mem_printf("%.*s.expected", (int)(strlen(path) - 5), path);
    struct diags *diags = diags_create(name);
    struct buf text = BUF_INIT, found = BUF_INIT, expected = BUF_INIT;
    struct experiment_source source = {.path = name};
    struct err err = {0};

    assert_int_equal(fs_read(path, 1 << 21, &text, &err), 0);
    source.text = buf_text(&text);
    source.length = text.length;
    assert_null(experiment_parse(&source, diags, &err));
    assert_string_equal(err.text, "");
    diags_render(diags, false, &found);
    if (getenv("UPDATE") != NULL)
        assert_int_equal(fs_write_atomic(expected_path, found.data,
                                         found.length, 0644, &err),
                         0);
    assert_int_equal(fs_read(expected_path, 1 << 20, &expected, &err), 0);
    if (strcmp(buf_text(&found), buf_text(&expected)) != 0)
        fail_msg("%s: expected\n%sfound\n%s", path, buf_text(&expected),
                 buf_text(&found));
    buf_clear(&expected);
    buf_clear(&found);
    buf_clear(&text);
    diags_destroy(diags);
    free(expected_path);
    free(name);
}

static void test_experiment__errors_are_as_recorded(void **state)
{
    glob_t files;

    (void)state;
    assert_int_equal(
        glob("tests/golden/experiment_errors/*.yaml", 0, NULL, &files), 0);
    assert_true(files.gl_pathc >= 45);
    for (size_t i = 0; i < files.gl_pathc; i++)
        check_golden(files.gl_pathv[i]);
    globfree(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_experiment__defaults),
        cmocka_unit_test(test_experiment__reads_everything),
        cmocka_unit_test(test_experiment__reads_what_a_trial_is),
        cmocka_unit_test(test_experiment__templates_see_parameters_and_extras),
        cmocka_unit_test(test_experiment__what_limits_a_run),
        cmocka_unit_test(test_experiment__several_objectives),
        cmocka_unit_test(test_experiment__constraints_on_outcomes),
        cmocka_unit_test(test_experiment__assignments),
        cmocka_unit_test(
            test_experiment__assigns_a_key_of_an_executor_that_is_a_word),
        cmocka_unit_test(test_experiment__keys_of_slurm_mean_nothing_to_local),
        cmocka_unit_test(test_experiment__slurm_has_defaults),
        cmocka_unit_test(test_experiment__slurm_is_as_the_file_says),
        cmocka_unit_test(test_experiment__resources_come_before_the_executor),
        cmocka_unit_test(test_experiment__load_reads_a_file),
        cmocka_unit_test(test_experiment__reads_whether_learning_rates_adapt),
        cmocka_unit_test(test_experiment__schema_has_an_example_of_each_key),
        cmocka_unit_test(test_experiment__errors_are_as_recorded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
