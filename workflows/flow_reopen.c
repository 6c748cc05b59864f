/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "workflows/flow_impl.h"

/* How what was over is put back. */

/* Its copies are forgotten; none runs. */
static void wait_again(struct flow *flow, size_t step)
{
    struct flow_node *node = &flow->nodes[step];

    assert(node->counts[COPY_STARTED] == 0);
    flow_set_state(flow, node, FLOW_WAITING);
    free(node->many);
    node->many = NULL;
    memset(node->few, 0, sizeof(node->few));
    memset(node->counts, 0, sizeof(node->counts));
    node->copies = node->first_ready = node->first_again = 0;
    flow_set_tainted(flow, node, false);
    flow_update(flow, step);
}

static void open_final_steps(struct flow *flow)
{
    for (size_t k = 0; k < flow->final_count; k++)
        wait_again(flow, flow->finals[k]);
    flow_push_finals(flow);
}

static void open_dependents(struct flow *flow, const struct flow_node *node)
{
    for (size_t k = 0; k < node->dependent_count; k++) {
        flow->nodes[node->dependents[k]].open_needs++;
        wait_again(flow, node->dependents[k]);
        flow_push(flow, node->dependents[k]);
    }
}

/* Every step that needs it waits again. */
static void open_step(struct flow *flow, size_t step)
{
    flow_push(flow, step);
    while (flow->work_count > 0) {
        struct flow_node *node = &flow->nodes[flow->work[--flow->work_count]];

        if (!node->is_closed)
            continue;
        node->is_closed = false;
        flow->closed_count--;
        open_dependents(flow, node);
        if (!node->spec.is_final && flow->open_count++ == 0)
            open_final_steps(flow);
    }
}

static void walk_to(size_t step, bool *seen, size_t *order, size_t *count)
{
    if (seen[step])
        return;
    seen[step] = true;
    order[(*count)++] = step;
}

static bool runs_behind(const struct flow *flow, size_t step)
{
    bool *seen = mem_array(flow->count, sizeof(*seen));
    size_t *order = mem_array(flow->count, sizeof(*order));
    size_t count = 0;
    bool runs = false;

    walk_to(step, seen, order, &count);
    for (size_t k = 0; k < flow->final_count; k++)
        if (!flow->nodes[step].spec.is_final)
            walk_to(flow->finals[k], seen, order, &count);
    for (size_t i = 0; i < count && !runs; i++) {
        const struct flow_node *node = &flow->nodes[order[i]];

        runs = i > 0 && node->counts[COPY_STARTED] > 0;
        for (size_t k = 0; k < node->dependent_count; k++)
            walk_to(node->dependents[k], seen, order, &count);
    }
    free(seen);
    free(order);
    return runs;
}

bool flow_may_reopen(const struct flow *flow, size_t step)
{
    return !flow->nodes[step].is_closed || !runs_behind(flow, step);
}

bool flow_may_reset(const struct flow *flow, size_t step)
{
    return flow->nodes[step].counts[COPY_STARTED] == 0 &&
           flow_may_reopen(flow, step);
}

void flow_look_again(struct flow *flow, size_t step)
{
    assert(flow_may_reopen(flow, step));
    open_step(flow, step);
    flow_set_state(flow, &flow->nodes[step], FLOW_ACTIVE);
    flow_offer_given_up(flow, step);
    flow_update(flow, step);
}

void flow_reopen(struct flow *flow, size_t step, int64_t copy)
{
    flow_look_again(flow, step);
    flow_set_copy(flow, step, copy, COPY_AGAIN);
}

void flow_reset(struct flow *flow, size_t step)
{
    assert(flow_may_reset(flow, step));
    open_step(flow, step);
    wait_again(flow, step);
}
