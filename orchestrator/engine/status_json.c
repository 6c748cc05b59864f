/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/status_json.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "orchestrator/spec/experiment/setting_json.h"

/* ---- numbers ---- */

static json_t *from_reals(const double *reals, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_from_any_real(reals[i]));
    return list;
}

static double *to_reals(const json_t *list, size_t count)
{
    double *reals = mem_array(count, sizeof(*reals));

    for (size_t i = 0; i < count; i++)
        reals[i] = json_to_real(json_array_get(list, i));
    return reals;
}

static int64_t to_integer(const json_t *json, const char *key)
{
    return json_integer_value(json_object_get(json, key));
}

/* Never NULL. */
static const char *to_text(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    return text != NULL ? text : "";
}

/* ---- the tally ---- */

static const struct {
    const char *key;
    size_t offset;
} counts[] = {
    {"suggested", offsetof(struct tally, suggested)},
    {"succeeded", offsetof(struct tally, succeeded)},
    {"nonfinite", offsetof(struct tally, nonfinite)},
    {"failed", offsetof(struct tally, failed)},
    {"stopped", offsetof(struct tally, stopped)},
    {"skipped", offsetof(struct tally, skipped)},
    {"cancelled", offsetof(struct tally, cancelled)},
    {"infeasible", offsetof(struct tally, infeasible)},
    {"best_trial", offsetof(struct tally, best_trial)},
    {"since_best", offsetof(struct tally, since_best)},
    {"resource_used", offsetof(struct tally, resource_used)},
};

static json_t *from_tally(const struct tally *tally)
{
    json_t *json = json_object();

    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        int64_t count;

        memcpy(&count, (const char *)tally + counts[i].offset, sizeof(count));
        json_object_set_new(json, counts[i].key, json_integer(count));
    }
    json_object_set_new(json, "best", json_from_any_real(tally->best));
    return json;
}

static void to_tally(const json_t *json, struct tally *tally)
{
    tally_init(tally, 0.0);
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        int64_t count = to_integer(json, counts[i].key);

        memcpy((char *)tally + counts[i].offset, &count, sizeof(count));
    }
    tally->best = json_to_real(json_object_get(json, "best"));
}

/* ---- steps ---- */

static json_t *from_steps(const struct engine_steps *steps)
{
    return json_pack(
        "{sI sI sI sI sI sI sI so}", "total", (json_int_t)steps->total,
        "active", (json_int_t)steps->active, "succeeded",
        (json_int_t)steps->succeeded, "failed", (json_int_t)steps->failed,
        "skipped", (json_int_t)steps->skipped, "cached",
        (json_int_t)steps->cached, "cached_jobs",
        (json_int_t)steps->cached_jobs, "names", json_from_text(steps->names));
}

static const struct engine_steps *to_steps(const json_t *json,
                                           struct engine_steps *steps)
{
    if (json == NULL)
        return NULL;
    *steps = (struct engine_steps){
        .total = to_integer(json, "total"),
        .active = to_integer(json, "active"),
        .succeeded = to_integer(json, "succeeded"),
        .failed = to_integer(json, "failed"),
        .skipped = to_integer(json, "skipped"),
        .cached = to_integer(json, "cached"),
        .cached_jobs = to_integer(json, "cached_jobs"),
        .names = to_text(json, "names"),
    };
    return steps;
}

/* ---- lines ---- */

json_t *status_json_from_status(const struct engine_status *status)
{
    json_t *json = json_object();

    json_object_set_new(json, "event", json_string("status"));
    json_object_set_new(json, "tally", from_tally(status->tally));
    json_object_set_new(json, "running", json_integer(status->running));
    json_object_set_new(json, "queued", json_integer(status->queued));
    json_object_set_new(json, "budget_trials",
                        json_integer(status->budget_trials));
    json_object_set_new(json, "elapsed_ms", json_integer(status->elapsed_ms));
    json_object_set_new(json, "parallel", json_integer(status->parallel));
    json_object_set_new(json, "method", json_from_text(status->method));
    json_object_set_new(json, "method_reason",
                        json_from_text(status->method_reason));
    json_object_set_new(json, "note", json_from_text(status->note));
    json_object_set_new(json, "paused", json_boolean(status->is_paused));
    json_object_set_new(json, "paused_trials", json_integer(status->paused));
    if (status->steps != NULL)
        json_object_set_new(json, "steps", from_steps(status->steps));
    return json;
}

static void add_setting(const struct experiment *experiment,
                        const struct engine_trial *trial, json_t *json)
{
    json_object_set_new(json, "values",
                        from_reals(trial->values, experiment->objective_count));
    json_object_set_new(json, "outcomes",
                        from_reals(trial->outcomes, experiment->outcome_count));
    json_object_set_new(json, "params",
                        setting_json(experiment->space, trial->point));
    json_object_set_new(json, "resource", json_integer(trial->resource));
    json_object_set_new(json, "best", json_boolean(trial->is_best));
    json_object_set_new(json, "feasible", json_boolean(trial->is_feasible));
}

static void add_step(const struct engine_trial *job, json_t *json)
{
    json_object_set_new(json, "step", json_from_text(job->step));
    json_object_set_new(json, "copy", json_integer(job->copy));
    json_object_set_new(json, "round", json_integer(job->round));
    json_object_set_new(json, "cached", json_boolean(job->is_cached));
}

json_t *status_json_from_trial(const struct experiment *experiment,
                               const struct engine_trial *trial)
{
    json_t *json = json_object();

    json_object_set_new(json, "event", json_string("trial"));
    json_object_set_new(json, "id", json_integer(trial->number));
    json_object_set_new(json, "state", json_from_text(trial->state));
    json_object_set_new(json, "cause", json_from_text(trial->cause));
    json_object_set_new(json, "text", json_from_text(trial->text));
    json_object_set_new(json, "duration_ms", json_integer(trial->duration_ms));
    json_object_set_new(json, "last_duration_ms",
                        json_integer(trial->last_duration_ms));
    json_object_set_new(json, "will_retry", json_boolean(trial->will_retry));
    json_object_set_new(json, "again", json_from_text(trial->again));
    if (trial->step == NULL)
        add_setting(experiment, trial, json);
    else
        add_step(trial, json);
    return json;
}

json_t *status_json_from_result(const struct engine_result *result)
{
    json_t *json = json_object();

    json_object_set_new(json, "event", json_string("ended"));
    json_object_set_new(json, "state",
                        json_string(run_state_names[result->state]));
    json_object_set_new(json, "signal", json_integer(result->signal));
    json_object_set_new(json, "reason", json_from_text(result->reason));
    json_object_set_new(json, "tally", from_tally(&result->tally));
    return json;
}

/* ---- and back ---- */

static int read_status(struct status_json *live,
                       const struct experiment *experiment)
{
    const json_t *json = live->json;

    (void)experiment;
    to_tally(json_object_get(json, "tally"), &live->tally);
    live->status = (struct engine_status){
        .tally = &live->tally,
        .running = to_integer(json, "running"),
        .queued = to_integer(json, "queued"),
        .budget_trials = to_integer(json, "budget_trials"),
        .elapsed_ms = to_integer(json, "elapsed_ms"),
        .parallel = to_integer(json, "parallel"),
        .method = to_text(json, "method"),
        .method_reason = to_text(json, "method_reason"),
        .note = to_text(json, "note"),
        .hint = "",
        .is_paused = json_is_true(json_object_get(json, "paused")),
        .paused = to_integer(json, "paused_trials"),
        .steps = to_steps(json_object_get(json, "steps"), &live->steps),
    };
    return 0;
}

static void read_setting(struct status_json *live,
                         const struct experiment *experiment)
{
    const json_t *json = live->json;
    const json_t *params = json_object_get(json, "params");
    size_t count = space_count(experiment->space);

    live->values =
        to_reals(json_object_get(json, "values"), experiment->objective_count);
    live->outcomes =
        to_reals(json_object_get(json, "outcomes"), experiment->outcome_count);
    live->point = mem_array(count, sizeof(*live->point));
    for (size_t i = 0; i < count; i++)
        live->point[i] = json_to_value(
            json_object_get(params, space_param(experiment->space, i)->name));
    live->trial.values = live->values;
    live->trial.outcomes = live->outcomes;
    live->trial.point = live->point;
    live->trial.resource = to_integer(json, "resource");
    live->trial.is_best = json_is_true(json_object_get(json, "best"));
    live->trial.is_feasible = json_is_true(json_object_get(json, "feasible"));
}

static int read_trial(struct status_json *live,
                      const struct experiment *experiment)
{
    const json_t *json = live->json;

    live->trial = (struct engine_trial){
        .number = to_integer(json, "id"),
        .step = json_string_value(json_object_get(json, "step")),
        .copy = to_integer(json, "copy"),
        .round = to_integer(json, "round"),
        .is_cached = json_is_true(json_object_get(json, "cached")),
        .state = to_text(json, "state"),
        .cause = to_text(json, "cause"),
        .text = to_text(json, "text"),
        .duration_ms = to_integer(json, "duration_ms"),
        .last_duration_ms = to_integer(json, "last_duration_ms"),
        .will_retry = json_is_true(json_object_get(json, "will_retry")),
        .again = to_text(json, "again"),
    };
    if (live->trial.step == NULL)
        read_setting(live, experiment);
    return 0;
}

static int read_result(struct status_json *live,
                       const struct experiment *experiment)
{
    const json_t *json = live->json;
    int state = run_state_find(to_text(json, "state"));

    (void)experiment;
    if (state < 0)
        return -1;
    live->result.state = (enum run_state)state;
    live->result.verdict = budget_verdict_find(to_text(json, "reason"));
    live->result.signal = (int)to_integer(json, "signal");
    snprintf(live->result.reason, sizeof(live->result.reason), "%s",
             to_text(json, "reason"));
    to_tally(json_object_get(json, "tally"), &live->result.tally);
    return 0;
}

static const struct {
    const char *event;
    int (*read)(struct status_json *live, const struct experiment *experiment);
} readers[] = {
    {"status", read_status},
    {"trial", read_trial},
    {"ended", read_result},
};

int status_json_read(struct status_json *live,
                     const struct experiment *experiment, const char *line,
                     size_t length, struct err *err)
{
    *live = (struct status_json){.json = json_parse(line, length, NULL)};
    live->event = to_text(live->json, "event");
    for (size_t i = 0; i < ARRAY_LEN(readers); i++) {
        if (strcmp(readers[i].event, live->event) == 0 &&
            readers[i].read(live, experiment) == 0)
            return 0;
    }
    return err_set(err, ERR_FAILED,
                   "the engine sent an answer that this version does not "
                   "support");
}

void status_json_clear(struct status_json *live)
{
    json_decref(live->json);
    free(live->values);
    free(live->outcomes);
    free(live->point);
    *live = (struct status_json){0};
}
