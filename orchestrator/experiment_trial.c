/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/experiment_impl.h"

static struct template *create_template(struct build *build,
                                        const struct conf_node *node,
                                        enum template_mode mode,
                                        const char *what)
{
    struct expr_table table = {NULL, build->columns, build->column_count};
    struct template *template;
    struct err err;

    if (build->columns == NULL)
        return NULL;
    template = template_create(build->experiment->env, node->text, mode, &table,
                               1, &err);
    if (template == NULL) {
        err_prefix(&err, "%s", what);
        experiment_add_error(build, node, &err);
    }
    return template;
}

static struct template *create_words(struct build *build,
                                     const struct conf_node *list)
{
    struct expr_table table = {NULL, build->columns, build->column_count};
    const char **words = mem_array(list->count, sizeof(*words));
    struct template *template = NULL;
    bool sound = build->columns != NULL && list->count > 0;
    struct err err;

    for (size_t i = 0; i < list->count && sound; i++) {
        words[i] = list->items[i]->text;
        sound = words[i] != NULL;
    }
    if (sound)
        template = template_create_words(build->experiment->env, words,
                                         list->count, &table, 1, &err);
    if (sound && template == NULL) {
        size_t word = (size_t)(err.column > 0 ? err.column : 1);

        diags_add(build->diags, list->items[word - 1]->place, NULL,
                  "command: %s", err.text);
    }
    free(words);
    return template;
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\n")] == '\0';
}

static void build_command(struct build *build, const struct conf_node *trial)
{
    const struct conf_node *command = conf_get(trial, "command");
    const struct conf_node *shell = conf_get(trial, "shell");
    const struct conf_node *node = command != NULL ? command : shell;

    if (node == NULL) {
        diags_add(build->diags, trial->place, NULL,
                  "'trial' needs 'command' or 'shell'");
        return;
    }
    if (command != NULL && shell != NULL)
        diags_add(build->diags, conf_get_key(trial, "shell")->place, NULL,
                  "'trial' has both 'command' and 'shell'; it needs one");
    build->experiment->task.is_shell = node == shell;
    if ((node->type == CONF_LIST && node->count == 0) ||
        (node->type == CONF_TEXT && is_blank(node->text)))
        diags_add(build->diags, node->place, NULL, "the command is empty");
    else if (node->type == CONF_TEXT)
        build->experiment->task.command = create_template(
            build, node, node == shell ? TEMPLATE_SHELL : TEMPLATE_WORDS,
            node == shell ? "shell" : "command");
    else if (node->type == CONF_LIST)
        build->experiment->task.command = create_words(build, node);
}

/* A word that may be (the end of) an environment variable's name. */
static bool is_variable(const char *text)
{
    if (isdigit((unsigned char)*text) || *text == '\0')
        return false;
    while (isalnum((unsigned char)*text) || *text == '_')
        text++;
    return *text == '\0';
}

static void build_environment(struct build *build, const struct conf_node *map)
{
    struct experiment *experiment = build->experiment;

    if (map == NULL || map->type != CONF_MAP)
        return;
    experiment->task.environment =
        mem_array(map->count, sizeof(*experiment->task.environment));
    for (size_t i = 0; i < map->count; i++) {
        const struct conf_node *key = map->keys[i];
        struct env_entry *entry =
            &experiment->task.environment[experiment->task.environment_count];

        if (!is_variable(key->text))
            diags_add(build->diags, key->place, NULL,
                      "'%s' is no name for an environment variable", key->text);
        else if (strncmp(key->text, "SMTUNE_", 7) == 0)
            diags_add(build->diags, key->place, NULL,
                      "environment variable '%s' is smtune's own", key->text);
        if (map->items[i]->text == NULL || map->items[i]->type == CONF_NULL)
            continue;
        entry->name = key->text;
        entry->value =
            create_template(build, map->items[i], TEMPLATE_TEXT, key->text);
        experiment->task.environment_count += entry->value != NULL;
    }
}

static void build_channels(struct build *build, const struct conf_node *map)
{
    struct experiment *experiment = build->experiment;

    if (map == NULL || map->type != CONF_MAP)
        return;
    experiment->task.channels =
        mem_array(map->count, sizeof(*experiment->task.channels));
    for (size_t i = 0; i < map->count; i++) {
        const struct conf_node *key = map->keys[i], *item = map->items[i];
        struct channel *channel =
            &experiment->task.channels[experiment->task.channel_count];

        if (!is_variable(key->text))
            diags_add(build->diags, key->place, NULL,
                      "'%s' is no name for a channel: it becomes SM_CHANNEL_*",
                      key->text);
        if (item->type != CONF_TEXT)
            continue;
        channel->name = key->text;
        channel->path = experiment_resolve_path(build->file, item->text);
        experiment->task.channel_count++;
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
            rc = experiment_add_error(build, node, &err);
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
                         "a metric needs a name");
    rule->name = name->text;
    return 0;
}

static void build_metrics(struct build *build, const struct conf_node *metrics)
{
    size_t count = metrics != NULL ? metrics->count : 0;
    struct metric_rule *rules = mem_array(count, sizeof(*rules));
    struct diag_place place = {0, 0, 1};
    struct err err;
    int rc = 0;

    if (metrics != NULL)
        place = metrics->place;
    if (metrics != NULL && count == 0)
        rc = diags_add(build->diags, place,
                       "leave the key out to find every NAME=NUMBER",
                       "'trial.metrics' names no metric");
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
        build->experiment->task.metrics =
            metric_rules_create(rules, count, &err);
        if (build->experiment->task.metrics == NULL)
            diags_add(build->diags, place, NULL, "%s", err.text);
    }
    free(rules);
}

static void build_resources(struct build *build, const struct conf_node *map)
{
    struct resources *resources = &build->experiment->task.resources;

    resources->cpus = (int)experiment_int(map, "cpus", 0);
    resources->gpus = (int)experiment_int(map, "gpus", 0);
    resources->tasks = (int)experiment_int(map, "tasks", 1);
    resources->memory_bytes = experiment_bytes(map, "memory", 0);
    resources->time_ms = experiment_ms(map, "time", 0);
    resources->grace_ms = experiment_ms(map, "grace", 30000);
}

/* ---- what the command makes use of ---- */

static bool is_used(const struct build *build, const char *column)
{
    const struct experiment *experiment = build->experiment;
    size_t index = 0;

    while (index < build->column_count &&
           strcmp(build->columns[index], column) != 0)
        index++;
    if (experiment->task.command != NULL &&
        template_uses(experiment->task.command, index))
        return true;
    for (size_t i = 0; i < experiment->task.environment_count; i++)
        if (template_uses(experiment->task.environment[i].value, index))
            return true;
    return false;
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

/* A column in a template, or a variable in the command's text, or by a program
 * that is known to read all such variables. */
static bool is_read(const struct build *build, const struct conf_node *trial,
                    const char *column, const char *variable)
{
    const struct conf_node *command = conf_get(trial, "command");
    const struct conf_node *shell = conf_get(trial, "shell");

    return is_used(build, column) || is_said(command, variable, false) ||
           is_said(shell, variable, false) ||
           is_said(command, "smtrain", true) || is_said(shell, "smtrain", true);
}

static void find_uses(struct build *build, const struct conf_node *trial)
{
    struct experiment *experiment = build->experiment;
    struct schedule *schedule = &experiment->schedule;

    experiment->task.has_checkpoints = experiment_bool(
        trial, "checkpoints",
        is_read(build, trial, "checkpoint_dir", "SMTUNE_CHECKPOINT_DIR"));
    if (schedule->is_on)
        schedule->is_read =
            is_read(build, trial, schedule->resource, "SMTUNE_RESOURCE");
}

void experiment_build_trial(struct build *build, const struct conf_node *trial)
{
    const struct conf_node *metrics = conf_get(trial, "metrics");

    if (trial == NULL || trial->type != CONF_MAP)
        return;
    build_command(build, trial);
    build_environment(build, conf_get(trial, "env"));
    build_channels(build, conf_get(trial, "channels"));
    if (metrics == NULL || metrics->type == CONF_LIST ||
        metrics->type == CONF_MAP)
        build_metrics(build, metrics);
    find_uses(build, trial);
    build_resources(build, conf_get(trial, "resources"));
    experiment_build_retries(build, conf_get(trial, "retry"));
}
