/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine_impl.h"

#include <math.h>
#include <stdlib.h>

#include "orchestrator/outcome.h"

static bool add_result(struct engine *engine, const struct told_trial *trial)
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

bool engine_account(struct engine *engine, const struct told_trial *trial)
{
    bool is_best = false;

    if (trial->state == JOB_SUCCEEDED)
        is_best = add_result(engine, trial);
    else
        tally_add_other(&engine->tally, trial->state);
    told_tell(engine->strategy, engine->experiment, trial);
    engine->told_count++;
    return is_best;
}

void engine_account_ended(struct engine *engine, struct trial *trial)
{
    struct told_trial account = {.number = trial->number,
                                 .state = trial->state};
    double *values = NULL;

    if (trial_has_objectives(trial, engine->experiment)) {
        values = trial_objectives(trial, engine->experiment);
        account.values = values;
        account.outcomes = trial->outcomes;
    }
    trial->is_new_best = engine_account(engine, &account);
    free(values);
}
