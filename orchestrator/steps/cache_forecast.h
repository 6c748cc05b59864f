/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_CACHE_FORECAST_H
#define SMTUNE_ORCHESTRATOR_STEPS_CACHE_FORECAST_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "store/store.h"

/*
 * Which jobs of a workflow a run that began now would take from the cache,
 * found out without starting or writing anything. Files are hashed, so it can
 * take a while.
 */
struct cache_forecast;

enum forecast_kind {
    FORECAST_RUNS, /* its step has no cache, or it would fail */
    FORECAST_HIT,
    FORECAST_MISS,
    FORECAST_SKIPPED,
    FORECAST_REUSED /* the result of an earlier run, by --from or --only */
};

struct forecast_job {
    int64_t copy, round; /* round 0: its step does not repeat */
    enum forecast_kind kind;
    char *text; /* of a hit "job 3 of run 'one'"; of a miss as
                   cache_ask_why(); else NULL */
};

enum { FORECAST_DEPENDS_MAX = 8 };

struct forecast_step {
    bool is_known;             /* it begins before anything has run */
    bool is_skipped;           /* as a whole */
    struct forecast_job *jobs; /* that are known; a copy's rounds in order */
    size_t job_count, job_capacity, hits;
    /* Not known: some of the steps that run first and decide. */
    size_t depends[FORECAST_DEPENDS_MAX];
    size_t depends_count;
};

struct forecast_order {
    const struct workflow *workflow;
    struct store *store;  /* NULL: it has no runs */
    const char *run_name; /* that the run would have */
    char *const *environment;
};

/* The workflow is borrowed. NULL with an error where the record cannot be
 * read. */
struct cache_forecast *cache_forecast_create(const struct forecast_order *order,
                                             struct err *err);
void cache_forecast_destroy(struct cache_forecast *forecast);

/* Valid as long as the forecast. */
const struct forecast_step *cache_forecast_step(
    const struct cache_forecast *forecast, size_t step);

#endif
