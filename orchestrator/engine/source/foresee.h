/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_FORESEE_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_FORESEE_H

#include "orchestrator/engine/core/state.h"

/* Results whose temporary outputs are missing. */

/* A job that is asked for has such a result: it is held until it is known
 * whether a step needs these files. Where that is known, it is over. */
void engine_hold(struct engine *engine, struct job *job,
                 const struct cache_answer *answer);
/* A step has ended, or was skipped: held jobs that depend on it are looked at
 * again after the next commit. */
void engine_foresee_again(struct engine *engine, size_t ended);
/* The same for a job that has ended, where all others of its step that have
 * started are held. */
void engine_foresee_after(struct engine *engine, const struct job *ended);
/* Looks at them, if that is due. */
void engine_foresee(struct engine *engine);
/* Nothing can start. Where nothing else goes on that they could wait for, they
 * are to run, and so are those that keep others from starting. Whether a job is
 * ready now. */
bool engine_run_held(struct engine *engine);
/* Held jobs are ready ones again. */
void engine_give_up_held(struct engine *engine);
/* What was foreseen does not hold any more: jobs were put back. */
void engine_forget_foresight(struct engine *engine);
/* Before the cache is gone. */
void engine_close_foresight(struct engine *engine);

#endif
