/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/core/announce.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "orchestrator/engine/core/source.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/job/job_name.h"
#include "orchestrator/search/search.h"
#include "orchestrator/spec/experiment/setting_json.h"

/* What the receivers of a run's messages are told, and when. `text` says it in
 * one line, under the name by which chat services look for it. */

enum { DELIVER_MS = 10000 };

static json_t *values_json(const struct engine *engine, const double *values)
{
    json_t *json = json_object();

    for (size_t i = 0; i < engine->experiment->objective_count; i++)
        json_object_set_new(json, engine->experiment->objectives[i].metric,
                            json_from_real(values[i]));
    return json;
}

struct best {
    int64_t trial; /* 0: there is none */
    double value;
};

static int keep_best(void *user, const struct run_row *row)
{
    *(struct best *)user = (struct best){row->best_trial, row->best};
    return 1;
}

/* The best trial; of a run with `repeats` the first of the best setting, and
 * the mean. */
static struct best find_best(const struct engine *engine)
{
    struct best best = {engine->tally.best_trial, engine->tally.best};

    if (engine->experiment->search.replicates > 1 && best.trial != 0)
        store_get_run_uncounted(engine->store, engine->run->id, keep_best,
                                &best, NULL);
    return best;
}

struct best_search {
    const struct engine *engine;
    json_t *params;
};

static int on_best(void *user, const struct trial_row *row)
{
    struct best_search *search = user;

    search->params =
        setting_json(search->engine->experiment->space, row->params);
    return 1;
}

/* NULL when there is none yet. */
static json_t *best_json(const struct engine *engine)
{
    struct best best = find_best(engine);
    struct best_search search = {.engine = engine};
    struct trial_query query = {
        .run = engine->run->id, .number = best.trial, .limit = 1};

    if (best.trial == 0)
        return NULL;
    store_each_trial(engine->store, &query, on_best, &search, NULL);
    return json_pack("{s:I, s:f, s:o*}", "id", (json_int_t)best.trial, "value",
                     best.value, "params", search.params);
}

static json_t *counts_json(const struct tally *tally)
{
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "all",
        (json_int_t)tally->suggested, "succeeded", (json_int_t)tally->succeeded,
        "nonfinite", (json_int_t)tally->nonfinite, "failed",
        (json_int_t)tally->failed, "stopped", (json_int_t)tally->stopped,
        "skipped", (json_int_t)tally->skipped, "cancelled",
        (json_int_t)tally->cancelled);
}

static json_t *steps_json(const struct engine_steps *steps)
{
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I}", "all", (json_int_t)steps->total,
        "active", (json_int_t)steps->active, "succeeded",
        (json_int_t)steps->succeeded, "failed", (json_int_t)steps->failed,
        "skipped", (json_int_t)steps->skipped, "cached",
        (json_int_t)steps->cached);
}

static json_t *message(struct engine *engine, enum notify_event event,
                       const char *text)
{
    struct engine_status status = {.steps = NULL};
    const struct engine_steps *steps;
    char host[256] = "", time[32];
    json_t *json, *best = best_json(engine);

    engine->source->describe(engine, &status);
    steps = status.steps;
    gethostname(host, sizeof(host) - 1);
    clock_format_iso(clock_wall_ms(), time, sizeof(time));
    json = json_pack("{s:s, s:o, s:s, s:s, s:o}", "event",
                     notify_event_names[event], "text", json_from_text(text),
                     "run", engine->run->name, "time", time, "host",
                     json_from_text(host));
    if (engine->experiment->objective_count > 0)
        json_object_set_new(
            json, "metric",
            json_string(engine->experiment->objectives[0].metric));
    if (steps != NULL)
        json_object_set_new(json, "steps", steps_json(steps));
    json_object_set_new(json, steps != NULL ? "jobs" : "trials",
                        counts_json(&engine->tally));
    if (best != NULL)
        json_object_set_new(json, "best", best);
    return json;
}

/* In the open transaction. */
static void announce(struct engine *engine, enum notify_event event,
                     json_t *json)
{
    struct err err;

    if (notifier_add(engine->notifier, event, json, &err) != 0)
        engine_break(engine, &err);
    json_decref(json);
}

static bool wants(const struct engine *engine, enum notify_event event)
{
    return engine->notifier != NULL && notifier_wants(engine->notifier, event);
}

static void describe_best(const struct engine *engine, struct buf *text)
{
    struct best best = find_best(engine);

    if (best.trial != 0)
        buf_printf(text, "; best %s=%.6g (trial %" PRId64 ")",
                   engine->experiment->objectives[0].metric, best.value,
                   best.trial);
}

void engine_announce_run(struct engine *engine, enum notify_event event)
{
    struct buf text = BUF_INIT;
    json_t *json;

    if (!wants(engine, event))
        return;
    buf_printf(&text, "run '%s' %s", engine->run->name,
               notify_event_names[event]);
    if (engine->result->reason[0] != '\0')
        buf_printf(&text, ": %s", engine->result->reason);
    describe_best(engine, &text);
    json = message(engine, event, buf_text(&text));
    if (engine->result->reason[0] != '\0')
        json_object_set_new(json, "reason",
                            json_from_text(engine->result->reason));
    announce(engine, event, json);
    buf_clear(&text);
}

static void announce_trial(struct engine *engine, enum notify_event event,
                           const struct job *job)
{
    const struct experiment *experiment = engine->experiment;
    const char *cause = attempt_cause_names[job->end.cause];
    struct buf text = BUF_INIT;
    double *values;
    json_t *json;

    if (!wants(engine, event))
        return;
    buf_printf(&text, "run '%s': trial %" PRId64, engine->run->name,
               job->number);
    if (event == NOTIFY_BEST)
        buf_printf(&text, " is the new best: %s=%.6g",
                   experiment->objectives[0].metric, engine->tally.best);
    else
        buf_printf(&text, " failed (%s)", cause);
    json = message(engine, event, buf_text(&text));
    values = job_objectives(job, experiment);
    json_object_set_new(
        json, "trial",
        json_pack("{s:I, s:s, s:s, s:o, s:o}", "id", (json_int_t)job->number,
                  "state", job_state_names[job->state], "cause", cause,
                  "values", values_json(engine, values), "params",
                  setting_json(experiment->space, job->point)));
    announce(engine, event, json);
    free(values);
    buf_clear(&text);
}

/* A job that failed: what it said of itself, or else its last attempt's cause.
 */
static void announce_job(struct engine *engine, const struct job *job)
{
    const struct step *step = &engine->run->workflow->steps[job->step];
    bool is_many = step->axis_count > 0 || step->copies > 1;
    const char *cause = attempt_cause_names[job->end.cause];
    struct buf text = BUF_INIT, name = BUF_INIT;
    json_t *json;

    if (!wants(engine, NOTIFY_TRIAL_FAILED))
        return;
    job_name_print(step->name, is_many ? job->copy : -1, job->round, &name);
    buf_printf(&text, "run '%s': job %s failed (%s)", engine->run->name,
               buf_text(&name),
               job->end.text[0] != '\0' ? job->end.text : cause);
    json = message(engine, NOTIFY_TRIAL_FAILED, buf_text(&text));
    json_object_set_new(json, "job",
                        json_pack("{s:I, s:s, s:s, s:s, s:s?}", "id",
                                  (json_int_t)job->number, "name",
                                  buf_text(&name), "step", step->name, "state",
                                  job_state_names[job->state], "cause",
                                  job->attempt_number > 0 ? cause : NULL));
    announce(engine, NOTIFY_TRIAL_FAILED, json);
    buf_clear(&text);
    buf_clear(&name);
}

void engine_announce_ended(struct engine *engine, const struct job *job)
{
    if (job->step >= 0 && job->state == JOB_FAILED)
        announce_job(engine, job);
    else if (job->is_new_best)
        announce_trial(engine, NOTIFY_BEST, job);
    else if (job->state == JOB_FAILED)
        announce_trial(engine, NOTIFY_TRIAL_FAILED, job);
}

void engine_record_answers(struct engine *engine)
{
    struct err err;

    if (engine->notifier == NULL || !notifier_has_news(engine->notifier) ||
        !engine_begin(engine))
        return;
    if (notifier_record(engine->notifier, &err) != 0)
        engine_break(engine, &err);
}

struct delivery {
    struct engine *engine;
    int signals; /* so far; one more ends it */
};

static int on_turn(void *user)
{
    const struct delivery *delivery = user;
    struct engine *engine = delivery->engine;

    engine_record_answers(engine);
    engine_commit(engine);
    return engine->transaction.is_broken ||
           engine->signals != delivery->signals;
}

void engine_deliver(struct engine *engine)
{
    struct delivery delivery = {engine, engine->signals};

    if (engine->notifier == NULL)
        return;
    engine->wind_up.phase = PHASE_WAITING;
    snprintf(engine->shortage.text, sizeof(engine->shortage.text),
             "the run has ended and sends its last notifications");
    notifier_deliver(engine->notifier, DELIVER_MS, on_turn, &delivery);
    engine->result->undelivered = (int64_t)notifier_waiting(engine->notifier);
}
