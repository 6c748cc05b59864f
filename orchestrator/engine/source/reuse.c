/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/reuse.h"

#include <string.h>

#include "orchestrator/engine/core/tally.h"
#include "orchestrator/engine/core/transaction.h"

/* A trial whose setting has a result already takes it over, without an attempt
 * of its own. */

struct copied {
    const struct experiment *experiment;
    struct job *trial;
};

static int copy_results(void *user, const struct trial_row *row)
{
    struct copied *source = user;
    struct job *job = source->trial;

    for (size_t i = 0; i < source->experiment->objective_count; i++) {
        job->said[i] = i < row->value_count;
        if (job->said[i])
            job->last[i] = job->best[i] = row->values[i];
    }
    for (size_t i = 0; i < source->experiment->outcome_count; i++) {
        job->outcomes_said[i] = i < row->outcome_count;
        if (job->outcomes_said[i])
            job->outcomes[i] = row->outcomes[i];
    }
    return 0;
}

bool engine_reuse(struct engine *engine, struct job *job, int64_t same_as)
{
    struct copied source = {engine->experiment, job};
    struct trial_query query = {.run = engine->run->id, .number = same_as};
    struct err err;

    if (store_each_trial(engine->store, &query, copy_results, &source, &err) !=
        0) {
        engine_break(engine, &err);
        return false;
    }
    if (!engine_change_trial(engine, job, EVENT_REUSED,
                             attempt_cause_names[CAUSE_OK]))
        return false;
    job->end = (struct attempt_exit){.cause = CAUSE_OK, .exit_code = -1};
    engine_tally_ended(engine, job, false);
    TAILQ_INSERT_TAIL(&engine->queues.settled, job, link);
    return true;
}
