/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source_flow.h"

#include <stdio.h>

#include "orchestrator/engine/flow_jobs.h"
#include "orchestrator/engine/flow_steps.h"
#include "orchestrator/engine/requeue.h"
#include "orchestrator/engine/transaction.h"

/*
 * Where a workflow says what goes on. It is asked when a slot is free; what it
 * wants is put into the open transaction.
 */

bool engine_steps_next(struct engine *engine)
{
    const struct flow_next next = flow_next(engine->steps->flow);

    switch (next.kind) {
    case FLOW_BEGIN:
        return flow_begin_step(engine, next.step);
    case FLOW_SKIP:
        return flow_skip_by_rule(engine, next.step, next.because);
    case FLOW_START:
        return flow_start_job(engine, next.step, next.copy);
    case FLOW_END:
        return flow_end_step(engine, next.step, next.state);
    case FLOW_NOTHING:
    case FLOW_OVER:
        break;
    }
    return false;
}

/* ---- putting back ---- */

void engine_steps_reopen(struct engine *engine,
                         const struct reopen_steps *reopened)
{
    struct steps *steps = engine->steps;
    struct err err;

    if (reopen_steps_record(engine->store, engine->run->id, steps->workflow,
                            reopened, &err) != 0) {
        engine_break(engine, &err);
        return;
    }
    for (size_t i = 0; i < reopened->found_count; i++)
        steps_reopen(steps, (size_t)reopened->found[i].step,
                     reopened->found[i].copy);
    for (size_t i = 0; i < steps->workflow->step_count; i++) {
        if (reopened->fates[i] == STEP_WAITS)
            steps_wait_again(steps, i);
    }
    engine_line_up(engine);
}

/* ---- the run's end ---- */

enum { CLOSED_A_TURN = 256 };

static const char run_is_over[] = "the run came to its end";

/* Whether there was one more step to be ended. */
static bool close_next(struct engine *engine)
{
    const struct flow_next next = flow_next(engine->steps->flow);

    switch (next.kind) {
    case FLOW_BEGIN:
        return flow_skip_step(engine, next.step, run_is_over);
    case FLOW_SKIP:
        return flow_skip_by_rule(engine, next.step, next.because);
    case FLOW_START:
        steps_give_up(engine->steps, next.step, next.copy, run_is_over);
        return true;
    case FLOW_END:
        return flow_end_step(engine, next.step, next.state);
    case FLOW_NOTHING:
    case FLOW_OVER:
        break;
    }
    return false;
}

bool engine_steps_close(struct engine *engine)
{
    for (int i = 0; i < CLOSED_A_TURN; i++) {
        if (!close_next(engine))
            return false;
    }
    return true;
}

static const struct step *first_failed(const struct engine *engine)
{
    const struct workflow *workflow = engine->run->workflow;

    for (size_t i = 0; i < workflow->step_count; i++) {
        if (flow_state(engine->steps->flow, i) == FLOW_FAILED &&
            !workflow->flow_steps[i].may_fail)
            return &workflow->steps[i];
    }
    return NULL;
}

void engine_steps_conclude(struct engine *engine)
{
    struct engine_result *result = engine->result;
    const struct step *failed = first_failed(engine);
    bool is_cut_off =
        result->verdict != BUDGET_GO_ON && !engine->wind_up.is_beyond_budget;

    if (failed == NULL && !is_cut_off) {
        snprintf(result->reason, sizeof(result->reason),
                 "all steps have come to their end");
        return;
    }
    result->state = RUN_FAILED;
    if (!is_cut_off)
        snprintf(result->reason, sizeof(result->reason), "step '%s' failed",
                 failed->name);
}
