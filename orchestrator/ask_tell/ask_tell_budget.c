/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When a session's run has had enough: by the same pure functions as in an
 * engine (job/budget.h), so that replay can prove it. What clients still run
 * when the budget has ended a run is taken, and counts.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "orchestrator/ask_tell/ask_tell_impl.h"
#include "orchestrator/ask_tell/ask_tell_record.h"
#include "store/store.h"

void ask_tell_record_count(struct ask_tell *ask_tell,
                           const struct feedback_item *item)
{
    struct ask_tell_record *record = ask_tell->record;

    if (record == NULL)
        return;
    feedback_count(&record->tally, ask_tell->experiment, item);
    if (record->convergence != NULL)
        feedback_tell_convergence(record->convergence, ask_tell->experiment,
                                  item);
}

/* A later session counts a few milliseconds less. */
static void record_time_used_up(struct ask_tell *ask_tell)
{
    const struct run *run = ask_tell->record->run;
    struct err err;

    if (ask_tell_record_begin(ask_tell) &&
        store_add_time_used_up(run->store, run->id,
                               ask_tell->experiment->budget.time_ms,
                               clock_wall_ms(), &err) != 0)
        ask_tell_record_break(ask_tell, &err);
}

bool ask_tell_record_is_over(struct ask_tell *ask_tell)
{
    struct ask_tell_record *record = ask_tell->record;
    const struct experiment *experiment = ask_tell->experiment;
    enum budget_verdict verdict;

    if (record == NULL || record->verdict != BUDGET_GO_ON)
        return record != NULL;
    if (record->convergence != NULL)
        record->tally.has_converged = convergence_reached(record->convergence);
    verdict = budget_check(
        &experiment->budget, experiment->objectives, &record->tally,
        record->earlier_ms + clock_monotonic_ms() - record->opened_ms);
    if (!budget_verdict_ends_all(verdict))
        return false;
    record->verdict = verdict;
    if (verdict == BUDGET_TIME)
        record_time_used_up(ask_tell);
    return true;
}

/* Whether the schedule has nothing more to do, or there is none. */
static bool schedule_is_over(const struct ask_tell *ask_tell, bool is_closed)
{
    struct assignment next;

    if (ask_tell->scheduler == NULL)
        return is_closed;
    scheduler_next(ask_tell->scheduler, is_closed, &next);
    return next.kind == NEXT_NONE;
}

/* Why nothing is left, though no verdict ended the run. */
static const char *find_reason(const struct ask_tell *ask_tell)
{
    int64_t trials = ask_tell->experiment->budget.trials;

    if (trials > 0 && ask_tell->count >= (uint64_t)trials)
        return budget_verdict_text(BUDGET_TRIALS);
    return ask_tell->scheduler != NULL && !ask_tell->is_exhausted
               ? BUDGET_SCHEDULE_OVER
               : BUDGET_ALL_TRIED;
}

bool ask_tell_record_conclude(struct ask_tell *ask_tell,
                              enum budget_verdict *verdict, char *reason,
                              size_t size)
{
    int64_t trials = ask_tell->experiment->budget.trials;
    bool is_closed = ask_tell->is_exhausted ||
                     (trials > 0 && ask_tell->count >= (uint64_t)trials);

    if (ask_tell_record_is_over(ask_tell)) {
        *verdict = ask_tell->record->verdict;
        snprintf(reason, size, "%s", budget_verdict_text(*verdict));
        return true;
    }
    if (ask_tell->open_count > 0 || !schedule_is_over(ask_tell, is_closed))
        return false;
    *verdict = BUDGET_TRIALS;
    snprintf(reason, size, "%s", find_reason(ask_tell));
    if (trials > 0 && budget_verdict_find(reason) == BUDGET_TRIALS)
        snprintf(reason, size, "%s (%" PRId64 " of %" PRId64 ")",
                 budget_verdict_text(BUDGET_TRIALS),
                 tally_ended(&ask_tell->record->tally), trials);
    return true;
}

bool ask_tell_record_describe(struct ask_tell *ask_tell, json_t *answer)
{
    enum budget_verdict verdict;
    char reason[160];

    if (ask_tell->record == NULL ||
        !ask_tell_record_conclude(ask_tell, &verdict, reason, sizeof(reason)))
        return false;
    json_object_set_new(answer, "done", json_true());
    json_object_set_new(answer, "reason", json_from_text(reason));
    return true;
}
