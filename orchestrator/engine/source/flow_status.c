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

static void add_step(struct steps_summary *summary, const struct flow *flow,
                     const struct step *step, size_t index)
{
    struct engine_steps *steps = &summary->steps;
    enum flow_state state = flow_state(flow, index);
    struct flow_counts counts;

    if (step->kind == STEP_JOIN)
        return;
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
        add_step(summary, engine->steps->flow, &workflow->steps[i], i);
    summary->steps.names = summary->names;
    return &summary->steps;
}
