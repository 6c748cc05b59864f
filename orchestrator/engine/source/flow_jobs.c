/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/flow_jobs.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "orchestrator/engine/core/announce.h"
#include "orchestrator/engine/core/cancel_step.h"
#include "orchestrator/engine/core/log.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/tally.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/source/foresee.h"
#include "orchestrator/engine/source/requeue.h"
#include "orchestrator/steps/rounds.h"

/* A copy of a step is a job, as a trial is; one that repeats has a job for each
 * round. */

static bool add_job(struct engine *engine, struct job *job)
{
    struct buf rounds = BUF_INIT;
    struct job_new row = {
        .run = engine->run->id,
        .number = job->number,
        .state = job_state_names[job->state],
        .seen = engine->transaction.told_count,
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
    if (is_added && store_add_job(engine->store, &row, &job->id, &err) != 0) {
        engine_break(engine, &err);
        is_added = false;
    }
    buf_clear(&rounds);
    return is_added;
}

/* A job that the record has now, in no list. NULL when the engine broke. */
static struct job *create_job(struct engine *engine, size_t step, int64_t copy,
                              int64_t round, json_t *rounds)
{
    struct job *job =
        engine_create_job(engine, step, engine->tally.suggested + 1);

    job->copy = copy;
    job->round = round;
    job->rounds = json_incref(rounds);
    if (!add_job(engine, job)) {
        job_destroy(job);
        return NULL;
    }
    engine->tally.suggested++;
    engine_log_change(engine, job, EVENT_CREATED, NULL);
    return job;
}

bool flow_end_at_once(struct engine *engine, struct job *job,
                      enum job_event event, const char *text)
{
    job->end = (struct attempt_exit){.exit_code = -1};
    snprintf(job->end.text, sizeof(job->end.text), "%s", text);
    TAILQ_INSERT_TAIL(&engine->queues.settled, job, link);
    if (!engine_change_trial(engine, job, event, NULL))
        return false;
    engine_tally_ended(engine, job, false);
    engine_announce_ended(engine, job);
    return true;
}

static bool fail_at_once(struct engine *engine, struct job *job)
{
    char *text = steps_message(engine->steps, job);
    bool result = flow_end_at_once(engine, job, EVENT_FAILED, text);

    free(text);
    return result;
}

/* What an earlier run's job gave is its own; else it waits for its turn. */
static bool make_ready(struct engine *engine, struct job *job)
{
    struct earlier_result taken;

    if (!earlier_results_find(engine->earlier_results, (size_t)job->step,
                              job->copy, job->round, &taken)) {
        TAILQ_INSERT_TAIL(&engine->queues.ready, job, link);
        return true;
    }
    if (taken.state == JOB_FAILED)
        return flow_end_at_once(
            engine, job, EVENT_FAILED,
            "it failed in the earlier run that this run continues");
    job->cached_from = taken.job;
    job->outputs = json_incref(taken.outputs);
    return flow_end_at_once(engine, job, EVENT_REUSED, "");
}

bool flow_start_job(struct engine *engine, size_t step, int64_t copy)
{
    struct steps *steps = engine->steps;
    const struct step *its = &steps->workflow->steps[step];
    bool is_wanted = true;
    json_t *rounds = its->repeat.max > 0 ? rounds_first(&its->repeat) : NULL;
    struct job *job;
    struct err err;
    int asked = steps_condition(steps, step, copy, &is_wanted, &err);

    job = create_job(engine, step, copy, its->repeat.max > 0, rounds);
    json_decref(rounds);
    if (job == NULL)
        return false;
    if (!is_wanted)
        return flow_end_at_once(engine, job, EVENT_SKIPPED,
                                "its condition was false");
    flow_started(steps->flow, step, copy);
    if (asked != 0)
        return flow_end_at_once(engine, job, EVENT_FAILED, err.text);
    if (its->kind == STEP_FAIL)
        return fail_at_once(engine, job);
    return make_ready(engine, job);
}

static int read_outputs(struct engine *engine, struct job *job,
                        bool may_lack_temps, struct err *err)
{
    char *directory = workspace_directory(engine->workspaces, job->number);
    char *checkpoints =
        workspace_checkpoint_directory(engine->run->directory, job->number);
    char *attempt = workspace_attempt_directory(engine->workspaces, job->number,
                                                job->attempt_number);
    const struct steps_site site = {
        .places = {directory, checkpoints, attempt},
        .work_directory = engine->run->work_directory,
        .may_lack_temps = may_lack_temps,
    };
    int result = steps_read_outputs(engine->steps, job, &site, err);

    free(directory);
    free(checkpoints);
    free(attempt);
    return result;
}

int flow_finish_job(struct engine *engine, struct job *job, struct err *err)
{
    if (read_outputs(engine, job, false, err) == 0)
        return 0;
    if (err_may_pass(err))
        return -1;
    job->end.cause = CAUSE_NO_OUTPUT;
    snprintf(job->end.text, sizeof(job->end.text), "%.*s",
             (int)sizeof(job->end.text) - 1, err->text);
    return 0;
}

int flow_read_files(struct engine *engine, struct job *job, struct err *err)
{
    return read_outputs(engine, job, true, err);
}

/* The next round goes on from what the one before left. */
static void begin_round(struct engine *engine, const struct job *before,
                        json_t *rounds)
{
    struct job *job = create_job(engine, (size_t)before->step, before->copy,
                                 before->round + 1, rounds);
    struct err err;

    if (job == NULL)
        return;
    if (workspace_copy_checkpoint(engine->workspaces, before->number,
                                  job->number, &err) != 0)
        engine_break(engine, &err);
    make_ready(engine, job);
}

void flow_job_ended(struct engine *engine, struct job *job,
                    UNUSED const struct feedback_item *item)
{
    json_t *rounds = steps_end_job(engine->steps, job);
    const struct step *step = &engine->steps->workflow->steps[job->step];

    steps_set_cached(engine->steps, (size_t)job->step, job->copy,
                     job_is_cached(job));
    if (step->kills_copies &&
        flow_is_lost(engine->steps->flow, (size_t)job->step))
        engine_cancel_step(engine, job->step);
    engine_foresee_after(engine, job);
    if (rounds != NULL)
        begin_round(engine, job, rounds);
    else
        engine_requeue_next(engine, (size_t)job->step);
    json_decref(rounds);
}
