/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/run/enqueue.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/units.h"
#include "orchestrator/run/run.h"
#include "orchestrator/search/search.h"
#include "orchestrator/spec/experiment/setting_json.h"

static int count_row(void *user, const struct enqueued_row *enqueued)
{
    (void)enqueued;
    ++*(int64_t *)user;
    return 0;
}

static int check_room(const struct enqueue *enqueue, struct err *err)
{
    int64_t budget = enqueue->experiment->budget.trials;
    int64_t waiting = (int64_t)strategy_wish_count(enqueue->strategy);
    int64_t promised = (int64_t)strategy_promised(enqueue->strategy,
                                                  (uint64_t)enqueue->trials);

    if (waiting >= ENQUEUE_WAITING_MAX)
        return err_set(err, ERR_BUSY,
                       "out of range: %" PRId64 " settings already wait",
                       waiting);
    if (budget == 0 || promised < budget)
        return 0;
    if (enqueue->trials >= budget)
        return err_set(err, ERR_BUSY,
                       "trial budget used up (%" PRId64 " of %" PRId64
                       "): start another run with --set enqueue=[{...}]",
                       enqueue->trials, budget);
    return err_set(err, ERR_BUSY,
                   "trial budget used up (%" PRId64 " of %" PRId64
                   ", with %" PRId64 " waiting setting%s)",
                   promised, budget, promised - enqueue->trials,
                   units_plural(promised - enqueue->trials));
}

/* ---- once ---- */

/* A setting that the run may have already. */
struct wanted {
    const struct experiment *experiment;
    const struct value *point; /* whole */
    struct value *other;
    struct err *err;
    int64_t trial; /* that has it; 0: none */
    bool waits;
};

enum { FOUND = 1 };

/* The setting with the values, into point; false: a part of it is drawn. */
static bool make_whole(struct space *space, const struct value *values,
                       struct value *point)
{
    struct rng rng;

    rng_init(&rng, 0, 0, 0);
    return space_complete(space, &rng, values, point, NULL) == 0 &&
           space_is_whole(space, values, point);
}

static bool is_same(const struct wanted *wanted, const struct value *point)
{
    for (size_t i = 0; i < space_count(wanted->experiment->space); i++)
        if (!value_equal(&wanted->point[i], &point[i]))
            return false;
    return true;
}

static int compare_trial(void *user, const struct trial_row *row)
{
    struct wanted *wanted = user;

    if (search_point(wanted->experiment->space, row, wanted->other,
                     wanted->err) != 0)
        return -1;
    if (!is_same(wanted, wanted->other))
        return 0;
    wanted->trial = row->number;
    return FOUND;
}

static void compare_values(struct wanted *wanted, const struct value *values)
{
    wanted->waits = wanted->waits || (make_whole(wanted->experiment->space,
                                                 values, wanted->other) &&
                                      is_same(wanted, wanted->other));
}

static int compare_enqueued(void *user, const struct enqueued_row *enqueued)
{
    struct wanted *wanted = user;
    const struct space *space = wanted->experiment->space;
    struct value *values;
    json_t *params;
    int result = -1;

    if (enqueued->trial > 0)
        return 0;
    values = mem_array(space_count(space), sizeof(*values));
    params =
        json_parse(enqueued->params, strlen(enqueued->params), wanted->err);
    if (params != NULL)
        result = setting_read(space, params, values, wanted->err);
    if (result == 0)
        compare_values(wanted, values);
    json_decref(params);
    free(values);
    return result;
}

static int look_for(struct wanted *wanted, const struct enqueue *enqueue,
                    struct err *err)
{
    const struct trial_query query = {.run = enqueue->run};
    const struct experiment *experiment = wanted->experiment;
    size_t width = space_count(experiment->space);

    if (store_each_trial(enqueue->store, &query, compare_trial, wanted, err) <
            0 ||
        store_each_enqueued(enqueue->store, enqueue->run, compare_enqueued,
                            wanted, err) < 0)
        return -1;
    for (size_t i = 0; i < experiment->enqueued_count; i++)
        compare_values(wanted, experiment->enqueued + i * width);
    if (wanted->trial > 0)
        return err_set(err, ERR_USAGE,
                       "trial %" PRId64 " has this setting (smtune retry "
                       "evaluates a trial again)",
                       wanted->trial);
    if (wanted->waits)
        return err_set(err, ERR_USAGE, "this setting is enqueued already");
    return 0;
}

/* A whole setting that the run has would be evaluated again. With
 * `duplicates: reuse` it costs nothing. */
static int check_new(const struct enqueue *enqueue, const struct value *values,
                     struct err *err)
{
    struct space *space = enqueue->experiment->space;
    struct value *points = mem_array(2 * space_count(space), sizeof(*points));
    struct wanted wanted = {.experiment = enqueue->experiment,
                            .point = points,
                            .other = points + space_count(space),
                            .err = err};
    int result = 0;

    if (enqueue->experiment->search.duplicates != DUPLICATES_REUSE &&
        make_whole(space, values, points))
        result = look_for(&wanted, enqueue, err);
    free(points);
    return result;
}

static int put(const struct enqueue *enqueue, const struct value *values,
               int64_t index, struct err *err)
{
    json_t *json = setting_json(enqueue->experiment->space, values);
    struct buf text = BUF_INIT;
    int result = store_begin(enqueue->store, err);

    json_print(json, &text);
    if (result == 0)
        result = store_add_enqueued(enqueue->store, enqueue->run, index,
                                    buf_text(&text), clock_wall_ms(), err);
    buf_clear(&text);
    json_decref(json);
    return result;
}

int enqueue_add(const struct enqueue *enqueue, const json_t *params,
                int64_t *index, struct err *err)
{
    const struct space *space = enqueue->experiment->space;
    struct value *values = mem_array(space_count(space), sizeof(*values));
    int result = check_room(enqueue, err);

    *index = 1;
    if (result == 0)
        result = setting_read(space, params, values, err);
    if (result == 0)
        result = check_new(enqueue, values, err);
    if (result == 0)
        result = store_each_enqueued(enqueue->store, enqueue->run, count_row,
                                     index, err);
    if (result == 0)
        result =
            strategy_wish(enqueue->strategy, (uint64_t)*index, values, err);
    if (result == 0)
        result = put(enqueue, values, *index, err);
    free(values);
    return result;
}

/* ---- without an engine ---- */

static int keep_count(void *user, const struct run_row *row)
{
    struct enqueue *enqueue = user;

    enqueue->trials = row->trials;
    return 0;
}

int enqueue_add_to_run(struct run *run, const json_t *params, int64_t *index,
                       struct err *err)
{
    struct enqueue enqueue = {run->store, run->id, run->experiment, NULL, 0};
    int result;

    if (run->workflow != NULL)
        return err_set(err, ERR_USAGE, "a workflow has no search");
    if (store_get_run(run->store, run->id, keep_count, &enqueue, err) != 0)
        return -1;
    enqueue.strategy =
        search_create_of_run(run->experiment, run->store, run->id, err);
    if (enqueue.strategy == NULL)
        return -1;
    result = enqueue_load(run->store, run->id, run->experiment->space, 0,
                          enqueue.strategy, err);
    if (result == 0)
        result = enqueue_add(&enqueue, params, index, err);
    if (result == 0)
        result = store_commit(run->store, err);
    else
        store_rollback(run->store);
    strategy_destroy(enqueue.strategy);
    return result;
}

/* ---- from the record ---- */

struct loading {
    const struct space *space;
    int64_t trial;
    struct strategy *strategy;
    struct value *values;
    struct err *err;
};

static int on_enqueued(void *user, const struct enqueued_row *enqueued)
{
    const struct loading *loading = user;
    json_t *params;
    int result;

    if (enqueued->trial != loading->trial)
        return 0;
    params =
        json_parse(enqueued->params, strlen(enqueued->params), loading->err);
    result = params == NULL ? -1
                            : setting_read(loading->space, params,
                                           loading->values, loading->err);
    if (result == 0)
        result = strategy_wish(loading->strategy, (uint64_t)enqueued->index,
                               loading->values, loading->err);
    json_decref(params);
    return result == 0 ? 0
                       : err_prefix(loading->err, "enqueued setting %" PRId64,
                                    enqueued->index);
}

int enqueue_load(struct store *store, int64_t run, const struct space *space,
                 int64_t trial, struct strategy *strategy, struct err *err)
{
    struct loading loading = {
        .space = space,
        .trial = trial,
        .strategy = strategy,
        .values = mem_array(space_count(space), sizeof(*loading.values)),
        .err = err,
    };
    int result = store_each_enqueued(store, run, on_enqueued, &loading, err);

    free(loading.values);
    return result;
}
