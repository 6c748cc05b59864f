/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/workflow/workflow.h"

#include <stdlib.h>
#include <string.h>

#include "base/conf/conf.h"
#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/spec/experiment/executor_build.h"
#include "orchestrator/spec/workflow/workflow_impl.h"

/* ---- the keys beside the steps ---- */

/* What was set beside the file, and is not in it. */
static void refuse_param(struct workflow_build *w, const struct conf_node *map,
                         const struct conf_node *key)
{
    const char **names = mem_array(map->count, sizeof(*names));
    size_t count = 0;

    for (size_t i = 0; i < map->count; i++)
        if (map->keys[i]->place.line > 0)
            names[count++] = map->keys[i]->text;
    diags_add_unknown(w->build.diags, key->place, key->text, names, count,
                      "unknown parameter '%s'", key->text);
    free(names);
}

static void build_params(struct workflow_build *w, const struct conf_node *map)
{
    struct workflow *workflow = w->workflow;
    const char **names;
    struct value *values;

    if (map == NULL || map->type != CONF_MAP)
        return;
    names = mem_array(map->count, sizeof(*names));
    values = mem_array(map->count, sizeof(*values));
    workflow->param_names = build_take(w->build.file, names);
    workflow->params = build_take(w->build.file, values);
    workflow->param_count = map->count;
    for (size_t i = 0; i < map->count; i++) {
        const struct conf_node *key = map->keys[i];

        names[i] = key->text;
        if (key->place.line == 0)
            refuse_param(w, map, key);
        experiment_read_value(&w->build, map->items[i], &values[i]);
        if (!text_is_name(key->text))
            diags_add(w->build.diags, key->place,
                      "expected letters, digits and _ first, then . and - too",
                      "'%s' is not a valid name for a parameter", key->text);
        for (size_t j = 0; j < OWN_COLUMN_COUNT; j++)
            if (strcmp(own_column_names[j], key->text) == 0)
                diags_add(
                    w->build.diags, key->place, NULL,
                    "'%s' is not a valid name for a parameter: in expressions "
                    "it is reserved",
                    key->text);
    }
}

static void build_pools(struct workflow_build *w, const struct conf_node *map)
{
    struct pool *pools;

    if (map == NULL || map->type != CONF_MAP)
        return;
    pools = mem_array(map->count, sizeof(*pools));
    w->workflow->pools = build_take(w->build.file, pools);
    w->workflow->pool_count = map->count;
    for (size_t i = 0; i < map->count; i++) {
        const struct conf_node *key = map->keys[i];

        pools[i] = (struct pool){key->text, conf_read_int(map, key->text, 1)};
        if (!text_is_name(key->text))
            diags_add(w->build.diags, key->place,
                      "expected letters, digits and _ first, then . and - too",
                      "'%s' is not a valid name for a pool", key->text);
    }
}

static void build_executors(struct workflow_build *w,
                            const struct conf_node *node)
{
    bool is_list = node != NULL && node->type == CONF_LIST;
    size_t count = is_list && node->count > 0 ? node->count : 1;
    struct executor_options *executors = mem_array(count, sizeof(*executors));

    w->file->executors = executors;
    w->workflow->executors = executors;
    w->workflow->executor_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct conf_node *item = is_list ? NULL : node;

        if (is_list && i < node->count)
            item = node->items[i];
        executor_build(&w->build, item, &executors[i]);
        for (size_t j = 0; j < i; j++)
            if (strcmp(executors[j].name, executors[i].name) == 0)
                diags_add(w->build.diags, item->place, NULL,
                          "duplicate executor '%s'", executors[i].name);
    }
    w->build.experiment->executor = executors[0];
}

static void build_common(struct workflow_build *w, const struct conf_node *root)
{
    struct experiment *common = w->build.experiment;

    experiment_build_name(&w->build, root, "workflow");
    experiment_build_notify(&w->build, conf_get(root, "notify"));
    build_executors(w, conf_get(root, "executor"));
    common->budget.parallel = conf_read_int(root, "parallel", 0);
    common->budget.time_ms = common->budget.file_time_ms =
        conf_read_ms(root, "time", 0);
    common->space = space_create(common->env);
    common->search.method = "random";
    w->workflow->name = common->name;
}

static bool step_is_temp(const struct step *step,
                         const struct result_column *column)
{
    for (size_t i = 0; i < step->output_count; i++)
        if (step->outputs[i].is_temp && column->kind == RESULT_VALUE &&
            strcmp(step->outputs[i].name, column->source) == 0)
            return true;
    return false;
}

/* What is removed is no output of the whole. */
static void refuse_temps(struct workflow_build *w, const struct expr *value,
                         const struct conf_node *node)
{
    const struct scope *scope = &w->workflow->output_scope;

    for (size_t i = 0; value != NULL && i < scope->count; i++) {
        const struct scope_column *column = &scope->columns[i];
        const struct step *step;

        if (column->kind != COLUMN_RESULT || !expr_uses(value, i))
            continue;
        step = &w->workflow->steps[column->step];
        if (step_is_temp(step, &step->results[column->index]))
            diags_add(w->build.diags, node->place, NULL,
                      "output '%s' of step '%s' is temporary: smtune removes "
                      "it before the run ends",
                      step->results[column->index].source, step->name);
    }
}

static void build_outputs(struct workflow_build *w, const struct conf_node *map)
{
    struct workflow *workflow = w->workflow;

    scope_build_outputs(w);
    if (map == NULL || map->type != CONF_MAP)
        return;
    workflow->outputs = mem_array(map->count, sizeof(*workflow->outputs));
    for (size_t i = 0; i < map->count; i++) {
        const struct conf_node *key = map->keys[i];
        const struct scope_reader reader = {
            .w = w, .step = NO_STEP, .is_bare = true, .node = map->items[i]};
        struct workflow_output *output =
            &workflow->outputs[workflow->output_count];

        if (!text_is_name(key->text))
            diags_add(w->build.diags, key->place,
                      "expected letters, digits and _ first, then . and - too",
                      "'%s' is not a valid name for an output", key->text);
        if (map->items[i]->text == NULL || scope_admit(&reader) != 0)
            continue;
        output->name = key->text;
        output->value = workflow_compile_in(w, &workflow->output_scope,
                                            map->items[i], "outputs");
        refuse_temps(w, output->value, map->items[i]);
        workflow->output_count += output->value != NULL;
    }
}

/* ---- all of it ---- */

static void build_steps(struct workflow_build *w, const struct conf_node *root)
{
    struct workflow *workflow = w->workflow;

    w->defaults = conf_get(root, "defaults");
    workflow_gather(w, root);
    workflow_build_needs(w);
    w->file->result_names =
        mem_array(workflow->step_count, sizeof(*w->file->result_names));
    for (size_t i = 0; i < workflow->step_count; i++)
        workflow_build_step(w, i);
    for (size_t i = 0; i < workflow->step_count; i++)
        workflow_build_work(w, i);
    workflow_check_pool_orders(w);
}

static int64_t find_named(struct workflow_build *w,
                          const struct conf_node *node)
{
    int64_t step = workflow_find(w->workflow, node->text);

    if (step < 0)
        diags_add(w->build.diags, node->place, NULL, "unknown step '%s'",
                  node->text);
    return step;
}

static void build_refresh(struct workflow_build *w,
                          const struct conf_node *list)
{
    for (size_t i = 0;
         list != NULL && list->type == CONF_LIST && i < list->count; i++) {
        int64_t step = list->items[i]->type == CONF_TEXT
                           ? find_named(w, list->items[i])
                           : -1;

        if (step >= 0)
            w->workflow->steps[step].cache.is_forced = true;
    }
}

/* Each missing file is found: no copy is held back for another's. */
static void build_touch(struct workflow_build *w, const struct conf_node *root)
{
    w->workflow->is_touched = conf_read_bool(root, "touch", false);
    for (size_t i = 0; w->workflow->is_touched && i < w->workflow->step_count;
         i++)
        w->workflow->flow_steps[i].starts_all = true;
}

static void build_take_over(struct workflow_build *w,
                            const struct conf_node *map)
{
    struct take_over *take_over = &w->workflow->take_over;
    const struct conf_node *steps = conf_get(map, "steps");
    const struct conf_node *only = conf_get(map, "only");
    bool *taken = mem_array(w->workflow->step_count + 1, sizeof(*taken));

    take_over->steps = build_take(w->build.file, taken);
    take_over->run = conf_read_int(map, "run", 0);
    take_over->only = -1;
    if (only != NULL && only->type == CONF_TEXT)
        take_over->only = find_named(w, only);
    for (size_t i = 0;
         steps != NULL && steps->type == CONF_LIST && i < steps->count; i++) {
        int64_t step = steps->items[i]->type == CONF_TEXT
                           ? find_named(w, steps->items[i])
                           : -1;

        if (step >= 0)
            taken[step] = true;
    }
}

static void build_all(struct workflow_build *w)
{
    const struct conf_node *root = conf_root(w->build.file->doc);

    schema_check(workflow_schema, root, NULL, w->build.diags);
    if (root->type != CONF_MAP)
        return;
    build_common(w, root);
    build_params(w, conf_get(root, "params"));
    build_pools(w, conf_get(root, "pools"));
    scope_build_base(w);
    build_steps(w, root);
    build_outputs(w, conf_get(root, "outputs"));
    build_take_over(w, conf_get(root, "take_over"));
    build_refresh(w, conf_get(root, "refresh"));
    build_touch(w, root);
    workflow_end_needs(w);
    for (size_t i = 0; i < w->workflow->step_count; i++)
        if (w->sources[i].reads != NULL)
            build_take(w->build.file, w->sources[i].reads);
    free(w->sources);
}

/* Takes the document. */
static struct workflow *build_from(struct conf_doc *doc,
                                   const struct experiment_source *source,
                                   const struct workflow_chain *above,
                                   struct diags *diags, struct err *err)
{
    struct experiment_file *common =
        experiment_open(doc, source, workflow_schema, err);
    struct workflow_build w = {.build = {.file = common, .diags = diags}};
    struct workflow *workflow;

    if (common == NULL)
        return NULL;
    w.build.experiment = &common->experiment;
    w.file = mem_zero(sizeof(*w.file));
    w.workflow = workflow = &w.file->workflow;
    workflow->common = w.build.experiment;
    workflow->env = workflow->common->env;
    workflow->path = workflow->common->path;
    workflow->source = workflow->common->source;
    w.chain = (struct workflow_chain){workflow->path, above};
    build_all(&w);
    if (diags_count(diags) == 0)
        return workflow;
    workflow_destroy(workflow);
    return NULL;
}

bool workflow_is(const char *text, size_t length)
{
    return conf_has_key(text, length, "steps");
}

struct workflow *workflow_parse_within(const struct experiment_source *source,
                                       const struct workflow_chain *above,
                                       struct diags *diags, struct err *err)
{
    struct conf_doc *doc = conf_parse(source->text, source->length, diags);

    return doc != NULL ? build_from(doc, source, above, diags, err) : NULL;
}

struct workflow *workflow_parse(const struct experiment_source *source,
                                struct diags *diags, struct err *err)
{
    return workflow_parse_within(source, NULL, diags, err);
}

int64_t workflow_parallel(const struct workflow *workflow)
{
    int64_t most = workflow->common->budget.parallel;

    for (size_t i = 0;
         i < workflow->executor_count && workflow->common->budget.parallel == 0;
         i++) {
        if (workflow->executors[i].parallel > most)
            most = workflow->executors[i].parallel;
    }
    return most;
}

const struct executor_options *workflow_executor(
    const struct workflow *workflow, const struct step *step)
{
    size_t i = 0;

    while (i + 1 < workflow->executor_count &&
           strcmp(workflow->executors[i].name, step->executor) != 0)
        i++;
    return &workflow->executors[i];
}

static void clear_step(struct workflow_file *file, struct step *step)
{
    for (size_t i = 0; i < step->axis_count; i++)
        expr_destroy(step->axes[i].source);
    for (size_t i = 0; i < step->output_count; i++)
        template_destroy(step->outputs[i].path);
    for (size_t i = 0; i < step->repeat.value_count; i++)
        expr_destroy(step->repeat.values[i].next);
    for (size_t i = 0; i < step->cache.input_count; i++)
        template_destroy(step->cache.inputs[i]);
    for (size_t i = 0; i < step->assignment_count; i++)
        template_destroy(step->assignments[i].value);
    free(step->child_pools);
    free(step->cache.inputs);
    expr_destroy(step->condition);
    expr_destroy(step->repeat.until);
    template_destroy(step->message);
    if (step->task.metrics == file->every_metric)
        step->task.metrics = NULL;
    job_spec_clear(&step->task);
    scope_release(file, &step->scope);
}

void workflow_destroy(struct workflow *workflow)
{
    struct workflow_file *file = (struct workflow_file *)workflow;

    if (workflow == NULL)
        return;
    for (size_t i = 0; workflow->steps != NULL && i < workflow->step_count; i++)
        clear_step(file, &workflow->steps[i]);
    for (size_t i = 0; i < workflow->output_count; i++)
        expr_destroy(workflow->outputs[i].value);
    metric_rules_destroy(file->every_metric);
    scope_release(file, &workflow->output_scope);
    scope_release(file, &file->base);
    graph_destroy(workflow->graph);
    free(workflow->pool_orders);
    free(workflow->outputs);
    free(workflow->steps);
    free(workflow->flow_steps);
    free(file->by_name);
    free(file->result_names);
    free(file->executors);
    experiment_destroy(workflow->common);
    free(file);
}
