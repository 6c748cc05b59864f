/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What trials of a schedule reach, and what it decides of that. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "orchestrator/ask_tell/ask_tell_impl.h"
#include "orchestrator/ask_tell/ask_tell_json.h"
#include "orchestrator/ask_tell/ask_tell_record.h"
#include "orchestrator/ask_tell/ask_tell_schedule.h"
#include "orchestrator/search/feedback.h"

/* Its attempt has used what it was given. */
static void rest(struct ask_tell *ask_tell, size_t number, uint64_t resource)
{
    struct ask_tell_trial *trial = &ask_tell->trials[number - 1];

    ask_tell_record_pause(ask_tell, number, resource);
    trial->state = JOB_PAUSED;
    trial->client = 0;
    trial->paused_at = resource;
    ask_tell->open_count--;
}

/* The schedule and the search get to know what the trial has reached. */
static void take_reached(struct ask_tell *ask_tell, size_t number,
                         uint64_t resource, const double *outcomes,
                         struct verdict *verdict)
{
    struct ask_tell_trial *trial = &ask_tell->trials[number - 1];
    const struct feedback_item item = {
        .kind = FEEDBACK_OBSERVATION,
        .number = (int64_t)number,
        .place = ask_tell->told + 1,
        .resource = (int64_t)resource,
        .values = trial->reached,
        .outcomes = outcomes,
        .last = trial->last,
        .best = trial->best,
    };

    *verdict = (struct verdict){.decision = DECIDE_CONTINUE};
    if (resource < scheduler_awaits(ask_tell->scheduler, number))
        return;
    ask_tell->told++;
    feedback_tell(ask_tell->strategy, ask_tell->scheduler, ask_tell->experiment,
                  &item, verdict);
    ask_tell_record_observe(ask_tell, &item, verdict);
    trial->is_given_up = verdict->decision == DECIDE_STOP;
    if (verdict->decision == DECIDE_PAUSE)
        rest(ask_tell, number, resource);
}

/* NaN is worse than any value. */
static double better(const struct objective *objective, double a, double b)
{
    return objective->maximize ? fmax(a, b) : fmin(a, b);
}

/* A point of the trial's curve; with is_result, of what its objectives ask. */
static void keep_values(struct ask_tell *ask_tell, struct ask_tell_trial *trial,
                        const double *values, bool is_result)
{
    const struct experiment *experiment = ask_tell->experiment;
    size_t decides = experiment->schedule.objective;

    if (trial->reached == NULL) {
        trial->reached = ask_tell_new_nans(experiment->objective_count);
        trial->best = (double)NAN;
    }
    for (size_t i = 0; i < experiment->objective_count; i++) {
        const struct objective *objective = &experiment->objectives[i];
        bool is_best = objective->value == OBJECTIVE_BEST;

        trial->reached[i] =
            is_best && !is_result
                ? better(objective, trial->reached[i], values[i])
                : values[i];
    }
    trial->last = values[decides];
    trial->best =
        better(&experiment->objectives[decides], trial->best, values[decides]);
}

/* All values, or the one of the objective that decides. */
static int read_point(const struct ask_tell *ask_tell, const json_t *request,
                      double *values, double *excesses, struct err *err)
{
    const struct experiment *experiment = ask_tell->experiment;
    size_t decides = experiment->schedule.objective;

    if (json_object_get(request, "constraints") != NULL &&
        ask_tell_read_constraints(request, excesses,
                                  experiment->search.outcome_count, err) != 0)
        return -1;
    return json_object_get(request, "values") != NULL
               ? ask_tell_read_values(request, values,
                                      experiment->objective_count, err)
               : ask_tell_read_value(request, &values[decides], err);
}

static int read_step(const json_t *request, int64_t *step, struct err *err)
{
    if (ask_tell_read_integer(request, "step", step, err) != 0)
        return -1;
    if (*step < 1)
        return err_set(err, ERR_USAGE,
                       "out of range: \"step\" must be 1 or more, not %" PRId64,
                       *step);
    return 0;
}

static json_t *decision_json(const struct verdict *verdict)
{
    json_t *json =
        json_pack("{s:s}", "decision", decision_names[verdict->decision]);

    if (verdict->decision != DECIDE_CONTINUE)
        json_object_set_new(json, "reason", json_from_text(verdict->reason));
    return json;
}

json_t *ask_tell_schedule_observe(struct ask_tell *ask_tell,
                                  const json_t *request, struct err *err)
{
    const struct experiment *experiment = ask_tell->experiment;
    double *values, *excesses, *outcomes;
    json_t *answer = NULL;
    struct verdict verdict;
    size_t number;
    int64_t step;
    struct ask_tell_trial *trial =
        ask_tell_find_open(ask_tell, request, &number, err);

    if (trial == NULL || read_step(request, &step, err) != 0)
        return NULL;
    values = ask_tell_new_nans(experiment->objective_count);
    excesses = ask_tell_new_nans(experiment->search.outcome_count);
    if (read_point(ask_tell, request, values, excesses, err) == 0) {
        ask_tell_lease(ask_tell, number);
        ask_tell_record_point(ask_tell, number, (double)step,
                              values[experiment->schedule.objective]);
        keep_values(ask_tell, trial, values, false);
        outcomes = ask_tell_outcomes(ask_tell, excesses);
        take_reached(ask_tell, number, (uint64_t)step, outcomes, &verdict);
        answer = decision_json(&verdict);
        free(outcomes);
    }
    free(values);
    free(excesses);
    return answer;
}

int ask_tell_schedule_read_budget(const struct ask_tell *ask_tell,
                                  const json_t *request,
                                  const struct ask_tell_trial *end,
                                  uint64_t *budget, struct err *err)
{
    int64_t given = (int64_t)end->resource, used = given;

    if (ask_tell->scheduler == NULL)
        return 0;
    if (ask_tell_read_count(request, "budget", INT64_MAX, &used, err) != 0)
        return -1;
    if (end->state != JOB_SUCCEEDED || used == (int64_t)SCHEDULE_NO_MAX)
        return 0;
    if (used < given && scheduler_pauses(ask_tell->scheduler))
        return err_set(err, ERR_USAGE,
                       "out of range: \"budget\" is %" PRId64
                       ", but the trial was assigned %" PRId64,
                       used, given);
    *budget = (uint64_t)used;
    return 0;
}

json_t *ask_tell_schedule_pause(struct ask_tell *ask_tell, size_t number,
                                uint64_t budget,
                                const struct ask_tell_trial *end)
{
    json_t *answer, *decision;
    struct verdict verdict;

    if (budget == 0)
        return NULL;
    keep_values(ask_tell, &ask_tell->trials[number - 1], end->values, true);
    take_reached(ask_tell, number, budget, end->outcomes, &verdict);
    if (verdict.decision != DECIDE_PAUSE)
        return NULL;
    answer = json_pack("{s:b}", "ok", 1);
    decision = decision_json(&verdict);
    json_object_update(answer, decision);
    json_decref(decision);
    return answer;
}
