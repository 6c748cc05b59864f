/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/takeover.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct entry {
    size_t step;
    int64_t copy, round;
    struct taken_job job;
};

struct takeover {
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
    struct takeover *takeover = user;
    const struct workflow *workflow = takeover->workflow;
    int64_t step = workflow_find(workflow, row->name);
    size_t n = takeover->count++;

    takeover->steps_of =
        mem_resize(takeover->steps_of, n + 1, sizeof(*takeover->steps_of));
    takeover->first_of =
        mem_resize(takeover->first_of, n + 1, sizeof(*takeover->first_of));
    takeover->steps_of[n] =
        step >= 0 && workflow->take_over.steps[step] ? step : -1;
    takeover->first_of[n] = row->first_job;
    return 0;
}

static int on_job(void *user, const struct trial_row *row)
{
    struct takeover *takeover = user;
    size_t n = takeover->entry_count;
    int state = job_state_find(row->state);
    struct entry entry = {
        .copy = row->copy, .round = row->round, .job = {.job = row->job}};

    if (row->step < 0 || (size_t)row->step >= takeover->count ||
        takeover->steps_of[row->step] < 0 ||
        row->number < takeover->first_of[row->step] ||
        (state != JOB_SUCCEEDED && state != JOB_FAILED))
        return 0;
    entry.step = (size_t)takeover->steps_of[row->step];
    entry.job.state = (enum job_state)state;
    if (row->outputs != NULL) {
        entry.job.outputs =
            json_parse(row->outputs, strlen(row->outputs), takeover->err);
        if (entry.job.outputs == NULL)
            return -1;
    }
    takeover->entries = mem_grow(takeover->entries, n, &takeover->capacity,
                                 sizeof(*takeover->entries));
    takeover->entries[takeover->entry_count++] = entry;
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

struct takeover *takeover_create(struct store *store,
                                 const struct workflow *workflow,
                                 struct err *err)
{
    struct takeover *takeover = mem_zero(sizeof(*takeover));
    struct trial_query query = {
        .run = workflow->take_over.run,
        .order = ORDER_NUMBER,
        .results_only = true,
    };

    takeover->workflow = workflow;
    takeover->err = err;
    if (store_each_step(store, query.run, on_step, takeover, err) != 0 ||
        store_each_trial(store, &query, on_job, takeover, err) != 0) {
        takeover_destroy(takeover);
        return NULL;
    }
    if (takeover->count == 0) {
        takeover_destroy(takeover);
        err_set(err, ERR_NOT_FOUND,
                "the run whose results are to be taken over is gone");
        return NULL;
    }
    if (takeover->entry_count > 0)
        qsort(takeover->entries, takeover->entry_count, sizeof(struct entry),
              compare);
    return takeover;
}

void takeover_destroy(struct takeover *takeover)
{
    if (takeover == NULL)
        return;
    for (size_t i = 0; i < takeover->entry_count; i++)
        json_decref(takeover->entries[i].job.outputs);
    free(takeover->entries);
    free(takeover->steps_of);
    free(takeover->first_of);
    free(takeover);
}

bool takeover_find(const struct takeover *takeover, size_t step, int64_t copy,
                   int64_t round, struct taken_job *found)
{
    const struct entry key = {.step = step, .copy = copy, .round = round};
    const struct entry *entry = NULL;

    if (takeover != NULL && takeover->entry_count > 0)
        entry = bsearch(&key, takeover->entries, takeover->entry_count,
                        sizeof(key), compare);
    if (entry != NULL)
        *found = entry->job;
    return entry != NULL;
}
