/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trials of a session: they begin, are a client's, wait, and end. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "orchestrator/ask_tell/ask_tell_impl.h"
#include "orchestrator/ask_tell/ask_tell_json.h"
#include "orchestrator/ask_tell/ask_tell_record.h"
#include "orchestrator/search/feedback.h"
#include "orchestrator/spec/experiment/setting_json.h"

/* After so many settings in a row that have a result, there is nothing new. */
enum { MAX_REUSED_IN_ROW = 100 };

double *ask_tell_new_nans(size_t count)
{
    double *nans = mem_array(count, sizeof(*nans));

    for (size_t i = 0; i < count; i++)
        nans[i] = (double)NAN;
    return nans;
}

/* ---- the best ---- */

bool ask_tell_is_candidate(const struct ask_tell_trial *trial)
{
    return trial->values != NULL && trial->state == JOB_SUCCEEDED &&
           trial->violation <= 0;
}

double ask_tell_cost(const struct ask_tell *ask_tell, size_t number,
                     size_t objective)
{
    return feedback_orient(ask_tell->experiment, objective,
                           ask_tell->trials[number - 1].values[objective]);
}

void ask_tell_note_best(struct ask_tell *ask_tell, size_t number)
{
    if (ask_tell_is_candidate(&ask_tell->trials[number - 1]) &&
        (ask_tell->best == 0 || ask_tell_cost(ask_tell, number, 0) <
                                    ask_tell_cost(ask_tell, ask_tell->best, 0)))
        ask_tell->best = number;
}

/* ---- they begin, wait, and end ---- */

static void push_waiting(struct ask_tell *ask_tell, size_t number)
{
    ask_tell->waiting =
        mem_grow(ask_tell->waiting, ask_tell->waiting_count,
                 &ask_tell->waiting_capacity, sizeof(*ask_tell->waiting));
    ask_tell->waiting[ask_tell->waiting_count++] = number;
}

static void remove_waiting(struct ask_tell *ask_tell, size_t number)
{
    size_t kept = 0;

    for (size_t i = 0; i < ask_tell->waiting_count; i++) {
        if (ask_tell->waiting[i] != number)
            ask_tell->waiting[kept++] = ask_tell->waiting[i];
    }
    ask_tell->waiting_count = kept;
}

size_t ask_tell_first_waiting(struct ask_tell *ask_tell)
{
    return ask_tell->waiting_count > 0 ? ask_tell->waiting[0] : 0;
}

void ask_tell_append(struct ask_tell *ask_tell,
                     const struct ask_tell_trial *trial,
                     const struct suggestion *suggestion,
                     const struct assignment *assignment)
{
    struct ask_tell_trial *added;

    ask_tell->trials = mem_grow(ask_tell->trials, ask_tell->count,
                                &ask_tell->capacity, sizeof(*ask_tell->trials));
    added = &ask_tell->trials[ask_tell->count++];
    *added = *trial;
    added->state = JOB_READY;
    added->seen = (uint64_t)ask_tell->told;
    added->wish = suggestion->wish;
    added->pending = ask_tell->open_count++;
    if (assignment != NULL) {
        added->resource = assignment->resource;
        scheduler_assign(ask_tell->scheduler, ask_tell->count, assignment);
    }
    push_waiting(ask_tell, ask_tell->count);
    ask_tell_record_add(ask_tell, ask_tell->count, suggestion, assignment);
}

/* It takes over the result of another one with the same setting. */
static void reuse(struct ask_tell *ask_tell, size_t number, size_t source)
{
    struct ask_tell_trial *trial = &ask_tell->trials[number - 1];
    const struct ask_tell_trial *other = &ask_tell->trials[source - 1];
    const struct experiment *experiment = ask_tell->experiment;

    if (other->values == NULL)
        return;
    trial->values = mem_copy_array(other->values, experiment->objective_count,
                                   sizeof(double));
    if (other->outcomes != NULL)
        trial->outcomes = mem_copy_array(
            other->outcomes, experiment->outcome_count, sizeof(double));
    trial->violation = other->violation;
    trial->has_values = true;
    ask_tell_end_trial(ask_tell, number, JOB_SUCCEEDED);
}

enum ask_result ask_tell_add_trial(struct ask_tell *ask_tell,
                                   const struct assignment *assignment,
                                   struct err *err)
{
    struct ask_tell_trial trial = {
        .point = mem_array(space_count(ask_tell->experiment->space),
                           sizeof(*trial.point)),
    };
    struct suggestion suggestion;
    enum ask_result result = strategy_ask(
        ask_tell->strategy, ask_tell->count + 1, trial.point, &suggestion, err);

    if (result != ASK_OK) {
        ask_tell->is_exhausted |= result == ASK_EXHAUSTED;
        free(trial.point);
        return result;
    }
    if (suggestion.wish > 0 && suggestion.wish == ask_tell->told_wish)
        suggestion.same_as = 0; /* it has a result of its own */
    if (suggestion.reason.step != NULL || suggestion.same_as > 0) {
        trial.suggestion = mem_alloc(sizeof(suggestion));
        *trial.suggestion = suggestion;
    }
    ask_tell_append(ask_tell, &trial, &suggestion, assignment);
    ask_tell->reused_in_row =
        suggestion.same_as > 0 ? ask_tell->reused_in_row + 1 : 0;
    if (ask_tell->record == NULL || suggestion.same_as == 0)
        return ASK_OK;
    ask_tell->is_exhausted |= ask_tell->reused_in_row >= MAX_REUSED_IN_ROW;
    reuse(ask_tell, ask_tell->count, suggestion.same_as);
    return ASK_OK;
}

void ask_tell_lease(struct ask_tell *ask_tell, size_t number)
{
    struct ask_tell_trial *trial = &ask_tell->trials[number - 1];

    if (trial->state == JOB_RUNNING)
        return;
    remove_waiting(ask_tell, number);
    trial->state = JOB_RUNNING;
    trial->client = ask_tell->client;
    ask_tell_record_start(ask_tell, number);
}

void ask_tell_end_trial(struct ask_tell *ask_tell, size_t number,
                        enum job_state state)
{
    struct ask_tell_trial *trial = &ask_tell->trials[number - 1];
    bool was_paused = trial->state == JOB_PAUSED;
    const struct feedback_item item = {
        .kind = FEEDBACK_RESULT,
        .number = (int64_t)number,
        .place = ask_tell->told + 1,
        .state = state,
        .values = trial->has_values ? trial->values : NULL,
        .outcomes = trial->outcomes,
        .is_scheduled = ask_tell->scheduler != NULL,
        .was_paused = was_paused,
    };

    if (trial->state == JOB_READY)
        remove_waiting(ask_tell, number);
    ask_tell->open_count -= !was_paused;
    ask_tell_record_end(ask_tell, number, state);
    trial->state = state;
    trial->client = 0;
    ask_tell->told++;
    feedback_tell(ask_tell->strategy, ask_tell->scheduler, ask_tell->experiment,
                  &item, NULL);
    ask_tell_record_count(ask_tell, &item);
    ask_tell_note_best(ask_tell, number);
}

void ask_tell_give_up(struct ask_tell *ask_tell, size_t number,
                      const char *reason)
{
    struct ask_tell_trial *trial = &ask_tell->trials[number - 1];

    trial->values = trial->reached;
    trial->has_values = trial->values != NULL;
    trial->reached = NULL;
    if (trial->values == NULL)
        trial->values =
            ask_tell_new_nans(ask_tell->experiment->objective_count);
    trial->remark = reason;
    ask_tell_end_trial(ask_tell, number, JOB_STOPPED);
    trial->remark = NULL;
}

void ask_tell_give_back(struct ask_tell *ask_tell, size_t number)
{
    struct ask_tell_trial *trial = &ask_tell->trials[number - 1];

    if (trial->is_given_up) {
        ask_tell_give_up(ask_tell, number, NULL);
        return;
    }
    if (trial->attempt != 0)
        ask_tell_record_give_back(ask_tell, number);
    trial->state = JOB_READY;
    trial->client = 0;
    push_waiting(ask_tell, number);
}

void ask_tell_leave(struct ask_tell *ask_tell, int64_t client)
{
    for (size_t i = 0; i < ask_tell->count; i++) {
        if (ask_tell->trials[i].client == client &&
            ask_tell->trials[i].state == JOB_RUNNING)
            ask_tell_give_back(ask_tell, i + 1);
    }
}

/* ---- for requests ---- */

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

bool ask_tell_has_room(struct ask_tell *ask_tell)
{
    int64_t trials = ask_tell->experiment->budget.trials;

    return ask_tell->record == NULL ||
           (!ask_tell_record_is_over(ask_tell) &&
            (trials == 0 || ask_tell->count < (uint64_t)trials));
}

struct ask_tell_trial *ask_tell_find(struct ask_tell *ask_tell,
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
    struct ask_tell_trial *trial =
        ask_tell_find(ask_tell, request, number, err);

    if (trial != NULL && trial->values != NULL)
        err_set(err, ERR_USAGE, "trial %zu already has a result", *number);
    else if (trial != NULL && trial->state == JOB_PAUSED)
        err_set(err, ERR_USAGE,
                "trial %zu is paused: ask returns it again when it is "
                "promoted",
                *number);
    else if (trial != NULL && trial->state == JOB_RUNNING &&
             trial->client != ask_tell->client)
        err_set(err, ERR_USAGE,
                "another client runs trial %zu, until it disconnects", *number);
    else
        return trial;
    return NULL;
}
