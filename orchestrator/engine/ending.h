/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_ENDING_H
#define SMTUNE_ORCHESTRATOR_ENGINE_ENDING_H

#include "orchestrator/engine/core/state.h"

/* The ways in which a run comes to its end. */

/* Ends the run; but where its user has put trials back, there are no new ones,
 * and what is open goes on. */
void engine_use_up_budget(struct engine *engine, enum budget_verdict verdict);
/* Nothing can be started here at all. */
void engine_finish_hopeless(struct engine *engine);
/* Winding up: ends jobs that no executor has, as the wish says. */
void engine_end_idle(struct engine *engine);
void engine_stop_by_signal(struct engine *engine, int signal);
/* Ends what runs (or, with CANCEL_KILL, kills it). */
void engine_end_all(struct engine *engine, enum cancel_mode mode);
/* Of what executors have: those that run, too, or those alone that do not yet.
 */
void engine_cancel_live(struct engine *engine, enum job_wish wish,
                        enum cancel_mode mode, bool running_too);
/* After a commit: ends what a schedule has given up. */
void engine_cancel_given_up(struct engine *engine);
/* As by Ctrl-C, and by SIGTERM. */
void engine_interrupt(struct engine *engine, int signal);
void engine_terminate(struct engine *engine, int signal);
void engine_on_interrupt(uv_signal_t *handle, int signal);
void engine_on_terminate(uv_signal_t *handle, int signal);

#endif
