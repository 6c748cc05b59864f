/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/run/curve_list.h"

#include <math.h>

#include "base/compiler.h"
#include "store/store.h"

static const struct table_column columns[] = {
    {"id", NULL, COLUMN_NUMBER, NULL},
    {"metric", NULL, COLUMN_TEXT, NULL},
    {"step", NULL, COLUMN_NUMBER, NULL},
    {"value", NULL, COLUMN_NUMBER, NULL},
    {"time", NULL, COLUMN_TIME, NULL},
    {"resource", NULL, COLUMN_NUMBER, NULL},
};

struct curve_list {
    struct store *store;
    bool is_scheduled;  /* else the last column is not there */
    int64_t first_unit; /* see store_first_unit() */
    struct output *output;
    int64_t number; /* of the trial */
    struct err *err;
};

struct value curve_step(double step)
{
    return step == floor(step) && fabs(step) < 0x1p53 ? value_int((int64_t)step)
                                                      : value_real(step);
}

static int add_point(void *user, const struct metric_row *metric)
{
    const struct curve_list *list = user;
    const struct value cells[ARRAY_LEN(columns)] = {
        value_int(list->number),
        value_text(metric->name),
        curve_step(metric->step),
        value_real(metric->value),
        value_int(metric->time_ms),
        curve_step(metric->step + (double)list->first_unit)};

    return output_row(list->output, cells, list->err);
}

static int add_trial(void *user, const struct trial_row *trial)
{
    struct curve_list *list = user;

    list->number = trial->number;
    if (list->is_scheduled &&
        store_first_unit(list->store, trial->job, &list->first_unit,
                         list->err) != 0)
        return -1;
    return store_each_metric(list->store, trial->job, add_point, list,
                             list->err);
}

int curve_list_print(const struct cli *cli, const struct run_view *view,
                     struct err *err)
{
    const struct trial_query query = {.run = view->row.id,
                                      .results_only = true};
    struct curve_list list = {
        .store = view->store,
        .is_scheduled = view->row.is_scheduled,
        .output = output_create(cli, columns,
                                ARRAY_LEN(columns) - !view->row.is_scheduled),
        .err = err,
    };

    if (store_each_trial(view->store, &query, add_trial, &list, err) == 0)
        return output_finish(list.output, err);
    output_destroy(list.output);
    return -1;
}
