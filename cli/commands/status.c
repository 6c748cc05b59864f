/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune status`: the run, its progress, and what runs now, in one document
 * for people and programs. A workflow with more than STEPS_MAX steps shows
 * active and failed steps; --all shows every step, on a terminal and in a pipe.
 */
#include <stddef.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "cli/cmd.h"
#include "cli/show/jobs/run_graph.h"
#include "cli/show/jobs/steps_document.h"
#include "cli/show/run/attempt_place.h"
#include "cli/show/run/run_document.h"
#include "cli/show/run/run_view.h"
#include "cli/show/run/schedule_view.h"
#include "cli/show/run/trial_table.h"
#include "cli/term/document.h"
#include "workflows/draw/draw.h"

enum { STEPS_MAX = 40 };

struct options {
    bool all;
    const char *format;
};

static const struct opt opts[] = {
    {"all", 'a', OPT_FLAG, offsetof(struct options, all), NULL,
     "show every step of a long workflow", 0, NULL},
    {"format", 'f', OPT_CHOICE, offsetof(struct options, format), "FORMAT",
     "only the graph of a workflow, with the states of its "
     "steps: text, mermaid, dot or svg",
     0, draw_format_names},
    {0},
};

static const struct table_column columns[] = {
    {"id", NULL, COLUMN_NUMBER, NULL},
    {"name", NULL, COLUMN_TEXT, NULL},
    {"state", NULL, COLUMN_STATE, NULL},
    {"reason", NULL, COLUMN_TEXT, NULL},
    {"engine_pid", "engine", COLUMN_NUMBER, NULL},
    {"started", NULL, COLUMN_TIME, NULL},
    {"duration_ms", "duration", COLUMN_DURATION, NULL},
    {"note", NULL, COLUMN_TEXT, NULL},
};

static int add_run(struct document *document, const struct run_view *view,
                   struct err *err)
{
    const struct run_row *row = &view->row;
    int64_t duration_ms = run_duration_ms(row, view->state);
    const struct value cells[ARRAY_LEN(columns)] = {
        value_int(row->id),
        value_text(row->name),
        value_text(view->state),
        value_text_unless_empty(row->reason),
        value_int_unless(view->engine_pid, 0),
        value_int(row->started_ms),
        value_int_unless(duration_ms, -1),
        value_text_unless_empty(row->note),
    };

    /* Few runs have a note. */
    return document_fields(document, NULL, columns, cells,
                           ARRAY_LEN(columns) - (row->note[0] == '\0'), err);
}

/* ---- what runs now ---- */

static const struct table_column running_columns[] = {
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
    struct err *err;
};

static int add_attempt(void *user, const struct attempt_row *attempt)
{
    const struct running *running = user;
    struct attempt_now now;
    int status;

    attempt_now_of(running->places.view, attempt, &now);
    const struct value cells[ARRAY_LEN(running_columns)] = {
        value_int(attempt->job_number), value_int(attempt->number),
        value_text(now.state),          value_int_unless(attempt->pid, 0),
        value_int(now.started_ms),      value_int_unless(now.ran_ms, -1),
    };

    status = place_list_row(&running->places, running->document, cells, attempt,
                            &now, running->err);
    attempt_now_clear(&now);
    return status;
}

static int add_running(struct document *document, const struct run_view *view,
                       struct err *err)
{
    struct running running = {.document = document, .err = err};

    if (place_list_init(&running.places, running_columns,
                        ARRAY_LEN(running_columns), view, 0, err) < 0)
        return -1;
    document_begin_list(document, "running_trials", running.places.columns,
                        running.places.count);
    if (store_each_attempt(view->store, view->row.id, 0, add_attempt, &running,
                           err) < 0)
        return -1;
    return document_end_list(document, err);
}

static int add_experiment(struct document *document, const struct cli *cli,
                          const struct run_view *view, struct err *err)
{
    if (run_document_counts(document, view, err) != 0 ||
        schedule_view_add(document, view, err) != 0 ||
        run_document_best(document, cli, view, err) != 0)
        return -1;
    return add_running(document, view, err);
}

static int add_workflow(struct document *document, const struct cli *cli,
                        const struct run_view *view, size_t rows_max,
                        struct err *err)
{
    struct run_steps steps;
    int status = run_steps_load(&steps, view->store, view->row.id, err);

    if (status == 0)
        status = steps_document_add(document, cli, view, &steps, rows_max, err);
    if (status == 0)
        status = steps_document_add_running(document, view, &steps, err);
    run_steps_clear(&steps);
    return status;
}

static int print_status(const struct cli *cli, const struct run_view *view,
                        const struct options *chosen, struct err *err)
{
    struct document *document = document_create(cli);
    int status = add_run(document, view, err);

    if (status == 0)
        status = run_document_time(document, view, err);
    if (status == 0)
        status = run_is_workflow(&view->row)
                     ? add_workflow(document, cli, view,
                                    chosen->all ? 0 : STEPS_MAX, err)
                     : add_experiment(document, cli, view, err);
    if (status == 0)
        status = document_finish(document, err);
    if (status == 0)
        run_document_hint(cli, view);
    document_destroy(document);
    return status;
}

static int exec_status(const struct cli *cli, const void *options,
                       char **operands, int count, struct err *err)
{
    const struct options *chosen = options;
    struct run_view view;
    int status = run_view_open(&view, cli, operands[0], err);

    (void)count;
    if (status == 0)
        status = chosen->format != NULL
                     ? run_graph_draw(cli, &view, chosen->format, err)
                     : print_status(cli, &view, chosen, err);
    run_view_close(&view);
    return status;
}

const struct cmd cmd_status = {
    .name = "status",
    .operands = "RUN",
    .summary = "show the progress and the state of a run",
    .details = "The state is 'interrupted' if the engine crashed, and "
               "'paused' after 'smtune pause'. Continue both with 'smtune "
               "resume'.\n\n"
               "For a workflow it shows a line per step, in the order of "
               "the graph: its state, the number of its copies that "
               "succeeded, failed and run, and its time. The line also "
               "shows why the step waits, failed or was skipped, or the "
               "progress of its child run. Long workflows show only "
               "active and failed steps; --all shows every step. --format "
               "draws the graph with these states.",
    .examples = "smtune status last                      # the newest run\n"
                "smtune status mlp -o json | jq .state   # for programs\n"
                "smtune status nightly --format svg >nightly.svg\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 1,
    .max_operands = 1,
    .exec = exec_status,
};
