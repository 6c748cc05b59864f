/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The jobs of a forecast: each is noted, once it is known what becomes of it.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "orchestrator/steps/cache_ask.h"
#include "orchestrator/steps/cache_forecast_impl.h"

struct job *forecast_make_job(const struct cache_forecast *forecast,
                              size_t step, int64_t copy, int64_t round,
                              json_t *rounds)
{
    struct job *job = job_create(forecast->file->common,
                                 &forecast->file->steps[step].task, 1);

    job->step = (int64_t)step;
    job->copy = copy;
    job->round = round;
    job->rounds = json_incref(rounds);
    return job;
}

/* Whether somebody reads what becomes of each job, and why. */
static bool explains(const struct cache_forecast *forecast)
{
    return forecast->alone != NULL;
}

void forecast_note(struct cache_forecast *forecast, const struct job *job,
                   const struct forecast_job *as)
{
    struct forecast_step *step = &forecast->found[job->step];

    step->hits += as->kind == FORECAST_HIT;
    step->runs += as->kind == FORECAST_RUNS || as->kind == FORECAST_MISS;
    if (!explains(forecast)) {
        free(as->text);
        return;
    }
    step->jobs = mem_grow(step->jobs, step->job_count, &step->job_capacity,
                          sizeof(*step->jobs));
    step->jobs[step->job_count] = *as;
    step->jobs[step->job_count].copy = job->copy;
    step->jobs[step->job_count++].round = job->round;
}

void forecast_note_run(struct cache_forecast *forecast, struct job *job,
                       enum forecast_kind kind, char *text)
{
    forecast_note(forecast, job,
                  &(struct forecast_job){.kind = kind, .text = text});
    job_destroy(job);
}

/* Its next round, if another one follows; NULL: none does. */
static struct job *end_job(struct cache_forecast *forecast, struct job *job)
{
    json_t *rounds = steps_end_job(forecast->steps, job);
    struct job *next = NULL;

    if (rounds != NULL)
        next = forecast_make_job(forecast, (size_t)job->step, job->copy,
                                 job->round + 1, rounds);
    json_decref(rounds);
    job_destroy(job);
    return next;
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
    forecast_note(forecast, job,
                  &(struct forecast_job){.kind = FORECAST_REUSED});
    return true;
}

static cache_answer_fn on_answer;

/* The same question as an engine's. */
static void ask_cache(struct cache_forecast *forecast, struct job *job)
{
    const struct cache_rule *rule = &forecast->file->steps[job->step].cache;
    struct forecast_asked *asked;
    struct cache_subject subject;
    struct cache_facts facts;
    struct err err = {0};

    if (cache_ask_about(forecast->steps, job, forecast->environment, &facts,
                        &subject, &err) != 0) {
        forecast_note_run(forecast, job, FORECAST_MISS,
                          mem_printf("it cannot be cached: %s", err.text));
        return;
    }
    asked = mem_zero(sizeof(*asked));
    asked->forecast = forecast;
    asked->job = job;
    TAILQ_INSERT_TAIL(&forecast->asked, asked, link);
    forecast->asked_count++;
    cache_find(forecast->cache, &subject, cache_ask_since(rule, job), on_answer,
               asked);
    cache_facts_clear(&facts);
}

void forecast_begin_job(struct cache_forecast *forecast, struct job *job)
{
    while (job != NULL && take_over(forecast, job))
        job = end_job(forecast, job);
    if (job == NULL)
        return;
    if (forecast->file->steps[job->step].cache.is_on)
        ask_cache(forecast, job);
    else
        forecast_note_run(forecast, job, FORECAST_RUNS, NULL);
}

static void take_hit(struct cache_forecast *forecast, struct job *job,
                     const struct cache_answer *answer)
{
    forecast_note(forecast, job,
                  &(struct forecast_job){
                      .kind = FORECAST_HIT,
                      .lacks_temps = answer->lacks_temps,
                      .text = mem_copy_string(answer->source),
                  });
    job->outputs = json_deep_copy(answer->outputs);
    job->state = JOB_SUCCEEDED;
    forecast_begin_job(forecast, end_job(forecast, job));
}

static char *explain_missing(const struct cache_forecast *forecast,
                             const struct forecast_step *step,
                             const struct cache_answer *answer)
{
    const char *needed_by = step->needed_by != SIZE_MAX
                                ? forecast->file->steps[step->needed_by].name
                                : NULL;

    return explains(forecast) ? cache_ask_why_missing(answer->source, needed_by)
                              : NULL;
}

/* A result whose temporary outputs are missing. */
static void take_lacking(struct cache_forecast *forecast, struct job *job,
                         const struct cache_answer *answer)
{
    struct forecast_step *step = &forecast->found[job->step];

    step->lacks_temps = true;
    if (forecast->is_strict && step->fate == FATE_NONE) {
        step->fate = FATE_MISS;
        step->needed_by = SIZE_MAX;
    }
    switch (step->fate) {
    case FATE_NONE:
    case FATE_HIT:
        step->fate = FATE_HIT;
        take_hit(forecast, job, answer);
        break;
    case FATE_WAITS:
        job_destroy(job);
        break;
    case FATE_MISS:
        forecast_note_run(forecast, job, FORECAST_MISS,
                          explain_missing(forecast, step, answer));
        break;
    }
}

static void on_answer(void *owner, void *user,
                      const struct cache_answer *answer)
{
    struct forecast_asked *asked = user;
    struct cache_forecast *forecast = asked->forecast;
    struct job *job = asked->job;

    (void)owner;
    TAILQ_REMOVE(&forecast->asked, asked, link);
    forecast->asked_count--;
    free(asked);
    if (answer->job == 0)
        forecast_note_run(forecast, job, FORECAST_MISS,
                          explains(forecast)
                              ? cache_ask_why(forecast->run->store,
                                              forecast->file, job, answer)
                              : NULL);
    else if (answer->lacks_temps)
        take_lacking(forecast, job, answer);
    else
        take_hit(forecast, job, answer);
    forecast->go(forecast);
    if (forecast->is_known && forecast->known != NULL)
        forecast->known(forecast->user);
}

void forecast_forget_asked(struct cache_forecast *forecast)
{
    struct forecast_asked *asked;

    while ((asked = TAILQ_FIRST(&forecast->asked)) != NULL) {
        TAILQ_REMOVE(&forecast->asked, asked, link);
        cache_forget(forecast->cache, asked);
        job_destroy(asked->job);
        free(asked);
    }
    forecast->asked_count = 0;
}
