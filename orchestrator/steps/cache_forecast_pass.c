/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/cache_forecast_impl.h"

#include <stdlib.h>

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
 * decided is not taken back, so there are few passes. After PASSES_MAX all such
 * results that are not decided are misses.
 *
 * Limits on jobs at a time are left out, since jobs that never end would hold
 * them for ever. The cache is asked a few questions at a time, since others ask
 * it, too.
 */

enum { ASKED_MAX = 32, PASSES_MAX = 20 };

/* ---- the flow ---- */

static void start_job(struct cache_forecast *forecast, size_t step,
                      int64_t copy)
{
    struct steps *steps = forecast->steps;
    const struct step *its = &forecast->file->steps[step];
    bool repeats = its->repeat.max > 0, is_wanted = true;
    json_t *rounds = repeats ? rounds_first(&its->repeat) : NULL;
    struct job *job = forecast_make_job(forecast, step, copy, repeats, rounds);
    struct err err;
    int asked = steps_condition(steps, step, copy, &is_wanted, &err);

    json_decref(rounds);
    if (!is_wanted) {
        forecast_note(forecast, job,
                      &(struct forecast_job){.kind = FORECAST_SKIPPED});
        flow_refuse(steps->flow, step, copy);
        job_destroy(job);
        return;
    }
    flow_started(steps->flow, step, copy);
    if (asked == 0 && its->kind != STEP_FAIL)
        forecast_begin_job(forecast, job);
    else
        forecast_note_run(forecast, job, FORECAST_RUNS, NULL);
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

/* ---- the record ---- */

/* A copy whose job is not over: one that has had an attempt runs, and so does
 * one whose row cannot be read. */
static void resume_copy(struct cache_forecast *forecast, size_t step,
                        size_t copy, const struct copy_record *record)
{
    json_t *rounds;
    bool is_read = step_text_parse(forecast->file, step, record->rounds,
                                   &rounds, NULL) == 0;
    struct job *job =
        forecast_make_job(forecast, step, (int64_t)copy, record->round, rounds);

    job->runs_again = record->runs_again;
    json_decref(rounds);
    if (record->has_begun || !is_read)
        forecast_note_run(forecast, job, FORECAST_RUNS, NULL);
    else
        forecast_begin_job(forecast, job);
}

/* Whether there was another job in the record that is not over. */
static bool resume_next(struct cache_forecast *forecast)
{
    size_t count = forecast->records != NULL ? forecast->file->step_count : 0;

    for (; forecast->resume_step < count; forecast->resume_step++) {
        size_t step = forecast->resume_step;
        const struct step_record *record = &forecast->records[step];

        while (record->state == FLOW_ACTIVE &&
               forecast->resume_copy < record->count) {
            size_t copy = forecast->resume_copy++;

            if (!record->copies[copy].is_there ||
                job_is_final(record->copies[copy].state))
                continue;
            resume_copy(forecast, step, copy, &record->copies[copy]);
            return true;
        }
        forecast->resume_copy = 0;
    }
    return false;
}

static int resume(struct cache_forecast *forecast, struct err *err)
{
    forecast->resume_step = forecast->resume_copy = 0;
    if (forecast->records == NULL)
        return 0;
    for (size_t i = 0; i < forecast->file->step_count; i++) {
        enum flow_state state = forecast->records[i].state;

        forecast->found[i].is_known = state != FLOW_WAITING;
        forecast->found[i].is_skipped = state == FLOW_SKIPPED;
    }
    return steps_tell(forecast->steps, forecast->records, err);
}

/* ---- passes ---- */

/* Whether there is more that can be known. */
static bool go_on(struct cache_forecast *forecast)
{
    struct flow_next next;

    if (resume_next(forecast))
        return true;
    next = flow_next(forecast->steps->flow);
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
    forget_pass(forecast);
    forecast->steps =
        steps_create(&forecast->workflow, forecast->run_name, err);
    if (forecast->steps == NULL)
        return -1;
    forecast->steps->run = forecast->run;
    return resume(forecast, err);
}

/* The first pass has had the same record. */
static bool begin_next_pass(struct cache_forecast *forecast)
{
    struct err err;

    forecast->is_strict = ++forecast->passes >= PASSES_MAX;
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
        while (forecast->asked_count < ASKED_MAX && go_on(forecast)) {
        }
        if (forecast->asked_count > 0)
            return;
        has_more = forecast_judge(forecast) && begin_next_pass(forecast);
    }
    sort_jobs(forecast);
    forecast->is_known = true;
}
