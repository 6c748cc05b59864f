/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "tests/fault/sim/check.h"

static const struct scenario_step *step_of(const struct history *history,
                                           const struct record_job *job)
{
    return &history->scenario.steps[job->step];
}

static bool is_current(const struct record *record,
                       const struct record_job *job)
{
    int64_t first = record->steps[job->step].first_job;

    return first > 0 && job->number >= first;
}

/* The attempt that left the job's file last; NULL: none did. */
static const struct site_attempt *find_maker(const struct history *history,
                                             int64_t job)
{
    const struct site_attempt *a = site_attempts(history->world->site);
    const struct site_attempt *last = NULL;

    for (; a != NULL; a = a->next)
        if (a->trial == job && a->made_ms > 0)
            last = a;
    return last;
}

/* No step that needs the job's ran then, or has run since. */
static void check_users(const struct history *history,
                        const struct record *record,
                        const struct record_job *job, int64_t removed_ms)
{
    const struct site_attempt *a = site_attempts(history->world->site);

    for (; a != NULL; a = a->next) {
        const struct record_job *user = record_job(record, a->trial);

        if (!a->began || user == NULL || a->end_ms <= removed_ms ||
            (step_of(history, user)->needs >> job->step & 1) == 0)
            continue;
        world_fail("the temporary output of job %" PRId64
                   " was removed, and attempt %" PRId64 " of job %" PRId64
                   " may need it",
                   job->number, a->id, a->trial);
    }
}

/* -- Whether it had to go -------------------------------------------------*/

static bool has_ended_well(const struct record *record, int index)
{
    const char *state = record->steps[index].state;

    if (strcmp(state, "succeeded") != 0 && strcmp(state, "skipped") != 0)
        return false;
    for (size_t i = 0; i < record->job_count; i++) {
        const struct record_job *job = &record->jobs[i];

        if (job->step == index && is_current(record, job) &&
            strcmp(job->state, "succeeded") != 0 &&
            strcmp(job->state, "skipped") != 0)
            return false;
    }
    return true;
}

/* No retry of a failure can start it again; needs have lower indices. */
static void find_settled(const struct history *history,
                         const struct record *record, bool *settled)
{
    const struct scenario *scenario = &history->scenario;

    for (int i = 0; i < scenario->step_count; i++) {
        settled[i] = has_ended_well(record, i);
        for (int k = 0; k < i; k++)
            if ((scenario->steps[i].needs >> k & 1) != 0 && !settled[k])
                settled[i] = false;
    }
}

static bool is_due(const struct scenario *scenario, const bool *settled,
                   int64_t index)
{
    bool is_due = settled[index];

    for (int i = 0; i < scenario->step_count; i++)
        if ((scenario->steps[i].needs >> index & 1) != 0 && !settled[i])
            is_due = false;
    return is_due;
}

/* No limit ended it before its steps were over, ever. */
static bool is_whole(const struct history *history, const struct record *record)
{
    return history->result.verdict == BUDGET_GO_ON &&
           strstr(history->result.reason, "step") != NULL &&
           history->scenario.time_ms == 0 && record->budget_count == 0 &&
           history->reopenings.count == 0;
}

/* ---- all ---- */

/* settled: NULL where a limit or its user may have changed it since. */
static void check_due(const struct history *history,
                      const struct record_job *job, bool is_removed,
                      const bool *settled)
{
    if (settled != NULL &&
        is_removed != is_due(&history->scenario, settled, job->step))
        world_fail("the temporary output of job %" PRId64 " %s", job->number,
                   is_removed ? "was removed, and a retry may need it"
                              : "is needed no more, and was not removed");
}

static void check_job(const struct history *history,
                      const struct record *record, const struct record_job *job)
{
    const struct site_attempt *maker = find_maker(history, job->number);

    if (maker == NULL)
        world_fail("job %" PRId64 " succeeded without its file", job->number);
    if (job->are_temps_removed != (maker->removed_ms > 0))
        world_fail("the temporary output of job %" PRId64
                   " was%s removed, and the record differs",
                   job->number, maker->removed_ms > 0 ? "" : " not");
    if (maker->removed_ms > 0)
        check_users(history, record, job, maker->removed_ms);
}

void check_temps(const struct history *history, const struct record *record)
{
    bool settled[SCENARIO_MAX_STEPS];
    bool is_sure = is_whole(history, record);

    find_settled(history, record, settled);
    for (size_t i = 0; i < record->job_count; i++) {
        const struct record_job *job = &record->jobs[i];

        if (!step_of(history, job)->has_temp || !is_current(record, job) ||
            strcmp(job->state, "succeeded") != 0)
            continue;
        check_job(history, record, job);
        check_due(history, job, job->are_temps_removed,
                  is_sure ? settled : NULL);
    }
}
