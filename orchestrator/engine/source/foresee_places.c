/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/foresee_places.h"

#include <stdlib.h>

#include "base/mem.h"

/* Copies that have not started, and those that were put back and wait. */
static bool has_more(const struct engine *engine, size_t step)
{
    struct flow_counts counts;

    flow_count(engine->steps->flow, step, &counts);
    return counts.copies - counts.started - counts.succeeded - counts.failed -
               counts.refused + engine->steps->now[step].requeued >
           0;
}

/* Whether its own held copies keep a step from starting another one. */
static bool is_full(const struct engine *engine, size_t step)
{
    int64_t parallel = engine->run->workflow->flow_steps[step].parallel;
    const struct step_now *now = &engine->steps->now[step];
    struct flow_counts counts;

    flow_count(engine->steps->flow, step, &counts);
    return parallel > 0 && now->held > 0 &&
           counts.started - now->requeued >= parallel;
}

void engine_find_wanted(const struct engine *engine,
                        struct wanted_places *wanted)
{
    const struct workflow *workflow = engine->run->workflow;
    const struct flow *flow = engine->steps->flow;

    wanted->steps = mem_array(workflow->step_count, sizeof(bool));
    wanted->pools = mem_array(workflow->pool_count, sizeof(bool));
    for (size_t i = 0; i < workflow->step_count; i++) {
        const struct flow_step *its = &workflow->flow_steps[i];

        if (!engine->foresight.steps[i].decides ||
            flow_state(flow, i) != FLOW_ACTIVE || !has_more(engine, i))
            continue;
        wanted->steps[i] = is_full(engine, i);
        for (size_t k = 0; k < its->claim_count; k++)
            wanted->pools[its->claims[k].pool] |=
                flow_pool_left(flow, its->claims[k].pool) <
                its->claims[k].amount;
    }
}

void wanted_places_clear(struct wanted_places *wanted)
{
    free(wanted->steps);
    free(wanted->pools);
}

bool engine_is_in_the_way(const struct engine *engine, const struct job *job,
                          const struct wanted_places *wanted)
{
    const struct flow_step *its = &engine->run->workflow->flow_steps[job->step];
    bool found = wanted->steps[job->step];

    for (size_t i = 0; i < its->claim_count && !found; i++)
        found = wanted->pools[its->claims[i].pool];
    return found;
}
