/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A trial that a client runs has an attempt, as one that an engine starts does,
 * without a process and a folder. Its end says who ended it: the client with a
 * result, the client by going away (cancelled: it starts again), or the client
 * with "stopped", which is an end by others than smtune.
 */
#include "orchestrator/ask_tell/ask_tell_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "executors/executor.h"
#include "orchestrator/ask_tell/ask_tell_impl.h"
#include "store/store.h"

void ask_tell_record_destroy(struct ask_tell_record *record)
{
    if (record == NULL)
        return;
    convergence_destroy(record->convergence);
    free(record);
}

void ask_tell_record_break(struct ask_tell *ask_tell, const struct err *err)
{
    struct ask_tell_record *record = ask_tell->record;

    if (record->is_broken)
        return;
    record->is_broken = true;
    record->broken = *err;
}

bool ask_tell_record_begin(struct ask_tell *ask_tell)
{
    struct ask_tell_record *record = ask_tell->record;
    struct err err;

    if (record == NULL || record->is_broken)
        return false;
    if (store_begin(record->run->store, &err) == 0)
        return true;
    ask_tell_record_break(ask_tell, &err);
    return false;
}

void ask_tell_record_check(struct ask_tell *ask_tell, int result,
                           const struct err *err)
{
    if (result != 0)
        ask_tell_record_break(ask_tell, err);
}

/* ---- changes of a trial ---- */

static void change(struct ask_tell *ask_tell, size_t number,
                   enum job_event event, struct job_change *change)
{
    const struct ask_tell_trial *trial = &ask_tell->trials[number - 1];
    const struct run *run = ask_tell->record->run;
    enum job_state next;
    struct err err;

    if (!job_next(trial->state, event, &next)) {
        err_set(&err, ERR_FAILED,
                "trial %zu: '%s' is not possible while it is %s", number,
                job_event_names[event], job_state_names[trial->state]);
        ask_tell_record_break(ask_tell, &err);
        return;
    }
    change->run = run->id;
    change->job = trial->job;
    change->state = job_state_names[next];
    change->event = job_event_names[event];
    ask_tell_record_check(ask_tell, store_change_job(run->store, change, &err),
                          &err);
}

void ask_tell_record_start(struct ask_tell *ask_tell, size_t number)
{
    struct ask_tell_trial *trial = &ask_tell->trials[number - 1];
    struct attempt_change running = {.job = trial->job,
                                     .time_ms = clock_wall_ms()};
    struct attempt_new attempt = {
        .job = trial->job,
        .number = trial->attempt_count + 1,
        .resource = (int64_t)trial->resource,
        .resource_from = (int64_t)trial->paused_at,
        .time_ms = running.time_ms,
    };
    struct job_change started = {.time_ms = running.time_ms,
                                 .started_ms = running.time_ms};
    const struct run *run;
    char directory[512];
    struct err err;

    if (!ask_tell_record_begin(ask_tell))
        return;
    run = ask_tell->record->run;
    snprintf(directory, sizeof(directory),
             "runs/%s/attempts/%" PRId64 "-%" PRId64, run->name,
             (int64_t)number, attempt.number);
    attempt.run = running.run = run->id;
    attempt.directory = directory;
    ask_tell_record_check(
        ask_tell,
        store_add_attempt(run->store, &attempt, &trial->attempt, &err), &err);
    running.attempt = trial->attempt;
    if (!ask_tell->record->is_broken)
        ask_tell_record_check(
            ask_tell, store_set_attempt_running(run->store, &running, &err),
            &err);
    trial->attempt_count = attempt.number;
    trial->started_ms = running.time_ms;
    trial->state = JOB_READY; /* in which the record has it */
    if (!ask_tell->record->is_broken)
        change(ask_tell, number, EVENT_STARTED, &started);
    trial->state = JOB_RUNNING;
}

/* What it used since it began, up to that resource. */
static int64_t used_since(const struct ask_tell_trial *trial, uint64_t resource)
{
    return resource > trial->paused_at ? (int64_t)(resource - trial->paused_at)
                                       : 0;
}

/* Ends what a client runs; nothing where nobody does. */
static void end_attempt(struct ask_tell *ask_tell, size_t number,
                        struct attempt_end *end)
{
    struct ask_tell_trial *trial = &ask_tell->trials[number - 1];
    struct ask_tell_record *record = ask_tell->record;
    struct err err;

    if (trial->attempt == 0)
        return;
    end->run = record->run->id;
    end->job = trial->job;
    end->attempt = trial->attempt;
    end->started_ms = trial->started_ms;
    end->ended_ms = clock_wall_ms();
    end->rule = -1;
    record->tally.resource_used += end->resource_used;
    ask_tell_record_check(
        ask_tell, store_end_attempt(record->run->store, end, &err), &err);
    trial->attempt = 0;
}

void ask_tell_record_give_back(struct ask_tell *ask_tell, size_t number)
{
    struct attempt_end end = {
        .cause = attempt_cause_names[CAUSE_CANCELLED],
        .exit_code = -1,
        .text = "its client disconnected",
    };
    struct job_change interrupted = {.cause = end.cause,
                                     .time_ms = clock_wall_ms()};

    if (!ask_tell_record_begin(ask_tell))
        return;
    end_attempt(ask_tell, number, &end);
    if (!ask_tell->record->is_broken)
        change(ask_tell, number, EVENT_INTERRUPTED, &interrupted);
}

/* How each end looks in the record. */
static const struct {
    enum job_event event;
    enum attempt_cause cause;
    int exit_code;
    bool is_outside;
    const char *text;
} ends[JOB_STATE_COUNT] = {
    [JOB_SUCCEEDED] = {EVENT_SUCCEEDED, CAUSE_OK, 0, false, NULL},
    [JOB_FAILED] = {EVENT_FAILED, CAUSE_EXIT, 1, false,
                    "its client reported a failure"},
    [JOB_STOPPED] = {EVENT_STOPPED, CAUSE_CANCELLED, -1, true,
                     "its client stopped it"},
    [JOB_CANCELLED] = {EVENT_CANCELLED, CAUSE_CANCELLED, -1, false,
                       "its client cancelled it"},
};

/* Who cancels a trial asks for that first. */
static void ask_cancel(struct ask_tell *ask_tell, size_t number)
{
    const struct run *run = ask_tell->record->run;
    const struct cancel_request request = {
        .run = run->id,
        .job = ask_tell->trials[number - 1].job,
        .asker = CANCEL_BY_USER,
        .time_ms = clock_wall_ms(),
    };
    struct err err;

    ask_tell_record_check(ask_tell,
                          store_ask_cancel(run->store, &request, &err), &err);
}

static bool is_by_client(const struct ask_tell *ask_tell,
                         const struct ask_tell_trial *trial)
{
    return trial->client != 0 && !trial->is_given_up &&
           ask_tell->record->verdict == BUDGET_GO_ON;
}

void ask_tell_record_end(struct ask_tell *ask_tell, size_t number,
                         enum job_state state)
{
    struct ask_tell_trial *trial = &ask_tell->trials[number - 1];
    const struct experiment *experiment = ask_tell->experiment;
    bool was_run = trial->attempt != 0;
    struct attempt_end end = {
        .cause = attempt_cause_names[ends[state].cause],
        .exit_code = ends[state].exit_code,
        .is_outside = ends[state].is_outside,
        .text = trial->remark != NULL ? trial->remark : ends[state].text,
    };
    struct job_change over = {
        .cause = was_run ? end.cause : NULL,
        .time_ms = clock_wall_ms(),
        .started_ms = was_run ? trial->started_ms : 0,
        .told = ask_tell->told + 1,
    };
    enum job_event event = ends[state].event;

    if (!ask_tell_record_begin(ask_tell))
        return;
    if (state == JOB_STOPPED && !is_by_client(ask_tell, trial)) {
        end.is_outside = false;
        end.text = over.verdict = trial->remark;
    }
    if (state == JOB_CANCELLED && is_by_client(ask_tell, trial))
        ask_cancel(ask_tell, number);
    if (state == JOB_SUCCEEDED && !was_run) {
        event = EVENT_REUSED;
        over.cause = end.cause;
    }
    if (state == JOB_SUCCEEDED && ask_tell->scheduler != NULL &&
        trial->resource < SCHEDULE_NO_MAX)
        end.resource_used = used_since(trial, trial->resource);
    over.ended_ms = over.time_ms;
    if (trial->has_values) {
        over.values = trial->values;
        over.value_count = experiment->objective_count;
    }
    if (trial->has_values && trial->outcomes != NULL) {
        over.outcomes = trial->outcomes;
        over.outcome_count = experiment->outcome_count;
        over.violation = trial->violation;
    }
    if (!ask_tell->record->is_broken)
        end_attempt(ask_tell, number, &end);
    if (!ask_tell->record->is_broken)
        change(ask_tell, number, event, &over);
}

/* ---- on the way ---- */

void ask_tell_record_point(struct ask_tell *ask_tell, size_t number,
                           double step, double value)
{
    const struct experiment *experiment = ask_tell->experiment;
    const struct ask_tell_trial *trial = &ask_tell->trials[number - 1];
    size_t decides =
        ask_tell->scheduler != NULL ? experiment->schedule.objective : 0;
    const struct metric_new metric = {
        .job = trial->job,
        .attempt = trial->attempt,
        .name = experiment->objectives[decides].metric,
        .step = step,
        .value = value,
        .time_ms = clock_wall_ms(),
    };
    struct err err;

    if (ask_tell_record_begin(ask_tell))
        ask_tell_record_check(
            ask_tell,
            store_add_metric(ask_tell->record->run->store, &metric, &err),
            &err);
}

void ask_tell_record_observe(struct ask_tell *ask_tell,
                             const struct feedback_item *item,
                             const struct verdict *verdict)
{
    const struct ask_tell_trial *trial = &ask_tell->trials[item->number - 1];
    const struct experiment *experiment = ask_tell->experiment;
    struct observation_new row = {
        .job = trial->job,
        .attempt = trial->attempt,
        .resource = item->resource,
        .told = item->place,
        .rung = verdict->rung,
        .values = item->values,
        .value_count = experiment->objective_count,
        .outcomes = item->outcomes,
        .outcome_count = item->outcomes != NULL ? experiment->outcome_count : 0,
        .last = item->last,
        .best = item->best,
        .decision = decision_names[verdict->decision],
        .reason = verdict->reason,
        .time_ms = clock_wall_ms(),
    };
    struct err err;

    if (!ask_tell_record_begin(ask_tell))
        return;
    row.run = ask_tell->record->run->id;
    ask_tell_record_check(
        ask_tell,
        store_add_observation(ask_tell->record->run->store, &row, &err), &err);
}

void ask_tell_record_pause(struct ask_tell *ask_tell, size_t number,
                           uint64_t resource)
{
    struct attempt_end end = {
        .cause = attempt_cause_names[CAUSE_OK],
        .exit_code = 0,
        .resource_used = used_since(&ask_tell->trials[number - 1], resource),
    };
    struct job_change paused = {.cause = end.cause, .time_ms = clock_wall_ms()};

    if (!ask_tell_record_begin(ask_tell))
        return;
    end_attempt(ask_tell, number, &end);
    if (!ask_tell->record->is_broken)
        change(ask_tell, number, EVENT_PAUSED, &paused);
}

void ask_tell_record_promote(struct ask_tell *ask_tell, size_t number,
                             const struct assignment *next)
{
    const struct ask_tell_trial *trial = &ask_tell->trials[number - 1];
    struct job_promotion promotion = {
        .job = trial->job,
        .at_resource = (int64_t)trial->paused_at,
        .resource = (int64_t)next->resource,
        .rung = (int64_t)next->rung,
        .told = ask_tell->told + 1,
        .state = job_state_names[JOB_READY],
        .event = job_event_names[EVENT_PROMOTED],
        .reason = next->reason,
        .time_ms = clock_wall_ms(),
    };
    struct err err;

    if (!ask_tell_record_begin(ask_tell))
        return;
    promotion.run = ask_tell->record->run->id;
    ask_tell_record_check(
        ask_tell,
        store_promote_job(ask_tell->record->run->store, &promotion, &err),
        &err);
}
