/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/conf/conf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/spec/workflow/workflow_impl.h"

/*
 * Experiments and workflows as steps. Their files are read with the one that
 * has them as a step, so that nothing in them can be wrong hours later, and so
 * that what they will give is known to the expressions behind. A value that
 * only the run will know is left as it stands in the file.
 */

struct child {
    struct workflow_build *w;
    struct step *step;
    const struct conf_node *node; /* `experiment` or `workflow` */
    const struct conf_node *with; /* NULL: nothing is changed */
    workflow_name_fn found;
    void *user;
};

/* ---- what is changed ---- */

static bool is_key_of(const struct schema_key *keys, const char *word)
{
    while (keys->name != NULL && strcmp(keys->name, word) != 0)
        keys++;
    return keys->name != NULL;
}

/* A bare word is a parameter, unless the file has a key of that name. */
static char *assignment_key(const struct child *child, const char *word)
{
    bool is_experiment = child->step->kind == STEP_EXPERIMENT;

    if (strchr(word, '.') != NULL ||
        is_key_of(is_experiment ? experiment_schema : workflow_schema, word))
        return mem_copy_string(word);
    return mem_printf("%s.%s", is_experiment ? "parameters" : "params", word);
}

/* Those that are known now, NULL-ended. */
static char **known_assignments(const struct child *child, size_t *count)
{
    size_t all = child->with != NULL ? child->with->count : 0;
    char **assignments = mem_array(all + 1, sizeof(*assignments));

    *count = 0;
    for (size_t i = 0; i < all; i++) {
        const struct conf_node *item = child->with->items[i];
        char *key;

        if (item->text == NULL || strstr(item->text, "${{") != NULL)
            continue;
        key = assignment_key(child, child->with->keys[i]->text);
        assignments[(*count)++] = mem_printf("%s=%s", key, item->text);
        free(key);
    }
    return assignments;
}

static void free_assignments(char **assignments)
{
    for (size_t i = 0; assignments[i] != NULL; i++)
        free(assignments[i]);
    free(assignments);
}

/* ---- reading ---- */

static int refuse(const struct child *child, struct diags *diags,
                  const struct err *err)
{
    const struct diag *first;

    if (diags_count(diags) == 0)
        return diags_add(child->w->build.diags, child->node->place, NULL, "%s",
                         err->text);
    first = diags_get(diags, 0);
    if (first->place.line == 0)
        return diags_add(child->w->build.diags, child->node->place, NULL,
                         "%s: %s", child->node->text, first->text);
    return diags_add(child->w->build.diags, child->node->place, NULL,
                     "%s:%d:%d: %s", child->node->text, first->place.line,
                     first->place.column, first->text);
}

static void found_with_prefix(const struct child *child, const char *prefix,
                              const char *name)
{
    char *joined = mem_printf("%s%s", prefix, name);

    child->found(child->user, build_take_text(child->w->build.file, joined));
}

/* What an experiment's run gives. */
static void name_best(const struct child *child,
                      const struct experiment *experiment)
{
    child->found(child->user, "run");
    child->found(child->user, "trials");
    child->found(child->user, "best_trial");
    child->found(child->user, "best_checkpoint");
    for (size_t i = 0; i < space_count(experiment->space); i++)
        found_with_prefix(child, "best_",
                          space_param(experiment->space, i)->name);
    for (size_t i = 0; i < experiment->objective_count; i++)
        found_with_prefix(child, "best_", experiment->objectives[i].metric);
}

/* A parameter that is set must be one of the file's; setting it would make one.
 */
static int check_param(const struct child *child, const struct conf_node *node,
                       const struct conf_node *params)
{
    const char *map =
        child->step->kind == STEP_EXPERIMENT ? "parameters." : "params.";
    char *key = assignment_key(child, node->text);
    char *name = key + strlen(map);
    size_t count = params != NULL ? params->count : 0;
    const char **names = mem_array(count + 1, sizeof(*names));
    int rc = 0;

    for (size_t i = 0; i < count; i++)
        names[i] = params->keys[i]->text;
    if (strncmp(key, map, strlen(map)) == 0 && strchr(name, '.') == NULL &&
        conf_get(params, name) == NULL)
        rc = diags_add_unknown(child->w->build.diags, node->place, name, names,
                               count,
                               "unknown parameter: '%s' has no parameter '%s'",
                               child->node->text, name);
    free(names);
    free(key);
    return rc;
}

static int check_params(const struct child *child, const struct buf *text)
{
    bool is_experiment = child->step->kind == STEP_EXPERIMENT;
    size_t count = child->with != NULL ? child->with->count : 0;
    struct conf_doc *doc =
        count > 0 ? conf_parse(buf_text(text), text->length, NULL) : NULL;
    int rc = 0;

    for (size_t i = 0; doc != NULL && i < count; i++)
        rc |= check_param(
            child, child->with->keys[i],
            conf_get(conf_root(doc), is_experiment ? "parameters" : "params"));
    conf_destroy(doc);
    return rc;
}

static int read_experiment(const struct child *child,
                           const struct experiment_source *source,
                           struct diags *diags, struct err *err)
{
    struct experiment *experiment = experiment_parse(source, diags, err);

    if (experiment == NULL)
        return refuse(child, diags, err);
    name_best(child, experiment);
    workflow_note_experiment(child->w, child->step, experiment);
    experiment_destroy(experiment);
    return 0;
}

static int read_workflow(const struct child *child,
                         const struct experiment_source *source,
                         struct diags *diags, struct err *err)
{
    struct workflow *workflow =
        workflow_parse_within(source, &child->w->chain, diags, err);

    if (workflow == NULL)
        return refuse(child, diags, err);
    child->found(child->user, "run");
    for (size_t i = 0; i < workflow->output_count; i++)
        found_with_prefix(child, "", workflow->outputs[i].name);
    workflow_note_workflow(child->w, child->step, workflow);
    workflow_destroy(workflow);
    return 0;
}

/* Whether the workflow is one of those that it would stand in. */
static int check_chain(const struct child *child)
{
    const struct workflow_chain *chain = &child->w->chain;
    int depth = 1;

    for (; chain != NULL; chain = chain->above, depth++)
        if (strcmp(chain->path, child->step->file) == 0)
            return diags_add(child->w->build.diags, child->node->place, NULL,
                             "workflow '%s' would contain itself",
                             child->node->text);
    if (depth > WORKFLOW_DEPTH_MAX)
        return diags_add(child->w->build.diags, child->node->place, NULL,
                         "workflows are nested more than %d deep",
                         WORKFLOW_DEPTH_MAX);
    return 0;
}

static int check_kind(const struct child *child, const struct buf *text)
{
    bool is_workflow = workflow_is(buf_text(text), text->length);
    bool is_wanted = child->step->kind == STEP_WORKFLOW;

    if (is_workflow == is_wanted)
        return 0;
    return diags_add(child->w->build.diags, child->node->place, NULL,
                     is_wanted ? "'%s' has no steps: it is not a workflow"
                               : "'%s' is a workflow, not an experiment",
                     child->node->text);
}

static int read_text(const struct child *child, const struct buf *text)
{
    struct diags *diags = diags_create(child->step->file);
    size_t count;
    char **assignments = known_assignments(child, &count);
    struct experiment_source source = {
        .text = buf_text(text),
        .length = text->length,
        .path = child->step->file,
        .assignments = (const char *const *)assignments,
        .assignment_count = count,
    };
    struct err err = {0};
    int rc = child->step->kind == STEP_EXPERIMENT
                 ? read_experiment(child, &source, diags, &err)
                 : read_workflow(child, &source, diags, &err);

    free_assignments(assignments);
    diags_destroy(diags);
    return rc;
}

int workflow_read_child(struct workflow_build *w, size_t index,
                        workflow_name_fn found, void *user)
{
    struct step *step = &w->workflow->steps[index];
    const struct conf_node *own = w->sources[index].own;
    const char *key = step->kind == STEP_EXPERIMENT ? "experiment" : "workflow";
    struct child child = {.w = w,
                          .step = step,
                          .node = conf_get(own, key),
                          .with = conf_get(own, "with"),
                          .found = found,
                          .user = user};
    struct buf text = BUF_INIT;
    struct err err = {0};
    int rc = -1;

    if (child.node->type != CONF_TEXT)
        return -1;
    if (child.with != NULL && child.with->type != CONF_MAP)
        child.with = NULL;
    step->file = build_resolve_path(w->build.file, child.node->text);
    if (step->kind == STEP_WORKFLOW && check_chain(&child) != 0)
        return -1;
    if (fs_read(step->file, CONF_MAX_BYTES, &text, &err) != 0)
        diags_add(w->build.diags, child.node->place, NULL, "%s", err.text);
    else if (check_kind(&child, &text) == 0 && check_params(&child, &text) == 0)
        rc = read_text(&child, &text);
    buf_clear(&text);
    return rc;
}

void workflow_build_assignments(struct step_build *s)
{
    const struct conf_node *with = conf_get(s->source->own, "with");
    struct child child = {.w = s->w, .step = s->step};
    struct step_assignment *assignments;

    if (with == NULL || with->type != CONF_MAP)
        return;
    assignments = mem_array(with->count, sizeof(*assignments));
    build_take(s->w->build.file, assignments);
    s->step->assignments = assignments;
    for (size_t i = 0; i < with->count; i++) {
        struct step_assignment *assignment =
            &assignments[s->step->assignment_count];

        if (with->items[i]->text == NULL || with->items[i]->type == CONF_NULL)
            continue;
        assignment->key = build_take_text(
            s->w->build.file, assignment_key(&child, with->keys[i]->text));
        assignment->value = job_spec_build_text(&s->task, with->items[i],
                                                TEMPLATE_TEXT, "with");
        s->step->assignment_count += assignment->value != NULL;
    }
}
