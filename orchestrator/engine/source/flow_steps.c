/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/flow_steps.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "orchestrator/engine/core/transaction.h"
#include "orchestrator/engine/source/foresee.h"

/* A step's beginning is in the record before any of its jobs starts: what a
 * step is now follows from its row alone. */

static struct step_change step_comes(const struct engine *engine, size_t step,
                                     enum flow_state state,
                                     enum step_event event, const char *reason)
{
    return (struct step_change){
        .run = engine->run->id,
        .step = (int64_t)step,
        .state = step_state_names[state],
        .event = step_event_names[event],
        .reason = reason,
        .time_ms = clock_wall_ms(),
    };
}

static bool record_step(struct engine *engine, const struct step_change *change)
{
    struct err err;

    LOG(engine->log, LOG_ENGINE, LOG_INFO, 0, "step=%s state=%s%s%s",
        engine->run->workflow->steps[change->step].name, change->state,
        change->reason != NULL ? ": " : "",
        change->reason != NULL ? change->reason : "");
    if (!engine_begin(engine))
        return false;
    if (store_change_step(engine->store, change, &err) == 0)
        return true;
    engine_break(engine, &err);
    return false;
}

bool flow_skip_step(struct engine *engine, size_t step, const char *reason)
{
    const struct step_change change =
        step_comes(engine, step, FLOW_SKIPPED, STEP_SKIPPED, reason);

    if (!record_step(engine, &change))
        return false;
    steps_skip(engine->steps, step);
    engine_foresee_again(engine, step);
    return true;
}

static char *rule_reason(const struct engine *engine, size_t because)
{
    const struct workflow *workflow = engine->run->workflow;
    const char *what = "was skipped";

    if (because == FLOW_NO_STEP)
        return mem_copy_string("no step that it needs has failed");
    if (flow_state(engine->steps->flow, because) == FLOW_FAILED)
        what = workflow->flow_steps[because].may_fail
                   ? "failed, and its outputs are missing"
                   : "failed";
    return mem_printf("'%s' %s", workflow->steps[because].name, what);
}

bool flow_skip_by_rule(struct engine *engine, size_t step, size_t because)
{
    char *reason = rule_reason(engine, because);
    bool result;

    result = flow_skip_step(engine, step, reason);
    free(reason);
    return result;
}

static bool record_begin(struct engine *engine, size_t step, int64_t copies,
                         const json_t *axes)
{
    struct buf matrix = BUF_INIT;
    struct step_change change =
        step_comes(engine, step, FLOW_ACTIVE, STEP_BEGAN, NULL);
    bool result;

    change.copies = copies;
    change.first_job = engine->tally.suggested + 1;
    if (axes != NULL) {
        json_print(axes, &matrix);
        change.matrix = buf_text(&matrix);
    }
    result = record_step(engine, &change);
    buf_clear(&matrix);
    return result;
}

/* It begins, and has failed for this reason. */
static bool fail_to_begin(struct engine *engine, size_t step,
                          const char *reason)
{
    const struct step_change change =
        step_comes(engine, step, FLOW_FAILED, STEP_ENDED, reason);

    if (!record_begin(engine, step, 0, NULL) || !record_step(engine, &change))
        return false;
    steps_fail(engine->steps, step);
    engine_foresee_again(engine, step);
    return true;
}

bool flow_begin_step(struct engine *engine, size_t step)
{
    struct steps *steps = engine->steps;
    const struct step *its = &steps->workflow->steps[step];
    json_t *axes = NULL;
    struct flow_counts counts;
    bool is_wanted, result;
    struct err err;

    if (steps_condition(steps, step, -1, &is_wanted, &err) != 0)
        return fail_to_begin(engine, step, err.text);
    if (!is_wanted)
        return flow_skip_step(engine, step,
                              steps_is_asked_for(steps, step)
                                  ? "its condition was false"
                                  : "not selected by --only");
    if (workspace_forget_shards(engine->workspaces, its->name, &its->task,
                                &err) != 0 ||
        steps_axes(steps, step, &axes, &err) != 0)
        return fail_to_begin(engine, step, err.text);
    if (steps_begin(steps, step, axes, &err) == 0) {
        flow_count(steps->flow, step, &counts);
        result = record_begin(engine, step, counts.copies, axes);
    } else {
        result = fail_to_begin(engine, step, err.text);
    }
    json_decref(axes);
    return result;
}

bool flow_end_step(struct engine *engine, size_t step, enum flow_state state)
{
    char *reason =
        state == FLOW_FAILED ? steps_failure(engine->steps, step) : NULL;
    const struct step_change change =
        step_comes(engine, step, state, STEP_ENDED, reason);
    bool result = record_step(engine, &change);

    if (result) {
        steps_end(engine->steps, step, state);
        engine_foresee_again(engine, step);
    }
    free(reason);
    return result;
}
