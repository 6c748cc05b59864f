/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_RECOVER_IMPL_H
#define SMTUNE_ORCHESTRATOR_ENGINE_RECOVER_IMPL_H

#include "base/buf.h"
#include "orchestrator/engine/engine_impl.h"

/* What recover.c and recover_steps.c share; nobody else includes it. */

struct recovery {
    struct engine *engine;
    struct err *err;
    struct buf said;     /* of what retries scaled, which is in the record */
    struct trial *trial; /* whose attempts or metrics are being read */
    struct superseded_sum superseded; /* of it */
    int64_t last_attempt;             /* whose metrics count no more */
    int64_t ended_ms; /* when the last attempt that was read did */
    struct value *point;
    struct told *told;      /* NULL: it is a workflow */
    struct trial_list open; /* trials with an attempt that has no end */
    enum job_state state;   /* of a single one */
};

/* A job that is not over goes to those that are ready, or wait. */
void recovery_place(struct recovery *recovery, struct trial *trial,
                    const struct trial_row *row);

/* recover_steps.c */
/* Reads how far a workflow's steps are. */
int recovery_read_steps(struct recovery *recovery);
/* An attempt of a job has ended, which may be a link of a chain. */
void recovery_follow_link(struct trial *job, const struct attempt_row *row);
/* One job that was not in memory, in a state: to the ready ones. */
int recovery_keep_job(struct recovery *recovery, const struct trial_row *row,
                      enum job_state state);

#endif
