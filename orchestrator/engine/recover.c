/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/recover.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/take_up.h"
#include "orchestrator/engine/settle.h"
#include "orchestrator/job/watch.h"

/*
 * Taking up a run where an earlier engine left it. First what is over is gone
 * through, as it was then (slot `read` of its source); what is not over
 * becomes a job in memory again (take_up.c). An attempt that has no end in the
 * record is asked for at the executor: it may still run, have ended meanwhile,
 * or never have been started.
 */

/* Puts the current attempt of a trial back into the executor's hands. */
static int reattach(struct taking_up *taking_up, struct trial *trial)
{
    struct engine *engine = taking_up->engine;
    char *directory = workspace_attempt_directory(
        engine->workspaces, trial->number, trial->attempt_number);
    struct attempt_spec spec = {
        .attempt = trial->attempt,
        .directory = directory,
        .work_directory = engine->site.work_directory,
        .cpus = trial->resources.cpus,
        .gpus = trial->resources.gpus,
        .nodes = trial->resources.nodes,
        .tasks = trial->resources.tasks,
        .slurm = &trial->resources.slurm,
        .memory_bytes = trial->resources.memory_bytes,
        .time_ms = trial->resources.time_ms,
        .grace_ms = trial->resources.grace_ms,
        .reserve = trial->reserve,
    };
    int result = -1;

    if (trial->link_rule != NULL) {
        spec.warn_signal = trial->link_rule->signal;
        spec.warn_before_ms = trial->link_rule->before_ms;
    }
    if (fs_make_directories(directory, taking_up->err) == 0)
        result = executor_reattach(trial->executor, &spec, taking_up->err);
    LOG(engine->log, LOG_EXECUTOR, LOG_INFO, trial->number,
        "attempt=%" PRId64 " of an earlier engine: %s", trial->attempt_number,
        result == 0   ? "taken up"
        : result == 1 ? "never started, its claim is void now"
                      : taking_up->err->text);
    if (result == 0) {
        trial->is_adopted = true;
        trial->watch = watch_create(directory, trial->task->metrics,
                                    engine->reported, trial->from);
        engine_track_live(engine, trial);
        if (trial->wish != WISH_NONE)
            executor_cancel(trial->executor, trial->attempt, CANCEL_TERM);
    } else if (result == 1) {
        if (trial->wish != WISH_GIVE_UP)
            trial->wish = WISH_INTERRUPT;
        engine_settle_unstarted(engine, trial, NULL);
        result = 0;
    }
    free(directory);
    return result;
}

/* Trials whose attempt has no end in the record leave the lists first: an
 * attempt that is settled may change those. */
static int take_up_all(struct taking_up *taking_up, struct trial_list *open)
{
    struct engine *engine = taking_up->engine;
    struct trial_list *const lists[] = {&engine->queues.ready,
                                        &engine->queues.waiting};
    struct trial *trial, *next;

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        for (trial = TAILQ_FIRST(lists[i]); trial != NULL; trial = next) {
            next = TAILQ_NEXT(trial, link);
            if (taking_up_rest(taking_up, trial) != 0)
                return -1;
            if (trial->attempt == 0)
                continue;
            TAILQ_REMOVE(lists[i], trial, link);
            TAILQ_INSERT_TAIL(open, trial, link);
        }
    }
    return 0;
}

static int reattach_all(struct taking_up *taking_up, struct trial_list *open)
{
    struct trial *trial;

    while ((trial = TAILQ_FIRST(open)) != NULL) {
        TAILQ_REMOVE(open, trial, link);
        if (reattach(taking_up, trial) != 0) {
            trial_destroy(trial);
            return -1;
        }
    }
    return 0;
}

int engine_recover(struct engine *engine, struct err *err)
{
    struct taking_up taking_up = {
        .engine = engine,
        .err = err,
        .point = mem_array(space_count(engine->experiment->space),
                           sizeof(*taking_up.point)),
    };
    struct trial_list open = TAILQ_HEAD_INITIALIZER(open);
    struct trial *trial;
    int result;

    result = store_sum_resource(engine->store, engine->run->id,
                                &engine->tally.resource_used, err);
    if (result == 0)
        result = engine->source->read(&taking_up);
    if (result == 0)
        result = take_up_all(&taking_up, &open);
    if (result == 0)
        result = reattach_all(&taking_up, &open);
    if (result == 0)
        engine->source->taken_up(engine);
    if (result == 0)
        result = store_earlier_engines_ms(engine->store, engine->run->id,
                                          &engine->clocks.earlier_ms, err);
    LOG(engine->log, LOG_ENGINE, LOG_INFO, 0,
        "record read: suggested=%" PRId64 " ended=%" PRId64
        " elapsed_ms=%" PRId64,
        engine->tally.suggested, tally_ended(&engine->tally),
        engine->clocks.earlier_ms);
    while ((trial = TAILQ_FIRST(&open)) != NULL) {
        TAILQ_REMOVE(&open, trial, link);
        trial_destroy(trial);
    }
    buf_clear(&taking_up.said);
    free(taking_up.point);
    return result;
}
