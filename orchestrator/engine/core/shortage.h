/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_CORE_SHORTAGE_H
#define SMTUNE_ORCHESTRATOR_ENGINE_CORE_SHORTAGE_H

#include "orchestrator/engine/core/state.h"

/* Where there is no room: disk, processes, descriptors, a locked database. */

/* Nothing starts for a while, longer each time until something has started. */
void engine_begin_shortage(struct engine *engine, const char *why);
/* The same, where starts are held back already, too. */
void engine_prolong_shortage(struct engine *engine, const char *why);
void engine_end_shortage(struct engine *engine);
/* Whether starts are held back by a shortage; and by that or by a pause. */
bool engine_lacks_room(const struct engine *engine);
bool engine_is_held(const struct engine *engine);

#endif
