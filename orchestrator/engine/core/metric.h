/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_CORE_METRIC_H
#define SMTUNE_ORCHESTRATOR_ENGINE_CORE_METRIC_H

#include "orchestrator/engine/core/source.h"

/* Points of curves that live jobs write. */

/* Metrics that the run needs have a place in what reads the job's output,
 * whatever else it prints. To be called before it is read. */
void engine_reserve_metrics(const struct engine *engine, struct job *job);
/* Takes it into memory, and, if its curve keeps it, into the open transaction.
 */
void engine_keep_metric(struct engine *engine, struct job *job,
                        const struct metric_point *point);
/* The job's attempt has ended, and all is read: records what is held of its
 * curves, and warns once a run of what is not in the record. */
void engine_finish_metrics(struct engine *engine, struct job *job);
/* Whether it is a point of the metric by which a schedule decides. Where steps
 * begin is noted then. */
bool engine_see_step(const struct engine *engine, struct job *job,
                     const char *name, double step);
/* A point of the metric by which a schedule decides: how far the trial has
 * come, in whole units. Where steps begin at 0, step 0 is the first unit. */
void engine_reach(const struct engine *engine, struct job *job,
                  const char *name, double step);

#endif
