/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/attempt/in_flight.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executors/attempt/kind.h"

static int compare_attempts(const void *a, const void *b)
{
    int64_t left = ((const struct flight *)a)->attempt;
    int64_t right = ((const struct flight *)b)->attempt;

    return (left > right) - (left < right);
}

static struct flight_pool *find_pool(const struct in_flight *in_flight,
                                     const char *directory)
{
    for (size_t i = 0; i < in_flight->pool_count; i++) {
        if (strcmp(in_flight->pools[i].directory, directory) == 0)
            return &in_flight->pools[i];
    }
    return NULL;
}

static void add_to_pool(struct in_flight *in_flight, const char *directory,
                        int64_t amount)
{
    struct flight_pool *pool = find_pool(in_flight, directory);

    if (pool == NULL) {
        in_flight->pools = mem_resize(in_flight->pools,
                                      in_flight->pool_count + 1, sizeof(*pool));
        pool = &in_flight->pools[in_flight->pool_count++];
        *pool = (struct flight_pool){mem_copy_string(directory), 0};
    }
    pool->amount += amount;
}

static void add_pools(struct in_flight *in_flight, struct flight *flight,
                      const struct attempt_spec *spec)
{
    flight->pools = mem_array(spec->pool_count, sizeof(*flight->pools));
    flight->pool_count = spec->pool_count;
    for (size_t i = 0; i < spec->pool_count; i++) {
        const struct attempt_pool *pool = &spec->pools[i];

        flight->pools[i] = (struct flight_pool){
            mem_copy_string(pool->directory), pool->amount};
        add_to_pool(in_flight, pool->directory, pool->amount);
    }
}

static void remove_pools(struct in_flight *in_flight, struct flight *flight)
{
    for (size_t i = 0; i < flight->pool_count; i++) {
        add_to_pool(in_flight, flight->pools[i].directory,
                    -flight->pools[i].amount);
        free(flight->pools[i].directory);
    }
    free(flight->pools);
}

int64_t in_flight_of_pool(const struct in_flight *in_flight,
                          const char *directory)
{
    const struct flight_pool *pool = find_pool(in_flight, directory);

    return pool != NULL ? pool->amount : 0;
}

int64_t in_flight_of_gpus(const struct in_flight *in_flight, uint64_t set)
{
    int64_t permille = 0;

    for (const struct flight *f = in_flight->first; f != NULL; f = f->next)
        if (f->gpu_set != 0 && (f->gpu_set & ~set) == 0 &&
            (f->has_started || f->pool_count == 0))
            permille += f->gpu_permille;
    return permille / 1000;
}

static void count_slots(struct in_flight *in_flight,
                        const struct flight *flight)
{
    in_flight->cpus += flight->cpus;
    in_flight->gpu_permille += flight->gpu_permille;
}

void in_flight_add(struct in_flight *in_flight, const struct attempt_spec *spec,
                   struct buf *take_start)
{
    struct flight *flight = mem_zero(sizeof(*flight));

    flight->attempt = spec->attempt;
    flight->directory = mem_copy_string(spec->directory);
    flight->time_ms = spec->time_ms;
    flight->grace_ms = spec->grace_ms;
    flight->cpus = spec->cpus;
    flight->gpu_permille = executor_gpu_permille(spec);
    flight->gpu_set = spec->gpu_set;
    flight->warn_signal = spec->warn_signal;
    flight->warn_before_ms = spec->warn_before_ms;
    add_pools(in_flight, flight, spec);
    flight->start = *take_start;
    *take_start = (struct buf)BUF_INIT;
    if (tsearch(flight, &in_flight->by_attempt, compare_attempts) == NULL)
        abort();
    flight->before = in_flight->last;
    if (in_flight->last != NULL)
        in_flight->last->next = flight;
    else
        in_flight->first = flight;
    in_flight->last = flight;
    in_flight->waiting++;
    if (flight->pool_count == 0)
        count_slots(in_flight, flight);
}

struct flight *in_flight_find(const struct in_flight *in_flight,
                              int64_t attempt)
{
    struct flight key = {.attempt = attempt};
    void *found = tfind(&key, &in_flight->by_attempt, compare_attempts);

    return found != NULL ? *(struct flight **)found : NULL;
}

void in_flight_note_start(struct in_flight *in_flight, struct flight *flight)
{
    if (flight->has_started)
        return;
    flight->has_started = true;
    buf_clear(&flight->start);
    in_flight->waiting--;
    if (flight->pool_count > 0)
        count_slots(in_flight, flight);
}

void in_flight_remove(struct in_flight *in_flight, struct flight *flight)
{
    tdelete(flight, &in_flight->by_attempt, compare_attempts);
    if (flight->before != NULL)
        flight->before->next = flight->next;
    else
        in_flight->first = flight->next;
    if (flight->next != NULL)
        flight->next->before = flight->before;
    else
        in_flight->last = flight->before;
    in_flight_note_start(in_flight, flight);
    in_flight->cpus -= flight->cpus;
    in_flight->gpu_permille -= flight->gpu_permille;
    remove_pools(in_flight, flight);
    free(flight->directory);
    free(flight);
}

void in_flight_clear(struct in_flight *in_flight)
{
    while (in_flight->first != NULL)
        in_flight_remove(in_flight, in_flight->first);
    for (size_t i = 0; i < in_flight->pool_count; i++)
        free(in_flight->pools[i].directory);
    free(in_flight->pools);
    in_flight->pools = NULL;
    in_flight->pool_count = 0;
}
