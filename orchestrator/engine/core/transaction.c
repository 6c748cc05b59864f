/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/core/transaction.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "orchestrator/engine/core/log.h"
#include "orchestrator/spec/experiment/outcome.h"

/*
 * One transaction holds all that a turn of the loop brings. A change of a job's
 * state is looked up in the table of states, written, and then made in memory;
 * whoever acts on it waits for the commit.
 */

/* Smaller steps are those of a clock that is being adjusted. */
enum { CLOCK_JUMP_MS = 500 };

void engine_break(struct engine *engine, const struct err *err)
{
    if (engine->transaction.is_broken)
        return;
    LOG(engine->log, LOG_ENGINE, LOG_ERROR, 0, "cannot continue: %s",
        err->text);
    engine->transaction.broken = *err;
    engine->transaction.is_broken = true;
}

bool engine_begin(struct engine *engine)
{
    struct err err;

    if (engine->transaction.is_broken)
        return false;
    if (store_in_transaction(engine->store))
        return true;
    if (store_begin(engine->store, &err) != 0) {
        engine_break(engine, &err);
        return false;
    }
    engine->transaction.begun_ms = clock_monotonic_ms();
    return true;
}

int engine_note_clock(struct engine *engine, int64_t *now_ms, struct err *err)
{
    int64_t wall_ms = clock_wall_ms();
    int64_t gap_ms = wall_ms - clock_monotonic_ms();
    int64_t by_ms = gap_ms - engine->transaction.clock_gap_ms;

    *now_ms = wall_ms;
    if (llabs(by_ms) < CLOCK_JUMP_MS)
        return 0;
    engine->transaction.clock_gap_ms = gap_ms;
    return store_add_clock_jump(engine->store, engine->run->id, by_ms, wall_ms,
                                err);
}

bool engine_commit(struct engine *engine)
{
    struct err err;
    int64_t now_ms;

    if (engine->transaction.is_broken)
        return false;
    if (!store_in_transaction(engine->store))
        return true;
    if (engine_note_clock(engine, &now_ms, &err) != 0 ||
        store_commit(engine->store, &err) != 0) {
        engine_break(engine, &err);
        return false;
    }
    engine->transaction.begun_ms = 0;
    return true;
}

bool engine_end_attempt(struct engine *engine, const struct attempt_end *end)
{
    struct err err;

    if (!engine_begin(engine))
        return false;
    if (store_end_attempt(engine->store, end, &err) != 0) {
        engine_break(engine, &err);
        return false;
    }
    engine->tally.resource_used += end->resource_used;
    return true;
}

/* What the executor saw counts; the moment of the event is the next best. */
static void set_times(const struct job *job, enum job_event event,
                      struct job_change *change)
{
    const struct attempt_exit *end = &job->end;

    change->started_ms = event == EVENT_STARTED ? change->time_ms : 0;
    change->ended_ms = change->time_ms;
    if (job->has_ended && end->started_ms > 0) {
        change->started_ms = end->started_ms;
        change->ended_ms = end->ended_ms;
    }
    if (event == EVENT_RETRY)
        change->due_ms = change->time_ms + job->wait_ms;
}

/* What cannot happen ends the run. */
static bool find_next(struct engine *engine, const struct job *job,
                      enum job_event event, enum job_state *next)
{
    struct err err;

    if (job_next(job->state, event, next))
        return true;
    err_set(&err, ERR_FAILED,
            "trial %" PRId64 ": '%s' is not possible while it is %s",
            job->number, job_event_names[event], job_state_names[job->state]);
    engine_break(engine, &err);
    return false;
}

/* What a trial that is over came to. The values are the caller's to free. */
static double *set_results(const struct job *job,
                           const struct experiment *experiment,
                           struct job_change *change)
{
    double *values;

    if (change->ended_ms <= 0 || !job_has_objectives(job, experiment))
        return NULL;
    values = job_objectives(job, experiment);
    change->values = values;
    change->value_count = experiment->objective_count;
    change->outcomes = job->outcomes;
    change->outcome_count = experiment->outcome_count;
    change->violation = outcome_violation(
        experiment->outcomes, experiment->outcome_count, job->outcomes);
    return values;
}

static bool record(struct engine *engine, const struct job_change *change)
{
    struct err err;

    if (!engine_begin(engine))
        return false;
    if (store_change_job(engine->store, change, &err) == 0)
        return true;
    engine_break(engine, &err);
    return false;
}

bool engine_change_trial(struct engine *engine, struct job *job,
                         enum job_event event, const char *cause)
{
    bool has_verdict = (event == EVENT_STOPPED || job->attempt_number == 0) &&
                       job->end.text[0] != '\0';
    struct job_change change = {
        .run = engine->run->id,
        .job = job->id,
        .cause = cause,
        .event = job_event_names[event],
        .time_ms = clock_wall_ms(),
        .verdict = has_verdict ? job->end.text : NULL,
        .cache_key = job->cache_key,
        .cached_from = job->cached_from,
    };
    struct buf outputs = BUF_INIT;
    enum job_state next;
    double *values;
    bool changed;

    if (!find_next(engine, job, event, &next))
        return false;
    change.state = job_state_names[next];
    set_times(job, event, &change);
    if (job_is_final(next))
        change.told = engine->transaction.told_count + 1;
    else
        change.ended_ms = 0;
    values = set_results(job, engine->experiment, &change);
    if (next == JOB_SUCCEEDED && job->outputs != NULL) {
        json_print(job->outputs, &outputs);
        change.outputs = buf_text(&outputs);
    }
    changed = record(engine, &change);
    if (changed) {
        engine->queues.running_count +=
            (next == JOB_RUNNING) - (job->state == JOB_RUNNING);
        job->state = next;
        engine_log_change(engine, job, event, cause);
    }
    buf_clear(&outputs);
    free(values);
    return changed;
}
