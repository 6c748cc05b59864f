/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "cli/cmd.h"
#include "cli/document.h"
#include "cli/importance_view.h"
#include "cli/job_document.h"
#include "cli/run_document.h"
#include "cli/run_view.h"
#include "cli/schedule_view.h"
#include "cli/steps_document.h"
#include "cli/trial_document.h"
#include "cli/trial_table.h"

static const struct column columns[] = {
    {"id", NULL, COLUMN_NUMBER, NULL},
    {"name", NULL, COLUMN_TEXT, NULL},
    {"state", NULL, COLUMN_STATE, NULL},
    {"reason", NULL, COLUMN_TEXT, NULL},
    {"kind", NULL, COLUMN_TEXT, NULL},
    {"file", NULL, COLUMN_TEXT, NULL},
    {"overrides", NULL, COLUMN_TEXT, NULL},
    {"work_directory", "runs in", COLUMN_TEXT, NULL},
    {"directory", "files", COLUMN_TEXT, NULL},
    {"seed", NULL, COLUMN_TEXT, NULL},
    {"created", NULL, COLUMN_TIME, NULL},
    {"started", NULL, COLUMN_TIME, NULL},
    {"ended", NULL, COLUMN_TIME, NULL},
    {"duration_ms", "duration", COLUMN_DURATION, NULL},
};

static struct value text_or_null(const char *text)
{
    return text[0] == '\0' ? value_null() : value_text(text);
}

static int add_run(struct document *document, const struct run_view *view,
                   struct err *err)
{
    const struct run_row *row = &view->row;
    char *directory = store_run_directory(view->store, row->name);
    int64_t duration_ms = run_duration_ms(row, view->state);
    char seed[24]; /* a text: JSON's numbers lose the end of 64 bits */
    const struct value cells[ARRAY_LEN(columns)] = {
        value_int(row->id),
        value_text(row->name),
        value_text(view->state),
        text_or_null(row->reason),
        value_text(row->kind),
        text_or_null(row->spec_path),
        value_text(row->overrides),
        value_text(row->work_directory),
        value_text(directory),
        value_text(seed),
        value_int(row->created_ms),
        value_int(row->started_ms),
        value_int(row->ended_ms),
        duration_ms < 0 ? value_null() : value_int(duration_ms),
    };
    int status;

    snprintf(seed, sizeof(seed), "%" PRIu64, row->seed);
    status = document_fields(document, NULL, columns, cells, ARRAY_LEN(columns),
                             err);
    free(directory);
    return status;
}

static const struct column earlier_columns[] = {
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

static int show_run(struct document *document, const struct cli *cli,
                    const struct run_view *view, struct err *err)
{
    if (add_run(document, view, err) < 0 ||
        run_document_objectives(document, view, err) < 0 ||
        add_earlier_runs(document, view, err) < 0 ||
        run_document_outcomes(document, view, err) < 0 ||
        run_document_counts(document, view, err) < 0 ||
        schedule_view_add(document, view, err) < 0 ||
        schedule_view_add_rungs(document, view, err) < 0)
        return -1;
    if (run_document_best(document, cli, view, err) < 0)
        return -1;
    return importance_view_add(document, cli, view, err);
}

static int show_workflow(struct document *document, const struct cli *cli,
                         const struct run_view *view, struct err *err)
{
    struct run_steps steps;
    int status = run_steps_load(&steps, view->store, view->row.id, err);

    if (status == 0)
        status = add_run(document, view, err);
    if (status == 0)
        status = steps_document_add(document, cli, view, &steps, 0, err);
    run_steps_clear(&steps);
    return status;
}

static int show_part(struct document *document, const struct cli *cli,
                     const struct run_view *view, const char *operand,
                     struct err *err)
{
    return run_is_workflow(&view->row)
               ? job_document_add(document, cli, view, operand, err)
               : trial_document_add(document, cli, view, operand, err);
}

static int show_whole(struct document *document, const struct cli *cli,
                      const struct run_view *view, struct err *err)
{
    return run_is_workflow(&view->row) ? show_workflow(document, cli, view, err)
                                       : show_run(document, cli, view, err);
}

static int show(const struct cli *cli, const struct run_view *view,
                const char *part, struct err *err)
{
    struct document *document = document_create(cli);
    int status = part != NULL ? show_part(document, cli, view, part, err)
                              : show_whole(document, cli, view, err);

    if (status == 0)
        status = document_finish(document, err);
    if (status == 0 && part == NULL)
        run_document_hint(cli, view);
    document_destroy(document);
    return status;
}

static int exec_show(const struct cli *cli, const void *options,
                     char **operands, int count, struct err *err)
{
    struct run_view view;
    int status = run_view_open(&view, cli, operands[0], err);

    (void)options;
    if (status == 0)
        status = show(cli, &view, count > 1 ? operands[1] : NULL, err);
    run_view_close(&view);
    return status;
}

const struct cmd cmd_show = {
    .name = "show",
    .operands = "RUN [JOB]",
    .summary = "show all about a run, or about one of its trials or jobs",
    .details = "Of a run: where it came from, its objectives, how far it is, "
               "its best trial, and how much each parameter matters: its "
               "share of what an objective varies by over the whole space. "
               "Where it has a schedule also how much of the resource was "
               "used, and of each rung how many trials are planned, came "
               "there, went on, were stopped, are paused or on the way there, "
               "and the worst value that went on. Of "
               "a trial: its parameters, its attempts and why each ended, what "
               "its schedule decided, and the last value of each metric.\n\n"
               "Of a workflow: its steps, and of a job (STEP, its copy "
               "STEP[3], its second round STEP#2) its values of the matrix "
               "and of the round, its outputs, its attempts, the runs below "
               "it, and whose result it took from the cache. Of a step with "
               "several copies, the list of them.",
    .examples = "smtune show last            # the newest run\n"
                "smtune show mlp 17          # its trial 17\n"
                "smtune show mlp 17 -o json  # for programs\n"
                "smtune show nightly train   # a step of a workflow\n",
    .completes = "run",
    .min_operands = 1,
    .max_operands = 2,
    .exec = exec_show,
};
