/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/cache_facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/job/channels.h"
#include "orchestrator/spec/experiment/container.h"
#include "orchestrator/spec/experiment/workdir.h"
#include "orchestrator/steps/child_facts.h"
#include "orchestrator/steps/child_run.h"
#include "orchestrator/steps/image_facts.h"

/* In place of the job's own folders. */
static const struct launch_places nowhere = {"{dir}", "{checkpoint_dir}", ""};

struct gathering {
    struct cache_facts *facts;
    struct steps *steps;
    const struct step *step;
    const struct job *job;
    const struct value *values; /* of the step's scope */
    struct err *err;
};

static int expand(struct gathering *g, struct template *template,
                  struct buf *text)
{
    buf_truncate(text, 0);
    return template_expand(template, g->values, text, g->err);
}

static void add_setup(struct gathering *g)
{
    const struct job_spec *spec = &g->step->task;
    json_t *list = json_array();

    for (size_t i = 0; i < spec->setup_count; i++)
        json_array_append_new(list, json_from_text(spec->setup[i]));
    if (spec->setup_count > 0)
        json_object_set(g->facts->facts, "setup", list);
    json_decref(list);
}

static int add_image(struct gathering *g, json_t *facts)
{
    char *image;

    if (container_expand_image(&g->step->task, g->values, &image, g->err) != 0)
        return -1;
    image_facts_add(image, facts);
    free(image);
    return 0;
}

static int add_container(struct gathering *g)
{
    const struct container_spec *spec = &g->step->task.container;
    json_t *facts, *list;
    char *conda = NULL;
    int result;

    if (conda_expand(&g->step->task, g->values, &conda, g->err) != 0)
        return -1;
    if (conda != NULL)
        json_object_set_new(g->facts->facts, "conda", json_from_text(conda));
    free(conda);
    if (spec->image == NULL)
        return 0;
    facts = json_object();
    list = json_array();
    result = add_image(g, facts);
    for (size_t i = 0; i < spec->mount_count; i++)
        json_array_append_new(list,
                              json_from_text(template_source(spec->mounts[i])));
    for (size_t i = 0; i < spec->option_count; i++)
        json_array_append_new(list, json_from_text(spec->options[i]));
    json_object_set_new(facts, "options", list);
    json_object_set_new(g->facts->facts, "container", facts);
    return result;
}

static int add_command(struct gathering *g)
{
    const struct job_spec *spec = &g->step->task;
    struct buf script = BUF_INIT;
    json_t *list = json_array();
    char **words = NULL;
    int result;

    if (spec->is_shell) {
        result = expand(g, spec->command, &script);
        json_array_append_new(list, json_from_text(buf_text(&script)));
    } else {
        words = template_expand_words(spec->command, g->values, g->err);
        result = words != NULL ? 0 : -1;
    }
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        json_array_append_new(list, json_from_text(words[i]));
    json_object_set_new(g->facts->facts, spec->is_shell ? "script" : "words",
                        list);
    if (spec->interpreter != NULL)
        json_object_set_new(g->facts->facts, "shell",
                            json_from_text(spec->interpreter));
    add_setup(g);
    if (result == 0)
        result = add_container(g);
    words_free(words);
    buf_clear(&script);
    return result;
}

static const char *work_directory(const struct gathering *g)
{
    return g->facts->work_directory != NULL ? g->facts->work_directory
                                            : g->steps->run->work_directory;
}

static int add_workdir(struct gathering *g)
{
    const struct job_spec *spec = &g->step->task;
    struct cache_facts *facts = g->facts;

    if (workdir_expand(spec, g->values, &facts->work_directory, g->err) != 0)
        return -1;
    json_object_set_new(facts->facts, "workdir",
                        json_from_text(work_directory(g)));
    return 0;
}

/* Where values come from. What they are is not: a secret decides no result. */
static void add_env_sources(const struct gathering *g)
{
    const struct job_spec *spec = &g->step->task;
    json_t *list = json_array();

    for (size_t i = 0; i < spec->env_from_count; i++)
        json_array_append_new(list, json_from_text(spec->env_from[i]));
    if (spec->env_from_count > 0)
        json_object_set(g->facts->facts, "env_from", list);
    if (spec->env_file != NULL)
        json_object_set_new(g->facts->facts, "env_file",
                            json_from_text(spec->env_file));
    json_decref(list);
}

static int add_environment(struct gathering *g)
{
    const struct job_spec *spec = &g->step->task;
    json_t *map = json_object();
    struct buf text = BUF_INIT;
    int result = 0;

    for (size_t i = 0; i < spec->environment_count && result == 0; i++) {
        struct template *value = spec->environment[i].value;
        int null = template_is_null(value, g->values, g->err);

        result = null < 0 ? -1 : expand(g, value, &text);
        json_object_set_new(map, spec->environment[i].name,
                            json_from_text(null == 0 ? buf_text(&text) : NULL));
    }
    json_object_set_new(g->facts->facts, "env", map);
    add_env_sources(g);
    buf_clear(&text);
    return result;
}

static void add_variables(struct gathering *g, char *const *environment)
{
    json_t *map = json_object();

    for (size_t i = 0; i < g->step->cache.variable_count; i++) {
        const char *name = g->step->cache.variables[i], *found = NULL;
        size_t length = strlen(name);

        for (char *const *at = environment; *at != NULL; at++) {
            if (strncmp(*at, name, length) == 0 && (*at)[length] == '=')
                found = *at + length + 1;
        }
        json_object_set_new(map, name, json_from_text(found));
    }
    json_object_set_new(g->facts->facts, "variables", map);
}

/* Whatever tells one copy from another. */
static void add_place(struct gathering *g)
{
    const struct scope *scope = &g->step->scope;
    json_t *axes = json_object(), *facts = g->facts->facts;
    bool is_shared = g->step->copies > 1;

    for (size_t i = 0; i < scope->count; i++) {
        if (scope->columns[i].kind == COLUMN_AXIS)
            json_object_set_new(axes,
                                g->step->axes[scope->columns[i].index].name,
                                json_from_value(&g->values[i]));
    }
    json_object_set_new(facts, "axes", axes);
    if (g->job->rounds != NULL) {
        json_object_set(facts, "rounds", g->job->rounds);
        json_object_set_new(facts, "round", json_integer(g->job->round));
    }
    for (size_t i = 0; i < g->step->task.channel_count; i++)
        is_shared |= g->step->task.channels[i].is_sharded;
    if (is_shared) {
        json_object_set_new(facts, "copy", json_integer(g->job->copy));
        json_object_set_new(
            facts, "copies",
            json_integer(steps_copies(g->steps, (size_t)g->job->step)));
    }
    json_object_set_new(facts, "tasks",
                        json_integer(g->step->task.resources.tasks));
}

static int add_channels(struct gathering *g)
{
    const struct job_spec *spec = &g->step->task;
    char **paths = channels_paths(spec, g->values, g->err);
    json_t *map;

    if (paths == NULL)
        return -1;
    map = json_object();
    for (size_t i = 0; i < spec->channel_count; i++)
        json_object_set_new(map, spec->channels[i].name,
                            json_from_text(paths[i]));
    json_object_set_new(g->facts->facts, "channels", map);
    channels_free_paths(spec, paths);
    return 0;
}

static int add_outputs(struct gathering *g)
{
    json_t *map = json_object(), *metrics = json_array();
    struct buf path = BUF_INIT;
    int result = 0;

    for (size_t i = 0; i < g->step->output_count && result == 0; i++) {
        const struct output *output = &g->step->outputs[i];
        json_t *made = json_array();

        buf_truncate(&path, 0);
        if (output->path != NULL)
            result = expand(g, output->path, &path);
        json_array_append_new(made, json_integer(output->kind));
        json_array_append_new(made, json_from_text(buf_text(&path)));
        json_array_append_new(made, json_from_text(output->key));
        json_object_set_new(map, output->name, made);
    }
    for (size_t i = 0; i < g->step->metric_count; i++)
        json_array_append_new(metrics, json_from_text(g->step->metrics[i]));
    json_object_set_new(g->facts->facts, "outputs", map);
    json_object_set_new(g->facts->facts, "metrics", metrics);
    buf_clear(&path);
    return result;
}

/* -- Inputs ---------------------------------------------------------------*/

static void add_input(struct gathering *g, const char *path)
{
    struct cache_facts *facts = g->facts;

    facts->inputs = mem_resize(facts->inputs, facts->input_count + 1,
                               sizeof(*facts->inputs));
    facts->inputs[facts->input_count++] = mem_copy_string(path);
}

static bool reads_column(const struct step *step, size_t column)
{
    bool reads =
        step->task.command != NULL && template_uses(step->task.command, column);

    for (size_t i = 0; i < step->assignment_count; i++)
        reads |= template_uses(step->assignments[i].value, column);
    if (step->task.workdir != NULL)
        reads |= template_uses(step->task.workdir, column);
    for (size_t i = 0; i < step->task.environment_count; i++)
        reads |= template_uses(step->task.environment[i].value, column);
    for (size_t i = 0; i < step->task.channel_count; i++)
        reads |= template_uses(step->task.channels[i].path, column);
    return reads;
}

/* Whether a column is the path of a file that another step made. */
static bool is_file(const struct steps *steps,
                    const struct scope_column *column)
{
    const struct step *step;
    const struct result_column *result;

    if (column->kind != COLUMN_RESULT)
        return false;
    step = &steps->workflow->steps[column->step];
    result = &step->results[column->index];
    if (step->kind == STEP_EXPERIMENT && result->kind == RESULT_VALUE &&
        strcmp(result->source, BEST_CHECKPOINT) == 0)
        return true;
    for (size_t i = 0; i < step->output_count; i++) {
        if (result->kind == RESULT_VALUE &&
            step->outputs[i].kind == OUTPUT_FILE &&
            strcmp(step->outputs[i].name, result->source) == 0)
            return true;
    }
    return false;
}

/* One path, or a JSON list of them. */
static void add_paths(struct gathering *g, const char *text)
{
    json_t *list = NULL, *path;
    size_t i;

    if (text[0] != '[') {
        add_input(g, text);
        return;
    }
    list = json_parse(text, strlen(text), NULL);
    json_array_foreach(list, i, path)
    {
        if (json_is_string(path))
            add_input(g, json_string_value(path));
    }
    json_decref(list);
}

static int add_inputs(struct gathering *g)
{
    const struct cache_rule *rule = &g->step->cache;
    struct buf path = BUF_INIT;
    int result = 0;

    for (size_t i = 0; i < rule->input_count && result == 0; i++) {
        result = expand(g, rule->inputs[i], &path);
        if (result == 0)
            add_paths(g, buf_text(&path));
    }
    for (size_t i = 0; i < g->step->scope.count && result == 0; i++) {
        if (g->values[i].type == VALUE_TEXT && reads_column(g->step, i) &&
            is_file(g->steps, &g->step->scope.columns[i]))
            add_paths(g, g->values[i].text);
    }
    buf_clear(&path);
    return result;
}

/* A temporary output of an earlier step counts as it was, if it is missing. */
static void add_known(struct gathering *g)
{
    struct cache_facts *facts = g->facts;

    if (g->steps->temp_results == NULL)
        return;
    for (size_t i = 0; i < facts->input_count; i++) {
        char *path = fs_join(work_directory(g), facts->inputs[i]);
        const char *hash = temp_results_hash(g->steps->temp_results,
                                             (size_t)g->job->step, path);

        if (hash != NULL && facts->known == NULL)
            facts->known = json_object();
        if (hash != NULL)
            json_object_set_new(facts->known, path, json_string(hash));
        free(path);
    }
}

static void add_temps(struct gathering *g)
{
    struct cache_facts *facts = g->facts;

    if (!g->step->has_temps)
        return;
    facts->temps = mem_array(g->step->output_count, sizeof(*facts->temps));
    for (size_t i = 0; i < g->step->output_count; i++)
        if (g->step->outputs[i].is_temp)
            facts->temps[facts->temp_count++] = g->step->outputs[i].name;
}

/* What the step does: a command, or the run of an experiment. */
static int add_work(struct gathering *g)
{
    struct word_list inputs = {0};
    int result;

    if (g->step->kind != STEP_EXPERIMENT)
        return add_command(g);
    result = child_facts_add(g->step, g->values, g->steps->run->store,
                             g->facts->facts, &inputs, g->err);
    for (size_t i = 0; i < inputs.count; i++)
        add_input(g, inputs.items[i]);
    words_free(inputs.items);
    return result;
}

int cache_facts_init(struct cache_facts *facts, struct steps *steps,
                     const struct job *job, char *const *environment,
                     struct err *err)
{
    struct value *values = steps_values(steps, job, &nowhere);
    struct gathering g = {.facts = facts,
                          .steps = steps,
                          .step = &steps->workflow->steps[job->step],
                          .job = job,
                          .values = values,
                          .err = err};
    int result;

    *facts = (struct cache_facts){.facts = json_object()};
    add_variables(&g, environment);
    add_place(&g);
    result = add_channels(&g);
    if (result == 0)
        result = add_work(&g);
    if (result == 0)
        result = add_workdir(&g);
    if (result == 0)
        result = add_environment(&g);
    if (result == 0)
        result = add_outputs(&g);
    if (result == 0)
        result = add_inputs(&g);
    if (result == 0)
        add_known(&g);
    add_temps(&g);
    free(values);
    if (result != 0)
        cache_facts_clear(facts);
    return result;
}

void cache_facts_clear(struct cache_facts *facts)
{
    for (size_t i = 0; i < facts->input_count; i++)
        free(facts->inputs[i]);
    free(facts->inputs);
    free(facts->work_directory);
    free(facts->temps);
    json_decref(facts->known);
    json_decref(facts->facts);
    *facts = (struct cache_facts){.facts = NULL};
}
