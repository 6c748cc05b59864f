/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_EDIT_H
#define SMTUNE_ORCHESTRATOR_ENGINE_EDIT_H

#include "base/json.h"
#include "orchestrator/engine/core/state.h"
#include "orchestrator/run/edit.h"

/*
 * Does what the request asks for, {"path": ..., "digest": ..., "set": [...]},
 * in the open transaction, which holds nothing else. *again: what runs again.
 * -1 with err: nothing has changed, or the engine broke.
 */
int engine_edit(struct engine *engine, const json_t *request,
                struct run_edit_again *again, struct err *err);

/* It is committed: the session ends, and the next one has the file. */
void engine_follow_edit(struct engine *engine);

#endif
