/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/turn.h"

#include "base/clock.h"
#include "orchestrator/engine/core/pause.h"
#include "orchestrator/engine/core/queues.h"
#include "orchestrator/engine/core/shortage.h"
#include "orchestrator/engine/core/source.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/ending.h"
#include "orchestrator/engine/settle.h"
#include "orchestrator/engine/submit.h"
#include "orchestrator/run/notify.h"
#include "strategies/gp/convergence.h"

/*
 * What is decided once a turn, from counts and clocks alone: whether the budget
 * ends the run, whether to commit, whether anything is left, and when the loop
 * has to turn again. The order after a commit matters: settled jobs make room
 * before what was prepared is handed over.
 */

enum { COMMIT_AFTER_MS = 20 };

void engine_check_budget(struct engine *engine)
{
    const struct experiment *experiment = engine->experiment;
    enum budget_verdict verdict;

    if (engine->wind_up.phase != PHASE_RUNNING ||
        engine->wind_up.is_beyond_budget)
        return;
    if (engine->convergence != NULL)
        engine->tally.has_converged = convergence_reached(engine->convergence);
    verdict = budget_check(&experiment->budget, experiment->objectives,
                           &engine->tally, engine_elapsed_ms(engine));
    if (budget_verdict_ends_all(verdict))
        engine_use_up_budget(engine, verdict);
    else if (engine->source->is_search &&
             budget_is_hopeless(&engine->tally, engine->wind_up.launch_errors))
        engine_finish_hopeless(engine);
}

bool engine_commit_is_due(const struct engine *engine)
{
    if (!store_in_transaction(engine->store))
        return false;
    return (engine->queues.prepared_count > 0 &&
            engine->queues.live_count < engine->parallel) ||
           clock_monotonic_ms() - engine->transaction.begun_ms >=
               COMMIT_AFTER_MS ||
           engine_active(engine) == 0;
}

bool engine_commit_now(struct engine *engine)
{
    if (!engine_commit(engine))
        return false;
    engine_release_settled(engine);
    if (engine->wind_up.phase != PHASE_RUNNING)
        engine_end_idle(engine);
    engine_cancel_given_up(engine);
    if (engine->notifier != NULL)
        notifier_send(engine->notifier);
    engine->source->committed(engine);
    engine_check_budget(engine);
    engine_submit(engine);
    return true;
}

/* As long as nothing is started, nothing is asked for either: whether there
 * is more to try, or a trial that rests may go on, is then not known, but for
 * the budget. */
static bool may_have_more(const struct engine *engine)
{
    int64_t trials = engine->experiment->budget.trials;

    return engine_is_held(engine) && !engine->wind_up.is_exhausted &&
           (trials == 0 || engine->tally.suggested < trials ||
            engine->queues.paused_trials > 0);
}

bool engine_is_over(const struct engine *engine)
{
    if (engine_active(engine) > 0 || !TAILQ_EMPTY(&engine->queues.settled) ||
        engine->queues.has_more_to_dispatch)
        return false;
    return engine->wind_up.phase != PHASE_RUNNING ||
           (!may_have_more(engine) && TAILQ_EMPTY(&engine->queues.ready) &&
            TAILQ_EMPTY(&engine->queues.held) &&
            TAILQ_EMPTY(&engine->queues.waiting));
}

bool engine_close_rest(struct engine *engine)
{
    return engine->wind_up.wish != WISH_INTERRUPT &&
           engine->source->close(engine);
}

int64_t engine_wake_ms(const struct engine *engine)
{
    const struct budget *budget = &engine->experiment->budget;
    int64_t now_ms = clock_monotonic_ms();
    int64_t wait_ms = INT64_MAX;
    const struct job *first = TAILQ_FIRST(&engine->queues.waiting);

    if (engine->queues.has_more_to_dispatch)
        wait_ms = 0;
    if (engine_is_held(engine) && !engine_is_paused(engine))
        wait_ms = engine->shortage.until_ms - now_ms;
    if (store_in_transaction(engine->store) &&
        engine->transaction.begun_ms + COMMIT_AFTER_MS - now_ms < wait_ms)
        wait_ms = engine->transaction.begun_ms + COMMIT_AFTER_MS - now_ms;
    if (first != NULL && first->due_ms - now_ms < wait_ms)
        wait_ms = first->due_ms - now_ms;
    if (engine->foresight.is_due && engine->foresight.not_before_ms > now_ms &&
        engine->foresight.not_before_ms - now_ms < wait_ms)
        wait_ms = engine->foresight.not_before_ms - now_ms;
    if (engine->wind_up.phase == PHASE_RUNNING && budget->time_ms > 0 &&
        !engine_is_paused(engine) && !engine->wind_up.is_beyond_budget &&
        budget->time_ms - engine_elapsed_ms(engine) < wait_ms)
        wait_ms = budget->time_ms - engine_elapsed_ms(engine);
    return wait_ms > 0 ? wait_ms : 0;
}
