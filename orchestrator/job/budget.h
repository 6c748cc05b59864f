/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_JOB_BUDGET_H
#define SMTUNE_ORCHESTRATOR_JOB_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "orchestrator/job/states.h"
#include "orchestrator/spec/experiment/experiment.h"

/*
 * The account of a run: what its trials came to, and whether that is enough.
 * Pure: results go in, in the order in which they were recorded.
 */
struct tally {
    int64_t suggested; /* trials that exist */
    int64_t succeeded, failed, stopped, skipped, cancelled;
    int64_t nonfinite;  /* ended well with NaN or an infinity for a value: no
                           success, and not among `succeeded` */
    int64_t infeasible; /* of those that succeeded */
    int64_t best_trial; /* number, 0: none yet; it is feasible */
    double best;        /* of the first objective; NaN: none yet */
    int64_t since_best; /* results since the last improvement */
    /* An improvement is a best result that differs from the improvement before
     * it by at least that share of the latter's size: many small steps add up
     * to one. Where that one is 0, any better result is one. */
    double improvement;
    double improved;        /* the last improvement; NaN: none yet */
    int64_t improved_place; /* its place among the results told; 0: none yet */
    int64_t resource_used;  /* by all attempts that ended */
    bool has_converged;     /* as convergence_reached() said last */
    unsigned first_failed;  /* of the first trials, a bit each */
    int64_t without_value;  /* the first trial that ended, where it exited with
                               0 and without a value of an objective; or 0 */
};

/* So many trials that all fail, and no other that succeeds, tell of a fault
 * that is none of their settings. They are the first by number, since among the
 * first to end the failures come before what takes hours. */
enum { BUDGET_FIRST_TRIALS = 10 };

/* improvement: of the budget. */
void tally_init(struct tally *tally, double improvement);
/* Forgets the results, which will be added anew. */
void tally_forget(struct tally *tally);

/* What tally_add_result takes for a trial with these values of its objectives
 * (NULL: none): the first; NaN where one of them is not finite. */
double tally_value(const double *values, size_t count);

/* A feasible trial succeeded with that value of the first objective, as the
 * result in that place; NaN: one of its objectives is not finite, so that it
 * counts as no success. Returns whether it is the new best. */
bool tally_add_result(struct tally *tally, const struct objective *objective,
                      int64_t trial, int64_t place, double value);

/* The copy of a step succeeded, which has no objective. */
void tally_add_copy(struct tally *tally);

/* A trial succeeded and broke a constraint on outcomes: no improvement. */
void tally_add_infeasible(struct tally *tally);

/* A trial failed, was stopped, skipped or cancelled. The first two are no
 * improvement. */
void tally_add_other(struct tally *tally, enum job_state state, int64_t trial);

/* The same trial, which tally_add_other() then counts, exited with 0 and
 * without a value of an objective. */
void tally_note_without_value(struct tally *tally, int64_t trial);

/* Whether taking back the result in that place may change what counted as best
 * or as an improvement: the results must be added anew then. */
bool tally_hangs_on(const struct tally *tally, enum job_state state,
                    bool is_infeasible, int64_t trial, int64_t place);

/* Takes the result in that place back, on which nothing hangs. */
void tally_remove(struct tally *tally, enum job_state state, bool is_infeasible,
                  int64_t trial, int64_t place);

/* Trials that will not change any more. */
int64_t tally_ended(const struct tally *tally);

/* How much of the resource may be given out yet, where attempts that have not
 * ended may use so much; INT64_MAX: there is no limit. */
int64_t budget_resource_left(const struct budget *budget,
                             const struct tally *tally, int64_t outstanding);

enum budget_verdict {
    BUDGET_GO_ON,
    BUDGET_TRIALS,   /* no more to suggest: let those that run end */
    BUDGET_RESOURCE, /* no more to start, likewise */
    BUDGET_TIME,     /* the others end everything at once */
    BUDGET_TARGET,
    BUDGET_NO_IMPROVEMENT,
    BUDGET_CONVERGENCE,
    BUDGET_NO_VALUE,
    BUDGET_FAILURES, /* these two: the run has failed */
    BUDGET_FIRST_FAILED,
    BUDGET_VERDICT_COUNT
};

/* Whether it ends those that run, too. */
bool budget_verdict_ends_all(enum budget_verdict verdict);

/* Whether the run has failed by it. */
bool budget_verdict_is_failure(enum budget_verdict verdict);

/* Whether a run of trials gives up: so many launches failed in a row, and no
 * trial has succeeded. */
bool budget_is_hopeless(const struct tally *tally, int64_t launch_errors);

/* elapsed_ms: the run's time so far. */
enum budget_verdict budget_check(const struct budget *budget,
                                 const struct objective *objective,
                                 const struct tally *tally, int64_t elapsed_ms);

/* One sentence, for the record and for people. */
const char *budget_verdict_text(enum budget_verdict verdict);

/* What the reason of a run begins with of which no trial succeeded, before the
 * reason why it ended; it has failed. */
#define BUDGET_IN_VAIN "no trial succeeded: "

/* The reasons of one that ended before its budget did: there was no more to be
 * tried. */
#define BUDGET_ALL_TRIED     "every setting of the search space was tried"
#define BUDGET_SCHEDULE_OVER "the schedule has finished"

/* The reason behind BUDGET_IN_VAIN; NULL: it does not begin with that. */
const char *budget_vain_reason(const char *reason);

/* The verdict with that text, alone or behind BUDGET_IN_VAIN, and with counts
 * in brackets or without; BUDGET_GO_ON: none has it. */
enum budget_verdict budget_verdict_find(const char *text);

#endif
