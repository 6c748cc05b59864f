/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The key `trial.files`: files that each trial gets, with its values in place
 * (orchestrator/job/trial_files.h). All templates that stand in the experiment
 * file are compiled here, for their errors; those in a template file are
 * compiled when a trial is prepared, and before a run begins
 * (orchestrator/search/files_check.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "orchestrator/spec/experiment/experiment_impl.h"
#include "orchestrator/spec/experiment/job_spec_build.h"

const char *const file_format_names[] = {"yaml", "json", "toml", "text", NULL};

static const struct {
    const char *ending;
    enum file_format format;
} endings[] = {
    {".yaml", FILE_YAML},
    {".yml", FILE_YAML},
    {".json", FILE_JSON},
    {".toml", FILE_TOML},
};

static enum file_format read_format(const struct conf_node *node,
                                    const char *path)
{
    const char *word = conf_read_text(node, "format", NULL);

    for (int i = 0; word != NULL && file_format_names[i] != NULL; i++)
        if (strcmp(file_format_names[i], word) == 0)
            return (enum file_format)i;
    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        size_t length = strlen(endings[i].ending);

        if (strlen(path) > length &&
            strcmp(path + strlen(path) - length, endings[i].ending) == 0)
            return endings[i].format;
    }
    return FILE_TEXT;
}

/* A template file may read everything. */
static void note_uses(struct job_spec *spec, const struct template *template)
{
    for (size_t i = 0; i < spec->file_column_count; i++)
        spec->file_uses[i] |= template == NULL || template_uses(template, i);
}

static void check_values(struct job_spec_build *t, const struct conf_node *node)
{
    struct template *template = NULL;

    if (node->type == CONF_TEXT)
        template = job_spec_build_text(t, node, TEMPLATE_TEXT, "files");
    if (template != NULL)
        note_uses(t->task, template);
    template_destroy(template);
    for (size_t i = 0; i < node->count; i++)
        check_values(t, node->items[i]);
}

/* TOML has none, also not in lists and maps. */
static void refuse_nulls(struct diags *diags, const struct conf_node *node)
{
    if (node->type == CONF_NULL)
        diags_add(diags, node->place, "leave the key out",
                  "null is not allowed in a toml file");
    for (size_t i = 0; i < node->count; i++)
        refuse_nulls(diags, node->items[i]);
}

static void check_keys(struct job_spec_build *t, const struct conf_node *node,
                       const struct job_file *file)
{
    struct diags *diags = t->build->diags;
    const struct conf_node *set = conf_get_key(node, "set");

    if (file->format == FILE_TEXT && file->from == NULL)
        diags_add(diags, node->place,
                  "'format' is yaml, json or toml where the name does not "
                  "end so",
                  "missing key: a text file requires 'from'");
    else if (set != NULL && file->format == FILE_TEXT)
        diags_add(diags, set->place, "write ${{ NAME }} into the file itself",
                  "'set' is not allowed in a text file");
    if (file->set != NULL && file->format == FILE_TOML)
        refuse_nulls(diags, file->set);
}

static void build_file(struct job_spec_build *t, const struct conf_node *node,
                       struct job_file *file)
{
    const struct conf_node *path = conf_get(node, "path");
    const char *from = conf_read_text(node, "from", NULL);

    if (path == NULL || path->type != CONF_TEXT)
        return;
    file->path = job_spec_build_text(t, path, TEMPLATE_TEXT, "files");
    file->place = (from != NULL ? conf_get(node, "from") : node)->place;
    file->format = read_format(node, path->text);
    if (file->path != NULL)
        note_uses(t->task, file->path);
    if (from != NULL) {
        file->from = build_resolve_path(t->build->file, from);
        note_uses(t->task, NULL);
    }
    file->set = conf_get(node, "set");
    if (file->set != NULL && file->set->type != CONF_MAP)
        file->set = NULL;
    if (file->set != NULL)
        check_values(t, file->set);
    check_keys(t, node, file);
    t->task->file_count += file->path != NULL;
}

void experiment_build_files(struct job_spec_build *t,
                            const struct conf_node *list)
{
    const struct build *build = t->build;
    struct job_spec *spec = t->task;

    if (list == NULL || list->type != CONF_LIST || build->columns == NULL)
        return;
    spec->env = build->experiment->env;
    spec->files = mem_array(list->count, sizeof(*spec->files));
    spec->file_columns =
        mem_array(build->column_count, sizeof(*spec->file_columns));
    memcpy(spec->file_columns, build->columns,
           build->column_count * sizeof(*spec->file_columns));
    spec->file_uses = mem_array(build->column_count, sizeof(bool));
    spec->file_column_count = build->column_count;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i]->type == CONF_MAP)
            build_file(t, list->items[i], &spec->files[spec->file_count]);
}
