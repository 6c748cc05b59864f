/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SUBMIT_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SUBMIT_H

#include "orchestrator/engine/core/state.h"

/* After a commit: hands what was prepared to the executors. */
void engine_submit(struct engine *engine);
/* At any time: what is in the record already, if the executor has room. */
void engine_start_committed(struct engine *engine);

#endif
