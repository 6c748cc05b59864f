/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The search of an experiment for another program, which asks for trials and
 * tells their results. Trials live in one array by number, with what was said
 * of them. What search and schedule learn of that goes through feedback.h, as
 * it does in an engine: the direction of objectives and what bounds are
 * exceeded by are its affair.
 */
#include "orchestrator/search/session.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/search/feedback.h"
#include "orchestrator/search/reason.h"
#include "orchestrator/search/search.h"
#include "orchestrator/search/session_impl.h"
#include "orchestrator/search/session_json.h"
#include "orchestrator/search/session_schedule.h"
#include "orchestrator/spec/outcome.h"
#include "orchestrator/spec/setting.h"
#include "strategies/history/pareto.h"

struct session *session_create(const struct experiment *experiment,
                               const struct warm_start *warm, struct err *err)
{
    struct session *session = mem_zero(sizeof(*session));

    session->experiment = experiment;
    session->strategy = search_create(experiment, warm, err);
    if (session->strategy != NULL && session_schedule_open(session, err) == 0)
        return session;
    session_destroy(session);
    return NULL;
}

void session_destroy(struct session *session)
{
    if (session == NULL)
        return;
    for (size_t i = 0; i < session->count; i++) {
        free(session->trials[i].point);
        free(session->trials[i].values);
        free(session->trials[i].suggestion);
        free(session->trials[i].reached);
    }
    free(session->trials);
    scheduler_destroy(session->scheduler);
    strategy_destroy(session->strategy);
    free(session);
}

/* ---- ask ---- */

void session_append(struct session *session, const struct session_trial *trial)
{
    session->trials = mem_grow(session->trials, session->count,
                               &session->capacity, sizeof(*session->trials));
    session->trials[session->count] = *trial;
    session->trials[session->count++].pending = session->open_count++;
}

enum ask_result session_add_trial(struct session *session, struct err *err)
{
    struct session_trial trial = {
        .point = mem_array(space_count(session->experiment->space),
                           sizeof(*trial.point)),
    };
    struct suggestion suggestion;
    enum ask_result result = strategy_ask(session->strategy, session->count + 1,
                                          trial.point, &suggestion, err);

    if (result != ASK_OK) {
        free(trial.point);
        return result;
    }
    if (suggestion.reason.step != NULL || suggestion.same_as > 0) {
        trial.suggestion = mem_alloc(sizeof(suggestion));
        *trial.suggestion = suggestion;
    }
    session_append(session, &trial);
    return ASK_OK;
}

json_t *session_trial_json(const struct session *session, size_t number)
{
    const struct session_trial *trial = &session->trials[number - 1];
    json_t *json = json_object();

    json_object_set_new(json, "id", json_integer((json_int_t)number));
    json_object_set_new(json, "params",
                        setting_json(session->experiment->space, trial->point));
    if (trial->suggestion != NULL && trial->suggestion->same_as > 0)
        json_object_set_new(
            json, "same_as",
            json_integer((json_int_t)trial->suggestion->same_as));
    return json;
}

/* An error behind the first trial comes up again with the next request. */
static json_t *answer_ask(struct session *session, const json_t *request,
                          struct err *err)
{
    enum ask_result result = ASK_OK;
    json_t *trials, *answer;
    int64_t count = 1;

    if (session->scheduler != NULL)
        return session_schedule_ask(session, request, err);
    if (session_read_count(request, "n", SESSION_MAX_ASK, &count, err) != 0)
        return NULL;
    trials = json_array();
    for (int64_t i = 0; i < count && result == ASK_OK; i++) {
        result = session_add_trial(session, err);
        if (result == ASK_OK)
            json_array_append_new(trials,
                                  session_trial_json(session, session->count));
    }
    if (result == ASK_ERROR && json_array_size(trials) == 0) {
        json_decref(trials);
        return NULL;
    }
    answer = json_pack("{s:o}", "trials", trials);
    if (result == ASK_EXHAUSTED)
        json_object_set_new(answer, "exhausted", json_true());
    return answer;
}

/* ---- tell ---- */

/* The trial of the request's "id"; NULL: there is none such. */
static struct session_trial *find_trial(struct session *session,
                                        const json_t *request, size_t *number,
                                        struct err *err)
{
    int64_t id;

    if (session_read_id(request, &id, err) != 0)
        return NULL;
    if (id < 1 || (uint64_t)id > session->count) {
        err_set(err, ERR_NOT_FOUND,
                "there is no trial %" PRId64 " (%zu were asked for)", id,
                session->count);
        return NULL;
    }
    *number = (size_t)id;
    return &session->trials[id - 1];
}

struct session_trial *session_find_open(struct session *session,
                                        const json_t *request, size_t *number,
                                        struct err *err)
{
    struct session_trial *trial = find_trial(session, request, number, err);

    if (trial != NULL && trial->values != NULL)
        err_set(err, ERR_USAGE, "trial %zu has its result already", *number);
    else if (trial != NULL && trial->is_paused)
        err_set(err, ERR_USAGE,
                "trial %zu is paused; ask gives it out again when it is to go "
                "on",
                *number);
    else
        return trial;
    return NULL;
}

static bool all_finite(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            return false;
    }
    return true;
}

static bool is_candidate(const struct session_trial *trial)
{
    return trial->values != NULL && trial->state == JOB_SUCCEEDED &&
           trial->violation <= 0;
}

/* The lower the better. */
static double cost_of(const struct session *session, size_t number,
                      size_t objective)
{
    return feedback_orient(session->experiment, objective,
                           session->trials[number - 1].values[objective]);
}

void session_end_trial(struct session *session, size_t number,
                       const double *excesses, bool was_paused)
{
    const struct session_trial *trial = &session->trials[number - 1];
    const struct feedback_item item = {
        .kind = FEEDBACK_RESULT,
        .number = (int64_t)number,
        .state = trial->state,
        .values = trial->values,
        .excesses = excesses,
        .is_scheduled = session->scheduler != NULL,
        .was_paused = was_paused,
    };

    feedback_tell(session->strategy, session->scheduler, session->experiment,
                  &item, NULL);
    if (is_candidate(trial) &&
        (session->best == 0 ||
         cost_of(session, number, 0) < cost_of(session, session->best, 0)))
        session->best = number;
}

/* What the request says of a trial's end; a stopped one may say less. */
static int read_result(const struct session *session, const json_t *request,
                       struct session_trial *end, double *excesses,
                       struct err *err)
{
    const struct experiment *experiment = session->experiment;
    size_t count = experiment->objective_count;
    bool has_succeeded;

    if (session_read_state(request, &end->state, err) != 0)
        return -1;
    has_succeeded = end->state == JOB_SUCCEEDED;
    if (!has_succeeded && end->state != JOB_STOPPED)
        return 0;
    if ((has_succeeded || session_has_values(request)) &&
        session_read_values(request, end->values, count, err) != 0)
        return -1;
    if (has_succeeded &&
        session_read_constraints(request, excesses,
                                 experiment->search.outcome_count, err) != 0)
        return -1;
    if (has_succeeded && !all_finite(end->values, count))
        end->state = JOB_FAILED;
    return 0;
}

double *session_new_nans(size_t count)
{
    double *nans = mem_array(count, sizeof(*nans));

    for (size_t i = 0; i < count; i++)
        nans[i] = (double)NAN;
    return nans;
}

/* Takes the result that was read; its values change hands. */
static json_t *take_result(struct session *session, size_t number,
                           const struct session_trial *end,
                           const double *excesses)
{
    struct session_trial *trial = &session->trials[number - 1];

    trial->values = end->values;
    trial->violation = end->violation;
    trial->state = end->state;
    session->open_count--;
    session_end_trial(session, number, excesses, false);
    return json_pack("{s:b}", "ok", 1);
}

static json_t *answer_tell(struct session *session, const json_t *request,
                           struct err *err)
{
    size_t bound_count = session->experiment->search.outcome_count, number;
    struct session_trial *trial =
        session_find_open(session, request, &number, err);
    struct session_trial end;
    double *excesses;
    json_t *answer = NULL;
    uint64_t budget = 0;

    if (trial == NULL)
        return NULL;
    end = *trial;
    end.values = session_new_nans(session->experiment->objective_count);
    excesses = session_new_nans(bound_count);
    if (read_result(session, request, &end, excesses, err) == 0 &&
        session_schedule_read_budget(session, request, &end, &budget, err) ==
            0) {
        end.violation = outcome_sum_excess(excesses, bound_count);
        answer =
            session_schedule_pause(session, number, budget, &end, excesses);
        if (answer == NULL) {
            answer = take_result(session, number, &end, excesses);
            end.values = NULL;
        }
    }
    free(end.values);
    free(excesses);
    return answer;
}

static json_t *answer_observe(struct session *session, const json_t *request,
                              struct err *err)
{
    double value;
    int64_t step;
    size_t number;

    if (session->scheduler != NULL)
        return session_schedule_observe(session, request, err);
    if (session_find_open(session, request, &number, err) == NULL ||
        session_read_integer(request, "step", &step, err) != 0 ||
        session_read_value(request, &value, err) != 0)
        return NULL;
    return json_pack("{s:s}", "decision", "continue");
}

/* ---- best and why ---- */

static json_t *trial_json(const struct session *session, size_t number)
{
    size_t count = session->experiment->objective_count;
    json_t *json = json_pack("{s:I}", "id", (json_int_t)number);
    json_t *values = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            values, json_from_real(session->trials[number - 1].values[i]));
    if (count == 1)
        json_object_set(json, "value", json_array_get(values, 0));
    else
        json_object_set(json, "values", values);
    json_decref(values);
    json_object_set_new(json, "params",
                        setting_json(session->experiment->space,
                                     session->trials[number - 1].point));
    return json;
}

struct front {
    double *costs;   /* [count of trials][objectives], of candidates */
    size_t *numbers; /* [count] */
    size_t count, objectives;
};

static bool beats(const struct front *front, size_t a, size_t b)
{
    return pareto_dominates(&front->costs[(a - 1) * front->objectives],
                            &front->costs[(b - 1) * front->objectives],
                            front->objectives);
}

/* Takes out those that the newcomer beats, and adds it; unless one beats it. */
static void add_to_front(struct front *front, size_t number)
{
    size_t kept = 0;

    for (size_t i = 0; i < front->count; i++) {
        if (beats(front, front->numbers[i], number))
            return;
    }
    for (size_t i = 0; i < front->count; i++) {
        if (!beats(front, number, front->numbers[i]))
            front->numbers[kept++] = front->numbers[i];
    }
    front->numbers[kept++] = number;
    front->count = kept;
}

static json_t *front_json(const struct session *session)
{
    size_t objectives = session->experiment->objective_count;
    struct front front = {
        .costs = mem_array(session->count * objectives, sizeof(double)),
        .numbers = mem_array(session->count, sizeof(size_t)),
        .objectives = objectives,
    };
    json_t *list = json_array();

    for (size_t number = 1; number <= session->count; number++) {
        if (!is_candidate(&session->trials[number - 1]))
            continue;
        for (size_t i = 0; i < objectives; i++)
            front.costs[(number - 1) * objectives + i] =
                cost_of(session, number, i);
        add_to_front(&front, number);
    }
    for (size_t i = 0; i < front.count; i++)
        json_array_append_new(list, trial_json(session, front.numbers[i]));
    free(front.costs);
    free(front.numbers);
    return json_pack("{s:o}", "front", list);
}

static json_t *answer_best(struct session *session, const json_t *request,
                           struct err *err)
{
    (void)request;
    if (session->best == 0) {
        err_set(err, ERR_NOT_FOUND, "no trial has succeeded yet%s",
                session->experiment->search.outcome_count > 0
                    ? " and satisfied the constraints"
                    : "");
        return NULL;
    }
    return session->experiment->objective_count == 1
               ? trial_json(session, session->best)
               : front_json(session);
}

static json_t *answer_why(struct session *session, const json_t *request,
                          struct err *err)
{
    const struct experiment *experiment = session->experiment;
    size_t number;
    const struct session_trial *trial =
        find_trial(session, request, &number, err);
    const struct suggestion *suggestion;
    json_t *json, *reason;

    if (trial == NULL)
        return NULL;
    json = json_pack("{s:I, s:s, s:s}", "id", (json_int_t)number, "method",
                     strategy_method(session->strategy), "method_reason",
                     strategy_reason(session->strategy));
    session_schedule_describe(session, trial, json);
    suggestion = trial->suggestion;
    if (suggestion == NULL)
        return json;
    reason =
        reason_to_json(&suggestion->reason, experiment->objectives[0].maximize);
    json_object_update(json, reason);
    json_decref(reason);
    if (suggestion->reason.incumbent > 0 &&
        session->trials[suggestion->reason.incumbent - 1].values != NULL)
        json_object_set_new(
            json, "incumbent_value",
            json_from_real(
                session->trials[suggestion->reason.incumbent - 1].values[0]));
    json_object_set_new(json, "known",
                        json_integer((json_int_t)suggestion->told));
    json_object_set_new(json, "pending",
                        json_integer((json_int_t)trial->pending));
    return json;
}

/* ---- requests ---- */

static const struct {
    const char *name;
    json_t *(*answer)(struct session *session, const json_t *request,
                      struct err *err);
} operations[] = {
    {"ask", answer_ask},   {"tell", answer_tell}, {"observe", answer_observe},
    {"best", answer_best}, {"why", answer_why},
};

static json_t *answer_operation(struct session *session, const json_t *request,
                                struct err *err)
{
    const char *names[ARRAY_LEN(operations)];
    const char *name = session_read_text(request, "op", err);

    if (name == NULL)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
        if (strcmp(operations[i].name, name) == 0)
            return operations[i].answer(session, request, err);
        names[i] = operations[i].name;
    }
    text_unknown("op", name, names, ARRAY_LEN(names), ERR_USAGE, err);
    return NULL;
}

void session_answer(struct session *session, const char *line, size_t length,
                    struct buf *out)
{
    struct err err = {0};
    json_t *request = session_parse(line, length, &err);
    json_t *answer = NULL;

    if (request != NULL)
        answer = answer_operation(session, request, &err);
    if (answer == NULL)
        answer = json_pack("{s:o}", "error", json_from_text(err.text));
    json_print(answer, out);
    buf_add_char(out, '\n');
    json_decref(answer);
    json_decref(request);
}
