/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_CORE_ANNOUNCE_H
#define SMTUNE_ORCHESTRATOR_ENGINE_CORE_ANNOUNCE_H

#include "orchestrator/engine/core/state.h"
#include "orchestrator/run/notify.h"

/* Messages to the receivers of the run (orchestrator/run/notify.h). */

/* Record messages, in the open transaction. */
void engine_announce_run(struct engine *engine, enum notify_event event);
void engine_announce_ended(struct engine *engine, const struct job *job);
/* Records which messages have arrived. */
void engine_record_answers(struct engine *engine);
/* At the end: gives what is left some seconds to arrive. */
void engine_deliver(struct engine *engine);

#endif
