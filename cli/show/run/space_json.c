/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/run/space_json.h"

#include <math.h>

#include "orchestrator/spec/experiment.h"

static json_t *values_to_json(const struct param *param)
{
    json_t *list = json_array();

    for (size_t i = 0; i < param->value_count; i++)
        json_array_append_new(list, json_from_value(&param->values[i]));
    return list;
}

static json_t *number_to_json(const struct param *param, double number)
{
    return param->kind == PARAM_INT ? json_integer((json_int_t)number)
                                    : json_from_real(number);
}

static void add_range(json_t *object, const struct param *param)
{
    json_object_set_new(object, "scale",
                        json_string(param_scale_names[param->scale]));
    json_object_set_new(object, "min", number_to_json(param, param->min));
    json_object_set_new(object, "max", number_to_json(param, param->max));
    if (param->step > 0.0)
        json_object_set_new(object, "step", number_to_json(param, param->step));
}

static json_t *param_to_json(const struct space *space, size_t index)
{
    const struct param *param = space_param(space, index);
    const char *when = space_when(space, index);
    json_t *object = json_object();

    json_object_set_new(object, "name", json_from_text(param->name));
    json_object_set_new(object, "kind",
                        json_string(param_kind_names[param->kind]));
    if (param->kind == PARAM_FLOAT || param->kind == PARAM_INT)
        add_range(object, param);
    else if (param->value_count > 0)
        json_object_set_new(object, "values", values_to_json(param));
    if (when != NULL)
        json_object_set_new(object, "when", json_from_text(when));
    return object;
}

json_t *space_to_json(const struct experiment *experiment)
{
    json_t *list = json_array();

    for (size_t i = 0; i < space_count(experiment->space); i++)
        json_array_append_new(list, param_to_json(experiment->space, i));
    return list;
}

json_t *budget_to_json(const struct experiment *experiment)
{
    const struct budget *budget = &experiment->budget;
    json_t *object = json_object();

    json_object_set_new(object, "trials", json_int_unless(budget->trials, 0));
    json_object_set_new(object, "parallel",
                        json_int_unless(experiment_parallel(experiment), 0));
    json_object_set_new(object, "time_ms", json_int_unless(budget->time_ms, 0));
    json_object_set_new(object, "resource",
                        json_int_unless(budget->resource, 0));
    json_object_set_new(object, "failures",
                        json_int_unless(budget->failures, 0));
    json_object_set_new(object, "no_improvement",
                        json_int_unless(budget->no_improvement, 0));
    json_object_set_new(
        object, "target",
        json_from_real(budget->has_target ? budget->target : (double)NAN));
    json_object_set_new(object, "convergence",
                        json_boolean(budget->convergence));
    return object;
}

json_t *objectives_to_json(char *const *metrics, char *const *goals)
{
    json_t *list = json_array();

    for (size_t i = 0; metrics[i] != NULL; i++)
        json_array_append_new(
            list, json_pack("{s:o, s:o}", "metric", json_from_text(metrics[i]),
                            "goal", json_from_text(goals[i])));
    return list;
}
