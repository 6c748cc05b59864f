/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/core/tally.h"

#include <stdlib.h>

bool engine_count(struct engine *engine, const struct feedback_item *item)
{
    bool is_best = feedback_count(&engine->tally, engine->experiment, item);

    engine->transaction.told_count = item->place;
    return is_best;
}

void engine_tally_ended(struct engine *engine, struct job *job, bool was_paused)
{
    struct feedback_item account = {
        .kind = FEEDBACK_RESULT,
        .number = job->number,
        .place = engine->transaction.told_count + 1,
        .state = job->state,
        .is_scheduled = job->is_scheduled,
        .was_paused = was_paused,
    };
    double *values = NULL;

    if (job_has_objectives(job, engine->experiment)) {
        values = job_objectives(job, engine->experiment);
        account.values = values;
        account.outcomes = job->outcomes;
    }
    account.lacks_value = values == NULL && job->end.cause == CAUSE_NO_METRIC;
    job->is_new_best = engine_count(engine, &account);
    engine->source->ended(engine, job, &account);
    engine->queues.reopened_count -= job->is_reopened;
    free(values);
}

/* ---- results that count no more ---- */

struct counting {
    struct feedback *feedback;
    struct err *err;
};

static int add_told(void *user, const struct trial_row *row)
{
    struct counting *counting = user;

    return feedback_add(counting->feedback, row, counting->err);
}

/* The tally as it follows from the record. */
static int recount(struct engine *engine, struct err *err)
{
    struct trial_query query = {.run = engine->run->id, .order = ORDER_NUMBER};
    struct counting counting = {
        .feedback = feedback_create(engine->experiment, engine->store,
                                    engine->run->id, err),
        .err = err,
    };
    const struct feedback_item *trial;
    int result = -1;

    if (counting.feedback != NULL)
        result =
            store_each_trial(engine->store, &query, add_told, &counting, err);
    if (result == 0) {
        tally_forget(&engine->tally);
        while ((trial = feedback_next(counting.feedback, INT64_MAX)) != NULL)
            feedback_count(&engine->tally, engine->experiment, trial);
    }
    feedback_destroy(counting.feedback);
    return result;
}

int engine_tally_reopened(struct engine *engine,
                          const struct reopening *reopening, struct err *err)
{
    if (tally_hangs_on(&engine->tally, reopening->state,
                       reopening->is_infeasible, reopening->number,
                       reopening->told))
        return recount(engine, err);
    tally_remove(&engine->tally, reopening->state, reopening->is_infeasible,
                 reopening->number, reopening->told);
    return 0;
}
