/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/engine_impl.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"

/*
 * The ways in which a run comes to its end. Draining: nothing new starts.
 * Ending: what runs is told to end, too. The wish says what becomes of trials
 * that are ended so: over for good when a decision ends the run, to be started
 * again when its user does.
 *
 * And pausing, which is no end: nothing new starts, and all else goes on.
 */

/* Trials that no executor has yet; those that were never in an attempt stay as
 * they are in the record when the user stops the run. */
static void end_list(struct engine *engine, struct trial_list *list)
{
    struct trial *trial;

    while ((trial = TAILQ_FIRST(list)) != NULL) {
        TAILQ_REMOVE(list, trial, link);
        if (engine->wish == WISH_STOP) {
            bool ran = trial->attempt_number > 0;

            if (engine_change_trial(
                    engine, trial, ran ? EVENT_STOPPED : EVENT_CANCELLED, NULL))
                engine_account_ended(engine, trial, false);
        }
        trial_destroy(trial);
    }
}

void engine_end_idle(struct engine *engine)
{
    engine_cache_give_up(engine);
    engine_end_line(engine);
    end_list(engine, &engine->ready);
    end_list(engine, &engine->waiting);
}

static void end_unstarted(struct engine *engine, struct trial_list *list,
                          int64_t *count)
{
    struct trial *trial;

    while ((trial = TAILQ_FIRST(list)) != NULL) {
        TAILQ_REMOVE(list, trial, link);
        (*count)--;
        trial->wish = engine->wish;
        engine_settle_unstarted(engine, trial, NULL);
    }
}

/* What the executor has: those that run, too, or those alone that do not yet.
 */
static void cancel_live(struct engine *engine, enum trial_wish wish,
                        enum cancel_mode mode, bool running_too)
{
    struct trial *trial;

    TAILQ_FOREACH(trial, &engine->live, link)
    {
        if (trial->has_ended || (trial->state == JOB_RUNNING && !running_too))
            continue;
        if (trial->wish != WISH_PAUSE && trial->wish != WISH_GIVE_UP)
            trial->wish = wish;
        LOG(engine->log, LOG_EXECUTOR, LOG_DEBUG, trial->number,
            "cancel attempt=%" PRId64 " mode=%s", trial->attempt_number,
            mode == CANCEL_KILL ? "kill" : "term");
        executor_cancel(trial->executor, trial->attempt, mode);
    }
}

/* Nothing new starts from now on. */
static void drain(struct engine *engine, enum trial_wish wish)
{
    engine->phase = PHASE_DRAINING;
    engine->wish = wish;
    engine_end_idle(engine);
    end_unstarted(engine, &engine->prepared, &engine->prepared_count);
    end_unstarted(engine, &engine->committed, &engine->committed_count);
    cancel_live(engine, wish, CANCEL_TERM, false);
}

void engine_end_all(struct engine *engine, enum cancel_mode mode)
{
    engine->phase = PHASE_ENDING;
    cancel_live(engine, engine->wish, mode, true);
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
    LOG(engine->log, LOG_ENGINE, LOG_INFO, 0, "budget used up: %s",
        engine->result->reason);
    if (verdict == BUDGET_TIME)
        record_time_used_up(engine);
    if (engine->reopened_count > 0) {
        engine->is_beyond_budget = engine->exhausted = true;
        return;
    }
    drain(engine, WISH_STOP);
    engine_end_all(engine, CANCEL_TERM);
}

void engine_finish_hopeless(struct engine *engine)
{
    engine->result->state = RUN_FAILED;
    snprintf(engine->result->reason, sizeof(engine->result->reason),
             "no trial can be started: %s", engine->launch_error);
    LOG(engine->log, LOG_ENGINE, LOG_ERROR, 0, "%s", engine->result->reason);
    drain(engine, WISH_STOP);
    engine_end_all(engine, CANCEL_TERM);
}

void engine_stop_by_signal(struct engine *engine, int signal)
{
    if (engine->wish == WISH_STOP)
        return; /* how the run ends is decided, and in the record */
    LOG(engine->log, LOG_ENGINE, LOG_INFO, 0, "stops by signal %d", signal);
    engine->result->state = RUN_STOPPED;
    engine->result->signal = signal;
    snprintf(engine->result->reason, sizeof(engine->result->reason),
             "stopped by its user");
    if (engine->phase == PHASE_RUNNING)
        drain(engine, WISH_INTERRUPT);
}

/* Without a session nothing runs that could be told to end: the engine does. */
static bool ends_wait(struct engine *engine)
{
    if (engine->phase != PHASE_WAITING)
        return false;
    engine->signals++;
    uv_timer_stop(&engine->again);
    return true;
}

void engine_interrupt(struct engine *engine, int signal)
{
    if (engine->phase == PHASE_CLOSING || ends_wait(engine))
        return;
    engine_stop_by_signal(engine, signal);
    engine->signals++;
    if (engine->signals > 1)
        engine_end_all(engine, engine->signals > 2 ? CANCEL_KILL : CANCEL_TERM);
}

void engine_terminate(struct engine *engine, int signal)
{
    bool again = engine->phase == PHASE_ENDING;

    if (engine->phase == PHASE_CLOSING || ends_wait(engine))
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

/* ---- pausing ---- */

/* What was paused before the session counts in none. */
int64_t engine_paused_ms(const struct engine *engine)
{
    int64_t since_ms = engine->paused_since_ms;

    if (since_ms == 0)
        return engine->paused_ms;
    if (since_ms < engine->started_ms)
        since_ms = engine->started_ms;
    return engine->paused_ms + clock_monotonic_ms() - since_ms;
}

bool engine_is_paused(const struct engine *engine)
{
    return engine->paused_since_ms != 0;
}

/* A jump of the clock until now is not one of the time that begins here. */
static bool record_pause(struct engine *engine, bool is_paused)
{
    struct err err;
    int64_t now_ms;

    LOG(engine->log, LOG_ENGINE, LOG_INFO, 0, "%s",
        is_paused ? "paused" : "resumed");
    if (!engine_begin(engine))
        return false;
    if (engine_note_clock(engine, &now_ms, &err) == 0 &&
        store_set_run_paused(engine->store, engine->run->id, is_paused, now_ms,
                             &err) == 0)
        return true;
    engine_break(engine, &err);
    return false;
}

bool engine_pause(struct engine *engine, bool at_once)
{
    int64_t since_ms = engine->paused_since_ms;

    if (!engine_is_paused(engine)) {
        if (!record_pause(engine, true))
            return false;
        engine->paused_since_ms = clock_monotonic_ms();
    }
    if (!engine_commit_now(engine)) {
        engine->paused_since_ms = since_ms;
        return false;
    }
    cancel_live(engine, WISH_INTERRUPT, CANCEL_TERM, at_once);
    return true;
}

bool engine_resume(struct engine *engine)
{
    if (!record_pause(engine, false) || !engine_commit_now(engine))
        return false;
    engine->paused_ms = engine_paused_ms(engine);
    engine->paused_since_ms = 0;
    engine_submit(engine);
    return true;
}
