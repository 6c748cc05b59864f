/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys of an experiment that have to do with each other, and values at their
 * bounds. */
#include "orchestrator/spec/experiment/experiment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "tests/unit/folder.h"

static const char text[] = "version: 1\n"
                           "objective: loss\n"
                           "parameters:\n"
                           "  lr: {type: float, min: 0.1, max: 1}\n"
                           "  epochs: 27\n"
                           "executor: slurm\n"
                           "trial: {command: [./train, '${{ lr }}']}\n";

enum { ASSIGNMENTS_MAX = 3 };

/* What is said of the file with these assignments; "": it is taken. */
static void assert_said(const char *const *assignments, const char *expected)
{
    struct diags *diags = diags_create("");
    struct err err = {0};
    struct experiment_source source = {.text = text,
                                       .length = strlen(text),
                                       .path = "",
                                       .assignments = assignments};
    struct experiment *experiment;
    struct buf said = BUF_INIT;

    while (source.assignment_count < ASSIGNMENTS_MAX &&
           assignments[source.assignment_count] != NULL)
        source.assignment_count++;
    experiment = experiment_parse(&source, diags, &err);
    buf_add_string(&said, err.text);
    diags_render(diags, false, &said);
    if (strstr(buf_text(&said), expected) == NULL ||
        (said.length == 0) != (experiment != NULL) ||
        (experiment != NULL) != (*expected == '\0'))
        fail_msg("%s: '%s'", assignments[0], buf_text(&said));
    buf_clear(&said);
    experiment_destroy(experiment);
    diags_destroy(diags);
}

static const struct {
    const char *assignments[ASSIGNMENTS_MAX];
    const char *said;
} assignment_cases[] = {
    {{"name=as it is", "search=grid"}, "is not a valid name for an experiment"},
    {{"version.x=1", "search=grid"}, "cannot set 'version.x'"},
    /* executors */
    {{"executor='local, cpus: 3'", "executor.gpus=1"},
     "cannot be 'local, cpus: 3'"},
    {{"executor.partition=\"a\\x7f\""}, "without control characters"},
    {{"executor.extra=[--chdir=/d]"}, "smtune sets --chdir itself"},
    {{"executor.extra=[--array=1-4]"}, "smtune sets --array itself"},
    {{"executor.heartbeat=1h"}, "must be at least twice"},
    {{"executor.silence=1s"}, "must be at least twice"},
    {{"executor.mode=pilot"}, ""},
    {{"executor.mode=pilot", "trial.resources.tasks=2"}, ""},
    {{"executor.mode=pilot", "trial.resources.nodes=2"},
     "a trial takes 2 nodes, and a pilot has one"},
    {{"trial.resources.memory=8G", "executor.extra=[--mem-per-cpu=2G]"},
     "'memory' and the option '--mem-per-cpu=2G', which exclude each"},
    {{"trial.resources={memory: 8G, extra: [--hold, --mem-per-gpu=2G]}"},
     "'memory' and the option '--mem-per-gpu=2G', which exclude each"},
    {{"trial.resources.extra=[--mem-per-cpu=2G, --mem-per-gpu=4G]"},
     "'--mem-per-cpu=2G' and '--mem-per-gpu=4G', which exclude each"},
    {{"trial.resources.extra=[--mem-per-cpu=2G]"}, ""},
    {{"trial.resources={memory: 8G, extra: [--hold]}",
      "executor.extra=[--mem-per-cpu=2G]"},
     ""},
    {{"trial.resources={memory: 8G, extra: [--mem-per-cpu=2G]}",
      "executor=local"},
     ""},
    {{"executor.extra=[--mem=4G]"}, "smtune sets --mem itself"},
    {{"trial.resources.gpus=1g.10gb:2"}, ""},
    {{"trial.resources.gpus={a100_1g.5gb: 2}"}, ""},
    {{"trial.resources.gpus=1g.10gb"}, "must be a number or TYPE:NUMBER"},
    {{"trial.resources.gpus=1g/10gb:2"}, "must be a number or TYPE:NUMBER"},
    /* schedules */
    {{"search=bohb", "schedule=hyperband"}, ""},
    {{"search=bohb", "schedule=asha"}, "has the schedule hyperband"},
    {{"search=bohb", "early_stopping=auto"}, "exclude each other"},
    {{"schedule=median", "early_stopping=auto"}, "exclude each other"},
    {{"schedule=none", "early_stopping=auto"}, ""},
    {{"schedule={method: patient, patience: 3}"}, ""},
    {{"schedule={method: patient}"}, "missing key 'patience'"},
    {{"schedule={method: none, max: 9}"}, ""},
    {{"schedule=asha", "parameters.epochs=[1, 2]"},
     "parameter 'epochs' is the resource of the schedule"},
    {{"schedule=asha", "parameters.epochs={value: [3]}"}, "got a list"},
    {{"schedule=asha", "parameters.epochs=word"}, "from 2 to 1000000000"},
    {{"schedule=asha", "parameters.epochs=1"}, "from 2 to 1000000000"},
    {{"schedule=asha", "parameters.epochs=1000000001"}, "from 2 to 1000000000"},
    {{"schedule={method: asha, metric: z}",
      "objective=[a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q]"},
     "metric 'z' is not an objective"},
    {{"schedule={method: threshold}"}, "requires 'lower' or 'upper'"},
    {{"schedule={method: threshold, upper: 1}"}, ""},
    {{"schedule=pbt"}, "requires trials that resume from checkpoints"},
    {{"schedule=pbt", "trial.checkpoints=true"}, ""},
    /* what methods cannot search */
    {{"search=bayesian",
      "objective=[a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q]"},
     "search: bayesian search supports at most"},
    {{"search=auto",
      "objective=[a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q]"},
     ""},
    {{"search.duplicates=skip"}, ""},
    {{"search.duplicates=reuse"}, ""},
    {{"enqueue=[{lr: .nan}]"},
     "out of range: value .nan is not a finite number"},
    {{"parameters.clip={type: categorical, values: [[1, {a: -.inf}], 2]}"},
     "out of range: value -.inf is not a finite number"},
    {{"constraints=lr < 0.4", "enqueue=[{lr: 0.5}]"}, "violates a constraint"},
    {{"warm_start=[a, b]"}, ""},
    {{"warm_start=a"}, ""},
    {{"warm_start=[[]]"}, "an item of 'warm_start.from' must be"},
    {{"warm_start.from=[a, a]"}, "duplicate run 'a'"},
    {{"parameters.lr={type: float, min: 0, max: 1, step: 0.3}"},
     "step 0.3 does not fit"},
    /* who is told */
    {{"notify=https://h"}, ""},
    {{"notify={url: 'http://h', events: [succeeded]}"}, ""},
    {{"notify='http://'"}, "is not an http:// or https:// address"},
    {{"notify='http://:80'"}, "is not an http:// or https:// address"},
    {{"notify='http://h h'"}, "is not an http:// or https:// address"},
    {{"notify=\"http://h\\x7f\""}, "is not an http:// or https:// address"},
    /* tasks */
    {{"trial.command=[./train, '${{ lr }}', '${{']"}, "command: "},
    {{"trial.env={1A: x}"}, "is not a valid name for an environment variable"},
    {{"trial.channels={t: '${{ checkpoint_dir }}'}"}, ""},
    {{"trial.command=[./train, $SMTUNE_CHECKPOINT_DIR]"}, ""},
    {{"trial={shell: 'ls $SMTUNE_CHECKPOINT_DIR'}"}, ""},
    {{"trial={shell: 'smtrain mlp'}"}, ""},
    {{"trial={shell: 'cd d && smtrain mlp'}"}, ""},
    {{"trial={shell: 'cd d && unsmtrain'}"}, ""},
    {{"trial.retry=[{match: 'exit:1.5'}]"}, "must be exit:1 to exit:255"},
    {{"trial.retry=[{match: 'signal:KIL'}]"}, "unknown signal 'KIL'"},
    {{"trial.retry=[{match: 'signal:KILL'}]"}, ""},
};

static void test_experiment_keys__agree_or_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(assignment_cases); i++)
        assert_said(assignment_cases[i].assignments, assignment_cases[i].said);
}

/* Of `count` items, each with a number in its middle. */
static void assert_many_said(const char *key, const char *const *item,
                             int count, const char *expected)
{
    struct buf assignment = BUF_INIT;
    const char *assignments[ASSIGNMENTS_MAX] = {NULL};

    buf_add_string(&assignment, key);
    for (int i = 0; i < count; i++)
        buf_printf(&assignment, "%s%s%d%s", i > 0 ? ", " : "", item[0], i,
                   item[1]);
    buf_add_string(&assignment, item[2]);
    assignments[0] = buf_text(&assignment);
    assert_said(assignments, expected);
    buf_clear(&assignment);
}

static void assert_long_said(int length, const char *expected)
{
    char *word = mem_printf("executor.qos=a%0*d", length - 1, 0);

    assert_said((const char *const[ASSIGNMENTS_MAX]){word}, expected);
    free(word);
}

static void test_experiment_keys__have_bounds(void **state)
{
    static const char *const options[] = {"-L", "", "]"};
    static const char *const runs[] = {"r", "", "]"};
    static const char *const pools[] = {"p", ": 1", "}"};

    (void)state;
    assert_many_said("executor.extra=[", options, 64, "");
    assert_many_said("executor.extra=[", options, 65,
                     "has more than 64 options");
    assert_many_said("warm_start.from=[", runs, WARM_MAX_RUNS, "");
    assert_many_said("warm_start.from=[", runs, WARM_MAX_RUNS + 1,
                     "'warm_start.from' has ");
    assert_many_said("trial.pools={", pools, 16, "");
    assert_many_said("trial.pools={", pools, 17,
                     "takes from more than 16 pools");
    assert_long_said(1024, "");
    assert_long_said(1025, "too long");
}

static void test_experiment_keys__name_is_the_files_or_none(void **state)
{
    static const struct {
        const char *path, *name;
    } cases[] = {
        {"/d/a.yaml", "a"},         {"/d/a.yml", "a"},
        {"/d/a.json", "a.json"},    {"/d/my exp", "my_exp"},
        {"/d/.yaml", "experiment"}, {"-", "experiment"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct experiment_source source = {
            .text = text, .length = strlen(text), .path = cases[i].path};
        struct diags *diags = diags_create("");
        struct err err = {0};
        struct experiment *experiment = experiment_parse(&source, diags, &err);

        assert_non_null(experiment);
        assert_string_equal(experiment->name, cases[i].name);
        experiment_destroy(experiment);
        diags_destroy(diags);
    }
}

/* Who asks for settings alone needs no trial. */
static void test_experiment_keys__search_needs_no_trial(void **state)
{
    static const struct {
        const char *head, *rest;
        bool is_taken;
    } cases[] = {
        {"version: 1\nobjective: loss\n", "parameters: {x: {type: bool}}\n",
         true},
        {"version: 1\nobjective: loss\nparameters: {x: {type: bool}}\n",
         "trial: {command: x}\n", true},
        {"version: 1\n", "objective: loss\n", false},
        {"- version: 1\n", "", false},
        {"objective: [", "", false},
    };
    char *path = fs_join(*state, "e.yaml");

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *whole = mem_printf("%s%s", cases[i].head, cases[i].rest);
        struct diags *diags = diags_create(path);
        struct experiment *experiment;

        put(*state, ".", "e.yaml", whole);
        experiment = experiment_load_for_search(path, NULL, 0, diags, NULL);
        assert_true((experiment != NULL) == cases[i].is_taken);
        assert_true((diags_count(diags) == 0) == cases[i].is_taken);
        experiment_destroy(experiment);
        diags_destroy(diags);
        free(whole);
    }
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_experiment_keys__agree_or_are_refused),
        cmocka_unit_test(test_experiment_keys__have_bounds),
        cmocka_unit_test(test_experiment_keys__name_is_the_files_or_none),
        cmocka_unit_test_setup_teardown(
            test_experiment_keys__search_needs_no_trial, make_folder,
            remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
