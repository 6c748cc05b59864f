/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_STRATEGIES_SCHEDULES_SCHEDULER_H
#define SMTUNE_STRATEGIES_SCHEDULES_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/value.h"
#include "strategies/space/space.h"
#include "strategies/strategy.h"

/*
 * Schedulers spend a resource (epochs, rows, minutes: whole units) where it
 * pays: a trial begins with a little of it, and those that do well get more.
 * Like search methods they are pure: what they decide follows from the options
 * and the calls below in their order, so the record can prove it. What to try
 * is the search method's part, how far to try it the scheduler's.
 *
 * There are two kinds. Where trials pause, each runs up to the resource it was
 * given, ends by itself, and may be given more later. Where they do not, each
 * is given all there is at once, and stopped on its way.
 *
 * Values are as told to a strategy: lower is better. NaN is worst.
 */

enum schedule_type {
    SCHEDULE_PROMOTION, /* trials pause, and go on from their checkpoint */
    SCHEDULE_STOPPING
};

/* As max, of a method without pauses: a trial ends where it wants to, and there
 * is no plan. */
#define SCHEDULE_NO_MAX ((uint64_t)INT64_MAX)

struct schedule_options {
    const char *method; /* a name of scheduler_method_names() */
    uint64_t seed;
    uint64_t min, max; /* resource of a trial: min >= 1, max > min */
    uint64_t eta;      /* one in eta goes on: 2 or more */
    uint64_t brackets; /* asha, hyperband: how many; 0: the method's default */
    enum schedule_type type; /* of a method that has both */
    bool maximize; /* reasons show values negated, as their user knows them */
    uint64_t min_trials; /* median: curves before it stops any; 0: its rule's */
    const char *rule;    /* median: "sagemaker" or "vizier" */
    uint64_t patience;   /* patient: so much resource without improvement */
    double min_delta;    /* patient: what less is none */
    double lower, upper; /* threshold: outside is stopped; NaN: no bound */
    uint64_t population; /* pbt: trials that live at once */
    double quantile;     /* pbt: so many of them give way, as many lead */
    double resample;     /* pbt: the chance of a fresh value */
};

/* What a trial had reached when it had used so much resource. */
struct observation {
    uint64_t trial, resource;
    double value; /* of the objective as its file asks: last or best */
    double last, best;
};

enum decision { DECIDE_CONTINUE, DECIDE_PAUSE, DECIDE_STOP };

struct verdict {
    enum decision decision;
    int64_t rung;     /* that the observation belongs to; -1: none */
    char reason[160]; /* one sentence, lower case, without a full stop */
};

enum next_kind {
    NEXT_NONE,    /* nothing before something else is told */
    NEXT_NEW,     /* a new trial, which the search method suggests */
    NEXT_CLONE,   /* a new trial that begins at another one's checkpoint */
    NEXT_PROMOTE, /* a paused trial goes on */
    NEXT_STOP     /* a paused trial will not go on */
};

struct assignment {
    enum next_kind kind;
    uint64_t trial;    /* to promote or stop, or to be cloned; 0: a new one */
    uint64_t resource; /* up to which it may run */
    uint64_t bracket, rung; /* 0, 1, 2 ... */
    char reason[160];       /* as of a verdict; may be empty */
};

struct scheduler;

/* space is borrowed. ERR_FILE: an unknown method (with the nearest name), or
 * options that do not go together. */
struct scheduler *scheduler_create(const struct schedule_options *options,
                                   struct space *space, struct err *err);
void scheduler_destroy(struct scheduler *scheduler); /* NULL is none */

/* Whether trials pause at the resource they were given. */
bool scheduler_pauses(const struct scheduler *scheduler);

/*
 * What is to be done next when a slot is free; asked again, the answer is the
 * same until another call changes it. is_closed: no new trials will come any
 * more (the budget is used up, or nothing is left to try), so a promotion need
 * not wait for more of them, and at the end somebody has to reach max.
 */
void scheduler_next(const struct scheduler *scheduler, bool is_closed,
                    struct assignment *next);

/* How many more NEXT_NEW there may be, at most; UINT64_MAX: any number. */
uint64_t scheduler_room(const struct scheduler *scheduler);

/*
 * It is done. number: of the new trial, where the assignment was one (they come
 * in ascending order); else the assignment's trial. A paused trial that was
 * stopped needs no scheduler_end().
 */
void scheduler_assign(struct scheduler *scheduler, uint64_t number,
                      const struct assignment *assignment);

/* The setting of a clone: a step away from its parent's, into
 * point[space_count], that satisfies conditions and constraints (the parent's
 * own where none is found). Pure in (seed, number, parent). */
void scheduler_explore(const struct scheduler *scheduler, uint64_t number,
                       const struct value *parent, struct value *point);

/* At which resource it wants the trial's next observation; UINT64_MAX: at
 * none. Where trials pause, that is what the trial was given. */
uint64_t scheduler_awaits(const struct scheduler *scheduler, uint64_t trial);

/*
 * The trial has used that much or more, at least scheduler_awaits(). Where
 * trials pause this is when its attempt has ended; DECIDE_PAUSE then, or
 * DECIDE_CONTINUE where it has come to its end (max).
 */
void scheduler_observe(struct scheduler *scheduler,
                       const struct observation *observation,
                       struct verdict *verdict);

/* The trial is over: at its end, failed, stopped, cancelled. */
void scheduler_end(struct scheduler *scheduler, uint64_t trial,
                   enum trial_outcome outcome);

/* ---- plans ---- */

struct schedule_rung {
    uint64_t bracket, rung;
    uint64_t trials; /* that reach it; see schedule_plan_init() */
    uint64_t resource;
};

struct schedule_plan {
    struct schedule_rung *rungs; /* [count], by bracket, then rung */
    size_t count;
    uint64_t trials;          /* in all */
    uint64_t total_resource;  /* a resumed trial goes on where it was */
    uint64_t total_restarted; /* where trials keep no checkpoints */
    bool is_bound;            /* it is never more than that */
};

/*
 * What `trials` new trials (0: one round of all brackets) come to. asha decides
 * before it knows all results: where good trials come late, more go on than the
 * share of eta that is planned (is_bound is false). ERR_FILE as
 * scheduler_create(), or more than can be counted.
 */
int schedule_plan_init(struct schedule_plan *plan,
                       const struct schedule_options *options, uint64_t trials,
                       struct err *err);
void schedule_plan_clear(struct schedule_plan *plan);

/* NULL-ended. */
const char *const *scheduler_method_names(void);

#endif
