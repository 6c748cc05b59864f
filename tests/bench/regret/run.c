/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/bench/regret/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "strategies/gp/convergence.h"

enum { STREAM_ORDER = 210 };

static const uint64_t checkpoints[] = {10, 25, 50, 100, 200, 400, 1000, 2000};

/* The best trial so far, as a user would pick it: the smallest value told
 * among those that satisfy their outcome constraints. */
struct incumbent {
    bool found;
    double value;
    double measure;
};

struct pending {
    uint64_t trial;
    struct evaluation evaluation;
};

/* A run under way. */
struct state {
    const struct run *run;
    struct instance *instance;
    struct strategy *strategy;
    struct pending *pending;
    uint64_t pending_count, asked, finished;
    struct rng order; /* which pending trial ends next */
    struct incumbent incumbent;
    double seconds;
    json_t *regret;
    struct convergence *convergence; /* NULL: not asked for */
    json_t *converged;               /* when, and the regret then */
};

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void incumbent_see(struct incumbent *incumbent,
                          const struct problem *problem,
                          const struct evaluation *evaluation)
{
    if (evaluation->outcome != OUTCOME_COMPLETE ||
        !outcomes_satisfied(problem, evaluation->outcomes))
        return;
    if (incumbent->found && incumbent->value <= evaluation->value)
        return;
    incumbent->found = true;
    incumbent->value = evaluation->value;
    incumbent->measure = evaluation->measure;
}

/* Notes the regret at each checkpoint that `finished` has come to. */
static void note(struct state *state, bool ended)
{
    for (size_t i = 0; i < ARRAY_LEN(checkpoints); i++) {
        uint64_t at = checkpoints[i];
        char name[24];

        if (at > state->run->trials ||
            (ended ? at <= state->finished : at != state->finished))
            continue;
        snprintf(name, sizeof(name), "%llu", (unsigned long long)at);
        json_object_set_new(state->regret, name,
                            state->incumbent.found
                                ? json_real(state->incumbent.measure)
                                : json_null());
    }
}

static enum ask_result ask(struct state *state, struct err *err)
{
    struct value point[DIMENSION_MAX];
    struct pending *pending = &state->pending[state->pending_count];
    double start_s = now_s();
    enum ask_result result =
        strategy_ask(state->strategy, state->asked + 1, point, NULL, err);

    state->seconds += now_s() - start_s;
    if (result != ASK_OK)
        return result;
    if (!space_feasible(state->instance->space, point)) {
        err_set(err, ERR_FAILED, "%s: suggested an infeasible point",
                state->run->method);
        return ASK_ERROR;
    }
    state->asked++;
    state->pending_count++;
    pending->trial = state->asked;
    if (state->convergence != NULL)
        convergence_ask(state->convergence, pending->trial, point);
    instance_evaluate(state->instance, point, state->asked,
                      &pending->evaluation);
    return ASK_OK;
}

/* The run goes on, to see what it would have missed. */
static void look_for_convergence(struct state *state, uint64_t trial,
                                 const struct trial_result *result)
{
    const struct incumbent *incumbent = &state->incumbent;

    if (state->convergence == NULL || json_object_size(state->converged) > 0)
        return;
    convergence_tell(state->convergence, trial, result);
    if (!convergence_reached(state->convergence))
        return;
    json_object_set_new(state->converged, "trials",
                        json_integer((json_int_t)state->finished));
    json_object_set_new(state->converged, "regret",
                        incumbent->found ? json_real(incumbent->measure)
                                         : json_null());
}

static void finish_one(struct state *state)
{
    uint64_t which = rng_below(&state->order, state->pending_count);
    struct pending ended = state->pending[which];
    const struct evaluation *evaluation = &ended.evaluation;
    bool complete = evaluation->outcome == OUTCOME_COMPLETE;
    const struct trial_result result = {
        .outcome = evaluation->outcome,
        .values = complete ? &evaluation->value : NULL,
        .outcomes = complete ? evaluation->outcomes : NULL};
    double start_s;

    state->pending[which] = state->pending[--state->pending_count];
    start_s = now_s();
    strategy_tell(state->strategy, ended.trial, &result);
    state->seconds += now_s() - start_s;
    state->finished++;
    incumbent_see(&state->incumbent, state->run->problem, evaluation);
    note(state, false);
    look_for_convergence(state, ended.trial, &result);
}

static int work(struct state *state, struct err *err)
{
    const struct run *run = state->run;
    enum ask_result result = ASK_OK;

    while (state->finished < run->trials) {
        while (result == ASK_OK && state->asked < run->trials &&
               state->pending_count < run->parallel)
            result = ask(state, err);
        if (result == ASK_ERROR)
            return err_prefix(err, "%s, seed %llu", run->problem->name,
                              (unsigned long long)run->seed);
        if (state->pending_count == 0)
            break;
        finish_one(state);
    }
    note(state, true);
    return 0;
}

static void describe(const struct state *state, struct buf *out)
{
    const struct run *run = state->run;
    const struct problem *problem = run->problem;
    json_t *line = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:O, s:O*, s:f}", "problem",
        problem->name, "kind", problem->kind, "set",
        problem_set_names[problem->set], "method", run->method, "used",
        strategy_method(state->strategy), "seed", (json_int_t)run->seed,
        "trials", (json_int_t)run->trials, "parallel",
        (json_int_t)run->parallel, "regret", state->regret, "converged",
        state->converged, "seconds", state->seconds);

    json_print(line, out);
    buf_add_char(out, '\n');
    json_decref(line);
}

int run_method(const struct run *run, struct buf *out, struct err *err)
{
    const struct strategy_options options = {.method = run->method,
                                             .seed = run->seed,
                                             .grid_points = 5,
                                             .budget_trials = run->trials,
                                             .parallel = run->parallel,
                                             .outcome_count =
                                                 run->problem->outcome_count};
    struct state state = {.run = run};
    double start_s;
    int result = -1;

    state.instance = instance_create(run->problem, run->seed, err);
    if (state.instance == NULL)
        return -1;
    state.regret = json_object();
    if (run->improvement > 0) {
        const struct convergence_options looking = {
            .seed = run->seed,
            .improvement = run->improvement,
            .outcome_count = run->problem->outcome_count};

        state.convergence = convergence_create(&looking, state.instance->space);
        state.converged = json_object();
    }
    state.pending = mem_array(run->parallel, sizeof(*state.pending));
    rng_init(&state.order, run->seed, 0, STREAM_ORDER);
    start_s = now_s();
    state.strategy = strategy_create(&options, state.instance->space, err);
    state.seconds += now_s() - start_s;
    if (state.strategy != NULL && work(&state, err) == 0) {
        describe(&state, out);
        result = 0;
    }
    strategy_destroy(state.strategy);
    free(state.pending);
    json_decref(state.regret);
    json_decref(state.converged);
    convergence_destroy(state.convergence);
    instance_destroy(state.instance);
    return result;
}
