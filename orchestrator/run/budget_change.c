/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * More or fewer trials or time for a run that has begun.
 *
 * The search was planned with the numbers of the file and keeps that plan;
 * otherwise a replay would suggest other settings. Only the limit moves. A
 * change is refused if it would have no effect: below what has begun, or for a
 * run that ended for another reason. A change is an event, and
 * budget_change_add() folds several into one, so that engine, record and replay
 * compute the same budget.
 */
#include "orchestrator/run/budget_change.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "orchestrator/job/budget.h"
#include "orchestrator/job/states.h"
#include "orchestrator/run/run.h"
#include "orchestrator/spec/experiment/experiment.h"

struct budget_change budget_change_of(const struct run_row *row)
{
    return (struct budget_change){.trials = row->budget_trials,
                                  .time_ms = row->budget_time_ms};
}

struct budget_change budget_change_of_detail(const json_t *detail)
{
    return (struct budget_change){
        .trials = json_integer_value(json_object_get(detail, "budget_trials")),
        .time_ms =
            json_integer_value(json_object_get(detail, "budget_time_ms")),
    };
}

void budget_change_add(struct budget_change *budget,
                       const struct budget_change *change)
{
    if (change->trials > 0)
        budget->trials = change->trials;
    if (change->time_ms > 0)
        budget->time_ms = change->time_ms;
}

bool budget_change_is_any(const struct budget_change *change)
{
    return change->trials != 0 || change->time_ms != 0;
}

void budget_change_apply(const struct budget_change *change,
                         struct budget *budget)
{
    if (change->trials > 0)
        budget->trials = change->trials;
    if (change->time_ms > 0)
        budget->time_ms = change->time_ms;
}

static int check_trials(int64_t trials, int64_t begun, bool is_over,
                        struct err *err)
{
    int64_t least = is_over || begun == 0 ? begun + 1 : begun;

    if (trials > BUDGET_COUNT_MAX)
        return err_set(err, ERR_USAGE,
                       "out of range: a budget has at most %" PRId64
                       " trials, not %" PRId64,
                       BUDGET_COUNT_MAX, trials);
    if (trials >= least)
        return 0;
    return err_set(err, ERR_USAGE,
                   "out of range: the budget must be at least %" PRId64
                   " trials, not %" PRId64 ": %" PRId64 " %s already started",
                   least, trials, begun, begun == 1 ? "has" : "have");
}

static int check_time(int64_t time_ms, int64_t used_ms, struct err *err)
{
    char wanted[32], used[32];

    if (time_ms > used_ms)
        return 0;
    units_format_duration(time_ms, wanted, sizeof(wanted));
    units_format_duration(used_ms, used, sizeof(used));
    return err_set(err, ERR_USAGE,
                   "out of range: the time budget must be more than the %s "
                   "already used, not %s",
                   used, wanted);
}

int budget_change_check(const struct budget_change *change, int64_t begun,
                        int64_t used_ms, bool is_over, struct err *err)
{
    if (change->trials != 0 &&
        check_trials(change->trials, begun, is_over, err) != 0)
        return -1;
    return change->time_ms == 0 ? 0 : check_time(change->time_ms, used_ms, err);
}

struct standing {
    const struct budget_change *change;
    int64_t begun;
    bool is_over;    /* and not by its user */
    bool lacks_more; /* it would go on if it had that */
    char reason[128];
};

static bool is_state(const struct run_row *row, enum run_state state)
{
    return strcmp(row->state, run_state_names[state]) == 0;
}

/* Where nothing could be started that is mended by now, or it fails again. */
static bool lacks_more(const struct run_row *row,
                       const struct budget_change *change)
{
    enum budget_verdict verdict = budget_verdict_find(row->reason);
    bool is_hopeless = is_state(row, RUN_FAILED) && verdict == BUDGET_GO_ON &&
                       budget_vain_reason(row->reason) == NULL;

    return (verdict == BUDGET_TRIALS && change->trials > 0) ||
           (verdict == BUDGET_TIME && change->time_ms > 0) || is_hopeless;
}

static int keep_standing(void *user, const struct run_row *row)
{
    struct standing *standing = user;

    standing->begun = row->trials;
    standing->is_over =
        is_state(row, RUN_SUCCEEDED) || is_state(row, RUN_FAILED);
    standing->lacks_more = lacks_more(row, standing->change);
    snprintf(standing->reason, sizeof(standing->reason), "%s", row->reason);
    return 0;
}

static int check_over(const struct run *run, const struct standing *standing,
                      struct err *err)
{
    const struct budget_change *change = standing->change;

    if (run->workflow != NULL)
        return err_set(
            err, ERR_BUSY,
            "its steps have ended (%s): smtune retry runs them again, "
            "a budget does not",
            standing->reason);
    if (standing->lacks_more)
        return 0;
    return err_set(err, ERR_BUSY,
                   "more %s would change nothing, because the run ended for "
                   "another reason: %s",
                   change->time_ms == 0  ? "trials"
                   : change->trials == 0 ? "time"
                                         : "trials or time",
                   standing->reason);
}

static int check(const struct run *run, struct standing *standing,
                 struct err *err)
{
    int64_t used_ms = 0;

    if (run->workflow != NULL && standing->change->trials != 0)
        return err_set(err, ERR_USAGE,
                       "the budget of a workflow has no trials");
    if (store_get_run(run->store, run->id, keep_standing, standing, err) != 0)
        return -1;
    /* It looks at all events of the run. */
    if (standing->change->time_ms != 0 &&
        store_engines_ms(run->store, run->id, &used_ms, err) != 0)
        return -1;
    if (standing->is_over && check_over(run, standing, err) != 0)
        return -1;
    return budget_change_check(standing->change, standing->begun, used_ms,
                               standing->is_over, err);
}

static int record(const struct run *run, const struct standing *standing,
                  struct err *err)
{
    const struct budget_change *change = standing->change;
    struct store *store = run->store;
    int64_t now_ms = clock_wall_ms();

    if (store_begin(store, err) != 0 ||
        store_end_dead_engine(store, run->id, err) != 0 ||
        store_set_run_budget(store, run->id, change->trials, change->time_ms,
                             now_ms, err) != 0)
        return -1;
    if (standing->is_over &&
        store_set_run_state(store, run->id, run_state_names[RUN_RUNNING], "",
                            now_ms, err) != 0)
        return -1;
    return store_commit(store, err);
}

int budget_change_make(struct run *run, const struct budget_change *change,
                       struct err *err)
{
    struct standing standing = {.change = change};

    if (check(run, &standing, err) != 0)
        return -1;
    if (record(run, &standing, err) != 0) {
        store_rollback(run->store);
        return -1;
    }
    budget_change_apply(change, &run->experiment->budget);
    return 0;
}
