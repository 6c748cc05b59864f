/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "orchestrator/experiment_impl.h"
#include "orchestrator/task_build.h"

static void build_command(struct task_build *t, const struct conf_node *trial)
{
    const struct conf_node *command = conf_get(trial, "command");
    const struct conf_node *shell = conf_get(trial, "shell");
    struct diags *diags = t->build->diags;

    if (command == NULL && shell == NULL)
        diags_add(diags, trial->place, NULL,
                  "'trial' needs 'command' or 'shell'");
    if (command != NULL && shell != NULL)
        diags_add(diags, conf_get_key(trial, "shell")->place, NULL,
                  "'trial' has both 'command' and 'shell'; it needs one");
    if (command != NULL)
        task_build_command(t, command, false);
    else if (shell != NULL)
        task_build_command(t, shell, true);
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
    struct expr_table table = {NULL, build->columns, build->column_count};
    struct task_build t = {
        .build = build,
        .task = &build->experiment->task,
        .what = "'trial'",
        .who = "a trial",
        .tables = build->columns != NULL ? &table : NULL,
        .table_count = 1,
    };

    if (trial == NULL || trial->type != CONF_MAP)
        return;
    build_command(&t, trial);
    task_build_environment(&t, conf_get(trial, "env"));
    task_build_channels(&t, conf_get(trial, "channels"));
    task_build_metrics(&t, conf_get(trial, "metrics"));
    find_uses(build, trial);
    task_build_resources(&t, conf_get(trial, "resources"));
    task_build_retries(&t, conf_get(trial, "retry"));
    task_check_retries(&t, conf_get(trial, "retry"));
    task_check_slots(&t, conf_get(trial, "resources"),
                     &build->experiment->executor);
}
