/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/earlier_results.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct entry {
    size_t step;
    int64_t copy, round;
    struct earlier_result job;
};

struct earlier_results {
    const struct workflow *workflow;
    int64_t *steps_of; /* [count] this workflow's step, -1: not taken over */
    int64_t *first_of; /* [count] the number of the step's first job */
    size_t count;      /* of the earlier run's steps */
    struct entry *entries;
    size_t entry_count, capacity;
    struct err *err;
};

static int on_step(void *user, const struct step_row *row)
{
    struct earlier_results *earlier = user;
    const struct workflow *workflow = earlier->workflow;
    int64_t step = workflow_find(workflow, row->name);
    size_t n = earlier->count++;

    earlier->steps_of =
        mem_resize(earlier->steps_of, n + 1, sizeof(*earlier->steps_of));
    earlier->first_of =
        mem_resize(earlier->first_of, n + 1, sizeof(*earlier->first_of));
    earlier->steps_of[n] =
        step >= 0 && workflow->take_over.steps[step] ? step : -1;
    earlier->first_of[n] = row->first_job;
    return 0;
}

static int on_job(void *user, const struct trial_row *row)
{
    struct earlier_results *earlier = user;
    size_t n = earlier->entry_count;
    int state = job_state_find(row->state);
    struct entry entry = {
        .copy = row->copy, .round = row->round, .job = {.job = row->job}};

    if (row->step < 0 || (size_t)row->step >= earlier->count ||
        earlier->steps_of[row->step] < 0 ||
        row->number < earlier->first_of[row->step] ||
        (state != JOB_SUCCEEDED && state != JOB_FAILED))
        return 0;
    entry.step = (size_t)earlier->steps_of[row->step];
    entry.job.state = (enum job_state)state;
    if (row->outputs != NULL) {
        entry.job.outputs =
            json_parse(row->outputs, strlen(row->outputs), earlier->err);
        if (entry.job.outputs == NULL)
            return -1;
    }
    earlier->entries = mem_grow(earlier->entries, n, &earlier->capacity,
                                sizeof(*earlier->entries));
    earlier->entries[earlier->entry_count++] = entry;
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->copy != y->copy)
        return x->copy < y->copy ? -1 : 1;
    return (x->round > y->round) - (x->round < y->round);
}

struct earlier_results *earlier_results_create(struct store *store,
                                               const struct workflow *workflow,
                                               struct err *err)
{
    struct earlier_results *earlier = mem_zero(sizeof(*earlier));
    struct trial_query query = {
        .run = workflow->take_over.run,
        .order = ORDER_NUMBER,
        .results_only = true,
    };

    earlier->workflow = workflow;
    earlier->err = err;
    if (store_each_step(store, query.run, on_step, earlier, err) != 0 ||
        store_each_trial(store, &query, on_job, earlier, err) != 0) {
        earlier_results_destroy(earlier);
        return NULL;
    }
    if (earlier->count == 0) {
        earlier_results_destroy(earlier);
        err_set(err, ERR_NOT_FOUND,
                "the earlier run, whose results this run reuses, is missing");
        return NULL;
    }
    if (earlier->entry_count > 0)
        qsort(earlier->entries, earlier->entry_count, sizeof(struct entry),
              compare);
    return earlier;
}

void earlier_results_destroy(struct earlier_results *earlier)
{
    if (earlier == NULL)
        return;
    for (size_t i = 0; i < earlier->entry_count; i++)
        json_decref(earlier->entries[i].job.outputs);
    free(earlier->entries);
    free(earlier->steps_of);
    free(earlier->first_of);
    free(earlier);
}

bool earlier_results_find(const struct earlier_results *earlier, size_t step,
                          int64_t copy, int64_t round,
                          struct earlier_result *found)
{
    const struct entry key = {.step = step, .copy = copy, .round = round};
    const struct entry *entry = NULL;

    if (earlier != NULL && earlier->entry_count > 0)
        entry = bsearch(&key, earlier->entries, earlier->entry_count,
                        sizeof(key), compare);
    if (entry != NULL)
        *found = entry->job;
    return entry != NULL;
}
