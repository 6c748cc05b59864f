/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/reuse.h"

#include <string.h>

#include "orchestrator/engine/core/tally.h"
#include "orchestrator/engine/core/transaction.h"

/* A trial whose setting has a result already takes it over, without an attempt
 * of its own. */

struct copied {
    const struct experiment *experiment;
    struct trial *trial;
};

static int copy_results(void *user, const struct trial_row *row)
{
    struct copied *source = user;
    struct trial *trial = source->trial;

    for (size_t i = 0; i < source->experiment->objective_count; i++) {
        trial->said[i] = i < row->value_count;
        if (trial->said[i])
            trial->last[i] = trial->best[i] = row->values[i];
    }
    for (size_t i = 0; i < source->experiment->outcome_count; i++) {
        trial->outcomes_said[i] = i < row->outcome_count;
        if (trial->outcomes_said[i])
            trial->outcomes[i] = row->outcomes[i];
    }
    return 0;
}

bool engine_reuse(struct engine *engine, struct trial *trial, int64_t same_as)
{
    struct copied source = {engine->experiment, trial};
    struct trial_query query = {.run = engine->run->id, .number = same_as};
    struct err err;

    if (store_each_trial(engine->store, &query, copy_results, &source, &err) !=
        0) {
        engine_break(engine, &err);
        return false;
    }
    if (!engine_change_trial(engine, trial, EVENT_REUSED,
                             attempt_cause_names[CAUSE_OK]))
        return false;
    trial->end = (struct attempt_exit){.cause = CAUSE_OK, .exit_code = -1};
    engine_account_ended(engine, trial, false);
    TAILQ_INSERT_TAIL(&engine->queues.settled, trial, link);
    return true;
}
