/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The Pareto front of a run for people and programs. The front is computed
 * again from the record with the function that the engine uses
 * (orchestrator/search/pareto_front.h), so both agree. Infeasible trials and
 * those without finite values are not candidates.
 */
#include "cli/show/run/front_view.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "cli/show/run/run_view.h"
#include "cli/show/run/trial_list.h"
#include "cli/term/document.h"
#include "cli/term/plot_front.h"
#include "cli/term/term.h"
#include "orchestrator/search/pareto_front.h"

enum { SHOWN_TO_PEOPLE = 10, PLOT_ROWS = 13, PLOT_COLUMNS_MAX = 80 };

enum { ENOUGH = 1 };

struct front_view {
    const struct run_view *view;
    struct pareto_front *front;
    struct front_point *points; /* of trials that may be on it */
    int64_t *numbers;           /* [point_count] */
    size_t point_count, point_capacity, number_capacity;
    size_t not_finite; /* feasible trials with a value that is not */
    double volume;
    double *reference; /* [objective_count] */
};

static bool is_finite(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            return false;
    }
    return true;
}

static int add_trial(void *user, const struct trial_row *trial)
{
    struct front_view *this = user;
    size_t n = this->point_count;

    if (trial->violation > 0.0 ||
        trial->value_count != this->view->objective_count)
        return 0;
    if (!is_finite(trial->values, trial->value_count)) {
        this->not_finite++;
        return 0;
    }
    pareto_front_add(this->front, trial->number, trial->values);
    this->points =
        mem_grow(this->points, n, &this->point_capacity, sizeof(*this->points));
    this->numbers = mem_grow(this->numbers, n, &this->number_capacity,
                             sizeof(*this->numbers));
    this->points[n] =
        (struct front_point){.values = {trial->values[0], trial->values[1]}};
    this->numbers[n] = trial->number;
    this->point_count++;
    return 0;
}

struct front_view *front_view_create(const struct run_view *view,
                                     struct err *err)
{
    const struct trial_query query = {
        .run = view->row.id, .order = ORDER_BEST, .state = "succeeded"};
    struct front_view *this = mem_zero(sizeof(*this));
    bool *maximize = mem_array(view->objective_count, sizeof(*maximize));

    for (size_t i = 0; i < view->objective_count; i++)
        maximize[i] = strcmp(view->goals[i], "maximize") == 0;
    this->view = view;
    this->front = pareto_front_create(maximize, view->objective_count);
    free(maximize);
    this->reference =
        mem_array(view->objective_count, sizeof(*this->reference));
    if (store_each_trial(view->store, &query, add_trial, this, err) < 0) {
        front_view_destroy(this);
        return NULL;
    }
    for (size_t i = 0; i < this->point_count; i++)
        this->points[i].is_on_front =
            pareto_front_has(this->front, this->numbers[i]);
    this->volume = pareto_front_hypervolume(this->front, this->reference);
    return this;
}

void front_view_destroy(struct front_view *this)
{
    if (this == NULL)
        return;
    pareto_front_destroy(this->front);
    free(this->points);
    free(this->numbers);
    free(this->reference);
    free(this);
}

size_t front_view_count(const struct front_view *this)
{
    return pareto_front_count(this->front);
}

bool front_view_has(const struct front_view *this, int64_t trial)
{
    return pareto_front_has(this->front, trial);
}

/* ---- its trials ---- */

struct listing {
    const struct front_view *front;
    struct trial_table table;
    struct document *document;
    int64_t limit, count;
    struct err *err;
};

static int list_trial(void *user, const struct trial_row *trial)
{
    struct listing *listing = user;

    if (listing->limit > 0 && listing->count == listing->limit)
        return ENOUGH;
    if (!pareto_front_has(listing->front->front, trial->number))
        return 0;
    listing->count++;
    trial_table_cells(&listing->table, trial);
    if (listing->count == 1)
        trial_table_fit_columns(&listing->table);
    return document_row(listing->document, listing->table.cells, listing->err);
}

static int list(struct listing *listing)
{
    const struct run_view *view = listing->front->view;
    const struct trial_query query = {
        .run = view->row.id, .order = ORDER_BEST, .state = "succeeded"};
    int status = store_each_trial(view->store, &query, list_trial, listing,
                                  listing->err);

    return status == ENOUGH ? 0 : status;
}

static enum trial_taken is_on_front(void *user, const struct trial_row *trial)
{
    const struct front_view *this = user;

    return pareto_front_has(this->front, trial->number) ? TRIAL_TAKE
                                                        : TRIAL_SKIP;
}

int front_view_print(struct front_view *this, const struct cli *cli,
                     int64_t limit, const char *columns, struct err *err)
{
    const struct trial_query query = {
        .run = this->view->row.id, .order = ORDER_BEST, .state = "succeeded"};
    const struct trial_choice choice = {.detail = TRIAL_SETTING,
                                        .columns = columns,
                                        .limit = limit,
                                        .take = is_on_front,
                                        .user = this};

    return trial_list_print(cli, this->view, &query, &choice, err);
}

static int add_size(const struct front_view *this, struct document *document,
                    struct err *err)
{
    size_t objectives = this->view->objective_count;
    bool known = !isnan(this->volume);
    struct table_column *columns = mem_array(2 + objectives, sizeof(*columns));
    struct value *cells = mem_array(2 + objectives, sizeof(*cells));
    int status;

    columns[0] = (struct table_column){"trials", NULL, COLUMN_NUMBER, NULL};
    cells[0] = value_int((int64_t)pareto_front_count(this->front));
    columns[1] =
        (struct table_column){"hypervolume", NULL, COLUMN_NUMBER, NULL};
    cells[1] = known ? value_real(this->volume) : value_null();
    for (size_t i = 0; i < objectives; i++) {
        columns[2 + i] = (struct table_column){this->view->metrics[i], NULL,
                                               COLUMN_NUMBER, "reference"};
        cells[2 + i] = known ? value_real(this->reference[i]) : value_null();
    }
    status = document_fields(document, "front_size", columns, cells,
                             2 + objectives, err);
    free(columns);
    free(cells);
    return status;
}

int front_view_add(struct front_view *this, struct document *document,
                   const struct cli *cli, struct err *err)
{
    struct listing listing = {
        .front = this,
        .document = document,
        .limit = cli->output == OUTPUT_TABLE ? SHOWN_TO_PEOPLE : 0,
        .err = err};
    int status = 0;

    if (cli->output == OUTPUT_TABLE && pareto_front_count(this->front) == 0)
        return 0;
    status = add_size(this, document, err);
    trial_table_init(&listing.table, this->view, TRIAL_SETTING);
    document_begin_list(document, "front", listing.table.columns,
                        listing.table.count);
    if (status == 0)
        status = list(&listing);
    if (document_end_list(document, err) < 0)
        status = -1;
    trial_table_clear(&listing.table);
    return status;
}

void front_view_print_size(const struct front_view *this, FILE *file)
{
    size_t count = pareto_front_count(this->front);

    fprintf(file, "%zu trial%s on the Pareto front", count,
            count == 1 ? "" : "s");
    if (!isnan(this->volume)) {
        fprintf(file, ", hypervolume %.6g up to", this->volume);
        for (size_t i = 0; i < this->view->objective_count; i++)
            fprintf(file, "%s %s %.6g", i > 0 ? "," : "",
                    this->view->metrics[i], this->reference[i]);
    }
    fputc('\n', file);
}

void front_view_plot(const struct front_view *this, const struct cli *cli)
{
    const struct run_view *view = this->view;
    const struct front_trials trials = {this->points, this->point_count,
                                        this->not_finite};
    struct front_axis axes[2];
    struct plot_style style = {TERM_DEFAULT_COLUMNS, PLOT_ROWS, term_is_utf8(),
                               cli->colour_out};
    int columns = cli->out_is_terminal ? term_columns(STDOUT_FILENO) : 0;
    struct buf text = BUF_INIT;

    if (columns > 0)
        style.columns = columns < PLOT_COLUMNS_MAX ? columns : PLOT_COLUMNS_MAX;
    for (size_t i = 0; i < ARRAY_LEN(axes); i++)
        axes[i] = (struct front_axis){view->metrics[i],
                                      strcmp(view->goals[i], "maximize") == 0};
    plot_front(&trials, axes, view->objective_count == ARRAY_LEN(axes), style,
               &text);
    printf("\n%s", buf_text(&text));
    buf_clear(&text);
}
