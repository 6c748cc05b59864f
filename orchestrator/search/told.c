/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/search/told.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "orchestrator/spec/outcome.h"

/* What the schedule knows of a trial. */
struct standing {
    bool is_scheduled, is_paused, has_ended;
};

struct told {
    const struct experiment *experiment;
    struct told_item *heap; /* [count] */
    size_t count, capacity;
    struct told_item current;   /* the last one given out */
    struct standing *standings; /* [standing_count] by number, from 1 */
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

double told_orient(const struct experiment *experiment, size_t objective,
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
        result[i] = told_orient(experiment, i, values[i]);
    return result;
}

static double *excesses(const struct experiment *experiment,
                        const struct told_item *item)
{
    size_t count = experiment->search.outcome_count;
    double *result;

    if (item->outcomes == NULL && item->excesses == NULL)
        return NULL;
    result = mem_array(count, sizeof(*result));
    if (item->excesses == NULL)
        outcome_excess(experiment->outcomes, experiment->outcome_count,
                       item->outcomes, result);
    else if (count > 0)
        memcpy(result, item->excesses, count * sizeof(*result));
    return result;
}

/* What the item came to, as methods see it; clear_result() frees it. */
static struct trial_result orient(const struct experiment *experiment,
                                  const struct told_item *item)
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

static void tell_end(struct scheduler *scheduler, const struct told_item *item)
{
    const struct assignment stop = {.kind = NEXT_STOP,
                                    .trial = (uint64_t)item->number};

    if (item->was_paused)
        scheduler_assign(scheduler, stop.trial, &stop);
    else
        scheduler_end(scheduler, stop.trial, outcomes_of_states[item->state]);
}

struct assignment told_promotion(const struct told_item *item)
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
                           const struct told_item *item)
{
    const struct assignment promotion = told_promotion(item);

    scheduler_assign(scheduler, promotion.trial, &promotion);
}

static struct verdict observe(struct scheduler *scheduler,
                              const struct experiment *experiment,
                              const struct told_item *item)
{
    size_t i = experiment->schedule.objective;
    const struct observation observation = {
        .trial = (uint64_t)item->number,
        .resource = (uint64_t)item->resource,
        .value = told_orient(experiment, i, item->values[i]),
        .last = told_orient(experiment, i, item->last),
        .best = told_orient(experiment, i, item->best),
    };
    struct verdict verdict;

    scheduler_observe(scheduler, &observation, &verdict);
    return verdict;
}

static void tell_strategy(struct strategy *strategy,
                          const struct experiment *experiment,
                          const struct told_item *item, bool goes_on)
{
    struct trial_result result = orient(experiment, item);

    if (item->kind == TOLD_RESULT)
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

void told_tell_convergence(struct convergence *convergence,
                           const struct experiment *experiment,
                           const struct told_item *item)
{
    struct trial_result result;

    if (item->kind != TOLD_RESULT)
        return;
    result = orient(experiment, item);
    convergence_tell(convergence, (uint64_t)item->number, &result);
    clear_result(&result);
}

void told_tell(struct strategy *strategy, struct scheduler *scheduler,
               const struct experiment *experiment,
               const struct told_item *item, struct verdict *verdict)
{
    struct verdict decided = {.decision = DECIDE_CONTINUE};

    if (item->kind == TOLD_OBSERVATION)
        decided = observe(scheduler, experiment, item);
    else if (item->kind == TOLD_PROMOTION)
        tell_promotion(scheduler, item);
    else if (scheduler != NULL && item->is_scheduled)
        tell_end(scheduler, item);
    if (item->kind != TOLD_PROMOTION)
        tell_strategy(strategy, experiment, item,
                      decided.decision == DECIDE_CONTINUE);
    if (verdict != NULL)
        *verdict = decided;
}

bool told_assignment(const struct trial_row *row, struct assignment *assignment)
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

static void clear_item(struct told_item *item)
{
    free((void *)(uintptr_t)item->values);
    free((void *)(uintptr_t)item->outcomes);
    free((void *)(uintptr_t)item->reason);
    *item = (struct told_item){0};
}

static void push(struct told *told, const struct told_item *item)
{
    size_t at = told->count, parent;

    told->heap =
        mem_grow(told->heap, told->count, &told->capacity, sizeof(*told->heap));
    for (; at > 0; at = parent) {
        parent = (at - 1) / 2;
        if (told->heap[parent].place <= item->place)
            break;
        told->heap[at] = told->heap[parent];
    }
    told->heap[at] = *item;
    told->count++;
}

static struct told_item pop(struct told *told)
{
    struct told_item first = told->heap[0];
    struct told_item last = told->heap[--told->count];
    size_t at = 0, child;

    for (; (child = 2 * at + 1) < told->count; at = child) {
        if (child + 1 < told->count &&
            told->heap[child + 1].place < told->heap[child].place)
            child++;
        if (last.place <= told->heap[child].place)
            break;
        told->heap[at] = told->heap[child];
    }
    told->heap[at] = last;
    return first;
}

/* ---- what is in the record ---- */

/* NULL where not all are there, or none are wanted. */
static const double *copy_reals(const double *reals, size_t count,
                                size_t wanted)
{
    double *copy;

    if (wanted == 0 || count != wanted)
        return NULL;
    copy = mem_array(wanted, sizeof(*copy));
    memcpy(copy, reals, wanted * sizeof(*copy));
    return copy;
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
    struct told *told;
    struct err *err;
};

static int on_superseded(void *user, const struct superseded_row *row)
{
    struct reader *reader = user;
    const struct experiment *experiment = reader->told->experiment;
    struct told_item item = {.number = row->number,
                             .place = row->told,
                             .attempts = row->attempts,
                             .is_superseded = true};

    if (job_state_read(row->number, row->state, &item.state, reader->err) != 0)
        return -1;
    item.values = parse_reals(row->values, experiment->objective_count);
    item.outcomes = parse_reals(row->outcomes, experiment->outcome_count);
    push(reader->told, &item);
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
                   "trial %" PRId64 " has a decision that this version does "
                   "not know: '%s'",
                   row->number, row->decision);
}

static int on_observation(void *user, const struct observation_row *row)
{
    struct reader *reader = user;
    const struct experiment *experiment = reader->told->experiment;
    struct told_item item = {
        .kind = TOLD_OBSERVATION,
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
    push(reader->told, &item);
    if (row->promoted > 0)
        push(reader->told, &(struct told_item){.kind = TOLD_PROMOTION,
                                               .number = row->number,
                                               .place = row->promoted,
                                               .resource = row->promoted_to,
                                               .bracket = row->bracket,
                                               .rung = row->rung + 1});
    return 0;
}

struct told *told_create(const struct experiment *experiment,
                         struct store *store, int64_t run, struct err *err)
{
    struct told *told = mem_zero(sizeof(*told));
    struct reader reader = {told, err};

    told->experiment = experiment;
    if (store_each_superseded(store, run, on_superseded, &reader, err) == 0 &&
        (!experiment->schedule.is_on ||
         store_each_observation(store, run, 0, on_observation, &reader, err) ==
             0))
        return told;
    told_destroy(told);
    return NULL;
}

/* Numbers rise by one. */
static void add_standing(struct told *told, const struct trial_row *row)
{
    told->standings =
        mem_grow(told->standings, told->standing_count,
                 &told->standing_capacity, sizeof(*told->standings));
    told->standings[told->standing_count++] =
        (struct standing){.is_scheduled = row->first_resource > 0};
}

int told_add(struct told *told, const struct trial_row *row, struct err *err)
{
    struct told_item item = {.number = row->number, .place = row->told};

    if (job_state_read(row->number, row->state, &item.state, err) != 0)
        return -1;
    if (told->experiment->schedule.is_on)
        add_standing(told, row);
    if (row->told == 0)
        return 0;
    item.values = copy_reals(row->values, row->value_count,
                             told->experiment->objective_count);
    item.outcomes = copy_reals(row->outcomes, row->outcome_count,
                               told->experiment->outcome_count);
    push(told, &item);
    return 0;
}

void told_destroy(struct told *told)
{
    if (told == NULL)
        return;
    for (size_t i = 0; i < told->count; i++)
        clear_item(&told->heap[i]);
    clear_item(&told->current);
    free(told->heap);
    free(told->standings);
    free(told);
}

static void follow(struct told *told, struct told_item *item)
{
    size_t index = (size_t)item->number - 1;
    struct standing *standing;

    if (index >= told->standing_count)
        return;
    standing = &told->standings[index];
    if (item->kind == TOLD_RESULT) {
        item->is_scheduled = standing->is_scheduled && !standing->has_ended;
        item->was_paused = standing->is_paused;
        standing->has_ended = true;
    }
    standing->is_paused =
        item->kind == TOLD_OBSERVATION && item->decision == DECIDE_PAUSE;
}

const struct told_item *told_next(struct told *told, int64_t place)
{
    clear_item(&told->current);
    if (told->count == 0 || told->heap[0].place > place)
        return NULL;
    told->current = pop(told);
    follow(told, &told->current);
    return &told->current;
}
