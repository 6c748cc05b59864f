/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_STRATEGIES_SCHEDULES_SCHEDULES_H
#define SMTUNE_TESTS_UNIT_STRATEGIES_SCHEDULES_SCHEDULES_H

#include "base/compiler.h"
#include "strategies/schedules/scheduler.h"

/* Recorded histories for the tests of schedulers: what happened, and what the
 * scheduler was to want next after each step. */

enum step_kind { STEP_NEW, STEP_PROMOTE, STEP_STOP, STEP_RESULT, STEP_END };

struct step {
    enum step_kind kind;
    uint64_t trial;
    double value;               /* of a result */
    enum trial_outcome outcome; /* of an end */
    bool is_closed;             /* from this step on */
    struct {
        enum next_kind kind;
        uint64_t trial, resource;
        const char *reason; /* NULL: any */
    } next;
    enum decision decision; /* on a result */
    const char *reason;     /* of it; NULL: any */
};

static UNUSED struct scheduler *make_scheduler(
    const struct schedule_options *options)
{
    struct err err = {0};
    struct scheduler *scheduler = scheduler_create(options, NULL, &err);

    if (scheduler == NULL)
        fail_msg("%s", err.text);
    return scheduler;
}

/* A result at the resource that is awaited. */
static UNUSED void report(struct scheduler *scheduler, uint64_t trial,
                          double value, struct verdict *verdict)
{
    struct observation observation = {
        .trial = trial,
        .resource = scheduler_awaits(scheduler, trial),
        .value = value,
        .last = value,
        .best = value,
    };

    assert_true(observation.resource < UINT64_MAX);
    scheduler_observe(scheduler, &observation, verdict);
}

static UNUSED void take_step(struct scheduler *scheduler,
                             const struct step *step, size_t number)
{
    static const enum next_kind kinds[] = {
        [STEP_NEW] = NEXT_NEW,
        [STEP_PROMOTE] = NEXT_PROMOTE,
        [STEP_STOP] = NEXT_STOP,
    };
    struct assignment next;
    struct verdict verdict;

    if (step->kind == STEP_END) {
        scheduler_end(scheduler, step->trial, step->outcome);
    } else if (step->kind == STEP_RESULT) {
        report(scheduler, step->trial, step->value, &verdict);
        if (verdict.decision != step->decision)
            fail_msg("step %zu: decision %d, not %d (%s)", number,
                     (int)verdict.decision, (int)step->decision,
                     verdict.reason);
        if (step->reason != NULL)
            assert_string_equal(verdict.reason, step->reason);
    } else {
        scheduler_next(scheduler, step->is_closed && step->kind != STEP_NEW,
                       &next);
        if (next.kind != kinds[step->kind])
            fail_msg("step %zu: next is %d", number, (int)next.kind);
        scheduler_assign(scheduler, step->trial, &next);
    }
    scheduler_next(scheduler, step->is_closed, &next);
    if (next.kind != step->next.kind || next.trial != step->next.trial ||
        (step->next.resource != 0 && next.resource != step->next.resource))
        fail_msg("step %zu: next is %d of trial %d up to %d", number,
                 (int)next.kind, (int)next.trial, (int)next.resource);
    if (step->next.reason != NULL)
        assert_string_equal(next.reason, step->next.reason);
}

static UNUSED void take_steps(const struct schedule_options *options,
                              const struct step *steps, size_t count)
{
    struct scheduler *scheduler = make_scheduler(options);

    for (size_t i = 0; i < count; i++)
        take_step(scheduler, &steps[i], i);
    scheduler_destroy(scheduler);
}

#endif
