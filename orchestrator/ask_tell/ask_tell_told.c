/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What clients tell: the result of a trial that they were given, or that of a
 * setting of their own. Such a setting becomes a trial like an enqueued one
 * (strategies/strategy.h), which is over at once; settings that wait before it
 * become trials, too, and wait for whoever asks.
 */
#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/rng.h"
#include "orchestrator/ask_tell/ask_tell_impl.h"
#include "orchestrator/ask_tell/ask_tell_json.h"
#include "orchestrator/ask_tell/ask_tell_record.h"
#include "orchestrator/ask_tell/ask_tell_schedule.h"
#include "orchestrator/spec/experiment/outcome.h"
#include "orchestrator/spec/experiment/setting_json.h"

static bool all_finite(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            return false;
    }
    return true;
}

/* ---- results ---- */

/* What the request says of a trial's end; a stopped one may say less. */
static int read_result(const struct ask_tell *ask_tell, const json_t *request,
                       struct ask_tell_trial *end, double *excesses,
                       struct err *err)
{
    const struct experiment *experiment = ask_tell->experiment;
    size_t count = experiment->objective_count;
    bool has_succeeded;

    if (session_read_state(request, &end->state, err) != 0)
        return -1;
    has_succeeded = end->state == JOB_SUCCEEDED;
    if (!has_succeeded && end->state != JOB_STOPPED)
        return 0;
    end->has_values = has_succeeded || ask_tell_has_values(request);
    if (end->has_values &&
        ask_tell_read_values(request, end->values, count, err) != 0)
        return -1;
    if (has_succeeded &&
        ask_tell_read_constraints(request, excesses,
                                  experiment->search.outcome_count, err) != 0)
        return -1;
    if (has_succeeded && !all_finite(end->values, count)) {
        end->state = JOB_FAILED;
        end->has_values = false;
        end->remark = "its value is not a finite number";
    }
    return 0;
}

/* Reads it into a copy of the trial, whose values and outcomes are new. */
static int read_end(const struct ask_tell *ask_tell, const json_t *request,
                    struct ask_tell_trial *end, uint64_t *budget,
                    struct err *err)
{
    const struct experiment *experiment = ask_tell->experiment;
    double *excesses = ask_tell_new_nans(experiment->search.outcome_count);
    int result;

    end->values = ask_tell_new_nans(experiment->objective_count);
    end->outcomes = NULL;
    end->has_values = false;
    end->remark = NULL;
    result = read_result(ask_tell, request, end, excesses, err);
    if (result == 0)
        result =
            ask_tell_schedule_read_budget(ask_tell, request, end, budget, err);
    if (result == 0 && end->state == JOB_SUCCEEDED)
        end->outcomes = ask_tell_outcomes(ask_tell, excesses);
    end->violation = outcome_violation(
        experiment->outcomes, experiment->outcome_count, end->outcomes);
    free(excesses);
    return result;
}

/* Takes the result that was read; what it points to changes hands. */
static void take_result(struct ask_tell *ask_tell, size_t number,
                        const struct ask_tell_trial *end)
{
    struct ask_tell_trial *trial = &ask_tell->trials[number - 1];

    trial->values = end->values;
    trial->has_values = end->has_values;
    trial->outcomes = end->outcomes;
    trial->violation = end->violation;
    trial->remark = end->remark;
    ask_tell_end_trial(ask_tell, number, end->state);
}

/* ---- settings of their own ---- */

/* Whether there may be a trial for each setting that waits, and one more. */
static bool has_room(struct ask_tell *ask_tell)
{
    int64_t trials = ask_tell->experiment->budget.trials;

    return ask_tell_has_room(ask_tell) &&
           (ask_tell->record == NULL || trials == 0 ||
            ask_tell->count + strategy_wish_count(ask_tell->strategy) <
                (uint64_t)trials);
}

/* Makes the setting a trial; 0: it is none, or there is no room for it. */
static size_t add_wished(struct ask_tell *ask_tell, const struct value *values,
                         struct err *err)
{
    uint64_t id = ask_tell->wish_id + 1;
    enum ask_result result;

    if (!has_room(ask_tell)) {
        err_set(err, ERR_BUSY,
                "the run takes no more trials: its budget is used up");
        return 0;
    }
    if (strategy_wish(ask_tell->strategy, id, values, err) != 0)
        return 0;
    ask_tell->wish_id = ask_tell->told_wish = id;
    ask_tell_record_wish(ask_tell, id, values);
    do {
        result = ask_tell_add_trial(ask_tell, NULL, err);
    } while (result == ASK_OK &&
             ask_tell->trials[ask_tell->count - 1].wish != id);
    ask_tell->told_wish = 0;
    if (result == ASK_EXHAUSTED)
        err_set(err, ERR_FAILED, "the search takes no more settings");
    return result == ASK_OK ? ask_tell->count : 0;
}

/* A setting that is whole, and that the space has. */
static int read_setting(const struct ask_tell *ask_tell, const json_t *params,
                        struct value *values, struct err *err)
{
    struct space *space = ask_tell->experiment->space;
    struct value *point = mem_array(space_count(space), sizeof(*point));
    struct rng rng;
    int result = setting_read(space, params, values, err);

    rng_init(&rng, 0, 0, 0);
    if (result == 0)
        result = space_complete(space, &rng, values, point, err);
    if (result == 0 && !space_is_whole(space, values, point))
        result = err_set(err, ERR_USAGE,
                         "\"params\" lacks a parameter: a result needs a value "
                         "of each one that is active");
    free(point);
    return result;
}

static json_t *tell_setting(struct ask_tell *ask_tell, const json_t *request,
                            const json_t *params, struct err *err)
{
    struct value *values =
        mem_array(space_count(ask_tell->experiment->space), sizeof(*values));
    struct ask_tell_trial end = {.state = JOB_READY};
    uint64_t budget = 0;
    size_t number = 0;
    int result = read_setting(ask_tell, params, values, err);

    if (result == 0)
        result = read_end(ask_tell, request, &end, &budget, err);
    if (result == 0)
        number = add_wished(ask_tell, values, err);
    free(values);
    if (number == 0) {
        free(end.values);
        free(end.outcomes);
        return NULL;
    }
    ask_tell_lease(ask_tell, number);
    take_result(ask_tell, number, &end);
    return json_pack("{s:b, s:I}", "ok", 1, "id", (json_int_t)number);
}

/* ---- tell ---- */

json_t *ask_tell_tell(struct ask_tell *ask_tell, const json_t *request,
                      struct err *err)
{
    const json_t *params = json_object_get(request, "params");
    struct ask_tell_trial *trial, end;
    json_t *answer = NULL;
    uint64_t budget = 0;
    size_t number;
    int result;

    if (params != NULL && json_object_get(request, "id") == NULL) {
        if (ask_tell->scheduler == NULL)
            return tell_setting(ask_tell, request, params, err);
        err_set(err, ERR_USAGE,
                "with a schedule, results of other settings are not possible: "
                "\"id\" must name a trial that was asked for");
        return NULL;
    }
    trial = ask_tell_find_open(ask_tell, request, &number, err);
    if (trial == NULL)
        return NULL;
    end = *trial;
    result = read_end(ask_tell, request, &end, &budget, err);
    if (result == 0) {
        ask_tell_lease(ask_tell, number);
        answer = ask_tell_schedule_pause(ask_tell, number, budget, &end);
    }
    if (result == 0 && answer == NULL) {
        take_result(ask_tell, number, &end);
        return json_pack("{s:b}", "ok", 1);
    }
    free(end.values);
    free(end.outcomes);
    return answer;
}
