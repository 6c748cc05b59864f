/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part `trial` of an experiment. Most of it is built like a workflow's step
 * (orchestrator/spec/experiment/job_spec_build.h). What the command reads
 * decides two defaults: whether trials have checkpoints, and whether a schedule
 * can tell them their resource.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/spec/experiment/experiment_impl.h"
#include "orchestrator/spec/experiment/job_spec_build.h"

static void build_command(struct job_spec_build *t,
                          const struct conf_node *trial)
{
    const struct conf_node *command = conf_get(trial, "command");
    const struct conf_node *shell = conf_get(trial, "shell");
    struct diags *diags = t->build->diags;

    if (command == NULL && shell == NULL)
        diags_add(diags, trial->place, NULL,
                  "missing key: 'trial' requires 'command' or 'shell'");
    if (command != NULL && shell != NULL)
        job_spec_build_interpreter(t, command, shell);
    else if (command != NULL)
        job_spec_build_command(t, command, false);
    else if (shell != NULL)
        job_spec_build_command(t, shell, true);
}

/* ---- what the command makes use of ---- */

static size_t column_index(const struct build *build, const char *name)
{
    size_t index = 0;

    while (index < build->column_count &&
           strcmp(build->columns[index], name) != 0)
        index++;
    return index;
}

static void find_uses(const struct job_spec_build *t,
                      const struct conf_node *trial)
{
    const struct build *build = t->build;
    struct experiment *experiment = build->experiment;
    struct schedule *schedule = &experiment->schedule;

    experiment->task.has_tty = conf_read_bool(trial, "tty", false);
    experiment->task.has_checkpoints = conf_read_bool(
        trial, "checkpoints",
        job_spec_reads(t, trial, column_index(build, "checkpoint_dir"),
                       "SMTUNE_CHECKPOINT_DIR"));
    if (schedule->is_on)
        schedule->is_read =
            job_spec_reads(t, trial, column_index(build, schedule->resource),
                           "SMTUNE_RESOURCE");
}

/* The columns of the parameters, for ${{ args }}. In place of a constant that
 * the schedule's resource hides, the resource. The caller's to free. */
static size_t *list_arguments(const struct build *build)
{
    size_t count = space_count(build->experiment->space);
    size_t *arguments = mem_array(count + 1, sizeof(*arguments));

    for (size_t i = 0; i < count && build->columns != NULL; i++)
        arguments[i] = *build->columns[i] != '\0' ? i : build->column_count - 1;
    return arguments;
}

void experiment_build_trial(struct build *build, const struct conf_node *trial)
{
    size_t *arguments = list_arguments(build);
    struct expr_table table = {
        .columns = build->columns,
        .column_count = build->column_count,
        .arguments = arguments,
        .argument_count = space_count(build->experiment->space),
    };
    struct job_spec_build t = {
        .build = build,
        .task = &build->experiment->task,
        .what = "'trial'",
        .who = "a trial",
        .tables = build->columns != NULL ? &table : NULL,
        .table_count = 1,
    };

    if (trial == NULL || trial->type != CONF_MAP)
        goto out;
    t.place = trial->place;
    build_command(&t, trial);
    job_spec_build_workdir(&t, conf_get(trial, "workdir"));
    job_spec_build_setup(&t, conf_get(trial, "setup"));
    job_spec_build_container(&t, trial, trial);
    job_spec_build_environment(&t, trial);
    job_spec_build_channels(&t, conf_get(trial, "channels"));
    experiment_build_files(&t, conf_get(trial, "files"));
    job_spec_build_metrics(&t, conf_get(trial, "metrics"));
    find_uses(&t, trial);
    job_spec_build_resources(&t, conf_get(trial, "resources"));
    job_spec_settle(&t, conf_get(trial, "resources"),
                    &build->experiment->executor);
    job_spec_build_pools(&t, trial);
    job_spec_build_retries(&t, conf_get(trial, "retry"));
    job_spec_check_retries(&t, conf_get(trial, "retry"));
out:
    free(arguments);
}
