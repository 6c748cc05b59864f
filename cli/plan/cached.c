/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Steps of a plan that would be cache hits, and those that would not, and why.
 * What steps behind one that runs would do is not known; then the plan names
 * the step that decides.
 */
#include "cli/plan/cached.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cmd.h"
#include "orchestrator/job/job_name.h"
#include "orchestrator/run/run.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "orchestrator/steps/cache_ask.h"
#include "orchestrator/steps/cache_forecast.h"
#include "store/store.h"

enum { NAMED = 3 };

static bool has_cache(const struct workflow *workflow)
{
    for (size_t i = 0; i < workflow->step_count; i++) {
        if (workflow->steps[i].cache.is_on)
            return true;
    }
    return false;
}

/* ---- reading ---- */

static int forecast_in(struct store *store, const struct workflow *workflow,
                       const char *name, struct cache_forecast **forecast,
                       struct err *err)
{
    struct forecast_order order = {
        .workflow = workflow, .store = store, .environment = environ};
    char *own = NULL;

    if (name == NULL && store != NULL)
        own = run_pick_name(store, workflow->name, true, err);
    else
        own = mem_copy_string(name != NULL ? name : workflow->name);
    order.run_name = own;
    if (own != NULL)
        *forecast = cache_forecast_create(&order, err);
    free(own);
    return *forecast != NULL ? 0 : -1;
}

int plan_cached_read(const struct cli *cli, const struct workflow *workflow,
                     const char *name, struct cache_forecast **forecast,
                     struct err *err)
{
    struct err problem;
    struct store *store;
    int result;

    *forecast = NULL;
    if (!has_cache(workflow))
        return 0;
    store = store_open(cli->store, STORE_READ, &problem);
    if (store == NULL && problem.kind != ERR_NOT_FOUND) {
        *err = problem;
        return -1;
    }
    result = forecast_in(store, workflow, name, forecast, err);
    store_close(store);
    return result;
}

/* ---- in all ---- */

struct totals {
    int64_t all, hits, misses, unknown, skipped;
};

/* Whatever the steps before it do, it is no hit. */
static bool is_forced(const struct step *step,
                      const struct forecast_step *found)
{
    return !found->is_known && step->cache.is_forced;
}

static bool is_hit(const struct forecast_step *step)
{
    return step->is_known && step->job_count > 0 &&
           step->hits == step->job_count;
}

static struct totals count_all(const struct workflow *workflow,
                               const struct cache_forecast *forecast)
{
    struct totals totals = {0};

    for (size_t i = 0; i < workflow->step_count; i++) {
        const struct forecast_step *step = cache_forecast_step(forecast, i);

        if (!workflow->steps[i].cache.is_on)
            continue;
        totals.all++;
        if (!step->is_known && !is_forced(&workflow->steps[i], step))
            totals.unknown++;
        else if (step->is_skipped)
            totals.skipped++;
        else if (is_hit(step))
            totals.hits++;
        else
            totals.misses++;
    }
    return totals;
}

static void add_part(int64_t count, const char *one, const char *many,
                     struct buf *out)
{
    if (count > 0)
        buf_printf(out, ", %" PRId64 " %s", count, count == 1 ? one : many);
}

void plan_cached_add_totals(const struct workflow *workflow,
                            const struct cache_forecast *forecast,
                            struct buf *out)
{
    struct totals totals;

    if (forecast == NULL)
        return;
    totals = count_all(workflow, forecast);
    buf_printf(out, "%" PRId64 " of %" PRId64 " step%s with a cache %s",
               totals.hits, totals.all, totals.all == 1 ? "" : "s",
               totals.hits == 1 ? "is a hit" : "are hits");
    add_part(totals.misses, "is a miss", "are misses", out);
    add_part(totals.skipped, "is skipped", "are skipped", out);
    add_part(totals.unknown, "is not known yet", "are not known yet", out);
}

json_t *plan_cached_totals_json(const struct workflow *workflow,
                                const struct cache_forecast *forecast)
{
    struct totals totals;

    if (forecast == NULL)
        return json_null();
    totals = count_all(workflow, forecast);
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I}", "steps", (json_int_t)totals.all, "hits",
        (json_int_t)totals.hits, "misses", (json_int_t)totals.misses, "skipped",
        (json_int_t)totals.skipped, "unknown", (json_int_t)totals.unknown);
}

/* ---- a step ---- */

static void add_depends(const struct workflow *workflow,
                        const struct forecast_step *step, struct buf *out)
{
    buf_add_string(out, "cache: depends on ");
    for (size_t i = 0; i < step->depends_count && i < NAMED; i++)
        buf_printf(out, "%s%s", i > 0 ? ", " : "",
                   workflow->steps[step->depends[i]].name);
    if (step->depends_count > NAMED)
        buf_add_string(out, " and others");
}

static void add_job(const struct forecast_job *job, struct buf *out)
{
    switch (job->kind) {
    case FORECAST_HIT:
        buf_printf(out, "cache hit: %s%s", job->text,
                   job->lacks_temps ? "; " CACHE_NOT_NEEDED : "");
        break;
    case FORECAST_MISS:
        buf_add_string(out, job->text);
        break;
    case FORECAST_REUSED:
        buf_add_string(out, "cache: not asked, an earlier result is reused");
        break;
    case FORECAST_SKIPPED:
        buf_add_string(out, "cache: not asked, its condition is false");
        break;
    case FORECAST_RUNS:
        buf_add_string(out, "cache: not asked, it fails");
        break;
    }
}

/* The first that is no hit says why it is none. */
static const struct forecast_job *choose_job(const struct forecast_step *step)
{
    for (size_t i = 0; i < step->job_count; i++) {
        if (step->jobs[i].kind != FORECAST_HIT)
            return &step->jobs[i];
    }
    return &step->jobs[0];
}

static void add_jobs(const struct step *step, const struct forecast_step *found,
                     struct buf *out)
{
    const struct forecast_job *job = choose_job(found);
    bool has_copies = step->axis_count > 0 || step->copies > 1;

    if (found->job_count > 1) {
        buf_printf(out, "%zu of %zu jobs are cache hits; ", found->hits,
                   found->job_count);
        job_name_print(step->name, has_copies ? job->copy : -1, job->round,
                       out);
        buf_add_string(out, ": ");
    }
    add_job(job, out);
}

void plan_cached_add_step(const struct workflow *workflow,
                          const struct cache_forecast *forecast, size_t step,
                          struct buf *out)
{
    const struct step *its = &workflow->steps[step];
    const struct forecast_step *found;

    if (forecast == NULL || !its->cache.is_on)
        return;
    found = cache_forecast_step(forecast, step);
    if (is_forced(its, found))
        buf_add_string(out, "cache miss: --force");
    else if (!found->is_known)
        add_depends(workflow, found, out);
    else if (found->is_skipped)
        buf_add_string(out, "cache: not asked, the step is skipped");
    else if (found->job_count > 0)
        add_jobs(its, found, out);
}

static json_t *job_json(const struct forecast_job *job)
{
    static const char *const kinds[] = {
        [FORECAST_RUNS] = "runs",     [FORECAST_HIT] = "hit",
        [FORECAST_MISS] = "miss",     [FORECAST_SKIPPED] = "skipped",
        [FORECAST_REUSED] = "reused",
    };

    bool is_hit = job->kind == FORECAST_HIT;

    return json_pack("{s:I, s:o, s:s, s:o, s:o, s:b}", "copy",
                     (json_int_t)job->copy, "round",
                     json_int_unless(job->round, 0), "state", kinds[job->kind],
                     "from", json_from_text(is_hit ? job->text : NULL),
                     "reason", json_from_text(is_hit ? NULL : job->text),
                     "lacks_temporary_outputs", (int)job->lacks_temps);
}

json_t *plan_cached_step_json(const struct workflow *workflow,
                              const struct cache_forecast *forecast,
                              size_t step)
{
    json_t *jobs = json_array(), *depends = json_array();
    const struct forecast_step *found;

    if (forecast == NULL || !workflow->steps[step].cache.is_on) {
        json_decref(jobs);
        json_decref(depends);
        return json_null();
    }
    found = cache_forecast_step(forecast, step);
    for (size_t i = 0; i < found->job_count; i++)
        json_array_append_new(jobs, job_json(&found->jobs[i]));
    for (size_t i = 0; i < found->depends_count; i++)
        json_array_append_new(
            depends, json_from_text(workflow->steps[found->depends[i]].name));
    return json_pack("{s:b, s:b, s:b, s:I, s:o, s:o}", "is_known",
                     (int)found->is_known, "is_skipped", (int)found->is_skipped,
                     "is_forced", (int)workflow->steps[step].cache.is_forced,
                     "hits", (json_int_t)found->hits, "depends_on", depends,
                     "jobs", jobs);
}
