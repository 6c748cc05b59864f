/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/search/ask_tell_schedule.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/search/ask_tell_impl.h"
#include "orchestrator/search/ask_tell_json.h"
#include "orchestrator/search/feedback.h"

int ask_tell_schedule_open(struct ask_tell *ask_tell, struct err *err)
{
    const struct experiment *experiment = ask_tell->experiment;

    if (!experiment->schedule.is_on)
        return 0;
    ask_tell->scheduler =
        scheduler_create(&experiment->schedule.options, experiment->space, err);
    return ask_tell->scheduler != NULL ? 0 : -1;
}

/* ---- ask ---- */

struct asking {
    struct ask_tell *ask_tell;
    bool is_closed;            /* no new trials */
    json_t *trials, *given_up; /* what is to be answered */
};

static void set_integer(json_t *json, const char *key, uint64_t number)
{
    json_object_set_new(json, key, json_integer((json_int_t)number));
}

static void hand_out(struct asking *asking, size_t number,
                     const struct assignment *next)
{
    struct ask_tell *ask_tell = asking->ask_tell;
    struct ask_tell_trial *trial = &ask_tell->trials[number - 1];
    json_t *json = ask_tell_trial_json(ask_tell, number);

    scheduler_assign(ask_tell->scheduler, number, next);
    trial->resource = next->resource;
    if (next->resource < SCHEDULE_NO_MAX)
        set_integer(json, "budget", next->resource);
    if (next->kind == NEXT_PROMOTE)
        json_object_set_new(json, "resumed", json_true());
    if (trial->parent > 0)
        set_integer(json, "parent", trial->parent);
    json_array_append_new(asking->trials, json);
}

static enum ask_result begin(struct asking *asking,
                             const struct assignment *next, struct err *err)
{
    enum ask_result result = ask_tell_add_trial(asking->ask_tell, err);

    if (result == ASK_EXHAUSTED) {
        asking->is_closed = true;
        return ASK_OK;
    }
    if (result == ASK_OK)
        hand_out(asking, asking->ask_tell->count, next);
    return result;
}

static void begin_clone(struct asking *asking, const struct assignment *next)
{
    struct ask_tell *ask_tell = asking->ask_tell;
    struct ask_tell_trial trial = {
        .point = mem_array(space_count(ask_tell->experiment->space),
                           sizeof(*trial.point)),
        .parent = next->trial,
    };
    struct suggestion suggestion;

    scheduler_explore(ask_tell->scheduler, ask_tell->count + 1,
                      ask_tell->trials[next->trial - 1].point, trial.point);
    strategy_accept(ask_tell->strategy, ask_tell->count + 1, trial.point,
                    &suggestion);
    ask_tell_append(ask_tell, &trial);
    hand_out(asking, ask_tell->count, next);
}

static void promote(struct asking *asking, const struct assignment *next)
{
    asking->ask_tell->trials[next->trial - 1].is_paused = false;
    asking->ask_tell->open_count++;
    hand_out(asking, next->trial, next);
}

/* A paused trial will not go on: what it had reached is its end. */
static void give_up(struct asking *asking, const struct assignment *next)
{
    struct ask_tell *ask_tell = asking->ask_tell;
    struct ask_tell_trial *trial = &ask_tell->trials[next->trial - 1];

    trial->is_paused = false;
    trial->state = JOB_STOPPED;
    trial->values = trial->reached;
    trial->reached = NULL;
    ask_tell_end_trial(ask_tell, next->trial, NULL, true);
    json_array_append_new(asking->given_up,
                          json_integer((json_int_t)next->trial));
}

/* One thing that is to be done; NEXT_NONE: there is none. */
static enum ask_result do_next(struct asking *asking, enum next_kind *kind,
                               struct err *err)
{
    const struct ask_tell *ask_tell = asking->ask_tell;
    int64_t trials = ask_tell->experiment->budget.trials;
    struct assignment next;

    if (trials > 0 && ask_tell->count >= (uint64_t)trials)
        asking->is_closed = true;
    scheduler_next(ask_tell->scheduler, asking->is_closed, &next);
    *kind = next.kind;
    switch (next.kind) {
    case NEXT_NEW:
        return begin(asking, &next, err);
    case NEXT_CLONE:
        begin_clone(asking, &next);
        break;
    case NEXT_PROMOTE:
        promote(asking, &next);
        break;
    case NEXT_STOP:
        give_up(asking, &next);
        break;
    case NEXT_NONE:
    default:
        break;
    }
    return ASK_OK;
}

static json_t *ask_answer(const struct asking *asking, enum next_kind last)
{
    json_t *answer = json_pack("{s:O}", "trials", asking->trials);

    if (json_array_size(asking->given_up) > 0)
        json_object_set(answer, "stopped", asking->given_up);
    if (last == NEXT_NONE)
        json_object_set_new(
            answer, asking->ask_tell->open_count > 0 ? "waiting" : "done",
            json_true());
    return answer;
}

json_t *ask_tell_schedule_ask(struct ask_tell *ask_tell, const json_t *request,
                              struct err *err)
{
    struct asking asking = {.ask_tell = ask_tell};
    enum ask_result result = ASK_OK;
    enum next_kind kind = NEXT_NEW;
    bool wants_new = true;
    int64_t count = 1;
    json_t *answer = NULL;

    if (ask_tell_read_count(request, "n", ASK_TELL_MAX_ASK, &count, err) != 0 ||
        ask_tell_read_flag(request, "new", &wants_new, err) != 0)
        return NULL;
    asking.is_closed = !wants_new;
    asking.trials = json_array();
    asking.given_up = json_array();
    while (result == ASK_OK && kind != NEXT_NONE &&
           json_array_size(asking.trials) < (size_t)count)
        result = do_next(&asking, &kind, err);
    if (result == ASK_OK || json_array_size(asking.trials) > 0 ||
        json_array_size(asking.given_up) > 0)
        answer = ask_answer(&asking, kind);
    json_decref(asking.trials);
    json_decref(asking.given_up);
    return answer;
}

/* ---- observe and tell ---- */

/* The schedule and the search get to know what the trial has reached. */
static void take_reached(struct ask_tell *ask_tell, size_t number,
                         uint64_t resource, const double *excesses,
                         struct verdict *verdict)
{
    struct ask_tell_trial *trial = &ask_tell->trials[number - 1];
    const struct feedback_item item = {
        .kind = FEEDBACK_OBSERVATION,
        .number = (int64_t)number,
        .resource = (int64_t)resource,
        .values = trial->reached,
        .excesses = excesses,
        .last = trial->last,
        .best = trial->best,
    };

    *verdict = (struct verdict){.decision = DECIDE_CONTINUE};
    if (resource < scheduler_awaits(ask_tell->scheduler, number))
        return;
    feedback_tell(ask_tell->strategy, ask_tell->scheduler, ask_tell->experiment,
                  &item, verdict);
    if (verdict->decision != DECIDE_PAUSE)
        return;
    trial->is_paused = true;
    ask_tell->open_count--;
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
    double *values, *excesses;
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
        keep_values(ask_tell, trial, values, false);
        take_reached(ask_tell, number, (uint64_t)step, excesses, &verdict);
        answer = decision_json(&verdict);
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
                                const struct ask_tell_trial *end,
                                const double *excesses)
{
    json_t *answer, *decision;
    struct verdict verdict;

    if (budget == 0)
        return NULL;
    keep_values(ask_tell, &ask_tell->trials[number - 1], end->values, true);
    take_reached(ask_tell, number, budget, excesses, &verdict);
    if (verdict.decision != DECIDE_PAUSE)
        return NULL;
    answer = json_pack("{s:b}", "ok", 1);
    decision = decision_json(&verdict);
    json_object_update(answer, decision);
    json_decref(decision);
    return answer;
}

/* ---- why ---- */

void ask_tell_schedule_describe(const struct ask_tell *ask_tell,
                                const struct ask_tell_trial *trial,
                                json_t *json)
{
    if (ask_tell->scheduler == NULL)
        return;
    if (trial->resource < SCHEDULE_NO_MAX)
        set_integer(json, "budget", trial->resource);
    if (trial->parent > 0)
        set_integer(json, "parent", trial->parent);
    json_object_set_new(json, "paused", json_boolean(trial->is_paused));
}
