/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_CACHE_FORECAST_H
#define SMTUNE_ORCHESTRATOR_STEPS_CACHE_FORECAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "orchestrator/steps/cache.h"
#include "orchestrator/steps/earlier_results.h"
#include "orchestrator/steps/step_records.h"
#include "store/store.h"

/*
 * Which jobs of a workflow would be cache hits, found out without starting or
 * writing anything: for a run that began now, or for one from where it is.
 * Files are hashed, so it can take a while.
 *
 * It also decides about results whose temporary outputs are missing. Such a
 * result is a hit as long as each step that may use these files is one, too, or
 * is skipped.
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
    bool lacks_temps; /* a hit whose temporary outputs are missing */
    char *text;       /* of a hit "job 3 of run 'one'"; of a miss as
                         cache_ask_why(); else NULL */
};

/* What becomes of a step's results whose temporary outputs are missing. */
enum forecast_fate {
    FATE_NONE,  /* there are no such results */
    FATE_HIT,   /* no step needs them */
    FATE_WAITS, /* it depends on jobs that run first, without them */
    FATE_MISS   /* a step may need them */
};

enum { FORECAST_DEPENDS_MAX = 8 };

struct forecast_step {
    bool is_known;             /* it begins before anything has run */
    bool is_skipped;           /* as a whole */
    struct forecast_job *jobs; /* that are known, a copy's rounds in order; of
                                  a run that has begun none */
    size_t job_count, job_capacity;
    size_t hits, runs; /* how many of them are hits, or would run */
    /* Not known: some of the steps that run first and decide. */
    size_t depends[FORECAST_DEPENDS_MAX];
    size_t depends_count;
    bool lacks_temps; /* it has results whose temporary outputs are missing: */
    enum forecast_fate fate;
    size_t needed_by; /* FATE_MISS: the step; SIZE_MAX: not known */
    bool matters;     /* a step with FATE_WAITS depends on its end, */
    bool decides;     /* and it has jobs that would run */
};

struct forecast_order {
    const struct workflow *workflow;
    struct store *store;  /* NULL: it has no runs */
    const char *run_name; /* that the run would have */
    char *const *environment;
};

/* Of a run that begins now, and known on return. The workflow is borrowed. NULL
 * with an error where the record cannot be read. */
struct cache_forecast *cache_forecast_create(const struct forecast_order *order,
                                             struct err *err);

/* Where a run is. All of it but the records is borrowed. */
struct forecast_now {
    const struct run *run;
    const struct earlier_results *earlier; /* NULL: nothing is taken over */
    char *const *environment;
    struct cache *cache;         /* of the loop that goes on */
    bool nothing_runs;           /* files that exist count as made */
    struct step_record *records; /* [step_count], taken over in every case */
    void (*known)(void *user);   /* from the loop: it may be destroyed then */
    void *user;
};

/* NULL with an error where the record and the file do not fit. `known` does not
 * come where the forecast is known on return. */
struct cache_forecast *cache_forecast_begin(const struct forecast_now *now,
                                            struct err *err);
bool cache_forecast_is_known(const struct cache_forecast *forecast);

/* At any time; NULL is fine. */
void cache_forecast_destroy(struct cache_forecast *forecast);

/* Valid as long as the forecast. */
const struct forecast_step *cache_forecast_step(
    const struct cache_forecast *forecast, size_t step);

#endif
