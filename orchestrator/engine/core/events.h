/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_CORE_EVENTS_H
#define SMTUNE_ORCHESTRATOR_ENGINE_CORE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "orchestrator/job/budget.h"
#include "orchestrator/job/states.h"

/* What an engine reports to its owner (engine.h) and to those on its socket. */

/* A trial, or a job of a workflow, that has just come to an end, or to a pause,
 * or will be tried again, or starts again at once; or, in state "promoted",
 * that its schedule lets go on. Everything is valid during the call only. */
struct engine_trial {
    int64_t number;
    const char *step; /* of a workflow: its step's name; NULL: a trial */
    int64_t copy;     /* -1: the step has no copies */
    int64_t round;    /* 0: it does not repeat */
    const char *state;
    const char *cause;      /* NULL: a job that never started */
    const char *text;       /* why it could not start or was stopped, or "" */
    const double *values;   /* [objective_count]; NaN: none */
    const double *outcomes; /* [outcome_count]; NaN: none */
    const struct value *point;
    int64_t resource; /* that it has reached, or goes on to; 0: no schedule */
    int64_t duration_ms;      /* of its attempts together; 0: none has ended */
    int64_t last_duration_ms; /* of its last one */
    bool is_best;             /* the best so far */
    bool is_cached;           /* a job's result is a cache hit */
    bool is_feasible;         /* it satisfies the constraints on outcomes */
    bool will_retry;
    const char *again; /* it starts again and spends no retry: "shortage 3 of
                          100", "link 2 of 60"; or "" */
};

/* How a workflow's steps stand. */
struct engine_steps {
    int64_t total, active, succeeded, failed, skipped;
    int64_t cached, cached_jobs; /* of those that succeeded, cache hits */
    const char *names; /* of those that are active, "train (3 of 8), tell", as
                          far as a line has room */
};

struct engine_status {
    const struct tally *tally;
    const struct engine_steps *steps; /* NULL: an experiment */
    int64_t running;
    int64_t queued;        /* on a cluster */
    int64_t paused;        /* by the schedule */
    int64_t budget_trials; /* 0: no limit */
    int64_t elapsed_ms;
    int64_t parallel;
    const char *method, *method_reason;
    const char *note; /* what it waits for or does, or "" */
    const char *hint; /* what Ctrl-C does to that, where it does, or "" */
    bool is_paused;
};

struct engine_events {
    /* The trial's end, or that it goes on, is in the record, durably. */
    void (*trial_ended)(void *user, const struct engine_trial *trial,
                        const struct engine_status *status);
    /* Something changed, or a fifth of a second went by. */
    void (*tick)(void *user, const struct engine_status *status);
    /* One line about what is not as it should be, while the run goes on. */
    void (*warn)(void *user, const char *text);
    void *user;
    struct log *log; /* NULL: there is none */
};

struct engine_result {
    /* RUN_SUCCEEDED: the budget's way; RUN_STOPPED: by signal, can be resumed;
     * RUN_FAILED: the trials cannot be started at all, too many failed, or none
     * succeeded. */
    enum run_state state;
    enum budget_verdict verdict;
    int signal;        /* that stopped it */
    char reason[1024]; /* as it stands in the record */
    struct tally tally;
    int64_t undelivered; /* messages that wait for their receivers */
};

#endif
