/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/show_document.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "cli/show/jobs/job_document.h"
#include "cli/show/jobs/notes_and_tags.h"
#include "cli/show/jobs/steps_document.h"
#include "cli/show/jobs/trial_document.h"
#include "cli/show/run/run_document.h"
#include "cli/show/run/schedule_view.h"
#include "orchestrator/run/run.h"
#include "orchestrator/spec/spec_mask.h"

static const struct table_column columns[] = {
    {"id", NULL, COLUMN_NUMBER, NULL},
    {"name", NULL, COLUMN_TEXT, NULL},
    {"state", NULL, COLUMN_STATE, NULL},
    {"reason", NULL, COLUMN_TEXT, NULL},
    {"kind", NULL, COLUMN_TEXT, NULL},
    {"file", NULL, COLUMN_TEXT, NULL},
    {"overrides", NULL, COLUMN_TEXT, NULL},
    {"work_directory", "runs in", COLUMN_TEXT, NULL},
    {"revision", "code", COLUMN_TEXT, NULL},
    {"directory", "files", COLUMN_TEXT, NULL},
    {"seed", NULL, COLUMN_TEXT, NULL},
    {"created", NULL, COLUMN_TIME, NULL},
    {"started", NULL, COLUMN_TIME, NULL},
    {"ended", NULL, COLUMN_TIME, NULL},
    {"duration_ms", "duration", COLUMN_DURATION, NULL},
};

static char *shown_overrides(const struct cli *cli, const struct run_row *row)
{
    const char *overrides = run_row_overrides(row);
    struct buf shown = BUF_INIT;

    if (cli->with_secrets)
        return mem_copy_string(overrides);
    spec_mask_overrides(run_row_spec(row), overrides, &shown);
    return buf_take(&shown);
}

static int add_run(struct document *document, const struct cli *cli,
                   const struct run_view *view, struct err *err)
{
    const struct run_row *row = &view->row;
    char *directory = store_run_directory(view->store, row->name);
    char *overrides = shown_overrides(cli, row);
    int64_t duration_ms = run_duration_ms(row, view->state);
    char seed[24]; /* a text: JSON's numbers lose the end of 64 bits */
    const struct value cells[ARRAY_LEN(columns)] = {
        value_int(row->id),
        value_text(row->name),
        value_text(view->state),
        value_text_unless_empty(row->reason),
        value_text(row->kind),
        value_text_unless_empty(row->spec_path),
        value_text(overrides),
        value_text(row->work_directory),
        value_text_unless_empty(row->revision),
        value_text(directory),
        value_text(seed),
        value_int(row->created_ms),
        value_int(row->started_ms),
        value_int(row->ended_ms),
        value_int_unless(duration_ms, -1),
    };
    int status;

    snprintf(seed, sizeof(seed), "%" PRIu64, row->seed);
    status = document_fields(document, NULL, columns, cells, ARRAY_LEN(columns),
                             err);
    if (status == 0)
        status = run_document_time(document, view, err);
    free(overrides);
    free(directory);
    return status;
}

static const struct table_column earlier_columns[] = {
    {"run", NULL, COLUMN_TEXT, NULL},
    {"trials", NULL, COLUMN_NUMBER, NULL},
};

struct earlier_list {
    struct document *document;
    struct err *err;
};

static int add_earlier(void *user, const char *source, int64_t trials)
{
    struct earlier_list *list = user;

    return document_row(list->document,
                        (const struct value[ARRAY_LEN(earlier_columns)]){
                            value_text(source), value_int(trials)},
                        list->err);
}

/* The earlier runs that its search began with. */
static int add_earlier_runs(struct document *document,
                            const struct run_view *view, struct err *err)
{
    struct earlier_list list = {document, err};

    document_begin_list(document, "warm_start", earlier_columns,
                        ARRAY_LEN(earlier_columns));
    if (store_each_earlier_run(view->store, view->row.id, add_earlier, &list,
                               err) < 0)
        return -1;
    return document_end_list(document, err);
}

static int add_experiment(struct document *document, const struct cli *cli,
                          const struct run_view *view, struct err *err)
{
    if (add_run(document, cli, view, err) < 0 ||
        notes_and_tags_add(document, cli, view, 0, err) < 0 ||
        run_document_objectives(document, view, err) < 0 ||
        add_earlier_runs(document, view, err) < 0 ||
        run_document_outcomes(document, view, err) < 0 ||
        run_document_counts(document, view, err) < 0 ||
        schedule_view_add(document, view, err) < 0 ||
        schedule_view_add_rungs(document, view, err) < 0)
        return -1;
    return run_document_best(document, cli, view, err);
}

static int add_workflow(struct document *document, const struct cli *cli,
                        const struct run_view *view, struct err *err)
{
    struct run_steps steps;
    int status = run_steps_load(&steps, view->store, view->row.id, err);

    if (status == 0)
        status = add_run(document, cli, view, err);
    if (status == 0)
        status = notes_and_tags_add(document, cli, view, 0, err);
    if (status == 0)
        status = steps_document_add(document, cli, view, &steps, 0, err);
    run_steps_clear(&steps);
    return status;
}

int show_document_add_run(struct document *document, const struct cli *cli,
                          const struct run_view *view, struct err *err)
{
    return run_is_workflow(&view->row)
               ? add_workflow(document, cli, view, err)
               : add_experiment(document, cli, view, err);
}

int show_document_add_part(struct document *document, const struct cli *cli,
                           const struct run_view *view, const char *operand,
                           struct err *err)
{
    return run_is_workflow(&view->row)
               ? job_document_add(document, cli, view, operand, err)
               : trial_document_add(document, cli, view, operand, err);
}
