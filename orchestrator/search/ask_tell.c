/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The search of an experiment for another program, which asks for trials and
 * tells their results. Trials live in one array by number, with what was said
 * of them. What search and schedule learn of that goes through feedback.h, as
 * it does in an engine: the direction of objectives and what bounds are
 * exceeded by are its affair.
 */
#include "orchestrator/search/ask_tell.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/search/ask_tell_impl.h"
#include "orchestrator/search/ask_tell_json.h"
#include "orchestrator/search/ask_tell_schedule.h"
#include "orchestrator/search/feedback.h"
#include "orchestrator/search/reason_json.h"
#include "orchestrator/search/search.h"
#include "orchestrator/spec/experiment/outcome.h"
#include "orchestrator/spec/experiment/setting_json.h"
#include "strategies/history/pareto.h"

struct ask_tell *ask_tell_create(const struct experiment *experiment,
                                 const struct warm_start *warm, struct err *err)
{
    struct ask_tell *ask_tell = mem_zero(sizeof(*ask_tell));

    ask_tell->experiment = experiment;
    ask_tell->strategy = search_create(experiment, warm, err);
    if (ask_tell->strategy != NULL &&
        ask_tell_schedule_open(ask_tell, err) == 0)
        return ask_tell;
    ask_tell_destroy(ask_tell);
    return NULL;
}

void ask_tell_destroy(struct ask_tell *ask_tell)
{
    if (ask_tell == NULL)
        return;
    for (size_t i = 0; i < ask_tell->count; i++) {
        free(ask_tell->trials[i].point);
        free(ask_tell->trials[i].values);
        free(ask_tell->trials[i].suggestion);
        free(ask_tell->trials[i].reached);
    }
    free(ask_tell->trials);
    scheduler_destroy(ask_tell->scheduler);
    strategy_destroy(ask_tell->strategy);
    free(ask_tell);
}

/* ---- ask ---- */

void ask_tell_append(struct ask_tell *ask_tell,
                     const struct ask_tell_trial *trial)
{
    ask_tell->trials = mem_grow(ask_tell->trials, ask_tell->count,
                                &ask_tell->capacity, sizeof(*ask_tell->trials));
    ask_tell->trials[ask_tell->count] = *trial;
    ask_tell->trials[ask_tell->count++].pending = ask_tell->open_count++;
}

enum ask_result ask_tell_add_trial(struct ask_tell *ask_tell, struct err *err)
{
    struct ask_tell_trial trial = {
        .point = mem_array(space_count(ask_tell->experiment->space),
                           sizeof(*trial.point)),
    };
    struct suggestion suggestion;
    enum ask_result result = strategy_ask(
        ask_tell->strategy, ask_tell->count + 1, trial.point, &suggestion, err);

    if (result != ASK_OK) {
        free(trial.point);
        return result;
    }
    if (suggestion.reason.step != NULL || suggestion.same_as > 0) {
        trial.suggestion = mem_alloc(sizeof(suggestion));
        *trial.suggestion = suggestion;
    }
    ask_tell_append(ask_tell, &trial);
    return ASK_OK;
}

json_t *ask_tell_trial_json(const struct ask_tell *ask_tell, size_t number)
{
    const struct ask_tell_trial *trial = &ask_tell->trials[number - 1];
    json_t *json = json_object();

    json_object_set_new(json, "id", json_integer((json_int_t)number));
    json_object_set_new(
        json, "params",
        setting_json(ask_tell->experiment->space, trial->point));
    if (trial->suggestion != NULL && trial->suggestion->same_as > 0)
        json_object_set_new(
            json, "same_as",
            json_integer((json_int_t)trial->suggestion->same_as));
    return json;
}

/* An error behind the first trial comes up again with the next request. */
static json_t *answer_ask(struct ask_tell *ask_tell, const json_t *request,
                          struct err *err)
{
    enum ask_result result = ASK_OK;
    json_t *trials, *answer;
    int64_t count = 1;

    if (ask_tell->scheduler != NULL)
        return ask_tell_schedule_ask(ask_tell, request, err);
    if (ask_tell_read_count(request, "n", ASK_TELL_MAX_ASK, &count, err) != 0)
        return NULL;
    trials = json_array();
    for (int64_t i = 0; i < count && result == ASK_OK; i++) {
        result = ask_tell_add_trial(ask_tell, err);
        if (result == ASK_OK)
            json_array_append_new(
                trials, ask_tell_trial_json(ask_tell, ask_tell->count));
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
static struct ask_tell_trial *find_trial(struct ask_tell *ask_tell,
                                         const json_t *request, size_t *number,
                                         struct err *err)
{
    int64_t id;

    if (ask_tell_read_id(request, &id, err) != 0)
        return NULL;
    if (id < 1 || (uint64_t)id > ask_tell->count) {
        err_set(err, ERR_NOT_FOUND,
                "there is no trial %" PRId64 " (%zu suggested so far)", id,
                ask_tell->count);
        return NULL;
    }
    *number = (size_t)id;
    return &ask_tell->trials[id - 1];
}

struct ask_tell_trial *ask_tell_find_open(struct ask_tell *ask_tell,
                                          const json_t *request, size_t *number,
                                          struct err *err)
{
    struct ask_tell_trial *trial = find_trial(ask_tell, request, number, err);

    if (trial != NULL && trial->values != NULL)
        err_set(err, ERR_USAGE, "trial %zu already has a result", *number);
    else if (trial != NULL && trial->is_paused)
        err_set(err, ERR_USAGE,
                "trial %zu is paused: ask returns it again when it is "
                "promoted",
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

static bool is_candidate(const struct ask_tell_trial *trial)
{
    return trial->values != NULL && trial->state == JOB_SUCCEEDED &&
           trial->violation <= 0;
}

/* The lower the better. */
static double cost_of(const struct ask_tell *ask_tell, size_t number,
                      size_t objective)
{
    return feedback_orient(ask_tell->experiment, objective,
                           ask_tell->trials[number - 1].values[objective]);
}

void ask_tell_end_trial(struct ask_tell *ask_tell, size_t number,
                        const double *excesses, bool was_paused)
{
    const struct ask_tell_trial *trial = &ask_tell->trials[number - 1];
    const struct feedback_item item = {
        .kind = FEEDBACK_RESULT,
        .number = (int64_t)number,
        .state = trial->state,
        .values = trial->values,
        .excesses = excesses,
        .is_scheduled = ask_tell->scheduler != NULL,
        .was_paused = was_paused,
    };

    feedback_tell(ask_tell->strategy, ask_tell->scheduler, ask_tell->experiment,
                  &item, NULL);
    if (is_candidate(trial) &&
        (ask_tell->best == 0 ||
         cost_of(ask_tell, number, 0) < cost_of(ask_tell, ask_tell->best, 0)))
        ask_tell->best = number;
}

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
    if ((has_succeeded || ask_tell_has_values(request)) &&
        ask_tell_read_values(request, end->values, count, err) != 0)
        return -1;
    if (has_succeeded &&
        ask_tell_read_constraints(request, excesses,
                                  experiment->search.outcome_count, err) != 0)
        return -1;
    if (has_succeeded && !all_finite(end->values, count))
        end->state = JOB_FAILED;
    return 0;
}

double *ask_tell_new_nans(size_t count)
{
    double *nans = mem_array(count, sizeof(*nans));

    for (size_t i = 0; i < count; i++)
        nans[i] = (double)NAN;
    return nans;
}

/* Takes the result that was read; its values change hands. */
static json_t *take_result(struct ask_tell *ask_tell, size_t number,
                           const struct ask_tell_trial *end,
                           const double *excesses)
{
    struct ask_tell_trial *trial = &ask_tell->trials[number - 1];

    trial->values = end->values;
    trial->violation = end->violation;
    trial->state = end->state;
    ask_tell->open_count--;
    ask_tell_end_trial(ask_tell, number, excesses, false);
    return json_pack("{s:b}", "ok", 1);
}

static json_t *answer_tell(struct ask_tell *ask_tell, const json_t *request,
                           struct err *err)
{
    size_t bound_count = ask_tell->experiment->search.outcome_count, number;
    struct ask_tell_trial *trial =
        ask_tell_find_open(ask_tell, request, &number, err);
    struct ask_tell_trial end;
    double *excesses;
    json_t *answer = NULL;
    uint64_t budget = 0;

    if (trial == NULL)
        return NULL;
    end = *trial;
    end.values = ask_tell_new_nans(ask_tell->experiment->objective_count);
    excesses = ask_tell_new_nans(bound_count);
    if (read_result(ask_tell, request, &end, excesses, err) == 0 &&
        ask_tell_schedule_read_budget(ask_tell, request, &end, &budget, err) ==
            0) {
        end.violation = outcome_sum_excess(excesses, bound_count);
        answer =
            ask_tell_schedule_pause(ask_tell, number, budget, &end, excesses);
        if (answer == NULL) {
            answer = take_result(ask_tell, number, &end, excesses);
            end.values = NULL;
        }
    }
    free(end.values);
    free(excesses);
    return answer;
}

static json_t *answer_observe(struct ask_tell *ask_tell, const json_t *request,
                              struct err *err)
{
    double value;
    int64_t step;
    size_t number;

    if (ask_tell->scheduler != NULL)
        return ask_tell_schedule_observe(ask_tell, request, err);
    if (ask_tell_find_open(ask_tell, request, &number, err) == NULL ||
        ask_tell_read_integer(request, "step", &step, err) != 0 ||
        ask_tell_read_value(request, &value, err) != 0)
        return NULL;
    return json_pack("{s:s}", "decision", "continue");
}

/* ---- best and why ---- */

static json_t *trial_json(const struct ask_tell *ask_tell, size_t number)
{
    size_t count = ask_tell->experiment->objective_count;
    json_t *json = json_pack("{s:I}", "id", (json_int_t)number);
    json_t *values = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            values, json_from_real(ask_tell->trials[number - 1].values[i]));
    if (count == 1)
        json_object_set(json, "value", json_array_get(values, 0));
    else
        json_object_set(json, "values", values);
    json_decref(values);
    json_object_set_new(json, "params",
                        setting_json(ask_tell->experiment->space,
                                     ask_tell->trials[number - 1].point));
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

static json_t *front_json(const struct ask_tell *ask_tell)
{
    size_t objectives = ask_tell->experiment->objective_count;
    struct front front = {
        .costs = mem_array(ask_tell->count * objectives, sizeof(double)),
        .numbers = mem_array(ask_tell->count, sizeof(size_t)),
        .objectives = objectives,
    };
    json_t *list = json_array();

    for (size_t number = 1; number <= ask_tell->count; number++) {
        if (!is_candidate(&ask_tell->trials[number - 1]))
            continue;
        for (size_t i = 0; i < objectives; i++)
            front.costs[(number - 1) * objectives + i] =
                cost_of(ask_tell, number, i);
        add_to_front(&front, number);
    }
    for (size_t i = 0; i < front.count; i++)
        json_array_append_new(list, trial_json(ask_tell, front.numbers[i]));
    free(front.costs);
    free(front.numbers);
    return json_pack("{s:o}", "front", list);
}

static json_t *answer_best(struct ask_tell *ask_tell, const json_t *request,
                           struct err *err)
{
    (void)request;
    if (ask_tell->best == 0) {
        err_set(err, ERR_NOT_FOUND, "no trial has succeeded%s yet",
                ask_tell->experiment->search.outcome_count > 0
                    ? " and satisfied the constraints"
                    : "");
        return NULL;
    }
    return ask_tell->experiment->objective_count == 1
               ? trial_json(ask_tell, ask_tell->best)
               : front_json(ask_tell);
}

static json_t *answer_why(struct ask_tell *ask_tell, const json_t *request,
                          struct err *err)
{
    const struct experiment *experiment = ask_tell->experiment;
    size_t number;
    const struct ask_tell_trial *trial =
        find_trial(ask_tell, request, &number, err);
    const struct suggestion *suggestion;
    json_t *json, *reason;

    if (trial == NULL)
        return NULL;
    json = json_pack("{s:I, s:s, s:s}", "id", (json_int_t)number, "method",
                     strategy_method(ask_tell->strategy), "method_reason",
                     strategy_reason(ask_tell->strategy));
    ask_tell_schedule_describe(ask_tell, trial, json);
    suggestion = trial->suggestion;
    if (suggestion == NULL)
        return json;
    reason =
        reason_to_json(&suggestion->reason, experiment->objectives[0].maximize);
    json_object_update(json, reason);
    json_decref(reason);
    if (suggestion->reason.incumbent > 0 &&
        ask_tell->trials[suggestion->reason.incumbent - 1].values != NULL)
        json_object_set_new(
            json, "incumbent_value",
            json_from_real(
                ask_tell->trials[suggestion->reason.incumbent - 1].values[0]));
    json_object_set_new(json, "known",
                        json_integer((json_int_t)suggestion->told));
    json_object_set_new(json, "unfinished",
                        json_integer((json_int_t)trial->pending));
    return json;
}

/* ---- requests ---- */

static const struct {
    const char *name;
    json_t *(*answer)(struct ask_tell *ask_tell, const json_t *request,
                      struct err *err);
} operations[] = {
    {"ask", answer_ask},   {"tell", answer_tell}, {"observe", answer_observe},
    {"best", answer_best}, {"why", answer_why},
};

static json_t *answer_operation(struct ask_tell *ask_tell,
                                const json_t *request, struct err *err)
{
    const char *names[ARRAY_LEN(operations)];
    const char *name = ask_tell_read_text(request, "op", err);

    if (name == NULL)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
        if (strcmp(operations[i].name, name) == 0)
            return operations[i].answer(ask_tell, request, err);
        names[i] = operations[i].name;
    }
    text_unknown("op", name, names, ARRAY_LEN(names), ERR_USAGE, err);
    return NULL;
}

void ask_tell_answer(struct ask_tell *ask_tell, const char *line, size_t length,
                     struct buf *out)
{
    struct err err = {0};
    json_t *request = ask_tell_parse(line, length, &err);
    json_t *answer = NULL;

    if (request != NULL)
        answer = answer_operation(ask_tell, request, &err);
    if (answer == NULL)
        answer = json_pack("{s:o}", "error", json_from_text(err.text));
    json_print(answer, out);
    buf_add_char(out, '\n');
    json_decref(answer);
    json_decref(request);
}
