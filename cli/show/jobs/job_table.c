/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The jobs of a workflow as rows. People see the name of a job, which other
 * commands accept; programs also get its parts, so that they need not parse the
 * name.
 */
#include "cli/show/jobs/job_table.h"

#include "base/buf.h"
#include "base/compiler.h"
#include "base/json.h"
#include "cli/show/jobs/job_document.h"
#include "cli/show/jobs/run_jobs.h"
#include "cli/show/jobs/run_steps.h"
#include "cli/term/output.h"

enum { ENOUGH = 1 };

static const struct table_column columns[] = {
    {"id", NULL, COLUMN_NUMBER, NULL},
    {"job", NULL, COLUMN_TEXT, NULL},
    {"state", NULL, COLUMN_STATE, NULL},
    {"cause", NULL, COLUMN_TEXT, NULL},
    {"attempts", NULL, COLUMN_NUMBER, NULL},
    {"started", NULL, COLUMN_TIME, NULL},
    {"duration_ms", "duration", COLUMN_DURATION, NULL},
    /* for programs */
    {"ended", NULL, COLUMN_TIME, NULL},
    {"step", NULL, COLUMN_TEXT, NULL},
    {"copy", NULL, COLUMN_NUMBER, NULL},
    {"round", NULL, COLUMN_NUMBER, NULL},
    {"cached_from", NULL, COLUMN_NUMBER, NULL},
    {"rounds", NULL, COLUMN_JSON, NULL},
    {"outputs", NULL, COLUMN_JSON, NULL},
    {"last_started", NULL, COLUMN_TIME, NULL},
    {"last_duration_ms", NULL, COLUMN_DURATION, NULL},
};

enum { FOR_PEOPLE = 7 };

struct job_rows {
    const struct job_filter *filter;
    int64_t step; /* -1: any */
    int64_t rows;
    const struct run_view *view;
    const struct step_list *list;
    struct output *output;
    struct err *err;
};

/* What a job made, as a cell of text. */
static struct value made_by(const struct trial_row *job, struct buf *text)
{
    json_t *outputs = job_outputs(job, NULL);
    bool has_any = outputs != NULL;

    if (has_any)
        json_print(outputs, text);
    json_decref(outputs);
    return has_any ? value_text(buf_text(text)) : value_null();
}

static int print_row(struct job_rows *rows, const struct trial_row *job,
                     const char *name)
{
    bool has_step = job->step >= 0 && (size_t)job->step < rows->list->count;
    struct buf made = BUF_INIT;
    const struct value cells[ARRAY_LEN(columns)] = {
        value_int(job->number),
        value_text(name),
        value_text(job_state_shown(rows->view, job->state)),
        value_text_or_null(job->cause),
        value_int(job->attempts.count),
        value_int(job->attempts.first_started_ms),
        value_int_unless(trial_ran_ms(rows->view, job), -1),
        value_int(job->ended_ms),
        value_text_or_null(has_step ? rows->list->lines[job->step].name : NULL),
        value_int_if(job->step >= 0, job->copy),
        value_int_if(job->round > 0, job->round),
        value_int_if(job->cached_from > 0, job->cached_from),
        value_text_or_null(job->rounds),
        made_by(job, &made),
        value_int(job->attempts.last_started_ms),
        value_int_unless(trial_last_ran_ms(rows->view, job), -1),
    };
    int result = output_row(rows->output, cells, rows->err);

    buf_clear(&made);
    return result;
}

static int on_job(void *user, const struct trial_row *job)
{
    struct job_rows *rows = user;
    struct buf name = BUF_INIT;
    int status;

    if (rows->step >= 0 && job->step != rows->step)
        return 0;
    if (rows->filter->limit > 0 && rows->rows++ >= rows->filter->limit)
        return ENOUGH;
    run_jobs_print_name(rows->list, job, &name);
    status = print_row(rows, job, buf_text(&name));
    buf_clear(&name);
    return status;
}

static int print_rows(struct job_rows *rows, const struct cli *cli,
                      const struct run_view *view)
{
    const struct trial_query query = {.run = view->row.id,
                                      .state = rows->filter->state,
                                      .tag = rows->filter->tag};
    size_t count =
        cli->output == OUTPUT_TABLE ? FOR_PEOPLE : ARRAY_LEN(columns);
    int status;

    rows->output = output_create(cli, columns, count);
    output_when_empty(rows->output, "no jobs");
    status = store_each_trial(view->store, &query, on_job, rows, rows->err);
    if (status >= 0)
        return output_finish(rows->output, rows->err);
    output_destroy(rows->output);
    return -1;
}

int job_table_print(const struct cli *cli, const struct run_view *view,
                    const struct job_filter *filter, struct err *err)
{
    struct run_steps steps;
    struct job_rows rows = {.filter = filter,
                            .step = -1,
                            .view = view,
                            .list = &steps.list,
                            .err = err};
    int status = run_steps_load(&steps, view->store, view->row.id, err);

    if (status == 0 && filter->step != NULL)
        status =
            run_jobs_find_step(view, &steps, filter->step, &rows.step, err);
    if (status == 0)
        status = print_rows(&rows, cli, view);
    run_steps_clear(&steps);
    return status;
}
