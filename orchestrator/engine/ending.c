/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/ending.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "orchestrator/engine/core/source.h"
#include "orchestrator/engine/core/tally.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/settle.h"

/*
 * Draining: nothing new starts. Ending: what runs is ended, too. The wish says
 * what becomes of jobs that are ended so: over for good when a decision ends
 * the run, to be started again when its user does.
 */

/* Trials that no executor has yet; those that were never in an attempt stay as
 * they are in the record when the user stops the run. */
static void end_list(struct engine *engine, struct job_list *list)
{
    struct job *job;

    while ((job = TAILQ_FIRST(list)) != NULL) {
        TAILQ_REMOVE(list, job, link);
        if (engine->wind_up.wish == WISH_STOP) {
            bool ran = job->attempt_number > 0;

            if (engine_change_trial(
                    engine, job, ran ? EVENT_STOPPED : EVENT_CANCELLED, NULL))
                engine_tally_ended(engine, job, false);
        }
        job_destroy(job);
    }
}

void engine_end_idle(struct engine *engine)
{
    engine->source->recall(engine);
    end_list(engine, &engine->queues.ready);
    end_list(engine, &engine->queues.waiting);
}

static void end_unstarted(struct engine *engine, struct job_list *list,
                          int64_t *count)
{
    struct job *job;

    while ((job = TAILQ_FIRST(list)) != NULL) {
        TAILQ_REMOVE(list, job, link);
        (*count)--;
        if (job->wish != WISH_CANCEL)
            job->wish = engine->wind_up.wish;
        engine_settle_unstarted(engine, job, NULL);
    }
}

/* What the executor has: those that run, too, or those alone that do not yet.
 */
void engine_cancel_live(struct engine *engine, enum job_wish wish,
                        enum cancel_mode mode, bool running_too)
{
    struct job *job;

    TAILQ_FOREACH(job, &engine->queues.live, link)
    {
        if (job->has_ended || (job->state == JOB_RUNNING && !running_too))
            continue;
        if (job->wish != WISH_PAUSE && job->wish != WISH_GIVE_UP &&
            job->wish != WISH_CANCEL)
            job->wish = wish;
        LOG(engine->log, LOG_EXECUTOR, LOG_DEBUG, job->number,
            "cancel attempt=%" PRId64 " mode=%s", job->attempt_number,
            mode == CANCEL_KILL ? "kill" : "term");
        job->is_told_to_end = true;
        executor_cancel(job->executor, job->attempt, mode);
    }
}

void engine_cancel_given_up(struct engine *engine)
{
    struct job *job;

    if (engine->queues.given_up_count == 0)
        return;
    engine->queues.given_up_count = 0;
    TAILQ_FOREACH(job, &engine->queues.live, link)
    {
        if ((job->wish != WISH_GIVE_UP && job->wish != WISH_CANCEL) ||
            job->has_ended || job->is_told_to_end)
            continue;
        job->is_told_to_end = true;
        executor_cancel(job->executor, job->attempt, CANCEL_TERM);
    }
}

/* Nothing new starts from now on. */
static void drain(struct engine *engine, enum job_wish wish)
{
    engine->wind_up.phase = PHASE_DRAINING;
    engine->wind_up.wish = wish;
    engine_end_idle(engine);
    end_unstarted(engine, &engine->queues.prepared,
                  &engine->queues.prepared_count);
    end_unstarted(engine, &engine->queues.committed,
                  &engine->queues.committed_count);
    engine_cancel_live(engine, wish, CANCEL_TERM, false);
}

void engine_end_all(struct engine *engine, enum cancel_mode mode)
{
    engine->wind_up.phase = PHASE_ENDING;
    engine_cancel_live(engine, engine->wind_up.wish, mode, true);
}

/* An engine that takes up what this one ends now counts a few milliseconds
 * less, and would take what is ended for all that there was to do. */
static void record_time_used_up(struct engine *engine)
{
    struct err err;

    if (engine_begin(engine) &&
        store_add_time_used_up(engine->store, engine->run->id,
                               engine->experiment->budget.time_ms,
                               clock_wall_ms(), &err) != 0)
        engine_break(engine, &err);
}

void engine_use_up_budget(struct engine *engine, enum budget_verdict verdict)
{
    engine->result->verdict = verdict;
    snprintf(engine->result->reason, sizeof(engine->result->reason), "%s",
             budget_verdict_text(verdict));
    LOG(engine->log, LOG_ENGINE, LOG_INFO, 0, "stopping: %s",
        engine->result->reason);
    if (verdict == BUDGET_TIME)
        record_time_used_up(engine);
    if (engine->queues.reopened_count > 0) {
        engine->wind_up.is_beyond_budget = engine->wind_up.is_exhausted = true;
        return;
    }
    drain(engine, WISH_STOP);
    engine_end_all(engine, CANCEL_TERM);
}

void engine_finish_hopeless(struct engine *engine)
{
    engine->result->state = RUN_FAILED;
    snprintf(engine->result->reason, sizeof(engine->result->reason),
             "no trial can be started: %s", engine->wind_up.launch_error);
    LOG(engine->log, LOG_ENGINE, LOG_ERROR, 0, "%s", engine->result->reason);
    drain(engine, WISH_STOP);
    engine_end_all(engine, CANCEL_TERM);
}

void engine_stop_by_signal(struct engine *engine, int signal)
{
    if (engine->wind_up.wish == WISH_STOP)
        return; /* how the run ends is decided, and in the record */
    LOG(engine->log, LOG_ENGINE, LOG_INFO, 0, "stopping after signal %d",
        signal);
    engine->result->state = RUN_STOPPED;
    engine->result->signal = signal;
    snprintf(engine->result->reason, sizeof(engine->result->reason),
             "stopped by its user");
    if (engine->wind_up.phase == PHASE_RUNNING)
        drain(engine, WISH_INTERRUPT);
}

/* Without a session nothing runs that could be told to end: the engine does. */
static bool ends_wait(struct engine *engine)
{
    if (engine->wind_up.phase != PHASE_WAITING)
        return false;
    engine->signals++;
    uv_timer_stop(&engine->again);
    return true;
}

void engine_interrupt(struct engine *engine, int signal)
{
    if (engine->wind_up.phase == PHASE_CLOSING || ends_wait(engine))
        return;
    engine_stop_by_signal(engine, signal);
    engine->signals++;
    if (engine->signals > 1)
        engine_end_all(engine, engine->signals > 2 ? CANCEL_KILL : CANCEL_TERM);
}

void engine_terminate(struct engine *engine, int signal)
{
    bool again = engine->wind_up.phase == PHASE_ENDING;

    if (engine->wind_up.phase == PHASE_CLOSING || ends_wait(engine))
        return;
    engine_stop_by_signal(engine, signal);
    engine->signals += 2;
    engine_end_all(engine, again ? CANCEL_KILL : CANCEL_TERM);
}

void engine_on_interrupt(uv_signal_t *handle, int signal)
{
    engine_interrupt(handle->data, signal);
}

void engine_on_terminate(uv_signal_t *handle, int signal)
{
    engine_terminate(handle->data, signal);
}
