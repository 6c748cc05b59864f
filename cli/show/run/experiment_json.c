/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of an experiment's file as JSON. All keys are always there, with null
 * for what the file does not set. */
#include "cli/show/run/experiment_json.h"

#include <math.h>

#include "orchestrator/spec/experiment/experiment.h"

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
