/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The outcome of an experiment as JSON, for programs. It is read from the
 * record and not from the engine's memory, so it holds what the next command
 * will also see.
 */
#include "cli/drive/run_result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/drive/run_end.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/job/states.h"
#include "orchestrator/search/pareto_front.h"
#include "orchestrator/search/search_space.h"
#include "orchestrator/spec/experiment/setting_json.h"
#include "orchestrator/spec/spec.h"
#include "store/store.h"

enum { ENOUGH = 1 };

struct finding {
    const struct experiment *experiment;
    const struct pareto_front *front;
    json_t *json; /* the best, or the list of the front */
};

static json_t *outcomes_json(const struct experiment *experiment,
                             const struct trial_row *row)
{
    json_t *outcomes = json_object();

    for (size_t i = 0; i < row->outcome_count; i++)
        json_object_set_new(outcomes, experiment->outcomes[i].metric,
                            json_from_real(row->outcomes[i]));
    return outcomes;
}

static json_t *values_json(const struct trial_row *row)
{
    json_t *values = json_array();

    for (size_t i = 0; i < row->value_count; i++)
        json_array_append_new(values, json_from_real(row->values[i]));
    return values;
}

static json_t *trial_json(const struct experiment *experiment,
                          const struct trial_row *row)
{
    bool one = experiment->objective_count == 1;
    json_t *trial = json_object();

    json_object_set_new(trial, "id", json_integer((json_int_t)row->number));
    json_object_set_new(trial, one ? "value" : "values",
                        one ? json_from_real(row->values[0])
                            : values_json(row));
    if (experiment->outcome_count > 0)
        json_object_set_new(trial, "outcomes", outcomes_json(experiment, row));
    json_object_set_new(trial, "params",
                        setting_json(experiment->space, row->params));
    return trial;
}

static int add_best(void *user, const struct trial_row *row)
{
    struct finding *finding = user;

    if (row->value_count > 0 && isfinite(row->values[0]) &&
        row->violation <= 0.0 &&
        row->param_count == search_space_count(finding->experiment))
        finding->json = trial_json(finding->experiment, row);
    return ENOUGH;
}

static int add_member(void *user, const struct trial_row *row)
{
    struct finding *finding = user;

    if (pareto_front_has(finding->front, row->number))
        json_array_append_new(finding->json,
                              trial_json(finding->experiment, row));
    return 0;
}

static json_t *find_best(const struct run_end *end, struct err *err)
{
    const struct trial_query query = {
        .run = end->run, .order = ORDER_BEST, .state = "succeeded"};
    struct finding finding = {.experiment = end->spec->experiment};

    if (store_each_trial(end->store, &query, add_best, &finding, err) < 0)
        return NULL;
    return finding.json != NULL ? finding.json : json_null();
}

static json_t *find_front(const struct run_end *end, struct err *err)
{
    const struct trial_query query = {
        .run = end->run, .order = ORDER_BEST, .state = "succeeded"};
    struct pareto_front *front =
        pareto_front_of_experiment(end->spec->experiment);
    struct finding finding = {.experiment = end->spec->experiment,
                              .front = front,
                              .json = json_array()};

    if (pareto_front_load(front, end->store, end->run, err) < 0 ||
        store_each_trial(end->store, &query, add_member, &finding, err) < 0) {
        json_decref(finding.json);
        finding.json = NULL;
    }
    pareto_front_destroy(front);
    return finding.json;
}

int run_result_print(const struct run_end *end, struct err *err)
{
    const struct engine_result *result = end->result;
    bool one = end->spec->experiment->objective_count == 1;
    const struct tally *tally = &result->tally;
    json_t *found = one ? find_best(end, err) : find_front(end, err);
    struct buf text = BUF_INIT;
    json_t *json;

    if (found == NULL)
        return -1;
    json = json_pack(
        "{s:o, s:s, s:o, s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I}, s:o}", "run",
        json_from_text(end->name), "state", run_state_names[result->state],
        "reason", json_from_text(result->reason), "trials", "total",
        (json_int_t)tally->suggested, "succeeded", (json_int_t)tally->succeeded,
        "infeasible", (json_int_t)tally->infeasible, "nonfinite",
        (json_int_t)tally->nonfinite, "failed", (json_int_t)tally->failed,
        "stopped", (json_int_t)tally->stopped, "cancelled",
        (json_int_t)tally->cancelled, one ? "best" : "front", found);
    json_show(json, &text);
    printf("%s\n", buf_text(&text));
    json_decref(json);
    buf_clear(&text);
    return 0;
}
