/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_SHARE_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_SHARE_H

#include "orchestrator/engine/core/state.h"

/* Jobs of which each copy has a share of a channel's files. */

/* A ready job goes to those that are asked for, until its share is there; false
 * where it has none. */
bool engine_share_out(struct engine *engine, struct job *job);
/* For sharing_create(). */
void engine_on_shared(void *owner, void *user, const struct err *err);

#endif
