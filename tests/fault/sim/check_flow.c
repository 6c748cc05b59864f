/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "tests/fault/sim/check.h"

struct flow_check {
    const struct history *history;
    const struct record *record;
    bool is_whole; /* no limit ended it before its steps were over */
};

static bool is_state(const struct record_step *step, const char *state)
{
    return strcmp(step->state, state) == 0;
}

/* Of what was put back, and of all that needs it, there are jobs of an earlier
 * time. */
static bool is_current(const struct record *record,
                       const struct record_job *job)
{
    int64_t first = record->steps[job->step].first_job;

    return first > 0 && job->number >= first;
}

/* -- Order ----------------------------------------------------------------*/

static const struct record_job *job_of(const struct flow_check *check,
                                       const struct site_attempt *attempt)
{
    return record_job(check->record, attempt->trial);
}

/* An attempt began only after all of what its step needs had ended; what was
 * put back may begin again after it. */
static void check_order(const struct flow_check *check,
                        const struct site_attempt *later,
                        const struct scenario_step *step)
{
    const struct site_attempt *a = site_attempts(check->history->world->site);

    for (; a != NULL; a = a->next) {
        const struct record_job *job = job_of(check, a);

        if (!a->began || job == NULL || (step->needs >> job->step & 1) == 0)
            continue;
        if (a->end_ms > later->begun_ms &&
            (a->begun_ms <= later->begun_ms ||
             check->history->reopenings.count == 0))
            world_fail("attempt %" PRId64 " of job %" PRId64
                       " began before attempt %" PRId64 " of job %" PRId64
                       ", which it needs, had ended",
                       later->id, later->trial, a->id, a->trial);
    }
}

/* No more copies of a step ran at once than may. */
static void check_parallel(const struct flow_check *check,
                           const struct site_attempt *attempt,
                           const struct record_job *its,
                           const struct scenario_step *step)
{
    const struct site_attempt *a = site_attempts(check->history->world->site);
    int64_t running = 0;

    for (; a != NULL; a = a->next) {
        const struct record_job *job = job_of(check, a);

        running += a->began && job != NULL && job->step == its->step &&
                   a->begun_ms <= attempt->begun_ms &&
                   a->end_ms > attempt->begun_ms;
    }
    if (step->parallel > 0 && running > step->parallel)
        world_fail("%" PRId64 " copies of step s%" PRId64
                   " ran at once, and %" PRId64 " may",
                   running, its->step, step->parallel);
}

/* Whether it counts against a pool. What was put back waits for room in its
 * pools where the site has a lock for each (pools.h), which this one has not.
 */
static bool is_pooled(const struct flow_check *check,
                      const struct site_attempt *attempt)
{
    return !reopenings_are_of(check->history, attempt->trial);
}

/* No more is taken from a pool at once than it has. */
static void check_pools(const struct flow_check *check,
                        const struct site_attempt *attempt)
{
    const struct scenario *scenario = &check->history->scenario;
    const struct site_attempt *a = site_attempts(check->history->world->site);
    int64_t taken[SCENARIO_POOLS] = {0};

    for (; a != NULL; a = a->next) {
        const struct record_job *job = job_of(check, a);

        if (!a->began || job == NULL || !is_pooled(check, a) ||
            a->begun_ms > attempt->begun_ms || a->end_ms <= attempt->begun_ms)
            continue;
        for (int i = 0; i < SCENARIO_POOLS; i++)
            taken[i] += scenario->steps[job->step].claims[i];
    }
    for (int i = 0; i < SCENARIO_POOLS; i++)
        if (taken[i] > scenario->pools[i])
            world_fail("%" PRId64 " of pool p%d were taken at once, and it has "
                       "%" PRId64,
                       taken[i], i, scenario->pools[i]);
}

static void check_attempts(const struct flow_check *check)
{
    const struct site_attempt *a = site_attempts(check->history->world->site);

    for (; a != NULL; a = a->next) {
        const struct record_job *job = job_of(check, a);
        const struct scenario_step *step;

        if (!a->began || job == NULL)
            continue;
        step = &check->history->scenario.steps[job->step];
        check_order(check, a, step);
        check_parallel(check, a, job, step);
        check_pools(check, a);
    }
}

/* -- Copies ---------------------------------------------------------------*/

struct copies {
    int64_t jobs, succeeded, failed, skipped;
};

static bool is_job_state(const struct record_job *job, const char *state)
{
    return strcmp(job->state, state) == 0;
}

/* A copy that repeats has succeeded when its last round has. */
static bool has_succeeded(const struct scenario_step *step,
                          const struct record_job *job)
{
    return is_job_state(job, "succeeded") &&
           (!step->repeats || job->round == SCENARIO_ROUNDS);
}

static struct copies count_copies(const struct flow_check *check, int index)
{
    const struct scenario_step *step = &check->history->scenario.steps[index];
    struct copies copies = {0};

    for (size_t i = 0; i < check->record->job_count; i++) {
        const struct record_job *job = &check->record->jobs[i];

        if (job->step != index || !is_current(check->record, job))
            continue;
        copies.jobs++;
        copies.succeeded += has_succeeded(step, job);
        copies.failed += is_job_state(job, "failed");
        copies.skipped += is_job_state(job, "skipped");
        if (is_job_state(job, "skipped") != (job->copy == step->refused))
            world_fail("copy %" PRId64 " of step s%d is '%s'", job->copy, index,
                       job->state);
        if (job->copy >= step->copies || (job->round > 0) != step->repeats ||
            job->round > SCENARIO_ROUNDS)
            world_fail("step s%d has a copy %" PRId64 " in round %" PRId64,
                       index, job->copy, job->round);
    }
    return copies;
}

/* Each copy in each round is one job. */
static void check_unique(const struct record *record)
{
    for (size_t i = 0; i < record->job_count; i++) {
        const struct record_job *a = &record->jobs[i];

        for (size_t j = i + 1; j < record->job_count; j++) {
            const struct record_job *b = &record->jobs[j];

            if (a->step == b->step && a->copy == b->copy &&
                a->round == b->round && is_current(record, a))
                world_fail("jobs %" PRId64 " and %" PRId64 " are the same",
                           a->number, b->number);
        }
    }
}

/* -- Steps ----------------------------------------------------------------*/

/* Whether it was lost to a failure before it, by what became of those that it
 * needs. */
static bool is_held_back(const struct flow_check *check,
                         const struct scenario_step *step)
{
    const struct scenario *scenario = &check->history->scenario;

    for (int i = 0; i < SCENARIO_MAX_STEPS && !step->is_always; i++) {
        const struct record_step *need = &check->record->steps[i];

        if ((step->needs >> i & 1) == 0 || is_state(need, "succeeded"))
            continue;
        if (!is_state(need, "failed") || !scenario->steps[i].may_fail)
            return true;
    }
    return false;
}

/* Whether it begins, by what became of those before it. */
static bool is_to_begin(const struct flow_check *check,
                        const struct scenario_step *step)
{
    return !is_held_back(check, step) &&
           (step->condition < 0 ||
            count_copies(check, step->condition).succeeded > 0);
}

static void check_outcome(int index, const struct scenario_step *step,
                          const struct record_step *row, struct copies copies)
{
    int64_t refused = step->refused >= 0 && row->copies > 0;
    int64_t wanted =
        step->success_count > 0 ? step->success_count : step->copies - refused;
    int64_t left = step->copies - copies.failed - refused;
    bool succeeds = copies.succeeded >= wanted;

    if (!is_state(row, succeeds ? "succeeded" : "failed"))
        world_fail("step s%d is '%s', and %" PRId64 " of %" PRId64
                   " copies succeeded",
                   index, row->state, copies.succeeded, wanted);
    if (!succeeds && left >= wanted)
        world_fail("step s%d was given up, and could have succeeded", index);
}

static void check_step(const struct flow_check *check, int index)
{
    const struct scenario_step *step = &check->history->scenario.steps[index];
    const struct record_step *row = &check->record->steps[index];
    struct copies copies = count_copies(check, index);

    if (is_state(row, "waiting") || is_state(row, "active")) {
        if (check->is_whole)
            world_fail("step s%d is '%s' and the run is over", index,
                       row->state);
        return;
    }
    /* At the end of its time it skips what is left. */
    if (is_to_begin(check, step) ? is_state(row, "skipped") && check->is_whole
                                 : !is_state(row, "skipped"))
        world_fail("step s%d is '%s', which does not follow", index,
                   row->state);
    if (is_state(row, "skipped") && copies.jobs > 0)
        world_fail("step s%d was skipped, and has %" PRId64 " jobs", index,
                   copies.jobs);
    if (!is_state(row, "skipped") && check->is_whole)
        check_outcome(index, step, row, copies);
}

/* Whether it was skipped because of a failure, near or far; needs have lower
 * indices. */
static bool is_missed(const struct flow_check *check, int index, bool *missed)
{
    const struct scenario *scenario = &check->history->scenario;
    const struct scenario_step *step = &scenario->steps[index];

    if (!is_state(&check->record->steps[index], "skipped") || step->is_always)
        return false;
    for (int i = 0; i < index; i++) {
        bool has_failed = is_state(&check->record->steps[i], "failed") &&
                          !scenario->steps[i].may_fail;

        if ((step->needs >> i & 1) != 0 && (has_failed || missed[i]))
            return true;
    }
    return false;
}

static bool has_failed(const struct flow_check *check)
{
    const struct scenario *scenario = &check->history->scenario;
    bool missed[SCENARIO_MAX_STEPS] = {false}, fails = false;

    for (int i = 0; i < scenario->step_count; i++) {
        missed[i] = is_missed(check, i, missed);
        fails |= (missed[i] || is_state(&check->record->steps[i], "failed")) &&
                 !scenario->steps[i].may_fail;
    }
    return fails;
}

void check_flow(const struct history *history, const struct record *record)
{
    const struct scenario *scenario = &history->scenario;
    struct flow_check check = {
        .history = history,
        .record = record,
        .is_whole = history->result.verdict == BUDGET_GO_ON &&
                    strstr(history->result.reason, "step") != NULL,
    };

    if (record->step_count != (size_t)scenario->step_count)
        world_fail("the record has %zu steps, and the file %d",
                   record->step_count, scenario->step_count);
    check_unique(record);
    check_attempts(&check);
    for (int i = 0; i < scenario->step_count; i++)
        check_step(&check, i);
    if (check.is_whole &&
        (history->result.state == RUN_FAILED) != has_failed(&check))
        world_fail("the run is '%s', which does not follow from its steps",
                   run_state_names[history->result.state]);
}
