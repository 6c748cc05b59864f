/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_STATES_H
#define SMTUNE_ORCHESTRATOR_JOB_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "workflows/flow.h"

/*
 * The states of runs, jobs and attempts, as words and as one table.
 *
 * Nothing changes a job's state but job_next(): the new state is looked up,
 * committed to the store together with the event, and only then acted on. The
 * words are the same in the store, in JSON and on the screen.
 */

#define RUN_STATES(X)                                                          \
    X(RUN_RUNNING, "running")     /* an engine has it, or had it and died */   \
    X(RUN_SUCCEEDED, "succeeded") /* its budget is used, or target reached */  \
    X(RUN_FAILED, "failed")       /* it could not go on, or was in vain */     \
    X(RUN_STOPPED, "stopped")     /* by its user; can be resumed */

#define JOB_STATES(X)                                                          \
    X(JOB_WAITING, "waiting") /* for something: a retry's due time */          \
    X(JOB_READY, "ready")     /* could start now */                            \
    X(JOB_RUNNING, "running") /* an attempt runs */                            \
    X(JOB_PAUSED, "paused")   /* by a scheduler; may go on later */            \
    X(JOB_SUCCEEDED, "succeeded")                                              \
    X(JOB_FAILED, "failed")                                                    \
    X(JOB_STOPPED, "stopped")     /* early, by a scheduler or the budget */    \
    X(JOB_SKIPPED, "skipped")     /* a condition said no */                    \
    X(JOB_CANCELLED, "cancelled") /* never ran, or its user ended it */

#define JOB_EVENTS(X)                                                          \
    X(EVENT_SUGGESTED, "suggested") /* it exists, with its setting */          \
    X(EVENT_CREATED, "created")     /* it exists, as a step's copy */          \
    X(EVENT_STARTED, "started")     /* its command runs */                     \
    X(EVENT_SUCCEEDED, "succeeded") /* ended well, metric and all */           \
    X(EVENT_REUSED, "reused")       /* takes over another one's result */      \
    X(EVENT_FAILED, "failed")       /* ended badly, and no retry is left */    \
    X(EVENT_PAUSED, "paused")       /* used the resource it was given */       \
    X(EVENT_PROMOTED, "promoted")   /* its schedule gives it more */           \
    X(EVENT_RETRY, "retry")         /* ended badly, and will try again */      \
    X(EVENT_LINKED, "linked")       /* its time is over: the next link */      \
    X(EVENT_DUE, "due")             /* the retry's time has come */            \
    X(EVENT_DISPLACED, "displaced") /* the executor took its place away */     \
    X(EVENT_INTERRUPTED, "interrupted") /* by the user's stop; starts again */ \
    X(EVENT_STOPPED, "stopped")         /* ended early by a decision */        \
    X(EVENT_SKIPPED, "skipped")         /* its condition says no */            \
    X(EVENT_CANCELLED, "cancelled")                                            \
    X(EVENT_REOPENED, "reopened") /* its user puts it back: runs again */

/* Of a workflow's step; its states are those of workflows/flow.h. */
#define STEP_EVENTS(X)                                                         \
    X(STEP_BEGAN, "step_began")       /* its copies may start */               \
    X(STEP_ENDED, "step_ended")       /* they are over */                      \
    X(STEP_SKIPPED, "step_skipped")   /* its rule or condition says no */      \
    X(STEP_REOPENED, "step_reopened") /* it is not over any more */

enum run_state {
#define X(symbol, word) symbol,
    RUN_STATES(X)
#undef X
};

enum job_state {
#define X(symbol, word) symbol,
    JOB_STATES(X)
#undef X
};

enum job_event {
#define X(symbol, word) symbol,
    JOB_EVENTS(X)
#undef X
};

enum step_event {
#define X(symbol, word) symbol,
    STEP_EVENTS(X)
#undef X
};

#define X(symbol, word) +1
enum {
    RUN_STATE_COUNT = 0 RUN_STATES(X),
    JOB_STATE_COUNT = 0 JOB_STATES(X),
    JOB_EVENT_COUNT = 0 JOB_EVENTS(X),
    STEP_EVENT_COUNT = 0 STEP_EVENTS(X)
};
#undef X

extern const char *const run_state_names[RUN_STATE_COUNT + 1];
extern const char *const job_state_names[JOB_STATE_COUNT + 1];
extern const char *const job_event_names[JOB_EVENT_COUNT + 1];
extern const char *const step_event_names[STEP_EVENT_COUNT + 1];
/* By enum flow_state. */
extern const char *const step_state_names[FLOW_SKIPPED + 2];

/* The state after an event; false when the event cannot happen there. */
bool job_next(enum job_state state, enum job_event event, enum job_state *next);

/* Whether nothing more happens to the job, unless its user puts it back. */
bool job_is_final(enum job_state state);

/* The state of a word from the store; -1 when there is none such. */
int job_state_find(const char *word);
int run_state_find(const char *word);

/* Whether an event can bring a step from one state to the other. */
bool step_may(enum flow_state from, enum step_event event, enum flow_state to);
int step_state_find(const char *word);

/* The same of what is in the record of that trial, or step; -1 with ERR_FAILED
 * where there is no such state, in *state else. */
int job_state_read(int64_t number, const char *word, enum job_state *state,
                   struct err *err);
int step_state_read(const char *name, const char *word, enum flow_state *state,
                    struct err *err);

#endif
