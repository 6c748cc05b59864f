/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finding a job by the name that a user gives it: a number, a step, STEP[3],
 * STEP#2.
 *
 * A name may fit several jobs. Rounds of one copy are no choice: the last one
 * is meant. Copies are: the message then lists them, and those that failed,
 * because these are what users look for. Jobs are read in the order of their
 * numbers, so a later round replaces an earlier one.
 */
#include "cli/show/jobs/run_jobs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "orchestrator/job/job_name.h"
#include "orchestrator/job/states.h"

enum { COPIES_NAMED = 8 };

void run_job_clear(struct run_job *job)
{
    free(job->label);
    *job = (struct run_job){0};
}

void run_jobs_print_name(const struct step_list *list,
                         const struct trial_row *job, struct buf *out)
{
    const struct step_line *line;

    if (job->step < 0 || (size_t)job->step >= list->count)
        return;
    line = &list->lines[job->step];
    job_name_print(line->name, line->is_many ? job->copy : -1, job->round, out);
}

/* ---- by number ---- */

static void take_job(const struct step_list *list, const struct trial_row *row,
                     struct run_job *job)
{
    struct buf label = BUF_INIT;
    int state = job_state_find(row->state);

    buf_add_string(&label, "job ");
    run_jobs_print_name(list, row, &label);
    free(job->label);
    *job = (struct run_job){
        .id = row->job,
        .number = row->number,
        .step = row->step,
        .label = buf_take(&label),
        .is_over = state >= 0 && job_is_final((enum job_state)state),
        .is_reused = row->cached_from != 0,
    };
}

struct by_number {
    const struct step_list *list;
    struct run_job *job;
};

static int take_number(void *user, const struct trial_row *row)
{
    const struct by_number *search = user;

    take_job(search->list, row, search->job);
    return 0;
}

static int find_number(const struct run_view *view,
                       const struct run_steps *steps, int64_t number,
                       struct run_job *job, struct err *err)
{
    const struct trial_query query = {.run = view->row.id, .number = number};
    struct by_number search = {&steps->list, job};

    if (store_each_trial(view->store, &query, take_number, &search, err) < 0)
        return -1;
    if (job->id != 0)
        return 0;
    return err_set(err, ERR_NOT_FOUND,
                   "run '%s' has no job %" PRId64 " (it has %" PRId64
                   " so far)",
                   view->row.name, number, run_count_trials(view));
}

/* ---- by step ---- */

struct by_step {
    struct job_name wanted;
    int64_t step;
    struct run_job *job; /* what was found last */
    int64_t copy;        /* its */
    int64_t rounds;      /* the last that the copy has */
    int64_t copies;      /* different ones that would do */
    bool has_copy;
    struct buf failed; /* names of some that failed */
    size_t failed_count;
    const struct step_list *list;
};

static void note_failed(struct by_step *search, const struct trial_row *row)
{
    if (strcmp(row->state, "failed") != 0 ||
        search->failed_count++ >= COPIES_NAMED)
        return;
    buf_add_string(&search->failed, search->failed.length > 0 ? ", " : "");
    run_jobs_print_name(search->list, row, &search->failed);
}

/* Jobs come by number, and so the rounds of a copy in order. */
static int look_at(void *user, const struct trial_row *row)
{
    struct by_step *search = user;

    if (row->step != search->step)
        return 0;
    note_failed(search, row);
    if (search->wanted.copy >= 0 && row->copy != search->wanted.copy)
        return 0;
    search->has_copy = true;
    if (row->round > search->rounds)
        search->rounds = row->round;
    if (search->wanted.round != 0 && row->round != search->wanted.round)
        return 0;
    search->copies += search->job->id == 0 || row->copy != search->copy;
    search->copy = row->copy;
    take_job(search->list, row, search->job);
    return 0;
}

static int no_step(const struct run_view *view, const struct step_list *list,
                   const char *name, struct err *err)
{
    const char **names = mem_array(list->count, sizeof(*names));
    const char *nearest;
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (!list->lines[i].is_hidden)
            names[count++] = list->lines[i].name;
    }
    nearest = text_nearest(name, names, count);
    free(names);
    return err_set(
        err, ERR_NOT_FOUND, "run '%s' has no step '%s'%s%s%s", view->row.name,
        name, nearest != NULL ? " (did you mean '" : "",
        nearest != NULL ? nearest : "", nearest != NULL ? "'?)" : "");
}

int run_jobs_find_step(const struct run_view *view,
                       const struct run_steps *steps, const char *name,
                       int64_t *step, struct err *err)
{
    const struct step_list *list = &steps->list;

    for (size_t i = 0; i < list->count; i++) {
        if (list->lines[i].is_hidden || strcmp(list->lines[i].name, name) != 0)
            continue;
        *step = (int64_t)i;
        return 0;
    }
    return no_step(view, list, name, err);
}

static int no_job_yet(const struct run_steps *steps, int64_t step,
                      struct err *err)
{
    const struct step_line *line = &steps->list.lines[step];
    struct buf note = BUF_INIT;

    step_list_print_note(&steps->list, (size_t)step, &note);
    err_set(err, ERR_NOT_FOUND, "step '%s' has not started: it is %s%s%s",
            line->name, step_list_state(&steps->list, line),
            note.length > 0 ? ", " : "", buf_text(&note));
    buf_clear(&note);
    return -1;
}

/* "say which: train[0], train[1], train[2]" */
static int many_copies(const struct by_step *search, struct err *err)
{
    const struct step_line *line = &search->list->lines[search->step];
    struct buf text = BUF_INIT;
    int64_t last = line->copies - 1;

    for (int64_t i = 0; i <= last && last < COPIES_NAMED; i++) {
        buf_add_string(&text, i > 0 ? ", " : "");
        job_name_print(line->name, i, search->wanted.round, &text);
    }
    if (last >= COPIES_NAMED) {
        job_name_print(line->name, 0, search->wanted.round, &text);
        buf_add_string(&text, " to ");
        job_name_print(line->name, last, search->wanted.round, &text);
    }
    if (search->failed.length > 0)
        buf_printf(&text, "; %s%s failed", buf_text(&search->failed),
                   search->failed_count > COPIES_NAMED ? " ..." : "");
    err_set(err, ERR_USAGE, "step '%s' has %" PRId64 " copies; select one: %s",
            line->name, line->copies, buf_text(&text));
    buf_clear(&text);
    return -1;
}

static int check_found(const struct run_steps *steps,
                       const struct by_step *search, struct err *err)
{
    const struct step_line *line = &search->list->lines[search->step];

    if (search->copies > 1)
        return many_copies(search, err);
    if (search->job->id != 0)
        return 0;
    if (search->has_copy && search->rounds == 0)
        return err_set(err, ERR_NOT_FOUND, "step '%s' does not repeat",
                       line->name);
    if (search->has_copy)
        return err_set(err, ERR_NOT_FOUND,
                       "step '%s' has no round %" PRId64 " (it has %" PRId64
                       " so far)",
                       line->name, search->wanted.round, search->rounds);
    if (search->wanted.copy >= line->copies && line->copies > 0)
        return err_set(err, ERR_NOT_FOUND,
                       "step '%s' has no copy %" PRId64 " (it has %" PRId64
                       ", from 0)",
                       line->name, search->wanted.copy, line->copies);
    if (line->state == FLOW_ACTIVE && search->wanted.copy >= 0)
        return err_set(err, ERR_NOT_FOUND,
                       "copy %" PRId64 " of step '%s' has not started",
                       search->wanted.copy, line->name);
    return no_job_yet(steps, search->step, err);
}

static int find_in_step(const struct run_view *view,
                        const struct run_steps *steps, struct by_step *search,
                        struct err *err)
{
    const struct trial_query query = {.run = view->row.id,
                                      .results_only = true};

    if (store_each_trial(view->store, &query, look_at, search, err) < 0)
        return -1;
    return check_found(steps, search, err);
}

/* Whether a name stands for the step as a whole. */
static bool is_of_step(const struct step_line *line,
                       const struct job_name *name)
{
    return name->copy < 0 && name->round == 0 &&
           (line->is_many || line->copies == 0);
}

/* or_step: a name may stand for a step. */
static int find_named(const struct run_view *view,
                      const struct run_steps *steps,
                      const struct job_name *name, bool or_step,
                      struct run_job *job, struct err *err)
{
    struct by_step search = {.wanted = *name, .list = &steps->list, .job = job};
    char *word = mem_copy_bytes(name->step, name->step_length);
    int result = run_jobs_find_step(view, steps, word, &search.step, err);

    free(word);
    if (result != 0)
        return -1;
    if (or_step && is_of_step(&steps->list.lines[search.step], name)) {
        job->step = search.step;
        return 0;
    }
    result = find_in_step(view, steps, &search, err);
    buf_clear(&search.failed);
    return result;
}

static int find_job(const struct run_view *view, const struct run_steps *steps,
                    const char *operand, bool or_step, struct run_job *job,
                    struct err *err)
{
    struct job_name name;

    *job = (struct run_job){0};
    if (job_name_parse(operand, &name, err) != 0)
        return -1;
    return name.step == NULL
               ? find_number(view, steps, name.number, job, err)
               : find_named(view, steps, &name, or_step, job, err);
}

int run_jobs_find_part(const struct run_view *view,
                       const struct run_steps *steps, const char *operand,
                       struct run_job *job, struct err *err)
{
    return find_job(view, steps, operand, true, job, err);
}

static int find_in_workflow(const struct run_view *view, const char *operand,
                            struct run_job *job, struct err *err)
{
    struct run_steps steps;
    int result = run_steps_load(&steps, view->store, view->row.id, err);

    if (result == 0)
        result = find_job(view, &steps, operand, false, job, err);
    run_steps_clear(&steps);
    return result;
}

int run_jobs_find(const struct run_view *view, const char *operand,
                  struct run_job *job, struct err *err)
{
    *job = (struct run_job){0};
    if (run_is_workflow(&view->row))
        return find_in_workflow(view, operand, job, err);
    if (run_find_trial(view, operand, &job->number, &job->id, err) != 0)
        return -1;
    job->label = mem_printf("trial %" PRId64, job->number);
    return 0;
}
