/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workflows/flow.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "workflows/flow_impl.h"

static bool is_over(const struct flow_node *node)
{
    return node->state != FLOW_WAITING && node->state != FLOW_ACTIVE;
}

static bool is_due(const struct flow *flow, const struct flow_node *node)
{
    return node->open_needs == 0 &&
           (!node->spec.is_final || flow->open_count == 0);
}

void flow_push(struct flow *flow, size_t step)
{
    flow->work = mem_grow(flow->work, flow->work_count, &flow->work_capacity,
                          sizeof(*flow->work));
    flow->work[flow->work_count++] = step;
}

void flow_push_finals(struct flow *flow)
{
    for (size_t k = 0; k < flow->final_count; k++)
        flow_push(flow, flow->finals[k]);
}

/* How many of its copies have to succeed. */
static int64_t count_needed(const struct flow_node *node)
{
    int64_t all = node->copies - node->counts[COPY_REFUSED];

    if (node->spec.success_count > 0)
        return node->spec.success_count;
    if (node->spec.success_fraction > 0) /* 0.07 * 100 is above 7 */
        return (int64_t)ceil(node->spec.success_fraction * (double)all - 1e-9);
    return all;
}

/* That further copies are refused does not change it: they would have to
 * succeed for the best that can be. */
static bool may_succeed(const struct flow_node *node)
{
    const int64_t *counts = node->counts;

    return counts[COPY_SUCCEEDED] + counts[COPY_STARTED] + counts[COPY_AGAIN] +
               counts[COPY_READY] >=
           count_needed(node);
}

static enum flow_state find_outcome(const struct flow_node *node)
{
    return node->counts[COPY_SUCCEEDED] >= count_needed(node) ? FLOW_SUCCEEDED
                                                              : FLOW_FAILED;
}

/* The heap where a step belongs; NULL: there is nothing to do for it. */
static struct step_heap *find_heap(struct flow *flow,
                                   const struct flow_node *node)
{
    const int64_t *counts = node->counts;
    bool is_wanted;

    if (node->state == FLOW_WAITING)
        return is_due(flow, node) ? &flow->beginning : NULL;
    if (node->state != FLOW_ACTIVE)
        return NULL;
    is_wanted = counts[COPY_AGAIN] > 0 || //
                (counts[COPY_READY] > 0 &&
                 (node->spec.starts_all || may_succeed(node)));
    if (!is_wanted)
        return counts[COPY_STARTED] == 0 ? &flow->ending : NULL;
    if (node->spec.parallel > 0 && counts[COPY_STARTED] >= node->spec.parallel)
        return NULL;
    return &flow->classes[node->claim_class].startable;
}

void flow_update(struct flow *flow, size_t step)
{
    struct flow_node *node = &flow->nodes[step];
    struct step_heap *heap = find_heap(flow, node);

    if (heap == node->heap)
        return;
    if (node->heap != NULL)
        step_heap_remove(node->heap, step);
    if (heap != NULL)
        step_heap_add(heap, step);
    node->heap = heap;
}

void flow_set_state(struct flow *flow, struct flow_node *node,
                    enum flow_state state)
{
    size_t *failed = &flow->failed_count[node->spec.is_final];

    if (!node->spec.may_fail && node->state == FLOW_FAILED)
        --*failed;
    if (!node->spec.may_fail && state == FLOW_FAILED)
        ++*failed;
    node->state = state;
}

void flow_set_tainted(struct flow *flow, struct flow_node *node,
                      bool is_tainted)
{
    size_t *missed = &flow->missed_count[node->spec.is_final];

    if (!node->spec.may_fail && node->is_tainted)
        --*missed;
    if (!node->spec.may_fail && is_tainted)
        ++*missed;
    node->is_tainted = is_tainted;
}

/* What a step's needs are to its rule: the first of each kind, or
 * FLOW_NO_STEP. */
struct need_report {
    /* excused: failed, and may; skipped: not because of a failure, and not
     * passed over */
    size_t failed, excused, tainted, skipped;
};

static void note(size_t *first, size_t step)
{
    if (*first == FLOW_NO_STEP)
        *first = step;
}

static struct need_report look_at_needs(const struct flow *flow,
                                        const struct flow_node *node)
{
    struct need_report report = {FLOW_NO_STEP, FLOW_NO_STEP, FLOW_NO_STEP,
                                 FLOW_NO_STEP};
    size_t named_count = node->spec.need_count - node->spec.order_count;

    for (size_t k = 0; k < node->spec.need_count; k++) {
        size_t need = node->spec.needs[k];

        if (flow->nodes[need].state == FLOW_FAILED)
            note(flow->nodes[need].spec.may_fail ? &report.excused
                                                 : &report.failed,
                 need);
        else if (flow->nodes[need].is_tainted)
            note(&report.tainted, need);
        else if (flow->nodes[need].state == FLOW_SKIPPED && k < named_count)
            note(&report.skipped, need);
    }
    if (!node->spec.is_final ||
        flow->failed_count[false] + flow->missed_count[false] == 0)
        return report;
    for (size_t i = 0; report.failed == FLOW_NO_STEP; i++) {
        const struct flow_node *other = &flow->nodes[i];

        if ((other->state == FLOW_FAILED || other->is_tainted) &&
            !other->spec.may_fail && !other->spec.is_final)
            report.failed = i;
    }
    return report;
}

/* The first step whose outputs it reads and that has none, because of a
 * failure. */
static size_t find_unmade(const struct flow *flow, const struct flow_node *node)
{
    for (size_t k = 0; k < node->spec.read_count; k++) {
        const struct flow_node *read = &flow->nodes[node->spec.reads[k]];

        if (read->is_tainted ||
            (read->state == FLOW_FAILED && read->counts[COPY_SUCCEEDED] == 0))
            return node->spec.reads[k];
    }
    return FLOW_NO_STEP;
}

static size_t first_of(size_t a, size_t b)
{
    return a != FLOW_NO_STEP ? a : b;
}

static void judge(struct flow *flow, struct flow_node *node)
{
    struct need_report report = look_at_needs(flow, node);
    size_t failure = first_of(report.failed, report.tainted);
    bool is_tainted = false;

    switch (node->spec.when) {
    case FLOW_ALL_SUCCESS:
        failure = first_of(failure, find_unmade(flow, node));
        node->because = first_of(failure, report.skipped);
        node->rule_begins = node->because == FLOW_NO_STEP;
        is_tainted = failure != FLOW_NO_STEP;
        break;
    case FLOW_ALL_DONE:
        node->because = first_of(report.tainted, report.skipped);
        node->rule_begins = node->because == FLOW_NO_STEP;
        is_tainted = report.tainted != FLOW_NO_STEP;
        break;
    case FLOW_ANY_FAILED:
        node->because = FLOW_NO_STEP;
        node->rule_begins = first_of(failure, report.excused) != FLOW_NO_STEP;
        break;
    case FLOW_ALWAYS:
    default:
        node->because = FLOW_NO_STEP;
        node->rule_begins = true;
        break;
    }
    flow_set_tainted(flow, node, is_tainted && node->state == FLOW_SKIPPED);
}

void flow_advance(struct flow *flow, size_t step)
{
    flow_push(flow, step);
    while (flow->work_count > 0) {
        size_t at = flow->work[--flow->work_count];
        struct flow_node *node = &flow->nodes[at];

        if (node->is_closed || !is_due(flow, node))
            continue;
        judge(flow, node);
        flow_update(flow, at);
        if (!is_over(node))
            continue;
        node->is_closed = true;
        flow->closed_count++;
        for (size_t k = 0; k < node->dependent_count; k++)
            if (--flow->nodes[node->dependents[k]].open_needs == 0)
                flow_push(flow, node->dependents[k]);
        if (!node->spec.is_final && --flow->open_count == 0)
            flow_push_finals(flow);
    }
}

static bool has_room(const struct flow *flow, const struct claim_class *claims)
{
    for (size_t k = 0; k < claims->claim_count; k++) {
        size_t pool = claims->claims[k].pool;

        if (flow->used[pool] + flow->set_aside[pool] +
                claims->claims[k].amount >
            flow->sizes[pool])
            return false;
    }
    return true;
}

static int compare_classes(const void *a, const void *b)
{
    const struct step_heap *x = &(*(struct claim_class *const *)a)->startable;
    const struct step_heap *y = &(*(struct claim_class *const *)b)->startable;

    return x->rank[x->items[0]] < y->rank[y->items[0]] ? -1 : 1;
}

/* The first step in order that has room where all before it, who have not, get
 * what they wait for set aside. So who is first of all is not overtaken for
 * ever, and what starts never takes from him. */
static size_t find_startable(struct flow *flow)
{
    size_t count = 0;

    for (size_t i = 0; i < flow->class_count; i++)
        if (flow->classes[i].startable.count > 0)
            flow->lined_up[count++] = &flow->classes[i];
    if (count > 1)
        qsort(flow->lined_up, count, sizeof(struct claim_class *),
              compare_classes);
    if (flow->pool_count > 0)
        memset(flow->set_aside, 0, flow->pool_count * sizeof(int64_t));
    for (size_t i = 0; i < count; i++) {
        const struct claim_class *claims = flow->lined_up[i];

        if (has_room(flow, claims))
            return claims->startable.items[0];
        for (size_t k = 0; k < claims->claim_count; k++)
            flow->set_aside[claims->claims[k].pool] += claims->claims[k].amount;
    }
    return FLOW_NO_STEP;
}

static unsigned char *find_copy(struct flow_node *node, int64_t copy)
{
    assert(copy >= 0 && copy < node->copies);
    return (node->copies > FEW_COPIES ? node->many : node->few) + copy;
}

/* There is one. */
static int64_t next_copy(struct flow_node *node)
{
    bool is_again = node->counts[COPY_AGAIN] > 0;
    int64_t *first = is_again ? &node->first_again : &node->first_ready;

    while (*find_copy(node, *first) != (is_again ? COPY_AGAIN : COPY_READY))
        ++*first;
    return *first;
}

struct flow_next flow_next(struct flow *flow)
{
    struct flow_next next = {.kind = FLOW_NOTHING, .because = FLOW_NO_STEP};
    struct flow_node *node;

    if (flow->ending.count > 0) {
        next.step = flow->ending.items[0];
        node = &flow->nodes[next.step];
        next.kind = FLOW_END;
        next.state = find_outcome(node);
    } else if (flow->beginning.count > 0) {
        next.step = flow->beginning.items[0];
        node = &flow->nodes[next.step];
        next.kind = node->rule_begins ? FLOW_BEGIN : FLOW_SKIP;
        next.because = node->because;
    } else if (flow->closed_count == flow->count) {
        next.kind = FLOW_OVER;
    } else {
        next.step = find_startable(flow);
        if (next.step == FLOW_NO_STEP)
            return next;
        next.kind = FLOW_START;
        next.copy = next_copy(&flow->nodes[next.step]);
    }
    return next;
}

void flow_set_copy(struct flow *flow, size_t step, int64_t copy,
                   enum copy_state state)
{
    struct flow_node *node = &flow->nodes[step];
    unsigned char *at = find_copy(node, copy);
    int started = (state == COPY_STARTED) - (*at == COPY_STARTED);

    assert(node->state == FLOW_ACTIVE);
    node->counts[*at]--;
    node->counts[state]++;
    *at = (unsigned char)state;
    if (state == COPY_AGAIN && copy < node->first_again)
        node->first_again = copy;
    if (state == COPY_READY && copy < node->first_ready)
        node->first_ready = copy;
    for (size_t k = 0; k < node->spec.claim_count; k++)
        flow->used[node->spec.claims[k].pool] +=
            started * node->spec.claims[k].amount;
    flow_update(flow, step);
}

void flow_begin(struct flow *flow, size_t step, int64_t copies)
{
    struct flow_node *node = &flow->nodes[step];

    assert(node->state == FLOW_WAITING && copies >= 0);
    flow_set_state(flow, node, FLOW_ACTIVE);
    node->copies = node->counts[COPY_READY] = copies;
    if (copies > FEW_COPIES)
        node->many = mem_array((size_t)copies, 1);
    node->first_again = copies;
    flow_update(flow, step);
}

static void end_step(struct flow *flow, size_t step, enum flow_state state)
{
    flow_set_state(flow, &flow->nodes[step], state);
    flow_update(flow, step);
    flow_advance(flow, step);
}

void flow_skip(struct flow *flow, size_t step)
{
    assert(flow->nodes[step].state == FLOW_WAITING);
    end_step(flow, step, FLOW_SKIPPED);
}

void flow_fail(struct flow *flow, size_t step)
{
    assert(flow->nodes[step].state == FLOW_WAITING);
    end_step(flow, step, FLOW_FAILED);
}

void flow_started(struct flow *flow, size_t step, int64_t copy)
{
    flow_set_copy(flow, step, copy, COPY_STARTED);
}

void flow_refuse(struct flow *flow, size_t step, int64_t copy)
{
    flow_set_copy(flow, step, copy, COPY_REFUSED);
}

void flow_give_up(struct flow *flow, size_t step, int64_t copy)
{
    flow_set_copy(flow, step, copy, COPY_GIVEN_UP);
}

void flow_offer_given_up(struct flow *flow, size_t step)
{
    struct flow_node *node = &flow->nodes[step];

    for (int64_t i = 0; node->counts[COPY_GIVEN_UP] > 0; i++) {
        if (*find_copy(node, i) == COPY_GIVEN_UP)
            flow_set_copy(flow, step, i, COPY_READY);
    }
}

void flow_ended(struct flow *flow, size_t step, int64_t copy, bool succeeded)
{
    flow_set_copy(flow, step, copy, succeeded ? COPY_SUCCEEDED : COPY_FAILED);
}

void flow_cancelled(struct flow *flow, size_t step, int64_t copy)
{
    flow_set_copy(flow, step, copy, COPY_CANCELLED);
}

void flow_end(struct flow *flow, size_t step)
{
    struct flow_node *node = &flow->nodes[step];

    assert(node->state == FLOW_ACTIVE && node->counts[COPY_STARTED] == 0);
    end_step(flow, step, find_outcome(node));
}

enum flow_state flow_state(const struct flow *flow, size_t step)
{
    return flow->nodes[step].state;
}

void flow_count(const struct flow *flow, size_t step,
                struct flow_counts *counts)
{
    const struct flow_node *node = &flow->nodes[step];

    *counts = (struct flow_counts){
        .copies = node->copies,
        .started = node->counts[COPY_STARTED],
        .succeeded = node->counts[COPY_SUCCEEDED],
        .failed = node->counts[COPY_FAILED] + node->counts[COPY_CANCELLED] +
                  node->counts[COPY_GIVEN_UP],
        .cancelled = node->counts[COPY_CANCELLED],
        .refused = node->counts[COPY_REFUSED] +
                   (is_over(node) ? node->counts[COPY_READY] : 0),
    };
}

int64_t flow_pool_left(const struct flow *flow, size_t pool)
{
    return flow->sizes[pool] - flow->used[pool];
}

bool flow_is_lost(const struct flow *flow, size_t step)
{
    const struct flow_node *node = &flow->nodes[step];

    return node->state == FLOW_ACTIVE && !may_succeed(node);
}

bool flow_has_failed(const struct flow *flow)
{
    return flow->failed_count[false] + flow->failed_count[true] +
               flow->missed_count[false] + flow->missed_count[true] >
           0;
}

bool flow_is_missed(const struct flow *flow, size_t step)
{
    return flow->nodes[step].is_tainted && !flow->nodes[step].spec.may_fail;
}
