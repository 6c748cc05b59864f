/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SETTLE_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SETTLE_H

#include "orchestrator/engine/core/state.h"

/* What becomes of a job whose attempt has ended. */

/* The job, which is in no list, is settled as its `end` says. log: what retry
 * rules look at, or empty. */
void engine_settle(struct engine *engine, struct job *job,
                   const struct buf *log);
/* Ends a job that never reached the executor; why is NULL where it was not to
 * start. */
void engine_settle_unstarted(struct engine *engine, struct job *job,
                             const struct err *why);
/* After a commit: reports the settled jobs; they are ready, wait, or are
 * forgotten. */
void engine_release_settled(struct engine *engine);

#endif
