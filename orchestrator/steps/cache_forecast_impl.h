/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_CACHE_FORECAST_IMPL_H
#define SMTUNE_ORCHESTRATOR_STEPS_CACHE_FORECAST_IMPL_H

#include <sys/queue.h>
#include <uv.h>

#include "orchestrator/job/job.h"
#include "orchestrator/steps/cache_forecast.h"
#include "orchestrator/steps/steps.h"

/* What a forecast is, for its files: cache_forecast.c makes one,
 * cache_forecast_pass.c goes through the flow, cache_forecast_jobs.c has its
 * jobs, and cache_forecast_need.c decides about missing files and finds what
 * the rest depends on. */

/* A job that the cache was asked about. */
struct forecast_asked {
    TAILQ_ENTRY(forecast_asked) link;
    struct cache_forecast *forecast;
    struct job *job;
};

TAILQ_HEAD(forecast_asked_list, forecast_asked);

/* What a forecast has of its own that is of no engine. */
struct forecast_alone {
    uv_loop_t loop;
    struct run run; /* that there will never be: place and store */
    struct earlier_results *earlier;
};

struct cache_forecast {
    struct workflow workflow; /* the file's, without limits */
    const struct workflow *file;
    struct flow_step *flow_steps;
    const struct run *run;
    const char *run_name;
    const struct earlier_results *earlier;
    char *const *environment;
    struct cache *cache;
    struct step_record *records; /* [step_count]; NULL: the run begins */
    bool nothing_runs, is_known;
    int passes;
    bool is_strict; /* the last pass: nothing more is decided */
    size_t resume_step, resume_copy; /* of the records, the next */
    void (*known)(void *user);
    void *user;
    void (*go)(struct cache_forecast *forecast); /* forecast_go() */
    struct steps *steps;                         /* of this pass */
    struct forecast_asked_list asked;
    size_t asked_count;
    struct forecast_step *found; /* [step_count] */
    struct forecast_alone *alone;
};

/* Goes through the flow from its start. -1 with err where the record does not
 * fit the file; what was asked for is asked for all the same. */
int forecast_begin_pass(struct cache_forecast *forecast, struct err *err);
/* As far as what was answered leads: to where it is known, at last. */
void forecast_go(struct cache_forecast *forecast);

struct job *forecast_make_job(const struct cache_forecast *forecast,
                              size_t step, int64_t copy, int64_t round,
                              json_t *rounds);
/* What becomes of a job; its text is taken over, copy and round are the job's.
 */
void forecast_note(struct cache_forecast *forecast, const struct job *job,
                   const struct forecast_job *as);
/* A job that would run: it is of no use any more. The text is taken over. */
void forecast_note_run(struct cache_forecast *forecast, struct job *job,
                       enum forecast_kind kind, char *text);
/* A job starts. Its rounds follow each other as long as each one's result is
 * known. */
void forecast_begin_job(struct cache_forecast *forecast, struct job *job);
/* The cache answers nothing any more. */
void forecast_forget_asked(struct cache_forecast *forecast);
void forecast_clear_step(struct forecast_step *step);

/* Once nothing more can be known of this pass: fills in what steps depend on,
 * and decides about missing files. True where they need another pass. */
bool forecast_judge(struct cache_forecast *forecast);

#endif
