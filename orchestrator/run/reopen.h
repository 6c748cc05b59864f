/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_RUN_REOPEN_H
#define SMTUNE_ORCHESTRATOR_RUN_REOPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "orchestrator/job/states.h"
#include "store/store.h"

/*
 * Trials that are over are put back to be run again, because their user says
 * so: with the same setting, their checkpoints, and all their retries anew. The
 * search keeps what it was told of them until they have come to another end.
 */

struct workflow;
struct reopen_steps; /* reopen_steps.h */

/* Which trials of a run. */
struct reopen_request {
    const int64_t *numbers; /* [count] */
    size_t count;
    bool all_failed;     /* those besides */
    bool all_cancelled;  /* with all_failed: also those that somebody ended */
    bool even_succeeded; /* no error where one of the numbers succeeded */
};

/* One of them, and what had become of it. */
struct reopening {
    int64_t number, job;
    int64_t told; /* the place of its result */
    enum job_state state;
    bool is_infeasible;
    bool is_named;      /* by its number, be it among all_failed or not */
    int64_t step, copy; /* of a workflow; -1: it is a trial */
};

/*
 * Those meant, into *found, which the caller frees, by number, each once.
 * ERR_NOT_FOUND: there is no such trial; ERR_USAGE: one is not over, or
 * succeeded, or (all_failed, and no workflow) there is none.
 */
int reopen_find(struct store *store, int64_t run,
                const struct reopen_request *request, struct reopening **found,
                size_t *count, struct err *err);

/* Puts one back, in the open transaction. */
int reopen_job(struct store *store, int64_t job, struct err *err);

/* Puts back all of steps->found, and a workflow's steps as they follow, in the
 * open transaction. */
int reopen_record(struct store *store, int64_t run,
                  const struct workflow *workflow,
                  const struct reopen_steps *steps, struct err *err);

/*
 * The whole, for a run without an engine whose lock the caller holds: found,
 * put back and committed, and the run's state is running again. *count of
 * them; of a workflow, whose steps go on or wait again with them
 * (reopen_steps.h), it may be 0. workflow NULL: it is an experiment's run.
 */
int reopen_trials(struct store *store, int64_t run,
                  const struct workflow *workflow,
                  const struct reopen_request *request, size_t *count,
                  struct err *err);

#endif
