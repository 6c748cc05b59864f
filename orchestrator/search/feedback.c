/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/search/feedback.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "orchestrator/job/job.h"
#include "orchestrator/spec/experiment/outcome.h"

/* What the schedule knows of a trial. */
struct standing {
    bool is_scheduled, is_paused, has_ended;
};

struct feedback {
    const struct experiment *experiment;
    struct feedback_item *heap; /* [count] */
    size_t count, capacity;
    struct feedback_item current; /* the last one given out */
    struct standing *standings;   /* [standing_count] by number, from 1 */
    size_t standing_count, standing_capacity;
};

const char *const decision_names[] = {
    [DECIDE_CONTINUE] = "continue",
    [DECIDE_PAUSE] = "pause",
    [DECIDE_STOP] = "stop",
};

/* ---- telling ---- */

static const enum trial_outcome outcomes_of_states[] = {
    [JOB_SUCCEEDED] = OUTCOME_COMPLETE,  [JOB_FAILED] = OUTCOME_FAILED,
    [JOB_STOPPED] = OUTCOME_STOPPED,     [JOB_SKIPPED] = OUTCOME_CANCELLED,
    [JOB_CANCELLED] = OUTCOME_CANCELLED,
};

double feedback_orient(const struct experiment *experiment, size_t objective,
                       double value)
{
    return experiment->objectives[objective].maximize ? -value : value;
}

static double *oriented(const struct experiment *experiment,
                        const double *values)
{
    double *result;

    if (values == NULL)
        return NULL;
    result = mem_array(experiment->objective_count, sizeof(*result));
    for (size_t i = 0; i < experiment->objective_count; i++)
        result[i] = feedback_orient(experiment, i, values[i]);
    return result;
}

static double *excesses(const struct experiment *experiment,
                        const struct feedback_item *item)
{
    double *result;

    if (item->outcomes == NULL)
        return NULL;
    result = mem_array(experiment->search.outcome_count, sizeof(*result));
    outcome_excess(experiment->outcomes, experiment->outcome_count,
                   item->outcomes, result);
    return result;
}

/* What the item came to, as methods see it; clear_result() frees it. */
static struct trial_result orient(const struct experiment *experiment,
                                  const struct feedback_item *item)
{
    return (struct trial_result){
        .outcome = outcomes_of_states[item->state],
        .values = oriented(experiment, item->values),
        .outcomes = excesses(experiment, item),
    };
}

static void clear_result(struct trial_result *result)
{
    free((void *)(uintptr_t)result->values);
    free((void *)(uintptr_t)result->outcomes);
}

static void tell_end(struct scheduler *scheduler,
                     const struct feedback_item *item)
{
    const struct assignment stop = {.kind = NEXT_STOP,
                                    .trial = (uint64_t)item->number};

    if (item->was_paused)
        scheduler_assign(scheduler, stop.trial, &stop);
    else
        scheduler_end(scheduler, stop.trial, outcomes_of_states[item->state]);
}

struct assignment feedback_promotion(const struct feedback_item *item)
{
    return (struct assignment){
        .kind = NEXT_PROMOTE,
        .trial = (uint64_t)item->number,
        .resource = (uint64_t)item->resource,
        .bracket = (uint64_t)item->bracket,
        .rung = (uint64_t)item->rung,
    };
}

static void tell_promotion(struct scheduler *scheduler,
                           const struct feedback_item *item)
{
    const struct assignment promotion = feedback_promotion(item);

    scheduler_assign(scheduler, promotion.trial, &promotion);
}

static struct verdict observe(struct scheduler *scheduler,
                              const struct experiment *experiment,
                              const struct feedback_item *item)
{
    size_t i = experiment->schedule.objective;
    const struct observation observation = {
        .trial = (uint64_t)item->number,
        .resource = (uint64_t)item->resource,
        .value = feedback_orient(experiment, i, item->values[i]),
        .last = feedback_orient(experiment, i, item->last),
        .best = feedback_orient(experiment, i, item->best),
    };
    struct verdict verdict;

    scheduler_observe(scheduler, &observation, &verdict);
    return verdict;
}

static void tell_strategy(struct strategy *strategy,
                          const struct experiment *experiment,
                          const struct feedback_item *item, bool goes_on)
{
    struct trial_result result = orient(experiment, item);

    if (item->kind == FEEDBACK_RESULT)
        strategy_tell(strategy, (uint64_t)item->number, &result);
    else
        strategy_observe(
            strategy, (uint64_t)item->number,
            &(struct partial_result){.resource = (uint64_t)item->resource,
                                     .values = result.values,
                                     .outcomes = result.outcomes,
                                     .goes_on = goes_on});
    clear_result(&result);
}

void feedback_tell_convergence(struct convergence *convergence,
                               const struct experiment *experiment,
                               const struct feedback_item *item)
{
    struct trial_result result;

    if (item->kind != FEEDBACK_RESULT)
        return;
    result = orient(experiment, item);
    convergence_tell(convergence, (uint64_t)item->number, &result);
    clear_result(&result);
}

void feedback_tell(struct strategy *strategy, struct scheduler *scheduler,
                   const struct experiment *experiment,
                   const struct feedback_item *item, struct verdict *verdict)
{
    struct verdict decided = {.decision = DECIDE_CONTINUE};

    if (item->kind == FEEDBACK_OBSERVATION)
        decided = observe(scheduler, experiment, item);
    else if (item->kind == FEEDBACK_PROMOTION)
        tell_promotion(scheduler, item);
    else if (scheduler != NULL && item->is_scheduled)
        tell_end(scheduler, item);
    if (item->kind != FEEDBACK_PROMOTION)
        tell_strategy(strategy, experiment, item,
                      decided.decision == DECIDE_CONTINUE);
    if (verdict != NULL)
        *verdict = decided;
}

static bool count_success(struct tally *tally,
                          const struct experiment *experiment,
                          const struct feedback_item *item)
{
    if (outcome_violation(experiment->outcomes, experiment->outcome_count,
                          item->outcomes) > 0.0) {
        tally_add_infeasible(tally);
        return false;
    }
    if (experiment->objective_count == 0) {
        tally_add_copy(tally);
        return false;
    }
    return tally_add_result(
        tally, experiment->objectives, item->number, item->place,
        tally_value(item->values, experiment->objective_count));
}

bool feedback_count(struct tally *tally, const struct experiment *experiment,
                    const struct feedback_item *item)
{
    if (item->kind != FEEDBACK_RESULT || item->is_superseded)
        return false; /* what the trial came to since counts */
    if (item->state == JOB_SUCCEEDED)
        return count_success(tally, experiment, item);
    if (item->lacks_value)
        tally_note_without_value(tally, item->number);
    tally_add_other(tally, item->state, item->number);
    return false;
}

bool feedback_assignment(const struct trial_row *row,
                         struct assignment *assignment)
{
    *assignment = (struct assignment){
        .kind = row->parent > 0 ? NEXT_CLONE : NEXT_NEW,
        .trial = (uint64_t)row->parent,
        .resource = (uint64_t)row->first_resource,
        .bracket = (uint64_t)row->bracket,
        .rung = (uint64_t)row->rung,
    };
    return row->first_resource > 0;
}

/* ---- what is to come, a heap with the first place on top ---- */

static void clear_item(struct feedback_item *item)
{
    free((void *)(uintptr_t)item->values);
    free((void *)(uintptr_t)item->outcomes);
    free((void *)(uintptr_t)item->reason);
    *item = (struct feedback_item){0};
}

static void push(struct feedback *feedback, const struct feedback_item *item)
{
    size_t at = feedback->count, parent;

    feedback->heap = mem_grow(feedback->heap, feedback->count,
                              &feedback->capacity, sizeof(*feedback->heap));
    for (; at > 0; at = parent) {
        parent = (at - 1) / 2;
        if (feedback->heap[parent].place <= item->place)
            break;
        feedback->heap[at] = feedback->heap[parent];
    }
    feedback->heap[at] = *item;
    feedback->count++;
}

static struct feedback_item pop(struct feedback *feedback)
{
    struct feedback_item first = feedback->heap[0];
    struct feedback_item last = feedback->heap[--feedback->count];
    size_t at = 0, child;

    for (; (child = 2 * at + 1) < feedback->count; at = child) {
        if (child + 1 < feedback->count &&
            feedback->heap[child + 1].place < feedback->heap[child].place)
            child++;
        if (last.place <= feedback->heap[child].place)
            break;
        feedback->heap[at] = feedback->heap[child];
    }
    feedback->heap[at] = last;
    return first;
}

/* ---- what is in the record ---- */

/* NULL where not all are there, or none are wanted. */
static const double *copy_reals(const double *reals, size_t count,
                                size_t wanted)
{
    if (wanted == 0 || count != wanted)
        return NULL;
    return mem_copy_array(reals, wanted, sizeof(*reals));
}

static const double *parse_reals(const char *text, size_t wanted)
{
    json_t *list = json_parse(text, strlen(text), NULL);
    size_t count = json_array_size(list);
    double *reals = mem_array(count, sizeof(*reals));
    const double *copy;

    for (size_t i = 0; i < count; i++)
        reals[i] = json_to_real(json_array_get(list, i));
    copy = copy_reals(reals, count, wanted);
    free(reals);
    json_decref(list);
    return copy;
}

struct reader {
    struct feedback *feedback;
    struct err *err;
};

static int on_superseded(void *user, const struct superseded_row *row)
{
    struct reader *reader = user;
    const struct experiment *experiment = reader->feedback->experiment;
    struct feedback_item item = {.number = row->number,
                                 .place = row->told,
                                 .attempts = row->attempts,
                                 .is_superseded = true};

    if (job_state_read(row->number, row->state, &item.state, reader->err) != 0)
        return -1;
    item.values = parse_reals(row->values, experiment->objective_count);
    item.outcomes = parse_reals(row->outcomes, experiment->outcome_count);
    push(reader->feedback, &item);
    return 0;
}

static int find_decision(const struct observation_row *row,
                         enum decision *decision, struct err *err)
{
    for (int i = DECIDE_CONTINUE; i <= DECIDE_STOP; i++) {
        if (strcmp(decision_names[i], row->decision) == 0) {
            *decision = (enum decision)i;
            return 0;
        }
    }
    return err_set(err, ERR_FAILED,
                   "trial %" PRId64
                   " has the unknown decision '%s' (a newer smtune may have "
                   "recorded it)",
                   row->number, row->decision);
}

static int on_observation(void *user, const struct observation_row *row)
{
    struct reader *reader = user;
    const struct experiment *experiment = reader->feedback->experiment;
    struct feedback_item item = {
        .kind = FEEDBACK_OBSERVATION,
        .number = row->number,
        .place = row->told,
        .resource = row->resource,
        .bracket = row->bracket,
        .rung = row->rung,
        .last = row->last,
        .best = row->best,
    };

    if (find_decision(row, &item.decision, reader->err) != 0)
        return -1;
    item.values = parse_reals(row->values, experiment->objective_count);
    item.outcomes = parse_reals(row->outcomes, experiment->outcome_count);
    if (item.values == NULL) {
        free((void *)(uintptr_t)item.outcomes);
        return err_set(reader->err, ERR_FAILED,
                       "trial %" PRId64 " has an observation without values",
                       row->number);
    }
    item.reason = mem_copy_string(row->reason);
    push(reader->feedback, &item);
    if (row->promoted > 0)
        push(reader->feedback,
             &(struct feedback_item){.kind = FEEDBACK_PROMOTION,
                                     .number = row->number,
                                     .place = row->promoted,
                                     .resource = row->promoted_to,
                                     .bracket = row->bracket,
                                     .rung = row->rung + 1});
    return 0;
}

struct feedback *feedback_create(const struct experiment *experiment,
                                 struct store *store, int64_t run,
                                 struct err *err)
{
    struct feedback *feedback = mem_zero(sizeof(*feedback));
    struct reader reader = {feedback, err};

    feedback->experiment = experiment;
    if (store_each_superseded(store, run, on_superseded, &reader, err) == 0 &&
        (!experiment->schedule.is_on ||
         store_each_observation(store, run, 0, on_observation, &reader, err) ==
             0))
        return feedback;
    feedback_destroy(feedback);
    return NULL;
}

/* Numbers rise by one. */
static void add_standing(struct feedback *feedback, const struct trial_row *row)
{
    feedback->standings =
        mem_grow(feedback->standings, feedback->standing_count,
                 &feedback->standing_capacity, sizeof(*feedback->standings));
    feedback->standings[feedback->standing_count++] =
        (struct standing){.is_scheduled = row->first_resource > 0};
}

int feedback_add(struct feedback *feedback, const struct trial_row *row,
                 struct err *err)
{
    struct feedback_item item = {.number = row->number, .place = row->told};

    if (job_state_read(row->number, row->state, &item.state, err) != 0)
        return -1;
    if (feedback->experiment->schedule.is_on)
        add_standing(feedback, row);
    if (row->told == 0)
        return 0;
    item.values = copy_reals(row->values, row->value_count,
                             feedback->experiment->objective_count);
    item.lacks_value =
        item.values == NULL && job_cause_is_no_metric(row->cause);
    item.outcomes = copy_reals(row->outcomes, row->outcome_count,
                               feedback->experiment->outcome_count);
    push(feedback, &item);
    return 0;
}

void feedback_destroy(struct feedback *feedback)
{
    if (feedback == NULL)
        return;
    for (size_t i = 0; i < feedback->count; i++)
        clear_item(&feedback->heap[i]);
    clear_item(&feedback->current);
    free(feedback->heap);
    free(feedback->standings);
    free(feedback);
}

static void follow(struct feedback *feedback, struct feedback_item *item)
{
    size_t index = (size_t)item->number - 1;
    struct standing *standing;

    if (index >= feedback->standing_count)
        return;
    standing = &feedback->standings[index];
    if (item->kind == FEEDBACK_RESULT) {
        item->is_scheduled = standing->is_scheduled && !standing->has_ended;
        item->was_paused = standing->is_paused;
        standing->has_ended = true;
    }
    standing->is_paused =
        item->kind == FEEDBACK_OBSERVATION && item->decision == DECIDE_PAUSE;
}

const struct feedback_item *feedback_next(struct feedback *feedback,
                                          int64_t place)
{
    clear_item(&feedback->current);
    if (feedback->count == 0 || feedback->heap[0].place > place)
        return NULL;
    feedback->current = pop(feedback);
    follow(feedback, &feedback->current);
    return &feedback->current;
}
