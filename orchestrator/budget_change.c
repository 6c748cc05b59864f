/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/budget_change.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "orchestrator/budget.h"
#include "orchestrator/run.h"
#include "orchestrator/states.h"

int budget_change_check(int64_t trials, int64_t begun, bool is_over,
                        struct err *err)
{
    int64_t least = is_over || begun == 0 ? begun + 1 : begun;

    if (trials > BUDGET_COUNT_MAX)
        return err_set(err, ERR_USAGE,
                       "a budget has at most %" PRId64 " trials, not %" PRId64,
                       BUDGET_COUNT_MAX, trials);
    if (trials >= least)
        return 0;
    return err_set(err, ERR_USAGE,
                   "its budget can be %" PRId64 " trials or more, not %" PRId64
                   ": %" PRId64 " %s begun already",
                   least, trials, begun, begun == 1 ? "has" : "have");
}

struct standing {
    int64_t begun;
    bool is_over;    /* and not by its user */
    bool lacks_more; /* it would go on if it had more trials */
    char reason[128];
};

static bool is_state(const struct run_row *row, enum run_state state)
{
    return strcmp(row->state, run_state_names[state]) == 0;
}

/* Where nothing could be started that is mended by now, or it fails again. */
static bool lacks_more(const struct run_row *row)
{
    enum budget_verdict verdict = budget_verdict_find(row->reason);
    bool is_hopeless = is_state(row, RUN_FAILED) && verdict == BUDGET_GO_ON &&
                       budget_vain_reason(row->reason) == NULL;

    return verdict == BUDGET_TRIALS || is_hopeless;
}

static int keep_standing(void *user, const struct run_row *row)
{
    struct standing *standing = user;

    standing->begun = row->trials;
    standing->is_over =
        is_state(row, RUN_SUCCEEDED) || is_state(row, RUN_FAILED);
    standing->lacks_more = lacks_more(row);
    snprintf(standing->reason, sizeof(standing->reason), "%s", row->reason);
    return 0;
}

static int check(const struct run *run, int64_t trials,
                 struct standing *standing, struct err *err)
{
    if (run->workflow != NULL)
        return err_set(err, ERR_USAGE,
                       "it is a workflow's: its budget has no trials");
    if (store_get_run(run->store, run->id, keep_standing, standing, err) != 0)
        return -1;
    if (standing->is_over && !standing->lacks_more)
        return err_set(err, ERR_BUSY,
                       "it has not ended for want of trials (%s): more of them "
                       "would not be tried",
                       standing->reason);
    return budget_change_check(trials, standing->begun, standing->is_over, err);
}

static int record(const struct run *run, int64_t trials, bool is_over,
                  struct err *err)
{
    struct store *store = run->store;
    int64_t now_ms = clock_wall_ms();

    if (store_begin(store, err) != 0 ||
        store_end_dead_engine(store, run->id, err) != 0 ||
        store_set_run_budget(store, run->id, trials, now_ms, err) != 0)
        return -1;
    if (is_over &&
        store_set_run_state(store, run->id, run_state_names[RUN_RUNNING], "",
                            now_ms, err) != 0)
        return -1;
    return store_commit(store, err);
}

int budget_change_trials(struct run *run, int64_t trials, struct err *err)
{
    struct standing standing = {0};

    if (check(run, trials, &standing, err) != 0)
        return -1;
    if (record(run, trials, standing.is_over, err) != 0) {
        store_rollback(run->store);
        return -1;
    }
    run->experiment->budget.trials = trials;
    return 0;
}
