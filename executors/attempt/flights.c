/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/attempt/flights.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int compare_attempts(const void *a, const void *b)
{
    int64_t left = ((const struct flight *)a)->attempt;
    int64_t right = ((const struct flight *)b)->attempt;

    return (left > right) - (left < right);
}

static struct flight_pool *find_pool(const struct flights *flights,
                                     const char *directory)
{
    for (size_t i = 0; i < flights->pool_count; i++) {
        if (strcmp(flights->pools[i].directory, directory) == 0)
            return &flights->pools[i];
    }
    return NULL;
}

static void add_to_pool(struct flights *flights, const char *directory,
                        int64_t amount)
{
    struct flight_pool *pool = find_pool(flights, directory);

    if (pool == NULL) {
        flights->pools =
            mem_resize(flights->pools, flights->pool_count + 1, sizeof(*pool));
        pool = &flights->pools[flights->pool_count++];
        *pool = (struct flight_pool){mem_copy_string(directory), 0};
    }
    pool->amount += amount;
}

static void add_pools(struct flights *flights, struct flight *flight,
                      const struct attempt_spec *spec)
{
    flight->pools = mem_array(spec->pool_count, sizeof(*flight->pools));
    flight->pool_count = spec->pool_count;
    for (size_t i = 0; i < spec->pool_count; i++) {
        const struct attempt_pool *pool = &spec->pools[i];

        flight->pools[i] = (struct flight_pool){
            mem_copy_string(pool->directory), pool->amount};
        add_to_pool(flights, pool->directory, pool->amount);
    }
}

static void remove_pools(struct flights *flights, struct flight *flight)
{
    for (size_t i = 0; i < flight->pool_count; i++) {
        add_to_pool(flights, flight->pools[i].directory,
                    -flight->pools[i].amount);
        free(flight->pools[i].directory);
    }
    free(flight->pools);
}

int64_t flights_of_pool(const struct flights *flights, const char *directory)
{
    const struct flight_pool *pool = find_pool(flights, directory);

    return pool != NULL ? pool->amount : 0;
}

static void count_slots(struct flights *flights, const struct flight *flight)
{
    flights->cpus += flight->cpus;
    flights->gpus += flight->gpus;
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
    flight->warn_signal = spec->warn_signal;
    flight->warn_before_ms = spec->warn_before_ms;
    add_pools(flights, flight, spec);
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
    if (flight->pool_count == 0)
        count_slots(flights, flight);
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
    if (flight->pool_count > 0)
        count_slots(flights, flight);
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
    remove_pools(flights, flight);
    free(flight->directory);
    free(flight);
}

void flights_clear(struct flights *flights)
{
    while (flights->first != NULL)
        flights_remove(flights, flights->first);
    for (size_t i = 0; i < flights->pool_count; i++)
        free(flights->pools[i].directory);
    free(flights->pools);
    flights->pools = NULL;
    flights->pool_count = 0;
}
