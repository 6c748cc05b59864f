/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_NODES_H
#define SMTUNE_ORCHESTRATOR_ENGINE_NODES_H

#include "orchestrator/engine/core/state.h"

/* Nodes of clusters that the run keeps away from. */

/* Gives the executors the list; and again where that has changed, if it was not
 * looked at in the last seconds. */
int engine_avoid_nodes(struct engine *engine, struct err *err);
void engine_look_at_nodes(struct engine *engine);
/* Events of executors. */
void engine_on_node(void *user, const struct node_report *report);
void engine_on_note(void *user, const char *text);

#endif
