/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/engine/source/flow_status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

/* How a workflow's steps stand, for those who look on: all of them are gone
 * through, so not more often than anybody could see. */

enum { AGAIN_MS = 100 };

static void add_name(struct steps_summary *summary, const struct step *step,
                     const struct flow_counts *counts)
{
    size_t used = strlen(summary->names);
    size_t room = sizeof(summary->names) - used;
    const char *between = used > 0 ? ", " : "";
    int length;

    if (counts->copies > 1)
        length = snprintf(summary->names + used, room,
                          "%s%s (%" PRId64 " of %" PRId64 ")", between,
                          step->name, counts->succeeded + counts->failed,
                          counts->copies - counts->refused);
    else
        length =
            snprintf(summary->names + used, room, "%s%s", between, step->name);
    if (length < 0 || (size_t)length >= room)
        summary->names[used] = '\0';
}

/* A step is cached if each result of its copies is. */
static void add_cached(struct engine_steps *summary, const struct steps *steps,
                       size_t index)
{
    enum flow_state state = flow_state(steps->flow, index);
    int64_t cached = steps->now[index].cached;
    struct flow_counts counts;

    if (cached == 0 || state == FLOW_WAITING)
        return;
    flow_count(steps->flow, index, &counts);
    summary->cached_jobs += cached;
    summary->cached += state == FLOW_SUCCEEDED && cached == counts.succeeded;
}

static void add_step(struct steps_summary *summary, const struct steps *of,
                     const struct step *step, size_t index)
{
    struct engine_steps *steps = &summary->steps;
    const struct flow *flow = of->flow;
    enum flow_state state = flow_state(flow, index);
    struct flow_counts counts;

    if (step->kind == STEP_JOIN)
        return;
    add_cached(steps, of, index);
    steps->total++;
    steps->active += state == FLOW_ACTIVE;
    steps->succeeded += state == FLOW_SUCCEEDED;
    steps->failed += state == FLOW_FAILED;
    steps->skipped += state == FLOW_SKIPPED;
    if (state != FLOW_ACTIVE)
        return;
    flow_count(flow, index, &counts);
    if (counts.started > 0)
        add_name(summary, step, &counts);
}

const struct engine_steps *flow_status(struct engine *engine)
{
    struct steps_summary *summary = &engine->steps_summary;
    const struct workflow *workflow = engine->run->workflow;
    int64_t now_ms = clock_monotonic_ms();

    if (summary->made_ms > 0 && now_ms - summary->made_ms < AGAIN_MS &&
        engine->wind_up.phase == PHASE_RUNNING)
        return &summary->steps;
    *summary = (struct steps_summary){.made_ms = now_ms};
    for (size_t i = 0; i < workflow->step_count; i++)
        add_step(summary, engine->steps, &workflow->steps[i], i);
    summary->steps.names = summary->names;
    return &summary->steps;
}
