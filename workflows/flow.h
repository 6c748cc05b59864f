/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_WORKFLOWS_FLOW_H
#define SMTUNE_WORKFLOWS_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * How a workflow goes on: which step begins, which of its copies starts next,
 * and what becomes of a step when its copies are over. Pure: it knows no clock,
 * no process and no expression, and what it says follows from what it was told
 * alone, in whichever order the copies of different steps ended. So an engine
 * that takes up a run tells it what is in the record, and goes on.
 *
 * A step waits until all that it needs is over; then its rule (`when`) says
 * whether it begins or is skipped. One that begins has one or more copies, at
 * most `parallel` of which run at once, and no more than the pools that they
 * take from have room for. It is over when all copies are: succeeded when
 * enough of them have, else failed. A final step (`on_failure`, `always`)
 * needs, besides, all steps that are not final.
 */

enum flow_when {
    FLOW_ALL_SUCCESS, /* the default; one that was skipped did not succeed */
    FLOW_ALL_DONE,    /* each has succeeded or failed, none was skipped */
    FLOW_ANY_FAILED,  /* one failed, or was skipped because one had failed */
    FLOW_ALWAYS       /* however they ended */
};

extern const char *const flow_when_names[]; /* NULL-ended */

enum flow_state {
    FLOW_WAITING, /* for what it needs */
    FLOW_ACTIVE,  /* it has begun, and is not over */
    FLOW_SUCCEEDED,
    FLOW_FAILED,
    FLOW_SKIPPED
};

/* How much of a pool one copy takes. */
struct flow_claim {
    size_t pool;
    int64_t amount; /* 1 to the pool's size */
};

struct flow_step {
    const size_t *needs; /* [need_count] steps, by index */
    size_t need_count;
    enum flow_when when;
    bool is_final;
    bool may_fail;           /* the run does not fail with it */
    int64_t priority;        /* the highest first, then by index, then copy */
    int64_t parallel;        /* copies at once; 0: no limit */
    int64_t success_count;   /* copies that have to succeed; 0: as the next */
    double success_fraction; /* of all copies, rounded up; 0: all */
    const struct flow_claim *claims; /* [claim_count] */
    size_t claim_count;
};

struct flow;

/* Copies steps[step_count] and pools[pool_count], the sizes of pools. NULL
 * where the needs go round in a circle (graph.h names it). */
struct flow *flow_create(const struct flow_step *steps, size_t step_count,
                         const int64_t *pools, size_t pool_count,
                         struct err *err);
void flow_destroy(struct flow *flow);

enum flow_kind {
    FLOW_NOTHING, /* before something that runs has ended */
    FLOW_BEGIN,   /* step may begin: answer by flow_begin or flow_skip */
    FLOW_SKIP,    /* step's rule says no: answer by flow_skip */
    FLOW_START,   /* copy may start: answer by flow_started or flow_refuse */
    FLOW_END,     /* step is over, in `state`: answer by flow_end */
    FLOW_OVER     /* all steps are over */
};

struct flow_next {
    enum flow_kind kind;
    size_t step;
    int64_t copy;          /* FLOW_START: 0, 1 ... */
    enum flow_state state; /* FLOW_END: succeeded or failed */
    size_t because;        /* FLOW_SKIP: the need that decided */
};

/*
 * What is to be done next; until it is answered, each call says the same. In
 * O(log steps), but for what a step's end means to those that need it.
 */
struct flow_next flow_next(struct flow *flow);

/* The step begins, with so many copies (0: it is over at once, and has
 * succeeded). */
void flow_begin(struct flow *flow, size_t step, int64_t copies);
/* It is left out. */
void flow_skip(struct flow *flow, size_t step);
void flow_started(struct flow *flow, size_t step, int64_t copy);
/* The copy's own condition says no: it counts for nothing, neither as one that
 * succeeded nor among all. */
void flow_refuse(struct flow *flow, size_t step, int64_t copy);
/* A copy that had started is over. */
void flow_ended(struct flow *flow, size_t step, int64_t copy, bool succeeded);
void flow_end(struct flow *flow, size_t step);
/* A copy that was over, or refused, is put back, to start again: its step is
 * active again, and every step that needs it, near or far, waits again, with
 * nothing begun. */
void flow_reopen(struct flow *flow, size_t step, int64_t copy);

enum flow_state flow_state(const struct flow *flow, size_t step);

/* What a step's copies are doing. */
struct flow_counts {
    int64_t copies, started, succeeded, failed, refused; /* started: run now */
};

void flow_count(const struct flow *flow, size_t step,
                struct flow_counts *counts);
/* Whether a step has failed that may not. */
bool flow_has_failed(const struct flow *flow);

#endif
