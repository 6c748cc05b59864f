/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A user ends jobs alone. That is a column of the job and an event, so the
 * engine that is there, or the next one, ends what runs of it.
 */
#include "orchestrator/run/cancel_jobs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "orchestrator/job/states.h"
#include "store/store.h"

struct finding {
    int64_t job; /* 0: none */
    struct err *err;
};

static int on_found(void *user, const struct trial_row *row)
{
    struct finding *finding = user;
    enum job_state state, next;

    if (job_state_read(row->number, row->state, &state, finding->err) != 0)
        return -1;
    if (!job_next(state, EVENT_CANCELLED, &next))
        return err_set(finding->err, ERR_USAGE,
                       "job %" PRId64 " is %s: it cannot be stopped",
                       row->number, row->state);
    finding->job = row->job;
    return 0;
}

static int find(struct store *store, int64_t run, int64_t number, int64_t *job,
                struct err *err)
{
    const struct trial_query query = {.run = run, .number = number};
    struct finding finding = {.err = err};

    if (store_each_trial(store, &query, on_found, &finding, err) != 0)
        return -1;
    if (finding.job == 0)
        return err_set(err, ERR_USAGE, "no job %" PRId64, number);
    *job = finding.job;
    return 0;
}

int cancel_jobs(struct store *store, int64_t run, const int64_t *numbers,
                size_t count, struct err *err)
{
    int64_t *jobs = mem_array(count, sizeof(*jobs));
    bool is_own = !store_in_transaction(store);
    int result = 0;

    for (size_t i = 0; i < count && result == 0; i++)
        result = find(store, run, numbers[i], &jobs[i], err);
    if (result == 0 && is_own)
        result = store_begin(store, err);
    for (size_t i = 0; i < count && result == 0; i++)
        result = store_ask_cancel(
            store,
            &(struct cancel_request){.run = run,
                                     .job = jobs[i],
                                     .asker = CANCEL_BY_USER,
                                     .time_ms = clock_wall_ms()},
            err);
    if (result == 0 && is_own)
        result = store_commit(store, err);
    if (is_own && store_in_transaction(store))
        store_rollback(store);
    free(jobs);
    return result;
}
