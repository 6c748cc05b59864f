/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plan of an experiment for people and programs. Trials come from the same
 * search as a real run, with the same seed. The plan shows the settings with
 * which a run would begin. Results are unknown, so only trials that need none
 * can be shown.
 */
#include "cli/plan/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mask.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "cli/drive/warm_start_view.h"
#include "cli/plan/container.h"
#include "cli/plan/schedule.h"
#include "cli/plan/shown.h"
#include "cli/plan/workflow.h"
#include "cli/show/run/slurm_words.h"
#include "orchestrator/search/dry_run.h"
#include "orchestrator/search/search_space.h"
#include "orchestrator/spec/experiment/experiment.h"
#include "orchestrator/spec/experiment/gpus.h"
#include "orchestrator/spec/experiment/setting_json.h"
#include "orchestrator/spec/spec.h"
#include "store/store.h"

enum { TRIALS_SHOWN = 5 };

/* -- For people -----------------------------------------------------------*/

static void print_space(const struct experiment *experiment,
                        const struct space_volume *volume)
{
    uint64_t points = search_space_settings(experiment);

    printf("space     %zu parameter%s", search_space_count(experiment),
           units_plural((int64_t)search_space_count(experiment)));
    if (volume->exact)
        printf(", %" PRIu64 " settings in total", volume->points);
    else if (points > 0)
        printf(", at most %" PRIu64 " settings", points);
    if (volume->fraction < 1.0)
        printf(", %s%.3g %% feasible", volume->exact ? "" : "about ",
               100.0 * volume->fraction);
    printf("\n");
}

static void print_bounds(const struct outcome_bounds *outcome)
{
    printf("bound     %s", outcome->metric);
    if (isfinite(outcome->min))
        printf(" at least %g", outcome->min);
    if (isfinite(outcome->min) && isfinite(outcome->max))
        printf(" and");
    if (isfinite(outcome->max))
        printf(" at most %g", outcome->max);
    printf("\n");
}

static void print_budget(const struct experiment *experiment)
{
    const struct budget *budget = &experiment->budget;
    char text[32];

    printf("budget    ");
    if (budget->trials > 0)
        printf("%" PRId64 " trial%s", budget->trials,
               units_plural(budget->trials));
    else
        printf("any number of trials");
    if (experiment_parallel(experiment) > 0)
        printf(", %" PRId64 " at a time", experiment_parallel(experiment));
    if (budget->resource > 0)
        printf(", at most %" PRId64 " %.*s", budget->resource,
               units_length(experiment->schedule.resource, budget->resource),
               experiment->schedule.resource);
    if (budget->time_ms > 0) {
        units_format_duration(budget->time_ms, text, sizeof(text));
        printf(", at most %s", text);
    }
    if (budget->has_target)
        printf(", until %s is %g", experiment->objectives[0].metric,
               budget->target);
    if (budget->no_improvement > 0)
        printf(", until %" PRId64 " trials in a row bring no improvement",
               budget->no_improvement);
    if (budget->failures > 0)
        printf(", until %" PRId64 " trial%s failed", budget->failures,
               units_plural(budget->failures));
    if (budget->convergence)
        printf(", until no improvement is expected");
    printf("\n");
}

static void print_resources(const struct experiment *experiment)
{
    const struct resources *resources = &experiment->task.resources;
    struct buf words = BUF_INIT;
    char *gpus = gpus_words(resources);
    char text[32];

    slurm_word_list(&experiment->executor, &resources->slurm, &words);
    printf("trial     %s executor%s", experiment->executor.name,
           buf_text(&words));
    buf_clear(&words);
    if (resources->nodes > 1)
        printf(", %d nodes", resources->nodes);
    if (resources->cpus > 0)
        printf(", %d CPU%s", resources->cpus, resources->cpus == 1 ? "" : "s");
    if (gpus != NULL)
        printf(", %s", gpus);
    free(gpus);
    if (resources->tasks > 1)
        printf(", %d ranks", resources->tasks);
    if (resources->memory_bytes > 0) {
        units_format_bytes(resources->memory_bytes, text, sizeof(text));
        printf(", at most %s of memory", text);
    }
    if (resources->time_ms > 0) {
        units_format_duration(resources->time_ms, text, sizeof(text));
        printf(", at most %s", text);
    }
    printf("\n");
}

static void print_container(const struct experiment *experiment,
                            const struct mask *mask)
{
    const struct job_spec *task = &experiment->task;
    struct buf text = BUF_INIT;

    plan_container_print(task, &experiment->executor, &text);
    if (text.length > 0) {
        fputs("container ", stdout);
        shown_print(mask, buf_text(&text));
        fputs("\n", stdout);
    }
    if (task->conda != NULL)
        printf("conda     %s\n", template_source(task->conda));
    buf_clear(&text);
}

static int print_text(const struct experiment *experiment,
                      const struct warm_start *warm, struct dry_run *dry_run,
                      const struct mask *mask, int64_t shown, struct err *err)
{
    struct dry_run_trial trial;
    int result = 1;

    printf("plan for  %s\n", experiment->name);
    for (size_t i = 0; i < experiment->objective_count; i++)
        printf("goal      %s %s\n",
               experiment->objectives[i].maximize ? "maximize" : "minimize",
               experiment->objectives[i].metric);
    for (size_t i = 0; i < experiment->outcome_count; i++)
        print_bounds(&experiment->outcomes[i]);
    printf("search    %s, seed %" PRIu64 " (%s)\n", dry_run_method(dry_run),
           experiment->search.seed, dry_run_reason(dry_run));
    warm_start_view_print(stdout, "begins    ", experiment, warm);
    print_budget(experiment);
    plan_schedule_print(experiment, dry_run);
    print_space(experiment, dry_run_volume(dry_run));
    print_resources(experiment);
    print_container(experiment, mask);
    printf("first trials\n");
    for (int64_t i = 0; i < shown && result == 1; i++) {
        result = dry_run_next(dry_run, &trial, err);
        if (result == 1) {
            printf("%6" PRId64 "  ", trial.number);
            shown_print(mask, trial.command);
            fputs("\n", stdout);
        }
    }
    return result < 0 ? -1 : 0;
}

/* -- For programs ---------------------------------------------------------*/

static json_t *trial_json(const struct space *space,
                          const struct dry_run_trial *trial,
                          const struct mask *mask)
{
    char *command = mask_show(mask, trial->command);
    json_t *json = json_pack("{s:I, s:o, s:o}", "id", (json_int_t)trial->number,
                             "params", setting_json(space, trial->point),
                             "command", json_from_text(command));

    free(command);
    return json;
}

static int print_json(const struct experiment *experiment,
                      const struct warm_start *warm, struct dry_run *dry_run,
                      const struct mask *mask, int64_t shown, struct err *err)
{
    json_t *container =
        plan_container_json(&experiment->task, &experiment->executor);
    const struct space_volume *volume = dry_run_volume(dry_run);
    json_t *first = json_array();
    struct buf text = BUF_INIT;
    struct dry_run_trial trial;
    int result = 1;
    json_t *json;

    for (int64_t i = 0; i < shown && result == 1; i++) {
        result = dry_run_next(dry_run, &trial, err);
        if (result == 1)
            json_array_append_new(first,
                                  trial_json(experiment->space, &trial, mask));
    }
    shown_json(mask, container);
    json = json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:{s:s, s:s, s:I}, s:o, s:o, s:o, "
        "s:{s:f, s:b}, s:o, s:o, s:o}",
        "name", experiment->name, "executor", experiment->executor.name,
        "slurm",
        slurm_words_json(&experiment->executor,
                         &experiment->task.resources.slurm),
        "trials", json_int_unless(experiment->budget.trials, 0), "parallel",
        json_int_unless(experiment_parallel(experiment), 0), "search", "method",
        dry_run_method(dry_run), "reason", dry_run_reason(dry_run), "seed",
        (json_int_t)experiment->search.seed, "warm_start",
        warm_start_view_json(experiment, warm), "schedule",
        plan_schedule_json(experiment, dry_run), "brackets",
        plan_brackets_json(dry_run), "volume", "fraction", volume->fraction,
        "exact", (int)volume->exact, "first", first, "container", container,
        "conda", plan_conda_json(&experiment->task));
    json_show_pretty(json, &text);
    fputs(buf_text(&text), stdout);
    json_decref(json);
    buf_clear(&text);
    return result < 0 ? -1 : 0;
}

static int print_experiment(const struct cli *cli,
                            const struct experiment *experiment, int64_t shown,
                            struct err *err)
{
    struct mask *mask = shown_mask(cli, experiment, NULL);
    struct warm_start *warm;
    struct dry_run *dry_run = NULL;
    int result = -1;

    if (warm_start_view_read(cli, experiment, &warm, err) == 0)
        dry_run = dry_run_create(experiment, warm, err);
    if (dry_run != NULL)
        result = cli->output == OUTPUT_TABLE
                     ? print_text(experiment, warm, dry_run, mask, shown, err)
                     : print_json(experiment, warm, dry_run, mask, shown, err);
    dry_run_destroy(dry_run);
    warm_start_destroy(warm);
    mask_destroy(mask);
    return result;
}

int plan_print(const struct cli *cli, const struct spec *spec,
               const struct plan_order *order, struct err *err)
{
    if (spec->workflow != NULL)
        return plan_workflow_print(cli, spec->workflow, order, err);
    return print_experiment(cli, spec->experiment,
                            order->shown > 0 ? order->shown : TRIALS_SHOWN,
                            err);
}
