/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The variables of a task: `env` with values in the file, `env_from` and
 * `env_file` with values that are not. */
#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/spec/experiment/job_spec_build.h"

static void check_variable(struct diags *diags, const struct conf_node *name)
{
    if (!job_spec_is_variable(name->text))
        diags_add(diags, name->place, NULL,
                  "'%s' is not a valid name for an environment variable",
                  name->text);
    else if (text_begins_with(name->text, "SMTUNE_"))
        diags_add(diags, name->place, NULL,
                  "environment variable '%s' is reserved: smtune sets it",
                  name->text);
}

static void build_variables(struct job_spec_build *t,
                            const struct conf_node *map)
{
    struct job_spec *spec = t->task;

    if (map == NULL || map->type != CONF_MAP)
        return;
    spec->environment = mem_array(map->count, sizeof(*spec->environment));
    for (size_t i = 0; i < map->count; i++) {
        const struct conf_node *key = map->keys[i];
        struct env_entry *entry = &spec->environment[spec->environment_count];

        check_variable(t->build->diags, key);
        if (map->items[i]->text == NULL || map->items[i]->type == CONF_NULL)
            continue;
        entry->name = key->text;
        entry->value =
            job_spec_build_text(t, map->items[i], TEMPLATE_TEXT, key->text);
        spec->environment_count += entry->value != NULL;
    }
}

/* Values that are not in the file. */
static void build_sources(struct job_spec_build *t, const struct conf_node *map)
{
    const struct conf_node *names = conf_get(map, "env_from");
    const struct conf_node *file = conf_get(map, "env_file");
    struct job_spec *spec = t->task;

    spec->env_from =
        mem_array(conf_item_count(names) + 1, sizeof(*spec->env_from));
    for (size_t i = 0; i < conf_item_count(names); i++) {
        const struct conf_node *name = conf_item_at(names, i);

        if (name->type != CONF_TEXT)
            continue;
        check_variable(t->build->diags, name);
        spec->env_from[spec->env_from_count++] = name->text;
    }
    if (file == NULL || file->type != CONF_TEXT)
        return;
    spec->env_file = build_resolve_path(t->build->file, file->text);
    spec->env_file_place = file->place;
}

void job_spec_build_environment(struct job_spec_build *t,
                                const struct conf_node *map)
{
    build_variables(t, conf_get(map, "env"));
    build_sources(t, map);
}
