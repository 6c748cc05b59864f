/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/jobs/steps_document.h"
#include "cli/show/run/attempt_place.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "cli/show/jobs/run_jobs.h"
#include "cli/show/jobs/step_table.h"
#include "orchestrator/job/states.h"

/* ---- how many ---- */

/* For people in a line: "3 of 12 finished (2 active, 7 waiting)". */
static int add_progress(struct document *document,
                        const struct step_counts *counts, struct err *err)
{
    static const struct table_column column = {"steps", NULL, COLUMN_TEXT,
                                               NULL};
    struct buf text = BUF_INIT;
    struct value cell;
    int status;

    buf_printf(&text, "%" PRId64 " of %" PRId64 " finished", counts->done,
               counts->all);
    if (counts->all > 0)
        buf_add_string(&text, " (");
    step_counts_print(counts, &text);
    if (counts->all > 0)
        buf_add_char(&text, ')');
    cell = value_text(buf_text(&text));
    status = document_fields(document, NULL, &column, &cell, 1, err);
    buf_clear(&text);
    return status;
}

static int add_counts(struct document *document,
                      const struct step_counts *counts, struct err *err)
{
    static const struct table_column columns[] = {
        {"total", NULL, COLUMN_NUMBER, NULL},
        {"done", NULL, COLUMN_NUMBER, NULL},
        {"waiting", NULL, COLUMN_NUMBER, NULL},
        {"active", NULL, COLUMN_NUMBER, NULL},
        {"succeeded", NULL, COLUMN_NUMBER, NULL},
        {"failed", NULL, COLUMN_NUMBER, NULL},
        {"skipped", NULL, COLUMN_NUMBER, NULL},
        {"cached", NULL, COLUMN_NUMBER, NULL},
        {"interrupted", NULL, COLUMN_NUMBER, NULL},
    };
    bool is_interrupted = counts->interrupted != NULL;
    int64_t active = counts->of[FLOW_ACTIVE];

    return document_fields(document, "step_counts", columns,
                           (const struct value[ARRAY_LEN(columns)]){
                               value_int(counts->all),
                               value_int(counts->done),
                               value_int(counts->of[FLOW_WAITING]),
                               value_int(is_interrupted ? 0 : active),
                               value_int(counts->of[FLOW_SUCCEEDED]),
                               value_int(counts->of[FLOW_FAILED]),
                               value_int(counts->of[FLOW_SKIPPED]),
                               value_int(counts->cached),
                               value_int(is_interrupted ? active : 0),
                           },
                           ARRAY_LEN(columns), err);
}

/* ---- the list ---- */

static const struct table_column full_columns[] = {
    {"name", NULL, COLUMN_TEXT, NULL},
    {"state", NULL, COLUMN_STATE, NULL},
    {"reason", NULL, COLUMN_TEXT, NULL},
    {"copies", NULL, COLUMN_NUMBER, NULL},
    {"succeeded", NULL, COLUMN_NUMBER, NULL},
    {"failed", NULL, COLUMN_NUMBER, NULL},
    {"running", NULL, COLUMN_NUMBER, NULL},
    {"pending", NULL, COLUMN_NUMBER, NULL},
    {"skipped", NULL, COLUMN_NUMBER, NULL},
    {"cancelled", NULL, COLUMN_NUMBER, NULL},
    {"cached", NULL, COLUMN_NUMBER, NULL},
    {"interrupted", NULL, COLUMN_NUMBER, NULL},
    {"round", NULL, COLUMN_NUMBER, NULL},
    {"began", NULL, COLUMN_TIME, NULL},
    {"ended", NULL, COLUMN_TIME, NULL},
    {"duration_ms", NULL, COLUMN_DURATION, NULL},
    {"note", NULL, COLUMN_TEXT, NULL},
};

struct step_rows {
    struct document *document;
    int64_t now_ms; /* 0: nobody looks after the run */
    struct err *err;
};

static int add_short(void *user, const struct value *cells)
{
    const struct step_rows *rows = user;

    return document_row(rows->document, cells, rows->err);
}

static int add_full(const struct step_rows *rows, const struct step_list *list,
                    size_t step)
{
    const struct step_line *line = &list->lines[step];
    const struct step_jobs *jobs = &line->jobs;
    int64_t ms = step_line_duration_ms(line, rows->now_ms);
    struct buf note = BUF_INIT;
    int status;

    step_list_print_note(list, step, &note);
    status = document_row(
        rows->document,
        (const struct value[ARRAY_LEN(full_columns)]){
            value_text(line->name),
            value_text(step_list_state(list, line)),
            value_text_unless_empty(line->reason),
            line->began_ms > 0 ? value_int(line->copies) : value_null(),
            value_int(jobs->succeeded),
            value_int(jobs->failed),
            value_int(jobs->running),
            value_int(jobs->pending),
            value_int(jobs->skipped),
            value_int(jobs->cancelled),
            value_int(jobs->cached),
            value_int(jobs->interrupted),
            line->round > 0 ? value_int(line->round) : value_null(),
            value_int(line->began_ms),
            value_int(line->ended_ms),
            value_int_unless(ms, -1),
            value_text_unless_empty(buf_text(&note)),
        },
        rows->err);
    buf_clear(&note);
    return status;
}

static int add_for_people(struct step_rows *rows, const struct step_list *list,
                          size_t rows_max)
{
    document_begin_list(rows->document, "steps", step_table_columns,
                        STEP_TABLE_COLUMNS);
    if (step_table_each(list, rows_max, rows->now_ms, add_short, rows) != 0)
        return -1;
    return document_end_list(rows->document, rows->err);
}

static int add_for_programs(const struct step_rows *rows,
                            const struct step_list *list)
{
    document_begin_list(rows->document, "steps", full_columns,
                        ARRAY_LEN(full_columns));
    for (size_t i = 0; i < list->count; i++) {
        if (!list->lines[list->order[i]].is_hidden &&
            add_full(rows, list, list->order[i]) != 0)
            return -1;
    }
    return document_end_list(rows->document, rows->err);
}

int steps_document_add(struct document *document, const struct cli *cli,
                       const struct run_view *view,
                       const struct run_steps *steps, size_t rows_max,
                       struct err *err)
{
    struct step_rows rows = {
        .document = document,
        .now_ms = view->engine_pid > 0 ? clock_wall_ms() : 0,
        .err = err,
    };
    struct step_counts counts;

    step_list_count(&steps->list, &counts);
    if (cli->output == OUTPUT_TABLE)
        return add_progress(document, &counts, err) == 0
                   ? add_for_people(&rows, &steps->list, rows_max)
                   : -1;
    return add_counts(document, &counts, err) == 0
               ? add_for_programs(&rows, &steps->list)
               : -1;
}

/* ---- what runs now ---- */

static const struct table_column running_columns[] = {
    {"job", NULL, COLUMN_TEXT, NULL},
    {"id", NULL, COLUMN_NUMBER, NULL},
    {"attempt", NULL, COLUMN_NUMBER, NULL},
    {"state", NULL, COLUMN_STATE, NULL},
    {"pid", NULL, COLUMN_NUMBER, NULL},
    {"started", NULL, COLUMN_TIME, NULL},
    {"duration_ms", "for", COLUMN_DURATION, NULL},
};

struct running {
    struct document *document;
    struct place_list places;
    const struct run_view *view;
    const struct step_list *list;
    struct buf name; /* of the attempt's job */
    struct err *err;
};

static int take_name(void *user, const struct trial_row *job)
{
    struct running *running = user;

    buf_truncate(&running->name, 0);
    run_jobs_print_name(running->list, job, &running->name);
    return 0;
}

static int add_attempt(void *user, const struct attempt_row *attempt)
{
    struct running *running = user;
    const struct trial_query query = {.run = running->view->row.id,
                                      .number = attempt->job_number,
                                      .results_only = true};
    struct attempt_now now;
    int status;

    if (store_each_trial(running->view->store, &query, take_name, running,
                         running->err) < 0)
        return -1;
    attempt_now_of(running->view, attempt, &now);
    status = place_list_row(&running->places, running->document,
                            (const struct value[ARRAY_LEN(running_columns)]){
                                value_text(buf_text(&running->name)),
                                value_int(attempt->job_number),
                                value_int(attempt->number),
                                value_text(now.state),
                                value_int_unless(attempt->pid, 0),
                                value_int(now.started_ms),
                                value_int_unless(now.ran_ms, -1),
                            },
                            attempt, &now, running->err);
    attempt_now_clear(&now);
    return status;
}

int steps_document_add_running(struct document *document,
                               const struct run_view *view,
                               const struct run_steps *steps, struct err *err)
{
    struct running running = {
        .document = document, .view = view, .list = &steps->list, .err = err};
    int status;

    if (place_list_init(&running.places, running_columns,
                        ARRAY_LEN(running_columns), view, 0, err) < 0)
        return -1;
    document_begin_list(document, "running_jobs", running.places.columns,
                        running.places.count);
    status = store_each_attempt(view->store, view->row.id, 0, add_attempt,
                                &running, err);
    buf_clear(&running.name);
    return status < 0 ? -1 : document_end_list(document, err);
}
