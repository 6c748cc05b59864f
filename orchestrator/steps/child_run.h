/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_STEPS_CHILD_RUN_H
#define SMTUNE_ORCHESTRATOR_STEPS_CHILD_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/value.h"
#include "executors/executor.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "store/store.h"

/*
 * Runs below: a step of a workflow that is an experiment or another workflow
 * is a run of its own, and the step's job is the process of its engine, `smtune
 * run`, on the same store. What that process is told to end by leaves its run
 * as it is, and the job's next attempt goes on with it.
 */

enum { CHILD_RUN_DEPTH_MAX = 8 /* runs, one below the other */ };

/* A job that is a child run. Everything is borrowed. */
struct child_run {
    const struct step *step;
    const char *store;    /* its directory */
    const char *run_name; /* of the run that the job belongs to */
    int64_t run, job;     /* their ids */
    int64_t copy;         /* -1: the step has no copies */
    int64_t round;        /* 0: it does not repeat */
    bool is_touched;      /* its files count as made, too */
};

/* What the step's `with` changes, as words for --set, "parameters.lr=0.1",
 * NULL-ended and freed with words_free; values are those of the step's scope.
 * NULL with an error where a template has no value. */
char **child_run_settings(const struct step *step, const struct value *values,
                          struct err *err);

/* The words of the job's command, freed with words_free; values are
 * those of the step's scope. */
char **child_run_words(const struct child_run *child,
                       const struct value *values, struct err *err);

/* Reads what --below has for its argument. -1 with ERR_USAGE. */
int child_run_parse(const char *text, int64_t *run, int64_t *job,
                    struct err *err);
/* Whether that run may have a child run: not beyond CHILD_RUN_DEPTH_MAX. */
int child_run_check_depth(struct store *store, int64_t run, struct err *err);

/* Whether the run that a run is below is paused now; then it starts nothing
 * either. */
int child_run_is_paused(struct store *store, int64_t run, bool *is_paused,
                        struct err *err);

/* Takes up what `smtune run` has made known by its exit status: one that was
 * stopped was cancelled. */
void child_run_judge(struct attempt_exit *end);

/* Outputs of one: its name; of an experiment the path of its best trial's
 * checkpoints. */
#define CHILD_NAME      "run"
#define BEST_CHECKPOINT "best_checkpoint"

/*
 * What came of the child run of a job that has succeeded, put into the object
 * `into` by name: "run", its name; of an experiment best_PARAM, best_METRIC,
 * best_trial, best_checkpoint (a path; null where the trial left nothing),
 * trials; of a workflow the outputs that its file names. ERR_FILE where one of
 * them cannot be told, ERR_NOT_FOUND where there is no such run.
 */
/* The same of a workflow that is read already; without "run". */
int child_run_evaluate(struct store *store, int64_t run, const char *name,
                       const struct workflow *workflow, json_t *into,
                       struct err *err);
int child_run_outputs(const struct child_run *child, struct store *store,
                      json_t *into, struct err *err);

#endif
