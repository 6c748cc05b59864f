/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_CORE_TAKE_UP_H
#define SMTUNE_ORCHESTRATOR_ENGINE_CORE_TAKE_UP_H

#include "orchestrator/engine/core/source.h"

/*
 * One job that is not over, as the record has it, comes into memory: when a run
 * is resumed, and when a job that was paused or over goes on.
 */
struct taking_up {
    struct engine *engine;
    struct err *err;
    struct buf said;   /* of what retries scaled, which is in the record */
    struct job *trial; /* whose attempts or metrics are being read */
    struct superseded_sum superseded; /* of it */
    int64_t last_attempt;             /* whose metrics count no more */
    int64_t ended_ms; /* when the last attempt that was read did */
    struct value *point;
    enum job_state state; /* of a single one */
};

/* Make the job of a row, in a state, ready or waiting. Of a trial, whose
 * setting is taking_up->point; and of a workflow's job (NULL with err: its row
 * makes no sense). */
struct job *taking_up_trial(struct taking_up *taking_up,
                            const struct trial_row *row, enum job_state state);
struct job *taking_up_job(struct taking_up *taking_up,
                          const struct trial_row *row, enum job_state state);
/* Reads the rest of it: attempts, retries, metrics. -1 with err. */
int taking_up_rest(struct taking_up *taking_up, struct job *job);

/* A job that was not in memory is ready, in a state. NULL with err where the
 * record cannot be read. */
struct job *engine_take_up(struct engine *engine, int64_t number,
                           enum job_state state, struct err *err);

#endif
