/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "tests/fault/sim/check.h"

/* Of the trial's attempts that began the first, or the last; or NULL. */
static const struct site_attempt *find_attempt(const struct history *history,
                                               int64_t trial, bool is_last)
{
    const struct site_attempt *a = site_attempts(history->world->site);
    const struct site_attempt *found = NULL;

    for (; a != NULL; a = a->next)
        if (a->trial == trial && a->began && (found == NULL || is_last))
            found = a;
    return found;
}

/* -- Where one goes on from -----------------------------------------------*/

/* Where the trial rested when so much had been told, before that attempt; or
 * NULL. */
static const struct record_observation *find_rest(const struct record *record,
                                                  int64_t trial, int64_t told,
                                                  int64_t attempt)
{
    const struct record_observation *last = NULL;

    for (size_t i = 0; i < record->observation_count; i++) {
        const struct record_observation *observation = &record->observations[i];

        if (observation->trial == trial && observation->told <= told &&
            observation->attempt < attempt)
            last = observation;
    }
    return last;
}

/* The round before this one, of the same time. */
static int64_t round_before(const struct record *record,
                            const struct record_job *job)
{
    int64_t last = 0;

    for (size_t i = 0; i < record->job_count; i++) {
        const struct record_job *other = &record->jobs[i];

        if (other->step == job->step && other->copy == job->copy &&
            other->round == job->round - 1 && other->number < job->number)
            last = other->number;
    }
    return last;
}

/* A clone's checkpoint is its parent's, as it was where the parent rested; and
 * a round's is the one of the round before. */
static int64_t find_inherited(const struct history *history,
                              const struct record *record,
                              const struct record_job *job)
{
    const struct record_observation *rest = NULL;
    const struct site_attempt *heir = NULL;

    if (job->parent > 0)
        rest = find_rest(record, job->parent, job->seen, INT64_MAX);
    if (rest != NULL)
        heir = site_find(history->world->site, rest->attempt);
    if (job->round > 1)
        heir = find_attempt(history, round_before(record, job), true);
    return heir != NULL ? heir->held : 0;
}

/* What was put back may have gone further since. */
static void check_first(const struct history *history,
                        const struct record *record,
                        const struct record_job *job)
{
    const struct site_attempt *first =
        find_attempt(history, job->number, false);
    int64_t inherited;

    if (first == NULL || first->checkpoints == NULL ||
        history->reopenings.count > 0)
        return;
    inherited = find_inherited(history, record, job);
    if (first->found != inherited)
        world_fail("trial %" PRId64 " began with the checkpoint of attempt "
                   "%" PRId64 ", not of %" PRId64,
                   job->number, first->found, inherited);
}

/* -- What is used ---------------------------------------------------------*/

static int64_t find_rested_at(const struct record *record,
                              const struct record_job *job, int64_t attempt)
{
    const struct record_observation *rest =
        find_rest(record, job->number, INT64_MAX, attempt);

    if (rest == NULL && job->parent > 0)
        rest = find_rest(record, job->parent, job->seen, attempt);
    return rest != NULL ? rest->resource : 0;
}

/* A checkpoint that was not written anew has less than the trial had used,
 * which the first step of its lines shows; one unit less may be a second look
 * at the last one. */
static int64_t find_level(const struct history *history,
                          const struct site_attempt *truth, int64_t rested_at)
{
    int64_t level = site_find(history->world->site, truth->found)->level;

    return !history->scenario.habits.is_stepless && !truth->is_silent &&
                   (level == 0 || level + 1 < rested_at)
               ? level
               : rested_at;
}

/* One that came to its end used what lies between that and the checkpoint with
 * which it began. */
static void check_used(const struct history *history,
                       const struct record *record,
                       const struct record_attempt *attempt)
{
    const struct scenario *scenario = &history->scenario;
    const struct site_attempt *truth =
        site_find(history->world->site, attempt->id);
    int64_t from = 0;

    if (strcmp(attempt->cause, "ok") != 0 || scenario->schedule == NULL ||
        !scenario->schedule->pauses || history->reopenings.count > 0)
        return;
    if (scenario->has_checkpoints && truth->found != 0)
        from = find_level(history, truth,
                          find_rested_at(record,
                                         record_job(record, attempt->trial),
                                         attempt->id));
    if (attempt->resource_used != attempt->resource - from)
        world_fail("attempt %" PRId64 " used %" PRId64 ", from %" PRId64
                   " to %" PRId64,
                   attempt->id, attempt->resource_used, from,
                   attempt->resource);
}

void check_checkpoints(const struct history *history,
                       const struct record *record)
{
    for (size_t i = 0; i < record->job_count; i++)
        check_first(history, record, &record->jobs[i]);
    for (size_t i = 0; i < record->attempt_count; i++)
        check_used(history, record, &record->attempts[i]);
}
