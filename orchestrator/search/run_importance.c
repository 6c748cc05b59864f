/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Importance of parameters for a recorded run: its successful trials as a
 * history, turned so that lower is better, for strategies/history/importance.h.
 * */
#include "orchestrator/search/run_importance.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/search/search.h"
#include "orchestrator/spec/experiment/experiment.h"
#include "store/store.h"
#include "strategies/history/history.h"

struct reading {
    const struct experiment *experiment;
    struct history history;
    struct value *point;
    double *values;
    struct err *err;
};

static int add_trial(void *user, const struct trial_row *row)
{
    struct reading *reading = user;
    const struct experiment *experiment = reading->experiment;
    struct history *history = &reading->history;
    size_t index;

    if (row->value_count != experiment->objective_count)
        return 0;
    if (search_point(experiment->space, row, reading->point, reading->err) != 0)
        return -1;
    for (size_t i = 0; i < row->value_count; i++)
        reading->values[i] = experiment->objectives[i].maximize
                                 ? -row->values[i]
                                 : row->values[i];
    index = history_ask(history, (uint64_t)row->number, reading->point);
    history_tell(history, index, HISTORY_COMPLETE, reading->values, NULL);
    return 0;
}

int run_importance(struct store *store, int64_t run,
                   const struct experiment *experiment, double *shares,
                   size_t *results, struct err *err)
{
    const struct trial_query query = {
        .run = run, .order = ORDER_NUMBER, .state = "succeeded"};
    size_t objectives = experiment->objective_count;
    size_t dimension = space_count(experiment->space);
    struct reading reading = {.experiment = experiment, .err = err};
    int status;

    history_init(&reading.history, experiment->space, objectives, 0);
    reading.point = mem_array(dimension, sizeof(*reading.point));
    reading.values = mem_array(objectives, sizeof(*reading.values));
    status = store_each_trial(store, &query, add_trial, &reading, err);
    for (size_t i = 0; i < objectives && status == 0; i++)
        *results = importance_of(&reading.history, i, shares + i * dimension);
    free(reading.values);
    free(reading.point);
    history_clear(&reading.history);
    return status;
}
