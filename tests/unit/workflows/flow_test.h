/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_UNIT_WORKFLOWS_FLOW_TEST_H
#define SMTUNE_TESTS_UNIT_WORKFLOWS_FLOW_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "workflows/flow.h"

/* A flow, and an engine's part: each step of it must be what comes next. */

#define NEEDS(...)                                                             \
    .needs = (const size_t[]){__VA_ARGS__},                                    \
    .need_count = ARRAY_LEN(((const size_t[]){__VA_ARGS__}))
#define READS(...)                                                             \
    .reads = (const size_t[]){__VA_ARGS__},                                    \
    .read_count = ARRAY_LEN(((const size_t[]){__VA_ARGS__}))
#define CLAIMS(...)                                                            \
    .claims = (const struct flow_claim[]){__VA_ARGS__},                        \
    .claim_count = ARRAY_LEN(((const struct flow_claim[]){__VA_ARGS__}))
#define FLOW(steps, ...)                                                       \
    make_flow(steps, ARRAY_LEN(steps), (const int64_t[]){__VA_ARGS__},         \
              ARRAY_LEN(((const int64_t[]){__VA_ARGS__})))

UNUSED static struct flow *make_flow(const struct flow_step *steps,
                                     size_t count, const int64_t *pools,
                                     size_t pool_count)
{
    struct err err = {0};
    struct flow *flow = flow_create(steps, count, pools, pool_count, &err);

    if (flow == NULL)
        fail_msg("%s", err.text);
    return flow;
}

UNUSED static struct flow_next expect(struct flow *flow, enum flow_kind kind,
                                      size_t step)
{
    struct flow_next next = flow_next(flow), same = flow_next(flow);

    assert_int_equal(next.kind, kind);
    assert_int_equal(same.kind, kind);
    assert_int_equal(same.step, next.step);
    assert_int_equal(same.copy, next.copy);
    if (kind != FLOW_NOTHING && kind != FLOW_OVER)
        assert_int_equal(next.step, step);
    return next;
}

UNUSED static void begin(struct flow *flow, size_t step, int64_t copies)
{
    expect(flow, FLOW_BEGIN, step);
    flow_begin(flow, step, copies);
}

UNUSED static void start(struct flow *flow, size_t step, int64_t copy)
{
    struct flow_next next = expect(flow, FLOW_START, step);

    assert_int_equal(next.copy, copy);
    flow_started(flow, step, copy);
}

UNUSED static void end(struct flow *flow, size_t step, enum flow_state state)
{
    struct flow_next next = expect(flow, FLOW_END, step);

    assert_int_equal(next.state, state);
    flow_end(flow, step);
    assert_int_equal(flow_state(flow, step), state);
}

UNUSED static void leave_out(struct flow *flow, size_t step, size_t because)
{
    struct flow_next next = expect(flow, FLOW_SKIP, step);

    assert_int_equal(next.because, because);
    flow_skip(flow, step);
    assert_int_equal(flow_state(flow, step), FLOW_SKIPPED);
}

/* A step of one copy, from its begin to its end. */
UNUSED static void pass(struct flow *flow, size_t step, bool succeeds)
{
    begin(flow, step, 1);
    start(flow, step, 0);
    flow_ended(flow, step, 0, succeeds);
    end(flow, step, succeeds ? FLOW_SUCCEEDED : FLOW_FAILED);
}

UNUSED static void finish(struct flow *flow)
{
    expect(flow, FLOW_OVER, 0);
    flow_destroy(flow);
}

#endif
