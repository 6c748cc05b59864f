/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_RESTART_H
#define SMTUNE_ORCHESTRATOR_ENGINE_SOURCE_RESTART_H

#include "orchestrator/engine/core/source.h"

/* Attempts that continue from a checkpoint, but whose steps begin again. */

/* Takes a point into the record. */
typedef void (*restart_keep_fn)(struct engine *engine, struct job *job,
                                const struct metric_point *point);

/* Keeps a point of the attempt's, or lets it wait. is_deciding: the schedule
 * compares that metric. */
void restart_follow(struct engine *engine, struct job *job,
                    const struct metric_point *point, bool is_deciding,
                    restart_keep_fn keep);
/* The attempt has ended: what waits is kept. */
void restart_end(struct engine *engine, struct job *job, restart_keep_fn keep);

#endif
