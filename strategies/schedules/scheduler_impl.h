/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_SCHEDULES_SCHEDULER_IMPL_H
#define SMTUNE_STRATEGIES_SCHEDULES_SCHEDULER_IMPL_H

#include <math.h>

#include "strategies/schedules/scheduler.h"

/*
 * What a scheduler is, for the files that are one; nobody else includes this. A
 * new one is a file with one const struct scheduler_method named
 * scheduler_method_NAME, and its NAME below.
 */
#define SCHEDULER_METHODS(X)                                                   \
    X(asha)                                                                    \
    X(hyperband)                                                               \
    X(median)                                                                  \
    X(patient)                                                                 \
    X(threshold)                                                               \
    X(pbt)

/* A value as the user knows it: options.maximize negates what is told. */
static inline double schedule_shown(const struct schedule_options *options,
                                    double value)
{
    if (isnan(value))
        return (double)NAN; /* without a sign */
    return options->maximize ? 0.0 - value : value;
}

/* Streams of the generator, beside those of strategy_impl.h: a scheduler may
 * have the seed of a search method. */
enum scheduler_stream { STREAM_PBT_PARENT = 128, STREAM_PBT_EXPLORE };

/* The slots do what the functions of their names in scheduler.h do. */
struct scheduler_method {
    const char *name;

    /* max may be SCHEDULE_NO_MAX. */
    bool lives_without_max;
    /* Its plan is what to expect: where good trials come late, more go on. */
    bool plan_is_no_bound;

    /* The method's own state, or NULL with err. Options are checked as far as
     * their comments go; space outlives it. */
    void *(*create)(const struct schedule_options *options, struct space *space,
                    struct err *err);
    void (*destroy)(void *state); /* NULL is no state */

    bool (*pauses)(const void *state);
    void (*next)(const void *state, bool is_closed, struct assignment *next);
    /* How many more new trials the search method may suggest; NULL: any. */
    uint64_t (*room)(const void *state);
    void (*assign)(void *state, uint64_t number,
                   const struct assignment *assignment);
    /* NULL: it never clones. */
    void (*explore)(const void *state, uint64_t number,
                    const struct value *parent, struct value *point);
    uint64_t (*awaits)(const void *state, uint64_t trial);
    void (*observe)(void *state, const struct observation *observation,
                    struct verdict *verdict);
    void (*end)(void *state, uint64_t trial, enum trial_outcome outcome);

    /* plan is empty; it need not be cleared after an error. */
    int (*plan)(const struct schedule_options *options, uint64_t trials,
                struct schedule_plan *plan, struct err *err);
};

#define X(name) extern const struct scheduler_method scheduler_method_##name;
SCHEDULER_METHODS(X)
#undef X

#endif
