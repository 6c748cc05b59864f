/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/cache_forecast.h"

#include <stdlib.h>

#include "base/fs.h"
#include "base/mem.h"
#include "orchestrator/steps/cache_ask.h"
#include "orchestrator/steps/earlier_results.h"
#include "orchestrator/steps/rounds.h"
#include "orchestrator/steps/steps.h"

/*
 * The flow of the workflow is asked what is next, as an engine asks it, and is
 * answered by what the cache has: a hit ends its job at once, with the outputs
 * of the earlier one, so that steps behind it can be asked about, too. A job
 * that would run never ends here. Whatever still waits when nothing is left to
 * be started depends on jobs that would run, and is not known.
 *
 * Limits on jobs at a time are left out, since jobs that never end would hold
 * them for ever.
 */

struct cache_forecast {
    const struct workflow *file;
    struct workflow workflow; /* the same, without limits */
    struct flow_step *flow_steps;
    struct run run; /* that there will never be: place and store */
    char *const *environment;
    struct steps *steps;
    struct earlier_results *earlier; /* NULL: nothing is taken over */
    uv_loop_t loop;
    struct cache *cache;
    struct forecast_step *found; /* [step_count] */
};

/* ---- jobs ---- */

static struct job *make_job(const struct cache_forecast *forecast, size_t step,
                            int64_t copy, int64_t round, json_t *rounds)
{
    struct job *job = job_create(forecast->file->common,
                                 &forecast->file->steps[step].task, 1);

    job->step = (int64_t)step;
    job->copy = copy;
    job->round = round;
    job->rounds = json_incref(rounds);
    return job;
}

static void note(struct cache_forecast *forecast, const struct job *job,
                 enum forecast_kind kind, char *text)
{
    struct forecast_step *step = &forecast->found[job->step];

    step->jobs = mem_grow(step->jobs, step->job_count, &step->job_capacity,
                          sizeof(*step->jobs));
    step->jobs[step->job_count] =
        (struct forecast_job){job->copy, job->round, kind, NULL};
    step->jobs[step->job_count++].text = text;
    step->hits += kind == FORECAST_HIT;
}

static void on_answer(void *owner, void *user,
                      const struct cache_answer *answer)
{
    struct cache_forecast *forecast = owner;
    struct job *job = user;

    if (answer->job == 0) {
        note(forecast, job, FORECAST_MISS,
             cache_ask_why(forecast->run.store, forecast->file, job, answer));
        return;
    }
    note(forecast, job, FORECAST_HIT, mem_copy_string(answer->source));
    job->outputs = json_deep_copy(answer->outputs);
    job->state = JOB_SUCCEEDED;
}

/* The same question as an engine's; the answer is there on return. */
static void ask_cache(struct cache_forecast *forecast, struct job *job)
{
    const struct cache_rule *rule = &forecast->file->steps[job->step].cache;
    struct cache_subject subject;
    struct cache_facts facts;
    struct err err = {0};

    if (cache_ask_about(forecast->steps, job, forecast->environment, &facts,
                        &subject, &err) != 0) {
        note(forecast, job, FORECAST_MISS,
             mem_printf("it cannot be cached: %s", err.text));
        return;
    }
    cache_find(forecast->cache, &subject, cache_ask_since(rule), on_answer,
               job);
    uv_run(&forecast->loop, UV_RUN_DEFAULT);
    cache_facts_clear(&facts);
}

/* Whether it is over at once, by --from or --only. */
static bool take_over(struct cache_forecast *forecast, struct job *job)
{
    struct earlier_result taken;

    if (!earlier_results_find(forecast->earlier, (size_t)job->step, job->copy,
                              job->round, &taken))
        return false;
    job->outputs = json_incref(taken.outputs);
    job->state = taken.state;
    note(forecast, job, FORECAST_REUSED, NULL);
    return true;
}

/* Its rounds follow each other as long as each one's result is known. */
static void run_job(struct cache_forecast *forecast, struct job *job)
{
    const struct step *step = &forecast->file->steps[job->step];

    while (job != NULL) {
        struct job *next = NULL;
        json_t *rounds = NULL;

        if (!take_over(forecast, job)) {
            if (step->cache.is_on)
                ask_cache(forecast, job);
            else
                note(forecast, job, FORECAST_RUNS, NULL);
        }
        if (job_is_final(job->state))
            rounds = steps_end_job(forecast->steps, job);
        if (rounds != NULL)
            next = make_job(forecast, (size_t)job->step, job->copy,
                            job->round + 1, rounds);
        json_decref(rounds);
        job_destroy(job);
        job = next;
    }
}

/* ---- the flow ---- */

static void start_job(struct cache_forecast *forecast, size_t step,
                      int64_t copy)
{
    struct steps *steps = forecast->steps;
    const struct step *its = &forecast->file->steps[step];
    bool repeats = its->repeat.max > 0, is_wanted = true;
    json_t *rounds = repeats ? rounds_first(&its->repeat) : NULL;
    struct job *job = make_job(forecast, step, copy, repeats, rounds);
    struct err err;
    int asked = steps_condition(steps, step, copy, &is_wanted, &err);

    json_decref(rounds);
    if (!is_wanted) {
        note(forecast, job, FORECAST_SKIPPED, NULL);
        flow_refuse(steps->flow, step, copy);
        job_destroy(job);
        return;
    }
    flow_started(steps->flow, step, copy);
    if (asked == 0 && its->kind != STEP_FAIL) {
        run_job(forecast, job);
        return;
    }
    note(forecast, job, FORECAST_RUNS, NULL);
    job_destroy(job);
}

/* One that cannot begin fails in the run, too. */
static void begin_step(struct cache_forecast *forecast, size_t step)
{
    struct steps *steps = forecast->steps;
    json_t *axes = NULL;
    struct err err;
    bool is_wanted = true;
    int asked = steps_condition(steps, step, -1, &is_wanted, &err);

    forecast->found[step].is_known = true;
    if (!is_wanted) {
        forecast->found[step].is_skipped = true;
        steps_skip(steps, step);
    } else if (asked != 0 || steps_axes(steps, step, &axes, &err) != 0 ||
               steps_begin(steps, step, axes, &err) != 0) {
        steps_fail(steps, step);
    }
    json_decref(axes);
}

/* Whether there is more that can be known. */
static bool go_on(struct cache_forecast *forecast)
{
    const struct flow_next next = flow_next(forecast->steps->flow);

    switch (next.kind) {
    case FLOW_BEGIN:
        begin_step(forecast, next.step);
        return true;
    case FLOW_SKIP:
        forecast->found[next.step].is_known = true;
        forecast->found[next.step].is_skipped = true;
        steps_skip(forecast->steps, next.step);
        return true;
    case FLOW_START:
        start_job(forecast, next.step, next.copy);
        return true;
    case FLOW_END:
        steps_end(forecast->steps, next.step, next.state);
        return true;
    case FLOW_NOTHING:
    case FLOW_OVER:
        break;
    }
    return false;
}

/* ---- what is not known ---- */

static void add_depends(struct forecast_step *step, size_t need)
{
    for (size_t i = 0; i < step->depends_count; i++) {
        if (step->depends[i] == need)
            return;
    }
    if (step->depends_count < FORECAST_DEPENDS_MAX)
        step->depends[step->depends_count++] = need;
}

/* The nearest steps before it that would run: those of a step that waits, too,
 * are known already. */
static void find_depends(struct cache_forecast *forecast, size_t step)
{
    struct forecast_step *found = &forecast->found[step];
    size_t count;
    const size_t *needs = graph_needs(forecast->file->graph, step, &count);

    for (size_t i = 0; i < count; i++) {
        const struct forecast_step *need = &forecast->found[needs[i]];

        if (flow_state(forecast->steps->flow, needs[i]) == FLOW_ACTIVE)
            add_depends(found, needs[i]);
        for (size_t k = 0; k < need->depends_count; k++)
            add_depends(found, need->depends[k]);
    }
}

/* A final step waits for all others. */
static void find_all_depends(struct cache_forecast *forecast)
{
    size_t count = forecast->file->step_count;
    size_t *order = mem_array(count, sizeof(*order));
    struct forecast_step running = {.depends_count = 0};

    for (size_t i = 0; i < count; i++) {
        if (flow_state(forecast->steps->flow, i) == FLOW_ACTIVE)
            add_depends(&running, i);
    }
    count = graph_order(forecast->file->graph, order);
    for (size_t i = 0; i < count; i++) {
        struct forecast_step *found = &forecast->found[order[i]];
        bool is_behind;

        if (found->is_known)
            continue;
        find_depends(forecast, order[i]);
        is_behind = found->depends_count > 0;
        for (size_t k = 0; !is_behind && k < running.depends_count; k++)
            add_depends(found, running.depends[k]);
    }
    free(order);
}

/* ---- the whole ---- */

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

static int prepare(struct cache_forecast *forecast,
                   const struct forecast_order *order, struct err *err)
{
    const struct workflow *workflow = order->workflow;

    forecast->steps = steps_create(&forecast->workflow, order->run_name, err);
    if (forecast->steps == NULL)
        return -1;
    forecast->steps->run = &forecast->run;
    if (workflow->take_over.run == 0)
        return 0;
    if (order->store == NULL)
        return err_set(err, ERR_NOT_FOUND,
                       "the earlier run, whose results this run reuses, is "
                       "missing");
    forecast->earlier = earlier_results_create(order->store, workflow, err);
    return forecast->earlier != NULL ? 0 : -1;
}

struct cache_forecast *cache_forecast_create(const struct forecast_order *order,
                                             struct err *err)
{
    struct cache_forecast *forecast = mem_zero(sizeof(*forecast));
    size_t count = order->workflow->step_count;

    forecast->file = order->workflow;
    forecast->environment = order->environment;
    forecast->found = mem_array(count, sizeof(*forecast->found));
    forecast->run.store = order->store;
    forecast->run.work_directory = fs_absolute(".");
    uv_loop_init(&forecast->loop);
    forecast->cache = cache_create(&forecast->loop, order->store, forecast);
    lift_limits(forecast);
    if (prepare(forecast, order, err) != 0) {
        cache_forecast_destroy(forecast);
        return NULL;
    }
    while (go_on(forecast)) {
    }
    find_all_depends(forecast);
    return forecast;
}

static void clear_step(struct forecast_step *step)
{
    for (size_t i = 0; i < step->job_count; i++)
        free(step->jobs[i].text);
    free(step->jobs);
}

void cache_forecast_destroy(struct cache_forecast *forecast)
{
    if (forecast == NULL)
        return;
    cache_destroy(forecast->cache);
    uv_run(&forecast->loop, UV_RUN_DEFAULT);
    uv_loop_close(&forecast->loop);
    steps_destroy(forecast->steps);
    earlier_results_destroy(forecast->earlier);
    for (size_t i = 0; i < forecast->file->step_count; i++)
        clear_step(&forecast->found[i]);
    free(forecast->found);
    free(forecast->flow_steps);
    free(forecast->run.work_directory);
    free(forecast);
}

const struct forecast_step *cache_forecast_step(
    const struct cache_forecast *forecast, size_t step)
{
    return &forecast->found[step];
}
