/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/run/reopen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "orchestrator/job/states.h"
#include "orchestrator/run/reopen_steps.h"
#include "orchestrator/run/reopen_temps.h"

struct finding {
    const struct reopen_request *request;
    struct reopening *found; /* [count] */
    size_t count, capacity;
    struct err *err;
};

static void add(struct finding *finding, const struct trial_row *row,
                enum job_state state)
{
    finding->found = mem_grow(finding->found, finding->count,
                              &finding->capacity, sizeof(*finding->found));
    finding->found[finding->count++] = (struct reopening){
        .number = row->number,
        .job = row->job,
        .told = row->told,
        .state = state,
        .is_infeasible = state == JOB_SUCCEEDED && row->violation > 0.0,
        .step = row->step,
        .copy = row->copy,
    };
}

static int on_named(void *user, const struct trial_row *row)
{
    struct finding *finding = user;
    enum job_state state, next;

    if (job_state_read(row->number, row->state, &state, finding->err) != 0)
        return -1;
    if (state == JOB_SKIPPED)
        return err_set(finding->err, ERR_USAGE,
                       "job %" PRId64 " was skipped: its `if` is false",
                       row->number);
    if (!job_next(state, EVENT_REOPENED, &next))
        return err_set(finding->err, ERR_USAGE,
                       "trial %" PRId64 " is %s: it has not ended yet",
                       row->number, row->state);
    if (state == JOB_SUCCEEDED && !finding->request->even_succeeded)
        return err_set(finding->err, ERR_USAGE,
                       "trial %" PRId64 " succeeded (--force runs it again)",
                       row->number);
    add(finding, row, state);
    finding->found[finding->count - 1].is_named = true;
    return 0;
}

static int on_failed(void *user, const struct trial_row *row)
{
    add(user, row, JOB_FAILED);
    return 0;
}

/* By the end of the workflow's time, with which its step has failed. A search
 * stops trials for what they are. */
static int on_stopped(void *user, const struct trial_row *row)
{
    enum { ENOUGH = 1 };

    if (row->step < 0)
        return ENOUGH;
    add(user, row, JOB_STOPPED);
    return 0;
}

/* By its step, of which too many copies had failed (`fail_fast: kill`). Whom
 * its user ended stays so, unless all are meant. */
static int on_cancelled(void *user, const struct trial_row *row)
{
    const struct finding *finding = user;

    if (finding->request->all_cancelled || row->cancel_asked == CANCEL_BY_STEP)
        add(user, row, JOB_CANCELLED);
    return 0;
}

static int find_all(struct finding *finding, struct store *store, int64_t run)
{
    const struct reopen_request *request = finding->request;
    struct trial_query query = {.run = run, .order = ORDER_NUMBER};
    size_t before;

    for (size_t i = 0; i < request->count; i++) {
        before = finding->count;
        query.number = request->numbers[i];
        if (store_each_trial(store, &query, on_named, finding, finding->err) !=
            0)
            return -1;
        if (finding->count == before)
            return err_set(finding->err, ERR_NOT_FOUND,
                           "there is no trial %" PRId64, query.number);
    }
    if (!request->all_failed)
        return 0;
    query.number = 0;
    query.state = job_state_names[JOB_FAILED];
    if (store_each_trial(store, &query, on_failed, finding, finding->err) != 0)
        return -1;
    query.state = job_state_names[JOB_CANCELLED];
    if (store_each_trial(store, &query, on_cancelled, finding, finding->err) !=
        0)
        return -1;
    query.state = job_state_names[JOB_STOPPED];
    return store_each_trial(store, &query, on_stopped, finding, finding->err) <
                   0
               ? -1
               : 0;
}

/* Of one number, first what was named. */
static int compare(const void *a, const void *b)
{
    const struct reopening *left = a, *right = b;

    if (left->number != right->number)
        return left->number > right->number ? 1 : -1;
    return right->is_named - left->is_named;
}

static size_t drop_repeated(struct reopening *found, size_t count)
{
    size_t kept = 0;

    if (count > 0)
        qsort(found, count, sizeof(*found), compare);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || found[i].number != found[kept - 1].number)
            found[kept++] = found[i];
    }
    return kept;
}

int reopen_find(struct store *store, int64_t run,
                const struct reopen_request *request, struct reopening **found,
                size_t *count, struct err *err)
{
    struct finding finding = {.request = request, .err = err};

    if (find_all(&finding, store, run) != 0) {
        free(finding.found);
        return -1;
    }
    *found = finding.found;
    *count = drop_repeated(finding.found, finding.count);
    return 0;
}

int reopen_job(struct store *store, int64_t job, struct err *err)
{
    return store_reopen_job(store, job, job_state_names[JOB_READY],
                            job_event_names[EVENT_REOPENED], clock_wall_ms(),
                            err);
}

static int keep_state(void *user, const struct run_row *row)
{
    *(bool *)user = strcmp(row->state, run_state_names[RUN_RUNNING]) == 0;
    return 0;
}

int reopen_record(struct store *store, int64_t run,
                  const struct workflow *workflow,
                  const struct reopen_steps *steps, struct err *err)
{
    for (size_t i = 0; i < steps->found_count; i++) {
        if (reopen_job(store, steps->found[i].job, err) != 0)
            return -1;
    }
    return workflow != NULL
               ? reopen_steps_record(store, run, workflow, steps, err)
               : 0;
}

static int put_back(struct store *store, int64_t run,
                    const struct workflow *workflow,
                    const struct reopen_steps *steps, struct err *err)
{
    bool is_running;

    if (store_get_run_uncounted(store, run, keep_state, &is_running, err) !=
            0 ||
        store_begin(store, err) != 0)
        return -1;
    if (store_end_dead_engine(store, run, err) != 0)
        return -1;
    if (reopen_record(store, run, workflow, steps, err) != 0)
        return -1;
    if (!is_running &&
        store_set_run_state(store, run, run_state_names[RUN_RUNNING], "",
                            clock_wall_ms(), err) != 0)
        return -1;
    return store_commit(store, err);
}

int reopen_trials(struct store *store, int64_t run,
                  const struct workflow *workflow,
                  const struct reopen_request *request, size_t *count,
                  struct err *err)
{
    struct reopening *found;
    struct reopen_steps steps = {0};
    int result = 0;

    if (reopen_find(store, run, request, &found, &steps.found_count, err) != 0)
        return -1;
    steps.found = found;
    if (workflow != NULL)
        result = reopen_steps_find(store, run, workflow, request->all_failed,
                                   &steps, err);
    else if (steps.found_count == 0)
        result = err_set(err, ERR_USAGE, "nothing has failed");
    if (workflow != NULL && result == 0)
        result = reopen_temps_check(store, run, workflow, &steps, NULL, err);
    if (result == 0) {
        result = put_back(store, run, workflow, &steps, err);
        if (result != 0)
            store_rollback(store);
    }
    *count = steps.found_count;
    reopen_steps_clear(&steps);
    free(found);
    return result;
}
