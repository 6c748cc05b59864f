/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "orchestrator/experiment_impl.h"
#include "strategies/convergence.h"

/* What a file may say, and its writer can hardly have meant. */

struct check {
    const struct experiment *experiment;
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
                  "convergence is not found before %d results, and the budget "
                  "is %" PRId64 " trials",
                  CONVERGENCE_RESULTS_MIN, budget->trials);
}

/* Trials that pause have to know where. */
static void check_command(const struct check *check,
                          const struct scheduler *scheduler)
{
    const struct schedule *schedule = &check->experiment->schedule;
    const char *key = check->experiment->task.is_shell ? "shell" : "command";

    if (scheduler_pauses(scheduler) && !schedule->is_read)
        diags_add(check->warnings, place_of(check, "trial", key),
                  "it must end by itself there, unless it reads "
                  "SMTUNE_RESOURCE on its own",
                  "the %s uses neither ${{ %s }} nor SMTUNE_RESOURCE: it "
                  "cannot know how far to run",
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
                  " is less than one trial's max, %" PRIu64,
                  budget->resource, options->max);
    if (budget->trials == 0 ||
        schedule_plan_init(&round, options, 0, NULL) != 0)
        return;
    if ((uint64_t)budget->trials < round.trials)
        diags_add(check->warnings, place_of(check, "budget", "trials"), NULL,
                  "%" PRId64 " trials are too few for schedule '%s', whose "
                  "brackets take %" PRIu64,
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
              " others have come as far, and the budget is %" PRId64 " trials",
              options->min_trials, budget->trials);
}

void experiment_warn(const struct experiment *experiment,
                     struct diags *warnings)
{
    const struct experiment_file *file =
        (const struct experiment_file *)experiment;
    const struct check check = {
        .experiment = experiment,
        .root = conf_root(file->doc),
        .warnings = warnings,
    };
    struct scheduler *scheduler;

    diags_set_source(warnings, experiment->source, strlen(experiment->source));
    check_criteria(&check);
    if (!experiment->schedule.is_on)
        return;
    scheduler = scheduler_create(&experiment->schedule.options,
                                 experiment->space, NULL);
    if (scheduler != NULL)
        check_command(&check, scheduler);
    scheduler_destroy(scheduler);
    check_size(&check);
    check_median(&check);
}
