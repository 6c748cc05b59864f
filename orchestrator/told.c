/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/told.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "orchestrator/outcome.h"

struct told {
    const struct experiment *experiment;
    struct told_trial *heap; /* [count] */
    size_t count, capacity;
    struct told_trial current; /* the last one given out */
};

/* ---- telling ---- */

static const enum trial_outcome outcomes_of_states[] = {
    [JOB_SUCCEEDED] = OUTCOME_COMPLETE,  [JOB_FAILED] = OUTCOME_FAILED,
    [JOB_STOPPED] = OUTCOME_STOPPED,     [JOB_SKIPPED] = OUTCOME_CANCELLED,
    [JOB_CANCELLED] = OUTCOME_CANCELLED,
};

/* As methods see it: lower is better. */
static double *oriented(const struct experiment *experiment,
                        const double *values)
{
    double *result;

    if (values == NULL)
        return NULL;
    result = mem_array(experiment->objective_count, sizeof(*result));
    for (size_t i = 0; i < experiment->objective_count; i++)
        result[i] = experiment->objectives[i].maximize ? -values[i] : values[i];
    return result;
}

static double *excesses(const struct experiment *experiment,
                        const double *outcomes)
{
    double *result;

    if (outcomes == NULL || experiment->outcome_count == 0)
        return NULL;
    result = mem_array(experiment->search.outcome_count, sizeof(*result));
    outcome_excess(experiment->outcomes, experiment->outcome_count, outcomes,
                   result);
    return result;
}

void told_tell(struct strategy *strategy, const struct experiment *experiment,
               const struct told_trial *trial)
{
    double *values = oriented(experiment, trial->values);
    double *outcomes = excesses(experiment, trial->outcomes);

    strategy_tell(
        strategy, (uint64_t)trial->number,
        &(struct trial_result){.outcome = outcomes_of_states[trial->state],
                               .values = values,
                               .outcomes = outcomes});
    free(values);
    free(outcomes);
}

/* ---- the results to come, a heap with the first place on top ---- */

static void clear_trial(struct told_trial *trial)
{
    free((void *)(uintptr_t)trial->values);
    free((void *)(uintptr_t)trial->outcomes);
    *trial = (struct told_trial){0};
}

static void push(struct told *told, const struct told_trial *trial)
{
    size_t at = told->count, parent;

    told->heap =
        mem_grow(told->heap, told->count, &told->capacity, sizeof(*told->heap));
    for (; at > 0; at = parent) {
        parent = (at - 1) / 2;
        if (told->heap[parent].place <= trial->place)
            break;
        told->heap[at] = told->heap[parent];
    }
    told->heap[at] = *trial;
    told->count++;
}

static struct told_trial pop(struct told *told)
{
    struct told_trial first = told->heap[0];
    struct told_trial last = told->heap[--told->count];
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

/* NULL where there are none. */
static const double *copy_reals(const double *reals, size_t count,
                                size_t wanted)
{
    double *copy;

    if (count == 0)
        return NULL;
    copy = mem_array(wanted, sizeof(*copy));
    for (size_t i = 0; i < wanted; i++)
        copy[i] = i < count ? reals[i] : (double)NAN;
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

static int find_state(int64_t number, const char *word, enum job_state *state,
                      struct err *err)
{
    int found = job_state_find(word);

    if (found < 0)
        return err_set(err, ERR_FAILED,
                       "trial %" PRId64 " is in a state that this version "
                       "does not know: '%s'",
                       number, word);
    *state = (enum job_state)found;
    return 0;
}

struct reader {
    struct told *told;
    struct err *err;
};

static int on_superseded(void *user, const struct superseded_row *row)
{
    struct reader *reader = user;
    const struct experiment *experiment = reader->told->experiment;
    struct told_trial trial = {.number = row->number,
                               .place = row->told,
                               .attempts = row->attempts,
                               .is_superseded = true};

    if (find_state(row->number, row->state, &trial.state, reader->err) != 0)
        return -1;
    trial.values = parse_reals(row->values, experiment->objective_count);
    trial.outcomes = parse_reals(row->outcomes, experiment->outcome_count);
    push(reader->told, &trial);
    return 0;
}

struct told *told_create(const struct experiment *experiment,
                         struct store *store, int64_t run, struct err *err)
{
    struct told *told = mem_zero(sizeof(*told));
    struct reader reader = {told, err};

    told->experiment = experiment;
    if (store_each_superseded(store, run, on_superseded, &reader, err) == 0)
        return told;
    told_destroy(told);
    return NULL;
}

int told_add(struct told *told, const struct trial_row *row, struct err *err)
{
    struct told_trial trial = {.number = row->number, .place = row->told};

    if (find_state(row->number, row->state, &trial.state, err) != 0)
        return -1;
    if (row->told == 0)
        return 0;
    trial.values = copy_reals(row->values, row->value_count,
                              told->experiment->objective_count);
    trial.outcomes = copy_reals(row->outcomes, row->outcome_count,
                                told->experiment->outcome_count);
    push(told, &trial);
    return 0;
}

void told_destroy(struct told *told)
{
    if (told == NULL)
        return;
    for (size_t i = 0; i < told->count; i++)
        clear_trial(&told->heap[i]);
    clear_trial(&told->current);
    free(told->heap);
    free(told);
}

const struct told_trial *told_next(struct told *told, int64_t place)
{
    clear_trial(&told->current);
    if (told->count == 0 || told->heap[0].place > place)
        return NULL;
    told->current = pop(told);
    return &told->current;
}
