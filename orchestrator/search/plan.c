/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/search/plan.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "orchestrator/search/search.h"
#include "orchestrator/spec/command_line.h"
#include "strategies/schedules/scheduler.h"
#include "strategies/strategy.h"

struct plan {
    const struct experiment *experiment;
    struct strategy *strategy;
    struct scheduler *scheduler; /* NULL: none */
    struct schedule_plan rungs;
    uint64_t resource; /* that the next trial begins with */
    struct space_volume volume;
    int64_t number; /* of the last trial */
    struct value *point;
    struct buf command;
};

static int create_schedule(struct plan *plan, struct err *err)
{
    const struct schedule *schedule = &plan->experiment->schedule;
    uint64_t trials = (uint64_t)plan->experiment->budget.trials;

    plan->resource = schedule->options.max;
    if (!schedule->is_on)
        return 0;
    plan->scheduler =
        scheduler_create(&schedule->options, plan->experiment->space, err);
    if (plan->scheduler == NULL)
        return -1;
    if (schedule->options.max == SCHEDULE_NO_MAX)
        return 0;
    return schedule_plan_init(&plan->rungs, &schedule->options, trials, err);
}

struct plan *plan_create(const struct experiment *experiment,
                         const struct warm_start *warm, struct err *err)
{
    struct plan *plan = mem_zero(sizeof(*plan));

    plan->experiment = experiment;
    plan->point =
        mem_array(space_count(experiment->space), sizeof(*plan->point));
    plan->strategy = search_create(experiment, warm, err);
    if (plan->strategy == NULL ||
        space_estimate_volume(experiment->space, &plan->volume, err) != 0 ||
        create_schedule(plan, err) != 0) {
        plan_destroy(plan);
        return NULL;
    }
    return plan;
}

void plan_destroy(struct plan *plan)
{
    if (plan == NULL)
        return;
    strategy_destroy(plan->strategy);
    scheduler_destroy(plan->scheduler);
    schedule_plan_clear(&plan->rungs);
    free(plan->point);
    buf_clear(&plan->command);
    free(plan);
}

const char *plan_method(const struct plan *plan)
{
    return strategy_method(plan->strategy);
}

const char *plan_reason(const struct plan *plan)
{
    return strategy_reason(plan->strategy);
}

const struct space_volume *plan_volume(const struct plan *plan)
{
    return &plan->volume;
}

const struct schedule_plan *plan_rungs(const struct plan *plan)
{
    return plan->rungs.count > 0 ? &plan->rungs : NULL;
}

uint64_t plan_resource(const struct plan *plan)
{
    return plan->experiment->task.has_checkpoints ? plan->rungs.total_resource
                                                  : plan->rungs.total_restarted;
}

/* Folders are named as they would lie in the store. */
static int expand_command(struct plan *plan, struct err *err)
{
    const struct experiment *experiment = plan->experiment;
    char *directory =
        mem_printf("runs/%s/trials/%" PRId64, experiment->name, plan->number);
    char *checkpoints = mem_printf("%s/ml/checkpoints", directory);
    const struct command_line line = {
        .experiment = experiment,
        .run = experiment->name,
        .trial = plan->number,
        .point = plan->point,
        .directory = directory,
        .checkpoint_directory = checkpoints,
        .resource = plan->resource,
    };
    int result;

    buf_truncate(&plan->command, 0);
    result = command_line_print(&line, &plan->command, err);
    free(directory);
    free(checkpoints);
    return result;
}

/* A schedule that waits for results gives to the next trial what it gave to the
 * one before. */
static void schedule_next(struct plan *plan)
{
    struct assignment next;

    if (plan->scheduler == NULL)
        return;
    scheduler_next(plan->scheduler, false, &next);
    if (next.kind != NEXT_NEW)
        return;
    plan->resource = next.resource;
    scheduler_assign(plan->scheduler, (uint64_t)plan->number, &next);
}

int plan_next(struct plan *plan, struct plan_trial *trial, struct err *err)
{
    int64_t budget = plan->experiment->budget.trials;

    if (budget > 0 && plan->number >= budget)
        return 0;
    switch (strategy_ask(plan->strategy, (uint64_t)plan->number + 1,
                         plan->point, NULL, err)) {
    case ASK_ERROR:
        return -1;
    case ASK_EXHAUSTED:
        return 0;
    case ASK_OK:
        break;
    }
    plan->number++;
    schedule_next(plan);
    if (expand_command(plan, err) != 0)
        return -1;
    *trial = (struct plan_trial){.number = plan->number,
                                 .point = plan->point,
                                 .command = buf_text(&plan->command)};
    return 1;
}
