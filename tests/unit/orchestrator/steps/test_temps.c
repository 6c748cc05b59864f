/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/steps/temps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"

enum { STEPS_MAX = 12, HISTORIES = 3000 };

/* A workflow at random, whose steps end at random. */
struct world {
    struct rng rng;
    struct step steps[STEPS_MAX];
    struct flow_step flow_steps[STEPS_MAX];
    size_t needs[STEPS_MAX][STEPS_MAX], reads[STEPS_MAX][STEPS_MAX];
    struct workflow workflow;
    struct flow *flow;
    struct temps *temps;
    bool was_given[STEPS_MAX];
};

static int64_t between(struct world *world, int64_t low, int64_t high)
{
    return low + (int64_t)rng_below(&world->rng, (uint64_t)(high - low) + 1);
}

static bool percent(struct world *world, int64_t share)
{
    return between(world, 1, 100) <= share;
}

static void draw_needs(struct world *world, size_t step)
{
    struct flow_step *flow = &world->flow_steps[step];

    for (size_t i = 0; i < step; i++) {
        if (world->flow_steps[i].is_final != flow->is_final)
            continue;
        if (percent(world, 30)) {
            world->needs[step][flow->need_count++] = i;
            graph_add(world->workflow.graph, step, i);
        } else if (flow->need_count > 0 && percent(world, 10) &&
                   world->steps[step].kind == STEP_TASK &&
                   world->steps[i].kind == STEP_TASK) {
            world->reads[step][flow->read_count++] = i;
        }
    }
}

static void make(struct world *world, uint64_t seed)
{
    size_t count;

    memset(world, 0, sizeof(*world));
    rng_init(&world->rng, seed, 0, 0);
    count = (size_t)between(world, 2, STEPS_MAX);
    world->workflow.graph = graph_create(count);
    for (size_t i = 0; i < count; i++) {
        struct flow_step *flow = &world->flow_steps[i];

        flow->is_final = i + 2 >= count && percent(world, 50);
        if (i > 0 && world->flow_steps[i - 1].is_final)
            flow->is_final = true;
        world->steps[i].kind = percent(world, 20) ? STEP_JOIN : STEP_TASK;
        world->steps[i].has_temps = world->steps[i].kind == STEP_TASK;
        draw_needs(world, i);
        flow->needs = world->needs[i];
        flow->reads = world->reads[i];
        flow->when = percent(world, 30) ? FLOW_ALWAYS : FLOW_ALL_SUCCESS;
        flow->may_fail = percent(world, 30);
        flow->success_count = percent(world, 20);
    }
    world->workflow.steps = world->steps;
    world->workflow.flow_steps = world->flow_steps;
    world->workflow.step_count = count;
    world->flow = flow_create(world->flow_steps, count, NULL, 0, NULL);
    world->temps = temps_create(&world->workflow, world->flow);
}

static void clear(struct world *world)
{
    temps_destroy(world->temps);
    flow_destroy(world->flow);
    graph_destroy(world->workflow.graph);
}

/* ---- as the header has it, word by word ---- */

static bool is_settled(const struct world *world, size_t step)
{
    const struct flow_step *flow = &world->flow_steps[step];
    enum flow_state state = flow_state(world->flow, step);
    struct flow_counts counts;

    flow_count(world->flow, step, &counts);
    if ((state != FLOW_SUCCEEDED && state != FLOW_SKIPPED) || counts.failed > 0)
        return false;
    for (size_t i = 0; i < flow->need_count; i++)
        if (!is_settled(world, flow->needs[i]))
            return false;
    for (size_t i = 0; flow->is_final && i < world->workflow.step_count; i++)
        if (!world->flow_steps[i].is_final && !is_settled(world, i))
            return false;
    return true;
}

static bool is_due(const struct world *world, size_t step)
{
    bool users[STEPS_MAX] = {false}, due = is_settled(world, step);

    workflow_mark_users(&world->workflow, step, users);
    for (size_t i = 0; i < world->workflow.step_count; i++)
        due &= !users[i] || is_settled(world, i);
    return due;
}

/* Each is given once, as soon as it is due. */
static void check(struct world *world)
{
    size_t step;

    while (temps_next(world->temps, &step)) {
        assert_false(world->was_given[step]);
        world->was_given[step] = true;
    }
    assert_false(temps_has_next(world->temps));
    for (size_t i = 0; i < world->workflow.step_count; i++) {
        bool has_temps = world->steps[i].has_temps;
        bool due = has_temps && is_due(world, i);
        size_t open;

        if (due != (has_temps && temps_are_due(world->temps, i)) ||
            due != world->was_given[i])
            fail_msg("step %zu: due %d, given %d, asked %d", i, due,
                     world->was_given[i], temps_are_due(world->temps, i));
        if (!has_temps)
            continue;
        open = temps_wait_for(world->temps, i);
        assert_int_equal(open == SIZE_MAX, due);
        assert_true(due || !is_settled(world, open));
    }
}

/* ---- histories ---- */

static void begin(struct world *world, size_t step)
{
    bool is_join = world->steps[step].kind == STEP_JOIN;

    if (!is_join && percent(world, 15)) {
        flow_skip(world->flow, step);
        temps_ended(world->temps, step);
    } else if (!is_join && percent(world, 5)) {
        flow_fail(world->flow, step);
    } else {
        flow_begin(world->flow, step, is_join ? 0 : between(world, 1, 3));
    }
}

static bool take_one(struct world *world)
{
    const struct flow_next next = flow_next(world->flow);

    switch (next.kind) {
    case FLOW_BEGIN:
        begin(world, next.step);
        return true;
    case FLOW_SKIP:
        flow_skip(world->flow, next.step);
        temps_ended(world->temps, next.step);
        return true;
    case FLOW_START:
        flow_started(world->flow, next.step, next.copy);
        flow_ended(world->flow, next.step, next.copy, percent(world, 90));
        return true;
    case FLOW_END:
        flow_end(world->flow, next.step);
        temps_ended(world->temps, next.step);
        return true;
    case FLOW_NOTHING:
    case FLOW_OVER:
        break;
    }
    return false;
}

/* A copy runs again, by a retry. */
static void reopen(struct world *world)
{
    size_t step =
        (size_t)between(world, 0, (int64_t)world->workflow.step_count - 1);
    struct flow_counts counts;

    flow_count(world->flow, step, &counts);
    if (counts.succeeded + counts.failed == 0 ||
        flow_state(world->flow, step) == FLOW_ACTIVE ||
        counts.succeeded + counts.failed < counts.copies ||
        !flow_may_reopen(world->flow, step))
        return;
    flow_reopen(world->flow, step, 0);
    temps_look_again(world->temps);
    memset(world->was_given, 0, sizeof(world->was_given));
}

static void test_temps__are_due_as_soon_as_nothing_needs_them(void **state)
{
    int64_t given = 0, kept = 0;

    (void)state;
    for (uint64_t seed = 0; seed < HISTORIES; seed++) {
        struct world world;

        make(&world, seed);
        for (int i = 0; world.temps != NULL && i < 200; i++) {
            if (!take_one(&world) && percent(&world, 50))
                break;
            if (percent(&world, 5))
                reopen(&world);
            check(&world);
        }
        for (size_t i = 0; i < world.workflow.step_count; i++) {
            given += world.was_given[i];
            kept += world.steps[i].has_temps && !world.was_given[i];
        }
        clear(&world);
    }
    assert_true(given > HISTORIES && kept > HISTORIES);
}

static void test_temps__a_step_that_was_cut_off_may_need_them(void **state)
{
    static const size_t zero[] = {0};
    struct step steps[] = {{.kind = STEP_TASK, .has_temps = true},
                           {.kind = STEP_TASK}};
    struct flow_step flow_steps[] = {{0}, {.needs = zero, .need_count = 1}};
    struct workflow workflow = {
        .steps = steps, .flow_steps = flow_steps, .step_count = 2};
    struct temps *temps;
    struct flow *flow;
    size_t step;

    (void)state;
    workflow.graph = graph_create(2);
    graph_add(workflow.graph, 1, 0);
    flow = flow_create(flow_steps, 2, NULL, 0, NULL);
    temps = temps_create(&workflow, flow);
    flow_begin(flow, 0, 0);
    flow_end(flow, 0);
    temps_ended(temps, 0);
    flow_skip(flow, 1);
    temps_ended(temps, 1);
    temps_cut_off(temps, 1);
    assert_false(temps_next(temps, &step));
    assert_int_equal(temps_wait_for(temps, 0), 1);
    temps_destroy(temps);
    flow_destroy(flow);
    graph_destroy(workflow.graph);
}

static void test_temps__without_any_there_is_nothing_to_do(void **state)
{
    struct step steps[] = {{.kind = STEP_TASK}};
    struct flow_step flow_steps[] = {{0}};
    const struct workflow workflow = {
        .steps = steps, .flow_steps = flow_steps, .step_count = 1};
    size_t step;

    (void)state;
    assert_null(temps_create(&workflow, NULL));
    temps_ended(NULL, 0);
    temps_cut_off(NULL, 0);
    temps_look_again(NULL);
    assert_false(temps_next(NULL, &step));
    assert_false(temps_has_next(NULL));
    assert_false(temps_are_due(NULL, 0));
    temps_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_temps__are_due_as_soon_as_nothing_needs_them),
        cmocka_unit_test(test_temps__a_step_that_was_cut_off_may_need_them),
        cmocka_unit_test(test_temps__without_any_there_is_nothing_to_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
