/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/workflow/step_change.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf/conf.h"
#include "base/mem.h"
#include "orchestrator/spec/workflow/workflow.h"

struct comparison {
    const struct conf_node *now, *before; /* the files */
    const char **params;                  /* those of other values */
    size_t param_count;
};

static struct conf_doc *read_file(const struct experiment_source *source,
                                  struct err *err)
{
    struct diags *diags = diags_create(source->path);
    struct conf_doc *doc = conf_parse(source->text, source->length, diags);

    if (doc == NULL)
        diags_to_err(diags, err);
    for (size_t i = 0; doc != NULL && i < source->assignment_count; i++) {
        if (strncmp(source->assignments[i], "take_over=", 10) != 0)
            conf_set(doc, workflow_schema, source->assignments[i], NULL);
    }
    diags_destroy(diags);
    return doc;
}

/* ---- what a step is in its file ---- */

static const struct conf_node *find_in(const struct conf_node *node,
                                       const char *name);

static const struct conf_node *find_in_item(const struct conf_node *item,
                                            const char *name)
{
    const struct conf_node *called = conf_get(item, "name");
    const struct conf_node *group = conf_get(item, "parallel");

    if (item->type == CONF_LIST)
        return find_in(item, name);
    if (called != NULL && called->text != NULL &&
        strcmp(called->text, name) == 0)
        return item;
    if (group != NULL && group->type == CONF_LIST)
        return find_in(group, name);
    return conf_get(item, name);
}

static const struct conf_node *find_in(const struct conf_node *node,
                                       const char *name)
{
    const struct conf_node *found = NULL;

    if (node == NULL || node->type != CONF_LIST)
        return conf_get(node, name);
    for (size_t i = 0; i < node->count && found == NULL; i++)
        found = find_in_item(node->items[i], name);
    return found;
}

const struct conf_node *step_find_node(const struct conf_node *root,
                                       const char *name)
{
    static const char *const places[] = {"steps", "on_failure", "always"};
    const struct conf_node *found = NULL;

    for (size_t i = 0; i < ARRAY_LEN(places) && found == NULL; i++)
        found = find_in(conf_get(root, places[i]), name);
    return found;
}

/* ---- the parameters that it names ---- */

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        bool begins =
            at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');

        if (begins && !isalnum((unsigned char)at[length]) && at[length] != '_')
            return true;
    }
    return false;
}

static bool names_any(const struct comparison *comparison,
                      const struct conf_node *node)
{
    if (node->type != CONF_MAP && node->type != CONF_LIST) {
        for (size_t i = 0; node->text != NULL && i < comparison->param_count;
             i++)
            if (has_word(node->text, comparison->params[i]))
                return true;
        return false;
    }
    for (size_t i = 0; i < node->count; i++)
        if (names_any(comparison, node->items[i]))
            return true;
    return false;
}

static void find_params(struct comparison *comparison,
                        const struct workflow *workflow)
{
    const struct conf_node *now = conf_get(comparison->now, "params");
    const struct conf_node *before = conf_get(comparison->before, "params");

    comparison->params =
        mem_array(workflow->param_count, sizeof(*comparison->params));
    for (size_t i = 0; i < workflow->param_count; i++) {
        const char *name = workflow->param_names[i];

        if (!conf_is_same(conf_get(now, name), conf_get(before, name)))
            comparison->params[comparison->param_count++] = name;
    }
}

static bool is_changed(const struct comparison *comparison, const char *name)
{
    const struct conf_node *now = step_find_node(comparison->now, name);
    const struct conf_node *before = step_find_node(comparison->before, name);

    return !conf_is_same(now, before) ||
           (now != NULL && names_any(comparison, now));
}

const size_t *step_needs(const struct workflow *workflow, size_t step,
                         size_t *count)
{
    return graph_needs(workflow->graph, step, count);
}

int step_change_find(const struct workflow *workflow,
                     const struct experiment_source *now,
                     const struct experiment_source *before, bool *changed,
                     struct err *err)
{
    struct conf_doc *first = read_file(before, err);
    struct conf_doc *second = first != NULL ? read_file(now, err) : NULL;
    struct comparison comparison = {0};
    bool all;

    if (second != NULL) {
        comparison.now = conf_root(second);
        comparison.before = conf_root(first);
        find_params(&comparison, workflow);
        all = !conf_is_same(conf_get(comparison.now, "defaults"),
                            conf_get(comparison.before, "defaults"));
        for (size_t i = 0; i < workflow->step_count; i++)
            changed[i] =
                all || is_changed(&comparison, workflow->steps[i].name);
    }
    free(comparison.params);
    conf_destroy(first);
    conf_destroy(second);
    return second != NULL ? 0 : -1;
}
