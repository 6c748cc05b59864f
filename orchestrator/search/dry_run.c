/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/search/dry_run.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "orchestrator/search/search.h"
#include "orchestrator/wrap/command_line.h"
#include "strategies/schedules/scheduler.h"
#include "strategies/strategy.h"

struct dry_run {
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

static int create_schedule(struct dry_run *dry_run, struct err *err)
{
    const struct schedule *schedule = &dry_run->experiment->schedule;
    uint64_t trials = (uint64_t)dry_run->experiment->budget.trials;

    dry_run->resource = schedule->options.max;
    if (!schedule->is_on)
        return 0;
    dry_run->scheduler =
        scheduler_create(&schedule->options, dry_run->experiment->space, err);
    if (dry_run->scheduler == NULL)
        return -1;
    if (schedule->options.max == SCHEDULE_NO_MAX)
        return 0;
    return schedule_plan_init(&dry_run->rungs, &schedule->options, trials, err);
}

struct dry_run *dry_run_create(const struct experiment *experiment,
                               const struct warm_start *warm, struct err *err)
{
    struct dry_run *dry_run = mem_zero(sizeof(*dry_run));

    dry_run->experiment = experiment;
    dry_run->point =
        mem_array(space_count(experiment->space), sizeof(*dry_run->point));
    dry_run->strategy = search_create(experiment, warm, err);
    if (dry_run->strategy == NULL ||
        space_estimate_volume(experiment->space, &dry_run->volume, err) != 0 ||
        create_schedule(dry_run, err) != 0) {
        dry_run_destroy(dry_run);
        return NULL;
    }
    return dry_run;
}

void dry_run_destroy(struct dry_run *dry_run)
{
    if (dry_run == NULL)
        return;
    strategy_destroy(dry_run->strategy);
    scheduler_destroy(dry_run->scheduler);
    schedule_plan_clear(&dry_run->rungs);
    free(dry_run->point);
    buf_clear(&dry_run->command);
    free(dry_run);
}

const char *dry_run_method(const struct dry_run *dry_run)
{
    return strategy_method(dry_run->strategy);
}

const char *dry_run_reason(const struct dry_run *dry_run)
{
    return strategy_reason(dry_run->strategy);
}

const struct space_volume *dry_run_volume(const struct dry_run *dry_run)
{
    return &dry_run->volume;
}

const struct schedule_plan *dry_run_rungs(const struct dry_run *dry_run)
{
    return dry_run->rungs.count > 0 ? &dry_run->rungs : NULL;
}

uint64_t dry_run_resource(const struct dry_run *dry_run)
{
    return dry_run->experiment->task.has_checkpoints
               ? dry_run->rungs.total_resource
               : dry_run->rungs.total_restarted;
}

/* Folders are named as they would lie in the store. */
static int expand_command(struct dry_run *dry_run, struct err *err)
{
    const struct experiment *experiment = dry_run->experiment;
    char *directory = mem_printf("runs/%s/trials/%" PRId64, experiment->name,
                                 dry_run->number);
    char *checkpoints = mem_printf("%s/ml/checkpoints", directory);
    const struct command_line line = {
        .experiment = experiment,
        .run = experiment->name,
        .trial = dry_run->number,
        .point = dry_run->point,
        .directory = directory,
        .checkpoint_directory = checkpoints,
        .resource = dry_run->resource,
    };
    int result;

    buf_truncate(&dry_run->command, 0);
    result = command_line_print(&line, &dry_run->command, err);
    free(directory);
    free(checkpoints);
    return result;
}

/* A schedule that waits for results gives to the next trial what it gave to the
 * one before. */
static void schedule_next(struct dry_run *dry_run)
{
    struct assignment next;

    if (dry_run->scheduler == NULL)
        return;
    scheduler_next(dry_run->scheduler, false, &next);
    if (next.kind != NEXT_NEW)
        return;
    dry_run->resource = next.resource;
    scheduler_assign(dry_run->scheduler, (uint64_t)dry_run->number, &next);
}

int dry_run_next(struct dry_run *dry_run, struct dry_run_trial *trial,
                 struct err *err)
{
    int64_t budget = dry_run->experiment->budget.trials;

    if (budget > 0 && dry_run->number >= budget)
        return 0;
    switch (strategy_ask(dry_run->strategy, (uint64_t)dry_run->number + 1,
                         dry_run->point, NULL, err)) {
    case ASK_ERROR:
        return -1;
    case ASK_EXHAUSTED:
        return 0;
    case ASK_OK:
        break;
    }
    dry_run->number++;
    schedule_next(dry_run);
    if (expand_command(dry_run, err) != 0)
        return -1;
    *trial = (struct dry_run_trial){.number = dry_run->number,
                                    .point = dry_run->point,
                                    .command = buf_text(&dry_run->command)};
    return 1;
}
