/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_CLI_SHOW_RUN_RUN_VIEW_H
#define SMTUNE_CLI_SHOW_RUN_RUN_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

struct cli;

enum { RUN_TEXTS = 17 };

/*
 * A run as the commands that read the record show it: its row, the names of
 * its parameters and objectives, and whether it has an engine. Embedded in the
 * command, which closes it whatever run_view_open returned, or clears it
 * whatever run_view_load did.
 */
struct run_view {
    struct store *store;
    struct run_row row; /* its texts are those of the view */
    char *texts[RUN_TEXTS];
    const char *state;  /* for people: see run_state_shown */
    int64_t engine_pid; /* 0: none, or not known */
    char **params;
    size_t param_count;
    char **metrics, **goals;
    size_t objective_count;
    struct outcome_bounds *outcomes; /* constraints on outcomes */
    size_t outcome_count;
};

/* Opens the store for reading and finds the run: by name, id, or "last". */
int run_view_open(struct run_view *view, const struct cli *cli,
                  const char *selector, struct err *err);
void run_view_close(struct run_view *view);
/* Of a store that is open, and stays so. */
int run_view_load(struct run_view *view, struct store *store, int64_t id,
                  struct err *err);
/* The same without counts of jobs, which take longer than all else of a run
 * with very many. */
int run_view_load_uncounted(struct run_view *view, struct store *store,
                            int64_t id, struct err *err);
void run_view_clear(struct run_view *view);

/*
 * A run's state as it is: that of the record, but "paused" where its user has
 * paused it, "interrupted" where the record says running and no engine is
 * there, and "unknown" where that cannot be told. *pid is the engine's, or 0.
 */
const char *run_state_shown(const struct store *store,
                            const struct run_row *row, int64_t *pid);

/* Whether the run should have an engine, and has none, or none that is seen.
 * `shown` is of run_state_shown(). */
bool run_state_lacks_engine(const struct run_row *row, const char *shown);
bool run_lacks_engine(const struct run_view *view);

/* A job's state as it is: that of the record, but the run's own, "interrupted"
 * or "unknown", in place of "running" where the run lacks its engine. */
const char *job_state_shown(const struct run_view *view, const char *state);
/* The same of a trial, which may also be without a finite value. */
const char *trial_state_now(const struct run_view *view,
                            const struct trial_row *trial);

/* Whether it is a workflow's: its jobs are copies of steps, not trials. */
bool run_is_workflow(const struct run_row *row);

/* Whether it is over for good: by the record, and not to be resumed. */
bool run_has_succeeded(const struct run_row *row);

/* How long it took, or takes until now; -1 when nobody knows. */
int64_t run_duration_ms(const struct run_row *row, const char *state_shown);

/* How long all attempts of a trial, or its last one, ran, until now where one
 * is running. -1: none has begun, or nobody knows. */
int64_t trial_ran_ms(const struct run_view *view,
                     const struct trial_row *trial);
int64_t trial_last_ran_ms(const struct run_view *view,
                          const struct trial_row *trial);

/* The number of trials that have come to an end. */
int64_t run_done(const struct run_row *row);

/* How many jobs it has, counted now. */
int64_t run_count_trials(const struct run_view *view);

/* The number that the operand is; ERR_USAGE when it is none. */
int run_parse_trial(const char *operand, int64_t *number, struct err *err);

/* The number and the job of the trial that the operand names. ERR_USAGE when
 * it is not a number, ERR_NOT_FOUND when there is no such trial. */
int run_find_trial(const struct run_view *view, const char *operand,
                   int64_t *number, int64_t *job, struct err *err);

#endif
