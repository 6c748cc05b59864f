/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/spec/command/script_text.h"
#include "orchestrator/spec/command/warn.h"
#include "orchestrator/spec/experiment/container_warn.h"
#include "orchestrator/spec/experiment/experiment_impl.h"
#include "orchestrator/spec/experiment/goal_warn.h"
#include "orchestrator/spec/experiment/gpus.h"
#include "orchestrator/spec/experiment/job_spec_build.h"
#include "orchestrator/spec/experiment/secret_warn.h"
#include "strategies/gp/convergence.h"

/* What a file may say, and its writer can hardly have meant. */

struct check {
    const struct experiment *experiment;
    const struct conf_doc *doc;
    const struct conf_node *root;
    struct diags *warnings;
};

/* The place of a key of one of the root's maps; else of the map, or the file
 * as a whole. */
static struct diag_place place_of(const struct check *check, const char *map,
                                  const char *key)
{
    const struct conf_node *outer = conf_get(check->root, map);
    const struct conf_node *inner = conf_get_key(outer, key);

    if (inner != NULL)
        return inner->place;
    return outer != NULL ? outer->place : (struct diag_place){0, 0, 1};
}

static bool is_given(const struct check *check, const char *map,
                     const char *key)
{
    return conf_get(conf_get(check->root, map), key) != NULL;
}

/* The goal is the default where the file has only a name. */
static void check_goal(const struct check *check, const struct conf_node *node)
{
    const struct conf_node *metric =
        node->type == CONF_MAP ? conf_get(node, "metric") : node;
    const struct conf_node *goal = conf_get(node, "goal");
    bool maximize = strcmp(conf_read_text(node, "goal", ""), "maximize") == 0;
    char *help;

    if (!goal_is_unlikely(metric->text, maximize))
        return;
    help = mem_printf("write {metric: %s, goal: %s}", metric->text,
                      maximize ? "minimize" : "maximize");
    diags_add(check->warnings, (goal != NULL ? goal : node)->place, help,
              "'%s' is %s, and its name makes that unlikely", metric->text,
              maximize ? "maximized" : "minimized");
    free(help);
}

static void check_goals(const struct check *check)
{
    const struct conf_node *node = conf_get(check->root, "objective");

    if (node->type != CONF_LIST)
        check_goal(check, node);
    for (size_t i = 0; node->type == CONF_LIST && i < node->count; i++)
        check_goal(check, node->items[i]);
}

static void check_criteria(const struct check *check)
{
    const struct budget *budget = &check->experiment->budget;

    if (is_given(check, "budget", "improvement") &&
        budget->no_improvement == 0 && !budget->convergence)
        diags_add(check->warnings, place_of(check, "budget", "improvement"),
                  "it is for 'no_improvement' and 'convergence'",
                  "'budget.improvement' has no effect");
    if (budget->convergence && budget->trials > 0 &&
        budget->trials < CONVERGENCE_RESULTS_MIN)
        diags_add(check->warnings, place_of(check, "budget", "convergence"),
                  NULL,
                  "convergence needs %d results, and the budget is %" PRId64
                  " trials",
                  CONVERGENCE_RESULTS_MIN, budget->trials);
}

/* Whether a text in the node names where a program finds all parameters. */
static bool reads_settings(const struct conf_node *node)
{
    if (node->text != NULL)
        return strstr(node->text, "SMTUNE_PARAMS") != NULL ||
               strstr(node->text, "SM_HP") != NULL;
    for (size_t i = 0; i < node->count; i++)
        if (reads_settings(node->items[i]))
            return true;
    return false;
}

/* Whether the script of a command reads them, also through the Python
 * package. */
static bool script_reads_settings(const struct conf_node *command)
{
    static const char *const texts[] = {
        "SMTUNE_PARAMS", "SM_HP", "smtune.params", "from smtune import", NULL};

    return command_script_has(command, texts);
}

static bool script_reads_resource(const struct conf_node *command)
{
    static const char *const texts[] = {"SMTUNE_RESOURCE", "smtune.resource",
                                        "from smtune import", NULL};

    return command_script_has(command, texts);
}

/* Whether a parameter is for a program to read, and it cannot: one that a
 * condition reads may be there for that alone. */
static bool is_unread(const struct experiment *experiment, size_t index)
{
    const char *name = space_param(experiment->space, index)->name;

    for (size_t i = 0; i < space_count(experiment->space); i++) {
        const char *when = space_when(experiment->space, i);

        if (when != NULL && strstr(when, name) != NULL)
            return false;
    }
    return !job_spec_uses(&experiment->task, index);
}

static void check_unread(const struct check *check, const char *key)
{
    const struct experiment *experiment = check->experiment;
    size_t varied = 0, unread = 0;

    for (size_t i = 0; i < space_count(experiment->space); i++) {
        const struct param *param = space_param(experiment->space, i);
        bool varies = param->kind != PARAM_CONST;

        varied += varies;
        unread += varies && is_unread(experiment, i);
    }
    if (unread == varied && varied > 0) {
        diags_add(check->warnings, place_of(check, "trial", key),
                  "write ${{ args }} for --NAME VALUE of all of them, or "
                  "${{ NAME }} for one value, unless the program reads "
                  "SMTUNE_PARAMS or SM_HPS",
                  "the %s uses none of the parameters", key);
        return;
    }
    for (size_t i = 0; i < space_count(experiment->space) && unread > 0; i++) {
        const struct param *param = space_param(experiment->space, i);

        if (param->kind != PARAM_CONST && is_unread(experiment, i))
            diags_add(check->warnings,
                      place_of(check, "parameters", param->name),
                      "the program must read it from SMTUNE_PARAMS",
                      "the %s does not use parameter '%s'", key, param->name);
    }
}

/* Whether what the file varies gets to the program. */
static void check_command(const struct check *check)
{
    const struct experiment *experiment = check->experiment;
    const struct conf_node *trial = conf_get(check->root, "trial");
    const char *key = experiment->task.is_shell ? "shell" : "command";
    size_t count = space_count(experiment->space);
    size_t before = diags_count(check->warnings);
    const char **names;

    if (conf_get(trial, key) == NULL)
        return;
    names = mem_array(count, sizeof(*names));
    for (size_t i = 0; i < count; i++)
        names[i] = space_param(experiment->space, i)->name;
    command_warn(&(struct command_text){.doc = check->doc,
                                        .path = experiment->path,
                                        .node = conf_get(trial, key),
                                        .environment = conf_get(trial, "env"),
                                        .workdir = conf_get(trial, "workdir"),
                                        .channels = conf_get(trial, "channels"),
                                        .files = conf_get(trial, "files"),
                                        .is_shell = experiment->task.is_shell,
                                        .names = names,
                                        .name_count = count},
                 check->warnings);
    free(names);
    if (diags_count(check->warnings) == before && !reads_settings(trial) &&
        !script_reads_settings(conf_get(trial, key)))
        check_unread(check, key);
}

/* Trials that pause have to know where. */
static void check_resource(const struct check *check,
                           const struct scheduler *scheduler)
{
    const struct schedule *schedule = &check->experiment->schedule;
    const char *key = check->experiment->task.is_shell ? "shell" : "command";

    if (scheduler_pauses(scheduler) && !schedule->is_read &&
        !script_reads_resource(conf_get(conf_get(check->root, "trial"), key)))
        diags_add(check->warnings, place_of(check, "trial", key),
                  "the program must stop there by itself, unless it reads "
                  "SMTUNE_RESOURCE",
                  "the %s uses neither ${{ %s }} nor SMTUNE_RESOURCE, so it "
                  "cannot read its resource",
                  key, schedule->resource);
}

/* Whether some trial is to reach the max, and each bracket to be filled. */
static void check_size(const struct check *check)
{
    const struct budget *budget = &check->experiment->budget;
    const struct schedule_options *options =
        &check->experiment->schedule.options;
    struct schedule_plan round;

    if (options->max == SCHEDULE_NO_MAX)
        return;
    if (budget->resource > 0 && (uint64_t)budget->resource < options->max)
        diags_add(check->warnings, place_of(check, "budget", "resource"), NULL,
                  "'budget.resource' %" PRId64
                  " is less than the max of one trial, %" PRIu64,
                  budget->resource, options->max);
    if (budget->trials == 0 ||
        schedule_plan_init(&round, options, 0, NULL) != 0)
        return;
    if ((uint64_t)budget->trials < round.trials)
        diags_add(
            check->warnings, place_of(check, "budget", "trials"), NULL,
            "%" PRId64
            " trials are too few for schedule '%s': its brackets need %" PRIu64,
            budget->trials, options->method, round.trials);
    schedule_plan_clear(&round);
}

static void check_median(const struct check *check)
{
    const struct budget *budget = &check->experiment->budget;
    const struct schedule_options *options =
        &check->experiment->schedule.options;

    if (strcmp(options->method, "median") != 0 || budget->trials == 0 ||
        options->min_trials < (uint64_t)budget->trials)
        return;
    diags_add(check->warnings, place_of(check, "schedule", "min_trials"), NULL,
              "no trial is stopped before %" PRIu64
              " others have reached the same step, and the budget is %" PRId64
              " trials",
              options->min_trials, budget->trials);
}

void experiment_warn(const struct experiment *experiment,
                     struct diags *warnings)
{
    const struct experiment_file *file =
        (const struct experiment_file *)experiment;
    const struct check check = {
        .experiment = experiment,
        .doc = file->doc,
        .root = conf_root(file->doc),
        .warnings = warnings,
    };
    struct machine_gpus machine = {.was_asked = false};
    struct scheduler *scheduler;

    diags_set_source(warnings, experiment->source, strlen(experiment->source));
    check_goals(&check);
    check_criteria(&check);
    check_command(&check);
    secret_warn(check.root, warnings);
    env_file_warn(&experiment->task, warnings);
    container_warn(&experiment->task,
                   conf_get(conf_get(check.root, "trial"), "container"),
                   &experiment->executor, false, warnings);
    gpus_warn(&experiment->task,
              conf_get(conf_get(check.root, "trial"), "resources"),
              &experiment->executor, &machine, warnings);
    experiment_warn_space(experiment, check.doc, warnings);
    if (!experiment->schedule.is_on)
        return;
    scheduler = scheduler_create(&experiment->schedule.options,
                                 experiment->space, NULL);
    if (scheduler != NULL)
        check_resource(&check, scheduler);
    scheduler_destroy(scheduler);
    check_size(&check);
    check_median(&check);
}
