/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan of a workflow for programs. What is known only when a step begins is
 * null; a missing key would look like an older version of smtune. */
#include "cli/plan/cached.h"
#include "cli/plan/container.h"
#include "cli/plan/shown.h"
#include "cli/plan/workflow.h"
#include "cli/show/jobs/workflow_drawing.h"
#include "cli/show/run/slurm_words.h"
#include "orchestrator/spec/workflow/workflow.h"

static json_t *source_json(const struct template *template)
{
    return template != NULL ? json_from_text(template_source(template))
                            : json_null();
}

static json_t *needs_json(const struct workflow *workflow, size_t step)
{
    json_t *names = json_array();
    size_t count;
    const size_t *needs = graph_needs(workflow->graph, step, &count);

    for (size_t i = 0; i < count; i++)
        json_array_append_new(names,
                              json_from_text(workflow->steps[needs[i]].name));
    return names;
}

/* Null for an axis whose values are known when the step begins. */
static json_t *matrix_json(const struct step *step)
{
    json_t *axes = json_object();

    for (size_t i = 0; i < step->axis_count; i++) {
        const struct matrix_axis *axis = &step->axes[i];
        json_t *values = axis->kind == AXIS_VALUES ? json_array() : json_null();

        for (size_t k = 0; k < axis->value_count; k++)
            json_array_append_new(values, json_from_value(&axis->values[k]));
        json_object_set_new(axes, axis->name, values);
    }
    return axes;
}

static json_t *pools_json(const struct workflow *workflow,
                          const struct flow_step *flow)
{
    json_t *pools = json_object();

    for (size_t i = 0; i < flow->claim_count; i++)
        json_object_set_new(pools, workflow->pools[flow->claims[i].pool].name,
                            json_integer(flow->claims[i].amount));
    return pools;
}

static json_t *gpus_json(const struct resources *resources)
{
    return resources->gpu_permille > 0
               ? json_real((double)resources->gpu_permille / 1000)
               : json_int_unless(resources->gpus, 0);
}

static json_t *resources_json(const struct resources *resources)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "cpus",
                     json_int_unless(resources->cpus, 0), "gpus",
                     gpus_json(resources), "gpu_type",
                     json_from_text(resources->slurm.gpu_type), "nodes",
                     json_int_unless(resources->nodes, 0), "tasks",
                     json_int_unless(resources->tasks, 0), "memory_bytes",
                     json_int_unless(resources->memory_bytes, 0), "time_ms",
                     json_int_unless(resources->time_ms, 0));
}

static json_t *outputs_json(const struct step *step)
{
    json_t *names = json_array();

    for (size_t i = 0; i < step->output_count; i++)
        json_array_append_new(names, json_from_text(step->outputs[i].name));
    return names;
}

static json_t *step_json(const struct workflow *workflow,
                         const struct cache_forecast *forecast, size_t index)
{
    static const char *const kinds[] = {
        [STEP_TASK] = "task",         [STEP_EXPERIMENT] = "experiment",
        [STEP_WORKFLOW] = "workflow", [STEP_FAIL] = "fail",
        [STEP_JOIN] = "join",
    };
    const struct step *step = &workflow->steps[index];
    const struct flow_step *flow = &workflow->flow_steps[index];
    int64_t copies = workflow_step_copies(step);

    return json_pack(
        "{s:o, s:s, s:o, s:s, s:b, s:b, s:o, s:o, s:o, s:I, s:o, s:o, s:o, "
        "s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o}",
        "name", json_from_text(step->name), "kind", kinds[step->kind], "needs",
        needs_json(workflow, index), "when", flow_when_names[flow->when],
        "final", (int)flow->is_final, "may_fail", (int)flow->may_fail, "copies",
        json_int_unless(copies, -1), "matrix", matrix_json(step), "parallel",
        json_int_unless(flow->parallel, 0), "priority",
        (json_int_t)flow->priority, "pools", pools_json(workflow, flow),
        "resources", resources_json(&step->task.resources), "executor",
        json_from_text(step->executor), "slurm",
        slurm_words_json(workflow_executor(workflow, step),
                         &step->task.resources.slurm),
        "command", source_json(step->task.command), "file",
        json_from_text(step->file), "outputs", outputs_json(step), "rounds",
        json_int_unless(step->repeat.max, 0), "links",
        json_int_unless(step->link.max, 0), "cache", (int)step->cache.is_on,
        "cached", plan_cached_step_json(workflow, forecast, index), "container",
        plan_container_json(&step->task, workflow_executor(workflow, step)),
        "conda", plan_conda_json(&step->task));
}

json_t *plan_workflow_json(const struct workflow *workflow,
                           const struct cache_forecast *forecast,
                           const struct mask *mask, const size_t *order)
{
    json_t *params = json_object(), *pools = json_object();
    json_t *steps = json_array();

    for (size_t i = 0; i < workflow->param_count; i++) {
        const char *name = workflow->param_names[i];
        struct value value = shown_param(mask, name, &workflow->params[i]);

        json_object_set_new(params, name, json_from_value(&value));
    }
    for (size_t i = 0; i < workflow->pool_count; i++)
        json_object_set_new(pools, workflow->pools[i].name,
                            json_integer(workflow->pools[i].size));
    for (size_t i = 0; i < workflow->step_count; i++)
        json_array_append_new(steps, step_json(workflow, forecast, order[i]));
    return json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
        json_from_text(workflow->name), "kind", "workflow", "params", params,
        "parallel", json_int_unless(workflow_parallel(workflow), 0), "time_ms",
        json_int_unless(workflow->common->budget.time_ms, 0), "pools", pools,
        "cached", plan_cached_totals_json(workflow, forecast), "steps", steps);
}
