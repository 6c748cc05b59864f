/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_CORE_TALLY_H
#define SMTUNE_ORCHESTRATOR_ENGINE_CORE_TALLY_H

#include "orchestrator/engine/core/source.h"
#include "orchestrator/run/reopen.h"
#include "orchestrator/search/feedback.h"

/* What the end of a job means to the tally. */

/* Puts a trial that is over into the tally, or counts what else there is to
 * tell in its place. Whether it is the new best. */
bool engine_count(struct engine *engine, const struct feedback_item *item);
/* The same for a job that has just come to its end; its source learns of it. */
void engine_tally_ended(struct engine *engine, struct job *job,
                        bool was_paused);
/* Takes one that has been put back out of the tally; the strategy learns of it
 * when it has come to another end. -1 where the record cannot be read. */
int engine_tally_reopened(struct engine *engine,
                          const struct reopening *reopening, struct err *err);

#endif
