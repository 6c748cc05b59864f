/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/top_trials.h"

#include <stdlib.h>

#include "base/mem.h"
#include "cli/show/run/run_view.h"
#include "orchestrator/job/states.h"

enum { BEST_SHOWN = 3, FIXED_COLUMNS = 3 };

struct listing {
    const struct run_view *view;
    struct table_column *columns; /* [count] */
    struct value *cells;          /* [count] */
    size_t count;
    struct table_style style;
    struct table *table; /* made for the first row */
    struct buf *out;
    struct err *err;
};

static void init(struct listing *listing)
{
    const struct run_view *view = listing->view;
    struct table_column *column;

    listing->count = FIXED_COLUMNS + view->objective_count + view->param_count;
    listing->columns = mem_array(listing->count, sizeof(*listing->columns));
    listing->cells = mem_array(listing->count, sizeof(*listing->cells));
    column = listing->columns;
    *column++ = (struct table_column){"trial", NULL, COLUMN_NUMBER, NULL};
    *column++ = (struct table_column){"state", NULL, COLUMN_STATE, NULL};
    *column++ = (struct table_column){"for", NULL, COLUMN_DURATION, NULL};
    for (size_t i = 0; i < view->objective_count; i++)
        *column++ =
            (struct table_column){view->metrics[i], NULL, COLUMN_NUMBER, NULL};
    for (size_t i = 0; i < view->param_count; i++)
        *column++ =
            (struct table_column){view->params[i], NULL, COLUMN_NUMBER, NULL};
}

static void clear(struct listing *listing)
{
    if (listing->table != NULL) {
        table_flush(listing->table, listing->out);
        table_destroy(listing->table);
    }
    free(listing->columns);
    free(listing->cells);
}

/* Words stand at the left: the first trial shows which. */
static struct table *create_table(struct listing *listing)
{
    for (size_t i = FIXED_COLUMNS; i < listing->count; i++) {
        if (listing->cells[i].type == VALUE_TEXT)
            listing->columns[i].type = COLUMN_TEXT;
    }
    return table_create(listing->columns, listing->count, listing->style);
}

static int keep_last(void *user, const struct point_row *point)
{
    *(struct value *)user = value_real(point->value);
    return 0;
}

/* What the trial came to, or, while it runs, what it has said last. */
static int find_value(const struct listing *listing,
                      const struct trial_row *trial, size_t objective,
                      struct value *cell)
{
    const struct point_query query = {.run = listing->view->row.id,
                                      .metric =
                                          listing->view->metrics[objective],
                                      .first = trial->number,
                                      .last = trial->number};

    *cell = value_null();
    if (trial->value_count == 0)
        return store_each_point(listing->view->store, &query, keep_last, cell,
                                listing->err);
    if (objective < trial->value_count)
        *cell = value_real(trial->values[objective]);
    return 0;
}

static int add_row(void *user, const struct trial_row *trial)
{
    struct listing *listing = user;
    const struct run_view *view = listing->view;
    struct value *cell = listing->cells;

    *cell++ = value_int(trial->number);
    *cell++ = value_text(trial_state_now(view, trial));
    *cell++ = value_int_unless(trial_ran_ms(view, trial), -1);
    for (size_t i = 0; i < view->objective_count; i++) {
        if (find_value(listing, trial, i, cell++) != 0)
            return -1;
    }
    for (size_t i = 0; i < view->param_count; i++)
        *cell++ = i < trial->param_count ? trial->params[i] : value_null();
    if (listing->table == NULL)
        listing->table = create_table(listing);
    table_add(listing->table, listing->cells, listing->out);
    return 0;
}

static int add_state(struct listing *listing, enum job_state state,
                     enum trial_order order, size_t limit)
{
    const struct trial_query query = {.run = listing->view->row.id,
                                      .order = order,
                                      .state = job_state_names[state],
                                      .limit = (int64_t)limit};

    return limit == 0 ? 0
                      : store_each_trial(listing->view->store, &query, add_row,
                                         listing, listing->err);
}

int top_trials_add(struct store *store, int64_t run, struct table_style style,
                   size_t lines, struct buf *out, struct err *err)
{
    struct run_view view;
    struct listing listing = {
        .view = &view, .style = style, .out = out, .err = err};
    int status = run_view_load_uncounted(&view, store, run, err);
    size_t rows = lines > 0 ? lines - 1 : 0;

    if (status == 0) {
        size_t best = view.objective_count == 1 ? BEST_SHOWN : 0;

        init(&listing);
        if (best > rows / 2)
            best = rows / 2;
        status = add_state(&listing, JOB_RUNNING, ORDER_NUMBER, rows - best);
        if (status == 0)
            status = add_state(&listing, JOB_SUCCEEDED, ORDER_BEST, best);
        clear(&listing);
    }
    run_view_clear(&view);
    return status;
}
