/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * First the end of the last user is committed, then the files go, then it is
 * recorded which. If the engine ends in between, the next one finds the outputs
 * due again, and that the files are gone.
 *
 * A result that another running run has, too, stays: the run that ends last
 * removes it.
 */
#include "orchestrator/engine/source/temps.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/job/states.h"

struct gathering {
    struct engine *engine;
    const struct step *step;
    struct temp_order *order;
    int64_t first_job; /* of the step */
    bool is_user;      /* whose outputs stay */
};

static void add_stay(struct temp_order *order, const char *path)
{
    order->stay = mem_grow(order->stay, order->stay_count,
                           &order->stay_capacity, sizeof(*order->stay));
    order->stay[order->stay_count++] = mem_copy_string(path);
}

static const char *path_of(const struct output *output, const json_t *outputs)
{
    const char *path =
        json_string_value(json_object_get(outputs, output->name));

    return output->kind == OUTPUT_FILE && path != NULL && path[0] == '/' ? path
                                                                         : NULL;
}

/* The path of an output that goes; NULL: it stays, or is none. What was missing
 * when the job became a cache hit is not its run's: another one may have made
 * it again. */
static const char *find_path(const struct output *output, const json_t *outputs)
{
    return output->is_temp && !temp_results_was_missing(outputs, output->name)
               ? path_of(output, outputs)
               : NULL;
}

static bool has_paths(const struct step *step, const json_t *outputs)
{
    for (size_t i = 0; i < step->output_count; i++)
        if (find_path(&step->outputs[i], outputs) != NULL)
            return true;
    return false;
}

/* A job's temporary outputs go, its others stay. */
static void add_job(struct gathering *g, const struct trial_row *row,
                    const json_t *outputs)
{
    struct temp_order *order = g->order;
    const struct step *step = g->step;
    struct temp_job job = {
        .id = row->job,
        .paths = mem_array(step->output_count, sizeof(*job.paths)),
    };

    for (size_t i = 0; i < step->output_count; i++) {
        const char *path = find_path(&step->outputs[i], outputs);

        if (path != NULL)
            job.paths[job.count++] = mem_copy_string(path);
    }
    order->jobs = mem_grow(order->jobs, order->job_count, &order->job_capacity,
                           sizeof(*order->jobs));
    order->jobs[order->job_count++] = job;
}

static void add_stays(struct gathering *g, const json_t *outputs)
{
    for (size_t i = 0; i < g->step->output_count; i++) {
        const char *path = path_of(&g->step->outputs[i], outputs);

        if (path != NULL && (g->is_user || !g->step->outputs[i].is_temp))
            add_stay(g->order, path);
    }
}

static int on_job(void *user, const struct trial_row *row)
{
    struct gathering *g = user;
    struct engine *engine = g->engine;
    bool goes = !g->is_user && row->temps_removed_ms == 0;
    struct err err;
    json_t *outputs;
    int shared = 0;

    if (row->number < g->first_job || row->outputs == NULL)
        return 0;
    outputs = json_parse(row->outputs, strlen(row->outputs), NULL);
    add_stays(g, outputs);
    goes = goes && has_paths(g->step, outputs);
    if (goes)
        shared =
            store_is_shared(engine->store, engine->run->id, row->job, &err);
    if (goes && shared == 0)
        add_job(g, row, outputs);
    json_decref(outputs);
    engine->has_shared_temps |= shared > 0;
    if (shared < 0)
        engine_break(engine, &err);
    return shared < 0 ? -1 : 0;
}

static int on_step(void *user, const struct step_row *row)
{
    int64_t *first_jobs = user;

    first_jobs[row->step] = row->first_job;
    return 0;
}

static int read_jobs(struct engine *engine, struct temp_order *order,
                     size_t step, const int64_t *first_jobs, struct err *err)
{
    const struct trial_query query = {
        .run = engine->run->id,
        .order = ORDER_NUMBER,
        .state = job_state_names[JOB_SUCCEEDED],
        .of_step = (int64_t)step + 1,
        .results_only = true,
    };
    struct gathering gathering = {
        .engine = engine,
        .step = &engine->run->workflow->steps[step],
        .order = order,
        .first_job = first_jobs[step],
        .is_user = step != order->step,
    };

    if (gathering.step->output_count == 0)
        return 0;
    return store_each_trial(engine->store, &query, on_job, &gathering, err);
}

/* Nobody means these by an output. */
static void add_places(const struct engine *engine, struct temp_order *order)
{
    const struct run *run = engine->run;
    const char *home = getenv("HOME");

    add_stay(order, run->work_directory);
    add_stay(order, run->workflow->common->folder);
    add_stay(order, run->directory);
    add_stay(order, store_directory(engine->store));
    if (home != NULL && home[0] == '/')
        add_stay(order, home);
}

static struct temp_order *find_order(struct engine *engine, size_t step,
                                     struct err *err)
{
    const struct workflow *workflow = engine->run->workflow;
    struct temp_order *order = mem_zero(sizeof(*order));
    bool *users = mem_array(workflow->step_count, sizeof(*users));
    int64_t *first_jobs = mem_array(workflow->step_count, sizeof(*first_jobs));
    int result;

    order->step = step;
    add_places(engine, order);
    temps_mark_users(engine->steps->temps, step, users);
    users[step] = true;
    result = store_each_step(engine->store, engine->run->id, on_step,
                             first_jobs, err);
    for (size_t i = 0; i < workflow->step_count && result == 0; i++)
        if (users[i])
            result = read_jobs(engine, order, i, first_jobs, err);
    free(first_jobs);
    free(users);
    if (result == 0)
        return order;
    temp_order_destroy(order);
    return NULL;
}

static void begin(struct engine *engine, size_t step)
{
    struct err err;
    struct temp_order *order;

    if (!temp_results_has_any(engine->steps->temp_results, step))
        return;
    order = find_order(engine, step, &err);
    if (order == NULL) {
        engine_break(engine, &err);
    } else if (order->job_count == 0) {
        temp_order_destroy(order);
    } else {
        engine->removals++;
        temp_files_remove(engine->temp_files, order);
    }
}

/* --touch changes no file. What its user has stopped goes on later. */
static bool may_remove(const struct engine *engine)
{
    return engine->steps->temps != NULL && !engine->run->workflow->is_touched &&
           !engine->transaction.is_broken &&
           engine->wind_up.wish != WISH_INTERRUPT;
}

/* One order at a time: to look again at what waits would find the jobs of one
 * that is not yet recorded a second time. */
void engine_remove_temps(struct engine *engine)
{
    size_t step;

    while (engine->removals == 0 && may_remove(engine) &&
           temps_next(engine->steps->temps, &step))
        begin(engine, step);
}

static bool record(struct engine *engine, const struct temp_job *job)
{
    const char *const *paths = (const char *const *)job->paths;
    const struct temps_removed removed = {
        .run = engine->run->id,
        .job = job->id,
        .removed = paths,
        .removed_count = job->removed_count,
        .kept = paths + job->removed_count,
        .kept_count = job->count - job->removed_count,
        .time_ms = clock_wall_ms(),
    };
    struct err err;

    if (!engine_begin(engine))
        return false;
    if (store_set_temps_removed(engine->store, &removed, &err) == 0)
        return true;
    engine_break(engine, &err);
    return false;
}

void engine_on_temps_removed(void *owner, const struct temp_order *order)
{
    struct engine *engine = owner;
    const char *name = engine->run->workflow->steps[order->step].name;
    char *text;

    engine->removals--;
    for (size_t i = 0; i < order->job_count; i++)
        if (!record(engine, &order->jobs[i]))
            return;
    LOG(engine->log, LOG_ENGINE, LOG_INFO, 0,
        "step=%s: temporary outputs of %zu jobs removed", name,
        order->job_count);
    if (order->why == NULL)
        return;
    text =
        mem_printf("step '%s': a temporary output stays: %s", name, order->why);
    engine->events->warn(engine->events->user, text);
    free(text);
}

int engine_check_removals(const struct engine *engine, struct err *err)
{
    return engine->removals == 0
               ? 0
               : err_set(err, ERR_BUSY,
                         "temporary outputs are being removed: try again");
}

/* Another run may have ended meanwhile. */
static void ask_again(struct engine *engine)
{
    if (!engine->has_shared_temps || engine->removals > 0)
        return;
    engine->has_shared_temps = false;
    temps_look_again(engine->steps->temps);
    engine_remove_temps(engine);
    engine->has_shared_temps = false;
}

bool engine_close_temps(struct engine *engine)
{
    if (!may_remove(engine))
        return false;
    if (store_in_transaction(engine->store))
        return engine->removals > 0 || engine->has_shared_temps ||
               temps_has_next(engine->steps->temps);
    engine_remove_temps(engine);
    ask_again(engine);
    return engine->removals > 0;
}
