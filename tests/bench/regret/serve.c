/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/bench/regret/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"

static json_t *describe_param(const struct space *space, size_t index)
{
    const struct param *param = space_param(space, index);
    json_t *values = json_array();

    for (uint64_t i = 0; param->values != NULL && i < param->value_count; i++)
        json_array_append_new(values, json_from_value(&param->values[i]));
    return json_pack(
        "{s:s, s:s, s:s, s:f, s:f, s:f, s:o, s:b}", "name", param->name, "kind",
        param_kind_names[param->kind], "scale", param_scale_names[param->scale],
        "min", param->min, "max", param->max, "step", param->step, "values",
        values, "conditional", (int)space_is_conditional(space, index));
}

static json_t *describe(const struct instance *instance)
{
    const struct problem *problem = instance->problem;
    json_t *params = json_array();

    for (size_t i = 0; i < instance->dimension; i++)
        json_array_append_new(
            params,
            describe_param(instance->space, space_order(instance->space)[i]));
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:o}", "problem", problem->name,
                     "kind", problem->kind, "set",
                     problem_set_names[problem->set], "seed",
                     (json_int_t)instance->seed, "outcomes",
                     (json_int_t)problem->outcome_count, "params", params);
}

/* The point, or the first active parameter that is missing. Parameters come
 * after those that their conditions use, so that null is inactive there. */
static int read_point(struct instance *instance, const json_t *params,
                      struct value *point, const char **need, struct err *err)
{
    struct space *space = instance->space;

    for (size_t i = 0; i < instance->dimension; i++)
        point[i] = value_null();
    for (size_t i = 0; i < instance->dimension; i++) {
        size_t index = space_order(space)[i];
        const struct param *param = space_param(space, index);
        const json_t *given = json_object_get(params, param->name);
        struct value trial[DIMENSION_MAX], value;

        memcpy(trial, point, sizeof(trial));
        trial[index] = param_from_unit(param, 0.5);
        space_apply_conditions(space, trial);
        if (trial[index].type == VALUE_NULL)
            continue;
        if (given == NULL) {
            *need = param->name;
            return 0;
        }
        value = json_to_value(given);
        if (param_coerce(param, &value, &point[index]) < 0)
            return err_set(err, ERR_FAILED, "'%s' cannot have that value",
                           param->name);
    }
    return 0;
}

static json_t *evaluate(struct instance *instance, const struct value *point,
                        uint64_t trial)
{
    struct evaluation evaluation;
    json_t *outcomes = json_array();

    instance_evaluate(instance, point, trial, &evaluation);
    for (size_t i = 0; i < instance->problem->outcome_count; i++)
        json_array_append_new(outcomes, json_from_real(evaluation.outcomes[i]));
    return json_pack("{s:s, s:o, s:o, s:o}", "state",
                     evaluation.outcome == OUTCOME_COMPLETE ? "complete"
                                                            : "failed",
                     "value", json_from_real(evaluation.value), "measure",
                     json_from_real(evaluation.measure), "outcomes", outcomes);
}

static json_t *answer(struct instance *instance, const char *line,
                      uint64_t *trial, struct err *err)
{
    struct value point[DIMENSION_MAX];
    json_t *request = json_parse(line, strlen(line), err);
    const char *need = NULL;
    json_t *reply = NULL;

    if (request != NULL &&
        read_point(instance, json_object_get(request, "params"), point, &need,
                   err) == 0) {
        if (need != NULL)
            reply = json_pack("{s:s}", "need", need);
        else if (!space_feasible(instance->space, point))
            reply = json_pack("{s:s}", "state", "infeasible");
        else
            reply = evaluate(instance, point, ++*trial);
    }
    json_decref(request);
    return reply;
}

static void say(json_t *json)
{
    struct buf line = BUF_INIT;

    json_print(json, &line);
    puts(buf_text(&line));
    fflush(stdout);
    buf_clear(&line);
    json_decref(json);
}

int serve_instance(const struct problem *problem, uint64_t seed,
                   struct err *err)
{
    struct instance *instance = instance_create(problem, seed, err);
    uint64_t trial = 0;
    char *line = NULL;
    size_t size = 0;
    int result = 0;

    if (instance == NULL)
        return -1;
    say(describe(instance));
    while (result == 0 && getline(&line, &size, stdin) > 0) {
        json_t *reply = answer(instance, line, &trial, err);

        if (reply == NULL)
            result = -1;
        else
            say(reply);
    }
    free(line);
    instance_destroy(instance);
    return result;
}
