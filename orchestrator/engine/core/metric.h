/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_ORCHESTRATOR_ENGINE_CORE_METRIC_H
#define SMTUNE_ORCHESTRATOR_ENGINE_CORE_METRIC_H

#include "orchestrator/engine/core/source.h"

/* Points of curves that live jobs write. */

/* Takes it into memory, and into the open transaction unless the job has too
 * many. */
void engine_keep_metric(struct engine *engine, struct job *job,
                        const struct metric_point *point);
/* A point of the metric by which a schedule decides: how far the trial has
 * come.
 */
void engine_reach(const struct engine *engine, struct job *job,
                  const char *name, int64_t step);

#endif
