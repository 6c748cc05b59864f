/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>

#include "tests/fault/sim/scenario.h"
#include "tests/fault/sim/temps.h"

/* Mostly on one or two that stand shortly before. */
static uint32_t draw_needs(struct rng *rng, int step)
{
    int64_t count = step == 0 ? 0 : rng_between(rng, 0, 3);
    uint32_t needs = 0;

    for (int64_t i = 0; i < count; i++) {
        int64_t back = rng_magnitude(rng, 1, step);

        needs |= UINT32_C(1) << (step - back);
    }
    return needs;
}

/* One of those that it needs and that ends once, or -1. */
static int draw_condition(const struct scenario *scenario, struct rng *rng,
                          uint32_t needs)
{
    int64_t first = rng_between(rng, 0, SCENARIO_MAX_STEPS - 1);

    if (!rng_percent(rng, 25))
        return -1;
    for (int i = (int)first; i < scenario->step_count; i++) {
        if ((needs >> i & 1) != 0 && !scenario->steps[i].repeats)
            return i;
    }
    return -1;
}

static void draw_claims(const struct scenario *scenario, struct rng *rng,
                        struct scenario_step *step)
{
    for (int i = 0; i < SCENARIO_POOLS; i++)
        if (scenario->pools[i] > 0 && rng_percent(rng, 40))
            step->claims[i] = rng_between(rng, 1, scenario->pools[i]);
}

static void draw_chain(struct scenario_chain *chain, struct rng *rng)
{
    chain->max = rng_between(rng, 1, 6);
    chain->time_ms = rng_magnitude(rng, 5, 3000);
    if (rng_percent(rng, 40)) {
        chain->time_ms = rng_between(rng, 200, 1000);
        chain->total_ms = 1000;
    }
    if (rng_percent(rng, 50))
        chain->before_ms = rng_between(rng, 1, chain->time_ms - 1);
}

static void draw_step(struct scenario *scenario, struct rng *rng)
{
    int index = scenario->step_count;
    struct scenario_step *step = &scenario->steps[index];

    *step = (struct scenario_step){.needs = draw_needs(rng, index),
                                   .copies = 1,
                                   .refused = -1,
                                   .condition = -1};
    if (rng_percent(rng, 40))
        step->copies = rng_between(rng, 2, SCENARIO_MAX_COPIES);
    if (step->copies > 1 && rng_percent(rng, 40))
        step->parallel = rng_between(rng, 1, 2);
    if (step->copies > 1 && rng_percent(rng, 40))
        step->success_count = rng_between(rng, 1, step->copies);
    step->is_always = rng_percent(rng, 30);
    step->may_fail = rng_percent(rng, 30);
    step->repeats = step->copies == 1 && rng_percent(rng, 15);
    if (step->copies > 1 && rng_percent(rng, 25))
        step->refused = rng_between(rng, 0, step->copies - 1);
    else
        step->condition = draw_condition(scenario, rng, step->needs);
    draw_claims(scenario, rng, step);
    if (rng_percent(rng, 25))
        draw_chain(&step->chain, rng);
    scenario->has_checkpoints |= step->repeats || step->chain.max > 0;
    scenario->step_count++;
}

static void add_needs(const struct scenario_step *step, struct buf *text)
{
    const char *comma = "";

    buf_add_string(text, "    needs: [");
    for (int i = 0; i < SCENARIO_MAX_STEPS; i++) {
        if ((step->needs >> i & 1) == 0)
            continue;
        buf_printf(text, "%ss%d", comma, i);
        comma = ", ";
    }
    buf_add_string(text, "]\n");
}

static void add_matrix(const struct scenario_step *step, struct buf *text)
{
    buf_printf(text, "    matrix: {k: {range: [0, %" PRId64 "]}}\n",
               step->copies - 1);
    if (step->parallel > 0)
        buf_printf(text, "    parallel: %" PRId64 "\n", step->parallel);
    if (step->success_count > 0)
        buf_printf(text, "    success_if: %" PRId64 "\n", step->success_count);
    if (step->refused >= 0)
        buf_printf(text, "    if: k <> %" PRId64 "\n", step->refused);
}

/* `p0: 2, p1: 1`, of those that are not 0. */
static void add_pools(const int64_t *amounts, struct buf *text)
{
    const char *comma = "";

    buf_add_string(text, "pools: {");
    for (int i = 0; i < SCENARIO_POOLS; i++) {
        if (amounts[i] == 0)
            continue;
        buf_printf(text, "%sp%d: %" PRId64, comma, i, amounts[i]);
        comma = ", ";
    }
    buf_add_string(text, "}\n");
}

static void add_chain(const struct scenario *scenario,
                      const struct scenario_chain *chain, struct buf *text)
{
    buf_printf(text,
               "    resources: {cpus: 0, grace: %" PRId64 "ms, time: %" PRId64
               "ms}\n    continue: {max: %" PRId64,
               scenario->grace_ms, chain->time_ms, chain->max);
    if (chain->total_ms > 0)
        buf_printf(text, ", total: %" PRId64 "ms", chain->total_ms);
    if (chain->before_ms > 0)
        buf_printf(text, ", signal: USR2@%" PRId64 "ms", chain->before_ms);
    buf_add_string(text, "}\n");
}

static void add_step(const struct scenario *scenario, int index,
                     struct buf *text)
{
    const struct scenario_step *step = &scenario->steps[index];

    buf_printf(text, "  s%d:\n    command: work %d ${{ copy }}\n", index,
               index);
    if (step->needs != 0)
        add_needs(step, text);
    buf_add_string(text, "    ");
    add_pools(step->claims, text);
    if (step->copies > 1)
        add_matrix(step, text);
    if (step->condition >= 0)
        buf_printf(text, "    if: s%d.succeeded > 0\n", step->condition);
    if (step->is_always)
        buf_add_string(text, "    when: always\n");
    if (step->may_fail)
        buf_add_string(text, "    may_fail: true\n");
    if (step->repeats)
        buf_printf(text, "    repeat: {max: %d}\n", SCENARIO_ROUNDS);
    if (step->chain.max > 0)
        add_chain(scenario, &step->chain, text);
    if (step->has_temp)
        buf_add_string(text,
                       "    env: {" TEMPS_VARIABLE ": '${{ dir }}/temp'}\n"
                       "    outputs: {temp: {path: '${{ dir }}/temp', temp: "
                       "true}}\n");
}

void scenario_draw_flow(struct scenario *scenario, struct rng *rng,
                        struct rng *temps, struct buf *text)
{
    int64_t count = rng_magnitude(rng, 1, SCENARIO_MAX_STEPS);

    scenario->habits.parallel = (int)rng_magnitude(rng, 1, 8);
    buf_printf(text, "version: 1\nname: sim\nparallel: %d\n",
               scenario->habits.parallel);
    if (rng_percent(rng, 15)) {
        scenario->time_ms = rng_magnitude(rng, 1000, 60000);
        buf_printf(text, "time: %" PRId64 "ms\n", scenario->time_ms);
    }
    for (int i = 0; i < SCENARIO_POOLS; i++)
        scenario->pools[i] = rng_percent(rng, 40) ? rng_between(rng, 1, 4) : 0;
    add_pools(scenario->pools, text);
    buf_add_string(text, "defaults:\n");
    scenario_draw_task(scenario, rng, text);
    buf_add_string(text, "steps:\n");
    while (scenario->step_count < count) {
        draw_step(scenario, rng);
        scenario->steps[scenario->step_count - 1].has_temp =
            rng_percent(temps, 60);
        add_step(scenario, scenario->step_count - 1, text);
    }
}
