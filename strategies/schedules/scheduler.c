/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/schedules/scheduler.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/text.h"
#include "strategies/schedules/scheduler_impl.h"

static const uint64_t resource_max = UINT64_C(1000000000000);
static const uint64_t trials_max = UINT64_C(1000000000);

struct scheduler {
    const struct scheduler_method *method;
    void *state;
};

static const struct scheduler_method *const methods[] = {
#define X(name) &scheduler_method_##name,
    SCHEDULER_METHODS(X)
#undef X
};

static const char *const method_names[] = {
#define X(name) #name,
    SCHEDULER_METHODS(X)
#undef X
        NULL};

static const struct scheduler_method *find_method(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (strcmp(methods[i]->name, name) == 0)
            return methods[i];
    return NULL;
}

const char *const *scheduler_method_names(void)
{
    return method_names;
}

/* The method, if what all methods want of the options is there. */
static const struct scheduler_method *check(
    const struct schedule_options *options, struct err *err)
{
    const struct scheduler_method *method = find_method(options->method);

    if (method == NULL) {
        text_unknown("schedule method", options->method, method_names,
                     ARRAY_LEN(methods), ERR_FILE, err);
    } else if (options->min < 1) {
        err_set(err, ERR_FILE, "min must be 1 or more, not %" PRIu64,
                options->min);
    } else if (options->max <= options->min) {
        err_set(err, ERR_FILE,
                "max must be more than min %" PRIu64 ", not %" PRIu64,
                options->min, options->max);
    } else if (options->max > resource_max &&
               !(options->max == SCHEDULE_NO_MAX &&
                 method->lives_without_max)) {
        err_set(err, ERR_FILE, "max must be at most %" PRIu64 ", not %" PRIu64,
                resource_max, options->max);
    } else {
        return method;
    }
    return NULL;
}

struct scheduler *scheduler_create(const struct schedule_options *options,
                                   struct space *space, struct err *err)
{
    const struct scheduler_method *method = check(options, err);
    struct scheduler *scheduler;
    void *state;

    if (method == NULL)
        return NULL;
    state = method->create(options, space, err);
    if (state == NULL)
        return NULL;
    scheduler = mem_zero(sizeof(*scheduler));
    scheduler->method = method;
    scheduler->state = state;
    return scheduler;
}

void scheduler_destroy(struct scheduler *scheduler)
{
    if (scheduler == NULL)
        return;
    scheduler->method->destroy(scheduler->state);
    free(scheduler);
}

bool scheduler_pauses(const struct scheduler *scheduler)
{
    return scheduler->method->pauses(scheduler->state);
}

void scheduler_next(const struct scheduler *scheduler, bool is_closed,
                    struct assignment *next)
{
    *next = (struct assignment){.kind = NEXT_NONE};
    scheduler->method->next(scheduler->state, is_closed, next);
}

uint64_t scheduler_room(const struct scheduler *scheduler)
{
    return scheduler->method->room != NULL
               ? scheduler->method->room(scheduler->state)
               : UINT64_MAX;
}

void scheduler_assign(struct scheduler *scheduler, uint64_t number,
                      const struct assignment *assignment)
{
    scheduler->method->assign(scheduler->state, number, assignment);
}

void scheduler_explore(const struct scheduler *scheduler, uint64_t number,
                       const struct value *parent, struct value *point)
{
    scheduler->method->explore(scheduler->state, number, parent, point);
}

uint64_t scheduler_awaits(const struct scheduler *scheduler, uint64_t trial)
{
    return scheduler->method->awaits(scheduler->state, trial);
}

void scheduler_observe(struct scheduler *scheduler,
                       const struct observation *observation,
                       struct verdict *verdict)
{
    *verdict = (struct verdict){.decision = DECIDE_CONTINUE, .rung = -1};
    scheduler->method->observe(scheduler->state, observation, verdict);
}

void scheduler_end(struct scheduler *scheduler, uint64_t trial,
                   enum trial_outcome outcome)
{
    scheduler->method->end(scheduler->state, trial, outcome);
}

int schedule_plan_init(struct schedule_plan *plan,
                       const struct schedule_options *options, uint64_t trials,
                       struct err *err)
{
    const struct scheduler_method *method = check(options, err);

    *plan = (struct schedule_plan){0};
    if (method == NULL)
        return -1;
    plan->is_bound = !method->plan_is_no_bound;
    if (trials > trials_max)
        return err_set(err, ERR_FILE,
                       "out of range: %" PRIu64 " trials, at most %" PRIu64
                       " are possible",
                       trials, trials_max);
    if (method->plan(options, trials, plan, err) != 0) {
        schedule_plan_clear(plan);
        return -1;
    }
    return 0;
}

void schedule_plan_clear(struct schedule_plan *plan)
{
    free(plan->rungs);
    *plan = (struct schedule_plan){0};
}
