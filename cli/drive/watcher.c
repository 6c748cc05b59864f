/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From an engine's events to progress on stderr, for an engine in this process
 * or in another one.
 *
 * The watcher keeps what events alone do not carry: the best trial before this
 * one, the front, the last note. It starts from the record, because an engine
 * may have run before. Of the first failure it prints the last output at once,
 * because all other trials may be about to fail the same way.
 */
#include "cli/drive/watcher.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/drive/failed_jobs.h"
#include "cli/drive/progress.h"
#include "cli/drive/repeat_means.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/job/budget.h"
#include "orchestrator/job/job_name.h"
#include "orchestrator/job/states.h"
#include "orchestrator/search/pareto_front.h"
#include "orchestrator/search/search_space.h"
#include "orchestrator/spec/experiment/setting_json.h"
#include "orchestrator/spec/spec.h"
#include "store/store.h"

enum { ENOUGH = 1 };

struct watcher {
    const struct experiment *experiment;
    bool has_steps; /* it is a workflow's, without objectives */
    char *name;
    struct store *store;
    int64_t run;
    bool has_failed; /* a trial, and why was told, or is not to be */
    struct progress *progress;
    double best, previous_best;
    struct buf best_params;
    struct pareto_front *front;   /* NULL: one objective */
    struct repeat_means *repeats; /* NULL: each setting is tried once */
    char note[600];               /* the last one shown, with its hint */
};

static void print_short(const struct value *value, struct buf *out)
{
    if (value->type == VALUE_REAL)
        buf_printf(out, "%.4g", value->real);
    else
        value_print(value, out);
}

static void print_point(const struct experiment *experiment,
                        const struct value *point, struct buf *out)
{
    buf_truncate(out, 0);
    for (size_t i = 0; i < search_space_count(experiment); i++) {
        if (point[i].type == VALUE_NULL)
            continue;
        buf_printf(out, "%s%s=", out->length > 0 ? " " : "",
                   search_space_name(experiment, i));
        print_short(&point[i], out);
    }
}

static struct progress_snapshot snapshot_steps(
    const struct watcher *watcher, const struct engine_status *status)
{
    const struct engine_steps none = {.names = ""};
    const struct engine_steps *steps =
        status->steps != NULL ? status->steps : &none;
    const struct tally *tally = status->tally;

    return (struct progress_snapshot){
        .run = watcher->name,
        .steps = steps->names,
        .done = steps->succeeded + steps->failed + steps->skipped,
        .total = steps->total,
        .running = status->running,
        .queued = status->queued,
        .succeeded = tally->succeeded,
        .failed = tally->failed,
        .stopped = tally->stopped,
        .cancelled = tally->cancelled,
        .cached = steps->cached,
        .cached_jobs = steps->cached_jobs,
        .elapsed_ms = status->elapsed_ms,
        .eta_ms = -1,
        .note = watcher->note[0] != '\0' ? watcher->note : NULL,
    };
}

static struct progress_snapshot snapshot_trials(
    const struct watcher *watcher, const struct engine_status *status)
{
    const struct experiment *experiment = watcher->experiment;
    const struct tally *tally = status->tally;
    int64_t done = tally_ended(tally);
    int64_t total = status->budget_trials;
    struct repeat_mean mean = {0, 0, 0.0};

    if (watcher->repeats != NULL)
        mean = repeat_means_best(watcher->repeats);
    return (struct progress_snapshot){
        .run = watcher->name,
        .method = status->method,
        .metric = experiment->objectives[0].metric,
        .done = done,
        .total = total,
        .running = status->running,
        .queued = status->queued,
        .slots = status->parallel,
        .succeeded = tally->succeeded,
        .failed = tally->failed,
        .stopped = tally->stopped,
        .cancelled = tally->cancelled,
        .paused = status->paused,
        .unit =
            experiment->schedule.is_on ? experiment->schedule.resource : NULL,
        .used = tally->resource_used,
        .budget = experiment->budget.resource,
        .nonfinite = tally->nonfinite,
        .infeasible = tally->infeasible,
        .front = watcher->front != NULL
                     ? (int64_t)pareto_front_count(watcher->front)
                     : 0,
        .elapsed_ms = status->elapsed_ms,
        .eta_ms = done > 0 && total > 0
                      ? status->elapsed_ms / done * (total - done)
                      : -1,
        .best_trial = watcher->repeats != NULL ? mean.first : tally->best_trial,
        .best_count = mean.count,
        .best = watcher->repeats != NULL ? mean.mean : tally->best,
        .previous_best = watcher->previous_best,
        .best_params = watcher->best_params.length > 0
                           ? buf_text(&watcher->best_params)
                           : NULL,
        .note = watcher->note[0] != '\0' ? watcher->note : NULL,
    };
}

static struct progress_snapshot snapshot(const struct watcher *watcher,
                                         const struct engine_status *status)
{
    return watcher->has_steps ? snapshot_steps(watcher, status)
                              : snapshot_trials(watcher, status);
}

/* NaN may stand for none, unless the trial succeeded. */
static void add_figure(const struct engine_trial *trial, const char *metric,
                       double value, struct buf *out)
{
    bool has_all = strcmp(trial->state, job_state_names[JOB_SUCCEEDED]) == 0;

    if (has_all || !isnan(value))
        buf_printf(out, "%s%s=%.6g", out->length > 0 ? " " : "", metric,
                   isnan(value) ? (double)NAN : value);
}

/* What it said besides the first objective. */
static void print_others(const struct experiment *experiment,
                         const struct engine_trial *trial, struct buf *out)
{
    for (size_t i = 1; i < experiment->objective_count; i++)
        add_figure(trial, experiment->objectives[i].metric, trial->values[i],
                   out);
    for (size_t i = 0; i < experiment->outcome_count; i++)
        add_figure(trial, experiment->outcomes[i].metric, trial->outcomes[i],
                   out);
}

/* Whether the trial is new on the front. */
static bool joins_front(struct watcher *watcher,
                        const struct engine_trial *trial)
{
    return watcher->front != NULL && trial->is_feasible &&
           strcmp(trial->state, job_state_names[JOB_SUCCEEDED]) == 0 &&
           pareto_front_add(watcher->front, trial->number, trial->values);
}

/* What the first trial or job that failed wrote last: what all of them will
 * fail with is seen at once. */
static void tell_why(struct watcher *watcher, const struct engine_trial *trial)
{
    bool failed = strcmp(trial->state, job_state_names[JOB_FAILED]) == 0;
    struct buf text = BUF_INIT;
    char *words;

    if (watcher->has_failed || !(failed || trial->will_retry) ||
        trial->cause == NULL || trial->text[0] != '\0')
        return;
    watcher->has_failed = true;
    words = failed_job_last_words(watcher->store, watcher->run, trial->number);
    if (words == NULL)
        return;
    if (trial->step != NULL)
        job_name_print(trial->step, trial->copy, trial->round, &text);
    else
        buf_printf(&text, "trial %" PRId64, trial->number);
    buf_printf(&text, ": its last output: %s", words);
    progress_message(watcher->progress, buf_text(&text));
    buf_clear(&text);
    free(words);
}

/* Whether the trial, or with `repeats` its setting, is now the best; the values
 * that it has then. */
static bool follow_best(struct watcher *watcher,
                        const struct engine_trial *trial)
{
    double before = watcher->best;
    bool is_best = trial->is_best;

    if (watcher->repeats != NULL) {
        is_best =
            trial->is_feasible && isfinite(trial->values[0]) &&
            strcmp(trial->state, job_state_names[JOB_SUCCEEDED]) == 0 &&
            repeat_means_add(watcher->repeats, trial->number, trial->values[0]);
        watcher->best = repeat_means_best(watcher->repeats).mean;
    } else if (is_best) {
        watcher->best = trial->values[0];
    }
    if (is_best)
        watcher->previous_best = before;
    return is_best;
}

static void job_ended(struct watcher *watcher, const struct engine_trial *job,
                      const struct engine_status *status)
{
    struct progress_snapshot now = snapshot(watcher, status);
    struct buf name = BUF_INIT;
    struct progress_trial ended = {
        .number = job->number,
        .state = job->state,
        .cause = job->cause,
        .text = job->text[0] != '\0' ? job->text : NULL,
        .value = (double)NAN,
        .duration_ms = job->duration_ms,
        .last_duration_ms = job->last_duration_ms,
        .is_cached = job->is_cached,
        .will_retry = job->will_retry,
        .again = job->again,
    };

    job_name_print(job->step, job->copy, job->round, &name);
    ended.job = buf_text(&name);
    progress_trial_ended(watcher->progress, &ended, &now, clock_monotonic_ms());
    buf_clear(&name);
}

static void trial_ended(struct watcher *watcher,
                        const struct engine_trial *trial,
                        const struct engine_status *status)
{
    const struct experiment *experiment = watcher->experiment;
    struct buf params = BUF_INIT, others = BUF_INIT;
    struct progress_snapshot now;
    bool is_best = follow_best(watcher, trial);
    struct progress_trial ended = {
        .number = trial->number,
        .state = trial->state,
        .resource = trial->resource,
        .cause = trial->cause,
        .text = trial->text[0] != '\0' ? trial->text : NULL,
        .value = trial->values[0],
        .duration_ms = trial->duration_ms,
        .last_duration_ms = trial->last_duration_ms,
        .is_best =
            watcher->front != NULL ? joins_front(watcher, trial) : is_best,
        .is_infeasible = !trial->is_feasible,
        .is_nonfinite =
            trial->is_feasible &&
            isnan(tally_value(trial->values, experiment->objective_count)),
        .will_retry = trial->will_retry,
        .again = trial->again,
    };

    print_point(experiment, trial->point, &params);
    print_others(experiment, trial, &others);
    ended.params = buf_text(&params);
    ended.others = buf_text(&others);
    if (is_best) {
        buf_truncate(&watcher->best_params, 0);
        buf_add_string(&watcher->best_params, ended.params);
    }
    now = snapshot(watcher, status);
    progress_trial_ended(watcher->progress, &ended, &now, clock_monotonic_ms());
    buf_clear(&params);
    buf_clear(&others);
}

void watcher_trial_ended(struct watcher *watcher,
                         const struct engine_trial *trial,
                         const struct engine_status *status)
{
    if (watcher->has_steps)
        job_ended(watcher, trial, status);
    else
        trial_ended(watcher, trial, status);
    tell_why(watcher, trial);
}

void watcher_tick(struct watcher *watcher, const struct engine_status *status)
{
    struct progress_snapshot now;
    char note[sizeof(watcher->note)];

    snprintf(note, sizeof(note), status->hint[0] != '\0' ? "%s (%s)" : "%s",
             status->note, status->hint);
    if (strcmp(watcher->note, note) != 0) {
        snprintf(watcher->note, sizeof(watcher->note), "%s", note);
        if (note[0] != '\0')
            progress_message(watcher->progress, note);
    }
    now = snapshot(watcher, status);
    progress_update(watcher->progress, &now, clock_monotonic_ms());
}

void watcher_message(struct watcher *watcher, const char *text)
{
    progress_message(watcher->progress, text);
}

/* ---- what an earlier engine left ---- */

static int keep_repeat(void *user, const struct trial_row *row)
{
    struct watcher *watcher = user;

    if (row->value_count > 0 && isfinite(row->values[0]) &&
        row->violation <= 0.0)
        repeat_means_add(watcher->repeats, row->number, row->values[0]);
    return 0;
}

static int keep_best(void *user, const struct trial_row *row)
{
    struct watcher *watcher = user;

    if (row->value_count == 0 || !isfinite(row->values[0]) ||
        row->violation > 0.0 ||
        row->param_count != search_space_count(watcher->experiment))
        return ENOUGH;
    watcher->best = watcher->repeats != NULL
                        ? repeat_means_best(watcher->repeats).mean
                        : row->values[0];
    print_point(watcher->experiment, row->params, &watcher->best_params);
    return ENOUGH;
}

/* The query is then for the first trial of the best setting. */
static int load_repeats(struct watcher *watcher, struct trial_query *query,
                        struct err *err)
{
    const struct trial_query all = {
        .run = query->run, .state = "succeeded", .results_only = true};
    struct repeat_mean best;

    if (store_each_trial(watcher->store, &all, keep_repeat, watcher, err) < 0)
        return -1;
    best = repeat_means_best(watcher->repeats);
    if (best.count > 0)
        *query = (struct trial_query){
            .run = query->run, .number = best.first, .limit = 1};
    return 0;
}

static int load(struct watcher *watcher, struct store *store, int64_t run,
                struct err *err)
{
    struct trial_query query = {
        .run = run, .order = ORDER_BEST, .state = "succeeded", .limit = 1};
    const struct experiment *experiment = watcher->experiment;

    if (watcher->repeats != NULL && load_repeats(watcher, &query, err) < 0)
        return -1;
    if (store_each_trial(store, &query, keep_best, watcher, err) < 0)
        return -1;
    if (experiment->objective_count == 1)
        return 0;
    watcher->front = pareto_front_of_experiment(experiment);
    return pareto_front_load(watcher->front, store, run, err);
}

struct watcher *watcher_create(const struct cli *cli, const struct spec *spec,
                               const char *name, struct store *store,
                               int64_t run, struct err *err)
{
    struct watcher *watcher = mem_zero(sizeof(*watcher));

    watcher->experiment = spec->experiment;
    watcher->has_steps = spec->workflow != NULL;
    watcher->name = mem_copy_string(name);
    watcher->store = store;
    watcher->run = run;
    watcher->has_failed = cli->quiet;
    watcher->progress = progress_create(cli);
    watcher->best = watcher->previous_best = (double)NAN;
    if (!watcher->has_steps && spec->experiment->search.replicates > 1 &&
        spec->experiment->objective_count == 1)
        watcher->repeats =
            repeat_means_create(spec->experiment->search.replicates,
                                spec->experiment->objectives[0].maximize);
    if (watcher->has_steps || load(watcher, store, run, err) == 0)
        return watcher;
    watcher_destroy(watcher);
    return NULL;
}

void watcher_destroy(struct watcher *watcher)
{
    if (watcher == NULL)
        return;
    progress_finish(watcher->progress, NULL);
    pareto_front_destroy(watcher->front);
    buf_clear(&watcher->best_params);
    repeat_means_destroy(watcher->repeats);
    free(watcher->name);
    free(watcher);
}
