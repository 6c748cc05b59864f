/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workflows/flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/rng.h"

/*
 * Random workflows, run by a random engine, against a model that is as simple
 * as the header's words: whatever ran when, the model knows how it ends.
 */

enum { STEPS = 24, COPIES = 12, POOLS = 3, CASES = 4000 };
enum fate { BEGINS, LEFT_OUT, CANNOT };
enum outcome { SUCCEEDS, FAILS, REFUSED };
enum doing { READY, AGAIN, RUNNING, DONE };

struct world {
    struct rng rng;
    size_t count;
    struct flow_step steps[STEPS];
    size_t needs[STEPS][STEPS], reads[STEPS][STEPS];
    struct flow_claim claims[STEPS][POOLS];
    int64_t pools[POOLS];
    enum fate fates[STEPS];
    int64_t copies[STEPS];
    enum outcome outcomes[STEPS][COPIES];
    /* What the engine has done. */
    bool has_begun[STEPS], is_ended[STEPS];
    enum doing doing[STEPS][COPIES];
    struct flow *flow;
};

static size_t draw(struct world *world, size_t bound)
{
    return (size_t)rng_below(&world->rng, bound);
}

/* --- the model --- */

#define UNKNOWN FLOW_ACTIVE /* nothing is active in the end */

struct model {
    enum flow_state states[STEPS];
    bool through_failure[STEPS]; /* skipped by its rule, for a failure */
};

static bool model_copies_succeed(const struct world *world, size_t step)
{
    const struct flow_step *spec = &world->steps[step];
    int64_t good = 0, all = 0, wanted = 0;

    for (int64_t k = 0; k < world->copies[step]; k++) {
        all += world->outcomes[step][k] != REFUSED;
        good += world->outcomes[step][k] == SUCCEEDS;
    }
    if (spec->success_count > 0)
        return good >= spec->success_count;
    if (spec->success_fraction <= 0)
        return good == all;
    while ((double)wanted + 1e-6 < spec->success_fraction * (double)all)
        wanted++;
    return good >= wanted;
}

static bool model_run_has_failed(const struct world *world,
                                 const struct model *model, bool of_finals)
{
    for (size_t i = 0; i < world->count; i++)
        if ((model->states[i] == FLOW_FAILED || model->through_failure[i]) &&
            !world->steps[i].may_fail &&
            (of_finals || !world->steps[i].is_final))
            return true;
    return false;
}

/* Steps that are read have one copy, or start them all. */
static bool model_lacks_outputs(const struct world *world,
                                const struct model *model, size_t step)
{
    bool is_made = false;

    for (int64_t k = 0; k < world->copies[step]; k++)
        is_made |= world->fates[step] == BEGINS &&
                   world->outcomes[step][k] == SUCCEEDS;
    return model->through_failure[step] ||
           (model->states[step] == FLOW_FAILED && !is_made);
}

static bool model_is_ready(const struct world *world, const struct model *model,
                           size_t step)
{
    const struct flow_step *spec = &world->steps[step];

    for (size_t k = 0; k < spec->need_count; k++)
        if (model->states[spec->needs[k]] == UNKNOWN)
            return false;
    for (size_t i = 0; i < world->count; i++)
        if (spec->is_final && !world->steps[i].is_final &&
            model->states[i] == UNKNOWN)
            return false;
    return true;
}

static void model_decide(const struct world *world, struct model *model,
                         size_t step)
{
    const struct flow_step *spec = &world->steps[step];
    bool failed = spec->is_final && model_run_has_failed(world, model, false);
    bool excused = false, through = false, skipped = false, begins = true;

    for (size_t k = 0; k < spec->need_count; k++) {
        size_t need = spec->needs[k];

        failed |=
            model->states[need] == FLOW_FAILED && !world->steps[need].may_fail;
        excused |= model->states[need] == FLOW_FAILED;
        skipped |= model->states[need] == FLOW_SKIPPED &&
                   (k + spec->order_count < spec->need_count ||
                    model->through_failure[need]);
        through |= model->through_failure[need];
    }
    for (size_t k = 0; k < spec->read_count; k++)
        failed |= spec->when == FLOW_ALL_SUCCESS &&
                  model_lacks_outputs(world, model, spec->reads[k]);
    if (spec->when == FLOW_ALL_SUCCESS)
        begins = !failed && !skipped;
    else if (spec->when == FLOW_ALL_DONE)
        begins = !skipped;
    else if (spec->when == FLOW_ANY_FAILED)
        begins = failed || excused || through;
    if (!begins)
        model->through_failure[step] =
            through || (failed && spec->when == FLOW_ALL_SUCCESS);
    if (!begins || world->fates[step] == LEFT_OUT)
        model->states[step] = FLOW_SKIPPED;
    else if (world->fates[step] == CANNOT || !model_copies_succeed(world, step))
        model->states[step] = FLOW_FAILED;
    else
        model->states[step] = FLOW_SUCCEEDED;
}

static struct model model_of(const struct world *world)
{
    struct model model = {.through_failure = {false}};
    bool goes_on = true;

    for (size_t i = 0; i < world->count; i++)
        model.states[i] = UNKNOWN;
    while (goes_on) {
        goes_on = false;
        for (size_t i = 0; i < world->count; i++)
            if (model.states[i] == UNKNOWN &&
                model_is_ready(world, &model, i)) {
                model_decide(world, &model, i);
                goes_on = true;
            }
    }
    return model;
}

/* --- what may start, of all that has begun --- */

static int64_t count_doing(const struct world *world, size_t step,
                           enum doing doing)
{
    int64_t count = 0;

    for (int64_t k = 0; world->has_begun[step] && k < world->copies[step]; k++)
        count += world->doing[step][k] == doing;
    return count;
}

static int64_t pool_used(const struct world *world, size_t pool)
{
    int64_t used = 0;

    for (size_t i = 0; i < world->count; i++)
        for (size_t k = 0; k < world->steps[i].claim_count; k++)
            if (world->claims[i][k].pool == pool)
                used +=
                    world->claims[i][k].amount * count_doing(world, i, RUNNING);
    return used;
}

/* Whether it could still succeed if all went well from here. */
static bool has_hope(const struct world *world, size_t step)
{
    struct world best = *world;

    for (int64_t k = 0; k < world->copies[step]; k++)
        if (world->doing[step][k] != DONE)
            best.outcomes[step][k] = SUCCEEDS;
    return model_copies_succeed(&best, step);
}

static bool goes_on(const struct world *world, size_t step)
{
    return world->steps[step].starts_all || has_hope(world, step);
}

static bool may_start(const struct world *world, size_t step)
{
    const struct flow_step *spec = &world->steps[step];

    if (!world->has_begun[step] || world->is_ended[step])
        return false;
    if (spec->parallel > 0 &&
        count_doing(world, step, RUNNING) >= spec->parallel)
        return false;
    return count_doing(world, step, AGAIN) > 0 ||
           (count_doing(world, step, READY) > 0 && goes_on(world, step));
}

static bool is_ahead(const struct world *world, size_t a, size_t b)
{
    int64_t first = world->steps[a].priority, second = world->steps[b].priority;

    return first != second ? first > second : a < b;
}

static bool claims_same(const struct world *world, size_t a, size_t b)
{
    const struct flow_step *x = &world->steps[a], *y = &world->steps[b];

    if (x->claim_count != y->claim_count)
        return false;
    for (size_t k = 0; k < x->claim_count; k++)
        if (x->claims[k].pool != y->claims[k].pool ||
            x->claims[k].amount != y->claims[k].amount)
            return false;
    return true;
}

/* What a pool has to spare for a step, when all ahead of it that wait have
 * theirs. */
static int64_t find_room(const struct world *world, size_t step, size_t pool)
{
    int64_t room = world->pools[pool] - pool_used(world, pool);

    for (size_t i = 0; i < world->count; i++) {
        bool is_first = may_start(world, i) && is_ahead(world, i, step);

        for (size_t j = 0; j < world->count && is_first; j++)
            is_first = !may_start(world, j) || !is_ahead(world, j, i) ||
                       !claims_same(world, i, j);
        for (size_t k = 0; k < world->steps[i].claim_count && is_first; k++)
            if (world->claims[i][k].pool == pool)
                room -= world->claims[i][k].amount;
    }
    return room;
}

static bool fits(const struct world *world, size_t step)
{
    for (size_t k = 0; k < world->steps[step].claim_count; k++)
        if (find_room(world, step, world->claims[step][k].pool) <
            world->claims[step][k].amount)
            return false;
    return true;
}

/* FLOW_NO_STEP: none may. */
static size_t first_to_start(const struct world *world)
{
    size_t first = FLOW_NO_STEP;

    for (size_t i = 0; i < world->count; i++)
        if (may_start(world, i) && fits(world, i) &&
            (first == FLOW_NO_STEP || is_ahead(world, i, first)))
            first = i;
    return first;
}

/* --- a random engine --- */

static void check_needs_are_over(const struct world *world, size_t step)
{
    for (size_t i = 0; i < world->count; i++) {
        bool is_needed =
            world->steps[step].is_final && !world->steps[i].is_final;

        for (size_t k = 0; k < world->steps[step].need_count; k++)
            is_needed |= world->needs[step][k] == i;
        if (is_needed)
            assert_true(world->is_ended[i]);
    }
    assert_false(world->has_begun[step]);
    assert_false(world->is_ended[step]);
}

static void answer_begin(struct world *world, size_t step)
{
    check_needs_are_over(world, step);
    if (world->fates[step] == BEGINS) {
        flow_begin(world->flow, step, world->copies[step]);
        world->has_begun[step] = true;
        memset(world->doing[step], 0, sizeof(world->doing[step]));
        return;
    }
    if (world->fates[step] == LEFT_OUT)
        flow_skip(world->flow, step);
    else
        flow_fail(world->flow, step);
    world->is_ended[step] = true;
}

static void answer_start(struct world *world, struct flow_next next)
{
    enum doing kind = count_doing(world, next.step, AGAIN) > 0 ? AGAIN : READY;
    enum doing *doing = world->doing[next.step];

    assert_int_equal(next.step, first_to_start(world));
    assert_int_equal(doing[next.copy], kind);
    for (int64_t k = 0; k < next.copy; k++)
        assert_int_not_equal(doing[k], kind);
    if (world->outcomes[next.step][next.copy] == REFUSED) {
        flow_refuse(world->flow, next.step, next.copy);
        doing[next.copy] = DONE;
        return;
    }
    flow_started(world->flow, next.step, next.copy);
    doing[next.copy] = RUNNING;
    for (size_t pool = 0; pool < POOLS; pool++) {
        assert_true(pool_used(world, pool) <= world->pools[pool]);
        assert_int_equal(flow_pool_left(world->flow, pool),
                         world->pools[pool] - pool_used(world, pool));
    }
}

static void answer(struct world *world, struct flow_next next)
{
    if (next.kind == FLOW_BEGIN) {
        answer_begin(world, next.step);
    } else if (next.kind == FLOW_SKIP) {
        check_needs_are_over(world, next.step);
        flow_skip(world->flow, next.step);
        world->is_ended[next.step] = true;
    } else if (next.kind == FLOW_START) {
        answer_start(world, next);
    } else {
        assert_int_equal(next.kind, FLOW_END);
        assert_int_equal(count_doing(world, next.step, RUNNING), 0);
        assert_int_equal(count_doing(world, next.step, AGAIN), 0);
        assert_true(count_doing(world, next.step, READY) == 0 ||
                    !goes_on(world, next.step));
        flow_end(world->flow, next.step);
        world->is_ended[next.step] = true;
        assert_int_equal(flow_state(world->flow, next.step), next.state);
    }
}

static size_t count_running(const struct world *world)
{
    size_t running = 0;

    for (size_t i = 0; i < world->count; i++)
        running += (size_t)count_doing(world, i, RUNNING);
    return running;
}

static void end_copy(struct world *world, size_t step, int64_t copy)
{
    flow_ended(world->flow, step, copy,
               world->outcomes[step][copy] == SUCCEEDS);
    world->doing[step][copy] = DONE;
}

static void end_any(struct world *world)
{
    size_t chosen = draw(world, count_running(world));

    for (size_t i = 0; i < world->count; i++)
        for (int64_t k = 0; world->has_begun[i] && k < world->copies[i]; k++)
            if (world->doing[i][k] == RUNNING && chosen-- == 0) {
                end_copy(world, i, k);
                return;
            }
}

static struct flow *make_flow(const struct world *world)
{
    struct flow *flow =
        flow_create(world->steps, world->count, world->pools, POOLS, NULL);

    assert_non_null(flow);
    return flow;
}

static void tell_copy(const struct world *world, struct flow *flow, size_t step,
                      int64_t copy)
{
    if (world->doing[step][copy] == RUNNING)
        flow_started(flow, step, copy);
    else if (world->doing[step][copy] == AGAIN)
        flow_reopen(flow, step, copy);
    else if (world->doing[step][copy] == DONE &&
             world->outcomes[step][copy] == REFUSED)
        flow_refuse(flow, step, copy);
    else if (world->doing[step][copy] == DONE)
        flow_ended(flow, step, copy, world->outcomes[step][copy] == SUCCEEDS);
}

static void tell_step(struct world *world, struct flow *flow, size_t step)
{
    enum flow_state state = flow_state(world->flow, step);

    if (!world->has_begun[step]) {
        if (state == FLOW_SKIPPED)
            flow_skip(flow, step);
        else if (state == FLOW_FAILED)
            flow_fail(flow, step);
        return;
    }
    flow_begin(flow, step, world->copies[step]);
    for (int64_t k = world->copies[step]; k-- > 0;)
        tell_copy(world, flow, step, k);
    if (world->is_ended[step])
        flow_end(flow, step);
}

/* The engine is gone; another is told what is known, in any order. */
static void crash(struct world *world)
{
    struct flow *flow = make_flow(world);
    struct flow_next before = flow_next(world->flow), after;
    size_t order[STEPS];

    for (size_t i = 0; i < world->count; i++) {
        size_t at = draw(world, i + 1);

        order[i] = order[at];
        order[at] = i;
    }
    for (size_t i = 0; i < world->count; i++)
        tell_step(world, flow, order[i]);
    after = flow_next(flow);
    assert_int_equal(after.kind, before.kind);
    assert_int_equal(after.step, before.step);
    assert_int_equal(after.copy, before.copy);
    assert_int_equal(after.because, before.because);
    flow_destroy(world->flow);
    world->flow = flow;
}

static void run(struct world *world, size_t crash_every)
{
    for (;;) {
        struct flow_next next = flow_next(world->flow);
        size_t running = count_running(world);

        if (next.kind == FLOW_OVER)
            return;
        if (crash_every > 0 && draw(world, crash_every) == 0)
            crash(world);
        if (next.kind == FLOW_NOTHING) {
            assert_int_equal(first_to_start(world), FLOW_NO_STEP);
            assert_true(running > 0);
        }
        if (running > 0 && (next.kind == FLOW_NOTHING || draw(world, 3) == 0))
            end_any(world);
        else
            answer(world, next);
    }
}

static void check_end(const struct world *world)
{
    struct model model = model_of(world);

    for (size_t i = 0; i < world->count; i++)
        assert_int_equal(flow_state(world->flow, i), model.states[i]);
    assert_int_equal(flow_has_failed(world->flow),
                     model_run_has_failed(world, &model, true));
}

/* --- random workflows --- */

static void draw_fates(struct world *world, size_t step)
{
    size_t fate = draw(world, 12);

    world->fates[step] = fate == 0 ? LEFT_OUT : fate == 1 ? CANNOT : BEGINS;
    for (size_t k = 0; k < COPIES; k++) {
        size_t outcome = draw(world, 10);

        world->outcomes[step][k] = outcome == 0   ? REFUSED
                                   : outcome == 1 ? FAILS
                                                  : SUCCEEDS;
    }
}

static void draw_claims(struct world *world, size_t step)
{
    struct flow_step *spec = &world->steps[step];

    spec->claims = world->claims[step];
    for (size_t pool = 0; pool < POOLS; pool++)
        if (draw(world, 3) == 0)
            world->claims[step][spec->claim_count++] = (struct flow_claim){
                .pool = pool,
                .amount = 1 + (int64_t)draw(world, (size_t)world->pools[pool]),
            };
}

static bool starts_all_copies(const struct world *world, size_t step)
{
    const struct flow_step *spec = &world->steps[step];

    return spec->starts_all ||
           (world->copies[step] == 1 && spec->success_count <= 1);
}

/* Of what it needs, near or far. */
static void draw_reads(struct world *world, size_t step)
{
    struct flow_step *spec = &world->steps[step];

    spec->reads = world->reads[step];
    for (size_t k = 0; k < 2 * spec->need_count; k++) {
        size_t read = spec->needs[k / 2];
        const struct flow_step *need = &world->steps[read];

        if (k % 2 == 1 && need->need_count > 0)
            read = need->needs[draw(world, need->need_count)];
        if (spec->read_count < STEPS && draw(world, 3) == 0 &&
            starts_all_copies(world, read))
            world->reads[step][spec->read_count++] = read;
    }
}

/* `order` is one in which the steps may run. */
static void draw_step(struct world *world, const size_t *order, size_t at)
{
    size_t step = order[at];
    struct flow_step *spec = &world->steps[step];
    size_t density = 1 + draw(world, 6);

    spec->when =
        draw(world, 2) == 0 ? FLOW_ALL_SUCCESS : (enum flow_when)draw(world, 4);
    spec->is_final = draw(world, 6) == 0;
    spec->may_fail = draw(world, 4) == 0;
    spec->priority = draw(world, 2) == 0 ? 0 : (int64_t)draw(world, 5) - 2;
    spec->parallel = draw(world, 2) == 0 ? 0 : 1 + (int64_t)draw(world, 4);
    spec->success_count = draw(world, 4) == 0 ? (int64_t)draw(world, 6) : 0;
    spec->success_fraction =
        draw(world, 2) == 0 ? 0.0 : (double)draw(world, 100) / 100;
    spec->starts_all = draw(world, 3) == 0;
    spec->needs = world->needs[step];
    for (size_t k = 0; k < at; k++)
        if (draw(world, density) == 0 &&
            (spec->is_final || !world->steps[order[k]].is_final))
            world->needs[step][spec->need_count++] = order[k];
    spec->order_count =
        draw(world, 2) == 0 ? 0 : draw(world, spec->need_count + 1);
    world->copies[step] =
        draw(world, 3) == 0 ? (int64_t)draw(world, COPIES + 1) : 1;
    draw_claims(world, step);
    draw_fates(world, step);
    draw_reads(world, step);
}

static void draw_world(struct world *world, uint64_t seed)
{
    size_t order[STEPS];

    memset(world, 0, sizeof(*world));
    rng_init(&world->rng, seed, 0, 0);
    world->count = 1 + draw(world, draw(world, 4) == 0 ? STEPS : 8);
    for (size_t pool = 0; pool < POOLS; pool++)
        world->pools[pool] = 1 + (int64_t)draw(world, 6);
    for (size_t i = 0; i < world->count; i++) {
        size_t at = draw(world, i + 1);

        order[i] = order[at];
        order[at] = i;
    }
    for (size_t i = 0; i < world->count; i++)
        draw_step(world, order, i);
    world->flow = make_flow(world);
}

static void test_flow__ends_as_the_model_says(void **state)
{
    struct world world;

    (void)state;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        draw_world(&world, seed);
        run(&world, 0);
        check_end(&world);
        flow_destroy(world.flow);
    }
}

static void test_flow__crashes_change_nothing(void **state)
{
    struct world world;

    (void)state;
    for (uint64_t seed = 1; seed <= CASES / 4; seed++) {
        draw_world(&world, seed);
        run(&world, 10);
        check_end(&world);
        flow_destroy(world.flow);
    }
}

/* What has begun, or not, is no longer the engine's to know. */
static void forget_what_waits(struct world *world)
{
    for (size_t i = 0; i < world->count; i++)
        if (flow_state(world->flow, i) == FLOW_WAITING)
            world->has_begun[i] = world->is_ended[i] = false;
}

static bool needs_any(const struct world *world, size_t step, const bool *marks)
{
    for (size_t i = 0; i < world->count; i++)
        if (marks[i] && world->steps[step].is_final &&
            !world->steps[i].is_final)
            return true;
    for (size_t k = 0; k < world->steps[step].need_count; k++)
        if (marks[world->needs[step][k]])
            return true;
    return false;
}

/* What needs it, near or far, waits, and nothing else. */
static void check_what_waits(const struct world *world, size_t reopened)
{
    bool marks[STEPS] = {false}, goes_on = true;

    marks[reopened] = true;
    while (goes_on) {
        goes_on = false;
        for (size_t i = 0; i < world->count; i++)
            if (!marks[i] && needs_any(world, i, marks))
                marks[i] = goes_on = true;
    }
    for (size_t i = 0; i < world->count; i++)
        if (i != reopened)
            assert_int_equal(flow_state(world->flow, i) == FLOW_WAITING,
                             marks[i]);
}

static void put_back_copies(struct world *world, size_t step)
{
    for (int64_t k = 0; k < world->copies[step]; k++) {
        if (world->doing[step][k] != DONE || draw(world, 2) == 0)
            continue;
        flow_reopen(world->flow, step, k);
        world->doing[step][k] = AGAIN;
        world->is_ended[step] = false;
        world->outcomes[step][k] = (enum outcome)draw(world, 3);
        assert_int_equal(flow_state(world->flow, step), FLOW_ACTIVE);
        check_what_waits(world, step);
    }
}

static void put_back_step(struct world *world, size_t step)
{
    flow_reset(world->flow, step);
    assert_int_equal(flow_state(world->flow, step), FLOW_WAITING);
    check_what_waits(world, step);
    draw_fates(world, step);
}

static void test_flow__goes_on_from_what_is_put_back(void **state)
{
    struct world world;

    (void)state;
    for (uint64_t seed = 1; seed <= CASES / 2; seed++) {
        draw_world(&world, seed);
        for (int round = 0; round < 4; round++) {
            size_t step = draw(&world, world.count);

            run(&world, round == 3 ? 10 : 0);
            check_end(&world);
            if (draw(&world, 3) == 0)
                put_back_step(&world, step);
            else if (world.has_begun[step])
                put_back_copies(&world, step);
            forget_what_waits(&world);
        }
        flow_destroy(world.flow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flow__ends_as_the_model_says),
        cmocka_unit_test(test_flow__crashes_change_nothing),
        cmocka_unit_test(test_flow__goes_on_from_what_is_put_back),
    };

    return cmocka_run_group_tests_name("flow_model", tests, NULL, NULL);
}
