/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recorded learning curves played once more under another scheduler, in virtual
 * time.
 *
 * It is a simulation of discrete events. Running trials are in a heap by the
 * time of their next event, which is an observation that the scheduler waits
 * for or their end. Free slots are filled after each event, as the engine does.
 * Ties break by the number of the trial, so that the result is deterministic.
 *
 * Nothing is extrapolated. Where a curve was cut, the trial ends as FATE_CUT
 * and its resource is a lower bound. The time of a trial is proportional to its
 * resource, by the attempts that were recorded.
 */
#include "orchestrator/search/curve_sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "strategies/schedules/scheduler.h"

const char *const fate_names[FATE_COUNT] = {
#define X(symbol, word) word,
    FATES(X)
#undef X
};

struct sim_trial {
    const struct curve *curve;
    enum fate fate;
    uint64_t position; /* the resource that it has come to */
    uint64_t target;   /* up to which it may run */
    size_t next;       /* the first point beyond position */
    double last, best; /* of the points before that */
    uint64_t due;      /* the resource of its next event */
    double due_s;
    bool ends; /* that event is its end */
};

struct sim {
    const struct curve_sim *input;
    struct scheduler *scheduler;
    struct curve_sim_result *result;
    struct sim_trial *trials; /* [count] */
    size_t *running;          /* a heap by due_s, then number: [parallel] */
    size_t running_count;
    size_t started; /* the first ones */
    double now_s;
};

/* ---- the next to come ---- */

static bool comes_before(const struct sim *sim, size_t a, size_t b)
{
    const struct sim_trial *x = &sim->trials[a], *y = &sim->trials[b];

    return x->due_s != y->due_s ? x->due_s < y->due_s : a < b;
}

static void swap(size_t *a, size_t *b)
{
    size_t held = *a;

    *a = *b;
    *b = held;
}

static void push(struct sim *sim, size_t trial)
{
    size_t *heap = sim->running;
    size_t at = sim->running_count++;

    heap[at] = trial;
    while (at > 0 && comes_before(sim, heap[at], heap[(at - 1) / 2])) {
        swap(&heap[at], &heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

static size_t pop(struct sim *sim)
{
    size_t *heap = sim->running;
    size_t first = heap[0], at = 0;

    heap[0] = heap[--sim->running_count];
    for (;;) {
        size_t child = 2 * at + 1;

        if (child + 1 < sim->running_count &&
            comes_before(sim, heap[child + 1], heap[child]))
            child++;
        if (child >= sim->running_count ||
            !comes_before(sim, heap[child], heap[at]))
            return first;
        swap(&heap[at], &heap[child]);
        at = child;
    }
}

/* ---- one trial on its way ---- */

static uint64_t curve_length(const struct curve *curve)
{
    return curve->count > 0 ? curve->points[curve->count - 1].resource : 0;
}

static uint64_t resource_between(const struct curve *curve, uint64_t from,
                                 uint64_t to)
{
    uint64_t length = curve_length(curve);

    return (to < length ? to : length) - (from < length ? from : length);
}

static double seconds_between(const struct curve *curve, uint64_t from,
                              uint64_t to)
{
    if (curve->count == 0 || curve->resource == 0)
        return curve->seconds;
    return (double)resource_between(curve, from, to) * curve->seconds /
           (double)curve->resource;
}

/* The first point that says what the scheduler waits for. */
static const struct curve_point *awaited_point(const struct sim_trial *trial,
                                               uint64_t awaited)
{
    const struct curve *curve = trial->curve;

    for (size_t i = trial->next; i < curve->count; i++) {
        if (curve->points[i].resource >= awaited)
            return &curve->points[i];
    }
    return NULL;
}

/* Whether a trial that pauses comes to its target: also where it has nothing
 * more to do on the way. */
static bool comes_to_target(const struct sim_trial *trial)
{
    const struct curve *curve = trial->curve;

    return curve_length(curve) >= trial->target ||
           (curve->end == CURVE_COMPLETE && curve_length(curve) > 0);
}

/* Its next event: an observation, or its end. */
static void dry_run_event(struct sim *sim, size_t index)
{
    struct sim_trial *trial = &sim->trials[index];
    const struct curve *curve = trial->curve;
    uint64_t number = (uint64_t)curve->number;
    uint64_t length = curve_length(curve);
    const struct curve_point *point = NULL;

    trial->due = trial->target < length ? trial->target : length;
    trial->ends = true;
    if (!scheduler_pauses(sim->scheduler)) {
        point = awaited_point(trial, scheduler_awaits(sim->scheduler, number));
    } else if (comes_to_target(trial)) {
        trial->due = trial->target;
        trial->ends = false;
    }
    if (point != NULL && point->resource <= trial->target) {
        trial->due = point->resource;
        trial->ends = false;
    }
    trial->due_s =
        sim->now_s + seconds_between(curve, trial->position, trial->due);
    push(sim, index);
}

/* It has come to where its event is due. */
static void advance(struct sim *sim, struct sim_trial *trial)
{
    const struct curve *curve = trial->curve;

    sim->result->resource +=
        resource_between(curve, trial->position, trial->due);
    sim->result->seconds += seconds_between(curve, trial->position, trial->due);
    trial->position = trial->due;
    for (; trial->next < curve->count &&
           curve->points[trial->next].resource <= trial->position;
         trial->next++) {
        trial->last = curve->points[trial->next].value;
        trial->best = fmin(trial->best, trial->last);
    }
}

/* ---- what becomes of it ---- */

static void set_fate(struct sim *sim, struct sim_trial *trial, enum fate fate)
{
    trial->fate = fate;
    if (trial->curve->number != sim->input->winner)
        return;
    sim->result->fate = fate;
    sim->result->fate_resource = trial->position;
}

static void note_reason(struct sim *sim, const struct sim_trial *trial,
                        int64_t rung, const char *reason)
{
    struct curve_sim_result *result = sim->result;

    if (trial->curve->number != sim->input->winner)
        return;
    result->fate_rung = rung;
    snprintf(result->fate_reason, sizeof(result->fate_reason), "%s", reason);
}

static double trial_value(const struct sim *sim, const struct sim_trial *trial)
{
    return sim->input->takes_best ? trial->best : trial->last;
}

static void compare_best(struct sim *sim, const struct sim_trial *trial)
{
    struct curve_sim_result *result = sim->result;
    double value = trial_value(sim, trial);

    if (!trial->curve->is_feasible || !isfinite(value) ||
        (result->best != 0 && value >= result->best_value))
        return;
    result->best = trial->curve->number;
    result->best_value = value;
    result->best_resource = trial->position;
}

static void end_trial(struct sim *sim, struct sim_trial *trial, enum fate fate)
{
    static const enum trial_outcome outcomes[FATE_COUNT] = {
        [FATE_COMPLETE] = OUTCOME_COMPLETE,
        [FATE_FAILED] = OUTCOME_FAILED,
        [FATE_STOPPED] = OUTCOME_STOPPED,
        [FATE_CUT] = OUTCOME_STOPPED,
    };

    set_fate(sim, trial, fate);
    scheduler_end(sim->scheduler, (uint64_t)trial->curve->number,
                  outcomes[fate]);
    if (fate == FATE_COMPLETE)
        compare_best(sim, trial);
}

/* At its end, or at that of what it was given. */
static enum fate last_fate(const struct sim_trial *trial)
{
    static const enum fate fates[] = {
        [CURVE_COMPLETE] = FATE_COMPLETE,
        [CURVE_FAILED] = FATE_FAILED,
        [CURVE_CUT] = FATE_CUT,
    };
    const struct curve *curve = trial->curve;
    uint64_t length = curve_length(curve);
    bool is_known = length > trial->target ||
                    (length == trial->target && curve->end == CURVE_CUT);

    return is_known ? FATE_COMPLETE : fates[curve->end];
}

static void observe(struct sim *sim, size_t index)
{
    struct sim_trial *trial = &sim->trials[index];
    const struct observation observation = {
        .trial = (uint64_t)trial->curve->number,
        .resource = trial->position,
        .value = trial_value(sim, trial),
        .last = trial->last,
        .best = trial->best,
    };
    struct verdict verdict;

    scheduler_observe(sim->scheduler, &observation, &verdict);
    note_reason(sim, trial, verdict.rung, verdict.reason);
    if (verdict.decision == DECIDE_PAUSE)
        set_fate(sim, trial, FATE_PAUSED);
    else if (verdict.decision == DECIDE_STOP)
        end_trial(sim, trial, FATE_STOPPED);
    else if (trial->position >= trial->target)
        end_trial(sim, trial, last_fate(trial));
    else
        dry_run_event(sim, index);
}

static void happen(struct sim *sim, size_t index)
{
    struct sim_trial *trial = &sim->trials[index];

    sim->now_s = trial->due_s;
    advance(sim, trial);
    if (trial->ends)
        end_trial(sim, trial, last_fate(trial));
    else
        observe(sim, index);
}

/* ---- free slots ---- */

static void start(struct sim *sim, size_t index,
                  const struct assignment *assignment)
{
    struct sim_trial *trial = &sim->trials[index];

    if (!sim->input->has_checkpoints || trial->fate == FATE_NONE) {
        trial->position = 0;
        trial->next = 0;
        trial->last = trial->best = (double)NAN;
    }
    trial->target = assignment->resource;
    set_fate(sim, trial, FATE_RUNNING);
    scheduler_assign(sim->scheduler, (uint64_t)trial->curve->number,
                     assignment);
    dry_run_event(sim, index);
}

static int compare_numbers(const void *key, const void *item)
{
    int64_t number = *(const int64_t *)key;
    const struct curve *curve = item;

    return (number > curve->number) - (number < curve->number);
}

static size_t find(const struct sim *sim, uint64_t trial)
{
    int64_t number = (int64_t)trial;
    const struct curve *curve =
        bsearch(&number, sim->input->curves, sim->input->count,
                sizeof(*sim->input->curves), compare_numbers);

    return (size_t)(curve - sim->input->curves);
}

/* Does what the scheduler says is next: whether it said anything. */
static bool assign_next(struct sim *sim, bool is_closed)
{
    struct assignment next;
    struct sim_trial *trial;

    scheduler_next(sim->scheduler, is_closed, &next);
    switch (next.kind) {
    case NEXT_NEW:
        if (sim->started == sim->input->count)
            return false;
        start(sim, sim->started++, &next);
        return true;
    case NEXT_PROMOTE:
        start(sim, find(sim, next.trial), &next);
        return true;
    case NEXT_STOP:
        trial = &sim->trials[find(sim, next.trial)];
        scheduler_assign(sim->scheduler, next.trial, &next);
        set_fate(sim, trial, FATE_STOPPED);
        note_reason(sim, trial, (int64_t)next.rung, next.reason);
        return true;
    case NEXT_CLONE: /* no curve is known of one */
    case NEXT_NONE:
    default:
        return false;
    }
}

static void fill_slots(struct sim *sim)
{
    bool goes_on = true;

    while (goes_on && sim->running_count < sim->input->parallel)
        goes_on = assign_next(sim, sim->started == sim->input->count);
}

void curve_sim_run(const struct curve_sim *sim, struct scheduler *scheduler,
                   struct curve_sim_result *result)
{
    struct sim state = {.input = sim, .scheduler = scheduler, .result = result};

    *result =
        (struct curve_sim_result){.fate_rung = -1, .best_value = (double)NAN};
    state.trials = mem_array(sim->count, sizeof(*state.trials));
    state.running = mem_array(sim->parallel, sizeof(*state.running));
    for (size_t i = 0; i < sim->count; i++)
        state.trials[i].curve = &sim->curves[i];
    fill_slots(&state);
    while (state.running_count > 0) {
        happen(&state, pop(&state));
        fill_slots(&state);
    }
    result->elapsed = state.now_s;
    for (size_t i = 0; i < sim->count; i++)
        result->counts[state.trials[i].fate]++;
    free(state.trials);
    free(state.running);
}
