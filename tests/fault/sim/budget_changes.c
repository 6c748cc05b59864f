/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/run/budget_change.h"

#include <inttypes.h>
#include <string.h>

#include "orchestrator/run/run.h"
#include "tests/fault/sim/budget_changes.h"
#include "tests/fault/sim/history.h"
#include "tests/fault/sim/record.h"

/* Histories of many trials take long. */
enum { MORE_TRIALS = 12 };

void budget_changes_begin(struct history *history)
{
    history->budget.given = (struct budget_change){
        .trials = history->scenario.trials,
        .time_ms = history->scenario.time_ms,
    };
}

/* -- What is asked for ----------------------------------------------------*/

static int64_t draw_trials(const struct history *history, int64_t begun)
{
    struct rng *rng = &history->world->rng;
    int64_t now = history->budget.given.trials, trials;

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

static int64_t draw_time_ms(const struct history *history)
{
    struct rng *rng = &history->world->rng;
    int64_t used_ms = history_time_at_most_ms(history);
    int64_t more_ms = rng_percent(rng, 25) ? rng_between(rng, -3000, 3000)
                                           : rng_magnitude(rng, 1000, 60000);

    return used_ms + more_ms > 0 ? used_ms + more_ms : 1;
}

/* Few runs without a limit get one: it ends them before much else can. */
static struct budget_change draw(const struct history *history, int64_t begun)
{
    struct rng *rng = &history->world->rng;
    int time_percent = history->budget.given.time_ms > 0 ? 60 : 10;
    struct budget_change change = {0};

    if (rng_percent(rng, time_percent))
        change.time_ms = draw_time_ms(history);
    if (change.time_ms == 0 || rng_percent(rng, 30))
        change.trials = draw_trials(history, begun);
    return change;
}

static bool has_changes_left(const struct history *history)
{
    return history->run != 0 && history->budget.asked_count < BUDGET_CHANGES;
}

struct budget_change budget_changes_draw(struct history *history)
{
    struct budget_change change = {0};
    struct record record;

    if (!has_changes_left(history))
        return change;
    record_read(&record, false);
    change = draw(history, (int64_t)record.job_count);
    record_clear(&record);
    history->budget.asked_count++;
    return change;
}

static bool is_over(const struct record *record)
{
    return strcmp(record->run_state, "succeeded") == 0 ||
           strcmp(record->run_state, "failed") == 0;
}

/* One that is over for another reason stays as it is; where nothing could be
 * started that may be mended. */
static bool lacks(const struct record *record,
                  const struct budget_change *change)
{
    const char *reason = record->run_reason;

    return (change->trials > 0 &&
            strstr(reason, "trial budget used up") != NULL) ||
           (change->time_ms > 0 &&
            strstr(reason, "time budget used up") != NULL) ||
           strstr(reason, "no trial can be started") != NULL;
}

static enum chance chance_of(const struct history *history,
                             const struct record *record,
                             const struct budget_change *change)
{
    int64_t least = (int64_t)record->job_count + is_over(record);
    bool is_workflow = history->scenario.step_count > 0;

    if (is_workflow && (change->trials > 0 || is_over(record)))
        return IMPOSSIBLE;
    if (is_over(record) && !lacks(record, change))
        return IMPOSSIBLE;
    if (change->trials > 0 && change->trials < least)
        return IMPOSSIBLE;
    return change->time_ms == 0 ||
                   change->time_ms > history_time_at_most_ms(history)
               ? POSSIBLE
               : UNSURE;
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
    budget->asked = draw(history, (int64_t)record.job_count);
    budget->chance = chance_of(history, &record, &budget->asked);
    budget->was_over = history->is_over;
    budget->was_recorded = is_over(&record);
    budget->before = (int64_t)record.budget_count;
    record_clear(&record);
    return true;
}

/* -- What comes of it -----------------------------------------------------*/

#define CHANGE            "%" PRId64 " trials, %" PRId64 " ms"
#define OF_CHANGE(change) (change)->trials, (change)->time_ms

int budget_changes_apply(struct history *history, struct run *run,
                         struct err *err)
{
    struct budget_changes *budget = &history->budget;
    const struct budget_change asked = budget->asked;

    if (!budget_change_is_any(&asked))
        return 1;
    world_trace("its budget is to be " CHANGE, OF_CHANGE(&asked));
    if (budget_change_make(run, &asked, err) == 0) {
        if (budget->chance == IMPOSSIBLE)
            world_fail("the budget became " CHANGE, OF_CHANGE(&asked));
        budget_changes_acknowledge(history, &asked);
        budget->asked = (struct budget_change){0};
        return 1;
    }
    if (err->kind != ERR_USAGE && err->kind != ERR_BUSY)
        return -1;
    if (budget->chance == POSSIBLE)
        world_fail("the budget cannot be " CHANGE ": %s", OF_CHANGE(&asked),
                   err->text);
    world_trace("it is refused: %s", err->text);
    budget->asked = (struct budget_change){0};
    return 0;
}

void budget_changes_settle(struct history *history)
{
    struct budget_changes *budget = &history->budget;
    struct record record;
    bool is_changed;

    if (!budget_change_is_any(&budget->asked))
        return;
    budget_changes_doubt(history, &budget->asked);
    budget->asked = (struct budget_change){0};
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

void budget_changes_acknowledge(struct history *history,
                                const struct budget_change *change)
{
    struct budget_changes *budget = &history->budget;
    struct record record;

    for (int i = 0; i < budget->doubted_count; i++) {
        if (change->trials > 0)
            budget->doubted[i].trials = 0;
        if (change->time_ms > 0)
            budget->doubted[i].time_ms = 0;
    }
    if (change->trials > 0)
        budget->given.trials = change->trials;
    if (change->time_ms > 0)
        budget->given.time_ms = change->time_ms;
    budget->done_count++;
    record_read(&record, false);
    budget_changes_check(history, &record);
    record_clear(&record);
}

void budget_changes_doubt(struct history *history,
                          const struct budget_change *change)
{
    struct budget_changes *budget = &history->budget;
    struct budget_change given;
    struct record record;

    budget->doubted[budget->doubted_count++] = *change;
    budget->all_doubted_count++;
    record_read(&record, false);
    given = budget_changes_given(history, &record);
    world_trace("whether the budget is " CHANGE " was not said: it is " CHANGE,
                OF_CHANGE(change), OF_CHANGE(&given));
    budget_changes_check(history, &record);
    record_clear(&record);
}

static bool is_doubted(const struct budget_changes *budget, int64_t trials,
                       int64_t time_ms)
{
    for (int i = 0; i < budget->doubted_count; i++) {
        if ((trials > 0 && budget->doubted[i].trials == trials) ||
            (time_ms > 0 && budget->doubted[i].time_ms == time_ms))
            return true;
    }
    return false;
}

bool budget_changes_allow(const struct history *history, int64_t trials)
{
    const struct budget_changes *budget = &history->budget;

    return trials == budget->given.trials || is_doubted(budget, trials, 0);
}

static bool allow_time(const struct history *history, int64_t time_ms)
{
    const struct budget_changes *budget = &history->budget;

    return time_ms == budget->given.time_ms || is_doubted(budget, 0, time_ms);
}

/* The most that it may have. */
static int64_t most_trials(const struct budget_changes *budget)
{
    int64_t most = budget->given.trials;

    for (int i = 0; i < budget->doubted_count; i++) {
        if (budget->doubted[i].trials > most)
            most = budget->doubted[i].trials;
    }
    return most;
}

int64_t budget_changes_time_limit_ms(const struct history *history)
{
    const struct budget_changes *budget = &history->budget;
    int64_t most = budget->given.time_ms;

    for (int i = 0; most > 0 && i < budget->doubted_count; i++) {
        if (budget->doubted[i].time_ms > most)
            most = budget->doubted[i].time_ms;
    }
    return most;
}

/* There is always room for what there was room for before. */
void budget_changes_refuse(const struct history *history,
                           const struct budget_change *change,
                           const char *error)
{
    bool has_room = strstr(error, "must be at least") != NULL &&
                    change->trials >= most_trials(&history->budget);
    bool has_time = strstr(error, "the time budget") != NULL &&
                    change->time_ms > history_time_at_most_ms(history);

    if (has_room || has_time)
        world_fail("the budget cannot be " CHANGE ": %s", OF_CHANGE(change),
                   error);
}

/* -- Checks ---------------------------------------------------------------*/

struct budget_change budget_changes_given(const struct history *history,
                                          const struct record *record)
{
    const struct scenario *scenario = &history->scenario;

    return (struct budget_change){
        .trials = record->budget.trials > 0 ? record->budget.trials
                                            : scenario->trials,
        .time_ms = record->budget.time_ms > 0 ? record->budget.time_ms
                                              : scenario->time_ms,
    };
}

/* No trial began that the budget of its time had no room for. */
static void check_room(const struct history *history,
                       const struct record *record)
{
    int64_t trials = history->scenario.trials;

    for (size_t i = 0; i < record->budget_count; i++) {
        const struct record_budget *change = &record->budgets[i];

        if (change->trials == 0)
            continue;
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

/* The row has what the last of the events says of it. */
static void check_row(const struct record *record)
{
    int64_t trials = 0, time_ms = 0;

    for (size_t i = 0; i < record->budget_count; i++) {
        if (record->budgets[i].trials > 0)
            trials = record->budgets[i].trials;
        if (record->budgets[i].time_ms > 0)
            time_ms = record->budgets[i].time_ms;
    }
    if (record->budget.trials != trials || record->budget.time_ms != time_ms)
        world_fail("the budget is " CHANGE ", by the events " CHANGE,
                   record->budget.trials, record->budget.time_ms, trials,
                   time_ms);
}

void budget_changes_check(const struct history *history,
                          const struct record *record)
{
    const struct budget_changes *budget = &history->budget;
    const struct budget_change given = budget_changes_given(history, record);
    int count = (int)record->budget_count;

    if (record->run_state[0] == '\0')
        return;
    check_row(record);
    if (!allow_time(history, given.time_ms) ||
        (history->scenario.step_count == 0 &&
         !budget_changes_allow(history, given.trials)))
        world_fail("the budget is " CHANGE ", and was to be " CHANGE,
                   OF_CHANGE(&given), OF_CHANGE(&budget->given));
    if (count < budget->done_count ||
        count > budget->done_count + budget->all_doubted_count)
        world_fail("%d changes of the budget are in the record, and %d were "
                   "acknowledged",
                   count, budget->done_count);
    if (history->scenario.step_count == 0)
        check_room(history, record);
}
