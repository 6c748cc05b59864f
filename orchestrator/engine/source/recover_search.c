/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/recover_search.h"

#include "orchestrator/engine/core/tally.h"
#include "orchestrator/engine/source/feedback.h"
#include "orchestrator/run/enqueue.h"
#include "orchestrator/search/feedback.h"
#include "orchestrator/search/search.h"

/*
 * The strategy goes through what it went through before: trials in the order of
 * their numbers, and between them the results that were known when each was
 * suggested. What is not over becomes a trial in memory again.
 */

struct reading {
    struct taking_up *taking_up;
    struct feedback *feedback;
};

/* What was told up to that place. */
static void tell_until(struct reading *reading, int64_t place)
{
    struct engine *engine = reading->taking_up->engine;
    const struct feedback_item *item;

    while ((item = feedback_next(reading->feedback, place)) != NULL) {
        engine_count(engine, item);
        feedback_give(engine, item, NULL);
    }
}

static int on_trial(void *user, const struct trial_row *row)
{
    struct reading *reading = user;
    struct taking_up *taking_up = reading->taking_up;
    struct engine *engine = taking_up->engine;
    struct assignment assignment;
    enum job_state state;

    if (search_point(engine->experiment->space, row, taking_up->point,
                     taking_up->err) != 0 ||
        feedback_add(reading->feedback, row, taking_up->err) != 0)
        return -1;
    tell_until(reading, row->seen);
    strategy_restore(engine->strategy, (uint64_t)row->number, taking_up->point,
                     row->cursor);
    if (engine->convergence != NULL)
        convergence_ask(engine->convergence, (uint64_t)row->number,
                        taking_up->point);
    if (feedback_assignment(row, &assignment))
        scheduler_assign(engine->scheduler, (uint64_t)row->number, &assignment);
    engine->tally.suggested++;
    state = (enum job_state)job_state_find(row->state);
    engine->queues.paused_trials += state == JOB_PAUSED;
    if (!job_is_final(state) && state != JOB_PAUSED)
        taking_up_trial(taking_up, row, state);
    return 0;
}

int recover_search(struct taking_up *taking_up)
{
    struct engine *engine = taking_up->engine;
    struct trial_query query = {.run = engine->run->id, .order = ORDER_NUMBER};
    struct reading reading = {
        .taking_up = taking_up,
        .feedback = feedback_create(engine->experiment, engine->store,
                                    engine->run->id, taking_up->err),
    };
    int result = -1;

    if (reading.feedback != NULL)
        result = store_each_trial(engine->store, &query, on_trial, &reading,
                                  taking_up->err);
    if (result == 0)
        tell_until(&reading, INT64_MAX);
    if (result == 0)
        result = enqueue_load(engine->store, engine->run->id,
                              engine->experiment->space, 0, engine->strategy,
                              taking_up->err);
    feedback_destroy(reading.feedback);
    return result;
}
