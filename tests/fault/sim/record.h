/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_TESTS_FAULT_SIM_RECORD_H
#define SMTUNE_TESTS_FAULT_SIM_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "orchestrator/run/budget_change.h"

/* The record as the disk has it, read by SQL of its own. */

enum { RECORD_WORD = 16, RECORD_REASON = 128, RECORD_VALUES = 2 };

struct record_job {
    int64_t id, number;
    char state[RECORD_WORD], cause[RECORD_WORD]; /* "": none */
    int64_t told, same_as;                       /* 0: none */
    int64_t step, copy, round;                   /* step -1: it is a trial */
    int64_t parent;               /* of which it is a clone; 0: of none */
    int64_t seen;                 /* how much was told when it was suggested */
    double values[RECORD_VALUES]; /* NaN: none */
    bool are_temps_removed;
};

struct record_attempt {
    int64_t id, trial, number;
    char state[RECORD_WORD], cause[RECORD_WORD];
    int64_t exit_code, signal, started_ms, ended_ms;
    int64_t resource, resource_used; /* 0: none */
};

struct record_observation {
    int64_t trial, attempt, told, resource;
    char decision[RECORD_WORD];
    int64_t promoted, promoted_to; /* 0: it was not */
};

/* A trial that was put back. */
struct record_reopened {
    int64_t trial;
    int64_t attempts; /* which it had by then */
};

/* A setting that somebody had the run try. */
struct record_enqueued {
    int64_t k;
    int64_t trial;   /* that tried it; 0: none yet */
    int64_t tried_k; /* what that one tried */
};

/* A change of the run's budget. */
struct record_budget {
    int64_t trials, time_ms; /* 0: as before */
    int64_t begun;           /* how many trials had */
};

struct record_step {
    char state[RECORD_WORD];
    int64_t copies, first_job; /* first_job 0: it has not begun */
};

struct record {
    char run_state[RECORD_WORD], run_reason[RECORD_REASON];
    struct budget_change budget;   /* that it was given; 0: as its file says */
    struct record_budget *budgets; /* the changes, one after the other */
    size_t budget_count, budget_capacity;
    struct record_enqueued *enqueued; /* in their order */
    size_t enqueued_count, enqueued_capacity;
    int64_t enqueued_answers;         /* of engines */
    int64_t put_backs;                /* that engines have answered to */
    struct record_reopened *reopened; /* one after the other */
    size_t reopened_count, reopened_capacity;
    struct record_step *steps; /* in their order */
    size_t step_count, step_capacity;
    struct record_job *jobs; /* by number */
    size_t job_count, job_capacity;
    struct record_attempt *attempts; /* by trial and number */
    size_t attempt_count, attempt_capacity;
    struct record_observation *observations; /* by trial and place */
    size_t observation_count, observation_capacity;
};

/* Fails as world_fail where it cannot be read; with is_thorough also where
 * SQLite finds a fault in the file. */
void record_read(struct record *record, bool is_thorough);
void record_clear(struct record *record);
/* Looks into the record beside an engine that writes to it. */
struct witness;
struct witness *witness_create(void);
void witness_destroy(struct witness *witness); /* NULL is none */
/* Whether the attempt is in the record. */
bool witness_knows(struct witness *witness, int64_t attempt);

/* NULL: there is none. */
const struct record_job *record_job(const struct record *record, int64_t trial);
const struct record_attempt *record_attempt(const struct record *record,
                                            int64_t id);

#endif
