/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_FEEDBACK_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_FEEDBACK_H

#include "orchestrator/engine/core/source.h"

/* Tells the strategy and the schedule of an item. verdict is as
 * feedback_tell()'s.
 */
void feedback_give(struct engine *engine, const struct feedback_item *item,
                   struct verdict *verdict);

#endif
