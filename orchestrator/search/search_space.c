/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/search/search_space.h"

#include "strategies/space/space.h"

size_t search_space_count(const struct experiment *experiment)
{
    return space_count(experiment->space);
}

const char *search_space_name(const struct experiment *experiment, size_t param)
{
    return space_param(experiment->space, param)->name;
}

bool search_space_varies(const struct experiment *experiment, size_t param)
{
    return space_param(experiment->space, param)->kind != PARAM_CONST;
}

uint64_t search_space_settings(const struct experiment *experiment)
{
    return space_cardinality(experiment->space);
}

int search_space_volume(const struct experiment *experiment,
                        struct space_volume *volume, struct err *err)
{
    return space_estimate_volume(experiment->space, volume, err);
}

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

json_t *search_space_json(const struct experiment *experiment)
{
    json_t *list = json_array();

    for (size_t i = 0; i < space_count(experiment->space); i++)
        json_array_append_new(list, param_to_json(experiment->space, i));
    return list;
}
