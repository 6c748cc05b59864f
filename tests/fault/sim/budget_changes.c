/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/budget_change.h"

#include <inttypes.h>
#include <string.h>

#include "orchestrator/run.h"
#include "tests/fault/sim/budget_changes.h"
#include "tests/fault/sim/history.h"
#include "tests/fault/sim/record.h"

/* Histories of many trials take long. */
enum { MORE_TRIALS = 12 };

void budget_changes_begin(struct history *history)
{
    history->budget.trials = history->scenario.trials;
}

/* -- What is asked for ----------------------------------------------------*/

static int64_t draw_trials(const struct history *history, int64_t begun)
{
    struct rng *rng = &history->world->rng;
    int64_t now = history->budget.trials, trials;

    switch (rng_below(rng, 4)) {
    case 0:
        trials = begun + rng_between(rng, -2, 2);
        break;
    case 1:
        trials = begun < now ? rng_between(rng, begun, now) : now;
        break;
    default:
        trials = now + rng_magnitude(rng, 1, MORE_TRIALS);
        break;
    }
    if (trials > history->scenario.trials + MORE_TRIALS)
        trials = history->scenario.trials + MORE_TRIALS;
    return trials < 1 ? 1 : trials;
}

static bool has_changes_left(const struct history *history)
{
    return history->run != 0 && history->budget.asked_count < BUDGET_CHANGES;
}

int64_t budget_changes_draw(struct history *history)
{
    struct record record;
    int64_t trials;

    if (!has_changes_left(history))
        return 0;
    record_read(&record, false);
    trials = draw_trials(history, (int64_t)record.job_count);
    record_clear(&record);
    history->budget.asked_count++;
    return trials;
}

static bool is_over(const struct record *record)
{
    return strcmp(record->run_state, "succeeded") == 0 ||
           strcmp(record->run_state, "failed") == 0;
}

/* One that is over for another reason stays as it is; where nothing could be
 * started that may be mended. */
static bool is_possible(const struct history *history,
                        const struct record *record, int64_t trials)
{
    int64_t begun = (int64_t)record->job_count;

    if (history->scenario.step_count > 0)
        return false;
    if (!is_over(record))
        return trials >= begun && trials > 0;
    return trials > begun &&
           (strstr(record->run_reason, "all trials of the budget ended") !=
                NULL ||
            strstr(record->run_reason, "no trial can be started") != NULL);
}

bool budget_changes_plan(struct history *history)
{
    struct budget_changes *budget = &history->budget;
    struct record record;

    if (!has_changes_left(history) ||
        !rng_percent(&history->world->rng, history->scenario.changes))
        return false;
    record_read(&record, false);
    budget->asked_count++;
    budget->asked = draw_trials(history, (int64_t)record.job_count);
    budget->is_possible = is_possible(history, &record, budget->asked);
    budget->was_over = history->is_over;
    budget->was_recorded = is_over(&record);
    budget->before = (int64_t)record.budget_count;
    record_clear(&record);
    return true;
}

/* -- What comes of it -----------------------------------------------------*/

int budget_changes_apply(struct history *history, struct run *run,
                         struct err *err)
{
    struct budget_changes *budget = &history->budget;
    int64_t trials = budget->asked;

    if (trials == 0)
        return 1;
    world_trace("its budget is to be %" PRId64 " trials", trials);
    if (budget_change_trials(run, trials, err) == 0) {
        if (!budget->is_possible)
            world_fail("the budget became %" PRId64 " trials", trials);
        budget_changes_acknowledge(history, trials);
        budget->asked = 0;
        return 1;
    }
    if (err->kind != ERR_USAGE && err->kind != ERR_BUSY)
        return -1;
    if (budget->is_possible)
        world_fail("the budget cannot be %" PRId64 " trials: %s", trials,
                   err->text);
    world_trace("it is refused: %s", err->text);
    budget->asked = 0;
    return 0;
}

void budget_changes_settle(struct history *history)
{
    struct budget_changes *budget = &history->budget;
    struct record record;
    bool is_changed;

    if (budget->asked == 0)
        return;
    budget_changes_doubt(history, budget->asked);
    budget->asked = 0;
    record_read(&record, false);
    is_changed = (int64_t)record.budget_count > budget->before;
    if (budget->was_recorded && is_changed == is_over(&record))
        world_fail("the budget of a run that was over was%s changed, and it is "
                   "'%s'",
                   is_changed ? "" : " not", record.run_state);
    if (budget->was_over && !is_changed)
        history->is_over = true;
    record_clear(&record);
}

void budget_changes_acknowledge(struct history *history, int64_t trials)
{
    struct budget_changes *budget = &history->budget;
    struct record record;

    budget->trials = trials;
    budget->doubted_count = 0;
    budget->done_count++;
    record_read(&record, false);
    budget_changes_check(history, &record);
    record_clear(&record);
}

void budget_changes_doubt(struct history *history, int64_t trials)
{
    struct budget_changes *budget = &history->budget;
    struct record record;

    budget->doubted[budget->doubted_count++] = trials;
    budget->all_doubted_count++;
    record_read(&record, false);
    world_trace("whether the budget is %" PRId64 " trials was not said: it is "
                "%" PRId64,
                trials, budget_changes_trials(history, &record));
    budget_changes_check(history, &record);
    record_clear(&record);
}

bool budget_changes_allow(const struct history *history, int64_t trials)
{
    const struct budget_changes *budget = &history->budget;
    bool is_allowed = trials == budget->trials;

    for (int i = 0; i < budget->doubted_count; i++)
        is_allowed |= trials == budget->doubted[i];
    return is_allowed;
}

/* -- Checks ---------------------------------------------------------------*/

int64_t budget_changes_trials(const struct history *history,
                              const struct record *record)
{
    return record->budget_trials > 0 ? record->budget_trials
                                     : history->scenario.trials;
}

/* No trial began that the budget of its time had no room for. */
static void check_room(const struct history *history,
                       const struct record *record)
{
    int64_t trials = history->scenario.trials;

    for (size_t i = 0; i < record->budget_count; i++) {
        const struct record_budget *change = &record->budgets[i];

        if (change->begun > trials || change->begun > change->trials)
            world_fail("%" PRId64 " trials had begun when their budget was "
                       "changed from %" PRId64 " to %" PRId64,
                       change->begun, trials, change->trials);
        trials = change->trials;
    }
    if ((int64_t)record->job_count > trials)
        world_fail("%zu trials have begun, and the budget has %" PRId64,
                   record->job_count, trials);
}

void budget_changes_check(const struct history *history,
                          const struct record *record)
{
    const struct budget_changes *budget = &history->budget;
    int64_t trials = budget_changes_trials(history, record);
    int count = (int)record->budget_count;
    int64_t last = count > 0 ? record->budgets[count - 1].trials : 0;

    if (record->run_state[0] == '\0' || history->scenario.step_count > 0)
        return;
    if (record->budget_trials != last)
        world_fail("the budget is %" PRId64 " trials, by the events %" PRId64,
                   record->budget_trials, last);
    if (!budget_changes_allow(history, trials))
        world_fail("the budget is %" PRId64 " trials, and was to be %" PRId64,
                   trials, budget->trials);
    if (count < budget->done_count ||
        count > budget->done_count + budget->all_doubted_count)
        world_fail("%d changes of the budget are in the record, and %d were "
                   "acknowledged",
                   count, budget->done_count);
    check_room(history, record);
}
