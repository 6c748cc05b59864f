/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/plan/schedule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/show/run/schedule_label.h"
#include "orchestrator/search/dry_run.h"
#include "orchestrator/spec/experiment/experiment.h"

/* NULL where the method has but one. */
static const char *type_name(const struct schedule *schedule)
{
    return schedule_concerns_of(schedule->options.method).type
               ? schedule_type_word(schedule->options.type)
               : NULL;
}

/* What trials would take that all run to their end; 0: too much to count. */
static uint64_t unscheduled(const struct experiment *experiment,
                            const struct schedule_plan *rungs)
{
    uint64_t total;

    return __builtin_mul_overflow(rungs->trials,
                                  experiment->schedule.options.max, &total)
               ? 0
               : total;
}

static void print_rungs(const struct experiment *experiment,
                        const struct dry_run *dry_run,
                        const struct schedule_plan *rungs)
{
    const char *resource = experiment->schedule.resource;
    int width = (int)strlen(resource) < 10 ? 10 : (int)strlen(resource);

    printf("          bracket  rung  %*s      trials\n", width, resource);
    for (size_t i = 0; i < rungs->count; i++) {
        const struct schedule_rung *rung = &rungs->rungs[i];

        if (rung->trials > 0)
            printf("          %7" PRIu64 "  %4" PRIu64 "  %*" PRIu64
                   "  %10" PRIu64 "\n",
                   rung->bracket, rung->rung, width, rung->resource,
                   rung->trials);
    }
    printf("in total  %s %" PRIu64 " %s for %" PRIu64 " trials",
           rungs->is_bound ? "at most" : "about", dry_run_resource(dry_run),
           resource, rungs->trials);
    if (unscheduled(experiment, rungs) > 0)
        printf(", %" PRIu64 " without a schedule",
               unscheduled(experiment, rungs));
    printf("\n");
    if (rungs->total_restarted > dry_run_resource(dry_run))
        printf("          (%" PRIu64 " without checkpoints)\n",
               rungs->total_restarted);
    else if (rungs->total_resource < dry_run_resource(dry_run))
        printf("          (%" PRIu64 " with checkpoints)\n",
               rungs->total_resource);
}

void plan_schedule_print(const struct experiment *experiment,
                         const struct dry_run *dry_run)
{
    const struct schedule *schedule = &experiment->schedule;
    const struct schedule_plan *rungs = dry_run_rungs(dry_run);

    if (!schedule->is_on)
        return;
    printf("schedule  %s", schedule->options.method);
    if (type_name(schedule) != NULL)
        printf(", %s", type_name(schedule));
    if (rungs == NULL)
        printf(", %s without a limit\n", schedule->resource);
    else
        printf(", %" PRIu64 " to %" PRIu64 " %s\n", schedule->options.min,
               schedule->options.max, schedule->resource);
    if (rungs != NULL)
        print_rungs(experiment, dry_run, rungs);
}

json_t *plan_schedule_json(const struct experiment *experiment,
                           const struct dry_run *dry_run)
{
    const struct schedule *schedule = &experiment->schedule;
    const struct schedule_plan *rungs = dry_run_rungs(dry_run);
    json_t *json;

    if (!schedule->is_on)
        return json_null();
    json = json_pack("{s:s, s:o, s:s, s:s, s:b, s:I}", "method",
                     schedule->options.method, "type",
                     json_from_text(type_name(schedule)), "metric",
                     experiment->objectives[schedule->objective].metric,
                     "resource", schedule->resource, "checkpoints",
                     (int)experiment->task.has_checkpoints, "min",
                     (json_int_t)schedule->options.min);
    if (rungs == NULL)
        return json;
    json_object_set_new(json, "max",
                        json_integer((json_int_t)schedule->options.max));
    json_object_set_new(json, "trials",
                        json_integer((json_int_t)rungs->trials));
    json_object_set_new(json, "total",
                        json_integer((json_int_t)dry_run_resource(dry_run)));
    json_object_set_new(json, "is_bound", json_boolean(rungs->is_bound));
    json_object_set_new(json, "total_resumed",
                        json_integer((json_int_t)rungs->total_resource));
    json_object_set_new(json, "total_restarted",
                        json_integer((json_int_t)rungs->total_restarted));
    return json;
}

static json_t *rung_json(const struct schedule_rung *rung)
{
    return json_pack("{s:I, s:I, s:I}", "rung", (json_int_t)rung->rung,
                     "trials", (json_int_t)rung->trials, "resource",
                     (json_int_t)rung->resource);
}

json_t *plan_brackets_json(const struct dry_run *dry_run)
{
    const struct schedule_plan *rungs = dry_run_rungs(dry_run);
    json_t *brackets = json_array();
    json_t *list = NULL;

    for (size_t i = 0; rungs != NULL && i < rungs->count; i++) {
        const struct schedule_rung *rung = &rungs->rungs[i];

        if (rung->rung == 0) {
            list = json_array();
            json_array_append_new(brackets, json_pack("{s:I, s:o}", "bracket",
                                                      (json_int_t)rung->bracket,
                                                      "rungs", list));
        }
        json_array_append_new(list, rung_json(rung));
    }
    return brackets;
}
