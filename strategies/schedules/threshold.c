/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "strategies/schedules/stopper.h"

/*
 * Stops a trial whose value leaves the bounds, or is NaN. Bounds are told as
 * values are: where the objective is to be maximised, the caller negates both,
 * and swaps them.
 */

struct threshold {
    struct stopper stopper; /* first */
};

static void *threshold_create(const struct schedule_options *options,
                              UNUSED struct space *space, struct err *err)
{
    bool swaps = options->maximize;
    struct threshold *threshold;

    if (isnan(options->lower) && isnan(options->upper)) {
        err_set(err, ERR_FILE,
                "missing key: threshold needs lower, upper or both");
        return NULL;
    }
    if (options->lower > options->upper) {
        err_set(
            err, ERR_FILE, "lower %g is above upper %g",
            schedule_shown(options, swaps ? options->upper : options->lower),
            schedule_shown(options, swaps ? options->lower : options->upper));
        return NULL;
    }
    threshold = mem_zero(sizeof(*threshold));
    stopper_init(&threshold->stopper, options);
    return threshold;
}

static void threshold_destroy(void *state)
{
    struct threshold *threshold = state;

    if (threshold == NULL)
        return;
    stopper_clear(&threshold->stopper);
    free(threshold);
}

static void threshold_assign(void *state, uint64_t number,
                             UNUSED const struct assignment *assignment)
{
    struct threshold *threshold = state;

    stopper_watch(&threshold->stopper, number, sizeof(struct watched));
}

static void threshold_observe(void *state,
                              const struct observation *observation,
                              struct verdict *verdict)
{
    struct threshold *threshold = state;
    const struct schedule_options *options = &threshold->stopper.options;
    double value = observation->value;
    bool is_low = value<options->lower, is_high = value> options->upper;

    if (stopper_see(&threshold->stopper, observation) == NULL ||
        !stopper_may_stop(&threshold->stopper, observation) ||
        (!is_low && !is_high && !isnan(value)))
        return;
    verdict->decision = DECIDE_STOP;
    if (isnan(value))
        snprintf(verdict->reason, sizeof(verdict->reason),
                 "the value at %" PRIu64 " is not a number",
                 observation->resource);
    else
        snprintf(
            verdict->reason, sizeof(verdict->reason),
            "%.6g at %" PRIu64 " is %s %.6g", schedule_shown(options, value),
            observation->resource,
            is_low == options->maximize ? "above" : "below",
            schedule_shown(options, is_low ? options->lower : options->upper));
}

static void threshold_end(void *state, uint64_t trial,
                          UNUSED enum trial_outcome outcome)
{
    struct threshold *threshold = state;

    free(stopper_release(&threshold->stopper, trial));
}

const struct scheduler_method scheduler_method_threshold = {
    .name = "threshold",
    .lives_without_max = true,
    .create = threshold_create,
    .destroy = threshold_destroy,
    .pauses = stopper_pauses,
    .next = stopper_next,
    .assign = threshold_assign,
    .awaits = stopper_awaits,
    .observe = threshold_observe,
    .end = threshold_end,
    .plan = stopper_plan,
};
