/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/run/run_document.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "cli/show/run/front_view.h"
#include "cli/show/run/replicates.h"
#include "cli/show/run/trial_table.h"
#include "orchestrator/run/budget_change.h"
#include "orchestrator/run/run.h"

int run_document_time(struct document *document, const struct run_view *view,
                      struct err *err)
{
    static const struct table_column column = {"budget_ms", "time budget",
                                               COLUMN_DURATION, NULL};
    const struct value cell = value_int(budget_change_of(&view->row).time_ms);

    return cell.integer > 0
               ? document_fields(document, NULL, &column, &cell, 1, err)
               : 0;
}

int run_document_counts(struct document *document, const struct run_view *view,
                        struct err *err)
{
    const struct run_row *row = &view->row;
    bool is_interrupted = run_lacks_engine(view);
    const struct {
        const char *key;
        int64_t trials;
        bool is_shown;
    } counts[] = {
        {"total", row->trials, true},
        {"budget", row->budget_trials, row->budget_trials > 0},
        {"done", run_done(row), true},
        {"succeeded", row->succeeded, true},
        {"nonfinite", row->nonfinite, row->nonfinite > 0},
        {"failed", row->failed, true},
        {"stopped", row->stopped, row->is_scheduled},
        {"cancelled", row->cancelled, row->cancelled > 0},
        {"running", is_interrupted ? 0 : row->running, true},
        {"interrupted", row->running, is_interrupted},
        {"queued", row->queued, row->queued > 0},
        {"paused", row->paused, row->is_scheduled},
        {"pending", row->pending - row->queued, true},
        {"infeasible", row->infeasible, view->outcome_count > 0},
    };
    struct table_column columns[ARRAY_LEN(counts)];
    struct value cells[ARRAY_LEN(counts)];
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        if (!counts[i].is_shown)
            continue;
        columns[count] =
            (struct table_column){counts[i].key, NULL, COLUMN_NUMBER, NULL};
        cells[count++] = value_int(counts[i].trials);
    }
    return document_fields(document, "trials", columns, cells, count, err);
}

int run_document_objectives(struct document *document,
                            const struct run_view *view, struct err *err)
{
    struct table_column *columns =
        mem_array(view->objective_count, sizeof(*columns));
    struct value *cells = mem_array(view->objective_count, sizeof(*cells));
    int status;

    for (size_t i = 0; i < view->objective_count; i++) {
        columns[i] =
            (struct table_column){view->metrics[i], NULL, COLUMN_TEXT, NULL};
        cells[i] = value_text(view->goals[i]);
    }
    status = document_fields(document, "objectives", columns, cells,
                             view->objective_count, err);
    free(columns);
    free(cells);
    return status;
}

static const struct table_column outcome_columns[] = {
    {"metric", NULL, COLUMN_TEXT, NULL},
    {"min", NULL, COLUMN_NUMBER, NULL},
    {"max", NULL, COLUMN_NUMBER, NULL},
};

static struct value bound(double limit)
{
    return isfinite(limit) ? value_real(limit) : value_null();
}

int run_document_outcomes(struct document *document,
                          const struct run_view *view, struct err *err)
{
    if (view->outcome_count == 0)
        return 0;
    document_begin_list(document, "outcomes", outcome_columns,
                        ARRAY_LEN(outcome_columns));
    for (size_t i = 0; i < view->outcome_count; i++) {
        const struct outcome_bounds *outcome = &view->outcomes[i];
        const struct value cells[ARRAY_LEN(outcome_columns)] = {
            value_text(outcome->metric),
            bound(outcome->min),
            bound(outcome->max),
        };

        if (document_row(document, cells, err) < 0)
            return -1;
    }
    return document_end_list(document, err);
}

/* ---- the best ---- */

struct best {
    struct document *document;
    struct trial_table table;
    struct err *err;
};

static int add_best(void *user, const struct trial_row *trial)
{
    struct best *best = user;
    const struct value *cells = trial_table_cells(&best->table, trial);

    return document_fields(best->document, "best", best->table.columns, cells,
                           best->table.count, best->err);
}

static int add_best_trial(struct document *document,
                          const struct run_view *view, struct err *err)
{
    struct trial_query query = {.run = view->row.id,
                                .number = view->row.best_trial};
    struct best best = {.document = document, .err = err};
    int status;

    if (query.number == 0)
        return 0;
    if (view->row.repeats > 1)
        return replicates_add_best(document, view, err);
    trial_table_init(&best.table, view, TRIAL_SETTING);
    status = store_each_trial(view->store, &query, add_best, &best, err);
    trial_table_clear(&best.table);
    return status;
}

static int add_front(struct document *document, const struct cli *cli,
                     const struct run_view *view, struct err *err)
{
    struct front_view *front = front_view_create(view, err);
    int status = front == NULL ? -1 : 0;

    if (status == 0)
        status = front_view_add(front, document, cli, err);
    front_view_destroy(front);
    return status;
}

int run_document_best(struct document *document, const struct cli *cli,
                      const struct run_view *view, struct err *err)
{
    return view->objective_count > 1 ? add_front(document, cli, view, err)
                                     : add_best_trial(document, view, err);
}

void run_document_hint(const struct cli *cli, const struct run_view *view)
{
    bool is_interrupted = strcmp(view->state, "interrupted") == 0;

    if (cli->quiet || cli->output != OUTPUT_TABLE)
        return;
    fflush(stdout);
    if (!is_interrupted && strcmp(view->state, "paused") != 0 &&
        strcmp(view->state, "stopped") != 0)
        return;
    fprintf(stderr, "\n%sTo resume it: smtune %s %s\n",
            is_interrupted ? "Its engine crashed. " : "",
            run_row_is_asked(&view->row) ? "suggest --stdio --record"
                                         : "resume",
            view->row.name);
}
