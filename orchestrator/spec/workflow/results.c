/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/spec/workflow/workflow_impl.h"

/* What a step gives to those behind it. */

/* Every step has these. */
static const struct result_column basic_columns[] = {
    {"state", RESULT_STATE, NULL},
    {"copies", RESULT_COUNT, "copies"},
    {"succeeded", RESULT_COUNT, "succeeded"},
    {"failed", RESULT_COUNT, "failed"},
};

static const char *const basic_names[] = {"state", "copies", "succeeded",
                                          "failed"};

/* Of many copies' numbers. */
static const struct {
    const char *prefix;
    enum result_kind kind;
} summaries[] = {
    {"min_", RESULT_MIN},
    {"max_", RESULT_MAX},
    {"mean_", RESULT_MEAN},
    {"sum_", RESULT_SUM},
};

/* Columns under way. */
struct list {
    struct workflow_build *w;
    const char **values; /* outputs and metrics */
    size_t value_count, value_capacity;
    const char **names;
    struct result_column *columns;
    size_t count;
};

static void add_value(void *user, const char *name)
{
    struct list *list = user;

    list->values = mem_grow(list->values, list->value_count,
                            &list->value_capacity, sizeof(*list->values));
    list->values[list->value_count++] = name;
}

/* Where a name is given twice, the first holds. */
static void add_column(struct list *list, const char *name,
                       enum result_kind kind, const char *source)
{
    if (text_is_among(name, list->names, list->count))
        return;
    list->names[list->count] = name;
    list->columns[list->count++] = (struct result_column){name, kind, source};
}

static int check_name(struct workflow_build *w, const struct conf_node *key,
                      const char *what)
{
    if (text_is_among(key->text, basic_names, ARRAY_LEN(basic_names)))
        return diags_add(
            w->build.diags, key->place, NULL,
            "invalid name: %s cannot be '%s', which every step has", what,
            key->text);
    return 0;
}

/* ---- outputs and metrics ---- */

static enum output_kind kind_of(const struct conf_node *item)
{
    if (item->type == CONF_NULL)
        return OUTPUT_REPORTED;
    return item->type == CONF_MAP && conf_get(item, "path") == NULL
               ? OUTPUT_VALUE
               : OUTPUT_FILE;
}

/* Which keys of a map go together. */
static void check_output(struct workflow_build *w, const struct conf_node *name,
                         const struct conf_node *item)
{
    static const char *const others[] = {"value", "key"};
    bool is_file = conf_get(item, "path") != NULL;

    if (item->type != CONF_MAP)
        return;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (is_file && conf_get(item, others[i]) != NULL)
            diags_add(w->build.diags, conf_get_key(item, others[i])->place,
                      NULL, "output '%s' has both 'path' and '%s': use one",
                      name->text, others[i]);
    if (!is_file && conf_get(item, "value") == NULL)
        diags_add(w->build.diags, name->place, "one of: path, value",
                  "missing key: output '%s' has no file", name->text);
    if (!is_file && conf_get(item, "temp") != NULL)
        diags_add(w->build.diags, conf_get_key(item, "temp")->place, NULL,
                  "key 'temp' is only for an output with 'path'");
}

static void name_outputs(struct list *list, struct step *step,
                         const struct conf_node *map)
{
    struct workflow_build *w = list->w;
    struct output *outputs;

    if (map == NULL || map->type != CONF_MAP || step->kind != STEP_TASK)
        return;
    outputs = mem_array(map->count, sizeof(*outputs));
    build_take(w->build.file, outputs);
    step->outputs = outputs;
    step->output_count = map->count;
    for (size_t i = 0; i < map->count; i++) {
        const struct conf_node *key = map->keys[i], *item = map->items[i];

        outputs[i].name = key->text;
        outputs[i].kind = kind_of(item);
        outputs[i].is_temp = outputs[i].kind == OUTPUT_FILE &&
                             conf_read_bool(item, "temp", false);
        step->has_temps |= outputs[i].is_temp;
        check_output(w, key, item);
        if (outputs[i].kind != OUTPUT_FILE)
            outputs[i].key = conf_read_text(item, "key", key->text);
        if (!text_is_name(key->text))
            diags_add(w->build.diags, key->place,
                      "expected letters, digits and _ first, then . and - too",
                      "'%s' is not a valid name for an output", key->text);
        else
            check_name(w, key, "an output");
        add_value(list, key->text);
    }
}

static void name_metrics(struct list *list, struct step *step,
                         const struct conf_node *node)
{
    struct workflow_build *w = list->w;
    bool is_map = node != NULL && node->type == CONF_MAP;
    const char **names;

    if (node == NULL || step->kind != STEP_TASK ||
        (!is_map && node->type != CONF_LIST))
        return;
    names = mem_array(node->count, sizeof(*names));
    build_take(w->build.file, names);
    step->metrics = names;
    for (size_t i = 0; i < node->count; i++) {
        const struct conf_node *name = is_map ? node->keys[i] : node->items[i];

        if (name->text == NULL)
            continue;
        if (text_is_among(name->text, list->values, step->output_count))
            diags_add(w->build.diags, name->place, NULL,
                      "duplicate name '%s': an output has it", name->text);
        if (text_is_among(name->text, names, step->metric_count))
            diags_add(w->build.diags, name->place, NULL,
                      "duplicate name '%s': a metric has it", name->text);
        check_name(w, name, "a metric");
        names[step->metric_count++] = name->text;
        add_value(list, name->text);
    }
}

/* ---- columns ---- */

static void add_summaries(struct list *list)
{
    for (size_t i = 0; i < list->value_count; i++) {
        for (size_t j = 0; j < ARRAY_LEN(summaries); j++) {
            char *name =
                mem_printf("%s%s", summaries[j].prefix, list->values[i]);

            add_column(list, build_take_text(list->w->build.file, name),
                       summaries[j].kind, list->values[i]);
        }
    }
}

static void list_columns(struct list *list, bool has_many)
{
    size_t room = ARRAY_LEN(basic_columns) +
                  list->value_count * (1 + ARRAY_LEN(summaries));

    list->names = mem_array(room, sizeof(*list->names));
    list->columns = mem_array(room, sizeof(*list->columns));
    build_take(list->w->build.file, list->names);
    build_take(list->w->build.file, list->columns);
    for (size_t i = 0; i < ARRAY_LEN(basic_columns); i++)
        add_column(list, basic_columns[i].name, basic_columns[i].kind,
                   basic_columns[i].source);
    for (size_t i = 0; i < list->value_count; i++)
        add_column(list, list->values[i], RESULT_VALUE, list->values[i]);
    if (has_many)
        add_summaries(list);
}

void workflow_build_results(struct workflow_build *w, size_t index)
{
    const struct step_source *source = &w->sources[index];
    struct step *step = &w->workflow->steps[index];
    struct list list = {.w = w};
    int rc = 0;

    name_outputs(&list, step, conf_get(source->own, "outputs"));
    name_metrics(&list, step, conf_get(source->map, "metrics"));
    if (step->kind == STEP_EXPERIMENT || step->kind == STEP_WORKFLOW)
        rc = workflow_read_child(w, index, add_value, &list);
    step->results = basic_columns;
    step->result_count = ARRAY_LEN(basic_columns);
    w->file->result_names[index] = rc == 0 ? basic_names : NULL;
    if (list.value_count > 0) {
        list_columns(&list, step->axis_count > 0 || step->copies > 1);
        step->results = list.columns;
        step->result_count = list.count;
        w->file->result_names[index] = list.names;
    }
    free(list.values);
}

void workflow_build_outputs(struct step_build *s)
{
    const struct conf_node *map = conf_get(s->source->own, "outputs");

    for (size_t i = 0; i < s->step->output_count; i++) {
        /* made by name_outputs, and const for all others */
        struct output *output =
            (struct output *)(uintptr_t)&s->step->outputs[i];
        const struct conf_node *item = map->items[i];
        const char *key = output->kind == OUTPUT_FILE ? "path" : "value";
        const struct conf_node *path =
            item->type == CONF_MAP ? conf_get(item, key) : item;

        if (path == NULL || path->type != CONF_TEXT)
            continue;
        output->path =
            job_spec_build_text(&s->task, path, TEMPLATE_TEXT, "outputs");
    }
}
