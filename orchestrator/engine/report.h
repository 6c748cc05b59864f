/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_REPORT_H
#define SMTUNE_ORCHESTRATOR_ENGINE_REPORT_H

#include "orchestrator/engine/core/state.h"

/* What the engine's owner and the clients on its socket are shown. */

void engine_status_fill(struct engine *engine, struct engine_status *status);
/* To the owner and all who have subscribed: the status; and a job that has come
 * to an end, or will be tried again, or that its schedule lets go on. */
void engine_report_status(struct engine *engine);
void engine_report_trial(struct engine *engine, const struct job *job);
void engine_report_promoted(struct engine *engine, struct job *job);

#endif
