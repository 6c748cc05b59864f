/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_STORE_STORE_FILL_H
#define SMTUNE_TESTS_UNIT_STORE_STORE_FILL_H

#include "base/compiler.h"
#include "store/store.h"

/* Runs and finished trials, as an engine would write them. Each function
 * returns 0, or -1 with err set. */

enum { FILL_PARAMS = 10 };

/* 2026-01-01 00:00:00 UTC: the first trial's start; each takes a second. */
static const int64_t fill_start_ms = 1767225600000;

static const char *const fill_params[FILL_PARAMS] = {
    "lr",    "width",  "optimizer", "nesterov", "momentum",
    "decay", "layers", "dropout",   "batch",    "epochs"};

#define FILL_SPEC "version: 1\ntrial: {command: \"true\"}\n"

UNUSED static int fill_run(struct store *store, const char *name,
                           const char *goal, int64_t *id, struct err *err)
{
    return store_add_run(store,
                         &(struct run_new){
                             .name = name,
                             .kind = "experiment",
                             .spec = FILL_SPEC,
                             .overrides = "[]",
                             .spec_path = "/tmp/exp.yaml",
                             .work_directory = "/tmp",
                             .seed = UINT64_MAX,
                             .metrics = (const char *const[]){"loss"},
                             .goals = (const char *const[]){goal},
                             .objective_count = 1,
                             .params = fill_params,
                             .param_count = FILL_PARAMS,
                             .time_ms = fill_start_ms,
                         },
                         id, err);
}

/* enqueued: the setting that it tries, 0: none */
UNUSED static int fill_job_for(struct store *store, int64_t run, int64_t number,
                               int64_t enqueued, int64_t *job, struct err *err)
{
    struct value params[FILL_PARAMS] = {value_real(0.1 / (double)number),
                                        value_int(number % 512),
                                        value_text(number % 2 ? "sgd" : "adam"),
                                        value_bool(number % 2),
                                        number % 2 ? value_real(0.9)
                                                   : value_null(),
                                        value_real(1e-5),
                                        value_int(3),
                                        value_real(0.5),
                                        value_int(128),
                                        value_int(27)};

    return store_add_job(store,
                         &(struct job_new){
                             .run = run,
                             .number = number,
                             .state = "ready",
                             .step = -1,
                             .cursor = (uint64_t)number,
                             .params = params,
                             .param_count = FILL_PARAMS,
                             .enqueued = enqueued,
                             .time_ms = fill_start_ms + number * 1000,
                         },
                         job, err);
}

UNUSED static int fill_job(struct store *store, int64_t run, int64_t number,
                           int64_t *job, struct err *err)
{
    return fill_job_for(store, run, number, 0, job, err);
}

UNUSED static int fill_attempt(struct store *store, int64_t run, int64_t job,
                               int64_t number, int64_t time_ms, int64_t *id,
                               struct err *err)
{
    struct attempt_new attempt = {.run = run,
                                  .job = job,
                                  .number = number,
                                  .directory = "runs/r/1/1",
                                  .time_ms = time_ms};
    struct attempt_change change = {
        .run = run, .job = job, .pid = 4711, .time_ms = time_ms};

    if (store_add_attempt(store, &attempt, id, err) < 0)
        return -1;
    change.attempt = *id;
    return store_set_attempt_running(store, &change, err);
}

/* All that the record holds of a trial which succeeds at its first try. */
UNUSED static int fill_trial(struct store *store, int64_t run, int64_t number,
                             double value, struct err *err)
{
    int64_t start_ms = fill_start_ms + number * 1000;
    struct job_change started = {.run = run,
                                 .state = "running",
                                 .event = "started",
                                 .time_ms = start_ms,
                                 .started_ms = start_ms};
    struct job_change ended = {.run = run,
                               .state = "succeeded",
                               .cause = "ok",
                               .event = "succeeded",
                               .time_ms = start_ms + 1000,
                               .ended_ms = start_ms + 1000,
                               .values = &value,
                               .value_count = 1};
    struct attempt_end end = {.run = run,
                              .cause = "ok",
                              .started_ms = start_ms,
                              .ended_ms = start_ms + 1000,
                              .cpu_ms = 900,
                              .max_rss_bytes = 1 << 20,
                              .rule = -1};
    struct metric_new metric = {
        .name = "loss", .step = 1, .value = value, .time_ms = start_ms};
    int64_t job, attempt;

    if (fill_job(store, run, number, &job, err) < 0 ||
        fill_attempt(store, run, job, 1, start_ms, &attempt, err) < 0)
        return -1;
    started.job = ended.job = end.job = metric.job = job;
    end.attempt = metric.attempt = attempt;
    if (store_change_job(store, &started, err) < 0 ||
        store_add_metric(store, &metric, err) < 0 ||
        store_end_attempt(store, &end, err) < 0)
        return -1;
    return store_change_job(store, &ended, err);
}

#endif
