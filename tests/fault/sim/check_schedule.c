/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "tests/fault/sim/check.h"

static bool is_decided(const struct record_observation *observation,
                       const char *decision)
{
    return strcmp(observation->decision, decision) == 0;
}

bool check_is_promoted(const struct record *record, int64_t attempt)
{
    for (size_t i = 0; i < record->observation_count; i++) {
        const struct record_observation *observation = &record->observations[i];

        if (observation->attempt == attempt && observation->promoted > 0)
            return true;
    }
    return false;
}

/* -- One trial's way ------------------------------------------------------*/

static void check_observation(const struct record_observation *observation)
{
    bool is_paused = is_decided(observation, "pause");

    if (observation->resource < 1 ||
        observation->resource > SCENARIO_MAX_EPOCHS)
        world_fail("trial %" PRId64 " was seen at %" PRId64, observation->trial,
                   observation->resource);
    if (is_decided(observation, "continue") || is_decided(observation, "stop")
            ? observation->promoted != 0
            : !is_paused)
        world_fail("trial %" PRId64 " was decided to '%s', and promoted",
                   observation->trial, observation->decision);
    if (observation->promoted > 0 &&
        (observation->promoted <= observation->told ||
         observation->promoted_to <= observation->resource ||
         observation->promoted_to > SCENARIO_MAX_EPOCHS))
        world_fail("trial %" PRId64 " was promoted from %" PRId64
                   " (place %" PRId64 ") to %" PRId64 " (place %" PRId64 ")",
                   observation->trial, observation->resource, observation->told,
                   observation->promoted_to, observation->promoted);
}

/* Of the same trial, one after the other. */
static void check_step(const struct record_observation *from,
                       const struct record_observation *to)
{
    if (is_decided(from, "stop"))
        world_fail("trial %" PRId64 " was stopped at %" PRId64
                   ", and seen at %" PRId64,
                   from->trial, from->resource, to->resource);
    if (is_decided(from, "pause") &&
        (from->promoted == 0 || to->told < from->promoted ||
         to->resource != from->promoted_to))
        world_fail("trial %" PRId64 " was given up to %" PRId64
                   ", and was seen at %" PRId64,
                   from->trial, from->promoted_to, to->resource);
    if (to->resource < from->resource)
        world_fail("trial %" PRId64 " went back from %" PRId64 " to %" PRId64,
                   from->trial, from->resource, to->resource);
}

static void check_way(const struct record *record)
{
    for (size_t i = 0; i < record->observation_count; i++) {
        const struct record_observation *to = &record->observations[i];

        check_observation(to);
        if (i > 0 && to[-1].trial == to->trial)
            check_step(to - 1, to);
    }
}

/* -- Attempts -------------------------------------------------------------*/

static void check_attempts(const struct record *record)
{
    for (size_t i = 0; i < record->attempt_count; i++) {
        const struct record_attempt *attempt = &record->attempts[i];

        if (attempt->resource < 1 || attempt->resource > SCENARIO_MAX_EPOCHS ||
            attempt->resource_used > attempt->resource)
            world_fail("attempt %" PRId64 " used %" PRId64 " of %" PRId64,
                       attempt->id, attempt->resource_used, attempt->resource);
        if (i > 0 && attempt[-1].trial == attempt->trial &&
            attempt[-1].resource > attempt->resource)
            world_fail("attempt %" PRId64 " was given %" PRId64
                       ", and the one before it %" PRId64,
                       attempt->id, attempt->resource, attempt[-1].resource);
    }
}

/* -- The end --------------------------------------------------------------*/

/* Without a word of the schedule nobody has come to its end. */
static void check_end(const struct history *history,
                      const struct record *record, const struct record_job *job)
{
    const struct record_observation *last = NULL;

    for (size_t i = 0; i < record->observation_count; i++) {
        if (record->observations[i].trial == job->number)
            last = &record->observations[i];
    }
    if (strcmp(job->state, "succeeded") != 0 || job->same_as > 0 ||
        reopenings_are_of(history, job->number) ||
        !history->scenario.schedule->pauses)
        return;
    if (last == NULL || !is_decided(last, "continue") ||
        last->resource != SCENARIO_MAX_EPOCHS)
        world_fail("trial %" PRId64 " succeeded at %" PRId64, job->number,
                   last != NULL ? last->resource : 0);
}

void check_schedule(const struct history *history, const struct record *record)
{
    if (history->scenario.schedule == NULL) {
        if (record->observation_count > 0)
            world_fail("there is no schedule, and it saw trials");
        return;
    }
    check_way(record);
    check_attempts(record);
    for (size_t i = 0; i < record->job_count; i++)
        check_end(history, record, &record->jobs[i]);
}
