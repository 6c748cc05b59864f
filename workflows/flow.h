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
 * enough of them have, else failed. As soon as too few are left for that, no
 * further copy starts, unless `starts_all`; those that run go on. The rest,
 * never started, counts as refused once the step is over, and nobody tells of
 * it.
 *
 * A step that may fail does not hold back what follows: to the default rule its
 * failure is like a success, unless the step that follows reads its outputs and
 * no copy made any. What is skipped for a failure counts as a failure of the
 * run, unless it may fail itself.
 *
 * A final step (`on_failure`, `always`) needs, besides, all steps that are not
 * final, as one: which has failed where a step has that may not, and else
 * succeeded.
 *
 * Copies start by their steps' priority, then by their steps' index, then by
 * their own. One whose claim does not fit into its pools lets others pass, as
 * far as these leave it the room that it waits for (of those that wait for the
 * same, the first): so a large claim gets its turn, and who wants other pools
 * does not wait for it.
 */

enum flow_when {
    /* The default: each succeeded, or failed and may, and so did all that the
     * step reads; one that was skipped did not succeed. */
    FLOW_ALL_SUCCESS,
    FLOW_ALL_DONE, /* each has succeeded or failed, none was skipped */
    /* One failed (if it may or not), or its rule skipped it because of one
     * that had failed, near or far. */
    FLOW_ANY_FAILED,
    FLOW_ALWAYS /* however they ended */
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
    const size_t *needs; /* [need_count] steps, by index; none is final, but
                            of a final step */
    size_t need_count;
    size_t order_count;  /* the last of them: by the order of a list alone. One
                            that was skipped, not because of a failure, is
                            passed over */
    const size_t *reads; /* [read_count] steps whose outputs it reads, near or
                            far: all of them come before it */
    size_t read_count;
    enum flow_when when;
    bool is_final;
    bool may_fail;           /* the run does not fail with it */
    int64_t priority;        /* the highest first, then by index, then copy */
    int64_t parallel;        /* copies at once; 0: no limit */
    int64_t success_count;   /* copies that have to succeed; 0: as the next */
    double success_fraction; /* of all copies, rounded up; 0: all */
    bool starts_all;         /* copies, though the step cannot succeed */
    const struct flow_claim *claims; /* [claim_count], each of another pool */
    size_t claim_count;
};

struct flow;

/* Copies steps[step_count] and pools[pool_count], the sizes of pools. NULL
 * (ERR_FILE) where the needs go round in a circle (graph.h names it). */
struct flow *flow_create(const struct flow_step *steps, size_t step_count,
                         const int64_t *pools, size_t pool_count,
                         struct err *err);
void flow_destroy(struct flow *flow);

enum flow_kind {
    FLOW_NOTHING, /* before something that runs has ended */
    FLOW_BEGIN,   /* answer by flow_begin, flow_skip or flow_fail */
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
    size_t because;        /* FLOW_SKIP: the need that decided, or the step
                              that failed where that is a final one's */
};

/* `because` of a step that begins when one has failed, where none has. */
#define FLOW_NO_STEP SIZE_MAX

/*
 * What is to be done next; until it is answered, each call says the same. All
 * that ends, begins or is skipped comes before what starts. In O(c log c) for c
 * different claims, what is told in O(log steps), but for what a step's end
 * means to those that need it.
 */
struct flow_next flow_next(struct flow *flow);

/*
 * What follows is told as an answer, or, before the first question, from a
 * record: then the steps come in any order, and only what is said of one step
 * in the order of its life. That a copy started need not be told if it is over.
 */

/* The step begins, with so many copies (0: it is over at once, and has
 * succeeded unless success_count wants some). */
void flow_begin(struct flow *flow, size_t step, int64_t copies);
/* It is left out. Where its rule let it begin, no failure is the cause. */
void flow_skip(struct flow *flow, size_t step);
/* It could not begin, and has failed without a copy. */
void flow_fail(struct flow *flow, size_t step);
void flow_started(struct flow *flow, size_t step, int64_t copy);
/* The copy's own condition says no: it counts for nothing, neither as one that
 * succeeded nor among all. */
void flow_refuse(struct flow *flow, size_t step, int64_t copy);
/* A copy never starts, as the run is over: it has failed, until one of its step
 * is put back. */
void flow_give_up(struct flow *flow, size_t step, int64_t copy);
/* A copy that had started is over. */
void flow_ended(struct flow *flow, size_t step, int64_t copy, bool succeeded);
/* Its user or its step ended it: to its step it is one that failed. */
void flow_cancelled(struct flow *flow, size_t step, int64_t copy);
void flow_end(struct flow *flow, size_t step);
/* Whether flow_reopen() and flow_reset() may be called: no copy runs of a step
 * that needs it, near or far, nor of the step itself for flow_reset(). */
bool flow_may_reopen(const struct flow *flow, size_t step);
bool flow_may_reset(const struct flow *flow, size_t step);
/*
 * A copy that was over, or refused, is put back, to start again, before those
 * that never did and whether or not success is still possible: its step is
 * active again, its copies that were given up may start, and every step that
 * needs it, near or far, waits again, with nothing begun. All final steps do,
 * where the step is none. From a record, it is also told of one that had been
 * put back and has not started since.
 */
void flow_reopen(struct flow *flow, size_t step, int64_t copy);
/* A step that ended may end otherwise by another rule: it is active again, and
 * its copies stay as they are. Those that were given up may start, and all that
 * need it wait again. As flow_may_reopen(). */
void flow_look_again(struct flow *flow, size_t step);
/* The step itself waits again, too, with nothing begun, whatever became of it.
 */
void flow_reset(struct flow *flow, size_t step);

enum flow_state flow_state(const struct flow *flow, size_t step);

/* What a step's copies are doing. started: they run now; failed: also those
 * that were cancelled; refused: also those that were left when the step was
 * over. */
struct flow_counts {
    int64_t copies, started, succeeded, failed, refused;
    int64_t cancelled; /* of those that failed */
};

void flow_count(const struct flow *flow, size_t step,
                struct flow_counts *counts);
/* How much of a pool no copy has. */
int64_t flow_pool_left(const struct flow *flow, size_t pool);
/* Whether an active step cannot succeed any more, its copies that run
 * notwithstanding. */
bool flow_is_lost(const struct flow *flow, size_t step);
/* Whether a step that may not fail has failed, or is missed. */
bool flow_has_failed(const struct flow *flow);
/* Whether its rule skipped a step because of a failure, near or far, and it is
 * not one that may fail. */
bool flow_is_missed(const struct flow *flow, size_t step);

#endif
