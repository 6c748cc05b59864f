/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/flow_idle.h"

#include <inttypes.h>

#include "base/buf.h"

/*
 * Why a workflow starts nothing: what each step waits for that is not over.
 * The flow (workflows/flow.h) decides what starts and gives no reason, so this
 * asks it for the counts of each step and compares them with the limits.
 */

static void add_waiting_step(const struct workflow *workflow,
                             const struct flow *flow, size_t index,
                             struct buf *out)
{
    const struct flow_step *step = &workflow->flow_steps[index];
    const char *between = " needs ";

    buf_printf(out, "; step '%s'", workflow->steps[index].name);
    for (size_t i = 0; i < step->need_count; i++) {
        enum flow_state state = flow_state(flow, step->needs[i]);

        if (state != FLOW_WAITING && state != FLOW_ACTIVE)
            continue;
        buf_printf(out, "%s'%s' (%s)", between,
                   workflow->steps[step->needs[i]].name,
                   step_state_names[state]);
        between = ", ";
    }
    if (between[0] == ' ')
        buf_add_string(out, " waits for the end of all other steps");
}

/* The first pool of the step's that has no room for one more copy. */
static void add_full_pool(const struct workflow *workflow,
                          const struct flow *flow, const struct flow_step *step,
                          struct buf *out)
{
    for (size_t i = 0; i < step->claim_count; i++) {
        const struct flow_claim *claim = &step->claims[i];
        const struct pool *pool = &workflow->pools[claim->pool];
        int64_t left = flow_pool_left(flow, claim->pool);

        if (left < claim->amount) {
            buf_printf(out,
                       ": pool '%s' is full (%" PRId64 " of %" PRId64
                       " taken, a copy needs %" PRId64 ")",
                       pool->name, pool->size - left, pool->size,
                       claim->amount);
            return;
        }
    }
}

static void add_active_step(const struct engine *engine, size_t index,
                            struct buf *out)
{
    const struct workflow *workflow = engine->run->workflow;
    const struct flow_step *step = &workflow->flow_steps[index];
    const struct flow *flow = engine->steps->flow;
    int64_t requeued = engine->steps->now[index].requeued, left;
    struct flow_counts counts;

    flow_count(flow, index, &counts);
    left = counts.copies - counts.started - counts.succeeded - counts.failed -
           counts.refused;
    buf_printf(out,
               "; step '%s': %" PRId64 " started, %" PRId64 " of %" PRId64
               " ended",
               workflow->steps[index].name, counts.started - requeued,
               counts.succeeded + counts.failed, counts.copies);
    if (left + requeued == 0)
        return;
    if (step->parallel > 0 && counts.started - requeued >= step->parallel)
        buf_printf(out, ": its parallel=%" PRId64 " is reached",
                   step->parallel);
    else
        add_full_pool(workflow, flow, step, out);
}

bool flow_is_idle(const struct engine *engine, int64_t *about, struct buf *out)
{
    enum { STEPS_SHOWN = 12, SEED = 31 };
    uint64_t digest = 0;
    size_t shown = 0;

    buf_add_string(out, "no step can start a job");
    for (size_t i = 0; i < engine->run->workflow->step_count; i++) {
        enum flow_state state = flow_state(engine->steps->flow, i);

        if (state != FLOW_WAITING && state != FLOW_ACTIVE)
            continue;
        if (shown++ == STEPS_SHOWN) {
            buf_add_string(out, "; ...");
            break;
        }
        if (state == FLOW_ACTIVE)
            add_active_step(engine, i, out);
        else
            add_waiting_step(engine->run->workflow, engine->steps->flow, i,
                             out);
    }
    for (const char *at = buf_text(out); *at != '\0'; at++)
        digest = digest * SEED + (unsigned char)*at;
    *about = (int64_t)digest;
    return shown > 0;
}
