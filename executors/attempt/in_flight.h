/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_EXECUTORS_ATTEMPT_IN_FLIGHT_H
#define SMTUNE_EXECUTORS_ATTEMPT_IN_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "executors/executor.h"

/* The attempts that an agent was given and that have not ended. */

struct flight_pool {
    char *directory;
    int64_t amount;
};

struct flight {
    struct flight *next, *before;
    struct buf start; /* the message for it, until it has started */
    int64_t attempt;
    char *directory;
    int64_t time_ms, grace_ms, warn_before_ms;
    int warn_signal;
    int cpus;
    int64_t gpu_permille;
    uint64_t gpu_set;          /* as in its spec */
    struct flight_pool *pools; /* [pool_count] */
    size_t pool_count;
    bool has_started;
    bool is_cancelled;
    enum cancel_mode cancel_mode; /* the last, if it is_cancelled */
};

/* All zeroes at first. */
struct in_flight {
    struct flight *first; /* in the order in which they came */
    struct flight *last;
    void *by_attempt; /* tsearch tree */
    size_t waiting;   /* not started */
    /* That they take, or wait for. One that takes from pools as well may wait
     * for these, and the others pass it by, so it counts when it has started.
     */
    int cpus;
    int64_t gpu_permille;
    struct flight_pool *pools; /* [pool_count], of all of them together */
    size_t pool_count;
};

/* Takes the message. */
void in_flight_add(struct in_flight *in_flight, const struct attempt_spec *spec,
                   struct buf *take_start);
/* NULL when there is none such. */
struct flight *in_flight_find(const struct in_flight *in_flight,
                              int64_t attempt);
/* How many GPUs they take, or wait for, that are for those of the set alone. */
int64_t in_flight_of_gpus(const struct in_flight *in_flight, uint64_t set);
/* How much they take of a pool, or wait for. */
int64_t in_flight_of_pool(const struct in_flight *in_flight,
                          const char *directory);
void in_flight_note_start(struct in_flight *in_flight, struct flight *flight);
void in_flight_remove(struct in_flight *in_flight, struct flight *flight);
void in_flight_clear(struct in_flight *in_flight);

#endif
