/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fault/sim/scenario.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

enum { STREAM_SCENARIO = 3, STREAM_KIND = 4, STREAM_TEMPS = 7 };

/* As often as each is to be drawn: what learns costs more time. */
static const struct {
    const char *name;
    bool learns;
    int weight;
} methods[] = {
    {"random", false, 30}, {"sobol", false, 25},  {"grid", false, 15},
    {"tpe", true, 16},     {"cmaes", true, 5},    {"nsga2", true, 5},
    {"auto", true, 3},     {"bayesian", true, 1},
};

static size_t draw_method(struct rng *rng)
{
    int64_t drawn = rng_between(rng, 0, 99);
    size_t i = 0;

    while (i + 1 < ARRAY_LEN(methods) && drawn >= methods[i].weight)
        drawn -= methods[i++].weight;
    return i;
}

static void add_search(struct scenario *scenario, struct rng *rng,
                       struct buf *text)
{
    static const char *const duplicates[] = {
        "}\n", "}\n", ", duplicates: reuse}\n", "}\nrepeats: 2\n"};
    size_t method = draw_method(rng);
    bool is_grid = strcmp(methods[method].name, "grid") == 0;

    scenario->learns = methods[method].learns;
    scenario->is_finite = is_grid || rng_percent(rng, 15);
    buf_add_string(text, "parameters:\n"
                         "  k: {type: int, min: 1, max: 4}\n"
                         "  c: {type: categorical, values: [a, b]}\n");
    if (!scenario->is_finite)
        buf_add_string(text, "  x: {type: float, min: 0, max: 1}\n");
    if (rng_percent(rng, 20))
        buf_add_string(text, "enqueue: [{k: 2}, {c: b, k: 1}]\n");
    buf_printf(text, "search: {method: %s, seed: %" PRId64 "%s",
               methods[method].name, rng_between(rng, 0, 1000),
               duplicates[is_grid ? 0 : rng_below(rng, ARRAY_LEN(duplicates))]);
}

static const struct scenario_schedule schedules[] = {
    {"method: asha, type: promotion, min: 1, eta: 3", true, false, false},
    {"method: asha, type: promotion, min: 1, eta: 2, brackets: 2", true, false,
     false},
    {"method: asha, type: stopping, min: 1, eta: 3", false, false, false},
    {"method: hyperband, min: 1, eta: 3", true, false, false},
    {"method: median, min_trials: 2", false, false, false},
    {"method: pbt, min: 3, population: 4", true, true, true},
};

static void add_schedule(struct scenario *scenario, struct rng *rng,
                         struct buf *text)
{
    struct site_habits *habits = &scenario->habits;

    if (!rng_percent(rng, 30))
        return;
    scenario->schedule = &schedules[rng_below(rng, ARRAY_LEN(schedules))];
    habits->max_epochs = SCENARIO_MAX_EPOCHS;
    habits->is_stepless = rng_percent(rng, 20);
    if (scenario->schedule->pauses)
        habits->overshoot = rng_percent(rng, 60) ? 0 : 20;
    buf_printf(text, "schedule: {resource: epochs, max: %d, %s}\n",
               SCENARIO_MAX_EPOCHS, scenario->schedule->text);
}

static void add_budget(struct scenario *scenario, struct rng *rng,
                       struct buf *text)
{
    scenario->trials = rng_magnitude(rng, 1, 30);
    scenario->habits.parallel = (int)rng_magnitude(rng, 1, 16);
    buf_printf(text, "budget: {trials: %" PRId64 ", parallel: %d",
               scenario->trials, scenario->habits.parallel);
    if (rng_percent(rng, 15)) {
        scenario->time_ms = rng_magnitude(rng, 1000, 60000);
        buf_printf(text, ", time: %" PRId64 "ms", scenario->time_ms);
    }
    if (scenario->habits.metric_count == 1 && rng_percent(rng, 10)) {
        scenario->has_target = true;
        scenario->target = 0.4 + 0.5 * rng_uniform(rng);
        buf_printf(text, ", target: %.6f", scenario->target);
    }
    if (scenario->habits.metric_count == 1 && rng_percent(rng, 5)) {
        scenario->gives_up = true;
        buf_printf(text, ", no_improvement: %" PRId64, rng_between(rng, 3, 12));
    }
    if (scenario->schedule != NULL && rng_percent(rng, 20)) {
        scenario->resource = rng_between(rng, SCENARIO_MAX_EPOCHS, 120);
        buf_printf(text, ", resource: %" PRId64, scenario->resource);
    }
    buf_add_string(text, "}\n");
}

static void draw_rule(struct scenario_rule *rule, struct rng *rng)
{
    int64_t count = rng_between(rng, 1, SCENARIO_MAX_CAUSES);

    rule->exit_75 = rng_percent(rng, 30);
    for (int64_t i = 0; i < count; i++) {
        enum attempt_cause cause =
            (enum attempt_cause)rng_below(rng, CAUSE_COUNT);

        if (cause != CAUSE_OK && cause != CAUSE_CANCELLED)
            rule->causes |= 1u << cause;
    }
    rule->exit_75 |= rule->causes == 0;
    rule->max = rng_between(rng, 1, 3);
    rule->delay_ms = rng_percent(rng, 30) ? 0 : rng_magnitude(rng, 10, 5000);
    rule->backoff = rng_percent(rng, 50) ? 1.0 : 2.0;
    if (rule->delay_ms > 0 && rng_percent(rng, 30))
        rule->max_delay_ms = rule->delay_ms + rng_between(rng, 0, 2000);
    rule->has_jitter = rng_percent(rng, 30);
}

static void add_rule(const struct scenario_rule *rule, struct buf *text)
{
    const char *comma = "";

    buf_add_string(text, "    - {match: [");
    for (int cause = 0; cause < CAUSE_COUNT; cause++) {
        if ((rule->causes & (1u << cause)) == 0)
            continue;
        buf_printf(text, "%s%s", comma, attempt_cause_names[cause]);
        comma = ", ";
    }
    if (rule->exit_75)
        buf_printf(text, "%s'exit:75'", comma);
    buf_printf(text, "], max: %" PRId64 ", delay: %" PRId64 "ms, backoff: %g",
               rule->max, rule->delay_ms, rule->backoff);
    if (rule->max_delay_ms > 0)
        buf_printf(text, ", max_delay: %" PRId64 "ms", rule->max_delay_ms);
    if (rule->has_jitter)
        buf_add_string(text, ", jitter: full");
    buf_add_string(text, "}\n");
}

void scenario_draw_task(struct scenario *scenario, struct rng *rng,
                        struct buf *text)
{
    scenario->grace_ms = rng_magnitude(rng, 50, 3000);
    buf_printf(text, "  resources: {cpus: 0, grace: %" PRId64 "ms",
               scenario->grace_ms);
    if (rng_percent(rng, 25))
        buf_printf(text, ", time: %" PRId64 "ms", rng_magnitude(rng, 5, 10000));
    buf_add_string(text, "}\n");
    if (scenario->schedule != NULL) {
        scenario->has_checkpoints =
            scenario->schedule->clones || rng_percent(rng, 50);
        buf_printf(text, "  checkpoints: %s\n",
                   scenario->has_checkpoints ? "true" : "false");
    }
    scenario->rule_count = (int)rng_between(rng, 0, SCENARIO_MAX_RULES);
    if (scenario->rule_count > 0)
        buf_add_string(text, "  retry:\n");
    for (int i = 0; i < scenario->rule_count; i++) {
        draw_rule(&scenario->rules[i], rng);
        add_rule(&scenario->rules[i], text);
    }
}

static void add_trial(struct scenario *scenario, struct rng *rng,
                      struct buf *text)
{
    buf_printf(text, "trial:\n  command: train ${{ k }} ${{ c }}%s%s\n",
               scenario->is_finite ? "" : " ${{ x }}",
               scenario->schedule != NULL ? " --epochs=${{ epochs }}" : "");
    scenario_draw_task(scenario, rng, text);
}

static void draw_habits(struct site_habits *habits, struct rng *rng)
{
    habits->min_ms = rng_magnitude(rng, 1, 2000);
    habits->max_ms = habits->min_ms + rng_magnitude(rng, 1, 8000);
    habits->max_delay_ms = rng_percent(rng, 50) ? 2 : 150;
    habits->weights[CAUSE_OK] = rng_percent(rng, 50) ? 90 : 30;
    for (int i = 0; i < SITE_CAUSES; i++) {
        if (i != CAUSE_OK && i != CAUSE_CANCELLED && i != CAUSE_TIMEOUT &&
            i != CAUSE_NO_OUTPUT)
            habits->weights[i] = rng_percent(rng, 40) ? 10 : 0;
    }
    habits->ignore_term = rng_percent(rng, 50) ? 0 : 40;
    habits->full = rng_percent(rng, 70) ? 0 : 20;
    habits->error = rng_percent(rng, 85) ? 0 : 10;
    habits->break_every = rng_percent(rng, 92) ? 0 : 8;
}

static void draw_faults(struct scenario *scenario, struct rng *rng)
{
    scenario->crashes = (int)rng_between(rng, -1, 5);
    scenario->power = rng_percent(rng, 50) ? 0 : 50;
    scenario->signals = rng_percent(rng, 60) ? 0 : 50;
    scenario->faults = rng_percent(rng, 85) ? 0 : 50;
    scenario->full = rng_percent(rng, 85) ? 0 : 50;
    scenario->jumps = rng_percent(rng, 70) ? 0 : 60;
    scenario->calls = rng_percent(rng, 60) ? 0 : 70;
    scenario->reopens = rng_percent(rng, 80) ? 0 : 40;
    scenario->is_new_disk = rng_percent(rng, 10);
    scenario->is_thorough = rng_percent(rng, 10);
}

static void draw_experiment(struct scenario *scenario, struct rng *rng,
                            struct buf *text)
{
    scenario->habits.metric_count = rng_percent(rng, 15) ? 2 : 1;
    buf_printf(text, "version: 1\nname: sim\nobjective: [%s%s]\n",
               "{metric: loss, goal: minimize}",
               scenario->habits.metric_count > 1
                   ? ", {metric: size, goal: maximize}"
                   : "");
    add_search(scenario, rng, text);
    add_schedule(scenario, rng, text);
    add_budget(scenario, rng, text);
    add_trial(scenario, rng, text);
}

/* Where lines do not say which epoch they are of, all have to. */
static int draw_saves(const struct scenario *scenario, struct rng *rng)
{
    if (rng_percent(rng, 60) || scenario->habits.is_stepless)
        return 100;
    return scenario->step_count > 0 ? 35 : 70;
}

void scenario_draw(struct scenario *scenario, uint64_t seed)
{
    struct buf text = BUF_INIT;
    struct rng rng, kind, temps;

    *scenario = (struct scenario){.text = NULL};
    rng_init(&rng, seed, 0, STREAM_SCENARIO);
    rng_init(&kind, seed, 0, STREAM_KIND);
    rng_init(&temps, seed, 0, STREAM_TEMPS);
    if (rng_percent(&kind, 30))
        scenario_draw_flow(scenario, &rng, &temps, &text);
    else
        draw_experiment(scenario, &rng, &text);
    draw_habits(&scenario->habits, &rng);
    draw_faults(scenario, &rng);
    scenario->changes = rng_percent(&kind, 75) ? 0 : 40;
    if (scenario->step_count > 0) {
        scenario->habits.weights[CAUSE_NO_METRIC] = 0;
        scenario->reopens = rng_percent(&kind, 50) ? 0 : 40;
        scenario->changes /= 4;
    }
    if (scenario->has_checkpoints)
        scenario->habits.saves = draw_saves(scenario, &kind);
    scenario->enqueues = rng_percent(&kind, 75) ? 0 : 40;
    scenario->denials = rng_percent(&kind, 75) ? 0 : 50;
    scenario->text = buf_take(&text);
}

void scenario_clear(struct scenario *scenario)
{
    free(scenario->text);
    scenario->text = NULL;
}
