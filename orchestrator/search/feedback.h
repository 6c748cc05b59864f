/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_SEARCH_FEEDBACK_H
#define SMTUNE_ORCHESTRATOR_SEARCH_FEEDBACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "orchestrator/job/budget.h"
#include "orchestrator/job/states.h"
#include "orchestrator/spec/experiment/experiment.h"
#include "store/store.h"
#include "strategies/gp/convergence.h"
#include "strategies/schedules/scheduler.h"
#include "strategies/strategy.h"

/*
 * What a run's search and schedule were told, in the order in which they were,
 * so that they can be told it again between the same suggestions: results of
 * trials, what trials had reached on their way, and which ones were given more.
 * A trial that its user put back to be run again may have several results: the
 * last one counts, those before it are superseded. Its schedule takes notice of
 * the first one alone.
 */
struct feedback;

enum feedback_kind {
    FEEDBACK_RESULT,      /* a trial is over */
    FEEDBACK_OBSERVATION, /* a trial has used so much of its resource */
    FEEDBACK_PROMOTION    /* a paused trial was given more */
};

struct feedback_item {
    enum feedback_kind kind;
    int64_t number; /* of the trial */
    int64_t place;  /* 1, 2, 3 ... */

    /* Of a result, or an observation. */
    const double *values;   /* [objective_count]; NULL: not all were said */
    const double *outcomes; /* [outcome_count], as said; NULL: as values */

    /* Of a result. */
    enum job_state state; /* a final one */
    int64_t attempts;     /* superseded: that it had had by then */
    bool is_superseded;
    bool is_scheduled; /* the schedule is told of it */
    bool was_paused;   /* by the schedule, when it ended */
    bool lacks_value;  /* it exited with 0, and not all objectives have one */

    /* Of the others. */
    int64_t resource;       /* that it had used; up to which it may run now */
    int64_t bracket, rung;  /* where; to which it goes */
    double last, best;      /* of the objective that decides */
    enum decision decision; /* of an observation, as recorded */
    const char *reason;
};

/* The words of enum decision in the record. */
extern const char *const decision_names[];

/* A value of an objective as methods see it: lower is better. And back. */
double feedback_orient(const struct experiment *experiment, size_t objective,
                       double value);

/*
 * Tells both of it. scheduler may be NULL where there is no schedule. *verdict
 * (NULL: not wanted) becomes what the schedule decides of an observation, and
 * what the search learns of it follows from that.
 */
void feedback_tell(struct strategy *strategy, struct scheduler *scheduler,
                   const struct experiment *experiment,
                   const struct feedback_item *item, struct verdict *verdict);

/* Counts a result in the tally, others nowhere; whether it is the new best. */
bool feedback_count(struct tally *tally, const struct experiment *experiment,
                    const struct feedback_item *item);

/* Tells of results alone. */
void feedback_tell_convergence(struct convergence *convergence,
                               const struct experiment *experiment,
                               const struct feedback_item *item);

/* What a promotion was to the schedule. */
struct assignment feedback_promotion(const struct feedback_item *item);

/* How its schedule had a trial begin; false: it has none. */
bool feedback_assignment(const struct trial_row *row,
                         struct assignment *assignment);

/* With what is superseded and observed of the run; NULL on error. */
struct feedback *feedback_create(const struct experiment *experiment,
                                 struct store *store, int64_t run,
                                 struct err *err);
void feedback_destroy(struct feedback *feedback); /* NULL is none */

/*
 * Takes in a trial. Rows come in the order of their numbers: what was known
 * when a trial was suggested came before its row. -1 when its state is not
 * known.
 */
int feedback_add(struct feedback *feedback, const struct trial_row *row,
                 struct err *err);
/* The next one whose place is at most `place`, until the next call; NULL: there
 * is none. */
const struct feedback_item *feedback_next(struct feedback *feedback,
                                          int64_t place);

#endif
