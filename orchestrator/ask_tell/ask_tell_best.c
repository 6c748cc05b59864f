/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What came of a session so far: the best trial, and why one was suggested. */
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/json.h"
#include "base/mem.h"
#include "orchestrator/ask_tell/ask_tell_impl.h"
#include "orchestrator/ask_tell/ask_tell_schedule.h"
#include "orchestrator/search/reason_json.h"
#include "orchestrator/spec/experiment/setting_json.h"
#include "strategies/history/pareto.h"

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
        if (!ask_tell_is_candidate(&ask_tell->trials[number - 1]))
            continue;
        for (size_t i = 0; i < objectives; i++)
            front.costs[(number - 1) * objectives + i] =
                ask_tell_cost(ask_tell, number, i);
        add_to_front(&front, number);
    }
    for (size_t i = 0; i < front.count; i++)
        json_array_append_new(list, trial_json(ask_tell, front.numbers[i]));
    free(front.costs);
    free(front.numbers);
    return json_pack("{s:o}", "front", list);
}

json_t *ask_tell_best(struct ask_tell *ask_tell, UNUSED const json_t *request,
                      struct err *err)
{
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

/* From the record, as the session had it that suggested the trial. */
static void add_recorded(const struct ask_tell_trial *trial, json_t *json)
{
    json_t *reason = json_parse(trial->reason, strlen(trial->reason), NULL);

    json_object_update(json, reason);
    json_decref(reason);
}

static void add_incumbent(const struct ask_tell *ask_tell, json_t *json)
{
    json_int_t number = json_integer_value(json_object_get(json, "incumbent"));
    const struct ask_tell_trial *best;

    if (number < 1 || (size_t)number > ask_tell->count)
        return;
    best = &ask_tell->trials[number - 1];
    if (best->values != NULL)
        json_object_set_new(json, "incumbent_value",
                            json_from_real(best->values[0]));
}

json_t *ask_tell_why(struct ask_tell *ask_tell, const json_t *request,
                     struct err *err)
{
    bool maximize = ask_tell->experiment->objectives[0].maximize;
    size_t number;
    const struct ask_tell_trial *trial =
        ask_tell_find(ask_tell, request, &number, err);
    json_t *json, *reason;

    if (trial == NULL)
        return NULL;
    json = json_pack("{s:I, s:s, s:s}", "id", (json_int_t)number, "method",
                     strategy_method(ask_tell->strategy), "method_reason",
                     strategy_reason(ask_tell->strategy));
    ask_tell_schedule_describe(ask_tell, trial, json);
    if (trial->suggestion == NULL && trial->reason == NULL)
        return json;
    if (trial->suggestion != NULL) {
        reason = reason_to_json(&trial->suggestion->reason, maximize);
        json_object_update(json, reason);
        json_decref(reason);
    } else {
        add_recorded(trial, json);
    }
    add_incumbent(ask_tell, json);
    json_object_set_new(json, "known",
                        json_integer(trial->suggestion != NULL
                                         ? (json_int_t)trial->suggestion->told
                                         : (json_int_t)trial->seen));
    json_object_set_new(json, "unfinished",
                        json_integer((json_int_t)trial->pending));
    return json;
}
