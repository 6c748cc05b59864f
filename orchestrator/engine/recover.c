/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/recover.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/engine/core/metric.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/take_up.h"
#include "orchestrator/engine/settle.h"
#include "orchestrator/job/metric_files.h"
#include "orchestrator/spec/experiment/resources.h"

/*
 * Taking up a run where an earlier engine left it. First what is over is gone
 * through, as it was then (slot `read` of its source); what is not over
 * becomes a job in memory again (take_up.c). An attempt that has no end in the
 * record is asked for at the executor: it may still run, have ended meanwhile,
 * or never have been started.
 */

/* Puts the current attempt of a trial back into the executor's hands. */
static int reattach(struct taking_up *taking_up, struct job *job)
{
    struct engine *engine = taking_up->engine;
    char *directory = workspace_attempt_directory(
        engine->workspaces, job->number, job->attempt_number);
    struct attempt_spec spec = resources_attempt_spec(&job->resources);
    int result = -1;

    spec.attempt = job->attempt;
    spec.directory = directory;
    spec.work_directory = engine->site.work_directory;
    spec.reserve = job->reserve;
    if (job->link_rule != NULL) {
        spec.warn_signal = job->link_rule->signal;
        spec.warn_before_ms = job->link_rule->before_ms;
        spec.link_exits = job->link_rule->exits;
    }
    if (fs_make_shared_directories(directory, taking_up->err) == 0)
        result = executor_reattach(job->executor, &spec, taking_up->err);
    LOG(engine->log, LOG_EXECUTOR, LOG_INFO, job->number,
        "attempt=%" PRId64 " of an earlier engine: %s", job->attempt_number,
        result == 0   ? "adopted"
        : result == 1 ? "never started, its claim is now void"
                      : taking_up->err->text);
    if (job->wish == WISH_CANCEL)
        engine->queues.cancel_count--; /* which has those that are idle */
    if (result == 0) {
        job->is_adopted = true;
        job->metric_files = metric_files_create(directory, job->spec->metrics,
                                                engine->reported, job->from);
        engine_reserve_metrics(engine, job);
        engine_track_live(engine, job);
        if (job->wish != WISH_NONE) {
            job->is_told_to_end = true;
            executor_cancel(job->executor, job->attempt, CANCEL_TERM);
        }
    } else if (result == 1) {
        if (job->wish != WISH_GIVE_UP && job->wish != WISH_CANCEL)
            job->wish = WISH_INTERRUPT;
        engine_settle_unstarted(engine, job, NULL);
        result = 0;
    }
    free(directory);
    return result;
}

/* Trials whose attempt has no end in the record leave the lists first: an
 * attempt that is settled may change those. */
static int take_up_all(struct taking_up *taking_up, struct job_list *open)
{
    struct engine *engine = taking_up->engine;
    struct job_list *const lists[] = {&engine->queues.ready,
                                      &engine->queues.waiting};
    struct job *job, *next;

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        for (job = TAILQ_FIRST(lists[i]); job != NULL; job = next) {
            next = TAILQ_NEXT(job, link);
            if (taking_up_rest(taking_up, job) != 0)
                return -1;
            if (job->attempt == 0)
                continue;
            TAILQ_REMOVE(lists[i], job, link);
            TAILQ_INSERT_TAIL(open, job, link);
        }
    }
    return 0;
}

static int reattach_all(struct taking_up *taking_up, struct job_list *open)
{
    struct job *job;

    while ((job = TAILQ_FIRST(open)) != NULL) {
        TAILQ_REMOVE(open, job, link);
        if (reattach(taking_up, job) != 0) {
            job_destroy(job);
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
    struct job_list open = TAILQ_HEAD_INITIALIZER(open);
    struct job *job;
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
    while ((job = TAILQ_FIRST(&open)) != NULL) {
        TAILQ_REMOVE(&open, job, link);
        job_destroy(job);
    }
    buf_clear(&taking_up.said);
    free(taking_up.point);
    return result;
}
