/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_REQUESTS_H
#define SMTUNE_ORCHESTRATOR_ENGINE_REQUESTS_H

#include "orchestrator/engine/core/state.h"

/* What is asked for on the engine's socket, and pausing. */

/* Without a socket, on a file system that has none, the engine does as well. */
void engine_open_control(struct engine *engine, const char *run_directory,
                         const struct engine_events *events);
/* The last line to those who have subscribed: the run's end, where it is in the
 * record. */
void engine_close_control(struct engine *engine);

/* Starts nothing new; at_once, what runs is ended too, to start again later.
 * False when that is not in the record; then the engine broke. */
bool engine_pause(struct engine *engine, bool at_once);

#endif
