/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/told.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "orchestrator/outcome.h"

struct told {
    const struct experiment *experiment;
    struct told_trial *trials; /* [count], by place */
    size_t count, capacity;
    size_t next;
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

/* ---- the list ---- */

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

struct told *told_create(const struct experiment *experiment)
{
    struct told *told = mem_zero(sizeof(*told));

    told->experiment = experiment;
    return told;
}

/* Its place among the others, which is at the end or near it. */
static void insert(struct told *told, const struct told_trial *trial)
{
    size_t at = told->count;

    told->trials = mem_grow(told->trials, told->count, &told->capacity,
                            sizeof(*told->trials));
    for (; at > told->next && told->trials[at - 1].place > trial->place; at--)
        told->trials[at] = told->trials[at - 1];
    told->trials[at] = *trial;
    told->count++;
}

int told_add(struct told *told, const struct trial_row *row, struct err *err)
{
    int state = job_state_find(row->state);
    struct told_trial trial = {.number = row->number, .place = row->told};

    if (state < 0)
        return err_set(err, ERR_FAILED,
                       "trial %" PRId64 " is in a state that this version "
                       "does not know: '%s'",
                       row->number, row->state);
    if (row->told == 0)
        return 0;
    trial.state = (enum job_state)state;
    trial.values = copy_reals(row->values, row->value_count,
                              told->experiment->objective_count);
    trial.outcomes = copy_reals(row->outcomes, row->outcome_count,
                                told->experiment->outcome_count);
    insert(told, &trial);
    return 0;
}

void told_destroy(struct told *told)
{
    if (told == NULL)
        return;
    for (size_t i = 0; i < told->count; i++) {
        free((void *)(uintptr_t)told->trials[i].values);
        free((void *)(uintptr_t)told->trials[i].outcomes);
    }
    free(told->trials);
    free(told);
}

const struct told_trial *told_next(struct told *told, int64_t place)
{
    if (told->next == told->count || told->trials[told->next].place > place)
        return NULL;
    return &told->trials[told->next++];
}
