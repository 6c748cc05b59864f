/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/schedules/brackets.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "strategies/schedules/scheduler_impl.h"

int brackets_init(struct brackets *brackets,
                  const struct schedule_options *options, struct err *err)
{
    *brackets = (struct brackets){.options = *options};
    return ladder_init(&brackets->ladder, options, err);
}

void brackets_clear(struct brackets *brackets)
{
    for (size_t i = 0; i < brackets->count; i++) {
        for (size_t k = 0; k < brackets->all[i].rung_count; k++)
            rung_clear(&brackets->all[i].rungs[k].results);
        free(brackets->all[i].rungs);
    }
    free(brackets->all);
    free(brackets->climbers);
}

void brackets_add(struct brackets *brackets, size_t first)
{
    size_t rung_count = brackets->ladder.count - first;

    brackets->all = mem_grow(brackets->all, brackets->count,
                             &brackets->capacity, sizeof(*brackets->all));
    brackets->all[brackets->count++] = (struct bracket){
        .first = first,
        .rung_count = rung_count,
        .rungs = mem_array(rung_count, sizeof(struct bracket_rung)),
    };
}

uint64_t brackets_resource(const struct brackets *brackets, size_t bracket,
                           size_t rung)
{
    return brackets->ladder.resources[brackets->all[bracket].first + rung];
}

static struct bracket_rung *rung_of(const struct brackets *brackets,
                                    const struct climber *climber)
{
    return &brackets->all[climber->bracket].rungs[climber->rung];
}

/* From one state to another, with the counts that say how many are in each. */
static void move(struct brackets *brackets, struct climber *climber,
                 enum climber_state state, size_t rung)
{
    struct bracket *bracket = &brackets->all[climber->bracket];

    if (climber->state == CLIMBER_RUNNING) {
        bracket->running--;
        rung_of(brackets, climber)->running--;
    } else if (climber->state == CLIMBER_WAITING) {
        bracket->waiting--;
        rung_close(&rung_of(brackets, climber)->results, climber->result);
    }
    climber->state = state;
    climber->rung = rung;
    if (state == CLIMBER_RUNNING) {
        bracket->running++;
        rung_of(brackets, climber)->running++;
    } else if (state == CLIMBER_WAITING) {
        bracket->waiting++;
    }
}

void brackets_enter(struct brackets *brackets, uint64_t trial, size_t bracket)
{
    struct climber *climber;

    brackets->climbers =
        mem_grow(brackets->climbers, brackets->climber_count,
                 &brackets->climber_capacity, sizeof(*brackets->climbers));
    climber = &brackets->climbers[brackets->climber_count++];
    *climber = (struct climber){
        .trial = trial, .bracket = bracket, .state = CLIMBER_OVER};
    brackets->all[bracket].entered++;
    move(brackets, climber, CLIMBER_RUNNING, 0);
}

static int compare_trials(const void *key, const void *element)
{
    uint64_t trial = *(const uint64_t *)key;
    const struct climber *climber = element;

    return (trial > climber->trial) - (trial < climber->trial);
}

static struct climber *find(const struct brackets *brackets, uint64_t trial)
{
    if (brackets->climber_count == 0)
        return NULL;
    return bsearch(&trial, brackets->climbers, brackets->climber_count,
                   sizeof(*brackets->climbers), compare_trials);
}

void brackets_promote(struct brackets *brackets, uint64_t trial)
{
    struct climber *climber = find(brackets, trial);

    if (climber == NULL || climber->state != CLIMBER_WAITING)
        return;
    move(brackets, climber, CLIMBER_RUNNING, climber->rung + 1);
}

void brackets_stop(struct brackets *brackets, uint64_t trial)
{
    struct climber *climber = find(brackets, trial);

    if (climber != NULL && climber->state == CLIMBER_WAITING)
        move(brackets, climber, CLIMBER_OVER, climber->rung);
}

uint64_t brackets_awaits(const struct brackets *brackets, uint64_t trial)
{
    const struct climber *climber = find(brackets, trial);

    if (climber == NULL || climber->state != CLIMBER_RUNNING)
        return UINT64_MAX;
    return brackets_resource(brackets, climber->bracket, climber->rung);
}

const struct climber *brackets_observe(struct brackets *brackets,
                                       const struct observation *observation)
{
    struct climber *climber = find(brackets, observation->trial);
    struct bracket *bracket;
    size_t rung;
    bool is_last;

    if (climber == NULL || climber->state != CLIMBER_RUNNING)
        return NULL;
    bracket = &brackets->all[climber->bracket];
    rung = climber->rung;
    while (rung + 1 < bracket->rung_count &&
           brackets_resource(brackets, climber->bracket, rung + 1) <=
               observation->resource)
        rung++;
    is_last = rung + 1 == bracket->rung_count;
    move(brackets, climber, is_last ? CLIMBER_OVER : CLIMBER_WAITING, rung);
    climber->result = rung_add(&rung_of(brackets, climber)->results,
                               climber->trial, observation->value, !is_last);
    if (is_last && !isnan(observation->value))
        bracket->finished++;
    return climber;
}

void brackets_end(struct brackets *brackets, uint64_t trial,
                  enum trial_outcome outcome)
{
    struct climber *climber = find(brackets, trial);

    if (climber == NULL || climber->state == CLIMBER_OVER)
        return;
    if (climber->state == CLIMBER_RUNNING && outcome == OUTCOME_FAILED)
        climber->result = rung_add(&rung_of(brackets, climber)->results,
                                   climber->trial, (double)NAN, false);
    move(brackets, climber, CLIMBER_OVER, climber->rung);
}

bool brackets_leads(const struct brackets *brackets,
                    const struct climber *climber)
{
    const struct rung *results = &rung_of(brackets, climber)->results;

    return !isnan(results->results[climber->result].value) &&
           rung_rank(results, climber->result) <
               results->count / brackets->ladder.eta;
}

const struct climber *brackets_leader(const struct brackets *brackets,
                                      size_t bracket, size_t rung)
{
    const struct rung *results = &brackets->all[bracket].rungs[rung].results;
    size_t rank;
    const struct rung_result *best = rung_best_open(results, &rank);

    return best != NULL && !isnan(best->value) &&
                   rank < results->count / brackets->ladder.eta
               ? find(brackets, best->trial)
               : NULL;
}

const struct climber *brackets_highest(const struct brackets *brackets,
                                       size_t bracket)
{
    const struct bracket_rung *rungs = brackets->all[bracket].rungs;

    for (size_t rung = brackets->all[bracket].rung_count; rung-- > 0;) {
        const struct rung_result *best =
            rung_best_open(&rungs[rung].results, NULL);

        if (best != NULL && !isnan(best->value))
            return find(brackets, best->trial);
    }
    return NULL;
}

const struct climber *brackets_waiting(const struct brackets *brackets,
                                       size_t bracket)
{
    const struct bracket_rung *rungs = brackets->all[bracket].rungs;
    const struct rung_result *result = NULL;

    if (brackets->all[bracket].waiting == 0)
        return NULL;
    for (size_t rung = 0; result == NULL; rung++)
        result = rung_best_open(&rungs[rung].results, NULL);
    return find(brackets, result->trial);
}

void brackets_describe(const struct brackets *brackets,
                       const struct climber *climber, char *text, size_t size)
{
    const struct schedule_options *options = &brackets->options;
    const struct rung *results = &rung_of(brackets, climber)->results;
    uint64_t at = brackets_resource(brackets, climber->bracket, climber->rung);
    double value = results->results[climber->result].value;
    size_t best = results->count / brackets->ladder.eta;
    bool leads = brackets_leads(brackets, climber);

    if (isnan(value))
        snprintf(text, size, "no value at %" PRIu64, at);
    else if (at == options->max)
        snprintf(text, size, "it reached the largest resource, %" PRIu64, at);
    else if (best == 0)
        snprintf(text, size,
                 "%.6g is one of %zu at %" PRIu64
                 ", and a comparison needs %" PRIu64,
                 schedule_shown(options, value), results->count, at,
                 brackets->ladder.eta);
    else if (leads)
        snprintf(text, size, "%.6g is among the best %zu of %zu at %" PRIu64,
                 schedule_shown(options, value), best, results->count, at);
    else
        snprintf(text, size,
                 "%.6g is not among the best %zu of %zu at %" PRIu64
                 " (%.6g is the last of them)",
                 schedule_shown(options, value), best, results->count, at,
                 schedule_shown(options, rung_at(results, best - 1)->value));
}

void brackets_next_promote(const struct brackets *brackets,
                           const struct climber *climber,
                           struct assignment *next)
{
    *next = (struct assignment){
        .kind = NEXT_PROMOTE,
        .trial = climber->trial,
        .resource =
            brackets_resource(brackets, climber->bracket, climber->rung + 1),
        .bracket = brackets->all[climber->bracket].first,
        .rung = climber->rung + 1,
    };
    if (brackets_leads(brackets, climber))
        brackets_describe(brackets, climber, next->reason,
                          sizeof(next->reason));
    else
        snprintf(next->reason, sizeof(next->reason),
                 "it is the best paused trial at %" PRIu64
                 ", and one must reach %" PRIu64,
                 brackets_resource(brackets, climber->bracket, climber->rung),
                 brackets->options.max);
}

void brackets_next_stop(const struct brackets *brackets,
                        const struct climber *climber, struct assignment *next)
{
    *next = (struct assignment){
        .kind = NEXT_STOP,
        .trial = climber->trial,
        .resource =
            brackets_resource(brackets, climber->bracket, climber->rung),
        .bracket = brackets->all[climber->bracket].first,
        .rung = climber->rung,
    };
    brackets_describe(brackets, climber, next->reason, sizeof(next->reason));
}
