/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/text.h"
#include "strategies/schedules/running_median.h"
#include "strategies/schedules/stopper.h"

/*
 * Stops a trial that is worse than the median of the running averages of
 * earlier trials up to the same unit of resource. Two rules:
 *
 * - sagemaker: the early stopping that Amazon SageMaker's automatic model
 *   tuning calls Auto, as its developer guide states it: the trial's value
 *   after this unit is compared.
 * - vizier: D. Golovin et al., "Google Vizier: a service for black-box
 *   optimization", KDD 2017, section 3.1: the trial's best value so far is.
 *
 * Where the sources leave room, this is how they are read. Earlier trials are
 * those that have completed before: SageMaker's API speaks of "previously
 * completed training jobs", Vizier's paper of completed trials. One that failed
 * or was stopped does not count, nor one still running. A completed trial
 * counts at a unit if its curve begins no later and ends no earlier; where it
 * reported nothing at that unit, its average is that of what it had reported.
 * As many curves as min_trials must count there: SageMaker's rule knows no such
 * number, so it is 1 if not given; with Vizier's it is 5, as is usual. An
 * average over a NaN is worst, so is a value that is NaN. Equal to the median
 * is not worse.
 */

static double value_now(const struct observation *observation)
{
    return observation->value;
}

static double value_best(const struct observation *observation)
{
    return observation->best;
}

struct rule {
    uint64_t min_trials; /* where none is given */
    double (*compared)(const struct observation *observation);
    const char *words; /* before what is compared */
};

static const char *const rule_names[] = {"sagemaker", "vizier"};
static const struct rule rules[] = {{1, value_now, ""},
                                    {5, value_best, "the best value "}};
static_assert(ARRAY_LEN(rules) == ARRAY_LEN(rule_names), "a rule a name");

/* The running averages of a trial, at every look from first to end - 1. */
struct curve {
    struct watched watched; /* first */
    double *averages;       /* [end - first] */
    size_t first, end;
    size_t capacity;
    double sum; /* of what it reported */
    uint64_t reports;
};

struct median {
    struct stopper stopper; /* first */
    const struct rule *rule;
    uint64_t min_trials;
    struct running_median *medians; /* [look_count], of completed trials */
    size_t look_count, look_capacity;
};

static const struct rule *find_rule(const char *name, struct err *err)
{
    for (size_t i = 0; name != NULL && i < ARRAY_LEN(rules); i++)
        if (strcmp(name, rule_names[i]) == 0)
            return &rules[i];
    if (name == NULL)
        return &rules[0];
    text_unknown("rule", name, rule_names, ARRAY_LEN(rule_names), ERR_FILE,
                 err);
    return NULL;
}

static void *median_create(const struct schedule_options *options,
                           UNUSED struct space *space, struct err *err)
{
    const struct rule *rule = find_rule(options->rule, err);
    struct median *median;

    if (rule == NULL)
        return NULL;
    median = mem_zero(sizeof(*median));
    stopper_init(&median->stopper, options);
    median->rule = rule;
    median->min_trials =
        options->min_trials > 0 ? options->min_trials : rule->min_trials;
    return median;
}

static void release_curve(struct curve *curve)
{
    if (curve == NULL)
        return;
    free(curve->averages);
    free(curve);
}

static void median_destroy(void *state)
{
    struct median *median = state;

    if (median == NULL)
        return;
    while (median->stopper.count > 0)
        release_curve(stopper_release(&median->stopper,
                                      median->stopper.watched[0]->trial));
    stopper_clear(&median->stopper);
    for (size_t i = 0; i < median->look_count; i++)
        running_median_clear(&median->medians[i]);
    free(median->medians);
    free(median);
}

static void median_assign(void *state, uint64_t number,
                          UNUSED const struct assignment *assignment)
{
    struct median *median = state;

    stopper_watch(&median->stopper, number, sizeof(struct curve));
}

static void add_average(struct curve *curve, double average)
{
    curve->averages = mem_grow(curve->averages, curve->end - curve->first,
                               &curve->capacity, sizeof(*curve->averages));
    curve->averages[curve->end - curve->first] = average;
    curve->end++;
}

static void extend_curve(struct curve *curve, size_t look, double value)
{
    if (curve->reports == 0)
        curve->first = curve->end = look;
    while (curve->end < look)
        add_average(curve, curve->averages[curve->end - curve->first - 1]);
    curve->sum += value;
    curve->reports++;
    if (look < curve->end) /* at max, maybe soon after the last look */
        curve->end--;
    add_average(curve, curve->sum / (double)curve->reports);
}

static bool is_worse(double value, double other)
{
    return value > other || (isnan(value) && other < (double)INFINITY);
}

static void give_reason(const struct median *median,
                        const struct observation *observation, size_t look,
                        struct verdict *verdict)
{
    const struct schedule_options *options = &median->stopper.options;
    const struct running_median *averages = &median->medians[look];
    size_t count = running_median_count(averages);

    snprintf(verdict->reason, sizeof(verdict->reason),
             "%s%.6g at %" PRIu64 " is worse than %.6g, the median of the "
             "running averages of %zu trial%s",
             median->rule->words,
             schedule_shown(options, median->rule->compared(observation)),
             observation->resource,
             schedule_shown(options, running_median_value(averages)), count,
             count == 1 ? "" : "s");
}

static void median_observe(void *state, const struct observation *observation,
                           struct verdict *verdict)
{
    struct median *median = state;
    struct curve *curve = stopper_see(&median->stopper, observation);
    size_t look = stopper_look(observation->resource);
    const struct running_median *averages;

    if (curve == NULL)
        return;
    extend_curve(curve, look, observation->value);
    if (!stopper_may_stop(&median->stopper, observation) ||
        look >= median->look_count)
        return;
    averages = &median->medians[look];
    if (running_median_count(averages) < median->min_trials ||
        !is_worse(median->rule->compared(observation),
                  running_median_value(averages)))
        return;
    verdict->decision = DECIDE_STOP;
    give_reason(median, observation, look, verdict);
}

static void count_average(struct median *median, size_t look, double average)
{
    while (median->look_count <= look) {
        median->medians =
            mem_grow(median->medians, median->look_count,
                     &median->look_capacity, sizeof(*median->medians));
        median->medians[median->look_count++] = (struct running_median){0};
    }
    running_median_add(&median->medians[look], average);
}

static void median_end(void *state, uint64_t trial, enum trial_outcome outcome)
{
    struct median *median = state;
    struct curve *curve = stopper_release(&median->stopper, trial);

    if (curve != NULL && outcome == OUTCOME_COMPLETE)
        for (size_t i = curve->first; i < curve->end; i++)
            count_average(median, i, curve->averages[i - curve->first]);
    release_curve(curve);
}

const struct scheduler_method scheduler_method_median = {
    .name = "median",
    .lives_without_max = true,
    .create = median_create,
    .destroy = median_destroy,
    .pauses = stopper_pauses,
    .next = stopper_next,
    .assign = median_assign,
    .awaits = stopper_awaits,
    .observe = median_observe,
    .end = median_end,
    .plan = stopper_plan,
};
