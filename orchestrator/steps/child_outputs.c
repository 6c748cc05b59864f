/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Outputs of a step that is a child run: the best trial of an experiment, or
 * the `outputs` of a workflow. They are read from the record after the child
 * run has ended, by the same functions as `smtune show` uses. If the job
 * started more than one child run, the last counts.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/job/outputs.h"
#include "orchestrator/job/workspace.h"
#include "orchestrator/run/run.h"
#include "orchestrator/steps/child_run.h"
#include "orchestrator/steps/results.h"
#include "orchestrator/steps/results_load.h"
#include "orchestrator/steps/scope_fill.h"

enum { ENOUGH = 1 };

struct found {
    int64_t job; /* whose run it is */
    int64_t id;  /* 0: not found */
    char *name;
    int64_t trials, best_trial;
};

/* The last one that the job has made. */
static int keep_last(void *user, const struct run_row *row)
{
    struct found *found = user;

    if (row->parent_job != found->job)
        return 0;
    free(found->name);
    found->id = row->id;
    found->name = mem_copy_string(row->name);
    found->trials = row->trials;
    found->best_trial = row->best_trial;
    return 0;
}

static void put(json_t *into, const char *prefix, const char *name,
                json_t *value)
{
    char *key = mem_printf("%s%s", prefix, name);

    json_object_set_new(into, key, value);
    free(key);
}

/* ---- of an experiment ---- */

struct best {
    json_t *into;
    char **params, **metrics;
};

static int take_best(void *user, const struct trial_row *row)
{
    struct best *best = user;

    for (size_t i = 0; i < row->param_count && best->params[i] != NULL; i++)
        put(best->into, "best_", best->params[i],
            json_from_value(&row->params[i]));
    for (size_t i = 0; i < row->value_count && best->metrics[i] != NULL; i++)
        put(best->into, "best_", best->metrics[i],
            json_from_metric(row->values[i]));
    return 0;
}

static json_t *checkpoint_of(struct store *store, const struct found *found)
{
    char *directory = store_run_directory(store, found->name);
    char *path = workspace_checkpoint_directory(directory, found->best_trial);
    json_t *json = fs_exists(path) ? json_from_text(path) : json_null();

    free(path);
    free(directory);
    return json;
}

static int experiment_outputs(struct store *store, const struct found *found,
                              json_t *into, struct err *err)
{
    const struct trial_query query = {
        .run = found->id, .order = ORDER_NUMBER, .number = found->best_trial};
    struct best best = {.into = into};
    char **goals = NULL;
    int result = -1;

    if (found->best_trial == 0)
        return err_set(err, ERR_FILE, "run '%s' has no best trial",
                       found->name);
    best.params = store_run_params(store, found->id, err);
    best.metrics = store_run_objectives(store, found->id, &goals, err);
    if (best.params != NULL && best.metrics != NULL)
        result = store_each_trial(store, &query, take_best, &best, err);
    json_object_set_new(into, "best_trial", json_integer(found->best_trial));
    json_object_set_new(into, BEST_CHECKPOINT, checkpoint_of(store, found));
    json_object_set_new(into, "trials", json_integer(found->trials));
    store_free_names(best.params);
    store_free_names(best.metrics);
    store_free_names(goals);
    return result;
}

/* ---- of a workflow ---- */

static int evaluate(const struct workflow *workflow, const struct value *values,
                    json_t *into, struct err *err)
{
    for (size_t i = 0; i < workflow->output_count; i++) {
        const struct workflow_output *output = &workflow->outputs[i];
        struct value value;

        if (expr_eval(output->value, values, &value, err) != 0)
            return err_prefix(err, "output '%s'", output->name);
        outputs_put(into, output->name, &value);
    }
    return 0;
}

int child_run_evaluate(struct store *store, int64_t run, const char *name,
                       const struct workflow *workflow, json_t *into,
                       struct err *err)
{
    struct results *results = results_create(workflow);
    struct value *values =
        mem_array(workflow->output_scope.count, sizeof(*values));
    int result = results_load(results, workflow, store, run, err);

    if (result == 0) {
        scope_fill_outputs(workflow, results, name, values);
        result = evaluate(workflow, values, into, err);
    }
    free(values);
    results_destroy(results);
    return result;
}

static int workflow_outputs(struct store *store, const struct found *found,
                            json_t *into, struct err *err)
{
    struct spec spec;
    int result = run_read_spec(store, found->id, &spec, err);

    if (result == 0)
        result = child_run_evaluate(store, found->id, found->name,
                                    spec.workflow, into, err);
    spec_clear(&spec);
    return result;
}

int child_run_outputs(const struct child_run *child, struct store *store,
                      json_t *into, struct err *err)
{
    struct found found = {.job = child->job};
    int result =
        store_each_child_run(store, child->run, keep_last, &found, err);

    if (result == 0 && found.id == 0)
        result =
            err_set(err, ERR_NOT_FOUND, "the child run is not in the record");
    else if (result == 0 && child->step->kind == STEP_EXPERIMENT)
        result = experiment_outputs(store, &found, into, err);
    else if (result == 0)
        result = workflow_outputs(store, &found, into, err);
    if (result == 0)
        json_object_set_new(into, CHILD_NAME, json_from_text(found.name));
    free(found.name);
    return result;
}
