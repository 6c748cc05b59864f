/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment/job_spec_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/conf/schema.h"
#include "base/mem.h"
#include "base/regex.h"
#include "base/text.h"
#include "orchestrator/spec/command/check.h"
#include "orchestrator/spec/command/shebang.h"
#include "orchestrator/spec/experiment/container.h"
#include "orchestrator/spec/experiment/executor_build.h"
#include "orchestrator/spec/experiment/gpus.h"

/* Whether templates may be compiled, and this one's names are known. */
static bool is_ready(struct job_spec_build *t, const struct conf_node *node)
{
    return t->tables != NULL &&
           (t->prepare == NULL || t->prepare(t, node) == 0);
}

struct template *job_spec_build_text(struct job_spec_build *t,
                                     const struct conf_node *node,
                                     enum template_mode mode, const char *label)
{
    struct template *template;
    struct err err;

    if (!is_ready(t, node))
        return NULL;
    template = template_create(t->build->experiment->env, node->text, mode,
                               t->tables, t->table_count, &err);
    if (template == NULL) {
        err_prefix(&err, "%s", label);
        build_add_error(t->build, node, &err);
    } else if (template_has_files(template) && !t->allows_files) {
        diags_add(t->build->diags, node->place, NULL,
                  "%s: 'files()' is only allowed in 'command', 'shell' and "
                  "'env'",
                  label);
    }
    return template;
}

static struct template *create_words(struct job_spec_build *t,
                                     const struct conf_node *list)
{
    const char **words = mem_array(list->count, sizeof(*words));
    struct template *template = NULL;
    bool sound = t->tables != NULL;
    struct err err;

    for (size_t i = 0; i < list->count && t->tables != NULL; i++) {
        words[i] = list->items[i]->text;
        if (words[i] == NULL || !is_ready(t, list->items[i]))
            sound = false;
    }
    if (sound)
        template =
            template_create_words(t->build->experiment->env, words, list->count,
                                  t->tables, t->table_count, &err);
    if (sound && template == NULL)
        diags_add(t->build->diags, list->items[err.column - 1]->place, NULL,
                  "command: %s", err.text);
    free(words);
    return template;
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\n")] == '\0';
}

/* Words of a shell are quoted; another program's language is not known. */
static void build_script(struct job_spec_build *t, const struct conf_node *node)
{
    enum template_mode mode = TEMPLATE_SHELL;
    char **words;

    if (shebang_is_in(node->text)) {
        words = shebang_words(node->text, "");
        if (words == NULL)
            diags_add(t->build->diags, node->place,
                      "write it like #!/usr/bin/env python3",
                      "the first line '#!' names no program");
        words_free(words);
        if (!shebang_is_shell(node->text))
            mode = TEMPLATE_TEXT;
    }
    t->task->command = job_spec_build_text(t, node, mode, "shell");
}

void job_spec_build_command(struct job_spec_build *t,
                            const struct conf_node *node, bool is_shell)
{
    t->task->is_shell = is_shell;
    if ((node->type == CONF_LIST && node->count == 0) ||
        (node->type == CONF_TEXT && is_blank(node->text)))
        diags_add(t->build->diags, node->place, NULL, "the command is empty");
    else if (!is_shell &&
             command_check(t->build->file->doc, node, t->build->diags) != 0)
        return;
    else if (node->type == CONF_TEXT && is_shell)
        build_script(t, node);
    else if (node->type == CONF_TEXT)
        t->task->command =
            job_spec_build_text(t, node, TEMPLATE_WORDS, "command");
    else if (node->type == CONF_LIST && !is_shell)
        t->task->command = create_words(t, node);
}

static bool is_shell_name(const char *text)
{
    return strcmp(text, "bash") == 0 || strcmp(text, "sh") == 0;
}

void job_spec_build_interpreter(struct job_spec_build *t,
                                const struct conf_node *command,
                                const struct conf_node *shell)
{
    struct diags *diags = t->build->diags;

    if (shell->type != CONF_TEXT)
        return;
    if (!is_shell_name(shell->text))
        diags_add(diags, shell->place,
                  "the script is one of the two; 'shell: bash' beside "
                  "'command' runs the command by bash",
                  "%s has both 'command' and 'shell': use one", t->what);
    else if (command->type != CONF_TEXT)
        diags_add(diags, command->place, "write the command as one text",
                  "type mismatch: with 'shell: %s', 'command' is a script",
                  shell->text);
    else if (shebang_is_in(command->text))
        diags_add(diags, shell->place,
                  "leave out 'shell' here, and write 'shell' for 'command'",
                  "the script's first line names its program already");
    else
        job_spec_build_command(t, command, true);
    if (strcmp(shell->text, "bash") == 0)
        t->task->interpreter = "bash";
}

static void add_lines(struct job_spec *spec, const char *const *lines,
                      size_t count)
{
    spec->setup = mem_resize(spec->setup, spec->setup_count + count,
                             sizeof(*spec->setup));
    for (size_t i = 0; i < count; i++)
        spec->setup[spec->setup_count++] = lines[i];
}

static void add_setup_line(struct job_spec_build *t,
                           const struct conf_node *line)
{
    if (line->type != CONF_TEXT)
        return;
    build_check_setup_line(t->build, line);
    add_lines(t->task, &line->text, 1);
}

void job_spec_build_setup(struct job_spec_build *t,
                          const struct conf_node *node)
{
    if (node == NULL)
        return;
    add_setup_line(t, node);
    for (size_t i = 0; node->type == CONF_LIST && i < node->count; i++)
        add_setup_line(t, node->items[i]);
}

void job_spec_prepend_setup(struct job_spec *spec,
                            const struct slurm_options *slurm)
{
    const char **own = spec->setup;
    size_t count = spec->setup_count;

    if (slurm->setup_count == 0)
        return;
    spec->setup = NULL;
    spec->setup_count = 0;
    add_lines(spec, slurm->setup, slurm->setup_count);
    add_lines(spec, own, count);
    free(own);
}

void job_spec_build_workdir(struct job_spec_build *t,
                            const struct conf_node *node)
{
    if (node == NULL || node->type != CONF_TEXT)
        return;
    t->task->workdir = job_spec_build_text(t, node, TEMPLATE_TEXT, "workdir");
    t->task->workdir_folder = build_resolve_path(t->build->file, ".");
}

bool job_spec_is_variable(const char *text)
{
    size_t length = text_variable_length(text);

    return length > 0 && text[length] == '\0';
}

void job_spec_build_channels(struct job_spec_build *t,
                             const struct conf_node *map)
{
    struct job_spec *spec = t->task;
    const char *folder;

    if (map == NULL || map->type != CONF_MAP)
        return;
    folder = build_resolve_path(t->build->file, ".");
    spec->channels = mem_array(map->count, sizeof(*spec->channels));
    for (size_t i = 0; i < map->count; i++) {
        const struct conf_node *key = map->keys[i], *item = map->items[i];
        const struct conf_node *path =
            item->type == CONF_MAP ? conf_get(item, "path") : item;
        struct channel *channel = &spec->channels[spec->channel_count];

        if (!job_spec_is_variable(key->text))
            diags_add(t->build->diags, key->place, NULL,
                      "'%s' is not a valid name for a channel: it becomes "
                      "SM_CHANNEL_*",
                      key->text);
        if (path == NULL || path->type != CONF_TEXT)
            continue;
        channel->name = key->text;
        channel->path = job_spec_build_text(t, path, TEMPLATE_TEXT, "channels");
        channel->folder = folder;
        channel->is_sharded =
            strcmp(conf_read_text(item, "distribution", ""), "sharded") == 0;
        spec->channel_count += channel->path != NULL;
    }
}

/* The scalar with rule i's regex, or NULL for the built-in patterns. */
static const struct conf_node *regex_node(const struct conf_node *metrics,
                                          size_t i)
{
    if (metrics->type == CONF_LIST || metrics->items[i]->type != CONF_TEXT)
        return NULL;
    return metrics->items[i];
}

/* Each regex by itself, so that all the wrong ones are told. */
static int check_regexes(struct build *build, const struct metric_rule *rules,
                         const struct conf_node *metrics)
{
    int rc = 0;

    for (size_t i = 0; i < metrics->count; i++) {
        const struct conf_node *node = regex_node(metrics, i);
        struct metric_rules *alone;
        struct err err;

        if (node == NULL)
            continue;
        alone = metric_rules_create(&rules[i], 1, &err);
        if (alone == NULL) {
            err.line = 1; /* what it says is the rule's number */
            err_prefix(&err, "regex of metric '%s'", rules[i].name);
            rc = build_add_error(build, node, &err);
        }
        metric_rules_destroy(alone);
    }
    return rc;
}

static int name_metric(struct build *build, const struct conf_node *name,
                       struct metric_rule *rule)
{
    if (name->type == CONF_LIST || name->type == CONF_MAP)
        return -1; /* as the schema has said */
    if (name->type == CONF_NULL || is_blank(name->text))
        return diags_add(build->diags, name->place, NULL,
                         "missing name of a metric");
    rule->name = name->text;
    return build_check_metric_name(build, name) ? 0 : -1;
}

static int refuse_no_metric(const struct job_spec_build *t,
                            const struct conf_node *metrics)
{
    char *label = schema_label(t->what, "metrics");

    diags_add(t->build->diags, metrics->place,
              "remove the key to find every NAME=NUMBER", "%s names no metric",
              label);
    free(label);
    return -1;
}

void job_spec_build_metrics(struct job_spec_build *t,
                            const struct conf_node *metrics)
{
    struct build *build = t->build;
    size_t count = metrics != NULL ? metrics->count : 0;
    struct metric_rule *rules = mem_array(count, sizeof(*rules));
    struct diag_place place = {0, 0, 1};
    struct err err;
    int rc = 0;

    if (metrics != NULL)
        place = metrics->place;
    if (metrics != NULL && metrics->type != CONF_LIST &&
        metrics->type != CONF_MAP)
        rc = -1; /* as the schema has said */
    else if (metrics != NULL && count == 0)
        rc = refuse_no_metric(t, metrics);
    for (size_t i = 0; i < count; i++) {
        bool is_map = metrics->type == CONF_MAP;
        const struct conf_node *regex = regex_node(metrics, i);

        rc |= name_metric(build, is_map ? metrics->keys[i] : metrics->items[i],
                          &rules[i]);
        if (regex != NULL)
            rules[i].regex = regex->text;
    }
    if (rc == 0 && count > 0)
        rc = check_regexes(build, rules, metrics);
    if (rc == 0) {
        t->task->metrics = metric_rules_create(rules, count, &err);
        if (t->task->metrics == NULL)
            diags_add(build->diags, place, NULL, "%s", err.text);
    }
    free(rules);
}

void job_spec_build_resources(struct job_spec_build *t,
                              const struct conf_node *map)
{
    struct resources *resources = &t->task->resources;
    char *what = schema_label(t->what, "resources"), *gpus;

    resources->cpus = (int)conf_read_int(map, "cpus", 0);
    resources->nodes = (int)conf_read_int(map, "nodes", 0);
    resources->tasks = (int)conf_read_int(map, "tasks", 0);
    resources->pins = conf_read_bool(map, "pin", false);
    resources->splits_gpus =
        strcmp(conf_read_text(map, "visible_gpus", "node"), "rank") == 0;
    resources->memory_bytes = conf_read_bytes(map, "memory", 0);
    resources->time_ms = conf_read_ms(map, "time", 0);
    resources->grace_ms = conf_read_ms(map, "grace", 30000);
    executor_build_ask(t->build, map, what, &resources->slurm);
    gpus = schema_label(what, "gpus");
    gpus_build(t->build, conf_get(map, "gpus"), gpus, resources);
    free(gpus);
    free(what);
}

static void add_share(struct job_spec_build *t, const struct conf_node *name,
                      int64_t amount)
{
    if (t->task->pool_count < ATTEMPT_POOLS_MAX)
        t->task->pools[t->task->pool_count++] =
            (struct pool_share){name->text, amount};
    else
        diags_add(t->build->diags, name->place, NULL,
                  "out of range: %s takes from more than %d pools", t->what,
                  ATTEMPT_POOLS_MAX);
}

void job_spec_build_pools(struct job_spec_build *t, const struct conf_node *map)
{
    const struct conf_node *one = conf_get(map, "pool");
    const struct conf_node *many = conf_get(map, "pools");

    if (one != NULL && many != NULL)
        diags_add(t->build->diags, conf_get_key(map, "pool")->place, NULL,
                  "%s has both 'pool' and 'pools': use one", t->what);
    if (many == NULL)
        many = one;
    if (many == NULL)
        return;
    t->task->pools = mem_array(ATTEMPT_POOLS_MAX, sizeof(*t->task->pools));
    if (many->type == CONF_TEXT)
        add_share(t, many, 1);
    for (size_t i = 0; many->type == CONF_MAP && i < many->count; i++)
        add_share(t, many->keys[i],
                  conf_read_int(many, many->keys[i]->text, 1));
}

/* ---- what the command makes use of ---- */

bool job_spec_uses(const struct job_spec *spec, size_t column)
{
    if (spec->command != NULL && template_uses(spec->command, column))
        return true;
    if (spec->workdir != NULL && template_uses(spec->workdir, column))
        return true;
    if (container_uses(spec, column))
        return true;
    for (size_t i = 0; i < spec->environment_count; i++)
        if (template_uses(spec->environment[i].value, column))
            return true;
    for (size_t i = 0; i < spec->channel_count; i++)
        if (template_uses(spec->channels[i].path, column))
            return true;
    return column < spec->file_column_count && spec->file_uses[column];
}

/* Whether a text of the node has the word, as a word of its own where asked. */
static bool is_said(const struct conf_node *node, const char *word, bool alone)
{
    static const char blanks[] = " \t\n";
    size_t length = strlen(word);
    const char *at = node != NULL ? node->text : NULL;

    for (; at != NULL && (at = strstr(at, word)) != NULL; at += length) {
        bool begins = at == node->text || strchr("/ \t\n", at[-1]) != NULL;

        if (!alone || (begins && strchr(blanks, at[length]) != NULL))
            return true;
    }
    for (size_t i = 0; node != NULL && i < node->count; i++)
        if (is_said(node->items[i], word, alone))
            return true;
    return false;
}

bool job_spec_reads(const struct job_spec_build *t, const struct conf_node *map,
                    size_t column, const char *variable)
{
    const struct conf_node *command = conf_get(map, "command");
    const struct conf_node *shell = conf_get(map, "shell");

    return job_spec_uses(t->task, column) ||
           is_said(command, variable, false) ||
           is_said(shell, variable, false) ||
           is_said(command, "smtrain", true) || is_said(shell, "smtrain", true);
}

static void clear_rule(struct retry_rule *rule)
{
    for (size_t i = 0; i < rule->log_count; i++)
        regex_destroy(rule->logs[i]);
    free(rule->logs);
    free((void *)(uintptr_t)rule->exits);
}

void job_spec_clear(struct job_spec *spec)
{
    for (size_t i = 0; i < spec->environment_count; i++)
        template_destroy(spec->environment[i].value);
    for (size_t i = 0; i < spec->channel_count; i++)
        template_destroy(spec->channels[i].path);
    for (size_t i = 0; i < spec->file_count; i++)
        template_destroy(spec->files[i].path);
    for (size_t i = 0; i < spec->retry_count; i++)
        clear_rule(&spec->retries[i]);
    template_destroy(spec->command);
    template_destroy(spec->workdir);
    container_clear_spec(spec);
    metric_rules_destroy(spec->metrics);
    free(spec->setup);
    free(spec->environment);
    free(spec->env_from);
    free(spec->channels);
    free(spec->files);
    free(spec->file_columns);
    free(spec->file_uses);
    free(spec->pools);
    free(spec->retries);
}
