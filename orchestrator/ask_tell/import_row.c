/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/ask_tell/import_row.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/metrics/number.h"
#include "orchestrator/spec/experiment/outcome.h"
#include "store/store.h"

/* Where a column of the table, or a key of an object, may have the value. */
static const json_t *find_param(const json_t *row, const char *name)
{
    char *prefixed = mem_printf("params_%s", name); /* as Optuna has them */
    const json_t *params = json_object_get(row, "params");
    const json_t *found = json_is_object(params) ? json_object_get(params, name)
                                                 : json_object_get(row, name);

    if (found == NULL)
        found = json_object_get(row, prefixed);
    free(prefixed);
    return found;
}

static bool is_empty(const json_t *item)
{
    return item == NULL || json_is_null(item) ||
           (json_is_string(item) && json_string_length(item) == 0);
}

static json_t *params_of(const struct experiment *experiment, const json_t *row)
{
    json_t *params = json_object();

    for (size_t i = 0; i < space_count(experiment->space); i++) {
        const char *name = space_param(experiment->space, i)->name;
        const json_t *value = find_param(row, name);

        if (!is_empty(value))
            json_object_set_new(params, name, json_deep_copy(value));
    }
    return params;
}

/* A cell of a table is text. */
static json_t *number_of(const json_t *item)
{
    const char *text = json_string_value(item);
    double real;

    if (text != NULL && metric_is_number(text, text + strlen(text), &real))
        return json_from_real(real);
    return item != NULL ? json_deep_copy(item) : json_null();
}

static const json_t *find_value(const struct experiment *experiment,
                                const json_t *row, size_t objective)
{
    const char *metric = experiment->objectives[objective].metric;
    const json_t *found = json_object_get(row, metric);

    if (is_empty(found) && experiment->objective_count == 1)
        found = json_object_get(row, "value");
    if (is_empty(found))
        found = json_array_get(json_object_get(row, "values"), objective);
    return found;
}

/* NULL where one is missing. */
static json_t *values_of(const struct experiment *experiment, const json_t *row)
{
    json_t *values = json_array();

    for (size_t i = 0; i < experiment->objective_count; i++) {
        const json_t *value = find_value(experiment, row, i);

        if (is_empty(value)) {
            json_decref(values);
            return NULL;
        }
        json_array_append_new(values, number_of(value));
    }
    return values;
}

/* By how much the row's metrics exceed the bounds of constraints. */
static json_t *constraints_of(const struct experiment *experiment,
                              const json_t *row)
{
    size_t count = experiment->outcome_count;
    size_t bounds = experiment->search.outcome_count;
    double *outcomes = mem_array(count, sizeof(*outcomes));
    double *excesses = mem_array(bounds, sizeof(*excesses));
    const json_t *own = json_object_get(row, "outcomes");
    json_t *list = json_array(), *number;

    for (size_t i = 0; i < count; i++) {
        const char *metric = experiment->outcomes[i].metric;

        number =
            number_of(json_object_get(json_is_object(own) ? own : row, metric));
        outcomes[i] = json_to_real(number);
        json_decref(number);
    }
    outcome_excess(experiment->outcomes, count, outcomes, excesses);
    for (size_t i = 0; i < bounds; i++)
        json_array_append_new(list, json_from_real(excesses[i]));
    free(outcomes);
    free(excesses);
    return list;
}

/* The state of a row, in words of smtune and of Optuna. Others have no result.
 */
static const struct {
    const char *word, *state;
} states[] = {
    {"succeeded", "succeeded"}, {"nonfinite", "failed"},   {"failed", "failed"},
    {"stopped", "stopped"},     {"COMPLETE", "succeeded"}, {"FAIL", "failed"},
    {"PRUNED", "stopped"},
};

/* NULL: the row has no result. */
static const char *state_of(const json_t *row, bool has_values)
{
    const char *word = json_string_value(json_object_get(row, "state"));

    if (word == NULL)
        return has_values ? "succeeded" : "failed";
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        if (strcmp(states[i].word, word) == 0)
            return !has_values && strcmp(states[i].state, "succeeded") == 0
                       ? "failed"
                       : states[i].state;
    }
    return NULL;
}

json_t *import_row_request(const struct experiment *experiment,
                           const json_t *row)
{
    json_t *values = values_of(experiment, row), *request = NULL;
    const char *state = state_of(row, values != NULL);

    if (state != NULL) {
        request = json_pack("{s:s, s:o, s:s}", "op", "tell", "params",
                            params_of(experiment, row), "state", state);
        if (values != NULL && experiment->objective_count == 1)
            json_object_set(request, "value", json_array_get(values, 0));
        else if (values != NULL)
            json_object_set(request, "values", values);
        if (experiment->outcome_count > 0)
            json_object_set_new(request, "constraints",
                                constraints_of(experiment, row));
    }
    json_decref(values);
    return request;
}
