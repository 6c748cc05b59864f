/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_BENCH_CLUSTER_CLUSTER_H
#define SMTUNE_TESTS_BENCH_CLUSTER_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "strategies/schedules/scheduler.h"
#include "tests/bench/cluster/curves.h"

/*
 * A cluster in virtual time: each worker runs one attempt of a trial at a time,
 * which costs what its curve says, times how slow this attempt happens to be.
 * Search methods and schedulers are called as the engine calls them. The unit
 * of time is the mean epoch of the table, that of resource one epoch.
 */

/* A search method, with a scheduler or without. */
struct contender {
    const char *name;
    const char *search; /* as of struct strategy_options */
    double random_fraction;
    struct schedule_options schedule; /* method NULL: all trials run to max */
};

struct cluster_options {
    const struct contender *contender;
    uint64_t seed, workers;
    double stragglers; /* deviation of the logarithm of an attempt's slowness */
    double failures;   /* the chance that an attempt ends too early: it is tried
                          again, from its last whole epoch */
    double start;      /* what an attempt costs before its first epoch */
    double target;     /* an error: when was it reached, at any epoch? */
    double most;       /* it gives up after so much resource */
};

struct cluster_result {
    bool found;            /* the target was reached before it gave up */
    double time, resource; /* until then */
    double busy;           /* the share of the workers' time until then */
    uint64_t trials, full_trials, attempts, failed_attempts;
};

int cluster_run(const struct curves *curves,
                const struct cluster_options *options,
                struct cluster_result *result, struct err *err);

#endif
