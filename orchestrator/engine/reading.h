/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_READING_H
#define SMTUNE_ORCHESTRATOR_ENGINE_READING_H

#include "orchestrator/engine/core/state.h"

/* Reads what live jobs write, and settles those that have ended. */

/* Reads the files of `count` live jobs, of all in turn; whether some have more
 * at once. */
bool engine_read_trials(struct engine *engine, int64_t count);
/* Turns the loop until every file has been read to its end. */
void engine_keep_reading(struct engine *engine);
/* Event of executors: an attempt has ended. */
void engine_on_ended(void *user, const struct attempt_exit *end);

#endif
