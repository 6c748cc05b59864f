/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/report.h"

#include <stdlib.h>

#include "orchestrator/engine/control.h"
#include "orchestrator/engine/core/pause.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/shortage.h"
#include "orchestrator/engine/core/source.h"
#include "orchestrator/engine/status_json.h"
#include "orchestrator/spec/experiment/outcome.h"

/* One reader is the engine's owner, who is called; the others have subscribed
 * on its socket and get the same as JSON lines (status_json.h). */

static const char *note(const struct engine *engine)
{
    if (engine->wind_up.phase == PHASE_DRAINING)
        return "stopping: waiting for running trials";
    if (engine->wind_up.phase == PHASE_ENDING)
        return "stopping running trials";
    if (engine_is_paused(engine))
        return engine->queues.live_count > 0
                   ? "paused: running trials continue, no other trial starts"
                   : "paused";
    if (engine->wind_up.phase == PHASE_WAITING || engine_is_held(engine))
        return engine->shortage.text;
    if (engine->queues.committed_count > 0 && engine->queues.live_count == 0)
        return "waiting for a free slot";
    if (engine_active(engine) == 0 && !TAILQ_EMPTY(&engine->queues.waiting))
        return "waiting for the time of a retry";
    return engine->executor_note;
}

static const char *hint(const struct engine *engine)
{
    if (engine->wind_up.phase == PHASE_DRAINING)
        return "Ctrl-C stops them";
    return engine->wind_up.phase == PHASE_ENDING ? "Ctrl-C kills them" : "";
}

void engine_status_fill(struct engine *engine, struct engine_status *status)
{
    *status = (struct engine_status){.method = "", .method_reason = ""};
    if (engine->is_open)
        engine->source->describe(engine, status);
    status->tally = &engine->tally;
    status->running = engine->queues.running_count;
    status->queued = engine->queues.queued_count;
    status->paused = engine->queues.paused_trials;
    status->budget_trials = engine->experiment->budget.trials;
    status->elapsed_ms = engine_elapsed_ms(engine);
    status->parallel = engine->parallel;
    status->note = note(engine);
    status->hint = hint(engine);
    status->is_paused = engine_is_paused(engine);
}

void engine_report_status(struct engine *engine)
{
    struct engine_status status;

    engine_status_fill(engine, &status);
    engine->events->tick(engine->events->user, &status);
    if (control_has_subscribers(engine->control))
        control_publish(engine->control, status_json_from_status(&status));
}

static void show_trial(struct engine *engine, const struct engine_trial *trial)
{
    struct engine_status status;

    engine_status_fill(engine, &status);
    engine->events->trial_ended(engine->events->user, trial, &status);
    if (!control_has_subscribers(engine->control))
        return;
    /* what is said of a trial is said next to how the run then stands */
    control_publish(engine->control, status_json_from_status(&status));
    control_publish(engine->control,
                    status_json_from_trial(engine->experiment, trial));
}

/* values[objective_count] are the trial's. */
static struct engine_trial describe(const struct engine *engine,
                                    const struct job *job, const double *values)
{
    const struct experiment *experiment = engine->experiment;
    const struct attempt_exit *end = &job->end;
    const struct step *step =
        job->step >= 0 ? &engine->run->workflow->steps[job->step] : NULL;

    return (struct engine_trial){
        .number = job->number,
        .step = step != NULL ? step->name : NULL,
        .copy = step != NULL && (step->axis_count > 0 || step->copies > 1)
                    ? job->copy
                    : -1,
        .round = job->round,
        .state = job_state_names[job->state],
        .cause = job->attempt_number > 0 || job->step < 0
                     ? attempt_cause_names[end->cause]
                     : NULL,
        .text = end->text,
        .values = values,
        .outcomes = job->outcomes,
        .point = job->point,
        .resource = job->reached > 0 ? job->reached : job->paused_at,
        .duration_ms = job->ran_ms,
        .last_duration_ms =
            end->started_ms > 0 ? end->ended_ms - end->started_ms : 0,
        .is_best = job->is_new_best,
        .is_cached = job_is_cached(job),
        .is_feasible =
            outcome_violation(experiment->outcomes, experiment->outcome_count,
                              job->outcomes) <= 0.0,
        .will_retry = job->state == JOB_WAITING,
        .again = job->again,
    };
}

void engine_report_trial(struct engine *engine, const struct job *job)
{
    double *values = job_objectives(job, engine->experiment);
    struct engine_trial told = describe(engine, job, values);

    show_trial(engine, &told);
    free(values);
}

void engine_report_promoted(struct engine *engine, struct job *job)
{
    double *values = job_objectives(job, engine->experiment);
    struct engine_trial told = describe(engine, job, values);

    told.state = job_event_names[EVENT_PROMOTED];
    told.resource = job->resource;
    show_trial(engine, &told);
    job->is_promoted = false;
    free(values);
}
