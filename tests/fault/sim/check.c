/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/check.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/compiler.h"

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-12 * fabs(a);
}

static bool is_final(const char *state)
{
    static const char *const words[] = {"succeeded", "failed", "stopped",
                                        "skipped", "cancelled"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcmp(words[i], state) == 0)
            return true;
    }
    return false;
}

/* -- Attempts -------------------------------------------------------------*/

/* Whether an attempt of the trial before this one wrote something. */
static bool may_have_said(const struct history *history,
                          const struct site_attempt *until)
{
    const struct site_attempt *a = site_attempts(history->world->site);

    while (a != until && !(a->trial == until->trial && a->has_spoken))
        a = a->next;
    return a != until;
}

/* What one attempt says stands for the trial; so a later one that ends well
 * without a word has succeeded, too. */
static bool is_cause(const struct history *history,
                     const struct site_attempt *truth, const char *word)
{
    if (truth->end.cause == CAUSE_OK && isnan(truth->values[0]))
        return strcmp(word, "no_metric") == 0 ||
               (strcmp(word, "ok") == 0 && may_have_said(history, truth));
    return strcmp(word, attempt_cause_names[truth->end.cause]) == 0;
}

static void check_unbegun(const struct record_attempt *row)
{
    if (strcmp(row->cause, "cancelled") != 0 &&
        strcmp(row->cause, "launch_error") != 0)
        world_fail("attempt %" PRId64 " never began and is said to be '%s'",
                   row->id, row->cause);
}

/* What the record says of it is what happened. */
static void check_attempt(const struct history *history,
                          const struct record_attempt *row)
{
    const struct site_attempt *truth = site_find(history->world->site, row->id);

    if (strcmp(row->state, "ended") != 0)
        world_fail("attempt %" PRId64 " is still '%s' in the record", row->id,
                   row->state);
    if (truth == NULL || !truth->began || !truth->has_claim) {
        check_unbegun(row);
        return;
    }
    if (truth->trial != row->trial)
        world_fail("attempt %" PRId64 " is one of trial %" PRId64
                   ", not %" PRId64,
                   row->id, truth->trial, row->trial);
    if (!is_cause(history, truth, row->cause) ||
        row->exit_code != truth->end.exit_code ||
        row->signal != truth->end.signal)
        world_fail("attempt %" PRId64 " ended by '%s', and the record says "
                   "'%s' (status %" PRId64 ", signal %" PRId64 ")",
                   row->id, attempt_cause_names[truth->end.cause], row->cause,
                   row->exit_code, row->signal);
    if (row->started_ms != truth->end.started_ms ||
        row->ended_ms != truth->end.ended_ms)
        world_fail("attempt %" PRId64 " has wrong times in the record",
                   row->id);
}

static void check_attempts(const struct history *history,
                           const struct record *record)
{
    const struct site_attempt *truth = site_attempts(history->world->site);

    for (size_t i = 0; i < record->attempt_count; i++)
        check_attempt(history, &record->attempts[i]);
    for (; truth != NULL; truth = truth->next) {
        if (record_attempt(record, truth->id) == NULL)
            world_fail("attempt %" PRId64 " is not in the record", truth->id);
    }
}

/* -- Trials ---------------------------------------------------------------*/

static const struct record_attempt *last_attempt(const struct record *record,
                                                 int64_t trial)
{
    const struct record_attempt *last = NULL;

    for (size_t i = 0; i < record->attempt_count; i++) {
        if (record->attempts[i].trial == trial)
            last = &record->attempts[i];
    }
    return last;
}

static void check_values(const struct history *history,
                         const struct record_job *job, const double *values)
{
    for (int i = 0; i < history->scenario.habits.metric_count; i++) {
        if (!isnan(values[i]) && !same(job->values[i], values[i]))
            world_fail("trial %" PRId64 " said %.17g, and the record has %.17g",
                       job->number, values[i], job->values[i]);
    }
}

/* Its schedule ended it when it had used all of its resource. */
static bool has_reported_all(const struct history *history,
                             const struct record_attempt *last)
{
    const struct scenario *scenario = &history->scenario;

    return scenario->schedule != NULL && strcmp(last->cause, "cancelled") == 0;
}

static void check_success(const struct history *history,
                          const struct record *record,
                          const struct record_job *job)
{
    const struct record_attempt *last = last_attempt(record, job->number);
    const struct record_job *other = record_job(record, job->same_as);

    if (job->same_as > 0 && last == NULL) {
        if (other == NULL)
            world_fail("trial %" PRId64 " took over what is not there",
                       job->number);
        if (!reopenings_are_of(history, other->number))
            check_values(history, job, other->values);
        return;
    }
    if (last == NULL ||
        (strcmp(last->cause, "ok") != 0 && !has_reported_all(history, last)))
        world_fail("trial %" PRId64 " succeeded by no attempt", job->number);
    check_values(history, job,
                 site_find(history->world->site, last->id)->values);
}

static void check_failure(const struct record *record,
                          const struct record_job *job)
{
    const struct record_attempt *last = last_attempt(record, job->number);

    if (last == NULL || strcmp(last->cause, job->cause) != 0 ||
        strcmp(last->cause, "ok") == 0 || strcmp(last->cause, "cancelled") == 0)
        world_fail("trial %" PRId64 " failed by '%s', its last attempt by '%s'",
                   job->number, job->cause, last != NULL ? last->cause : "");
}

static void check_trials(const struct history *history,
                         const struct record *record)
{
    int64_t highest = 0, others = (int64_t)history->reopenings.count;

    for (size_t i = 0; i < record->job_count; i++) {
        const struct record_job *job = &record->jobs[i];

        if (job->number != (int64_t)i + 1)
            world_fail("there is no trial %zu", i + 1);
        if (!is_final(job->state))
            world_fail("trial %" PRId64 " is '%s' and the run is over",
                       job->number, job->state);
        if (strcmp(job->state, "succeeded") == 0)
            check_success(history, record, job);
        if (strcmp(job->state, "failed") == 0)
            check_failure(record, job);
        for (size_t j = 0; j < i; j++) {
            if (record->jobs[j].told == job->told)
                world_fail("trials %zu and %zu were told at once", j + 1,
                           i + 1);
        }
        highest = job->told > highest ? job->told : highest;
    }
    for (size_t i = 0; i < record->observation_count; i++)
        others += 1 + (record->observations[i].promoted > 0);
    if (highest != (int64_t)record->job_count + others)
        world_fail("%zu trials ended and %" PRId64 " other things were told, "
                   "in %" PRId64 " places",
                   record->job_count, others, highest);
}

/* -- What people were told ------------------------------------------------*/

/* What was acknowledged stands; and it was once. */
static void check_ends(const struct history *history,
                       const struct record *record)
{
    for (size_t i = 0; i < history->end_count; i++) {
        const struct history_end *end = &history->ends[i];
        const struct record_job *job = record_job(record, end->trial);

        if (job == NULL)
            world_fail("trial %" PRId64 " was told of and is not in the record",
                       end->trial);
        if (!is_final(end->state) ||
            reopenings_are_after(history, end->trial, i))
            continue;
        for (size_t j = i + 1; j < history->end_count; j++) {
            if (history->ends[j].trial == end->trial)
                world_fail("trial %" PRId64 " ended twice", end->trial);
        }
        if (strcmp(job->state, end->state) != 0)
            world_fail("trial %" PRId64 " was told to be '%s' and is '%s'",
                       end->trial, end->state, job->state);
        if (strcmp(job->state, "succeeded") == 0)
            check_values(history, job, end->values);
    }
}

/* -- The run --------------------------------------------------------------*/

static bool has_reached_target(const struct scenario *scenario,
                               const struct record *record)
{
    for (size_t i = 0; i < record->job_count; i++) {
        const struct record_job *job = &record->jobs[i];

        if (strcmp(job->state, "succeeded") == 0 &&
            job->values[0] <= scenario->target)
            return true;
    }
    return false;
}

static bool lacks_value(const struct record *record)
{
    for (size_t i = 0; i < record->job_count; i++) {
        if (strcmp(record->jobs[i].state, "failed") == 0 &&
            strcmp(record->jobs[i].cause, "no_metric") == 0)
            return true;
    }
    return false;
}

static int64_t resource_used(const struct record *record)
{
    int64_t used = 0;

    for (size_t i = 0; i < record->attempt_count; i++)
        used += record->attempts[i].resource_used;
    return used;
}

static bool may_end_early(const struct scenario *scenario)
{
    return scenario->is_finite ||
           (scenario->schedule != NULL && scenario->schedule->may_end_early);
}

static void check_verdict(const struct history *history,
                          const struct record *record)
{
    const struct scenario *scenario = &history->scenario;
    int64_t count = (int64_t)record->job_count;
    struct budget_change given = budget_changes_given(history, record);
    int64_t trials = given.trials;
    bool is_as_it_says = false;

    if (history->result.state == RUN_FAILED &&
        budget_vain_reason(history->result.reason) == NULL)
        return; /* nothing could be started, or the first trials all failed */
    switch (history->result.verdict) {
    case BUDGET_TRIALS:
        is_as_it_says =
            (count == trials || (may_end_early(scenario) && count < trials)) &&
            !(scenario->has_target && has_reached_target(scenario, record));
        break;
    case BUDGET_TIME:
        is_as_it_says = given.time_ms > 0 &&
                        history_time_at_most_ms(history) >= given.time_ms;
        break;
    case BUDGET_TARGET:
        /* who reached it may have been put back since */
        is_as_it_says =
            scenario->has_target && (has_reached_target(scenario, record) ||
                                     history->reopenings.count > 0);
        break;
    case BUDGET_NO_IMPROVEMENT:
        is_as_it_says = scenario->gives_up;
        break;
    case BUDGET_NO_VALUE:
        /* who it was may have been put back since */
        is_as_it_says = lacks_value(record) || history->reopenings.count > 0;
        break;
    case BUDGET_RESOURCE:
        is_as_it_says =
            scenario->resource > 0 &&
            resource_used(record) + SCENARIO_MAX_EPOCHS > scenario->resource;
        break;
    case BUDGET_GO_ON:
        is_as_it_says = scenario->step_count > 0;
        break;
    case BUDGET_CONVERGENCE:
    case BUDGET_FAILURES:
    case BUDGET_FIRST_FAILED:
    case BUDGET_VERDICT_COUNT:
        break;
    }
    if (!is_as_it_says || (scenario->step_count == 0 && count > trials))
        world_fail("the run is over after %" PRId64 " of %" PRId64
                   " trials and %" PRId64 " ms: '%s'",
                   count, trials, history->known_ms, history->result.reason);
}

void check_history(const struct history *history)
{
    struct record record;

    record_read(&record, history->scenario.is_thorough);
    if (strcmp(record.run_state, run_state_names[history->result.state]) != 0)
        world_fail("the run is '%s' in the record, and was '%s'",
                   record.run_state, run_state_names[history->result.state]);
    check_attempts(history, &record);
    check_trials(history, &record);
    check_ends(history, &record);
    enqueueing_check(history, &record);
    reopenings_check(history, &record);
    budget_changes_check(history, &record);
    check_verdict(history, &record);
    check_retries(history, &record);
    check_schedule(history, &record);
    check_links(history, &record);
    check_checkpoints(history, &record);
    if (history->scenario.step_count > 0) {
        check_flow(history, &record);
        check_temps(history, &record);
    }
    record_clear(&record);
    check_store(history);
}
