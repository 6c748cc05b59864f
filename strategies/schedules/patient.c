/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "strategies/schedules/stopper.h"

/*
 * Stops a trial whose best value has not improved by more than min_delta over
 * the last `patience` units of resource (L. Prechelt, "Early stopping, but
 * when?", 1998, third class of criteria). What is compared is the best value at
 * the last improvement, so that many small steps add up to one.
 */

struct progress {
    struct watched watched; /* first */
    double best;
    uint64_t since; /* when it was reached */
};

struct patient {
    struct stopper stopper; /* first */
};

static void *patient_create(const struct schedule_options *options,
                            UNUSED struct space *space, struct err *err)
{
    struct patient *patient;

    if (options->patience == 0) {
        err_set(err, ERR_FILE, "patience must be 1 or more");
        return NULL;
    }
    if (!(options->min_delta >= 0)) {
        err_set(err, ERR_FILE, "min_delta must be 0 or more, not %g",
                options->min_delta);
        return NULL;
    }
    patient = mem_zero(sizeof(*patient));
    stopper_init(&patient->stopper, options);
    return patient;
}

static void patient_destroy(void *state)
{
    struct patient *patient = state;

    if (patient == NULL)
        return;
    stopper_clear(&patient->stopper);
    free(patient);
}

static void patient_assign(void *state, uint64_t number,
                           UNUSED const struct assignment *assignment)
{
    struct patient *patient = state;
    struct progress *progress =
        stopper_watch(&patient->stopper, number, sizeof(*progress));

    progress->best = (double)INFINITY;
}

static void give_reason(const struct schedule_options *options,
                        const struct progress *progress,
                        const struct observation *observation,
                        struct verdict *verdict)
{
    char text[64] = "better";

    if (options->min_delta > 0)
        snprintf(text, sizeof(text), "more than %.6g better",
                 options->min_delta);
    if (isinf(progress->best))
        snprintf(verdict->reason, sizeof(verdict->reason),
                 "no value up to %" PRIu64 " is a number",
                 observation->resource);
    else
        snprintf(
            verdict->reason, sizeof(verdict->reason),
            "the best at %" PRIu64 ", %.6g, is not %s than %.6g at %" PRIu64,
            observation->resource, schedule_shown(options, observation->best),
            text, schedule_shown(options, progress->best), progress->since);
}

static void patient_observe(void *state, const struct observation *observation,
                            struct verdict *verdict)
{
    struct patient *patient = state;
    const struct schedule_options *options = &patient->stopper.options;
    struct progress *progress = stopper_see(&patient->stopper, observation);

    if (progress == NULL)
        return;
    if (observation->best < progress->best - options->min_delta) {
        progress->best = observation->best;
        progress->since = observation->resource;
    }
    if (!stopper_may_stop(&patient->stopper, observation) ||
        observation->resource - progress->since < options->patience)
        return;
    verdict->decision = DECIDE_STOP;
    give_reason(options, progress, observation, verdict);
}

static void patient_end(void *state, uint64_t trial,
                        UNUSED enum trial_outcome outcome)
{
    struct patient *patient = state;

    free(stopper_release(&patient->stopper, trial));
}

const struct scheduler_method scheduler_method_patient = {
    .name = "patient",
    .lives_without_max = true,
    .create = patient_create,
    .destroy = patient_destroy,
    .pauses = stopper_pauses,
    .next = stopper_next,
    .assign = patient_assign,
    .awaits = stopper_awaits,
    .observe = patient_observe,
    .end = patient_end,
    .plan = stopper_plan,
};
