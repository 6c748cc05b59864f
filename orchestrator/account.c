/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine_impl.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "orchestrator/outcome.h"

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

static void tell(struct engine *engine, const struct trial_account *trial)
{
    const struct experiment *experiment = engine->experiment;
    double *values = oriented(experiment, trial->values);
    double *outcomes = excesses(experiment, trial->outcomes);

    strategy_tell(
        engine->strategy, (uint64_t)trial->number,
        &(struct trial_result){.outcome = outcomes_of_states[trial->state],
                               .values = values,
                               .outcomes = outcomes});
    free(values);
    free(outcomes);
}

static bool add_result(struct engine *engine, const struct trial_account *trial)
{
    const struct experiment *experiment = engine->experiment;

    if (outcome_violation(experiment->outcomes, experiment->outcome_count,
                          trial->outcomes) > 0.0) {
        tally_add_infeasible(&engine->tally);
        return false;
    }
    return tally_add_result(
        &engine->tally, &experiment->objectives[0], trial->number,
        trial->values != NULL ? trial->values[0] : (double)NAN);
}

bool engine_account(struct engine *engine, const struct trial_account *trial)
{
    bool is_best = false;

    if (trial->state == JOB_SUCCEEDED)
        is_best = add_result(engine, trial);
    else
        tally_add_other(&engine->tally, trial->state);
    tell(engine, trial);
    return is_best;
}
