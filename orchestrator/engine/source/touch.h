/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_TOUCH_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_TOUCH_H

#include "orchestrator/engine/core/state.h"

/* Whether a ready job is not to run, since `touch` takes the files that exist
 * for what it made. It has left the ready ones then: it is over, or is as soon
 * as its files are hashed for the cache. */
bool engine_touch(struct engine *engine, struct job *job);

#endif
