/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_TURN_H
#define SMTUNE_ORCHESTRATOR_ENGINE_TURN_H

#include "orchestrator/engine/core/state.h"

/* What is decided once a turn of the loop. */

/* Whether the results so far end the run; then it is being ended. */
void engine_check_budget(struct engine *engine);
/* Whether a slot waits for a commit, it has gathered long enough, or nothing
 * else will happen. */
bool engine_commit_is_due(const struct engine *engine);
/* Commits what is open, and does what had to wait for it. False when the engine
 * broke. */
bool engine_commit_now(struct engine *engine);
/* Whether nothing is left to be done. */
bool engine_is_over(const struct engine *engine);
/* What the run's end makes of trials that rest and of steps that have not come
 * to theirs; not their user's stop. Some of them a turn; false when there are
 * no more. */
bool engine_close_rest(struct engine *engine);
/* In so many milliseconds something is due; INT64_MAX: not by the clock. */
int64_t engine_wake_ms(const struct engine *engine);

#endif
