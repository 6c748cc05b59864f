/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/cache_forecast.h"

#include <stdlib.h>

#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/steps/cache_forecast_impl.h"

static void lift_limits(struct cache_forecast *forecast)
{
    size_t count = forecast->file->step_count;

    forecast->workflow = *forecast->file;
    forecast->flow_steps = mem_array(count, sizeof(*forecast->flow_steps));
    for (size_t i = 0; i < count; i++) {
        forecast->flow_steps[i] = forecast->file->flow_steps[i];
        forecast->flow_steps[i].parallel = 0;
        forecast->flow_steps[i].claim_count = 0;
    }
    forecast->workflow.flow_steps = forecast->flow_steps;
}

static struct cache_forecast *make(const struct workflow *workflow)
{
    struct cache_forecast *forecast = mem_zero(sizeof(*forecast));

    forecast->file = workflow;
    forecast->go = forecast_go;
    forecast->found = mem_array(workflow->step_count, sizeof(*forecast->found));
    TAILQ_INIT(&forecast->asked);
    lift_limits(forecast);
    return forecast;
}

static int take_over_run(struct cache_forecast *forecast, struct store *store,
                         struct err *err)
{
    if (forecast->file->take_over.run == 0)
        return 0;
    if (store == NULL)
        return err_set(err, ERR_NOT_FOUND,
                       "the earlier run, whose results this run reuses, is "
                       "missing");
    forecast->alone->earlier =
        earlier_results_create(store, forecast->file, err);
    forecast->earlier = forecast->alone->earlier;
    return forecast->earlier != NULL ? 0 : -1;
}

struct cache_forecast *cache_forecast_create(const struct forecast_order *order,
                                             struct err *err)
{
    struct cache_forecast *forecast = make(order->workflow);
    struct forecast_alone *alone = mem_zero(sizeof(*alone));

    alone->run.store = order->store;
    alone->run.work_directory = fs_absolute(".");
    uv_loop_init(&alone->loop);
    forecast->alone = alone;
    forecast->run = &alone->run;
    forecast->run_name = order->run_name;
    forecast->environment = order->environment;
    forecast->nothing_runs = order->workflow->is_touched;
    forecast->cache = cache_create(&alone->loop, order->store, forecast);
    if (take_over_run(forecast, order->store, err) != 0 ||
        forecast_begin_pass(forecast, err) != 0) {
        cache_forecast_destroy(forecast);
        return NULL;
    }
    forecast_go(forecast);
    uv_run(&alone->loop, UV_RUN_DEFAULT);
    return forecast;
}

struct cache_forecast *cache_forecast_begin(const struct forecast_now *now,
                                            struct err *err)
{
    struct cache_forecast *forecast = make(now->run->workflow);

    forecast->run = now->run;
    forecast->run_name = now->run->name;
    forecast->earlier = now->earlier;
    forecast->environment = now->environment;
    forecast->cache = now->cache;
    forecast->nothing_runs = now->nothing_runs;
    forecast->records = now->records;
    forecast->known = now->known;
    forecast->user = now->user;
    if (forecast_begin_pass(forecast, err) != 0) {
        cache_forecast_destroy(forecast);
        return NULL;
    }
    forecast_go(forecast);
    return forecast;
}

bool cache_forecast_is_known(const struct cache_forecast *forecast)
{
    return forecast->is_known;
}

static void destroy_alone(struct cache_forecast *forecast)
{
    struct forecast_alone *alone = forecast->alone;

    if (alone == NULL)
        return;
    cache_destroy(forecast->cache);
    uv_run(&alone->loop, UV_RUN_DEFAULT);
    uv_loop_close(&alone->loop);
    earlier_results_destroy(alone->earlier);
    free(alone->run.work_directory);
    free(alone);
}

void cache_forecast_destroy(struct cache_forecast *forecast)
{
    if (forecast == NULL)
        return;
    forecast_forget_asked(forecast);
    destroy_alone(forecast);
    steps_destroy(forecast->steps);
    if (forecast->records != NULL)
        step_records_clear(forecast->records, forecast->file->step_count);
    for (size_t i = 0; i < forecast->file->step_count; i++)
        forecast_clear_step(&forecast->found[i]);
    free(forecast->found);
    free(forecast->flow_steps);
    free(forecast);
}

const struct forecast_step *cache_forecast_step(
    const struct cache_forecast *forecast, size_t step)
{
    return &forecast->found[step];
}
