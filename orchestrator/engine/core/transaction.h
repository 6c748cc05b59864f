/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_CORE_TRANSACTION_H
#define SMTUNE_ORCHESTRATOR_ENGINE_CORE_TRANSACTION_H

#include "orchestrator/engine/core/state.h"

/*
 * The open transaction of the record. It is opened by the first change of a
 * turn and committed by turn.c. Where the store fails the session is broken:
 * what is in memory is ahead of the record, and a new session reads it again.
 */

/* The store or an executor failed: keeps the first reason, and the session
 * ends.
 */
void engine_break(struct engine *engine, const struct err *err);
/* Opens the transaction if it is not open. False when the engine is broken. */
bool engine_begin(struct engine *engine);
/* Commits what is open, if anything is. False when the engine is broken. */
bool engine_commit(struct engine *engine);
/* Into the open transaction: that the wall clock jumped, if it did. Times in
 * the record are relative to it; *now_ms is the wall clock. -1 with err. */
int engine_note_clock(struct engine *engine, int64_t *now_ms, struct err *err);
/* Records the end of an attempt in the open transaction. False when the engine
 * is broken. */
bool engine_end_attempt(struct engine *engine, const struct attempt_end *end);
/* Applies an event to a job in memory and in the open transaction; cause: of
 * its attempt's end, or NULL. False when the engine is broken. */
bool engine_change_trial(struct engine *engine, struct job *job,
                         enum job_event event, const char *cause);

#endif
