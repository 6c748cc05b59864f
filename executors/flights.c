/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/flights.h"

#include <search.h>
#include <stdlib.h>

#include "base/mem.h"

static int compare_attempts(const void *a, const void *b)
{
    int64_t left = ((const struct flight *)a)->attempt;
    int64_t right = ((const struct flight *)b)->attempt;

    return (left > right) - (left < right);
}

void flights_add(struct flights *flights, const struct attempt_spec *spec,
                 struct buf *take_start)
{
    struct flight *flight = mem_zero(sizeof(*flight));

    flight->attempt = spec->attempt;
    flight->directory = mem_copy_string(spec->directory);
    flight->time_ms = spec->time_ms;
    flight->grace_ms = spec->grace_ms;
    flight->cpus = spec->cpus;
    flight->gpus = spec->gpus;
    flight->start = *take_start;
    *take_start = (struct buf)BUF_INIT;
    if (tsearch(flight, &flights->by_attempt, compare_attempts) == NULL)
        abort();
    flight->before = flights->last;
    if (flights->last != NULL)
        flights->last->next = flight;
    else
        flights->first = flight;
    flights->last = flight;
    flights->waiting++;
    flights->cpus += flight->cpus;
    flights->gpus += flight->gpus;
}

struct flight *flights_find(const struct flights *flights, int64_t attempt)
{
    struct flight key = {.attempt = attempt};
    void *found = tfind(&key, &flights->by_attempt, compare_attempts);

    return found != NULL ? *(struct flight **)found : NULL;
}

void flights_note_start(struct flights *flights, struct flight *flight)
{
    if (flight->has_started)
        return;
    flight->has_started = true;
    buf_clear(&flight->start);
    flights->waiting--;
}

void flights_remove(struct flights *flights, struct flight *flight)
{
    tdelete(flight, &flights->by_attempt, compare_attempts);
    if (flight->before != NULL)
        flight->before->next = flight->next;
    else
        flights->first = flight->next;
    if (flight->next != NULL)
        flight->next->before = flight->before;
    else
        flights->last = flight->before;
    flights_note_start(flights, flight);
    flights->cpus -= flight->cpus;
    flights->gpus -= flight->gpus;
    free(flight->directory);
    free(flight);
}

void flights_clear(struct flights *flights)
{
    while (flights->first != NULL)
        flights_remove(flights, flights->first);
}
