/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/jobs/job_numbers.h"

#include <stdlib.h>

#include "base/mem.h"
#include "cli/show/jobs/run_jobs.h"
#include "orchestrator/job/states.h"

void job_numbers_add(struct job_numbers *numbers, int64_t number)
{
    numbers->items = mem_grow(numbers->items, numbers->count,
                              &numbers->capacity, sizeof(*numbers->items));
    numbers->items[numbers->count++] = number;
}

void job_numbers_clear(struct job_numbers *numbers)
{
    free(numbers->items);
    *numbers = (struct job_numbers){0};
}

/* The copies of a step, each by its last round, which has the highest number.
 */
struct copies {
    int64_t step, count;
    bool even_succeeded;
    int64_t *numbers; /* [count]; 0: not to be taken */
};

static int look_at(void *user, const struct trial_row *job)
{
    struct copies *copies = user;
    int state = job_state_find(job->state);

    if (job->step != copies->step || job->copy < 0 ||
        job->copy >= copies->count)
        return 0;
    copies->numbers[job->copy] =
        state == JOB_FAILED || state == JOB_STOPPED || state == JOB_CANCELLED ||
                (state == JOB_SUCCEEDED && copies->even_succeeded)
            ? job->number
            : 0;
    return 0;
}

static int add_step(const struct run_view *view, const struct step_line *line,
                    struct copies *copies, struct job_numbers *numbers,
                    struct err *err)
{
    const struct trial_query query = {.run = view->row.id,
                                      .results_only = true};
    size_t before = numbers->count;
    int status;

    copies->count = line->copies;
    copies->numbers = mem_array((size_t)line->copies, sizeof(*copies->numbers));
    status = store_each_trial(view->store, &query, look_at, copies, err);
    for (int64_t i = 0; i < copies->count && status == 0; i++) {
        if (copies->numbers[i] != 0)
            job_numbers_add(numbers, copies->numbers[i]);
    }
    free(copies->numbers);
    if (status == 0 && numbers->count == before)
        return err_set(
            err, ERR_USAGE, "no copy of step '%s' has failed%s", line->name,
            copies->even_succeeded ? " or succeeded"
                                   : " (--force includes successful copies)");
    return status;
}

static int add_part(const struct run_view *view, const struct run_steps *steps,
                    const char *operand, bool even_succeeded,
                    struct job_numbers *numbers, struct err *err)
{
    struct copies copies = {.even_succeeded = even_succeeded};
    struct run_job job;
    int status = run_jobs_find_part(view, steps, operand, &job, err);

    if (status == 0 && job.id != 0) {
        job_numbers_add(numbers, job.number);
    } else if (status == 0) {
        copies.step = job.step;
        status =
            add_step(view, &steps->list.lines[job.step], &copies, numbers, err);
    }
    run_job_clear(&job);
    return status;
}

int job_numbers_find(const struct run_view *view, char **operands, int count,
                     bool even_succeeded, struct job_numbers *numbers,
                     struct err *err)
{
    struct run_steps steps;
    int status = run_steps_load(&steps, view->store, view->row.id, err);

    for (int i = 0; i < count && status == 0; i++)
        status =
            add_part(view, &steps, operands[i], even_succeeded, numbers, err);
    run_steps_clear(&steps);
    return status;
}
