/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_CORE_LOG_H
#define SMTUNE_ORCHESTRATOR_ENGINE_CORE_LOG_H

#include "orchestrator/engine/core/state.h"

/* Lines of the engine's log about jobs (base/log.h): nothing where there is
 * none. */

/* A mask with the run's secrets, for texts that are recorded: those of env
 * alone whose name or form is a secret's. The caller destroys it. */
struct mask *engine_mask(const struct engine *engine);

/* Of a session that begins; hides the run's secrets from the log first. */
void engine_log_begin(const struct engine *engine);
/* A job has come to a new state by the event; cause: of its attempt's end, or
 * NULL. */
void engine_log_change(const struct engine *engine, const struct job *job,
                       enum job_event event, const char *cause);
/* An executor has read the end of the job's attempt. */
void engine_log_exit(const struct engine *engine, const struct job *job,
                     const struct attempt_exit *end);

#endif
