/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The line of a step's key in the file, for `smtune why`. The parsed workflow
 * does not keep such places, because only this command needs them; so the text
 * is parsed again and searched. The search must accept every form that
 * orchestrator/spec/ accepts for a step.
 */
#include "cli/show/jobs/step_place.h"

#include <stddef.h>
#include <string.h>

#include "base/compiler.h"
#include "base/conf/conf.h"

enum { DEPTH_MAX = 64 };

static const struct conf_node *find_in_list(const struct conf_node *list,
                                            const char *step, int depth);

/* An item of a list is the step with its name in it, {NAME: step}, a group, or
 * a list in a group. */
static const struct conf_node *find_in_item(const struct conf_node *item,
                                            const char *step, int depth)
{
    const struct conf_node *name = conf_get(item, "name");
    const struct conf_node *group = conf_get(item, "parallel");

    if (item->type == CONF_LIST)
        return find_in_list(item, step, depth);
    if (item->type != CONF_MAP)
        return NULL;
    if (name != NULL && name->text != NULL && strcmp(name->text, step) == 0)
        return item;
    if (group != NULL && group->type == CONF_LIST)
        return find_in_list(group, step, depth);
    return item->count == 1 ? conf_get(item, step) : NULL;
}

static const struct conf_node *find_in_list(const struct conf_node *list,
                                            const char *step, int depth)
{
    const struct conf_node *found = NULL;

    if (depth >= DEPTH_MAX)
        return NULL;
    for (size_t i = 0; i < list->count && found == NULL; i++)
        found = find_in_item(list->items[i], step, depth + 1);
    return found;
}

static const struct conf_node *find_step(const struct conf_node *root,
                                         const char *step)
{
    static const char *const groups[] = {"steps", "on_failure", "always"};
    const struct conf_node *found = NULL;

    for (size_t i = 0; i < ARRAY_LEN(groups) && found == NULL; i++) {
        const struct conf_node *steps = conf_get(root, groups[i]);

        if (steps != NULL)
            found = steps->type == CONF_LIST ? find_in_list(steps, step, 0)
                                             : conf_get(steps, step);
    }
    return found;
}

static const struct conf_node *find_key(const struct conf_doc *doc,
                                        const char *step, const char *key)
{
    const struct conf_node *root = conf_root(doc);
    const struct conf_node *own = conf_get(find_step(root, step), key);

    return own != NULL ? own : conf_get(conf_get(root, "defaults"), key);
}

int step_place_line(const struct conf_doc *doc, const char *step,
                    const char *key, int64_t index)
{
    const struct conf_node *node = find_key(doc, step, key);

    if (node == NULL)
        return 0;
    if (node->type == CONF_LIST && index >= 0 && (size_t)index < node->count)
        node = node->items[index];
    return node->place.line;
}

const char *step_place_text(const struct conf_doc *doc, const char *step,
                            const char *key)
{
    const struct conf_node *node = find_key(doc, step, key);

    return node == NULL || node->type == CONF_LIST || node->type == CONF_MAP
               ? NULL
               : node->text;
}
