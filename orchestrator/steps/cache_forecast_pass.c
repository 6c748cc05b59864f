/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/cache_forecast_impl.h"

#include <stdlib.h>

#include "base/mem.h"
#include "orchestrator/steps/cache_ask.h"
#include "orchestrator/steps/rounds.h"

/*
 * The flow of the workflow is asked what is next, as an engine asks it, and is
 * answered by what the cache has: a hit ends its job at once, with the outputs
 * of the earlier one, so that steps behind it can be asked about, too. A job
 * that would run never ends here. Whatever still waits when nothing is left to
 * be started depends on jobs that would run, and is not known.
 *
 * Results whose temporary outputs are missing are hits at first. When a pass
 * has shown which steps would run, those that a step needs become misses; the
 * next pass goes through the flow with that, until nothing changes. What was
 * decided is not taken back, so there are few passes.
 *
 * Limits on jobs at a time are left out, since jobs that never end would hold
 * them for ever.
 */

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

static struct forecast_job *note(struct cache_forecast *forecast,
                                 const struct job *job, enum forecast_kind kind,
                                 char *text)
{
    struct forecast_step *step = &forecast->found[job->step];
    struct forecast_job *noted;

    step->jobs = mem_grow(step->jobs, step->job_count, &step->job_capacity,
                          sizeof(*step->jobs));
    noted = &step->jobs[step->job_count++];
    *noted = (struct forecast_job){
        .copy = job->copy, .round = job->round, .kind = kind};
    noted->text = text;
    step->hits += kind == FORECAST_HIT;
    step->runs += kind == FORECAST_RUNS || kind == FORECAST_MISS;
    return noted;
}

/* A job that would run is of no use any more. */
static void note_run(struct cache_forecast *forecast, struct job *job,
                     enum forecast_kind kind, char *text)
{
    note(forecast, job, kind, text);
    job_destroy(job);
}

/* Its next round, if another one follows; NULL: none does. */
static struct job *end_job(struct cache_forecast *forecast, struct job *job)
{
    json_t *rounds = steps_end_job(forecast->steps, job);
    struct job *next = NULL;

    if (rounds != NULL)
        next = make_job(forecast, (size_t)job->step, job->copy, job->round + 1,
                        rounds);
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
    note(forecast, job, FORECAST_REUSED, NULL);
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
        note_run(forecast, job, FORECAST_MISS,
                 mem_printf("it cannot be cached: %s", err.text));
        return;
    }
    asked = mem_zero(sizeof(*asked));
    asked->forecast = forecast;
    asked->job = job;
    TAILQ_INSERT_TAIL(&forecast->asked, asked, link);
    cache_find(forecast->cache, &subject, cache_ask_since(rule, job), on_answer,
               asked);
    cache_facts_clear(&facts);
}

/* Its rounds follow each other as long as each one's result is known. */
static void begin_job(struct cache_forecast *forecast, struct job *job)
{
    while (job != NULL && take_over(forecast, job))
        job = end_job(forecast, job);
    if (job == NULL)
        return;
    if (forecast->file->steps[job->step].cache.is_on)
        ask_cache(forecast, job);
    else
        note_run(forecast, job, FORECAST_RUNS, NULL);
}

static void take_hit(struct cache_forecast *forecast, struct job *job,
                     const struct cache_answer *answer)
{
    struct forecast_job *noted =
        note(forecast, job, FORECAST_HIT, mem_copy_string(answer->source));

    noted->lacks_temps = answer->lacks_temps;
    job->outputs = json_deep_copy(answer->outputs);
    job->state = JOB_SUCCEEDED;
    begin_job(forecast, end_job(forecast, job));
}

/* A result whose temporary outputs are missing. */
static void take_lacking(struct cache_forecast *forecast, struct job *job,
                         const struct cache_answer *answer)
{
    struct forecast_step *step = &forecast->found[job->step];
    const char *needed_by = step->fate == FATE_MISS && //
                                    step->needed_by != SIZE_MAX
                                ? forecast->file->steps[step->needed_by].name
                                : NULL;

    step->lacks_temps = true;
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
        note_run(forecast, job, FORECAST_MISS,
                 cache_ask_why_missing(answer->source, needed_by));
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
    free(asked);
    if (answer->job == 0)
        note_run(
            forecast, job, FORECAST_MISS,
            cache_ask_why(forecast->run->store, forecast->file, job, answer));
    else if (answer->lacks_temps)
        take_lacking(forecast, job, answer);
    else
        take_hit(forecast, job, answer);
    forecast_go(forecast);
    if (forecast->is_known && forecast->known != NULL)
        forecast->known(forecast->user);
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
    if (asked == 0 && its->kind != STEP_FAIL)
        begin_job(forecast, job);
    else
        note_run(forecast, job, FORECAST_RUNS, NULL);
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

/* ---- passes ---- */

/* A copy whose job is not over: one that has had an attempt runs. */
static int resume_copy(struct cache_forecast *forecast, size_t step,
                       size_t copy, const struct copy_record *record,
                       struct err *err)
{
    json_t *rounds;
    struct job *job;

    if (!record->is_there || job_is_final(record->state))
        return 0;
    if (step_text_parse(forecast->file, step, record->rounds, &rounds, err) !=
        0)
        return -1;
    job = make_job(forecast, step, (int64_t)copy, record->round, rounds);
    job->is_reopened = record->is_reopened;
    json_decref(rounds);
    if (record->has_begun)
        note_run(forecast, job, FORECAST_RUNS, NULL);
    else
        begin_job(forecast, job);
    return 0;
}

static int resume_step(struct cache_forecast *forecast, size_t step,
                       struct err *err)
{
    const struct step_record *record = &forecast->records[step];
    struct forecast_step *found = &forecast->found[step];
    int result = 0;

    found->is_known = record->state != FLOW_WAITING;
    found->is_skipped = record->state == FLOW_SKIPPED;
    if (record->state != FLOW_ACTIVE)
        return 0;
    for (size_t i = 0; i < record->count && result == 0; i++)
        result = resume_copy(forecast, step, i, &record->copies[i], err);
    return result;
}

void forecast_clear_step(struct forecast_step *step)
{
    for (size_t i = 0; i < step->job_count; i++)
        free(step->jobs[i].text);
    free(step->jobs);
}

/* What was decided stays. */
static void forget_pass(struct cache_forecast *forecast)
{
    for (size_t i = 0; i < forecast->file->step_count; i++) {
        struct forecast_step *step = &forecast->found[i];

        forecast_clear_step(step);
        *step = (struct forecast_step){.fate = step->fate,
                                       .needed_by = step->needed_by};
        if (step->fate == FATE_HIT)
            step->fate = FATE_NONE;
    }
    steps_destroy(forecast->steps);
    forecast->steps = NULL;
}

int forecast_begin_pass(struct cache_forecast *forecast, struct err *err)
{
    int result = 0;

    forget_pass(forecast);
    forecast->steps =
        steps_create(&forecast->workflow, forecast->run_name, err);
    if (forecast->steps == NULL)
        return -1;
    forecast->steps->run = forecast->run;
    if (forecast->records == NULL)
        return 0;
    result = steps_tell(forecast->steps, forecast->records, err);
    for (size_t i = 0; i < forecast->file->step_count && result == 0; i++)
        result = resume_step(forecast, i, err);
    return result;
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
}

/* The first pass has had the same record. */
static bool begin_next_pass(struct cache_forecast *forecast)
{
    struct err err;

    if (forecast_begin_pass(forecast, &err) == 0)
        return true;
    forecast_forget_asked(forecast);
    for (size_t i = 0; i < forecast->file->step_count; i++) {
        forecast->found[i].fate = FATE_MISS;
        forecast->found[i].needed_by = SIZE_MAX;
    }
    return false;
}

static int compare_jobs(const void *a, const void *b)
{
    const struct forecast_job *left = a, *right = b;

    if (left->copy != right->copy)
        return left->copy > right->copy ? 1 : -1;
    return (left->round > right->round) - (left->round < right->round);
}

static void sort_jobs(struct cache_forecast *forecast)
{
    for (size_t i = 0; i < forecast->file->step_count; i++) {
        struct forecast_step *step = &forecast->found[i];

        if (step->job_count > 1)
            qsort(step->jobs, step->job_count, sizeof(*step->jobs),
                  compare_jobs);
    }
}

void forecast_go(struct cache_forecast *forecast)
{
    bool has_more = true;

    while (has_more) {
        while (go_on(forecast)) {
        }
        if (!TAILQ_EMPTY(&forecast->asked))
            return;
        has_more = forecast_judge(forecast) && begin_next_pass(forecast);
    }
    sort_jobs(forecast);
    forecast->is_known = true;
}
