/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/engine_impl.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "orchestrator/steps/rounds.h"
#include "orchestrator/steps/takeover.h"

/*
 * Where a workflow says what goes on. It is asked when a slot is free; what it
 * wants is put into the open transaction, so that a step's beginning is in the
 * record before any of its jobs starts. A copy of a step is a job, as a trial
 * is; one that repeats has a job for each round.
 */

/* ---- steps ---- */

static struct step_change step_comes(const struct engine *engine, size_t step,
                                     enum flow_state state,
                                     enum step_event event, const char *reason)
{
    return (struct step_change){
        .run = engine->run->id,
        .step = (int64_t)step,
        .state = step_state_names[state],
        .event = step_event_names[event],
        .reason = reason,
        .time_ms = clock_wall_ms(),
    };
}

static bool record_step(struct engine *engine, const struct step_change *change)
{
    struct err err;

    LOG(engine->log, LOG_ENGINE, LOG_INFO, 0, "step=%s state=%s%s%s",
        engine->run->workflow->steps[change->step].name, change->state,
        change->reason != NULL ? ": " : "",
        change->reason != NULL ? change->reason : "");
    if (!engine_begin(engine))
        return false;
    if (store_change_step(engine->store, change, &err) == 0)
        return true;
    engine_break(engine, &err);
    return false;
}

static bool skip(struct engine *engine, size_t step, const char *reason)
{
    const struct step_change change =
        step_comes(engine, step, FLOW_SKIPPED, STEP_SKIPPED, reason);

    if (!record_step(engine, &change))
        return false;
    steps_skip(engine->steps, step);
    return true;
}

/* Its rule says no, because of one that it needs, or (FLOW_NO_STEP) because
 * none has failed. */
static bool skip_by_rule(struct engine *engine, size_t step, size_t because)
{
    const struct step *steps = engine->run->workflow->steps;
    const struct flow *flow = engine->steps->flow;
    char *reason;
    bool result;

    if (because == FLOW_NO_STEP)
        reason = mem_copy_string("nothing failed that it needs");
    else
        reason = mem_printf("'%s' %s", steps[because].name,
                            flow_state(flow, because) == FLOW_FAILED
                                ? "failed"
                                : "was skipped");
    result = skip(engine, step, reason);
    free(reason);
    return result;
}

static bool record_begin(struct engine *engine, size_t step, int64_t copies,
                         const json_t *axes)
{
    struct buf matrix = BUF_INIT;
    struct step_change change =
        step_comes(engine, step, FLOW_ACTIVE, STEP_BEGAN, NULL);
    bool result;

    change.copies = copies;
    change.first_job = engine->tally.suggested + 1;
    if (axes != NULL) {
        json_print(axes, &matrix);
        change.matrix = buf_text(&matrix);
    }
    result = record_step(engine, &change);
    buf_clear(&matrix);
    return result;
}

/* It begins, and has failed for this reason. */
static bool fail_to_begin(struct engine *engine, size_t step,
                          const char *reason)
{
    const struct step_change change =
        step_comes(engine, step, FLOW_FAILED, STEP_ENDED, reason);

    if (!record_begin(engine, step, 0, NULL) || !record_step(engine, &change))
        return false;
    steps_fail(engine->steps, step);
    return true;
}

static bool begin(struct engine *engine, size_t step)
{
    struct steps *steps = engine->steps;
    const struct step *its = &steps->workflow->steps[step];
    json_t *axes = NULL;
    struct flow_counts counts;
    bool is_wanted, result;
    struct err err;

    if (steps_condition(steps, step, -1, &is_wanted, &err) != 0)
        return fail_to_begin(engine, step, err.text);
    if (!is_wanted)
        return skip(engine, step,
                    steps_is_asked_for(steps, step)
                        ? "its condition is not true"
                        : "it was not asked for");
    if (workspace_forget_shards(engine->workspaces, its->name, &its->task,
                                &err) != 0 ||
        steps_axes(steps, step, &axes, &err) != 0)
        return fail_to_begin(engine, step, err.text);
    if (steps_begin(steps, step, axes, &err) == 0) {
        flow_count(steps->flow, step, &counts);
        result = record_begin(engine, step, counts.copies, axes);
    } else {
        result = fail_to_begin(engine, step, err.text);
    }
    json_decref(axes);
    return result;
}

static bool end(struct engine *engine, size_t step, enum flow_state state)
{
    char *reason =
        state == FLOW_FAILED ? steps_failure(engine->steps, step) : NULL;
    const struct step_change change =
        step_comes(engine, step, state, STEP_ENDED, reason);
    bool result = record_step(engine, &change);

    if (result)
        steps_end(engine->steps, step, state);
    free(reason);
    return result;
}

/* ---- their jobs ---- */

static bool add_job(struct engine *engine, struct trial *job)
{
    struct buf rounds = BUF_INIT;
    struct job_new row = {
        .run = engine->run->id,
        .number = job->number,
        .state = job_state_names[job->state],
        .seen = engine->told_count,
        .step = job->step,
        .copy = job->copy,
        .round = job->round,
        .time_ms = clock_wall_ms(),
    };
    struct err err;
    bool is_added = engine_begin(engine);

    if (job->rounds != NULL) {
        json_print(job->rounds, &rounds);
        row.rounds = buf_text(&rounds);
    }
    if (is_added && store_add_job(engine->store, &row, &job->job, &err) != 0) {
        engine_break(engine, &err);
        is_added = false;
    }
    buf_clear(&rounds);
    return is_added;
}

/* A job that the record has now, in no list. NULL when the engine broke. */
static struct trial *create_job(struct engine *engine, size_t step,
                                int64_t copy, int64_t round, json_t *rounds)
{
    struct trial *job =
        engine_create_job(engine, step, engine->tally.suggested + 1);

    job->copy = copy;
    job->round = round;
    job->rounds = json_incref(rounds);
    if (!add_job(engine, job)) {
        trial_destroy(job);
        return NULL;
    }
    engine->tally.suggested++;
    engine_log_change(engine, job, EVENT_CREATED, NULL);
    return job;
}

/* It is over without an attempt. */
static bool end_at_once(struct engine *engine, struct trial *job,
                        enum job_event event, const char *text)
{
    job->end = (struct attempt_exit){.exit_code = -1};
    snprintf(job->end.text, sizeof(job->end.text), "%s", text);
    TAILQ_INSERT_TAIL(&engine->settled, job, link);
    if (!engine_change_trial(engine, job, event, NULL))
        return false;
    engine_account_ended(engine, job, false);
    engine_announce_ended(engine, job);
    return true;
}

static bool fail_at_once(struct engine *engine, struct trial *job)
{
    char *text = steps_message(engine->steps, job);
    bool result = end_at_once(engine, job, EVENT_FAILED, text);

    free(text);
    return result;
}

/* What an earlier run's job gave is its own; else it waits for its turn. */
static bool make_ready(struct engine *engine, struct trial *job)
{
    struct taken_job taken;

    if (!takeover_find(engine->takeover, (size_t)job->step, job->copy,
                       job->round, &taken)) {
        TAILQ_INSERT_TAIL(&engine->ready, job, link);
        return true;
    }
    if (taken.state == JOB_FAILED)
        return end_at_once(engine, job, EVENT_FAILED,
                           "it failed in the run that this one goes on from");
    job->cached_from = taken.job;
    job->outputs = json_incref(taken.outputs);
    return end_at_once(engine, job, EVENT_REUSED, "");
}

static bool start(struct engine *engine, size_t step, int64_t copy)
{
    struct steps *steps = engine->steps;
    const struct step *its = &steps->workflow->steps[step];
    bool is_wanted = true;
    json_t *rounds = its->repeat.max > 0 ? rounds_first(&its->repeat) : NULL;
    struct trial *job;
    struct err err;
    int asked = steps_condition(steps, step, copy, &is_wanted, &err);

    job = create_job(engine, step, copy, its->repeat.max > 0, rounds);
    json_decref(rounds);
    if (job == NULL)
        return false;
    if (!is_wanted)
        return end_at_once(engine, job, EVENT_SKIPPED,
                           "its condition is not true");
    flow_started(steps->flow, step, copy);
    if (asked != 0)
        return end_at_once(engine, job, EVENT_FAILED, err.text);
    if (its->kind == STEP_FAIL)
        return fail_at_once(engine, job);
    return make_ready(engine, job);
}

bool engine_steps_next(struct engine *engine)
{
    const struct flow_next next = flow_next(engine->steps->flow);

    switch (next.kind) {
    case FLOW_BEGIN:
        return begin(engine, next.step);
    case FLOW_SKIP:
        return skip_by_rule(engine, next.step, next.because);
    case FLOW_START:
        return start(engine, next.step, next.copy);
    case FLOW_END:
        return end(engine, next.step, next.state);
    case FLOW_NOTHING:
    case FLOW_OVER:
        break;
    }
    return false;
}

int engine_steps_finish(struct engine *engine, struct trial *job,
                        struct err *err)
{
    char *directory = workspace_directory(engine->workspaces, job->number);
    char *checkpoints =
        workspace_checkpoint_directory(engine->run->directory, job->number);
    char *attempt = workspace_attempt_directory(engine->workspaces, job->number,
                                                job->attempt_number);
    const struct launch_places places = {directory, checkpoints, attempt};
    int result = steps_read_outputs(engine->steps, job,
                                    engine->run->work_directory, &places, err);

    if (result != 0 && !err_may_pass(err)) {
        job->end.cause = CAUSE_NO_OUTPUT;
        snprintf(job->end.text, sizeof(job->end.text), "%.*s",
                 (int)sizeof(job->end.text) - 1, err->text);
        result = 0;
    }
    free(directory);
    free(checkpoints);
    free(attempt);
    return result;
}

/* The next round goes on from what the one before left. */
static void begin_round(struct engine *engine, const struct trial *before,
                        json_t *rounds)
{
    struct trial *job = create_job(engine, (size_t)before->step, before->copy,
                                   before->round + 1, rounds);
    struct err err;

    if (job == NULL)
        return;
    if (workspace_copy_checkpoint(engine->workspaces, before->number,
                                  job->number, &err) != 0)
        engine_break(engine, &err);
    make_ready(engine, job);
}

void engine_steps_ended(struct engine *engine, struct trial *job)
{
    json_t *rounds = steps_end_job(engine->steps, job);

    if (rounds != NULL)
        begin_round(engine, job, rounds);
    else
        engine_call_next(engine, (size_t)job->step);
    json_decref(rounds);
}

/* ---- putting back ---- */

void engine_steps_reopen(struct engine *engine,
                         const struct reopen_steps *reopened)
{
    struct steps *steps = engine->steps;
    struct err err;

    if (reopen_steps_record(engine->store, engine->run->id, steps->workflow,
                            reopened, &err) != 0) {
        engine_break(engine, &err);
        return;
    }
    for (size_t i = 0; i < reopened->found_count; i++)
        steps_reopen(steps, (size_t)reopened->found[i].step,
                     reopened->found[i].copy);
    for (size_t i = 0; i < steps->workflow->step_count; i++) {
        if (reopened->fates[i] == STEP_WAITS)
            steps_wait_again(steps, i);
    }
    engine_line_up(engine);
}

/* ---- the run's end ---- */

enum { CLOSED_A_TURN = 256 };

static const char run_is_over[] = "the run came to its end";

/* Whether there was one more step to be ended. */
static bool close_next(struct engine *engine)
{
    const struct flow_next next = flow_next(engine->steps->flow);

    switch (next.kind) {
    case FLOW_BEGIN:
        return skip(engine, next.step, run_is_over);
    case FLOW_SKIP:
        return skip_by_rule(engine, next.step, next.because);
    case FLOW_START:
        steps_give_up(engine->steps, next.step, next.copy, run_is_over);
        return true;
    case FLOW_END:
        return end(engine, next.step, next.state);
    case FLOW_NOTHING:
    case FLOW_OVER:
        break;
    }
    return false;
}

bool engine_steps_close(struct engine *engine)
{
    for (int i = 0; i < CLOSED_A_TURN; i++) {
        if (!close_next(engine))
            return false;
    }
    return true;
}

static const struct step *first_failed(const struct engine *engine)
{
    const struct workflow *workflow = engine->run->workflow;

    for (size_t i = 0; i < workflow->step_count; i++) {
        if (flow_state(engine->steps->flow, i) == FLOW_FAILED &&
            !workflow->flow_steps[i].may_fail)
            return &workflow->steps[i];
    }
    return NULL;
}

void engine_steps_conclude(struct engine *engine)
{
    struct engine_result *result = engine->result;
    const struct step *failed = first_failed(engine);
    bool is_cut_off =
        result->verdict != BUDGET_GO_ON && !engine->is_beyond_budget;

    if (failed == NULL && !is_cut_off) {
        snprintf(result->reason, sizeof(result->reason),
                 "all steps have come to their end");
        return;
    }
    result->state = RUN_FAILED;
    if (!is_cut_off)
        snprintf(result->reason, sizeof(result->reason), "step '%s' failed",
                 failed->name);
}
