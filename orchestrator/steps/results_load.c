/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/results_load.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/job/states.h"

struct loading {
    struct results *results;
    const struct workflow *workflow;
    int64_t *first_jobs; /* [step_count]; what comes before is of an earlier
                            time, before the step was put back */
};

/* A copy that repeats has a job for each round, and none after one that fails
 * or is cancelled. */
static int64_t count_succeeded(const struct step *step,
                               const struct step_row *row)
{
    int64_t cancelled = row->jobs - row->succeeded - row->failed -
                        row->running - row->pending - row->skipped;

    if (step->repeat.max == 0 || row->copies < 0)
        return row->succeeded;
    return row->copies - row->failed - cancelled - row->skipped;
}

static int on_step(void *user, const struct step_row *row)
{
    const struct loading *loading = user;
    size_t step = (size_t)row->step;
    int state = step_state_find(row->state);

    if (state < 0 || step >= loading->workflow->step_count)
        return 0;
    loading->first_jobs[step] = row->first_job;
    if (row->copies >= 0)
        results_begin(loading->results, step, row->copies);
    results_set_state(loading->results, step, state,
                      count_succeeded(&loading->workflow->steps[step], row),
                      row->failed);
    return 0;
}

static int on_job(void *user, const struct trial_row *row)
{
    const struct loading *loading = user;
    json_t *outputs;

    if (row->outputs == NULL || row->step < 0 ||
        (size_t)row->step >= loading->workflow->step_count ||
        row->number < loading->first_jobs[row->step])
        return 0;
    outputs = json_parse(row->outputs, strlen(row->outputs), NULL);
    results_set(loading->results, (size_t)row->step, row->copy, outputs);
    json_decref(outputs);
    return 0;
}

int results_load(struct results *results, const struct workflow *workflow,
                 struct store *store, int64_t run, struct err *err)
{
    struct loading loading = {
        results, workflow,
        mem_array(workflow->step_count, sizeof(*loading.first_jobs))};
    const struct trial_query query = {
        .run = run,
        .order = ORDER_NUMBER,
        .state = job_state_names[JOB_SUCCEEDED],
        .results_only = true,
    };
    int result = store_each_step(store, run, on_step, &loading, err);

    if (result == 0)
        result = store_each_trial(store, &query, on_job, &loading, err);
    free(loading.first_jobs);
    return result;
}
